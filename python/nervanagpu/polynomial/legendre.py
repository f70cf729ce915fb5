"""numpy.polynomial.legendre over tensors."""

from __future__ import annotations

from typing import Any

from nervanagpu.polynomial.classes import contents as _contents

globals().update(_contents("legendre"))


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
