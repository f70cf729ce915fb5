"""kind= and stable= of sorts, and the bounds of clip, as NumPy has them."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check, message

SORTED = [
    "kind='q'", "kind='s'", "kind='h'", "kind='quick'", "kind='MERGESORT'", "kind='Stable'", "kind=None", "kind=2",
    "kind=''", "kind='xx'", "kind='quicksort',stable=True", "kind='stable',stable=True", "kind='m',stable=False",
    "stable=True", "stable=False", "stable=None", "stable=2", "order='x'", "-1,'stable'", "axis=5",
]  # fmt: skip


@pytest.mark.parametrize("how", SORTED)
def test_sorts(how: str) -> None:
    check(f"xp.sort(L([3,1,2]),{how})", protocol=True)
    check(f"xp.argsort(L([3,1,2]),{how})", protocol=True)
    check(f"x=L([3,1,2]);x.sort({how});x")
    check(f"L([3,1,2]).argsort({how})")


def test_of_no_axes() -> None:
    check("xp.argsort(A('float32'))")
    check("xp.sort(A('float32'))")
    check("xp.partition(L([3,1]),0,kind='stable')")
    assert "there are both kind and stable" in message("xp.sort(L([3,1]),kind='q',stable=True)")


CLIPPED = [
    "", "None,None", "0,1", "a_min=0,a_max=1", "a_max=1,a_min=None", "min=1", "max=1", "min=0,max=1", "0,3,min=2",
    "None,3,max=2", "0,1,a_min=3", "0,1,None", "0,1,subok=True", "0,1,casting='unsafe',order='F'", "0,1,bogus=3",
    "0,1,axis=3", "0,1,dtype='float64'", "0,1,Z((2,),'int64')", "0,1,out=Z((2,),'int64'),where=L([True,False])",
    "0.5,1.5", "L([1,1]),L([[2],[1]])", "1,0", "-300,300",
]  # fmt: skip


@pytest.mark.parametrize("bounds", CLIPPED)
def test_clip(bounds: str) -> None:
    check(f"xp.clip(L([1,2]){',' if bounds else ''}{bounds})", protocol=True)


METHOD = ["1", "max=1", "min=2", "1,2,min=3", "", "None,None", "0,1,Z((2,),'int64')", "0,1,dtype='float64'", "a_min=1"]


@pytest.mark.parametrize("bounds", METHOD)
def test_the_method_clip(bounds: str) -> None:
    check(f"L([1,2]).clip({bounds})")


def test_float16_of_transforms() -> None:
    """Along one axis real results stay float16."""
    x = np.float16([1, 2.5, -3])
    for name, call in (("irfft", ng.fft.irfft), ("hfft", ng.fft.hfft)):
        want = getattr(np.fft, name)(x.astype(np.float64))
        got = call(ng.array(x))
        assert got.dtype == np.float16
        assert (abs(got.get() - want) <= 2e-3 * (1 + abs(want))).all()
    assert ng.fft.irfft(ng.zeros((2, 0), "float16"), 4).dtype == np.float16
    assert ng.fft.irfft2(ng.zeros((2, 3), "float16")).dtype == np.float32
    assert ng.fft.irfft(ng.ones(3, "float16"), out=ng.zeros(4)).dtype == np.float32
