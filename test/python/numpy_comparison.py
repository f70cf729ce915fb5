"""Programs that are run with NumPy and with nervanagpu, and must end alike.

A program is text: statements separated by `;`, the last one an expression. In it `xp` is the module, `A(dtype, shape)`
an array of small numbers, `S(dtype)` one of special numbers (infinities, NaN, -0.0, the limits of integers), `L(list,
dtype)` one of a list, `H` an array of the host's and `Z(shape, dtype)` zeros. Results agree in dtype, shape and value
(floats within some ULP), errors in the kind that NumPy raises.
"""

from __future__ import annotations

import warnings
from typing import Any

import nervanagpu as ng
import numpy as np

Array = np.ndarray[Any, Any]

_NUMBERS: dict[str, list[Any]] = {
    "f": [0.0, -0.0, 1, -1, 2.5, np.inf, -np.inf, np.nan, 3e-8, 1e4, -1e4, 0.5, -2.5, 1.5],
    "c": [0, 1, -1, 1j, -1j, 2.5 - 1j],
    "i": [0, 1, -1, 2, -3, 7],
    "u": [0, 1, 2, 3, 7],
    "b": [0, 1],
}
_WIDTHS = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-12, "complex64": 2e-6, "complex128": 1e-12}


def drawn(dtype: str, shape: tuple[int, ...] = (), seed: int = 0) -> Array:
    """Small numbers: halves, which every dtype adds up exactly."""
    rng, kind = np.random.default_rng([seed, *(n + 1 for n in shape)]), np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(rng.integers(0, 2, shape).astype(bool))
    made = rng.integers(0 if kind == "u" else -8, 9, shape)
    whole = made if kind in "iu" else made / 2
    return np.asarray(whole + (1j * rng.integers(-4, 5, shape) if kind == "c" else 0)).astype(dtype)


def special(dtype: str) -> Array:
    kind = np.dtype(dtype)
    limits = [] if kind.kind not in "iu" else [int(np.iinfo(kind).min), int(np.iinfo(kind).max)]
    return np.array([*_NUMBERS[kind.kind], *limits], kind)


def run(program: str, xp: Any, tensors: bool) -> Any:
    """What a program gives, or the error that it raises."""

    def made(x: Any) -> Any:
        return ng.array(np.asarray(x)) if tensors else np.array(x)

    names = {
        "xp": xp,
        "np": np,
        "A": lambda *of: made(drawn(*of)),
        "S": lambda dtype: made(special(dtype)),
        "L": lambda values, dtype=None: made(np.array(values, dtype)),
        "H": np.array,
        "Z": lambda shape, dtype="float64": made(np.zeros(shape, dtype)),
    }
    *before, last = program.split(";")
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for statement in before:
                exec(statement.strip(), names)
            return eval(last.strip(), names)
    except Exception as error:
        return error


def _kind(error: Exception) -> type:
    """The public class of an error."""
    return next(
        k for k in type(error).__mro__ if k.__module__ == "builtins" or not k.__name__.startswith(("_", "UFunc"))
    )


def difference(got: Any, want: Any) -> str | None:
    """What differs; None: nothing."""
    if isinstance(want, Exception) or isinstance(got, Exception):
        if isinstance(want, Exception) and isinstance(got, _kind(want)):
            return None
        return f"{got!r} instead of {want!r}"
    if isinstance(want, tuple | list):
        if len(got) != len(want):
            return f"{len(got)} results instead of {len(want)}"
        return next((d for d in map(difference, got, want) if d is not None), None)
    if isinstance(want, str | None | bool | np.dtype | type):
        return None if got == want else f"{got!r} instead of {want!r}"
    theirs, ours = np.asarray(want), np.asarray(got.get() if isinstance(got, ng.GPUTensor) else got)
    if str(ours.dtype) != str(theirs.dtype) or ours.shape != theirs.shape:
        return f"{ours.dtype} {ours.shape} instead of {theirs.dtype} {theirs.shape}"
    bound = _WIDTHS.get(theirs.dtype.name)
    with np.errstate(all="ignore"):
        same = (ours == theirs) | ((ours != ours) & (theirs != theirs))
        near = same if bound is None else same | (abs(ours - theirs) <= bound * (1 + abs(theirs)))
    return None if near.all() else f"{ours} instead of {theirs}"


def check(program: str, protocol: bool = False) -> None:
    """Fails where nervanagpu, or NumPy's own function on tensors (`protocol`), does not end as NumPy does."""
    want = run(program, np, False)
    for name, xp in (("nervanagpu", ng), ("numpy", np)) if protocol else (("nervanagpu", ng),):
        wrong = difference(run(program, xp, True), want)
        assert wrong is None, f"{program}\n{name} on tensors gives {wrong}"


def message(program: str) -> str:
    """The text of the error that a program ends with."""
    error = run(program, ng, True)
    assert isinstance(error, Exception), f"{program} raises nothing"
    return str(error)
