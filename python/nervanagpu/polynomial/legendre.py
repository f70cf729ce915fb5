"""numpy.polynomial.legendre over tensors."""

from __future__ import annotations

from typing import Any

from nervanagpu.polynomial.calls import names_of as _names_of
from nervanagpu.polynomial.classes import CLASSES as _CLASSES

_NAMES = _names_of("legendre")
_NAMES |= {name: made for name, made in _CLASSES.items() if name in _NAMES}
__all__ = list(_NAMES)
globals().update(_NAMES)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
