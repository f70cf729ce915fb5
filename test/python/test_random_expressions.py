"""Random expressions beside NumPy, every bit; each kernel is verified. NERVANAGPU_EXAMPLES: how many (1,500)."""

from __future__ import annotations

import os
from typing import Any

import pytest
from expression_trees import check, trees
from hypothesis import HealthCheck, given, settings
from nervanagpu import _core

EXAMPLES = int(os.environ.get("NERVANAGPU_EXAMPLES", "1500"))


@pytest.fixture(autouse=True, scope="module")
def _verified() -> Any:
    _core.verify_generated(True)
    yield
    _core.verify_generated(False)


@settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)
@given(trees())
def test_random_expressions(case: Any) -> None:
    check(case)
