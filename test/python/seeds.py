"""The scripts that people wrote, from test/data/seeds, ready to run: word for word but for

- import lines: `pycuda` and `cudamat` become `nervanagpu.pycuda` and `nervanagpu.cudamat`, `cupy` becomes `nervanagpu`;
- `%timeit EXPRESSION`, which only IPython understands, becomes `timeit(lambda: EXPRESSION)`, which runs it three times;
- sizes, on the emulator: SMALL below. On a GPU they are the scripts' own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nervanagpu as ng

FOLDER = Path(__file__).parent.parent / "data/seeds"
FULL_SIZE = ng.device().kind == "cuda"
SMALL = {
    "000_cudamat": [("n, p = int(2e3), int(40e3)", "n, p = 200, 4000")],
    "002_cupy": [("(1000,1000,1000)", "(100,100,100)")],
}


def script(name: str, full_size: bool = FULL_SIZE) -> str:
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    text = re.sub(r"^(import|from) (pycuda|cudamat)\b", r"\1 nervanagpu.\2", text, flags=re.M)
    text = re.sub(r"^import cupy\b", "import nervanagpu", text, flags=re.M)
    text = re.sub(r"^%timeit (.*)$", r"timeit(lambda: \1)", text, flags=re.M)
    for theirs, ours in SMALL.get(name, []) if not full_size else []:
        assert theirs in text, f"{name} has no {theirs!r}"
        text = text.replace(theirs, ours)
    return text


def timeit(run: Any) -> None:
    for _ in range(3):
        run()


def execute(*names: str) -> dict[str, Any]:
    """Runs scripts one after the other, as one; returns the variables."""
    variables: dict[str, Any] = {"__name__": "__main__", "timeit": timeit}
    for name in names:
        exec(compile(script(name), f"{name}.txt", "exec"), variables)
    return variables
