"""torch's tensors as ours, in place, and what we can work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch._prims_common import suggest_memory_format
from torch.utils.dlpack import to_dlpack

from nervanagpu import _core
from nervanagpu._core import GPUTensor, Stream

FLOATS = {torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16"}
CHANNELS_LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


class Unsupported(RuntimeError):
    """What our kernels do not do; says why, as the compiled operators do."""

    def __init__(self, why: str) -> None:
        super().__init__(f"nervanagpu: {why}")


def need(condition: bool, why: str) -> None:
    """Unsupported(why) unless the condition holds."""
    if not condition:
        raise Unsupported(why)


def need_numbers(axes: int, **numbers: tuple[Sequence[int], int]) -> None:
    """Unsupported unless there is one number for each axis, of those that come with the least that it may be."""
    for name, (given, least) in numbers.items():
        need(len(given) == axes, f"{name} has {len(given)} numbers; needs {axes}")
        need(all(n >= least for n in given), f"{name} is {tuple(given)}; needs {least} or more")


def check(condition: bool, text: Callable[[], str]) -> None:
    """torch's RuntimeError unless the condition holds. While torch.compile traces, operators check it later."""
    if not torch.compiler.is_dynamo_compiling():
        torch._check(condition, lambda: f"nervanagpu: {text()}")


def check_operands(*operands: torch.Tensor | None) -> None:
    """Unsupported unless they are dense floats of one dtype, on our device."""
    given = [t for t in operands if t is not None]
    dtypes = {t.dtype for t in given}
    strange = next((d for d in dtypes if d not in FLOATS), None)
    need(strange is None, f"dtype {strange}; needs float32, float16 or bfloat16")
    need(len(dtypes) == 1, f"operands of several dtypes: {', '.join(sorted(map(str, dtypes)))}")
    for t in given:
        check_place(t)


def check_fakes(*operands: torch.Tensor | None) -> None:
    """The same of tensors without elements, and that they are on one device: nobody else looks."""
    check_operands(*operands)
    devices = sorted({str(t.device) for t in operands if t is not None})
    need(len(devices) < 2, f"operands on {' and '.join(devices)}")


def check_place(t: torch.Tensor) -> None:
    """Unsupported unless `t` is dense memory of our device."""
    need(t.layout is torch.strided, f"layout {t.layout}")
    if t.device.type == "meta" or isinstance(t, torch._subclasses.FakeTensor):
        return  # no elements: shapes alone are asked for
    here = _core.device().kind
    if here == "cuda":
        known = t.device.type == "cuda" and (t.device.index == 0 or t.device.index < _core.device_count())
        need(known, f"a tensor on {t.device} while ours are cuda:0 to cuda:{_core.device_count() - 1}")
    else:
        need(t.device.type == "cpu", f"a tensor on {t.device} while ours is the emulator, which works on CPU tensors")


def ours(t: torch.Tensor) -> GPUTensor:
    """The memory of `t`, which it keeps alive: `t` may be a copy that nobody else holds."""
    width = t.element_size()
    need(t.data_ptr() % width == 0, f"memory at no multiple of {width} bytes, an element's")
    if t.is_cuda:
        dtype = FLOATS.get(t.dtype) or str(t.dtype).removeprefix("torch.")
        return _core.adopt(t.data_ptr(), t.shape, t.stride(), dtype, t, False)
    return _core.from_dlpack(to_dlpack(t.detach()))


def stream_of(t: torch.Tensor) -> Stream | None:
    """torch's current stream on the device of `t`."""
    if not t.is_cuda:
        return None
    handle = torch.cuda.current_stream(t.device).cuda_stream
    if not handle:
        return None
    if t.device.index == 0:
        return Stream.from_handle(handle)
    with _core.device(t.device.index):
        return Stream.from_handle(handle)


def is_channels_last(*operands: torch.Tensor) -> bool:
    """Whether results are to lie channels last, as torch decides it: by the strides of any operand."""
    form = CHANNELS_LAST.get(operands[0].dim())
    return form is not None and any(suggest_memory_format(t) is form for t in operands)


def form_of(t: torch.Tensor) -> torch.memory_format:
    """Of two formats, the one in which `t` lies, or is to lie."""
    return CHANNELS_LAST[t.dim()] if is_channels_last(t) else torch.contiguous_format


def lying_as(like: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    """`t`, or a copy, without gaps and, where formats can be asked for, in that of `like`."""
    if torch.compiler.is_dynamo_compiling() or torch._C._are_functorch_transforms_active():
        return t.clone()
    return t.contiguous(memory_format=form_of(like))


def empty(like: torch.Tensor, shape: Sequence[int], channels_last: bool = False) -> torch.Tensor:
    """An empty tensor of the dtype and device of `like`."""
    form = CHANNELS_LAST[len(shape)] if channels_last else torch.contiguous_format
    return torch.empty(shape, dtype=like.dtype, device=like.device, memory_format=form)


def arranged(t: torch.Tensor, channels_last: bool) -> GPUTensor:
    """`t` (N, C, ...) as our layout has it: with C moved to the end, or as it is; copied only if it lies otherwise."""
    if not channels_last:
        return ours(t.contiguous())
    t = t.contiguous(memory_format=CHANNELS_LAST[t.dim()])
    return ours(t.permute(0, *range(2, t.dim()), 1))


def layout_name(axes: int, channels_last: bool) -> str:
    """The layout of `arranged`, for so many spatial axes: "NCHW", "NDHWC", ..."""
    space = "DHW"[3 - axes :]
    return f"N{space}C" if channels_last else f"NC{space}"


def layout_shape(shape: Sequence[int], channels_last: bool) -> tuple[int, ...]:
    """(N, C, ...) in the order of the layout."""
    return (shape[0], *shape[2:], shape[1]) if channels_last else tuple(shape)
