"""Tensors as text, as NumPy prints arrays. Of a large tensor only the corners that are shown are fetched."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays.dtypes import host_of


def _corners(tensor: GPUTensor, edge: int) -> npt.NDArray[Any]:
    """The first and last `edge` elements along each axis, and one between, in place of the whole."""
    cut = [length if length <= 2 * edge else 2 * edge + 1 for length in tensor.shape]
    parts = []
    for length, kept in zip(tensor.shape, cut, strict=True):
        if length == kept:
            parts.append([(slice(None), slice(None))])
        else:
            parts.append([(slice(0, edge + 1), slice(0, edge + 1)), (slice(length - edge, length), slice(-edge, None))])
    out: npt.NDArray[Any] | None = None
    for block in itertools.product(*parts):
        piece = host_of(tensor[tuple(b[0] for b in block)])
        if out is None:
            out = np.empty(cut, piece.dtype)
        out[tuple(b[1] for b in block)] = piece
    assert out is not None
    return out


def elements(tensor: GPUTensor, **how: Any) -> str:
    """The elements between brackets, by NumPy's print options; `how` as numpy.array2string has it."""
    options = np.get_printoptions()
    threshold, edge = options["threshold"], options["edgeitems"]
    if tensor.size <= threshold:
        return np.array2string(host_of(tensor), **how)
    _core.evaluate(tensor)
    return np.array2string(_corners(tensor, edge), threshold=0, **how)


def _repr(self: GPUTensor) -> str:
    """GPUTensor([1., 2.], dtype=float32), with the shape where elements are left out, and the name if there is one."""
    facts = [f"dtype={self.dtype}"]
    if self.size == 0 or self.size > np.get_printoptions()["threshold"]:
        facts.insert(0, f"shape={self.shape}")
    if self.name:
        facts.append(f"name={self.name!r}")
    text = elements(self, separator=", ", prefix="GPUTensor(", suffix=",") if self.size else "[]"
    joint = ", " if len(text.rsplit("\n", 1)[-1]) + len(", ".join(facts)) < 100 else ",\n          "
    return f"GPUTensor({text}{joint}{', '.join(facts)})"


def _str(self: GPUTensor) -> str:
    """As str() of an array."""
    return elements(self) if self.size > np.get_printoptions()["threshold"] else str(host_of(self))


def install() -> None:
    """Gives GPUTensor its texts."""
    for name, method in (("__repr__", _repr), ("__str__", _str)):
        setattr(GPUTensor, name, method)
