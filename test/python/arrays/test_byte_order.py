"""Data of the host in the other order of bytes, as FITS and network protocols have it, are numbers as any other."""

from __future__ import annotations

import sys

import nervanagpu as ng
import numpy as np
import pytest

OTHER = ">" if sys.byteorder == "little" else "<"


@pytest.mark.parametrize("dtype", ["u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_values(dtype: str) -> None:
    host = np.arange(1, 5).astype(OTHER + dtype)
    ones = ng.ones(4, dtype)
    sums = [ones + host, host + ones, ng.add(ones, host), ng.asarray(host) + 1, ng.array(host, dtype) + 1]
    for key in (slice(None), [0, 1, 2, 3]):
        x = ones.copy()
        x[key] = host
        x += host
        sums.append(x / 2 + 1)
    sums += [ng.frombuffer(host.tobytes(), OTHER + dtype) + 1, ng.where(ones == 1, host, 0) + 1]
    sums += [host[0] + ones * np.array([0, 1, 2, 3], dtype) + 1]
    for s in sums:
        np.testing.assert_array_equal(s.get(), [2, 3, 4, 5])
    assert ng.frombuffer(host.tobytes(), OTHER + dtype, 2, host.itemsize).dtype == np.dtype(dtype)


def test_views_have_this_machines() -> None:
    x = ng.arange(4)
    for call in (lambda: x.view(OTHER + "i4"), lambda: x.getfield(OTHER + "i2")):
        with pytest.raises(TypeError, match=f"dtype is {OTHER}i.; needs this machine's order, which byteswap"):
            call()
    assert x.view("i4").size == 8 and x.view(np.dtype("u8").newbyteorder("=")).size == 4
    assert x.byteswap().byteswap().tolist() == [0, 1, 2, 3]
