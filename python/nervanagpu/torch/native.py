"""The operators compiled: torch.ops.nervanagpu_native of libnervanagpu_torch.so, which every torch from 2.9 on takes.

They have arguments that torch's stable interface has always had: names are numbers, and so are lists of up to three.
Where there is no such file, or NERVANAGPU_TORCH=python, operators are entered from Python instead (`why_not` says why).
"""

from __future__ import annotations

import ctypes
import os
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.autograd import forward_ad

from nervanagpu import _core

NAME = "libnervanagpu_torch.so"
_NUMBER_OF = {name: i for i, (name, reads) in enumerate(_core.ACTIVATIONS.items()) if reads == "sum"}
ACTIVATIONS = tuple(_NUMBER_OF)
_PRECISIONS = {"strict": 0, "tensor": 1}
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
_LARGEST = torch.finfo(torch.float32).max
OVERRIDES_KEY = "Fake"  # the dispatch key of torch's under which aten's operators are ours (override.py)


_libraries: list[ctypes.PyDLL] = []


def _enter() -> str:
    """Makes torch know the operators; why it cannot be done, or ""."""
    if os.environ.get("NERVANAGPU_TORCH", "") == "python":
        return "NERVANAGPU_TORCH=python"
    path = Path(str(_core.__file__)).with_name(NAME)
    if not path.is_file():
        return f"there is no {path}"
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        return f"{path} cannot be loaded: {error}"
    library.ng_torch_register.restype = ctypes.c_char_p
    missing = library.ng_torch_register()
    if missing:
        return f"torch {torch.__version__} lacks {missing.decode()}"
    _libraries.append(ctypes.PyDLL(str(path)))
    return ""


why_not = _enter()
OPS: Any = None if why_not else torch.ops.nervanagpu_native


def entry() -> str:
    """How operators are entered: "compiled", or "python" and why."""
    return f"python: {why_not}" if why_not else "compiled"


def compiled(name: str) -> Callable[..., Any]:
    """The compiled operator; one that is never called where there is none."""
    if why_not:
        return _absent
    overload = getattr(OPS, name).default
    return getattr(overload, "_op", overload)  # what the overload calls, without its own call in Python


class Overrides:
    """aten's operators compiled (overrides.cpp), for nervanagpu.torch.override."""

    def __init__(self, library: ctypes.PyDLL) -> None:
        make, self._use, self._calls = library.ng_torch_override, library.ng_torch_use, library.ng_torch_override_calls
        make.restype, make.argtypes = (
            ctypes.py_object,
            (ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.py_object),
        )
        self._use.restype, self._use.argtypes = None, (ctypes.c_uint64,)
        self._calls.restype, self._calls.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_int)
        self._make = make
        self._direct = library.ng_torch_direct
        self._direct.restype = ctypes.c_int
        self._direct.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.py_object)

    def enter(self, name: str, bit: int, other: Callable[..., Any]) -> bool:
        """Makes torch know the operator, without Python, and without a keyset; what is not usual goes to `other`.

        False: it is not among these. torch's key for modes and classes of tensors has to stand above ours.
        """
        return bool(self._direct(name.encode(), OVERRIDES_KEY.encode(), bit, other))

    def function(self, name: str, bit: int, strange: int, other: Callable[..., Any]) -> Callable[..., Any]:
        """(keyset, *arguments): the operator, or for what is not usual `other`; that alone if it is not among these.

        bit: of the operator's family; strange: bits of the keys of a keyset that is for `other`.
        """
        made: Callable[..., Any] | None = self._make(name.encode(), bit, strange, other)
        return other if made is None else made

    def use(self, bits: int) -> None:
        """The families that all threads use which use any; 0: they are not the same."""
        self._use(bits)

    def calls(self, name: str, forget: bool) -> int:
        """How often the operator ran here."""
        return int(self._calls(name.encode(), forget))


def version_has_overrides() -> bool:
    """Whether there are aten's operators compiled: for torch from 2.14 on, and Pythons that have a stable interface."""
    has = bool(_libraries) and bool(_libraries[0].ng_torch_has_overrides())
    return has and not sysconfig.get_config_var("Py_GIL_DISABLED")


def overrides() -> Overrides | None:
    """None: Python does it all."""
    return Overrides(_libraries[0]) if version_has_overrides() else None


