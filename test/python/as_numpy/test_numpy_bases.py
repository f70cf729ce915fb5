"""What a view says it is a view of, beside NumPy."""

from __future__ import annotations

import gc
import weakref

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check

VIEWS = [
    "x[...]", "x[()]", "x[:]", "x[1:]", "x[::-1]", "x[0]", "x[None]", "x.T", "x.mT", "x.transpose(1,0,2)",
    "x.reshape(-1)", "x.reshape(x.shape)", "x.ravel()", "x.view()", "x.view('int32')", "x.swapaxes(0,1)", "x.squeeze()",
    "x.diagonal()", "xp.moveaxis(x,0,-1)", "xp.expand_dims(x,0)", "xp.split(x,2)[1]",
    "xp.flip(x)", "xp.atleast_3d(x)", "xp.rollaxis(x,2)", "xp.rot90(x,2)", "next(iter(x))",
    "xp.permute_dims(x,(2,1,0))",
]  # fmt: skip
COPIES = [
    "x.copy()", "x+1", "x.flatten()", "x[[0]]", "x[x>0]", "xp.array(x)", "xp.zeros_like(x)", "x.astype('float64')",
    "x.sum(0)", "x.T.flatten()", "x.T.ravel()", "x.flatten('F')", "xp.concatenate([x,x])", "xp.ones(3)", "x.T.copy()",
]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_views_name_their_owner(view: str) -> None:
    check(f"x=A('float32',(2,3,4));y={view};[x.base,y is x,y.base is x,y.flags.owndata]")
    check(f"x=A('float32',(2,3,4));z=({view})[...,::2];[z.base is x,z.base.shape,z[:1].base is x]")


@pytest.mark.parametrize("view", ["x.real", "x.imag", "x.T.real", "xp.real(x)"])
def test_parts(view: str) -> None:
    for dtype in ("complex64", "float32"):
        if (view, dtype) != ("x.imag", "float32"):  # NumPy's is of memory of its own there
            check(f"x=A('{dtype}',(2,3));y={view};[y.base is x,y is x]")


@pytest.mark.parametrize("copy", COPIES)
def test_copies_have_none(copy: str) -> None:
    check(f"x=A('float32',(2,3,4));y={copy};[y.base is None,y.flags.owndata]")


def test_of_expressions_and_owners_that_are_gone() -> None:
    x = ng.ones((2, 3))
    e = x * 2
    assert e.base is None and e[0].base is e and e.T[0].base is e
    gone: list[object] = []
    weakref.finalize(x, gone.append, "x")
    part = x.T[1:]
    del x
    gc.collect()
    assert not gone and part.base.shape == (2, 3) and part[:, 1:].base is part.base
    del part
    gc.collect()
    assert gone
    held = ng.memory_stats().in_use
    many = [ng.ones(1000).reshape(10, 100) for _ in range(10)]
    assert all(m.base is not None and m.base.shape == (1000,) for m in many)
    del many
    gc.collect()
    assert ng.memory_stats().in_use == held


def test_strides_of_ones_own() -> None:
    x = ng.array(np.arange(6.0))
    y = ng.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))
    assert y.base is x and not y.flags.owndata and y[0].base is x
    assert ng.lib.stride_tricks.sliding_window_view(x[1:], 2).base is x


def test_writing_through_a_base() -> None:
    x = ng.array(np.arange(6.0).reshape(2, 3))
    x[1:].base[...] = 7
    np.testing.assert_array_equal(x.get(), np.full((2, 3), 7.0))


@pytest.mark.parametrize("terms", ["ijk->ijk", "ijk->kji", "iij->ij", "...->...", "iii->i", "i...->...i", "ijj->ij"])
def test_einsum_of_one_operand(terms: str) -> None:
    for dtype in ("float32", "int8", "bool", "complex64"):
        check(f"x=A({dtype!r},(2,2,2));y=xp.einsum({terms!r},x);[y,y.base is x]")
    check(f"x=A('float32',(2,2,2));xp.einsum({terms!r},x)[...]=7;x")
