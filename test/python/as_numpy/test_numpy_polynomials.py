"""polyfit with all its arguments, poly1d, and emath beside NumPy's."""

from __future__ import annotations

import nervanagpu as ng
import numpy as np
import pytest
from numpy_comparison import check

POINTS = "x=L(np.linspace(0,3,8));y=L(np.linspace(0,3,8)**2+np.sin(np.linspace(0,3,8)));z=L(np.eye(8)[:,:2]);"
FITS = [
    "xp.polyfit(x,y,2)", "xp.polyfit(x,y,1,full=True)[:4]", "xp.polyfit(x,y,1,cov=True)", "xp.polyfit(x,z,3)",
    "xp.polyfit(x,y,1,cov='unscaled')", "xp.polyfit(x,z,1,cov=True)", "xp.polyfit(x,y,2,w=L(np.linspace(1,2,8)))",
    "xp.polyfit(x,z,1,w=L(np.linspace(1,2,8)),full=True)[:4]", "xp.polyfit(x,y,3,1e-2)", "xp.polyfit(x,y*1j,1)",
    "xp.polyfit(x.astype('float32'),y.astype('float32'),0)", "xp.polyfit(x,y,2,full=True)[4]",
    "xp.polyfit(L([1,1,1]),L([1,2,3]),2)", "xp.polyfit(x,L([1,2,3]),1)", "xp.polyfit(L([]),L([]),1)",
    "xp.polyfit(L([[1]]),L([1]),1)", "xp.polyfit(x,y,-1)", "xp.polyfit(L([1,2]),L([1,2]),1,cov=True)",
    "xp.polyfit(x,y,1,w=L([1,2]))", "xp.polyfit(x,y,1,w=z)", "xp.polyfit(x,L([[[1]]]),1)",
]  # fmt: skip
OBJECTS = [
    "p(2)", "p(L([[1.,2],[3,4]]))", "xp.poly1d(L([0,0,1,2])).coeffs", "xp.poly1d(L([1,2]),True).c", "(p+q).c",
    "(p-q).c", "(p*q).c", "(p**2).c", "(p**0).c", "(-p).c", "(+p).c", "(p/2).c", "(2*p).c", "(p*2.5).c", "(p+1).c",
    "(1-p).c", "(p*[1,2]).c", "[r.c for r in p/q]", "[r.c for r in [1,0,0]/q]", "(p.o,p.order,len(p),p.variable)",
    "[p[0],p[1]]", "int(p[9])", "list(p)", "p[0]=9;p[4]=1;p.c", "p[-1]=9", "xp.sort(xp.poly1d([1,-3,2]).r)",
    "p.deriv().c", "p.deriv(2).c", "p.integ().c", "p.integ(k=3).c", "str(p)", "repr(q)",
    "str(xp.poly1d([1,2],variable='z'))", "(bool(p==p),p!=q,bool(p==q),p==3)", "p(q).c", "xp.polyval(p,3)",
    "xp.roots(xp.poly1d([1,-2]))", "xp.poly1d([[1,2]])", "xp.polyadd(p,[1]).c", "xp.polysub([1],q).c",
    "xp.polymul(p,q).c", "[r.c for r in xp.polydiv(p,q)]", "xp.polyder(p)(2)", "xp.polyder(p,4).c",
    "xp.polyint(p,2)(1.)", "xp.polyder(xp.polyint(p))==p", "p.coeffs=[1]", "xp.poly1d([]).c",
    "xp.poly1d(xp.poly1d([1,2],variable='z')).variable", "p**-1", "hash(p)",
]  # fmt: skip
COMPLEX = [
    "sqrt(-1)", "sqrt(L([1,4]))", "sqrt(L([-1.,4]))", "sqrt(L([-1],'float32'))", "sqrt(L([-1],'int8'))",
    "sqrt(L([-1],'int64'))", "sqrt(L([1],'uint8'))", "sqrt(L([-1+0j]))", "log(-np.e)", "log(L([1,2]))",
    "log10(-10)", "log2(L([-4,2]))", "logn(2,L([4,8]))", "logn(2,L([-4,8]))", "power(L([2,4]),2)",
    "power(L([2,4]),-2)", "power(L([-2,4]),0.5)", "arccos(L([1,2]))", "arcsin(L([0.5]))", "arctanh(L([0.5,2]))",
]  # fmt: skip


@pytest.mark.parametrize("program", FITS)
def test_fits(program: str) -> None:
    check(POINTS + program)


def test_a_fit_that_is_not_fixed_warns() -> None:
    for xp in (ng, np):
        with pytest.warns(Warning, match="(?i)polyfit") as seen:
            xp.polyfit(xp.array([1.0, 1.0, 1.0]), xp.array([1.0, 2.0, 3.0]), 2)
        assert seen[0].category.__name__ == "RankWarning"


@pytest.mark.parametrize("program", OBJECTS)
def test_poly1d(program: str) -> None:
    check(f"p=xp.poly1d(L([1,2,3]));q=xp.poly1d([1.,-1]);{program}" + (";p" if program.startswith("p.coeffs=") else ""))


@pytest.mark.parametrize("of", ["[]", "[1.,2]", "[1j,2]"])
def test_poly_of_roots(of: str) -> None:
    check(f"xp.poly(L({of}))")
    check("xp.poly(L([1,2],'float32'))")


@pytest.mark.parametrize("program", COMPLEX)
def test_emath(program: str) -> None:
    check(f"xp.emath.{program}")
    check(f"xp.lib.scimath.{program}")


def test_a_polynomial_of_the_host() -> None:
    p = ng.poly1d([1, 2])
    assert isinstance(p.get(), np.poly1d) and p.get() == np.poly1d([1, 2])
    assert ng.long is np.long and ng.ulong is np.ulong if hasattr(np, "long") else not hasattr(ng, "long")
