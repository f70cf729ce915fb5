#!/usr/bin/env python3
"""Runs the tests of nervanagpu.torch beside several releases of torch, all on one build: the same file of operators.

    tools/try_torches.py 2.9.1 2.10.0 2.15.0 [--work build/torches] [--all]
    tools/try_torches.py --python other/bin/python          an interpreter that has torch, expecttest and pytest

Each release is installed into an environment of its own in --work (some GB each), which is kept. Tests run with the
operators compiled and, with --all, also entered from Python. The exit status is 1 if any of them failed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "build/python/nervanagpu"
TESTS = ("test_torch.py", "test_torch_use.py", "test_torch_hostile.py", "test_torch_samples.py")
BESIDE = ("numpy>=1.24", "tqdm>=4.60", "ml_dtypes>=0.4", "pytest>=8", "expecttest>=0.2")
SAYS = "import torch, nervanagpu.torch as t; print('torch', torch.__version__, t.entry())"


def environment(version: str, work: Path) -> Path:
    """The interpreter of an environment with that torch."""
    python = work / version / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", work / version], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", f"torch=={version}", *BESIDE], check=True)
    return python


def try_out(python: Path, entry: str) -> bool:
    """Whether the tests pass there. entry: "compiled" or "python"."""
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "NERVANAGPU_TORCH": "python" if entry == "python" else ""}
    env.setdefault("NERVANAGPU_DEVICE", "emulator")
    said = subprocess.run([python, "-c", SAYS], env=env, check=True, capture_output=True, text=True).stdout.strip()
    tests = [ROOT / "test/python/frameworks" / name for name in TESTS]
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], cwd=ROOT, env=env, check=False
    )
    passed = done.returncode == 0 and (" compiled" in said) == (entry == "compiled")
    print(f"{'passed' if passed else 'FAILED'}: {said}", flush=True)
    return passed


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", help="releases of torch")
    parser.add_argument("--python", action="append", default=[], type=Path, help="an interpreter that has torch")
    parser.add_argument("--work", type=Path, default=ROOT / "build/torches")
    parser.add_argument("--all", action="store_true", help="also with the operators entered from Python")
    options = parser.parse_args()
    pythons = options.python + [environment(v, options.work.resolve()) for v in options.versions]
    if not pythons:
        parser.error("needs releases of torch, or --python")
    file = PACKAGE / "libnervanagpu_torch.so"
    print(f"{file.name}: sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}", flush=True)
    entries = ("compiled", "python") if options.all else ("compiled",)
    results = [try_out(python, entry) for python in pythons for entry in entries]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
