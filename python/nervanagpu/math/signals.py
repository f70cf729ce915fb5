"""Convolutions of rows, correlations, covariances, and histograms of several columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nervanagpu import _core
from nervanagpu._core import GPUTensor
from nervanagpu.arrays import creation, dtypes, manipulation
from nervanagpu.calls.arguments import choice, integer, iterable
from nervanagpu.function_table import public
from nervanagpu.math import composed, elementwise, reductions, sorting
from nervanagpu.math.elementwise import Operand
from nervanagpu.math.reductions import operand_of

_MODES = ("full", "same", "valid")


def _row(function: str, name: str, x: object) -> GPUTensor:
    row = operand_of(x)
    if row.ndim > 1:
        raise ValueError(f"{function}: {name} has {row.ndim} axes; needs one")
    if row.size == 0:
        raise ValueError(f"{function}: {name} has no elements; {name} cannot be empty")
    return row.reshape(-1)


def _windows(long: GPUTensor, short: GPUTensor) -> GPUTensor:
    """Sums of products of `short` with as many neighbours in `long`, wherever they overlap."""
    n, m = long.size, short.size
    dtype = dtypes.promoted(long.dtype, short.dtype)
    room = creation.zeros(n + 2 * (m - 1), dtype)
    room[m - 1 : m - 1 + n] = long
    places = creation.arange(n + m - 1).reshape(-1, 1) + creation.arange(m)
    products = elementwise.multiply(room[places], short)
    if dtypes.kind_of(dtype) in "fc":  # nothing times an infinity is nothing here
        there = elementwise.logical_and(elementwise.greater_equal(places, m - 1), elementwise.less(places, m - 1 + n))
        products = elementwise.where(there, products, 0)
    if dtypes.kind_of(dtype) == "b":
        return reductions.any(products, 1)
    return _core.as_dtype(reductions.sum(products, 1), dtype)


@public()
def convolve(a: Operand, v: Operand, mode: str = "full") -> GPUTensor:
    """Sums of products of rows, one of them reversed. Mode "full" has all that overlap, "same" as many as the
    longer has, "valid" those where they overlap fully."""
    wanted = choice("convolve", "mode", mode, _MODES)
    x, y = _row("convolve", "a", a), _row("convolve", "v", v)
    if y.size > x.size:
        x, y = y, x
    return _windows(x, y[::-1])[_part(x.size, y.size, wanted)]


def _part(n: int, m: int, mode: str) -> slice:
    """Of the n + m - 1 numbers of a full convolution."""
    if mode == "full":
        return slice(None)
    return slice((m - 1) // 2, (m - 1) // 2 + n) if mode == "same" else slice(m - 1, n)


@public()
def correlate(a: Operand, v: Operand, mode: str = "valid") -> GPUTensor:
    """Sums of products of rows at every offset; modes as convolve's."""
    wanted = choice("correlate", "mode", mode, _MODES)
    x, y = _row("correlate", "a", a), _row("correlate", "v", v)
    y = _core.apply("conjugate", y) if dtypes.kind_of(y.dtype) == "c" else y
    if y.size <= x.size:
        return _windows(x, y)[_part(x.size, y.size, wanted)]
    return _windows(y, x)[_part(y.size, x.size, wanted)][::-1].copy()


@public()
def cov(
    m: Operand,
    y: Operand | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Operand | None = None,
    aweights: Operand | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
) -> GPUTensor:
    """Covariances of rows (of columns with rowvar=False): divided by their length less 1, less ddof, or not with bias.

    fweights: how often each observation was made; aweights: how much each counts.
    """
    x = operand_of(m)
    if x.ndim > 2:
        raise ValueError(f"cov: m has {x.ndim} axes; needs two or fewer")
    if ddof is not None:
        ddof = integer("cov", "ddof", ddof)
    parts = [x] if y is None else [x, operand_of(y)]
    kind = dtypes.promoted(np.float64, *(p.dtype for p in parts)) if dtype is None else dtype
    rows = []
    for k, p in enumerate(parts):
        if p.ndim > 2:
            raise ValueError(f"cov: y has {p.ndim} axes; needs two or fewer")
        wide = _core.as_dtype(p, kind)
        # A matrix of one row is one observation of its columns; y's stays the row that it is, as in NumPy.
        columns = not rowvar and p.ndim == 2 and (k == 0 or p.shape[0] != 1)
        wide = wide.reshape(1, -1) if wide.ndim < 2 else wide
        rows.append(wide.T if columns else wide)
    data = composed.concatenate(rows, 0) if len(rows) > 1 else rows[0]
    weights: Any = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            plain = operand_of(given)
            if name == "fweights" and dtypes.kind_of(plain.dtype) not in "iub":
                raise TypeError(f"cov: fweights are {plain.dtype}; needs integers")
            w = _core.as_dtype(plain, np.float64)
            if w.ndim != 1 or w.size != data.shape[1]:
                raise ValueError(f"cov: {name} has shape {w.shape}; needs ({data.shape[1]},)")
            if bool(reductions.any(elementwise.less(w, 0))):
                raise ValueError(f"cov: {name} have one below 0; needs 0 or more: it cannot be negative")
            weights = w if weights is None else weights * w
    less = float((0 if bias else 1) if ddof is None else ddof)
    total = float(data.shape[1]) if weights is None else float(reductions.sum(weights))
    if weights is None:
        centred = data - reductions.mean(data, 1, keepdims=True)
        scaled, room = centred, total - less
    else:
        centred = data - reductions.sum(data * weights, 1, keepdims=True) / total
        scaled = centred * weights
        heavy = weights if aweights is None else weights * _core.as_dtype(operand_of(aweights), np.float64)
        room = total - less if aweights is None else total - less * float(reductions.sum(heavy)) / total
    scale = 1 / room if room > 0 else float("inf")
    from nervanagpu import linalg

    turned = _core.apply("conjugate", centred) if dtypes.kind_of(kind) == "c" else centred
    made = linalg.matmul(scaled, turned.T) * _core.cast(creation.full((), scale, np.float64), kind)
    return manipulation.squeeze(made)


@public()
def corrcoef(
    x: Operand, y: Operand | None = None, rowvar: bool = True, *, dtype: npt.DTypeLike | None = None
) -> GPUTensor:
    """Correlations of rows: cov(x, y) over the product of their deviations, from -1 to 1."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    variance = manipulation.reshape(c, (-1,))[:: c.shape[0] + 1]
    complex_ = dtypes.kind_of(c.dtype) == "c"
    deviation = elementwise.sqrt(_core.apply("real", variance) if complex_ else variance)
    made = c / deviation[:, None] / deviation[None, :]
    if complex_:  # each part, as NumPy does
        return _core.complex_from(*(elementwise.clip(_core.apply(p, made), -1, 1) for p in ("real", "imag")))
    return elementwise.clip(made, -1, 1)


@public()
def histogramdd(
    sample: object, bins: object = 10, range: object = None, density: bool | None = None, weights: Operand | None = None
) -> tuple[GPUTensor, list[GPUTensor]]:
    """(counts, edges along each axis) of the rows of `sample`, or of columns in a list. bins: numbers, or edges.

    density: divided by the sum and the sizes of the bins. range: (low, high) of each axis. Rows outside do not count.
    """
    columns = _columns("histogramdd", sample)
    if len({c.shape for c in columns}) > 1:
        raise ValueError(f"histogramdd: sample has columns of lengths {[c.size for c in columns]}; needs one length")
    each = bins if isinstance(bins, list | tuple) else [bins] * len(columns)
    spans = [None] * len(columns) if range is None else iterable("histogramdd", "range", range)
    for name, given in (("bins", each), ("range", spans)):
        if len(given) != len(columns):
            raise ValueError(f"histogramdd: {name} has {len(given)} entries; needs {len(columns)}, one a column")
    kind = dtypes.promoted(*(c.dtype for c in columns)) if len(columns) > 1 else columns[0].dtype
    columns = [_core.as_dtype(c, kind) for c in columns]
    edges = []
    for c, b, s in zip(columns, each, spans, strict=True):
        ends = s is not None and np.ndim(dtypes.on_host(b)) == 0  # Python's are float64
        edges.append(sorting.histogram_bin_edges(_core.as_dtype(c, np.float64) if ends else c, b, s))
    flat: Any = 0
    inside: Any = True
    for c, e in zip(columns, edges, strict=True):
        count = e.size - 1
        at = sorting.searchsorted(e, c, side="right") - 1
        at = elementwise.where(elementwise.equal(c, e[-1]), count - 1, at)
        inside = elementwise.logical_and(inside, elementwise.logical_and(at >= 0, at < count))
        flat = at + flat * count
    shape = tuple(e.size - 1 for e in edges)
    total = int(np.prod(shape))
    share = creation.ones(columns[0].shape, np.float64) if weights is None else operand_of(weights)
    share = elementwise.where(inside, _core.as_dtype(share, np.float64), 0.0)
    counts = sorting.bincount(elementwise.where(inside, flat, 0), share, total).reshape(*shape)
    if density:
        counts = counts / reductions.sum(counts)
        for a, e in enumerate(edges):
            wide = _core.as_dtype(e, np.float64)
            width = wide[1:] - wide[:-1]
            counts = counts / width.reshape(*(-1 if k == a else 1 for k in builtin_range(len(edges))))
    return counts, edges


builtin_range = range


def _columns(function: str, sample: object) -> list[GPUTensor]:
    if isinstance(sample, list | tuple):
        return [operand_of(c).reshape(-1) for c in sample]
    x = operand_of(sample)
    if x.ndim == 1:
        return [x]
    if x.ndim != 2:
        raise ValueError(f"{function}: sample has {x.ndim} axes; needs one or two")
    return [x[:, k] for k in builtin_range(x.shape[1])]


@public()
def histogram2d(
    x: Operand, y: Operand, bins: object = 10, range: object = None, density: bool | None = None,
    weights: Operand | None = None,
) -> tuple[GPUTensor, GPUTensor, GPUTensor]:  # fmt: skip
    """(counts, edges of x, edges of y); bins: a number, edges, or a pair of these."""
    x, y = operand_of(x), operand_of(y)
    if x.size != y.size:
        raise ValueError(f"histogram2d: x has {x.size} elements and y {y.size}; needs as many (the same length)")
    pair: Sequence[Any] = bins if isinstance(bins, list | tuple) and len(bins) == 2 else (bins, bins)
    counts, edges = histogramdd([x, y], list(pair), range, density, weights)
    return counts, edges[0], edges[1]
