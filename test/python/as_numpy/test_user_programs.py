"""The same programs with NumPy, this library, and its names for CuPy: only the import differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest

FILES = (
    "user_programs.py",
    "working_programs.py",
    "learning_programs.py",
    "numerics_programs.py",
    "picture_programs.py",
)


def programs(module: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in FILES:
        text = Path(__file__).with_name(name).read_text(encoding="utf-8")
        space: dict[str, Any] = {}
        exec(
            compile(text.replace("import numpy as np", f"import {module} as np", 1), f"{name}, with {module}", "exec"),
            space,
        )
        found |= {program.__name__: program for program in space["PROGRAMS"]}
    return found


OURS = {module: programs(module) for module in ("nervanagpu", "nervanagpu.cupy")}
THEIRS = programs("numpy")


def same(got: Any, want: Any, place: str) -> None:
    if isinstance(want, tuple | list):
        assert len(got) == len(want), place
        for k, (g, w) in enumerate(zip(got, want, strict=True)):
            same(g, w, f"{place}[{k}]")
    elif isinstance(want, np.ndarray | np.generic):
        host = got.get() if isinstance(got, ng.GPUTensor) else np.asarray(got)
        assert (host.dtype, host.shape) == (want.dtype, want.shape), place
        exact = want.dtype.kind in "biu" or np.array_equal(host, want)
        bound = 1e-9 * (1 + np.abs(np.where(np.isfinite(want), want, 0)))
        alike = exact or (host == want) | (np.abs(host - want) <= bound) | (np.isnan(host) & np.isnan(want))
        assert np.array_equal(host, want) if exact else np.all(alike), place
    elif isinstance(want, float):
        assert abs(float(got) - want) <= 1e-9 * (1 + abs(want)), place
    else:
        assert got == want, place


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("module", OURS)
@pytest.mark.parametrize("name", THEIRS)
def test_gives_what_numpy_gives(name: str, module: str) -> None:
    same(OURS[module][name](), THEIRS[name](), name)
