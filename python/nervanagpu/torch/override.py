"""aten's operators by ours, where they can; what cannot goes back to aten and is counted with the reason.

Our kernels stand under a dispatch key that torch keeps for others and that nothing uses: below autograd and autocast,
above modes and devices. A thread that includes the key meets them; no other thread and no other operator pays for them.
"""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _get_current_dispatch_mode_stack,
    _pop_mode,
    _push_mode,
)
from torch.utils._pytree import tree_leaves

from nervanagpu.torch import aten, native
from nervanagpu.torch.bridge import check_place, need
from nervanagpu.torch.library import why_refused

Function = Callable[..., Any]

_lock = threading.Lock()
_ours: Counter[str] = Counter()
_theirs: dict[str, Counter[str]] = {}


def calls() -> dict[str, dict[str, Any]]:
    """What ran inside `use` since reset_calls(), in all threads: {"aten.mm": {"ours": 3, "fallback": {why: times}}}."""
    with _lock:
        ours = _ours + _compiled_calls(forget=False)
        names = sorted(ours.keys() | _theirs.keys())
        return {n: {"ours": ours[n], "fallback": dict(_theirs.get(n, {}))} for n in names}


def reset_calls() -> None:
    """Forgets what calls() tells."""
    with _lock:
        _ours.clear()
        _theirs.clear()
        _compiled_calls(forget=True)


def _compiled_calls(forget: bool) -> Counter[str]:
    """Of those that never came to Python."""
    if _compiled is None:
        return Counter()
    return Counter({o.name: _compiled.calls(o.operator._opname, forget) for o in _entered.values()})


# --- what a thread uses: bits of families, kept where torch takes them along to the threads of a backward() ---------

_NAME = native.OVERRIDES_KEY
_KEY = torch._C._parse_dispatch_key(_NAME)
_BELOW = torch._C._dispatch_keyset_full_after(_KEY)
_BELOW_TRACER = torch._C._dispatch_keyset_full_after(torch._C._parse_dispatch_key("Tracer"))
_SELECT, _PYTHON = map(torch._C._parse_dispatch_key, ("BackendSelect", "Python"))
_BITS = {name: 1 << i for i, name in enumerate(aten.FAMILIES)}
_ALL = (1 << len(_BITS)) - 1
_PLACE = "nervanagpu.torch.use"
_include, _included = torch._C._dispatch_tls_set_dispatch_key_included, torch._C._dispatch_tls_is_dispatch_key_included
_used = torch._C._get_obj_in_tls


# Modes, tensors that are not plain, devices that are not ours.
_STRANGE = _BELOW.raw_repr() & ~native.bits_of("CPU", "CUDA", "BackendSelect", "PythonDispatcher")


class use:
    """In this context, in this thread, aten's operators are ours where they can be.

        with ngt.use("mm", "convolution"):
            y = model(x)

    Names: "mm", "addmm", "bmm", "convolution", "max_pool", "avg_pool", each with its gradients; none: all of them.
    torch.nn.Linear is mm or addmm. ValueError: another name. What torch.compile makes runs as it was compiled: call
    torch.ops.nervanagpu there.
    """

    def __init__(self, *names: str) -> None:
        for name in names:
            if name not in _BITS:
                raise ValueError(f"use: {name!r}; needs names of {', '.join(_BITS)}")
        self._bits = sum(_BITS[name] for name in set(names)) or _ALL

    def __enter__(self) -> use:
        _register()
        before = _used(_PLACE) if torch._C._is_key_in_tls(_PLACE) else 0
        now = before | self._bits
        stack: list[tuple[int, int]] = _outer.__dict__.setdefault("stack", [])
        _change(stack[-1][1] if stack else 0, now)
        stack.append((before, now))
        torch._C._stash_obj_in_tls(_PLACE, now)
        _include(_KEY, True)
        return self

    def __exit__(self, *raised: object) -> None:
        stack = _outer.__dict__.get("stack")
        if not stack:
            raise RuntimeError(
                "nervanagpu: use is left in a thread that is not in it; needs the thread that entered it"
            )
        before, now = stack.pop()
        _change(now, stack[-1][1] if stack else 0)
        torch._C._stash_obj_in_tls(_PLACE, before)
        _include(_KEY, before != 0)


