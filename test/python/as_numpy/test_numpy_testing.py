"""Names that programs for NumPy have beside functions: numpy.testing's, kinds of scalars, shapes given as rows."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check


def test_comparisons_take_tensors() -> None:
    x = ng.array(np.arange(6.0).reshape(2, 3))
    for compare in (ng.testing.assert_allclose, ng.testing.assert_array_equal, ng.testing.assert_equal):
        compare(x, x)
        compare(x, x.get())
        compare(actual=x + 0, desired=x.get())
        with pytest.raises(AssertionError):
            compare(x, x + 1)
        with pytest.raises(AssertionError):
            compare(x.get(), ng.zeros((2, 3)))
    ng.testing.assert_array_less(x, x + 1)
    ng.testing.assert_equal([x, {"a": x}], [x.get(), {"a": x + 0}])
    with pytest.raises(AssertionError):
        ng.testing.assert_equal({"a": x}, {"a": x + 1})
    with ng.testing.assert_raises(ValueError):
        x.reshape(7)


def test_all_of_numpys_comparisons_are_there() -> None:
    theirs = {n for n in dir(np.testing) if n.startswith("assert_")} - {"assert_no_gc_cycles", "assert_array_compare"}
    assert theirs <= set(ng.testing.__all__)


@pytest.mark.parametrize(
    "name", ["True_", "False_", "character", "flexible", "str_", "void", "typecodes", "ScalarType"]
)
def test_kinds_of_scalars(name: str) -> None:
    assert getattr(ng, name) is getattr(np, name)


@pytest.mark.parametrize("shape", ["L([2,3])", "H([2,3])", "L(4)", "H(4)", "L([2])", "L([],'int64')"])
def test_shapes_are_rows_too(shape: str) -> None:
    for call in ("zeros({},'int8')", "ones({},'f4')", "full({},7,'int16')", "empty({}).shape", "broadcast_to(3,{})"):
        check(f"xp.{call.format(shape)}")
    check(f"A('float32',(6,)).reshape({shape})")


def test_what_operands_broadcast_to() -> None:
    for operands in ("A('int8',(2,1)),A('int8',(3,))", "3,[1,2]", "A('int8',(2,)),A('int8',(3,))", "A('int8',(0,1)),1"):
        check(f"b=xp.broadcast({operands});[b.shape,b.ndim,b.nd,b.size,b.numiter]")


def test_of_no_axes_lies_in_a_row() -> None:
    for name in ("ascontiguousarray", "asfortranarray"):
        for x in ("3", "A('float32',())", "A('float32',(2,3)).T", "[1,2]"):
            check(f"y=xp.{name}({x});[y,y.flags.forc]")


def test_polynomials_without_leading_zeros() -> None:
    for a in ("[0,0,1]", "[1,2]", "[0,0]", "A('complex64',(3,))", "[0,2.5]"):
        for b in ("[1,1]", "[0,1,2]", "[0]", "3"):
            check(f"xp.polymul({a},{b})")
    check("xp.polyval([],2)")
    check("xp.polyval([],[1,2.5])")


@pytest.mark.parametrize("weights", ["[1,2]", "A('float64',(20,))", "A('float64',(4,5))", "None"])
def test_weights_of_edges(weights: str) -> None:
    for x in ("A('float64',(20,))", "A('int32',(4,5))"):
        check(f"xp.histogram_bin_edges({x},3,weights={weights})")
        check(f"xp.histogram({x},3,weights={weights})")


def test_bins_without_width() -> None:
    for bins in (1, 5, 10):
        check(f"xp.histogram(L([2**62,2**62+5]),{bins})")
        check(f"xp.histogram_bin_edges(L([1.,1+2.**-52]),{bins})")


@pytest.mark.parametrize("name", ["argmax", "argmin", "nanargmax"])
def test_places_go_where_integers_are(name: str) -> None:
    for dtype in ("int64", "int32", "int8", "uint8", "bool", "float64", "float32", "complex64"):
        for words in ("axis=0,out=Z((4,),'{}')", "out=Z((),'{}')"):
            check(f"xp.{name}(A('float32',(3,4)),{words.format(dtype)})")


def test_sorting_in_place_wants_an_axis() -> None:
    for axis in ("None", "0", "-1", "2", "'a'", "1.5"):
        check(f"x=A('float32',(3,4)).copy();x.sort(axis={axis});x")
