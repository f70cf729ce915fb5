"""numpy.polynomial over tensors: six kinds of series, as classes and as functions of coefficients, the lowest first.

from nervanagpu.polynomial import Polynomial

p = Polynomial.fit(x, y, 3)      # by NumPy, on the host; its few coefficients stay there
z = p(ng.linspace(-1, 1, 1000))  # on the device, one kernel
"""

from __future__ import annotations

from typing import Any

from numpy.polynomial import set_default_printstyle

from nervanagpu.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils
from nervanagpu.polynomial.classes import CLASSES as _CLASSES

__all__ = [
    *_CLASSES,
    "chebyshev",
    "hermite",
    "hermite_e",
    "laguerre",
    "legendre",
    "polynomial",
    "polyutils",
    "set_default_printstyle",
]
globals().update(_CLASSES)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
