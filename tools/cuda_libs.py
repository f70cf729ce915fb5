#!/usr/bin/env python3
"""Prints the folders of this Python environment that hold NVIDIA's libraries, as a value of NG_CUDA_LIBS (dir:dir).

The wheels nvidia-cublas, nvidia-cudnn ... keep theirs in site-packages/nvidia/*/lib, PyTorch some in torch/lib. What
NG_CUDA_LIBS holds already comes first. Nothing found: an empty line.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

PATTERNS = ("nvidia/*/lib", "torch/lib")


def library_folders(search: list[str]) -> list[str]:
    """Folders under the entries of `search` that hold at least one shared library, in order and without repetition."""
    found = [
        str(folder)
        for entry in search
        for pattern in PATTERNS
        for folder in sorted(Path(entry or ".").glob(pattern))
        if any(folder.glob("*.so*"))
    ]
    return list(dict.fromkeys(found))


def main() -> None:
    given = [folder for folder in os.environ.get("NG_CUDA_LIBS", "").split(":") if folder]
    print(":".join(dict.fromkeys(given + library_folders(sys.path))))


if __name__ == "__main__":
    main()
