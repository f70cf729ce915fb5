"""Where CUDA's headers and libraries may lie. What looks for them imports this when it does: it brings pathlib."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path


def wheels(package: str = "cuda_nvrtc") -> Iterator[Path]:
    """Folders of NVIDIA's Python packages: of one for CUDA 12, of all for later ones."""
    for root in _packages():
        yield from sorted(root.glob(package), reverse=True)
        yield from sorted(root.glob("cu1[2-9]"), reverse=True)


def toolkits() -> Iterator[Path]:
    """Where CUDA may be installed."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    yield Path("/usr/local/cuda")


def include_dirs() -> list[str]:
    """Where cuda_fp16.h and its like lie, if they are installed."""
    folders = [*(root / "cuda_runtime" for root in _packages()), *wheels(), *toolkits()]
    return [str(f / "include") for f in folders if (f / "include" / "cuda_fp16.h").exists()][:1]


def _packages() -> list[Path]:
    spec = importlib.util.find_spec("nvidia")
    return [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []
