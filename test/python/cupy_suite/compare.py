"""cupy.testing's comparisons: a test body runs with nervanagpu.cupy and with NumPy, and both must do the same."""

from __future__ import annotations

import functools
import inspect
import unittest
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nervanagpu import cupy

Test = Callable[..., Any]
SKIPS = (unittest.SkipTest, pytest.skip.Exception)
# Errors are alike if they are of the same of these classes.
KINDS = (
    AttributeError, IndexError, TypeError, ValueError, NotImplementedError, DeprecationWarning,
    cupy.exceptions.AxisError, np.linalg.LinAlgError,
)  # fmt: skip


def without(test: Test, names: tuple[str, ...]) -> Callable[[Test], Test]:
    """A wrapper of `test` that pytest sees without these parameters."""

    def wrap(made: Test) -> Test:
        made = functools.wraps(test)(made)
        kept = [p for p in inspect.signature(test).parameters.values() if p.name not in names]
        made.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        return made

    return wrap


def outcome(test: Test, args: tuple[Any, ...], more: dict[str, Any], name: str, module: Any) -> tuple[Any, Any]:
    """(what the body returns, None), or (None, what it raises)."""
    try:
        return test(*args, **more, **{name: module}), None
    except (Exception, *SKIPS) as error:
        return None, error


def host(x: Any) -> Any:
    return cupy.asnumpy(x) if isinstance(x, cupy.ndarray) else np.asarray(x)


def same_errors(ours: Any, theirs: Any, accepted: Any) -> None:
    if isinstance(ours, SKIPS) and isinstance(theirs, SKIPS):
        raise theirs
    if ours is None:
        raise AssertionError(f"only NumPy raises {type(theirs).__name__}: {theirs}") from theirs
    if theirs is None:
        raise AssertionError(f"only this raises {type(ours).__name__}: {ours}") from ours
    allowed = Exception if accepted is True else accepted or ()
    if [isinstance(ours, k) for k in KINDS] != [isinstance(theirs, k) for k in KINDS]:
        raise AssertionError(
            f"this raises {type(ours).__name__} ({ours}), NumPy {type(theirs).__name__} ({theirs})"
        ) from ours
    if not (isinstance(ours, allowed) and isinstance(theirs, allowed)):
        raise AssertionError(f"both raise, which is not accepted: {ours}; NumPy: {theirs}") from ours


def pairs(ours: Any, theirs: Any) -> list[tuple[Any, Any]]:
    """The results beside each other; those of one kind."""
    a = list(ours) if isinstance(ours, tuple | list) else [ours]
    b = list(theirs) if isinstance(theirs, tuple | list) else [theirs]
    assert len(a) == len(b), f"{len(a)} results; NumPy has {len(b)}"
    for x, y in zip(a, b, strict=True):
        device = isinstance(x, cupy.ndarray) and isinstance(y, np.ndarray | np.generic)
        alone = np.isscalar(x) and np.isscalar(y)
        assert device or alone, f"a {type(x).__name__}; NumPy has a {type(y).__name__}"
    return list(zip(a, b, strict=True))


def beside_numpy(
    check: Callable[[Any, Any], None], name: str, type_check: bool, contiguous_check: bool, accept_error: Any
) -> Callable[[Test], Test]:
    """A decorator: `check` compares what the test returns with each module."""

    def decorator(test: Test) -> Test:
        @without(test, (name,))
        def run(*args: Any, **more: Any) -> None:
            ours, wrong = outcome(test, args, more, name, cupy)
            theirs, expected = outcome(test, args, more, name, np)
            if wrong is not None or expected is not None:
                return same_errors(wrong, expected, accept_error)
            assert ours is not None and theirs is not None, "the test returns nothing"
            for x, y in pairs(ours, theirs):
                if type_check:
                    assert np.asarray(y).dtype == getattr(
                        x, "dtype", np.asarray(x).dtype
                    ), f"dtype {getattr(x, 'dtype', type(x))}; NumPy has {np.asarray(y).dtype}"
                if contiguous_check and isinstance(y, np.ndarray):
                    for flag in ("c_contiguous", "f_contiguous"):
                        assert getattr(x.flags, flag) or not getattr(y.flags, flag), f"is not {flag}; NumPy's is"
                x, y = host(x), np.asarray(y)
                assert x.shape == y.shape, f"shape {x.shape}; NumPy has {y.shape}"
                check(x, y)
            return None

        return run

    return decorator


