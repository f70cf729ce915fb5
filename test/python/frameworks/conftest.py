"""What the tests of nervanagpu.torch share, beside torch_operands.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def fresh_torch() -> Iterator[None]:
    """The same random numbers in every run, no calls counted yet, and float32 as it is in cuDNN, too."""
    import nervanagpu.torch as ngt
    import torch

    torch.manual_seed(2015)
    ngt.reset_calls()
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        yield
