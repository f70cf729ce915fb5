"""python -m nervanagpu.cupy script.py ...: run a script of CuPy, unchanged, on this library."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from nervanagpu import cupy


def main() -> None:
    """Run the script with its arguments; with -m a module, as of python."""
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] == "-m" and len(arguments) < 2):
        raise SystemExit("python -m nervanagpu.cupy: there is no script; needs script.py, or -m and a module")
    cupy.install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
