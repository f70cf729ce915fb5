"""NumPy's classes of polynomials, called with tensors."""

from __future__ import annotations

from typing import Any

from numpy import polynomial as theirs
from numpy.polynomial import polyutils

from nervanagpu._core import GPUTensor
from nervanagpu.polynomial.calls import names_of, to_host, to_tensors, value_of


class _OfTensors:
    """Over one of NumPy's classes: coefficients stay arrays of the host, values at a tensor are a tensor."""

    def __init__(self, coef: object, domain: object = None, window: object = None, symbol: str = "x") -> None:
        super().__init__(to_host(coef), to_host(domain), to_host(window), symbol)  # type: ignore[call-arg]

    def __call__(self, arg: object) -> Any:
        me: Any = self
        if isinstance(arg, GPUTensor):
            offset, scale = polyutils.mapparms(me.domain, me.window)
            return value_of(type(me)._val, offset + scale * arg, me.coef)
        return to_tensors(super().__call__(arg))  # type: ignore[misc]

    @classmethod
    def fit(cls, x: object, y: object, *args: object, **more: object) -> Any:
        """The series closest to the points, in least squares, by NumPy on the host."""
        given, named = [to_host(a) for a in args], {k: to_host(v) for k, v in more.items()}
        return super().fit(to_host(x), to_host(y), *given, **named)  # type: ignore[misc]

    @classmethod
    def fromroots(cls, roots: object, *args: object, **more: object) -> Any:
        """The series of these roots."""
        return super().fromroots(to_host(roots), *args, **more)  # type: ignore[misc]

    def roots(self) -> Any:
        """Where it is 0."""
        return to_tensors(super().roots())  # type: ignore[misc]

    def linspace(self, n: int = 100, domain: object = None) -> Any:
        """n places that divide the domain evenly, and the values there."""
        places, _ = super().linspace(n, to_host(domain))  # type: ignore[misc]
        at = to_tensors(places)
        return at, self(at)

    def integ(self, m: int = 1, k: object = (), lbnd: object = None) -> Any:
        """The integral of order m with the constants k, 0 at lbnd."""
        return super().integ(m, to_host(list(k) if isinstance(k, tuple) else k), to_host(lbnd))  # type: ignore[misc]


_NAMES = ("Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE")


def _made(name: str) -> type:
    base = getattr(theirs, name)
    return type(name, (_OfTensors, base), {"__doc__": base.__doc__, "__module__": "nervanagpu.polynomial"})


CLASSES: dict[str, Any] = {name: _made(name) for name in _NAMES}


def contents(module: str) -> dict[str, Any]:
    """What a module of this name has, and `__all__`: functions of calls.py and the classes here."""
    names = names_of(module)
    names |= {name: made for name, made in CLASSES.items() if name in names}
    return {**names, "__all__": list(names)}
