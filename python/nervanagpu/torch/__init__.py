"""PyTorch on nervanagpu: operators `torch.ops.nervanagpu.*`, and aten's own by ours.

    import torch
    import nervanagpu.torch as ngt

    y = ngt.linear(x, w, b, activation="gelu")      # one kernel; autograd, torch.compile and autocast know it
    with ngt.use("mm", "convolution"):              # whatever torch calls in here
        loss = model(x).sum()
        loss.backward()
    print(ngt.calls())                              # what ran here, and why not

Tensors are used where they lie, on torch's current stream: CUDA tensors on the GPU; CPU tensors where the device is the
emulator (NERVANAGPU_DEVICE=emulator). channels_last needs no copy. Errors are torch's RuntimeError.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("nervanagpu.torch needs PyTorch: pip install 'nervanagpu[torch]'") from error

from nervanagpu.torch.functional import (
    addmm,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    bmm,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    grouped_mm,
    linear,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    mm,
    stochastic_round,
)
from nervanagpu.torch.native import entry
from nervanagpu.torch.override import calls, reset_calls, use

__all__ = [
    "addmm",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "bmm",
    "calls",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "entry",
    "grouped_mm",
    "linear",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mm",
    "reset_calls",
    "stochastic_round",
    "use",
]
