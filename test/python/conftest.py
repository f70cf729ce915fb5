"""What the tests share. They run on the device the environment names, on the emulator if it names none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import tier

os.environ.setdefault("NERVANAGPU_DEVICE", "emulator")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is named, a test by its id, runs whatever the tier is."""
    if tier.LONG or any("::" in argument for argument in config.args):
        return
    kept = tier.short(items)
    left = set(items).difference(kept)
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = kept


@pytest.fixture
def rng() -> np.random.Generator:
    """The same numbers in every run."""
    return np.random.default_rng(20150901)


@pytest.fixture(autouse=True, scope="session")
def _verified() -> None:
    """Every kernel that is generated in this run is proven free of hazards."""
    from nervanagpu import _core

    _core.verify_generated(True)


@pytest.fixture(scope="module")
def numpy_is_quiet() -> Iterator[None]:
    """NumPy says nothing of infinities and NaN."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in a fresh interpreter whose NERVANAGPU_ variables are the keyword arguments."""

    def run(program: str, **settings: str) -> subprocess.CompletedProcess[str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith("NERVANAGPU_")}
        env.update({f"NERVANAGPU_{k.upper()}": v for k, v in settings.items()})
        return subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.fixture(scope="session")
def compiler() -> None:
    """NVRTC, which compiles CUDA C, or a skipped test: tools/requirements/test.txt has it, GPU machines may not."""
    from nervanagpu.cuda_toolkit import nvrtc

    try:
        nvrtc.library()
    except ImportError as e:
        pytest.skip(str(e))
