"""Convolution and its gradients by their definition in NumPy, and the three layouts of tensors."""

from __future__ import annotations

import itertools

import numpy as np

# (layout letters, x axes to N, C, spatial; w axes to K, C, spatial) for a number of spatial axes
LAYOUTS = {"last": "N{}C", "batch": "C{}N", "first": "NC{}"}
SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def layout_name(kind, axes):
    return LAYOUTS[kind].format(SPATIAL[axes])


def arranged(array, kind):
    """(N, C, ...) or (K, C, ...) as the layout has it."""
    if kind == "last":
        return np.ascontiguousarray(np.moveaxis(array, 1, -1))
    return np.ascontiguousarray(np.moveaxis(array, (0, 1), (-1, 0))) if kind == "batch" else array


def plain(array, kind):
    """Back again."""
    if kind == "last":
        return np.moveaxis(array, -1, 1)
    return np.moveaxis(array, (-1, 0), (0, 1)) if kind == "batch" else array


def patches(shape, filters, stride, padding, dilation):
    """For each tap: its index, the slices of the padded input that the outputs meet there, and the outputs' lengths."""
    out = [
        (x + 2 * p - d * (f - 1) - 1) // s + 1
        for x, f, s, p, d in zip(shape, filters, stride, padding, dilation, strict=True)
    ]
    for tap in itertools.product(*(range(f) for f in filters)):
        starts = [t * d for t, d in zip(tap, dilation, strict=True)]
        yield tap, tuple(slice(a, a + s * (o - 1) + 1, s) for a, s, o in zip(starts, stride, out, strict=True)), out


def reference(x, w, stride, padding, dilation, groups):
    """y of (N, C, ...) and (K, C/g, ...), in int64 or float64."""
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    n, c, k = x.shape[0], x.shape[1] // groups, w.shape[0] // groups
    y, lengths = 0, None
    for tap, where, out in patches(x.shape[2:], w.shape[2:], stride, padding, dilation):
        lengths = out
        part = padded[(slice(None), slice(None), *where)].reshape(n, groups, c, -1)
        y = y + np.einsum("ngcp,gkc->ngkp", part, w[(..., *tap)].reshape(groups, k, c))
    return y.reshape(n, groups * k, *lengths)


def gradients(x, w, dy, stride, padding, dilation, groups):
    """dx and dw."""
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    dx, dw = np.zeros_like(padded), np.zeros_like(w)
    n, c, k = x.shape[0], x.shape[1] // groups, w.shape[0] // groups
    for tap, where, out in patches(x.shape[2:], w.shape[2:], stride, padding, dilation):
        at = (slice(None), slice(None), *where)
        g = dy.reshape(n, groups, k, -1)
        part = padded[at].reshape(n, groups, c, -1)
        dw[(..., *tap)] = np.einsum("ngcp,ngkp->gkc", part, g).reshape(groups * k, c)
        dx[at] += np.einsum("ngkp,gkc->ngcp", g, w[(..., *tap)].reshape(groups, k, c)).reshape(n, groups * c, *out)
    inside = tuple(slice(p, p + length) for p, length in zip(padding, x.shape[2:], strict=True))
    return dx[(slice(None), slice(None), *inside)], dw


def integers(rng, *shape):
    return rng.integers(-3, 4, shape)
