"""Where figures come from and where they go: the machine's description, medians, and the JSON under results/."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class Row:
    """One measured case: our median, the peer's median in the same run, and our largest error relative to |A||B|."""

    bench: str
    case: str
    dtype: str
    layout: str
    pass_: str
    ms: float
    peer: str
    peer_ms: float
    ratio: float  # peer_ms / ms: above 1 we are faster
    max_err: float
    peer_max_err: float
    tflops: float
    peer_how: str = ""  # which of the peer's ways was the fastest
    mean_err: float | None = None
    peer_mean_err: float | None = None
    default_max_err: float | None = None  # of cuBLAS's own choice, which may be slower than peer_how
    default_mean_err: float | None = None
    ceiling: float | None = None  # tflops over what the chip could reach


def _query(fields: str) -> list[str]:
    try:
        out = subprocess.run(
            ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return ["unknown"] * len(fields.split(","))
    return [x.strip() for x in out.splitlines()[0].split(",")]


def commit() -> str:
    """The commit measured: NG_COMMIT where the tree travelled without its history, else git's word."""
    if os.environ.get("NG_COMMIT"):
        return os.environ["NG_COMMIT"]
    try:
        out = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        dirty = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True).stdout
        return out + ("-dirty" if dirty.strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine() -> dict[str, object]:
    """GPU, driver, clocks (MHz) and power (W), as nvidia-smi has them now."""
    name, driver, sm, sm_max, mem, power, limit = _query(
        "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw.instant,power.limit"
    )
    return {
        "gpu": name,
        "driver": driver,
        "clocks": {"sm": sm, "sm_max": sm_max, "mem": mem},
        "power": {"draw": power, "limit": limit},
    }


def write(path: Path, rows: list[Row], machine: dict[str, object]) -> None:
    """Write {commit, gpu, driver, clocks, power, rows}."""
    save(path, {"commit": commit(), **machine, "rows": [_plain(r) for r in rows]})


def save(path: Path, body: dict[str, object]) -> None:
    """Write a result; the file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(body, indent=1) + "\n")
    os.replace(part, path)


def _plain(row: Row) -> dict[str, object]:
    d = asdict(row)
    d["pass"] = d.pop("pass_")
    return {key: value for key, value in d.items() if value is not None and (key != "peer_how" or value)}
