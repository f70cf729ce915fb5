"""Numbers that the CUDA driver has names for, as scripts of PyCUDA write them: drv.device_attribute.WARP_SIZE."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class device_attribute(IntEnum):
    """What Device.get_attribute answers."""

    MAX_THREADS_PER_BLOCK = 1
    MAX_BLOCK_DIM_X = 2
    MAX_BLOCK_DIM_Y = 3
    MAX_BLOCK_DIM_Z = 4
    MAX_GRID_DIM_X = 5
    MAX_GRID_DIM_Y = 6
    MAX_GRID_DIM_Z = 7
    MAX_SHARED_MEMORY_PER_BLOCK = 8
    TOTAL_CONSTANT_MEMORY = 9
    WARP_SIZE = 10
    MAX_PITCH = 11
    MAX_REGISTERS_PER_BLOCK = 12
    TEXTURE_ALIGNMENT = 14
    GPU_OVERLAP = 15
    MULTIPROCESSOR_COUNT = 16
    KERNEL_EXEC_TIMEOUT = 17
    INTEGRATED = 18
    CAN_MAP_HOST_MEMORY = 19
    COMPUTE_MODE = 20
    CONCURRENT_KERNELS = 31
    ECC_ENABLED = 32
    ASYNC_ENGINE_COUNT = 40
    UNIFIED_ADDRESSING = 41
    COMPUTE_CAPABILITY_MAJOR = 75
    COMPUTE_CAPABILITY_MINOR = 76
    MANAGED_MEMORY = 83

    def __str__(self) -> str:
        return self.name


class function_attribute(IntEnum):
    """What Function.get_attribute answers."""

    MAX_THREADS_PER_BLOCK = 0
    SHARED_SIZE_BYTES = 1
    CONST_SIZE_BYTES = 2
    LOCAL_SIZE_BYTES = 3
    NUM_REGS = 4
    PTX_VERSION = 5
    BINARY_VERSION = 6


class func_cache(IntEnum):
    """Taken and without effect: caches and shared memory are divided by the driver."""

    PREFER_NONE = 0
    PREFER_SHARED = 1
    PREFER_L1 = 2
    PREFER_EQUAL = 3


class shared_config(IntEnum):
    """Taken and without effect: banks are 4 bytes wide."""

    DEFAULT_BANK_SIZE = 0
    FOUR_BYTE_BANK_SIZE = 1
    EIGHT_BYTE_BANK_SIZE = 2


class limit(IntEnum):
    """What Context.set_limit takes."""

    STACK_SIZE = 0
    PRINTF_FIFO_SIZE = 1
    MALLOC_HEAP_SIZE = 2
    DEV_RUNTIME_SYNC_DEPTH = 3
    DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4


class ctx_flags(IntFlag):
    """Taken and without effect."""

    SCHED_AUTO = 0
    SCHED_SPIN = 1
    SCHED_YIELD = 2
    SCHED_BLOCKING_SYNC = 4
    MAP_HOST = 8
    LMEM_RESIZE_TO_MAX = 16


class event_flags(IntFlag):
    """Taken and without effect: every event keeps its time."""

    DEFAULT = 0
    BLOCKING_SYNC = 1
    DISABLE_TIMING = 2
    INTERPROCESS = 4


class host_alloc_flags(IntFlag):
    """Taken and without effect; DEVICEMAP is refused."""

    PORTABLE = 1
    DEVICEMAP = 2
    WRITECOMBINED = 4


class mem_host_register_flags(IntFlag):
    """Taken and without effect; DEVICEMAP is refused."""

    PORTABLE = 1
    DEVICEMAP = 2


class mem_attach_flags(IntFlag):
    """Of managed memory, which is refused."""

    GLOBAL = 1
    HOST = 2
    SINGLE = 4