_outer = threading.local()  # for each context of a thread, what is used outside of it and in it
_compiled = native.overrides()
_threads: Counter[int] = Counter()  # how many threads have entered contexts of those bits


def _change(before: int, now: int) -> None:
    """Of this thread, the bits that it has entered. 0: none."""
    with _lock:
        _threads[before] -= 1
        _threads[now] += 1
        bits = [b for b, count in _threads.items() if b and count > 0]
        if _compiled:
            _compiled.use(bits[0] if len(bits) == 1 else 0)


# --- kernels ----------------------------------------------------------------------------------------------------------


class _Operator:
    """One of aten's operators; `bit`: of its family, `run`: on our kernels."""

    def __init__(self, operator: Any, bit: int, run: Function) -> None:
        self.operator, self.bit, self._run = operator, bit, run
        self.name = f"aten.{operator._opname}"

    def kernel(self) -> Function:
        """What stands under the key. It runs at every call: what is usual is written out."""
        operator, bit, attempt, name, other = self.operator, self.bit, self._run, self.name, self._unusual

        def run(keyset: Any, *args: object, **kwargs: object) -> object:
            if not _used(_PLACE) & bit or keyset.raw_repr() & _STRANGE:
                return other(keyset, args, kwargs)
            try:
                result = attempt(*args, **kwargs)
            except RuntimeError as error:
                _count_refusal(name, error)
            else:
                with _lock:
                    _ours[name] += 1
                return result
            return _aten(operator, keyset, args, kwargs)

        return run

    def _unusual(self, keyset: Any, args: Any, kwargs: Any) -> object:
        if not _used(_PLACE) & self.bit:
            return self.operator.redispatch(keyset & _BELOW, *args, **kwargs)
        if torch._C._len_torch_dispatch_stack():
            return _through_modes(self.operator, keyset, args, kwargs)
        return self.attempt_checked(args, kwargs, lambda: _aten(self.operator, keyset, args, kwargs))

    def attempt_checked(self, args: Any, kwargs: Any, otherwise: Callable[[], object]) -> object:
        """Ours of operands of any kind, or what else there is."""
        tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
        if any(isinstance(t, FakeTensor) for t in tensors):
            return otherwise()  # a shape is asked for, and nothing runs
        try:
            _check_plain(tensors)
            result = self._run(*args, **kwargs)
        except RuntimeError as error:
            _count_refusal(self.name, error)
        else:
            with _lock:
                _ours[self.name] += 1
            return result
        return otherwise()


def _finding_keyset(kernel: Function) -> Function:
    """It without a keyset, which is what the dispatcher makes of the thread's and those of tensors.

    Less the key that chooses a device for operators without tensors: for others it has no kernel.
    """

    def run(*args: object, **kwargs: object) -> object:
        keyset = torch._C._dispatch_tls_local_include_set()
        for operand in (*args, *kwargs.values()):
            if isinstance(operand, Tensor):
                keyset = keyset | torch._C._dispatch_keys(operand)
        keyset = (keyset - torch._C._dispatch_tls_local_exclude_set()).remove(_SELECT)
        return kernel(keyset, *args, **kwargs)

    return run


def _count_refusal(name: str, error: RuntimeError) -> None:
    """Of an operator that goes back to aten; raises the error again if that is no reason."""
    why = why_refused(error)
    if why is None:
        raise error
    with _lock:
        _theirs.setdefault(name, Counter())[why] += 1


