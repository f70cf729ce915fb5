"""The list of known faults (xfail.txt), and what hypothesis draws.

A line of the list is a test's name in this folder and, after a space, the reason. Such a test has to fail: one that
passes is a failure until its line is gone, so the list only shrinks. Tests of names that nobody wrote yet are not run.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import tier
from hypothesis import HealthCheck, settings

from .calls import is_there
from .draws import COMPLEX, has_complex

FOLDER = Path(__file__).parent

# The same draws in every run, so that what is listed fails every time.
PROFILE = settings(
    max_examples=tier.drawn(12, 150),
    derandomize=True,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def known_faults() -> dict[str, str]:
    """Reason by name of a test."""
    lines = (FOLDER / "xfail.txt").read_text(encoding="utf-8").splitlines()
    entries = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    return {name: reason.strip() for name, _, reason in entries}


def name_of(item: pytest.Item) -> str:
    """test_rows.py::test_row[sin]"""
    return item.nodeid.rsplit("/", 1)[-1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    faults = known_faults()
    for item in items:
        if FOLDER not in item.path.parents:
            continue
        needed = getattr(item, "callspec", None) and item.callspec.params.get("row")
        name = getattr(needed, "name", needed)
        without = (getattr(needed, "id", "") == "complex" or name in COMPLEX) and not has_complex()
        if isinstance(name, str) and (without or not is_there(name)):
            item.add_marker(pytest.mark.xfail(reason=f"no {'complex' if without else name} yet", run=False))
        elif name_of(item) in faults:
            item.add_marker(pytest.mark.xfail(reason=faults[name_of(item)], strict=True))
