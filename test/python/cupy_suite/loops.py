"""cupy.testing's loops: a test once for each dtype, combination of dtypes, or order of axes.

Complex dtypes are among them where tensors can have them. Combinations are drawn, the same in every run: each dtype of
the first name with one of each other.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from nervanagpu import cupy

from cupy_suite.compare import SKIPS, Test, without

FLOATS = (np.float64, np.float32)
SIGNED = tuple(np.dtype(c).type for c in "bhilq")
UNSIGNED = tuple(np.dtype(c).type for c in "BHILQ")


FEW = os.environ.get("CUPY_TESTS_DTYPES", "").split()  # of one dtype at a time, these; none: all


def has_complex() -> bool:
    try:
        cupy.zeros(1, np.complex64)
    except (TypeError, ValueError):
        return False
    return True


COMPLEX = (np.complex64, np.complex128) if has_complex() else ()


def all_dtypes(no_float16: bool = False, no_bool: bool = False, no_complex: bool = False) -> tuple[Any, ...]:
    return (
        *FLOATS, *(() if no_float16 else (np.float16,)), *SIGNED, *UNSIGNED, *(() if no_bool else (np.bool_,)),
        *(() if no_complex else COMPLEX),
    )  # fmt: skip


def each(cases: Sequence[dict[str, Any]], names: tuple[str, ...]) -> Callable[[Test], Test]:
    """The test with each of these keyword arguments; an error says which."""

    def decorator(test: Test) -> Test:
        @without(test, names)
        def run(*args: Any, **more: Any) -> None:
            for case in cases:
                try:
                    test(*args, **{**more, **case})
                except SKIPS:
                    continue
                except Exception as error:
                    shown = ", ".join(f"{k}={getattr(v, '__name__', v)}" for k, v in case.items())
                    error.add_note(f"with {shown}")
                    raise

        return run

    return decorator


def for_dtypes(dtypes: Iterable[Any], name: str = "dtype") -> Callable[[Test], Test]:
    kinds = [np.dtype(d).type for d in dtypes]
    kinds = [k for k in kinds if np.dtype(k).name in FEW] or kinds[:1] if FEW else kinds
    return each([{name: k} for k in kinds if COMPLEX or np.dtype(k).kind != "c"], (name,))


def for_all_dtypes(
    name: str = "dtype", no_float16: bool = False, no_bool: bool = False, no_complex: bool = False
) -> Callable[[Test], Test]:
    return for_dtypes(all_dtypes(no_float16, no_bool, no_complex), name)


def for_float_dtypes(name: str = "dtype", no_float16: bool = False) -> Callable[[Test], Test]:
    return for_dtypes(FLOATS if no_float16 else (*FLOATS, np.float16), name)


def for_signed_dtypes(name: str = "dtype") -> Callable[[Test], Test]:
    return for_dtypes(SIGNED, name)


def for_unsigned_dtypes(name: str = "dtype") -> Callable[[Test], Test]:
    return for_dtypes(UNSIGNED, name)


def for_int_dtypes(name: str = "dtype", no_bool: bool = False) -> Callable[[Test], Test]:
    return for_dtypes((*SIGNED, *UNSIGNED, *(() if no_bool else (np.bool_,))), name)


def for_complex_dtypes(name: str = "dtype") -> Callable[[Test], Test]:
    """Skipped where there are none."""

    def decorator(test: Test) -> Test:
        if COMPLEX:
            return for_dtypes(COMPLEX, name)(test)

        @without(test, (name,))
        def run(*args: Any, **more: Any) -> None:
            import pytest

            pytest.skip("complex dtypes are not there")

        return run

    return decorator


def for_dtypes_combination(
    types: Iterable[Any], names: Sequence[str] = ("dtype",), full: bool | None = None
) -> Callable[[Test], Test]:
    kinds = [k for k in types if COMPLEX or np.dtype(k).kind != "c"]
    kinds = [k for k in kinds if np.dtype(k).name in FEW] if FEW else kinds
    if full:
        rows: list[tuple[Any, ...]] = list(itertools.product(kinds, repeat=len(names)))
    else:
        rng = random.Random(len(kinds))
        columns = [kinds + rng.sample(kinds, len(kinds)) for _ in names]
        rows = sorted(set(zip(*columns, strict=True)), key=str)
    return each([dict(zip(names, row, strict=True)) for row in rows], tuple(names))


def for_all_dtypes_combination(
    names: Sequence[str] = ("dtype",), no_float16: bool = False, no_bool: bool = False, full: bool | None = None,
    no_complex: bool = False,
) -> Callable[[Test], Test]:  # fmt: skip
    return for_dtypes_combination(all_dtypes(no_float16, no_bool, no_complex), names, full)


def for_int_dtypes_combination(
    names: Sequence[str] = ("dtype",), no_bool: bool = False, full: bool | None = None
) -> Callable[[Test], Test]:
    return for_dtypes_combination((*SIGNED, *UNSIGNED, *(() if no_bool else (np.bool_,))), names, full)


def for_signed_dtypes_combination(
    names: Sequence[str] = ("dtype",), full: bool | None = None
) -> Callable[[Test], Test]:
    return for_dtypes_combination(SIGNED, names, full)


def for_unsigned_dtypes_combination(
    names: Sequence[str] = ("dtype",), full: bool | None = None
) -> Callable[[Test], Test]:
    return for_dtypes_combination(UNSIGNED, names, full)


def for_orders(orders: Iterable[Any], name: str = "order") -> Callable[[Test], Test]:
    return each([{name: o} for o in orders], (name,))


def for_CF_orders(name: str = "order") -> Callable[[Test], Test]:
    return for_orders([None, "C", "F", "c", "f"], name)


def for_contiguous_axes(name: str = "axis") -> Callable[[Test], Test]:
    """The axes that lie together in memory at the fast end, of `shape` in `order`."""

    def decorator(test: Test) -> Test:
        @without(test, (name,))
        def run(self: Any, *args: Any, **more: Any) -> None:
            ndim = len(more["shape"])
            for count in range(1, ndim + 1):
                by_rows = str(more["order"]).upper() == "C"
                axes = tuple(range(ndim - count, ndim)) if by_rows else tuple(range(count))
                test(self, *args, **{**more, name: axes})

        return run

    return decorator
