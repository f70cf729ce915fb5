"""Where figures come from and where they go: the machine's description, and the JSON under results/.

Importing it starts nvidia-smi, where there is one, which samples clocks and power until the program ends: machine()
says what they were while the GPU was at work.
"""

from __future__ import annotations

import atexit
import json
import os
import statistics
import subprocess
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

FIELDS = "utilization.gpu,clocks.sm,clocks.mem,power.draw.instant"
BUSY = 90  # percent of a sample's time with a kernel on the GPU


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
    max_err: float | None
    peer_max_err: float | None  # None: not measured
    tflops: float
    peer_how: str = ""  # which of the peer's ways was the fastest
    mean_err: float | None = None
    peer_mean_err: float | None = None
    default_max_err: float | None = None  # of cuBLAS's own choice, which may be slower than peer_how
    default_mean_err: float | None = None
    ceiling: float | None = None  # tflops over what the chip could reach
    precision: str | None = None  # of float32: strict or tensor
    whole: dict[str, dict[str, dict[str, float]]] | None = None  # errors.py: distribution, who, max and rms
    apart_ms: float | None = None  # ours where no launch starts before the one ahead has ended
    strict_ms: float | None = None  # ours in the other precision, beside "tensor"
    tf32_ms: float | None = None  # the peer's with TF32


class _Sampler:
    """Reads a line of nvidia-smi every quarter of a second: utilisation, clocks, power."""

    def __init__(self) -> None:
        self.lines: list[list[float]] = []
        command = ["nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits", "-lms", "250"]
        try:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            return
        atexit.register(self.process.kill)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self.lines.append([float(x) for x in line.split(",")])
            except ValueError:  # "[N/A]"
                continue

    def under_load(self) -> dict[str, object] | None:
        """Lowest, median and highest of the samples that were taken while the GPU was busy; None: there was none."""
        busy = [s for s in list(self.lines) if s[0] >= BUSY]
        if not busy:
            return None
        columns = dict(zip(FIELDS.split(",")[1:], zip(*(s[1:] for s in busy), strict=True), strict=True))
        ranges = {name: [min(v), statistics.median(v), max(v)] for name, v in columns.items()}
        return {"samples": len(busy), "sm_mhz": ranges["clocks.sm"], "mem_mhz": ranges["clocks.mem"],
                "watts": ranges["power.draw.instant"]}  # fmt: skip


_sampler = _Sampler()


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
    """The commit measured, and "-dirty" after it if the tree was not that commit's: git's word, or NG_COMMIT where the
    tree travelled without its history (NG_COMMIT=$(git describe --always --dirty --abbrev=12)).
    """
    if os.environ.get("NG_COMMIT"):
        return os.environ["NG_COMMIT"]
    try:
        out = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        dirty = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True).stdout
        return out + ("-dirty" if dirty.strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine() -> dict[str, object]:
    """GPU, driver, clocks (MHz) and power (W): as nvidia-smi has them now, and `load`: [lowest, median, highest] of the
    samples taken while the GPU was busy in this program so far.
    """
    name, driver, sm, sm_max, mem, power, limit = _query(
        "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw.instant,power.limit"
    )
    return {
        "gpu": name,
        "driver": driver,
        "clocks": {"sm": sm, "sm_max": sm_max, "mem": mem},
        "power": {"draw": power, "limit": limit},
        "load": _sampler.under_load(),
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
