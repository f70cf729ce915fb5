"""python -m nervanagpu.cupy script.py ...: run a script of CuPy, unchanged, on this library."""

from __future__ import annotations

from nervanagpu import cupy
from nervanagpu.module_aliases import run_script

if __name__ == "__main__":
    run_script("nervanagpu.cupy", cupy.install)
