#!/usr/bin/env python3
"""What wheels weigh and how long they take: to install, to import, for a first call.

    python benchmarks/wheels.py --python python3.10 --python python3.13 build/release/*.whl [--out FILE]

For each interpreter a new environment with NumPy in it, and the wheel of its tag for this machine. A wheel for another
processor is weighed alone. An import is that of nervanagpu after NumPy's, a first call is a small product on the
emulator: the process's own time, the least of --rounds processes.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from measure.report import commit, save

WHO = "import sys; print('cp%d%d' % sys.version_info[:2], sys.version.split()[0])"
IMPORT = "import time, numpy; t = time.process_time(); import nervanagpu; print((time.process_time() - t) * 1e3)"
CALL = """
import time, numpy as np, nervanagpu as ng
a = ng.array(np.ones((64, 64), np.float32))
t = time.process_time()
ng.dot(a, a).get()
print((time.process_time() - t) * 1e3)
"""


def said(*words: object, env: dict[str, str] | None = None) -> str:
    """What the command printed."""
    done = subprocess.run([str(w) for w in words], env=env, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def weight(wheel: Path) -> dict[str, object]:
    """MB of the file, and of what lies in it."""
    with zipfile.ZipFile(wheel) as archive:
        unpacked = sum(i.file_size for i in archive.infolist())
    return {"wheel": wheel.name, "mb": round(wheel.stat().st_size / 1e6, 2), "installed_mb": round(unpacked / 1e6, 2)}


def times(python: str, wheel: Path, folder: Path, rounds: int) -> dict[str, object]:
    """Seconds of pip by the clock, milliseconds of the rest."""
    said(python, "-m", "venv", folder)
    inside = folder / "bin/python"
    said(inside, "-m", "pip", "install", "-q", "numpy>=1.24", "tqdm>=4.60")
    start = time.perf_counter()
    said(inside, "-m", "pip", "install", "-q", "--no-deps", wheel)
    took = time.perf_counter() - start
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    env["NERVANAGPU_DEVICE"] = "emulator"
    least = {
        name: round(min(float(said(inside, "-c", program, env=env)) for _ in range(rounds)), 2)
        for name, program in (("import_ms", IMPORT), ("first_call_ms", CALL))
    }
    numpy = said(inside, "-c", "import numpy; print(numpy.__version__)")
    return {"numpy": numpy, "install_s": round(took, 2), **least}


def main() -> int:
    """The table, and the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", nargs="+", type=Path)
    parser.add_argument("--python", action="append", default=[], help="an interpreter; again for another")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, help="where to write the figures, too")
    options = parser.parse_args()
    pythons = {}
    for python in options.python:
        tag, version = said(python, "-c", WHO).split()
        pythons[tag] = (python, version)
    before, rows = os.getloadavg()[0], []
    for wheel in sorted(options.wheels):
        row = weight(wheel)
        tag = wheel.name.split("-")[2]
        if wheel.stem.endswith(platform.machine()) and tag in pythons:
            python, version = pythons[tag]
            with tempfile.TemporaryDirectory() as folder:
                row |= {"python": version, **times(python, wheel.resolve(), Path(folder) / "env", options.rounds)}
        rows.append(row)
        print(row, flush=True)
    if options.out:
        save(options.out, {
            "what": "Wheels: MB; seconds to install beside NumPy; processor time of an import and a first product",
            "commit": commit(), "gpu": f"none: the emulator on {os.cpu_count()} cores",
            "load": [before, os.getloadavg()[0]], "rounds": options.rounds, "rows": rows,
        })  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
