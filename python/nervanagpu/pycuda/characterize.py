"""What the device and its compiler are."""

from __future__ import annotations

import functools
import sys

import numpy as np

from nervanagpu.pycuda import driver


def platform_bits() -> int:
    """Of an address."""
    return 64 if sys.maxsize > 1 << 32 else 32


def has_stack() -> bool:
    """Whether kernels may call functions."""
    return driver.Device(0).compute_capability() >= (2, 0)


def has_double_support() -> bool:
    """Whether kernels compute with float64."""
    return driver.Device(0).compute_capability() >= (1, 3)


@functools.cache
def sizeof(type_name: str, preamble: str = "") -> int:
    """Bytes of a C type, as the compiler of kernels has it."""
    from nervanagpu.pycuda.compiler import SourceModule

    text = (
        f"#include <pycuda-complex.hpp>\n{preamble}\n"
        f"__global__ void size(size_t *out) {{ *out = sizeof({type_name}); }}"
    )
    out = np.zeros(1, np.uint64)
    SourceModule(text).get_function("size")(driver.Out(out), block=(1, 1, 1))
    return int(out[0])
