"""Importing this opens the device; there is one context, which is the primary one."""

from nervanagpu.pycuda.autoinit import context, device

__all__ = ["context", "device"]
