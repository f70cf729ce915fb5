"""aten's operators by ours, where they can; what cannot goes back to aten and is counted with the reason."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from nervanagpu.torch import aten
from nervanagpu.torch.bridge import Unsupported

_lock = threading.Lock()
_ours: Counter[str] = Counter()
_theirs: dict[str, Counter[str]] = {}


def calls() -> dict[str, dict[str, Any]]:
    """What ran inside `use` since reset_calls(), in all threads: {"aten.mm": {"ours": 3, "fallback": {why: times}}}."""
    with _lock:
        names = sorted(_ours.keys() | _theirs.keys())
        return {n: {"ours": _ours[n], "fallback": dict(_theirs.get(n, {}))} for n in names}


def reset_calls() -> None:
    """Forgets what calls() tells."""
    with _lock:
        _ours.clear()
        _theirs.clear()


class use(TorchDispatchMode):
    """In this context, in this thread, aten's operators are ours where they can be.

        with ngt.use("mm", "convolution"):
            y = model(x)

    Names: "mm", "addmm", "bmm", "convolution", "max_pool", "avg_pool", each with its gradients; none: all of them.
    torch.nn.Linear is mm or addmm. ValueError: another name. An expression of torch.compile keeps what it was compiled
    with: call torch.ops.nervanagpu there.
    """

    def __init__(self, *names: str) -> None:
        super().__init__()
        for name in names:
            if name not in aten.FAMILIES:
                raise ValueError(f"use: {name!r}; needs names of {', '.join(aten.FAMILIES)}")
        self._table: dict[Any, Callable[..., Any]] = {}
        for name in names or aten.FAMILIES:
            self._table |= aten.FAMILIES[name]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kernel = self._table.get(func)
        if kernel is None:
            return func(*args, **(kwargs or {}))
        name = str(func).rpartition(".")[0]
        try:
            if any(t is not torch.Tensor and not issubclass(t, torch.nn.Parameter) for t in types):
                raise Unsupported(f"a tensor of {', '.join(t.__name__ for t in types)}")
            result = kernel(*args, **(kwargs or {}))
        except Unsupported as why:
            with _lock:
                _theirs.setdefault(name, Counter())[str(why)] += 1
            return func(*args, **(kwargs or {}))
        with _lock:
            _ours[name] += 1
        return result
