"""Einstein's sums: products of tensors whose axes are named by letters, or by numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes, manipulation
from nervanagpu.calls.arguments import is_integer, shown
from nervanagpu.function_table import public
from nervanagpu.linalg.products import product
from nervanagpu.math import algebra, reductions
from nervanagpu.math.elementwise import _result
from nervanagpu.math.reductions import operand_of

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # of the axes 0 to 51


def _term(name: str, axes: Any) -> str:
    """The letters of a list of axes."""
    text = ""
    for a in np.asarray(axes).tolist() if isinstance(axes, np.ndarray | GPUTensor) else axes:
        if a is Ellipsis:
            text += "..."
        elif is_integer(a) and 0 <= int(a) < len(_LETTERS):
            text += _LETTERS[int(a)]
        else:
            needs = f"needs 0 to {len(_LETTERS) - 1} or Ellipsis"
            raise (ValueError if is_integer(a) else TypeError)(f"einsum: {name} has {shown(a)}; {needs}")
    return text


def _given(operands: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The subscripts as text, and the operands; from text and operands, or from operands each with its axes."""
    if not operands:
        raise ValueError("einsum: there are no arguments; needs subscripts and operands")
    if isinstance(operands[0], str):
        return operands[0], operands[1:]
    pairs = len(operands) // 2
    if not pairs or not all(isinstance(o, list | tuple | np.ndarray | GPUTensor) for o in operands[1::2]):
        needs = "needs text such as 'ij,jk->ik', or operands each with a list of axes"
        raise TypeError(f"einsum: subscripts is {shown(operands[0])}; {needs}")
    terms = ",".join(_term(f"the list of operand {i}", operands[2 * i + 1]) for i in range(pairs))
    if len(operands) % 2:
        terms += "->" + _term("the result's list", operands[-1])
    return terms, operands[0 : 2 * pairs : 2]


def _check_term(term: str, where: str) -> None:
    rest = term.replace("...", "", 1)
    if not all(c in _LETTERS for c in rest):
        raise ValueError(f"einsum: {where} is {term!r}; needs letters, and '...' once at most")


def _labels(subscripts: str, operands: Sequence[GPUTensor]) -> tuple[list[str], str]:
    """The letters of each operand's axes and of the result's; those of an ellipsis become letters that nobody uses."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise ValueError(f"einsum: there are {len(operands)} operands; {subscripts!r} has {len(terms)}")
    for i, term in enumerate(terms):
        _check_term(term, f"the term of operand {i}")
    _check_term(output, "the result's term")
    free = [chr(0x100 + i) for i in range(64)]
    most = 0
    for term, x in zip(terms, operands, strict=True):
        most = max(most, x.ndim - len(term.replace("...", "")) if "..." in term else 0)
    dots = "".join(free[:most])
    named = []
    for i, (term, x) in enumerate(zip(terms, operands, strict=True)):
        count = x.ndim - len(term.replace("...", ""))
        if count < 0 or ("..." not in term and count):
            raise ValueError(f"einsum: operand {i} has {x.ndim} axes; {term!r} names {len(term.replace('...', ''))}")
        named.append(term.replace("...", dots[len(dots) - count :] if count else ""))
    if arrow:
        if dots and "..." not in output:
            raise ValueError(f"einsum: {subscripts!r} has axes at '...' that its result lacks; needs '...' there, too")
        result = output.replace("...", dots)
    else:
        letters = "".join(named)
        result = dots + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in dots))
    for c in result:
        if result.count(c) > 1 or c not in "".join(named):
            raise ValueError(f"einsum: {subscripts!r} has {c!r} in its result; needs each letter once, of an operand")
    return named, result


def _as(x: GPUTensor, dtype: Any) -> GPUTensor:
    """x itself, whose views know it as their base, if it has the dtype."""
    return x if x.dtype == dtype else _core.as_dtype(x, dtype)


def _check_lengths(terms: Sequence[str], operands: Sequence[GPUTensor]) -> None:
    """ValueError where axes of one letter differ in length, but for those of length 1."""
    found: dict[str, int] = {}
    for term, x in zip(terms, operands, strict=True):
        for c, n in zip(term, x.shape, strict=True):
            other = found.get(c, 1)
            if term.count(c) > 1 and {m for d, m in zip(term, x.shape, strict=True) if d == c} != {n}:
                raise ValueError(f"einsum: axes {c!r} of one operand, of shape {x.shape}, differ; needs equal lengths")
            if n != other and 1 not in (n, other):
                raise ValueError(f"einsum: axes {c!r} have lengths {other} and {n}; needs equal ones")
            found[c] = other if n == 1 else n


def _diagonals(x: GPUTensor, term: str) -> tuple[GPUTensor, str]:
    """The view along which letters that stand twice run together."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            x = algebra.diagonal(x, 0, i, j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + c
    return x, term


