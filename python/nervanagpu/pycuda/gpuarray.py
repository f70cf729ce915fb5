"""Arrays in device memory as PyCUDA has them: the class, what makes them, and functions of them."""

from nervanagpu.pycuda.array_class import GPUArray
from nervanagpu.pycuda.array_functions import *  # noqa: F403
from nervanagpu.pycuda.creation import *  # noqa: F403
from nervanagpu.pycuda.vectors import vec

__all__ = ["GPUArray", "vec"]
GPUArray.__module__ = __name__
