"""The keyword arguments of NumPy's generalized ufuncs: functions of the last axes, the core, over all others, which
broadcast.

`axes`: a list that says for each operand, and for the result, which axes its core is; an integer stands for one axis.
`axis`: the one core axis of every operand; `keepdims`: the result has it with length 1. `signature`, `sig`: the dtypes
of operands and result. AxisError for an axis that there is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation
from nervanagpu.calls.arguments import AxisError, integer, is_integer, shown
from nervanagpu.math import ufunc_keywords

# Core axes of the operands and of the result; ? may be missing, and is where a matrix is given as a vector.
_CORES = {
    "matmul": (("n?", "k"), ("k", "m?"), ("n?", "m?")),
    "vecdot": (("n",), ("n",), ()),
    "matvec": (("m", "n"), ("n",), ("m",)),
    "vecmat": (("n",), ("n", "m"), ("m",)),
}


def _text(name: str) -> str:
    """The function's signature as NumPy writes it."""
    first, second, made = ("(" + ",".join(core) + ")" for core in _CORES[name])
    return f"{first},{second}->{made}"


def _cores(name: str, operands: Sequence[GPUTensor]) -> list[int]:
    """How many core axes the operands and the result have."""
    counts, missing = [], set()
    for which, x, core in zip("ab", operands, _CORES[name], strict=False):
        needed = [c for c in core if not c.endswith("?")]
        if x.ndim < len(needed):
            raise ValueError(
                f"{name}: {which} has shape {x.shape}; needs {len(needed)} axes or more (signature {_text(name)})"
            )
        if x.ndim < len(core):
            missing |= {c for c in core if c.endswith("?")}
        counts.append(min(x.ndim, len(core)))
    return [*counts, len([c for c in _CORES[name][2] if c not in missing])]


def _entry(name: str, k: int, item: object, count: int) -> list[int]:
    """An item of `axes` as a list of `count` axes."""
    if is_integer(item):
        if count != 1:
            raise AxisError(f"{name}: axes[{k}] is {shown(item)}; needs a tuple of {count} axes")
        return [integer(name, f"axes[{k}]", item)]
    if not isinstance(item, tuple):
        raise TypeError(f"{name}: axes[{k}] is {shown(item)}; needs an integer or a tuple of integers")
    if len(item) != count:
        raise AxisError(f"{name}: axes[{k}] is {shown(item)}; needs {count} axes (signature {_text(name)})")
    return [integer(name, f"axes[{k}]", a) for a in item]


def _listed(name: str, axes: object, axis: object, keepdims: bool, counts: list[int]) -> list[list[int] | None]:
    """The core axes of the operands and the result; None: the last ones."""
    if axes is not None and axis is not None:
        raise TypeError(f"{name}: there are both axis and axes; needs one of them")
    one = {c for core in _CORES[name] for c in core}
    if axis is not None:
        if len(one) != 1:
            raise TypeError(f"{name}: axis is {shown(axis)}; needs a function with one core axis, not {_text(name)}")
        at = [integer(name, "axis", axis)]
        return [at, at, at if keepdims else None]
    if axes is None:
        return [None, None, None]
    if not isinstance(axes, list):
        raise TypeError(f"{name}: axes is {shown(axes)}; needs a list")
    made = 1 if keepdims else counts[2]
    if len(axes) != 3 and not (len(axes) == 2 and not _CORES[name][2]):
        raise ValueError(f"{name}: axes has {len(axes)} items; needs 3, one for each operand and one for the result")
    items: list[list[int] | None] = [
        _entry(name, k, item, n) for k, (item, n) in enumerate(zip(axes, (*counts[:2], made), strict=False))
    ]
    return items if len(items) == 3 else [*items, items[0] if keepdims else None]


def _placed(name: str, k: int, axes: list[int], ndim: int) -> list[int]:
    """The axes counted from 0."""
    for a in axes:
        if not -ndim <= a < ndim:
            what = "the result" if k == 2 else f"operand {k}"
            raise AxisError(f"{name}: axis {a} is out of range; {what} has {ndim} axes")
    places = [a % ndim for a in axes]
    if len(set(places)) != len(places):
        raise ValueError(f"{name}: axes[{k}] is {tuple(axes)}; names an axis twice")
    return places


def _core_last(name: str, k: int, x: GPUTensor, axes: list[int] | None) -> GPUTensor:
    if axes is None:
        return x
    places = _placed(name, k, axes, x.ndim)
    return x.transpose(*(a for a in range(x.ndim) if a not in places), *places)


def _core_at(name: str, x: GPUTensor, axes: list[int] | None) -> GPUTensor:
    """The result, whose core is its last axes, with it at `axes`."""
    if axes is None:
        return x
    places = _placed(name, 2, axes, x.ndim)
    order = list(range(x.ndim - len(places)))
    for place, at in sorted(zip(places, range(x.ndim - len(places), x.ndim), strict=True)):
        order.insert(place, at)
    return x.transpose(*order)


def stored(name: str, made: GPUTensor, out: object) -> GPUTensor:
    """The result, written to `out`."""
    to = ufunc_keywords.outputs(name, out, 1)[0]
    return made if to is None else ufunc_keywords.store(name, made, to)


def call(
    name: str, compute: Callable[..., GPUTensor], a: object, b: object, out: object, *,
    dtype: npt.DTypeLike | None = None, casting: str = "same_kind", order: str = "K", axes: object = None,
    axis: object = None, keepdims: object = False, subok: bool = True, signature: object = None, sig: object = None,
    **others: object,
) -> GPUTensor:  # fmt: skip
    """compute(a, b), a function of the last axes, as NumPy calls the ufunc `name` with these keyword arguments."""
    layout = ufunc_keywords.checked(name, casting, order, others)
    asked = ufunc_keywords.signature_of(name, signature, sig, dtype)
    outs = ufunc_keywords.outputs(name, out, 1)
    given = [x if isinstance(x, GPUTensor) else creation.array(x) for x in (a, b)]
    counts = _cores(name, given)
    if not isinstance(keepdims, bool | np.bool_):
        raise TypeError(f"{name}: keepdims is {shown(keepdims)}; needs a bool")
    if keepdims and _CORES[name][2]:
        raise TypeError(f"{name}: keepdims is True; needs a function whose result has no core, not {_text(name)}")
    places = _listed(name, axes, axis, bool(keepdims), counts)
    given, kinds = ufunc_keywords.converted(name, given, outs, dtype, casting, asked)
    made = compute(*(_core_last(name, k, x, places[k]) for k, x in enumerate(given)))
    if kinds is not None:
        made = _core.as_dtype(made, kinds[0])
    made = _core_at(name, made[..., None] if keepdims else made, places[2])
    to = outs[0]
    return ufunc_keywords.laid(made, layout) if to is None else ufunc_keywords.store(name, made, to, casting)
