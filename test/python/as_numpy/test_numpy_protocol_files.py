"""NumPy's own functions on tensors that make files, plans and polynomials; operators, flags and `in`."""

from __future__ import annotations

import io
from pathlib import Path

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check, difference, message, run


def test_files_of_arrays(tmp_path: Path) -> None:
    x = ng.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", x, y=x[0])
    np.savez_compressed(tmp_path / "z.npz", y=x)
    np.savetxt(tmp_path / "x.txt", x)
    for name in (str(tmp_path / "x.npy"), tmp_path / "x.npy", io.BytesIO((tmp_path / "x.npy").read_bytes())):
        np.testing.assert_array_equal(ng.load(name).get(), x.get())
    np.testing.assert_array_equal(ng.load(tmp_path / "x.npz")["y"].get(), x.get()[0])
    np.testing.assert_array_equal(ng.load(tmp_path / "z.npz")["y"].get(), x.get())
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "x.txt"), x.get())
    with pytest.raises(FileNotFoundError):
        ng.load(tmp_path / "none.npy")
    with pytest.raises(ValueError, match="pickle"):
        np.save(tmp_path / "o.npy", np.array([{}], dtype=object))
        ng.load(tmp_path / "o.npy")


CALLS = """
    linalg.matmul(A('float32',(2,3)),A('float32',(3,2))) vander(A('float32',(3,)))
    vander(A('int8',(3,)),2,increasing=True)
    polydiv(L([1.,3,2]),L([1.,1])) polydiv([1,2],[3,1,2]) matvec(A('float32',(2,3,4)),A('float32',(4,)))
    vecmat(A('complex64',(3,)),A('complex64',(3,4))) matvec(A('float32',(3,)),A('float32',(3,)))
    linspace(A('float32',(3,)),4,5) geomspace(L([1.,2]),8,3) logspace(L([0.,1]),2,3)
    einsum_path('ij,jk,kl->il',A('float32',(3,4)),A('float32',(4,5)),A('float32',(5,2)))[0]
""".split()


@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str) -> None:
    check(f"xp.{call}", protocol="A(" in call)


def test_powers() -> None:
    for dtype in ("bool", "int8", "uint16", "float32"):
        for power in ("2", "3", "[1,2,3]", "L([1,2,3])", "H([1,2,3])", "2.0"):
            check(f"A('{dtype}',(3,))**{power}")
    check("[1,2,3]**A('uint64',(3,))")


def test_in() -> None:
    for value in ("0", "None", "'a'", "np.nan", "[1]", "2.5"):
        check(f"{value} in L([0.,1,np.nan])")


def test_flags() -> None:
    for flag in "aligned behaved carray farray writebackifcopy contiguous forc fnc writeable".split():
        for x in ("A('float32',(3,4))", "A('float32',(3,4)).T"):
            check(f"{x}.flags.{flag}")
    for key in ("A", "B", "CA", "FA", "C", "F", "W", "X"):
        check(f"A('float32',(3,4)).T.flags['{key}']")
    assert "there is no 'Q'" in message("A('float32',(3,)).flags['Q']")


def test_names_of_parameters() -> None:
    """NumPy's names of arguments, where they are others than here."""
    for call in (
        "sum(a=A('float32',(3,4)),axis=0)", "full_like(a=A('float32',(3,)),fill_value=2)",
        "reshape(a=A('int8',(4,)),shape=(2,2))",
        "isin(element=A('int8',(3,)),test_elements=[1])", "split(A('int8',(4,)),indices_or_sections=2)",
        "unique(ar=A('int8',(4,)))", "quantile(a=A('float32',(3,)),q=0.5)", "tile(A=A('int8',(2,)),reps=2)",
        "clip(a=A('float32',(3,)),a_min=0,a_max=1)", "histogram(a=A('float64',(5,)),bins=3)", "diff(a=A('int8',(3,)))",
        "take(a=A('int8',(3,)),indices=[0])", "vander(A('int8',(3,)),N=2)", "repeat(a=A('int8',(3,)),repeats=2)",
    ):  # fmt: skip
        want, got = run(f"xp.{call}", np, False), run(f"xp.{call}", np, True)
        assert difference(got, want) is None, call
    check("xp.clip(A('float32',(3,)),a_min=0,a_max=1)")
