"""numpy.testing with tensors among what is compared: it is read into the host's memory first."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from nervanagpu._core import GPUTensor
from nervanagpu.arrays import dtypes

_COMPARISONS = (
    "assert_allclose",
    "assert_almost_equal",
    "assert_approx_equal",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_equal",
    "assert_array_less",
    "assert_array_max_ulp",
    "assert_equal",
)
_OTHERS = (
    "assert_",
    "assert_no_warnings",
    "assert_raises",
    "assert_raises_regex",
    "assert_string_equal",
    "assert_warns",
)


def _host(x: Any) -> object:
    """x with arrays for the tensors in it."""
    if isinstance(x, GPUTensor):
        return dtypes.host_of(x)
    if type(x) in (list, tuple):
        return type(x)(map(_host, x))
    return {k: _host(v) for k, v in x.items()} if type(x) is dict else x


def _with_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def compare(*args: object, **more: object) -> object:
        return function(*map(_host, args), **{k: _host(v) for k, v in more.items()})

    return compare


__all__ = sorted(name for name in (*_COMPARISONS, *_OTHERS) if hasattr(np.testing, name))
globals().update({name: _with_tensors(getattr(np.testing, name)) for name in __all__ if name in _COMPARISONS})
globals().update({name: getattr(np.testing, name) for name in __all__ if name in _OTHERS})
