"""Arrays in device memory: this library's tensors, under the names that scripts of PyCUDA use."""

from nervanagpu import _core, creation
from nervanagpu.creation import empty, empty_like, zeros, zeros_like

GPUArray = _core.GPUTensor
to_gpu = creation.array

__all__ = ["GPUArray", "empty", "empty_like", "to_gpu", "zeros", "zeros_like"]
