"""cupy.testing as CuPy's test files import it."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import itertools
import math
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from nervanagpu import cupy

from cupy_suite.compare import *  # noqa: F403
from cupy_suite.compare import host
from cupy_suite.loops import *  # noqa: F403


def _of_numpy(name: str) -> Callable[..., None]:
    theirs = getattr(np.testing, name)

    def check(actual: Any, desired: Any, *args: Any, **more: Any) -> None:
        more.pop("strides_check", None)
        theirs(host(actual), host(desired), *args, **more)

    return check


assert_allclose = _of_numpy("assert_allclose")
assert_array_almost_equal = _of_numpy("assert_array_almost_equal")
assert_array_almost_equal_nulp = _of_numpy("assert_array_almost_equal_nulp")
assert_array_equal = _of_numpy("assert_array_equal")
assert_array_less = _of_numpy("assert_array_less")
assert_array_max_ulp = _of_numpy("assert_array_max_ulp")


def assert_array_list_equal(xlist: Any, ylist: Any, err_msg: str = "", verbose: bool = True) -> None:
    assert type(xlist) is type(ylist) and len(xlist) == len(ylist)
    for x, y in zip(xlist, ylist, strict=True):
        assert_array_equal(x, y)


# ---- arrays ----------------------------------------------------------------------------------------------------------


def _of_numbers(numbers: Any, dtype: Any) -> Any:
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return numbers % 2 == 0
    return (numbers + numbers * 1j if kind.kind == "c" else numbers).astype(kind)


def shaped_arange(shape: Any, xp: Any = cupy, dtype: Any = np.float32, order: str = "C") -> Any:
    """1, 2, 3, ..."""
    return xp.array(_of_numbers(np.arange(1, math.prod(shape) + 1), dtype).reshape(shape), order=order)


def shaped_reverse_arange(shape: Any, xp: Any = cupy, dtype: Any = np.float32) -> Any:
    """..., 3, 2, 1"""
    return xp.array(_of_numbers(np.arange(math.prod(shape), 0, -1), dtype).reshape(shape))


def shaped_random(
    shape: Any, xp: Any = cupy, dtype: Any = np.float32, scale: float = 10, seed: int = 0, order: str = "C"
) -> Any:
    """From 0 to scale, the same for NumPy and for us."""
    rng, kind = np.random.RandomState(seed), np.dtype(dtype)
    if kind.kind == "b":
        drawn = rng.randint(2, size=shape)
    else:
        drawn = rng.rand(*shape) * scale
        if kind.kind == "c":
            drawn = drawn + 1j * rng.rand(*shape) * scale
    return xp.asarray(np.asarray(drawn).astype(kind), dtype=kind, order=order)


def shaped_linspace(start: float, stop: float, shape: Any, xp: Any = cupy, dtype: Any = np.float32) -> Any:
    return xp.asarray(np.linspace(start, stop, math.prod(shape)).astype(dtype).reshape(shape))


def generate_matrix(shape: Any, xp: Any = cupy, dtype: Any = np.float32, *, singular_values: Any) -> Any:
    """Random matrices of these singular values."""
    rng = np.random.RandomState(1)
    drawn = rng.randn(*shape) + (1j * rng.randn(*shape) if np.dtype(dtype).kind == "c" else 0)
    u, s, v = np.linalg.svd(drawn, full_matrices=False)
    values = np.broadcast_to(host(singular_values), s.shape)
    return xp.asarray(((u * values[..., None, :]) @ v).astype(dtype))


# ---- which tests run -------------------------------------------------------------------------------------------------


def installed(*requirements: str) -> bool:
    from packaging.requirements import Requirement

    for text in requirements:
        wanted = Requirement(text)
        try:
            found = importlib.metadata.version(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            return False
        if not wanted.specifier.contains(found, prereleases=True):
            return False
    return True


def with_requires(*requirements: str) -> Any:
    return pytest.mark.skipif(not installed(*requirements), reason=f"needs {', '.join(requirements)}")


def numpy_satisfies(versions: str) -> bool:
    return installed(f"numpy{versions}")


def slow(test: Any) -> Any:
    return pytest.mark.slow(test)


def multi_gpu(count: int) -> Any:
    return pytest.mark.skip(reason=f"needs {count} GPUs")


def product(parameter: dict[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the values of each name."""
    names = sorted(parameter)
    return [dict(zip(names, row, strict=True)) for row in itertools.product(*(parameter[n] for n in names))]


def product_dict(*parameters: Any) -> list[dict[str, Any]]:
    """Every combination of one dict of each sequence."""
    return [{k: v for d in row for k, v in d.items()} for row in itertools.product(*parameters)]


def parameterize(*params: dict[str, Any], **options: Any) -> Callable[[type], Any]:
    """The class once for each dict of attributes."""

    def decorator(cls: type) -> Any:
        if issubclass(cls, unittest.TestCase):
            module = sys.modules[cls.__module__]
            for i, values in enumerate(params):
                name = f"{cls.__name__}_{i}"
                members = {k: staticmethod(v) if isinstance(v, types.FunctionType) else v for k, v in values.items()}
                setattr(module, name, type(name, (cls,), {**members, "__module__": cls.__module__}))
            return None

        class Made(cls):  # type: ignore[misc, valid-type]
            @pytest.fixture(autouse=True)
            def _given(self, _values: dict[str, Any]) -> None:
                self.__dict__.update(_values)

        Made.__name__, Made.__qualname__, Made.__module__ = cls.__name__, cls.__qualname__, cls.__module__
        given = [pytest.param(values, id=str(i)) for i, values in enumerate(params)]
        return pytest.mark.parametrize("_values", given)(Made)

    return decorator


def fix_random() -> Callable[[Any], Any]:
    """The same random numbers in every run."""

    def seeded(test: Any) -> Any:
        @functools.wraps(test)
        def run(*args: Any, **more: Any) -> Any:
            np.random.seed(100)
            cupy.random.seed(101)
            return test(*args, **more)

        return run

    def decorator(what: Any) -> Any:
        if not isinstance(what, type):
            return seeded(what)
        for name, member in list(vars(what).items()):
            if name == "setUp" or name.startswith("test"):
                setattr(what, name, seeded(member))
        return what

    return decorator


def generate_seed() -> int:
    return int(np.random.randint(0x7FFFFFFF))


@contextlib.contextmanager
def assert_warns(expected: type[Warning]) -> Iterator[None]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
    assert any(isinstance(w.message, expected) for w in seen), f"no {expected.__name__}"


@contextlib.contextmanager
def assert_function_is_called(*args: Any, times_called: int = 1, **more: Any) -> Iterator[None]:
    with mock.patch(*args, **more) as found:
        yield
        assert found.call_count == times_called


AssertFunctionIsCalled = assert_function_is_called


class NumpyAliasBasicTestBase(unittest.TestCase):
    func: str = ""

    @property
    def cupy_func(self) -> Any:
        return getattr(cupy, self.func)

    @property
    def numpy_func(self) -> Any:
        return getattr(np, self.func)


NumpyAliasValuesTestBase = NumpyAliasBasicTestBase
