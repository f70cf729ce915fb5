"""The mutation test of the hazard proof on a GPU: runs build/bin/mutants until all are done, and writes what came out.

`mutants.py --mutants build/bin/mutants --each 620 --out results/mutants.json`; without a GPU, `build/bin/mutants` alone
compares verify with the checked emulator. `--log FILE` reads a log that a run left.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import defaultdict
from pathlib import Path

from report import commit

HERE = Path(__file__).resolve().parent
KINDS = ("mutants", "flagged", "flagged: run", "flagged: wrong", "flagged: right", "flagged: not run", "device error",
         "unflagged", "unflagged: run", "unflagged: wrong")  # fmt: skip


def run(program: Path, each: int, log: Path, seconds: int) -> None:
    """Starts the program again as long as a device error ends it (status 3) or a watchdog does."""
    for _ in range(100):
        command = [str(program), "--gpu", str(HERE / "noise.sass"), "--each", str(each), "--log", str(log)]
        try:
            status = subprocess.run(command, timeout=seconds, check=False).returncode
        except subprocess.TimeoutExpired:
            continue
        if status == 0:
            return
        if status == 2:
            break
    raise SystemExit("the mutants did not run to the end")


def count(rows: list[dict[str, object]]) -> dict[str, int]:
    """How many of each kind; "device error" is wrong, too."""
    out = dict.fromkeys(KINDS, 0)
    for r in rows:
        name = "flagged" if r["flagged"] else "unflagged"
        out["mutants"] += 1
        out[name] += 1
        if not r["run"]:
            out[f"{name}: not run"] += 1
            continue
        out[f"{name}: run"] += 1
        bad = bool(r.get("wrong")) or "failed" in r
        out["device error"] += "failed" in r
        if bad or name == "flagged":
            out[f"{name}: {'wrong' if bad else 'right'}"] += 1
    return out


def summary(log: Path) -> dict[str, object]:
    """Totals, by field and by kernel."""
    rows = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    by_field, by_kernel = defaultdict(list), defaultdict(list)
    for r in rows:
        by_field[r["field"]].append(r)
        by_kernel[r["kernel"]].append(r)
    return {
        "runs of each mutant": "3 alone, 6 beside a kernel that keeps every pipe busy",
        "total": count(rows),
        "by field": {k: count(v) for k, v in sorted(by_field.items())},
        "by kernel": {k: count(v) for k, v in by_kernel.items()},
        "missed": [r for r in rows if not r["flagged"] and (r.get("wrong") or "failed" in r)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=Path, default=Path("build/bin/mutants"))
    parser.add_argument("--each", type=int, default=620, help="mutants of each kernel")
    parser.add_argument("--log", type=Path, help="read this log instead of running")
    parser.add_argument("--seconds", type=int, default=600, help="watchdog of one process")
    parser.add_argument("--gpu", default="", help="name of the GPU and driver, for the result")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    log = args.log
    if log is None:
        log = args.out.with_suffix(".log")
        log.unlink(missing_ok=True)
        run(args.mutants, args.each, log, args.seconds)
    result = summary(log)
    args.out.write_text(json.dumps({"gpu": args.gpu, "commit": commit(), **result}, indent=1) + "\n")
    total = result["total"]
    assert isinstance(total, dict)
    print(", ".join(f"{v} {k}" for k, v in total.items()))
    raise SystemExit(1 if total["unflagged: wrong"] else 0)


if __name__ == "__main__":
    main()
