"""NumPy's rules for the keyword arguments of ufuncs: out, where, dtype, casting, order, signature.

NumPy itself is asked which dtypes a call computes in (numpy.ufunc.resolve_dtypes, from 1.25 on), so that what it
refuses is refused here. Of bfloat16, and of functions that NumPy does not have, dtypes.converts decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import Expression, GPUTensor
from nervanagpu.arrays import creation, dtypes
from nervanagpu.calls.arguments import choice, shown, tensor

if TYPE_CHECKING:
    from nervanagpu.math.elementwise import Operand

CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
_THEIRS = {"sgn": "sign", "finite": "isfinite"}  # functions that have another name in NumPy


def theirs(name: str) -> np.ufunc | None:
    """NumPy's ufunc of that name."""
    found = vars(np).get(_THEIRS.get(name, name))  # an attribute may be a module that is imported when it is asked for
    return found if isinstance(found, np.ufunc) else None


def _clip() -> np.ufunc | None:
    """The ufunc that numpy.clip, which is none, calls; None where it is not to be found."""
    inside: Any = getattr(np, "_core", None) or getattr(np, "core", None)
    return getattr(getattr(inside, "umath", None), "clip", None)


def takes_complex(name: str) -> bool:
    """Whether NumPy's ufunc of that name has a loop for complex numbers."""
    ufunc: Any = theirs(name)
    return ufunc is None or any("D" in t.partition("->")[0] for t in ufunc.types)


def mask_of(function: str, where: Operand) -> GPUTensor:
    """`where` as a tensor of bool. TypeError for an array of anything else, as in NumPy."""
    if not hasattr(where, "dtype"):
        return creation.array(np.asarray(where, bool))
    if dtypes.kind_of(where.dtype) != "b":
        raise TypeError(f"{function}: where is {where.dtype}; needs bool (casting 'safe')")
    return where if isinstance(where, GPUTensor) else creation.array(where)


def outputs(function: str, out: object, count: int) -> list[GPUTensor | None]:
    """The tensors that results are written to."""
    if out is None:
        return [None] * count
    given = list(out) if isinstance(out, tuple) else [out]
    if len(given) != count:
        kind = TypeError if not isinstance(out, tuple) else ValueError
        raise kind(f"{function}: out has {len(given)} entries; needs {count}, one for each result")
    for k, o in enumerate(given):
        if o is not None and not isinstance(o, GPUTensor):
            tensor(function, f"out[{k}]" if count > 1 else "out", o)
        if type(o) is Expression and o.ndim == 0:
            name = f"out[{k}]" if count > 1 else "out"
            raise TypeError(f"{function}: {name} is a number, an element or a result; needs a tensor, as x[i, ...] is")
    return given


def _operand(x: object) -> object:
    """A tensor; Python's numbers, which are weak, as they are."""
    return x if isinstance(x, GPUTensor) or type(x) in (int, float, complex) else creation.array(x)


def signature_of(name: str, signature: object, sig: object, dtype: object) -> str | tuple[Any, ...] | None:
    """The dtypes of operands and results that a call names by `signature` or `sig`; None: none."""
    if signature is None and sig is None:
        return None
    if signature is not None and sig is not None:
        raise TypeError(f"{name}: there are both signature and sig; needs one of them")
    asked = sig if signature is None else signature
    if dtype is not None:
        raise TypeError(f"{name}: there are both signature and dtype; needs one of them")
    if not isinstance(asked, str | tuple):
        raise TypeError(f"{name}: signature is {shown(asked)}; needs a text as 'ff->f', or a tuple of dtypes")
    return asked


def _asked(name: str, given: int, made: int, dtype: Any, signature: Any) -> dict[str, Any]:
    """What resolve_dtypes is to be told of the dtypes that a call asks for."""
    if signature is not None:
        return {"signature": signature}
    return {} if dtype is None else {"signature": (None,) * given + (_core.dtype(dtype),) * made}


def kinds_of(
    name: str, operands: Sequence[Any], outs: Sequence[Any], dtype: object, casting: str, signature: object = None
) -> tuple[list[Any], list[Any]] | None:
    """The dtypes that NumPy converts the operands to, and those of the results; None: not known.

    TypeError where there is no such function of these dtypes, or `casting` forbids the way to it.
    """
    ufunc: Any = _clip() if name == "clip" else theirs(name)
    given = [getattr(x, "dtype", type(x)) for x in operands]
    to = [None if o is None else o.dtype for o in outs]
    bare = "bfloat16" in map(str, (*given, *to, dtype))
    if ufunc is None or bare or not hasattr(ufunc, "resolve_dtypes"):
        if signature is not None:
            raise TypeError(f"{name}: signature is {shown(signature)}; needs a ufunc of NumPy's, and its dtypes")
        return None
    wanted = _asked(name, len(given), len(to), dtype, signature)
    if any(type(g) is type for g in given) and all(type(g) is type for g in given):  # numbers alone are no weak ones
        given = [np.dtype(g) for g in given]
    # A weak number that "equiv" forbids is a segmentation fault in resolve_dtypes; "no" asks the same of tensors.
    rule = "no" if casting == "equiv" else casting
    try:
        found = ufunc.resolve_dtypes((*given, *to), casting=rule, **wanted)
        for kind, into in zip(given, found, strict=False):
            if casting == "equiv" and isinstance(kind, type) and np.dtype(kind) != into:
                raise TypeError(f"cannot cast Python {kind.__name__} to {into} under the casting rule 'equiv'")
    except TypeError as error:
        raise TypeError(
            f"{name}: {_facts(given, dtype, outs)}; needs dtypes that NumPy's ufunc takes ({error})"
        ) from None
    except ValueError as error:
        raise ValueError(f"{name}: signature is {shown(signature)}; needs a text as 'ff->f' ({error})") from None
    return list(found[: len(given)]), list(found[len(given) :])


