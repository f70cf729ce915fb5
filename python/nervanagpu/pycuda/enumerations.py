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
    SHARED_MEMORY_PER_BLOCK = 8
    REGISTERS_PER_BLOCK = 12
    CLOCK_RATE = 13
    TEXTURE_ALIGNMENT = 14
    GPU_OVERLAP = 15
    MULTIPROCESSOR_COUNT = 16
    KERNEL_EXEC_TIMEOUT = 17
    INTEGRATED = 18
    CAN_MAP_HOST_MEMORY = 19
    COMPUTE_MODE = 20
    MAXIMUM_TEXTURE1D_WIDTH = 21
    MAXIMUM_TEXTURE2D_LAYERED_WIDTH = 27
    SURFACE_ALIGNMENT = 30
    CONCURRENT_KERNELS = 31
    ECC_ENABLED = 32
    PCI_BUS_ID = 33
    PCI_DEVICE_ID = 34
    TCC_DRIVER = 35
    MEMORY_CLOCK_RATE = 36
    GLOBAL_MEMORY_BUS_WIDTH = 37
    L2_CACHE_SIZE = 38
    MAX_THREADS_PER_MULTIPROCESSOR = 39
    ASYNC_ENGINE_COUNT = 40
    UNIFIED_ADDRESSING = 41
    MAXIMUM_TEXTURE2D_GATHER_WIDTH = 45
    MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH = 73
    COMPUTE_CAPABILITY_MAJOR = 75
    COMPUTE_CAPABILITY_MINOR = 76
    STREAM_PRIORITIES_SUPPORTED = 78
    GLOBAL_L1_CACHE_SUPPORTED = 79
    MANAGED_MEMORY = 83
    HOST_NATIVE_ATOMIC_SUPPORTED = 86
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103
    MAX_PERSISTING_L2_CACHE_SIZE = 108
    READ_ONLY_HOST_REGISTER_SUPPORTED = 113

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
    CACHE_MODE_CA = 7
    MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
    PREFERRED_SHARED_MEMORY_CARVEOUT = 9
    MAX = 10


class compute_mode(IntEnum):
    """What Device.get_attribute(COMPUTE_MODE) may say."""

    DEFAULT = 0
    PROHIBITED = 2
    EXCLUSIVE_PROCESS = 3


class memory_type(IntEnum):
    """Where memory lies."""

    HOST = 1
    DEVICE = 2
    ARRAY = 3


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
    SCHED_MASK = 7
    MAP_HOST = 8
    LMEM_RESIZE_TO_MAX = 16
    FLAGS_MASK = 255


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
