"""The device, its context and what they say of themselves."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING

from nervanagpu import _core

if TYPE_CHECKING:
    from nervanagpu.pycuda.enumerations import device_attribute


def _numbers() -> type[device_attribute]:
    """Made when it is asked for: an enumeration of a hundred takes a millisecond."""
    from nervanagpu.pycuda.enumerations import device_attribute

    return device_attribute


def mem_get_info() -> tuple[int, int]:
    """(free, total) bytes: what this process does not hold of the device's memory, and all of it."""
    total = _core.device().memory
    return total - _core.memory_stats().reserved, total


def get_version() -> tuple[int, int, int]:
    """Of CUDA, that the compiler is of; (12, 0, 0) without one."""
    from nervanagpu.cuda_toolkit import nvrtc

    try:
        major, minor = nvrtc.library().version
    except ImportError:
        return 12, 0, 0
    return major, minor, 0


def get_driver_version() -> int:
    """1000 times the major and 10 times the minor version; on the emulator the compiler's."""
    major, minor, _ = get_version()
    return _core.device().driver or 1000 * major + 10 * minor


__all__ = ["Context", "Device", "current_device", "get_driver_version", "get_version", "init", "mem_get_info"]

# Of every chip from Maxwell to Hopper that the library knows.
_LIMITS = {
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 0x7FFFFFFF,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 48 << 10,
    "TOTAL_CONSTANT_MEMORY": 64 << 10,
    "WARP_SIZE": 32,
    "MAX_PITCH": 0x7FFFFFFF,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "TEXTURE_ALIGNMENT": 512,
    "GPU_OVERLAP": 1,
    "CAN_MAP_HOST_MEMORY": 0,
    "CONCURRENT_KERNELS": 1,
    "UNIFIED_ADDRESSING": 1,
    "MANAGED_MEMORY": 0,
    "COMPUTE_MODE": 0,
    "INTEGRATED": 0,
    "KERNEL_EXEC_TIMEOUT": 0,
    "TCC_DRIVER": 0,
    "SURFACE_ALIGNMENT": 512,
    "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
    "STREAM_PRIORITIES_SUPPORTED": 1,
    "GLOBAL_L1_CACHE_SUPPORTED": 1,
}
_OURS = ("CAN_MAP_HOST_MEMORY", "MANAGED_MEMORY")  # of this library, not of the chip
_SHARED_OPTIN = {"sm_90a": 227 << 10, "sm_80": 163 << 10}  # bytes of a block that asks for them; else 48 KiB


@functools.cache
def _driver() -> ctypes.CDLL:
    """The driver's library, which the device was opened with."""
    return ctypes.CDLL("libcuda.so.1")


def _asked(number: int, attribute: int) -> int | None:
    """What the driver says of a GPU; None where it does not know."""
    value = ctypes.c_int()
    return None if _driver().cuDeviceGetAttribute(ctypes.byref(value), attribute, number) else value.value


class Context:
    """The one context that there is; it ends with the process."""

    @staticmethod
    def synchronize() -> None:
        """Wait for all work."""
        _core.synchronize()

    @staticmethod
    def get_device() -> Device:
        return Device(_core.get_device())

    @staticmethod
    def get_current() -> Context:
        return Context()

    @staticmethod
    def set_limit(limit: int, value: int) -> None:
        """Taken and without effect."""

    @staticmethod
    def get_limit(limit: int) -> int:
        """0: not known."""
        return 0

    @staticmethod
    def set_cache_config(config: int) -> None:
        """Taken and without effect."""

    @staticmethod
    def get_cache_config() -> int:
        """PREFER_NONE."""
        return 0

    @staticmethod
    def set_shared_config(config: int) -> None:
        """Taken and without effect."""

    @staticmethod
    def get_shared_config() -> int:
        """DEFAULT_BANK_SIZE."""
        return 0

    @staticmethod
    def get_api_version() -> int:
        return get_driver_version()

    @staticmethod
    def pop() -> None:
        """Nothing: the context stays."""

    def push(self) -> None:
        """Nothing: the context stays."""

    def detach(self) -> None:
        """Nothing: the context stays."""

    def attach(self) -> Context:
        """Itself."""
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context)

    def __hash__(self) -> int:
        return 1


class Device:
    """A device by its number."""

    def __init__(self, number: int = 0) -> None:
        if number != 0 and not 0 < number < _core.device_count():
            needs = f"0 to {_core.device_count() - 1}" if _core.device_count() > 1 else "0"
            raise ValueError(f"Device: number is {number}; needs {needs} (CUDA_VISIBLE_DEVICES chooses the GPUs)")
        self._number = number

    @staticmethod
    def count() -> int:
        return _core.device_count()

    def name(self) -> str:
        return _core.device(self._number).name

    def total_memory(self) -> int:
        return _core.device(self._number).memory

    def compute_capability(self) -> tuple[int, int]:
        number = int(_core.device(self._number).arch[3:].rstrip("af"))
        return number // 10, number % 10

    def make_context(self, flags: int = 0) -> Context:
        """Makes it the current device of this thread."""
        _core.set_device(self._number)
        return Context()

    retain_primary_context = make_context

    def get_attributes(self) -> dict[device_attribute, int]:
        """What is known of the device, by name: of a GPU what its driver says, but that host memory is not mapped."""
        major, minor = self.compute_capability()
        device = _core.device(self._number)
        facts = {**_LIMITS, "MULTIPROCESSOR_COUNT": device.multiprocessors}
        facts |= {"COMPUTE_CAPABILITY_MAJOR": major, "COMPUTE_CAPABILITY_MINOR": minor}
        facts["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"] = _SHARED_OPTIN.get(device.arch, 48 << 10)
        known = {_numbers()[name]: value for name, value in facts.items()}
        if device.kind == "cuda":
            said = {a: _asked(self._number, a) for a in _numbers() if a.name not in _OURS}
            known |= {a: value for a, value in said.items() if value is not None}
        return known

    def get_attribute(self, attribute: int) -> int:
        """One of get_attributes; ValueError names what is not there."""
        facts = self.get_attributes()
        if attribute not in facts:
            raise ValueError(f"Device: attribute {attribute} is not known; there are {', '.join(map(str, facts))}")
        return facts[_numbers()(attribute)]

    def __getattr__(self, name: str) -> int:
        if name.upper() in _numbers().__members__ and name.islower():
            return self.get_attribute(_numbers()[name.upper()])
        raise AttributeError(f"Device has no {name}")

    def pci_bus_id(self) -> str:
        """Not known."""
        return "0000:00:00.0"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._number == other._number

    def __hash__(self) -> int:
        return self._number


def init(flags: int = 0) -> None:
    """Open the device."""
    _core.device()


def current_device() -> Device:
    """The current one of this thread."""
    return Device(_core.get_device())