def _facts(given: Sequence[Any], dtype: Any, outs: Sequence[Any]) -> str:
    """What came."""
    words = [f"operand {k} is {getattr(g, '__name__', g)}" for k, g in enumerate(given)]
    words += [] if dtype is None else [f"dtype is {_core.dtype(dtype)}"]
    return ", ".join(words + [f"out is {o.dtype}" for o in outs if o is not None])


def _as_one_kind(name: str, operands: Sequence[Any], dtype: Any, casting: str) -> list[Any]:
    """The operands in `dtype`, where NumPy's rule allows it."""
    wanted = _core.dtype(dtype)
    for k, x in enumerate(operands):
        if hasattr(x, "dtype") and not dtypes.can_cast(x.dtype, wanted, casting):
            raise TypeError(f"{name}: operand {k} is {x.dtype}; dtype={wanted} needs one of its kind ({casting})")
    return [_as(name, x, wanted) for x in operands]


def _as(name: str, x: Any, dtype: Any) -> GPUTensor:
    dtypes.check_integer(name, "an operand", x, dtype)
    return _core.as_dtype(x if isinstance(x, GPUTensor) else creation.array(x), dtype)


def store(function: str, x: GPUTensor, out: GPUTensor, casting: str = "same_kind") -> GPUTensor:
    """Writes x to `out`, whose shape it broadcasts to; rounded as `out` says."""
    if x.dtype != out.dtype:
        if not dtypes.can_cast(x.dtype, out.dtype, casting):
            raise TypeError(f"{function}: out is {out.dtype}; needs what {x.dtype} becomes (casting {casting!r})")
        if not out.rounding:
            x = _core.cast(x, out.dtype)
    if not _broadcasts(x.shape, out.shape):
        raise ValueError(
            f"{function}: out has shape {out.shape}; needs one that the result's, {x.shape}, broadcasts to"
        )
    _core.assign(out, x)
    return out


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `to`, as it is."""
    behind = to[len(to) - len(shape) :]
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape, behind, strict=True))


def converted(
    name: str, operands: Sequence[Any], outs: Sequence[Any], dtype: object, casting: str, signature: object
) -> tuple[list[Any], list[Any] | None]:
    """The operands in the dtypes that a call computes in, and the dtypes of its results if it asks for some."""
    kinds = kinds_of(name, operands, outs, dtype, casting, signature)
    asked = dtype is not None or signature is not None
    if kinds is None:
        return (_as_one_kind(name, operands, dtype, casting) if asked else list(operands)), None
    if asked or all(not isinstance(x, GPUTensor) for x in operands):
        operands = [_as(name, x, kind) for x, kind in zip(operands, kinds[0], strict=True)]
    return list(operands), kinds[1] if asked else None


def checked(name: str, casting: object, order: object, others: dict[str, Any]) -> str:
    """The order of a call's results. `others`: keyword arguments that no ufunc has; TypeError for the first one."""
    for other in others:
        raise TypeError(f"{name}() got an unexpected keyword argument {other!r}")
    choice(name, "casting", casting, CASTINGS)
    return choice(name, "order", order.upper() if isinstance(order, str) else order, ("C", "F", "A", "K"))


@overload
def call(name: str, compute: Callable[..., Any], operands: Sequence[Any], out: Any, **more: Any) -> GPUTensor: ...


@overload
def call(
    name: str, compute: Callable[..., Any], operands: Sequence[Any], out: Any, count: Literal[2], **more: Any
) -> tuple[GPUTensor, GPUTensor]: ...


def call(
    name: str, compute: Callable[..., Any], operands: Sequence[Any], out: Any, count: int = 1, *, where: Operand = True,
    dtype: npt.DTypeLike | None = None, casting: Any = "same_kind", order: str = "K", subok: Any = True,
    signature: Any = None, sig: Any = None, **others: Any,
) -> GPUTensor | tuple[GPUTensor, ...]:  # fmt: skip
    """compute(*operands), as NumPy calls a ufunc of `count` results with these keyword arguments."""
    layout = checked(name, casting, order, others)
    asked = signature_of(name, signature, sig, dtype)
    outs = outputs(name, out, count)
    given, kinds = converted(name, [_operand(x) for x in operands], outs, dtype, casting, asked)
    mask = None if where is True else mask_of(name, where)
    watched = mask is not None and hasattr(compute, "compute")  # errors count where the mask is set (float_errors)
    made = compute(*given, mask=mask) if watched else compute(*given)
    results = list(made) if count > 1 else [made]
    if kinds is not None:
        results = [_core.as_dtype(r, kind) for r, kind in zip(results, kinds, strict=True)]
    if mask is not None:
        for k, r in enumerate(results):
            if outs[k] is None:
                outs[k] = creation.empty(np.broadcast_shapes(r.shape, mask.shape), r.dtype)
            to = outs[k]
            assert to is not None
            if not dtypes.can_cast(r.dtype, to.dtype, casting):
                raise TypeError(f"{name}: out is {to.dtype}; needs what {r.dtype} becomes (casting {casting!r})")
            if to.rounding:  # store() rounds; what is there stays, since it is exact
                results[k] = _core.apply("where", mask, r, _core.cast(to, r.dtype))
            else:
                results[k] = _core.apply("where", mask, _core.cast(r, to.dtype), to)
    written = [laid(r, layout) if o is None else store(name, r, o, casting) for r, o in zip(results, outs, strict=True)]
    return tuple(written) if count > 1 else written[0]


def laid(x: GPUTensor, layout: str) -> GPUTensor:
    """x by columns, if `layout` is F."""
    return x if layout != "F" or x.ndim < 2 else x.copy(order="F")
