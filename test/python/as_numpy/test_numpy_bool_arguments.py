"""True and False for integers: NumPy's functions in C refuse them, those in Python count them as 1 and 0."""

from __future__ import annotations

import nervanagpu as ng
import pytest
from numpy_comparison import check, message

X = "A('float32',(3,3))"
REFUSED_AXES = [
    "xp.sum({x},axis=False)", "{x}.sum(True)", "{x}.mean(axis=(True,))", "{x}.max(axis=False)", "{x}.any(False)",
    "{x}.std(axis=False)", "xp.nansum({x},axis=False)", "xp.nanmean({x},axis=False)", "xp.nanmax({x},axis=False)",
    "xp.count_nonzero({x},axis=False)", "xp.ptp({x},axis=False)", "xp.cumsum({x},True)", "xp.cumprod({x},False)",
    "xp.nancumsum({x},False)", "xp.argmin({x},False)", "{x}.argmax(False)", "xp.add.reduce({x},True)",
    "xp.add.accumulate({x},True)", "xp.add.reduceat({x},[0],True)", "xp.concatenate([{x}],True)",
    "xp.append({x},{x},False)", "xp.argsort({x},axis=False)", "xp.take({x},1,True)", "xp.repeat({x},2,False)",
    "{x}.transpose(True,False)", "xp.transpose({x},(True,False))", "xp.squeeze(A('int8',(1,4)),False)",
    "A('int8',(1,4)).squeeze((False,))",
]  # fmt: skip
COUNTED = [
    "xp.sort({x},axis=True)", "xp.diff({x},True)", "xp.diff({x},1,False)", "xp.swapaxes({x},False,True)",
    "xp.moveaxis({x},False,True)", "xp.stack([{x}],True)", "xp.expand_dims({x},True)", "xp.roll({x},1,True)",
    "xp.roll({x},True)", "xp.flip({x},True)", "xp.rot90({x},True)", "xp.tile({x},True)", "{x}.repeat(True)",
    "xp.diag({x},True)", "xp.trace({x},True)", "xp.tril({x},True)", "xp.split({x},True)", "xp.round({x},True)",
    "xp.median({x},axis=False)", "xp.tri(True,dtype='float64')", "xp.take({x},True)", "xp.delete({x}[0],True)",
    "xp.fft.fft({x},axis=True)", "xp.fft.fftn({x},axes=[True])", "xp.fft.rfft({x},n=True)",
]  # fmt: skip
OTHERS = [
    "xp.fft.fft({x},n=True)", "xp.fft.fft({x},n=False)", "xp.fft.ifft({x},n=True)", "xp.fft.irfft({x},n=True)",
    "xp.fft.fftn({x},s=[True])", "xp.bincount(L([1,2]),minlength=True)", "xp.vander({x}[0],True)",
    "xp.partition({x},True)", "xp.argpartition({x},False)",
]  # fmt: skip
SHAPES = [
    "xp.zeros(True)", "xp.zeros((True,2))", "xp.ones([2,True])", "xp.full(True,3)", "xp.empty((2,False))",
    "{x}.reshape(True,9)", "xp.reshape({x},(True,9))", "xp.eye(True)", "xp.identity(True)", "xp.resize({x},True)",
    "xp.broadcast_to({x},(True,3,3))", "x={x};x.resize(True)", "x={x};x.shape=(True,9);x",
]  # fmt: skip


@pytest.mark.parametrize("call", [*REFUSED_AXES, *COUNTED, *OTHERS])
def test_as_numpy(call: str) -> None:
    check(call.format(x=X))


@pytest.mark.parametrize("call", SHAPES)
def test_lengths(call: str) -> None:
    """NumPy before 2.4 counts them with a warning."""
    words = message(call.format(x=X))
    assert "True" in words or "False" in words
    assert "needs" in words and "integer" in words


def test_the_words() -> None:
    assert "sum: axis is True; needs an integer, not a bool" in message(f"{X}.sum(True)")
    with pytest.raises(TypeError, match=r"fft: n is True; needs an integer"):
        ng.fft.fft([1, 2], True)
