"""Libraries that are measured beside ours: None where they are not installed.

This folder has a cuda.py, which must not stand for the package of that name that CuPy imports.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

_HERE = str(Path(__file__).parent)


def _load(name: str) -> ModuleType | None:
    path, ours = list(sys.path), sys.modules.pop("cuda", None)
    sys.path[:] = [p for p in path if p and Path(p).resolve() != Path(_HERE)]
    try:
        return __import__(name)
    except ImportError as e:
        print(f"{name} is not measured: {e}", file=sys.stderr)
        return None
    finally:
        sys.path[:] = path
        if ours is not None:
            sys.modules["cuda"] = ours


torch = _load("torch")
cupy = _load("cupy")
