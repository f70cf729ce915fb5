"""Every row once: what is drawn for a function gives here what it gives in NumPy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from . import (
    rows_array,
    rows_creation,
    rows_elementwise,
    rows_fft,
    rows_linalg,
    rows_manipulation,
    rows_reductions,
    rows_searching,
)
from .calls import Row, run
from .conftest import PROFILE

TABLES = (
    rows_array,
    rows_creation,
    rows_elementwise,
    rows_fft,
    rows_linalg,
    rows_manipulation,
    rows_reductions,
    rows_searching,
)
ROWS = [row for table in TABLES for row in table.ROWS]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_row(row: Row) -> None:
    @PROFILE
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        run(row, data.draw(row.calls))

    holds()