class Entries:
    """Operators of torch.ops.nervanagpu as torch enters them, compiled (entries.cpp)."""

    def __init__(self, library: ctypes.PyDLL, strange: int) -> None:
        library.ng_torch_entries.restype = None
        library.ng_torch_entries.argtypes = (ctypes.c_uint64, ctypes.py_object, ctypes.py_object)
        library.ng_torch_entries(strange, forward_ad, FLOATS)
        self._make = library.ng_torch_entry
        self._make.restype, self._make.argtypes = ctypes.py_object, (ctypes.c_char_p, ctypes.c_int, ctypes.py_object)

    def of_device(self, name: str, other: Callable[..., Any]) -> Callable[..., Any]:
        """(*arguments): the operator, or for what is not usual `other`; that alone if it is not among these."""
        made: Callable[..., Any] | None = self._make(name.encode(), False, other)
        return other if made is None else made

    def of_autograd(self, name: str, other: Callable[..., Any]) -> Callable[..., Any]:
        """(keyset, *arguments): the same; `other` also where a derivative is wanted."""
        made: Callable[..., Any] | None = self._make(name.encode(), True, other)
        return other if made is None else made


def bits_of(*keys: str) -> int:
    """Of torch's dispatch keys, as a keyset's raw_repr() has them."""
    out = 0
    for key in keys:
        out |= torch._C.DispatchKeySet(torch._C._parse_dispatch_key(key)).raw_repr()
    return out


def entries() -> Entries | None:
    """None: Python does it all."""
    if not version_has_overrides():
        return None
    plain = bits_of("CPU", "CUDA", "BackendSelect", "PythonDispatcher", "ADInplaceOrView", OVERRIDES_KEY)
    return Entries(_libraries[0], torch._C._after_autograd_keyset.raw_repr() & ~plain)


def _absent(*operands: object) -> NoReturn:
    raise RuntimeError(f"nervanagpu: no compiled operators: {why_not}")


# --- arguments as numbers ---------------------------------------------------------------------------------------------


def precision_number(name: str | None) -> int:
    """RuntimeError: a name that is none."""
    if name is None:
        return -1
    number = _PRECISIONS.get(name) if isinstance(name, str) else None
    if number is None:
        raise RuntimeError(f"nervanagpu: precision is {name!r}; needs 'strict' or 'tensor'")
    return number


def activation_number(name: str) -> int:
    """RuntimeError: a name that is none."""
    number = _NUMBER_OF.get(name) if isinstance(name, str) else None
    if number is None:
        raise RuntimeError(f"nervanagpu: activation is {name!r}; needs one of {ACTIVATIONS}")
    return number


def real(name: str, value: Any) -> float:
    """RuntimeError: what is no real number, or none that float32 holds."""
    if isinstance(value, str | complex):
        raise RuntimeError(f"nervanagpu: {name} is {value!r}; needs a real number")
    out = float(value)
    if _LARGEST < abs(out) < float("inf"):
        raise RuntimeError(f"nervanagpu: {name} is {out:g}; needs a number that float32 holds")
    return out


def three(numbers: Sequence[int]) -> tuple[int, ...]:
    """For depth, height and width: those that are there stand at the end."""
    return (*(0,) * (3 - len(numbers)), *numbers)


def packed(name: str, numbers: Sequence[int], axes: int) -> int:
    """One number for each axis, 21 bits each, as one. RuntimeError: more or fewer, or larger ones."""
    if len(numbers) != axes:
        raise RuntimeError(f"nervanagpu: {name} has {len(numbers)} numbers; needs {axes}")
    code = 0
    for n in numbers:
        if n >> 21:
            raise RuntimeError(f"nervanagpu: {name} is {tuple(numbers)}; needs 0 to {2**21 - 1}")
        code = code << 21 | n
    return code


# --- when to call them without a detour -------------------------------------------------------------------------------

_is_dynamo, _is_tracing = torch.compiler.is_dynamo_compiling, torch._C._is_tracing
_autocast, _transforms = torch._C._is_any_autocast_enabled, torch._C._are_functorch_transforms_active
_modes, _function_modes = torch._C._len_torch_dispatch_stack, torch._C._len_torch_function_stack
_with_gradients, _wants_one = torch.is_grad_enabled, torch._C._any_requires_grad
_PARAMETER = torch.nn.Parameter
KERNEL, RECORDED, GRADIENT, DISPATCHER = range(4)


def way(*operands: Tensor | None) -> int:
    """The shortest way of a call: to the compiled operator, to its autograd function, or through torch's dispatcher.

    RECORDED: nothing but gradients is wanted (gradients.RECORDERS). GRADIENT: the autograd function for torch.func's
    transforms and forward derivatives. DISPATCHER: there are autocast, modes, tracing or subclasses of tensors. (It
    runs at every call.)
    """
    if _is_dynamo() or _modes() or _function_modes() or _is_tracing():
        return DISPATCHER
    if _transforms() or forward_ad._current_level >= 0:
        return GRADIENT
    if why_not or _autocast():
        return DISPATCHER
    for t in operands:
        if t is not None:
            kind = type(t)
            if (kind is not Tensor and kind is not _PARAMETER) or not (t.is_cpu or t.is_cuda):
                return DISPATCHER
    return RECORDED if _with_gradients() and _wants_one(*operands) else KERNEL
