"""examples/numpy_user.py says the same of NumPy and of this package."""

from __future__ import annotations

import runpy
import sys
from typing import Any

import nervanagpu as ng
import numpy as np
import pytest
from source_tree import ROOT

EXAMPLE = ROOT / "examples/numpy_user.py"
RESULTS = {
    "k_means": lambda m: m["k_means"](m["noise"](60, 2) + m["np"].arange(60.0).reshape(60, 1) % 4, 4),
    "kalman": lambda m: m["kalman"](1 + m["np"].arange(40) * 0.1 + 0.2 * m["noise"](40)),
    "blurred": lambda m: m["blurred"](m["noise"](12, 9), 1.5),
    "regression": lambda m: m["regression"](m["noise"](20), m["noise"](20) ** 2 + 1),
}


def loaded(monkeypatch: pytest.MonkeyPatch, package: str, name: str = "example") -> dict[str, Any]:
    monkeypatch.setattr(sys, "argv", ["numpy_user.py", package])
    return runpy.run_path(str(EXAMPLE), run_name=name)


@pytest.mark.parametrize("task", RESULTS)
def test_results_are_numpys(monkeypatch: pytest.MonkeyPatch, task: str) -> None:
    """In float64, so within what a reordered sum rounds."""
    made = [RESULTS[task](loaded(monkeypatch, package)) for package in ("nervanagpu", "numpy")]
    for got, want in zip(*(m if isinstance(m, tuple) else (m,) for m in made), strict=True):
        host = got.get() if isinstance(got, ng.GPUTensor) else np.asarray(got)
        assert host.dtype == np.asarray(want).dtype and host.shape == np.shape(want)
        assert np.all(np.abs(host - want) <= 1e-9)


def test_prints_the_same(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    printed = {}
    for package in ("nervanagpu", "numpy"):
        loaded(monkeypatch, package, "__main__")
        printed[package] = capsys.readouterr().out
    assert printed["nervanagpu"] == printed["numpy"]
    assert len(printed["numpy"].splitlines()) == 4
