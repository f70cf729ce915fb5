"""A bad axis, dtype or out: the error names the function that was called, not one of those that it is made of."""

from __future__ import annotations

import inspect
import re
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from nervanagpu import function_table

BAD: dict[str, list[Any]] = {
    **{axis: ["1", 1.5, 9, [0, "1"]] for axis in ("axis", "axis1", "axis2", "axes")},
    "dtype": ["nonsense", 1.5],
    "out": [3, np.ones(2, np.float32), "out"],
}
MATRIX, VECTOR = np.eye(3, dtype=np.float32) * 4 + 1, np.ones(3, np.float32)
# What the other arguments are: by parameter, by function and parameter, or a matrix.
OTHERS: dict[str, Any] = {
    **dict.fromkeys(("shape", "dimensions"), (3, 3)),
    **dict.fromkeys(("N", "n", "size"), 3),
    **dict.fromkeys(("axis1", "source", "destination"), 0),
    **dict.fromkeys(("func", "func1d"), ng.sum),
    **dict.fromkeys(("indices", "x of choose"), np.array([0, 1, 0])),
    **dict.fromkeys(("x of packbits", "x of unpackbits"), np.ones(8, np.uint8)),
    "function": lambda *places: places[0],
    "arrays": [MATRIX, MATRIX],
    "q": 0.5,
    "shift": 1,
    "condition of compress": VECTOR > 0,
    "choices": [VECTOR, VECTOR],
    "a of where": MATRIX,
    "b of where": MATRIX,
    "start of arange": 3,
    "buffer": bytes(16),
    "iter": [1.0],
    "kind": "bool",
}
ROWS = [row for row in function_table.TABLE if BAD.keys() & inspect.signature(row.function).parameters.keys()]


def given(value: Any) -> Any:
    return ng.array(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.space}.{row.name}".strip("."))
def test_errors_name_the_function(row: function_table.Row) -> None:
    parameters = inspect.signature(row.function).parameters
    wrong = []
    for name, bad in ((n, value) for n in BAD if n in parameters for value in BAD[n]):
        args: list[Any] = []
        named: dict[str, Any] = {}
        for p in parameters.values():
            own = f"{p.name} of {row.name}"
            value = bad if p.name == name else given(OTHERS.get(own, OTHERS.get(p.name, MATRIX)))
            wanted = p.name == name or own in OTHERS or p.default is p.empty
            if p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) or (wanted and p.default is not p.empty):
                named.update({p.name: value} if wanted and p.kind is not p.VAR_KEYWORD else {})
            elif p.kind is p.VAR_POSITIONAL:
                args += {"gradient": [], "einsum": ["ij->i", value]}.get(row.name, [value])
            elif wanted:
                args.append(value)
        try:
            row.function(*args, **named)
        except (TypeError, ValueError) as error:
            called = "|".join(re.escape(n) for n in row.names)
            if not re.match(rf"({row.space}\.)?({called}): .*\b({name}|axis)\b", str(error)):
                wrong.append(f"{name}={bad!r}: {type(error).__name__}: {error}")
        else:
            wrong.append(f"{name}={bad!r}: taken")
    assert not wrong, "\n".join(wrong)


def test_the_outermost_function_is_named() -> None:
    x = ng.ones((2, 3))
    with pytest.raises(TypeError, match=r"^softmax: axis is '1'; needs an integer"):
        ng.softmax(x, axis="1")
    with pytest.raises(np.exceptions.AxisError, match="^stack: axis 5 is out of range"):
        ng.stack([x, x], axis=5)
    with pytest.raises(TypeError, match="^nanstd: axis is '1'"):  # of nanvar, of var
        ng.nanstd(x, axis="1")
