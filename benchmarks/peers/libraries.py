"""Libraries that are measured beside ours: None where they are not installed."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType


def _load(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError as e:
        print(f"{name} is not measured: {e}", file=sys.stderr)
        return None


torch = _load("torch")
cupy = _load("cupy")
