"""What the tests of nervanagpu.torch share: operands and comparisons. A test file that imports it is skipped where
there is no PyTorch; each has the fixture `fresh_torch` (conftest.py)."""

from __future__ import annotations

from typing import Any

import nervanagpu as ng
import pytest

torch: Any = pytest.importorskip("torch", reason="needs PyTorch (make test-torch installs it)")

import nervanagpu.torch as ngt  # noqa: E402, F401

F = torch.nn.functional
OPS = torch.ops.nervanagpu
DEVICE = "cuda" if ng.device().kind == "cuda" else "cpu"
BOUND = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def rand(*shape: int, dtype: Any = torch.float32) -> Any:
    return (torch.randn(*shape, device=DEVICE) * 0.5).to(dtype)


def near(got: Any, want: Any, bound: float) -> bool:
    """Of one shape, elements within a bound of the largest; NaN is never near."""
    if got.shape != want.shape:
        return False
    got, want = got.detach(), want.detach()
    scale = max(1.0, float(want.abs().max())) if want.numel() else 1.0
    return got.numel() == 0 or float((got.double() - want.double()).abs().max()) <= bound * scale


def close(got: Any, want: Any, bound: float | None = None) -> None:
    """Of one dtype, and near; bound: of the dtype, if there is none."""
    assert got.dtype == want.dtype
    assert near(got, want, BOUND[got.dtype] if bound is None else bound), f"{got}\nbeside\n{want}"