def tolerance(of: Any, dtype: Any) -> float:
    """A number, or that of a dtype in a table."""
    if not isinstance(of, dict):
        return float(of)
    for key, value in of.items():
        if key != "default" and np.dtype(key) == dtype:
            return float(value)
    return float(of.get("default", 0.0))


def numpy_cupy_allclose(
    rtol: Any = 1e-7, atol: Any = 0, err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: bool = True,
    accept_error: Any = False, sp_name: Any = None, scipy_name: Any = None, contiguous_check: bool = True,
    *, _check_sparse_format: bool = True,
) -> Callable[[Test], Test]:  # fmt: skip
    def check(x: Any, y: Any) -> None:
        np.testing.assert_allclose(x, y, tolerance(rtol, x.dtype), tolerance(atol, x.dtype), err_msg=err_msg)

    return beside_numpy(check, name, type_check, contiguous_check, accept_error)


def numpy_cupy_array_equal(
    err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: bool = True, accept_error: Any = False,
    sp_name: Any = None, scipy_name: Any = None, strides_check: bool = False,
) -> Callable[[Test], Test]:  # fmt: skip
    def check(x: Any, y: Any) -> None:
        np.testing.assert_array_equal(x, y, err_msg=err_msg)

    return beside_numpy(check, name, type_check, False, accept_error)


def numpy_cupy_array_almost_equal(
    decimal: int = 6, err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: bool = True,
    accept_error: Any = False, sp_name: Any = None, scipy_name: Any = None,
) -> Callable[[Test], Test]:  # fmt: skip
    def check(x: Any, y: Any) -> None:
        np.testing.assert_array_almost_equal(x, y, decimal, err_msg)

    return beside_numpy(check, name, type_check, False, accept_error)


def numpy_cupy_array_max_ulp(
    maxulp: int = 1, dtype: Any = None, name: str = "xp", type_check: bool = True, accept_error: Any = False,
    sp_name: Any = None, scipy_name: Any = None,
) -> Callable[[Test], Test]:  # fmt: skip
    def check(x: Any, y: Any) -> None:
        np.testing.assert_array_max_ulp(x, y, maxulp, dtype)

    return beside_numpy(check, name, type_check, False, accept_error)


def numpy_cupy_array_almost_equal_nulp(
    nulp: int = 1, name: str = "xp", type_check: bool = True, accept_error: Any = False, sp_name: Any = None,
    scipy_name: Any = None,
) -> Callable[[Test], Test]:  # fmt: skip
    def check(x: Any, y: Any) -> None:
        np.testing.assert_array_almost_equal_nulp(x, y, nulp)

    return beside_numpy(check, name, type_check, False, accept_error)


def numpy_cupy_array_less(
    err_msg: str = "", verbose: bool = True, name: str = "xp", type_check: bool = True, accept_error: Any = False,
    sp_name: Any = None, scipy_name: Any = None,
) -> Callable[[Test], Test]:  # fmt: skip
    def check(x: Any, y: Any) -> None:
        np.testing.assert_array_less(x, y, err_msg)

    return beside_numpy(check, name, type_check, False, accept_error)


def numpy_cupy_array_list_equal(
    err_msg: str = "", verbose: bool = True, name: str = "xp", sp_name: Any = None, scipy_name: Any = None
) -> Callable[[Test], Test]:
    return numpy_cupy_array_equal(err_msg, name=name, type_check=False)


def numpy_cupy_equal(name: str = "xp", sp_name: Any = None, scipy_name: Any = None) -> Callable[[Test], Test]:
    """Of results that are no arrays."""

    def decorator(test: Test) -> Test:
        @without(test, (name,))
        def run(*args: Any, **more: Any) -> None:
            ours, theirs = test(*args, **more, **{name: cupy}), test(*args, **more, **{name: np})
            assert ours == theirs, f"{ours!r}; NumPy has {theirs!r}"

        return run

    return decorator


def numpy_cupy_raises(
    name: str = "xp", sp_name: Any = None, scipy_name: Any = None, accept_error: Any = Exception
) -> Callable[[Test], Test]:
    """Both must raise."""

    def decorator(test: Test) -> Test:
        @without(test, (name,))
        def run(*args: Any, **more: Any) -> None:
            _, wrong = outcome(test, args, more, name, cupy)
            _, expected = outcome(test, args, more, name, np)
            assert wrong is not None or expected is not None, "neither raises"
            same_errors(wrong, expected, accept_error)

        return run

    return decorator