def _check_plain(tensors: list[Tensor]) -> None:
    """Unsupported unless they are dense, of torch's own classes and in memory of ours."""
    kinds = sorted({type(t).__name__ for t in tensors if type(t) not in (Tensor, torch.nn.Parameter)})
    need(not kinds, f"a tensor of {', '.join(kinds)}")
    for t in tensors:
        need(not t.is_nested, "a nested tensor")
        check_place(t)
        need(t.is_cpu or t.is_cuda, f"a tensor on {t.device}")


def _aten(operator: Any, keyset: Any, args: Any, kwargs: Any) -> object:
    """aten's own, which may call others of its operators: those are its own, too."""
    _include(_KEY, False)
    try:
        return operator.redispatch(keyset & _BELOW, *args, **kwargs)
    finally:
        _include(_KEY, True)


def _traced_convolution(keyset: Any, *args: object, **kwargs: object) -> object:
    """While torch.jit traces: aten's kernel calls the operator that a trace notes in place of this one."""
    inside = _included(_KEY)
    _include(_KEY, False)
    try:
        return aten.ATEN.convolution.default.redispatch((keyset & _BELOW_TRACER).remove(_KEY), *args, **kwargs)
    finally:
        _include(_KEY, inside)


def _through_modes(operator: Any, keyset: Any, args: Any, kwargs: Any) -> object:
    """First by what modes there are, then here; those of a compiler want aten's operators, and no values."""
    modes = [] if any(map(torch._C._get_dispatch_mode, _COMPILERS)) else _get_current_dispatch_mode_stack()
    for _ in modes:
        _pop_mode()
    try:
        if modes:
            _push_mode(_LAST)
        for mode in modes:
            _push_mode(mode)
        return operator.redispatch(keyset & _BELOW, *args, **kwargs)
    finally:
        if modes:
            for _ in (*modes, None):
                _pop_mode()
            for mode in modes:
                _push_mode(mode)


_COMPILERS = tuple(torch._C._TorchDispatchModeKey.__members__.values())


class _Last(TorchDispatchMode):
    """Stands below modes while they look at an operator: where they go on with it, it is ours."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> object:
        more = kwargs or {}
        entered = _entered.get(func)
        if entered is None or not _used(_PLACE) & entered.bit:
            return func(*args, **more)
        return entered.attempt_checked(args, more, lambda: func(*args, **more))


_LAST = _Last()
_entered: dict[Any, _Operator] = {}
_libraries: list[Any] = []  # as long as they live


def _check_key() -> None:
    """RuntimeError if torch has kernels of its own under the key, which ours would take the place of."""
    table = str(torch._C._dispatch_dump_table("aten::mm"))
    if any(line.startswith(f"{_NAME}:") for line in table.splitlines()):
        raise RuntimeError(
            f"nervanagpu: torch {torch.__version__} has kernels of its own under its dispatch key {_NAME}, which use() "
            "needs for itself; call the functions of nervanagpu.torch"
        )


def _register() -> None:
    """Makes torch know the kernels, when they are first used."""
    if _libraries:
        return
    with _lock:
        if _libraries:
            return
        _check_key()
        others, own = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
        others.fallback(torch.library.fallthrough_kernel, _NAME)
        for family, operators in aten.FAMILIES.items():
            for operator, run in operators.items():
                _entered[operator] = _Operator(operator, _BITS[family], run)
                kernel = _entered[operator].kernel()
                if _compiled and operator._overloadname == "default":
                    name, bit = operator._opname, _BITS[family]
                    if not _BELOW.has(_PYTHON) and _compiled.enter(name, bit, _finding_keyset(kernel)):
                        continue
                    kernel = _compiled.function(name, bit, _STRANGE, kernel)
                own.impl(operator, kernel, _NAME, with_keyset=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's own kernel there only goes on, too
            own.impl(aten.ATEN.convolution.default, _traced_convolution, "Tracer", with_keyset=True)
        _libraries.extend((others, own))
