"""Runs the fuzz targets: `make fuzz SECONDS=60`. The seconds are shared out equally; what fails is an input to keep.

Each target starts from its committed inputs, and collects new ones in build/fuzz/corpus/NAME, which a later run goes on
with. Those written by hand are in test/fuzz/corpus/NAME, those that libFuzzer found in test/fuzz/corpus/NAME.tar.xz,
which is unpacked into build/fuzz/seeds/NAME. --merge packs a small set that reaches nearly as far; --record writes the
numbers of this run to benchmarks/results/toolchain/fuzz.json.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from result_commit import commit

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "test/fuzz/corpus"
RESULT = ROOT / "benchmarks/results/toolchain/fuzz.json"
# Bytes of an input.
LONGEST = {
    "expand": 2048,
    "parse": 1024,
    "decode": 1025,
    "cubin": 16384,
    "json": 1024,
    "safetensors": 1024,
    "choices": 2048,
    "tensor_map": 512,
}
MOST = {"expand": 150, "parse": 150, "decode": 120, "cubin": 16}  # committed inputs
FEW = 60  # of the other targets
MORE = {"cubin": [ROOT / "test/data/cubin", ROOT / "test/data/cudac"]}  # read as well
TARGETS = tuple(LONGEST)
LIMITS = ["-timeout=60", "-rss_limit_mb=2560", "-malloc_limit_mb=1024", "-print_final_stats=1", "-verbosity=1"]


def executable(build: Path, target: str) -> str:
    return str(build / "bin" / f"{target}_fuzz")


def scratch(build: Path, target: str) -> Path:
    folder = build / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def packed(target: str) -> Path:
    return SEEDS / f"{target}.tar.xz"


def pack(target: str, inputs: list[Path]) -> None:
    """The same inputs give the same bytes."""
    with tarfile.open(packed(target), "w:xz", preset=9) as archive:
        for path in sorted(inputs):
            member = tarfile.TarInfo(path.name)
            member.size = path.stat().st_size
            archive.addfile(member, io.BytesIO(path.read_bytes()))


def seeds(build: Path, target: str) -> list[Path]:
    """Folders of the committed inputs; what is packed is unpacked."""
    found = build / "seeds" / target
    found.mkdir(parents=True, exist_ok=True)
    for old in found.iterdir():
        old.unlink()
    if packed(target).exists():
        with tarfile.open(packed(target)) as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is not None:
                    (found / Path(member.name).name).write_bytes(content.read())
    return [folder for folder in (SEEDS / target, found) if folder.is_dir() and any(folder.iterdir())]


def fuzz(build: Path, target: str, seconds: int, seed: int) -> dict[str, int | str] | None:
    """Executions and coverage of one target; None: it failed, and its output was shown."""
    committed = seeds(build, target)
    crashes = build / "crashes"
    crashes.mkdir(parents=True, exist_ok=True)
    command = [
        executable(build, target),
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST[target]}",
        f"-seed={seed}",
        f"-artifact_prefix={crashes}/{target}-",
        *LIMITS,
        str(scratch(build, target)),
        *map(str, committed),
        *map(str, MORE.get(target, [])),
    ]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    log = done.stderr
    count = re.search(r"stat::number_of_executed_units:\s*(\d+)", log)
    if done.returncode != 0 or count is None:
        print(log[-6000:], file=sys.stderr)
        print(f"fuzz: {target} failed (exit {done.returncode}); the input is in {crashes}", file=sys.stderr)
        return None
    covered = re.findall(r"cov: (\d+)", log)
    return {
        "target": target,
        "executions": int(count.group(1)),
        "seconds": round(time.monotonic() - start),
        "inputs": sum(len(list(folder.iterdir())) for folder in committed),
        "edges": int(covered[-1]) if covered else 0,
    }


def merge(build: Path, target: str) -> None:
    """What is packed becomes a sample of the smallest set that covers what all inputs cover."""
    fresh = build / "merged" / target
    fresh.mkdir(parents=True, exist_ok=True)
    for old in fresh.iterdir():
        old.unlink()
    command = [executable(build, target), "-merge=1", f"-max_len={LONGEST[target]}", *LIMITS, str(fresh)]
    committed = map(str, seeds(build, target))
    subprocess.run([*command, *committed, str(scratch(build, target))], check=True, capture_output=True)
    found = sorted(fresh.iterdir(), key=lambda path: (path.stat().st_size, path.name))
    kept = min(len(found), MOST.get(target, FEW))
    pack(target, [found[i * len(found) // kept] for i in range(kept)])  # evenly over the sizes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/fuzz")
    parser.add_argument("--seconds", type=int, default=60, help="of all targets together")
    parser.add_argument("--seed", type=int, default=0, help="0: another one each run")
    parser.add_argument("--target", choices=TARGETS, action="append", help="default: all")
    parser.add_argument("--merge", action="store_true", help="pack fewer inputs; nothing is run")
    parser.add_argument("--record", action="store_true", help=f"write {RESULT.relative_to(ROOT)}")
    args = parser.parse_args()
    targets = args.target or list(TARGETS)
    if args.merge:
        for target in targets:
            merge(args.build, target)
        return 0
    rows = [fuzz(args.build, target, max(1, args.seconds // len(targets)), args.seed) for target in targets]
    good = [row for row in rows if row is not None]
    for row in good:
        print("fuzz: {target}: {executions} executions in {seconds} s, {edges} edges".format(**row))
    if len(good) != len(rows):
        return 1
    total = sum(int(row["executions"]) for row in good)
    print(f"fuzz: {total} executions, no failure")
    if args.record:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        numbers: list[dict[str, int | str]] = [
            {"what": f"executions of {row['target']}", "value": row["executions"]} for row in good
        ]
        numbers += [
            {"what": "executions", "value": total},
            {"what": "seconds", "value": sum(int(row["seconds"]) for row in good)},
            {"what": "failures", "value": 0},
        ]
        verb = "make fuzz ARGS=--record SECONDS=" + str(args.seconds)
        result = {"verb": verb, "commit": commit(), "numbers": numbers, "targets": good}
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