def _summed(x: GPUTensor, letters: str, gone: list[str]) -> tuple[GPUTensor, str]:
    if not gone:
        return x, letters
    total = reductions.sum(x, [letters.index(c) for c in gone])
    return _core.as_dtype(total, x.dtype), "".join(c for c in letters if c not in gone)


def _pair(x: GPUTensor, xs: str, y: GPUTensor, ys: str, keep: str) -> tuple[GPUTensor, str]:
    """Two operands as one: a product of matrices, of which batches are letters of both that stay."""
    x, xs = _summed(x, xs, [c for c in xs if c not in ys and c not in keep])
    y, ys = _summed(y, ys, [c for c in ys if c not in xs and c not in keep])
    batch = [c for c in xs if c in ys and c in keep]
    inner = [c for c in xs if c in ys and c not in keep]
    rows, columns = [c for c in xs if c not in ys], [c for c in ys if c not in xs]
    both = [(c, x.shape[xs.index(c)], y.shape[ys.index(c)]) for c in (*batch, *inner)]
    shared = {c: n if n != 1 else m for c, n, m in both}

    def laid(t: GPUTensor, letters: str, first: list[str], last: list[str]) -> GPUTensor:
        of, order = t.shape, [letters.index(c) for c in (*batch, *first, *last)]
        t = t.transpose(*order) if order else t
        lengths = dict(zip(letters, of, strict=True)) | shared
        sizes = [[lengths[c] for c in part] for part in (batch, first, last)]
        t = manipulation.broadcast_to(t, tuple(n for part in sizes for n in part))
        return t.reshape(*(math.prod(part) for part in sizes))

    a, b = laid(x, xs, rows, inner), laid(y, ys, inner, columns)
    made = product(a, b) if batch else product(a[0], b[0])
    of_rows, of_columns = [x.shape[xs.index(c)] for c in rows], [y.shape[ys.index(c)] for c in columns]
    return made.reshape(*(shared[c] for c in batch), *of_rows, *of_columns), "".join((*batch, *rows, *columns))


@public()
def einsum(
    *operands: object,
    out: GPUTensor | None = None,
    optimize: object = False,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    casting: str = "safe",
) -> GPUTensor:
    """Einstein's sums: einsum("ij,jk->ik", a, b) is a @ b. Operands are multiplied from left to right.

    A letter names an axis, "..." the others; letters that the result does not have are summed over. Without "->" the
    result has those that stand once, by alphabet. einsum(a, [0, 1], b, [1, 2], [0, 2]) names them by numbers. Of one
    operand alone, without a sum, the result is a view, whatever `dtype` says, as NumPy's. dtype: what operands become
    (by `casting`'s rule), and the result. ValueError for letters and lengths that do not fit.
    """
    subscripts, given = _given(operands)
    tensors: list[GPUTensor] = [operand_of(x) for x in given]
    if not tensors:
        raise ValueError("einsum: there is no operand; needs one or more")
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"einsum: order is {shown(order)}; needs one of C, F, A, K")
    terms, result = _labels(subscripts, tensors)
    _check_lengths(terms, tensors)
    view = len(tensors) == 1 and set(terms[0]) == set(result)
    kind = dtypes.promoted(*(t.dtype for t in tensors)) if dtype is None or view else _core.dtype(dtype)
    for i, t in enumerate(tensors):
        if not dtypes.can_cast(t.dtype, kind, casting):
            raise TypeError(f"einsum: operand {i} is {t.dtype}; needs what becomes {kind} ({casting})")
    parts = [_diagonals(_as(x, kind), t) for x, t in zip(tensors, terms, strict=True)]
    x, letters = parts[0]
    for i, (y, other) in enumerate(parts[1:], 1):
        keep = result + "".join(t for _, t in parts[i + 1 :])
        x, letters = _pair(x, letters, y, other, keep)
    x, letters = _summed(x, letters, [c for c in letters if c not in result])
    axes = [letters.index(c) for c in result]
    x = x.transpose(*axes) if axes else x
    if x is tensors[0]:
        x = x[...]
    return _result(_as(x, kind), out)


@public()
def einsum_path(*operands: object, optimize: object = "greedy", einsum_call: bool = False) -> tuple[list[Any], str]:
    """The order of products that numpy.einsum_path proposes, and a text about it: from shapes alone."""

    def stand_in(x: object) -> object:
        return np.broadcast_to(np.zeros((), np.float64), x.shape) if isinstance(x, GPUTensor) else x

    try:
        theirs: Any = np.einsum_path
        path, text = theirs(*map(stand_in, operands), optimize=optimize, einsum_call=einsum_call)
        return path, text
    except (TypeError, ValueError, KeyError) as error:
        raise type(error)(f"einsum_path: operands or optimize={shown(optimize)} do not fit ({error})") from None
