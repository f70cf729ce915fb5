"""The two tiers of tests: `make test` runs a part of what is crossed or drawn, always the same; `make test-long` all.

A test marked `long` runs in the long tier alone. Of a test whose parameters are crossed (several `parametrize`), the
short tier runs some of the cases: each value of each parameter is among them. What a test draws or lists itself
asks `drawn` and `some`.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import TypeVar

import pytest

T = TypeVar("T")
LONG = bool(os.environ.get("NERVANAGPU_TEST_LONG"))
ON_GPU = os.environ.get("NERVANAGPU_DEVICE") == "cuda"  # all that is crossed runs, which takes seconds there


def drawn(short: int, long: int) -> int:
    """How many to draw."""
    return long if LONG else short


def some(cases: list[T], of: int) -> list[T]:
    """One of `of` cases, for what is long to compute and listed in a test."""
    return cases if LONG else cases[::of]


def _values(item: pytest.Item) -> set[tuple[object, ...]]:
    """Which value each parameter has; those that one `parametrize` lists together are one."""
    params: dict[str, object] = item.callspec.params  # type: ignore[attr-defined]
    together = [mark.args[0] for mark in item.iter_markers("parametrize")]
    groups = [re.split(r"[, ]+", names) if isinstance(names, str) else list(names) for names in together]
    groups += [[name] for name in params if not any(name in group for group in groups)]
    return {(*group, *(id(params[name]) for name in group)) for group in groups}


def covering(items: list[pytest.Item]) -> set[str]:
    """Names of cases of one test that have each value of each parameter; where nothing is crossed, all."""
    seen: set[tuple[object, ...]] = set()
    kept = set()
    for item in sorted(items, key=lambda item: zlib.crc32(item.nodeid.encode())):
        values = _values(item)
        if not values <= seen:
            seen |= values
            kept.add(item.nodeid)
    return kept


def short(items: list[pytest.Item]) -> list[pytest.Item]:
    """Those of the short tier."""
    tests: dict[str, list[pytest.Item]] = {}
    kept = set()
    for item in items:
        if item.get_closest_marker("long"):
            continue
        if hasattr(item, "callspec"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
        else:
            kept.add(item.nodeid)
    for cases in tests.values():
        kept |= {item.nodeid for item in cases} if ON_GPU else covering(cases)
    return [item for item in items if item.nodeid in kept]
