"""python -m nervanagpu.pycuda script.py ...: run a script of PyCUDA, unchanged, on this library."""

from __future__ import annotations

from nervanagpu import pycuda
from nervanagpu.other_names import run_script

if __name__ == "__main__":
    run_script("nervanagpu.pycuda", pycuda.install)
