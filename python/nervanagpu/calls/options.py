"""The keywords that operations have in common.

A function takes them as `**rounding: Unpack[Rounding]` or `**epilogue: Unpack[Epilogue]` and hands the dict on. The
compiled module unpacks it (python/options.h), and nervanagpu.calls.refusals says what does not fit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar


class Rounding(TypedDict, total=False):
    """How a float result is rounded to its dtype.

    rounding: "nearest", ties to even; or "stochastic": up or down at random, so that the expected value is the exact
    one. That goes by `seed` and the counter `offset`, to `bits` mantissa bits (0: the most).
    """

    rounding: str
    seed: int
    offset: int
    bits: int


class Epilogue(Rounding, total=False):
    """What becomes of a result before it is stored: out = alpha * result + beta * out, rounded. beta 0: not read."""

    alpha: float
    beta: float


DEFAULTS: dict[str, Any] = {"alpha": 1.0, "beta": 0.0, "rounding": "nearest", "seed": 0, "offset": 0, "bits": 0}


def differ(function: str, options: Rounding) -> bool:
    """Whether any keyword that was given is not its default. TypeError for one that is none."""
    for name in options:
        if name not in Rounding.__annotations__:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return any(DEFAULTS[name] != value for name, value in options.items())


def check_clip(op: str, activation: str | None, clip: tuple[float, float] | None) -> None:
    """ValueError for bounds without the activation that they belong to, or the other way round."""
    if clip is not None and activation != "clip":
        raise ValueError(f"{op}: clip is {clip} but activation is {activation!r}; needs 'clip'")
    if activation == "clip" and clip is None:
        raise ValueError(f"{op}: activation is 'clip' but there is no clip; needs clip=(low, high)")


F = TypeVar("F", bound=Callable[..., Any])


def keywords(options: type[Rounding]) -> Callable[[F], F]:
    """Shows the keywords of `options`, which a function takes by `**`, one by one in its signature."""

    def show(function: F) -> F:
        own = inspect.signature(function)
        kinds = inspect.Parameter
        parameters = [p for p in own.parameters.values() if p.kind is not kinds.VAR_KEYWORD]
        for name, default in DEFAULTS.items():
            if name in options.__annotations__:
                kind = type(default).__name__
                parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=default, annotation=kind))
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return show
