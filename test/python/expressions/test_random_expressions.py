"""Random expressions beside NumPy, every bit; each kernel is verified. NERVANAGPU_EXAMPLES: how many (1,500)."""

from __future__ import annotations

import os
from typing import Any

from expression_trees import check, trees
from hypothesis import HealthCheck, given, settings

EXAMPLES = int(os.environ.get("NERVANAGPU_EXAMPLES", "1500"))


@settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)
@given(trees())
def test_random_expressions(case: Any) -> None:
    check(case)
