"""python -m nervanagpu.pycuda script.py ...: run a script of PyCUDA, unchanged, on this library."""

from __future__ import annotations

import importlib.util

from nervanagpu import cupy, pycuda
from nervanagpu.module_aliases import run_script


def install() -> None:
    """PyCUDA's names; and CuPy's, which such scripts share arrays with, where CuPy is not installed."""
    pycuda.install()
    if importlib.util.find_spec("cupy") is None:
        cupy.install()


if __name__ == "__main__":
    run_script("nervanagpu.pycuda", install)
