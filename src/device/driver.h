// The CUDA driver as one table of functions, filled from libcuda.so.1 when it is first asked for. The declarations are
// our own (no cuda.h); tests fill the table themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nervanagpu::cuda {

using Status = int;  // CUresult
using DeviceId = int;
using Context = void*;
using Module = void*;
using Function = void*;
using Stream = void*;
using Event = void*;
using Graph = void*;
using GraphExec = void*;
using Address = std::uint64_t;  // CUdeviceptr

// Statuses that are told apart.
inline constexpr Status kSuccess = 0;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNotReady = 600;
inline constexpr Status kPeerAlreadyEnabled = 704;

// CUdevice_attribute
inline constexpr int kMultiprocessors = 16;
inline constexpr int kSharedOfMultiprocessor = 81;  // bytes
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
// CUpointer_attribute
inline constexpr int kPointerOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
// CUfunction_attribute
inline constexpr int kMaxDynamicShared = 8;
inline constexpr int kLargeClusters = 14;  // NON_PORTABLE_CLUSTER_SIZE_ALLOWED: more than 8 CTAs
// CUstreamCaptureMode
// CUstream_flags
inline constexpr unsigned kNonBlocking = 1;  // the default stream does not wait for it, nor it for that
inline constexpr int kCaptureRelaxed = 2;
// CUstreamCaptureStatus
inline constexpr int kNotCapturing = 0;
// The `extra` list of cuLaunchKernel: the parameters as one packed block.
inline void* const kLaunchEnd = nullptr;
inline void* const kLaunchBuffer = reinterpret_cast<void*>(1);
inline void* const kLaunchBufferSize = reinterpret_cast<void*>(2);

// CUlaunchAttributeID
inline constexpr int kClusterDimension = 4;
inline constexpr int kProgrammaticSerialization = 6;  // may begin before the work ahead of it has ended

struct LaunchAttribute {  // CUlaunchAttribute
  int id = 0;
  int pad = 0;
  std::uint32_t value[16] = {};
};
struct LaunchConfig {  // CUlaunchConfig
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned count = 0;
};

using Array = void*;  // CUarray

// CUarray_format is in the order of none of our enumerations: cuda_texture.cpp knows it.
inline constexpr unsigned kArrayLayered = 1, kArraySurface = 2, kArrayCube = 4, kArrayGather = 8;
struct ArrayDescription {  // CUDA_ARRAY3D_DESCRIPTOR
  std::size_t width = 0, height = 0, depth = 0;
  int format = 0;
  unsigned channels = 0;
  unsigned flags = 0;
};

// CUDA_MEMCPY3D: one side of it, and the whole.
inline constexpr int kHostMemory = 1, kArrayMemory = 3;
struct CopySide {
  std::size_t x = 0, y = 0, z = 0, level = 0;
  int type = 0;
  const void* host = nullptr;
  Address device = 0;
  Array array = nullptr;
  void* reserved = nullptr;
  std::size_t pitch = 0, height = 0;
};
struct Copy3d {
  CopySide from, to;
  std::size_t width = 0, height = 0, depth = 0;
};

// CUDA_RESOURCE_DESC and CUDA_TEXTURE_DESC
inline constexpr int kResourceArray = 0, kResourceLinear = 2, kResourcePitch = 3;
struct ResourceDescription {
  int type = 0;
  union {
    Array array;
    struct {
      Address address;
      int format;
      unsigned channels;
      std::size_t bytes;
    } linear;
    struct {
      Address address;
      int format;
      unsigned channels;
      std::size_t width, height, pitch;
    } plane;
    int reserved[32];
  };
  unsigned flags = 0;
};
inline constexpr unsigned kReadAsInteger = 1, kNormalizedCoordinates = 2;
struct TextureDescription {
  int address[3] = {};
  int filter = 0;
  unsigned flags = 0;
  unsigned anisotropy = 0;
  int level_filter = 0;
  float level_bias = 0, level_least = 0, level_most = 0;
  float border[4] = {};
  int reserved[12] = {};
};

// X(member, symbol, parameters): the symbols carry the version whose parameters these are.
// clang-format off
#define NG_DRIVER_CALLS(X)                                                                        \
  X(init,                 "cuInit",                    (unsigned flags))                          \
  X(driver_version,       "cuDriverGetVersion",        (int* version))                            \
  X(device_count,         "cuDeviceGetCount",          (int* count))                              \
  X(device_get,           "cuDeviceGet",               (DeviceId* device, int ordinal))           \
  X(device_name,          "cuDeviceGetName",           (char* name, int length, DeviceId device)) \
  X(device_attribute,     "cuDeviceGetAttribute",      (int* value, int attribute, DeviceId device)) \
  X(device_memory,        "cuDeviceTotalMem_v2",       (std::size_t* bytes, DeviceId device))     \
  X(context_retain,       "cuDevicePrimaryCtxRetain",  (Context* context, DeviceId device))       \
  X(context_get,          "cuCtxGetCurrent",           (Context* context))                        \
  X(context_set,          "cuCtxSetCurrent",           (Context context))                         \
  X(context_synchronize,  "cuCtxSynchronize",          ())                                        \
  X(memory_info,          "cuMemGetInfo_v2",           (std::size_t* free, std::size_t* total))   \
  X(memory_allocate,      "cuMemAlloc_v2",             (Address* address, std::size_t bytes))     \
  X(memory_free,          "cuMemFree_v2",              (Address address))                         \
  X(copy_to_device,       "cuMemcpyHtoD_v2",           (Address to, const void* from, std::size_t bytes)) \
  X(copy_to_host,         "cuMemcpyDtoH_v2",           (void* to, Address from, std::size_t bytes)) \
  X(copy_on_device,       "cuMemcpyDtoDAsync_v2",      (Address to, Address from, std::size_t bytes, Stream stream)) \
  X(fill8,                "cuMemsetD8Async",           (Address to, unsigned char value, std::size_t count, Stream stream)) \
  X(fill16,               "cuMemsetD16Async",          (Address to, unsigned short value, std::size_t count, Stream stream)) \
  X(fill32,               "cuMemsetD32Async",          (Address to, unsigned value, std::size_t count, Stream stream)) \
  X(stream_create,        "cuStreamCreate",            (Stream* stream, unsigned flags))          \
  X(stream_destroy,       "cuStreamDestroy_v2",        (Stream stream))                           \
  X(stream_synchronize,   "cuStreamSynchronize",       (Stream stream))                           \
  X(stream_wait_event,    "cuStreamWaitEvent",         (Stream stream, Event event, unsigned flags)) \
  X(capture_mode,         "cuThreadExchangeStreamCaptureMode", (int* mode))                       \
  X(capture_info,         "cuStreamGetCaptureInfo_v2", (Stream stream, int* status, std::uint64_t* id, void* graph, \
                                                        const void* nodes, std::size_t* count))   \
  X(event_create,         "cuEventCreate",             (Event* event, unsigned flags))            \
  X(event_destroy,        "cuEventDestroy_v2",         (Event event))                             \
  X(event_record,         "cuEventRecord",             (Event event, Stream stream))              \
  X(event_query,          "cuEventQuery",              (Event event))                             \
  X(event_synchronize,    "cuEventSynchronize",        (Event event))                             \
  X(event_elapsed,        "cuEventElapsedTime",        (float* ms, Event start, Event end))       \
  X(module_load,          "cuModuleLoadData",          (Module* module, const void* image))       \
  X(module_function,      "cuModuleGetFunction",       (Function* function, Module module, const char* name)) \
  X(function_set,         "cuFuncSetAttribute",        (Function function, int attribute, int value)) \
  X(launch,               "cuLaunchKernel",            (Function function, unsigned gx, unsigned gy, unsigned gz, \
                                                        unsigned bx, unsigned by, unsigned bz, unsigned shared, \
                                                        Stream stream, void** params, void** extra)) \
  X(error_name,           "cuGetErrorName",            (Status status, const char** text))        \
  X(error_text,           "cuGetErrorString",          (Status status, const char** text))
// Those that a driver may lack; then the member is null.
#define NG_DRIVER_OPTIONAL_CALLS(X)                                                               \
  X(host_allocate,        "cuMemHostAlloc",            (void** memory, std::size_t bytes, unsigned flags)) \
  X(host_free,            "cuMemFreeHost",             (void* memory))                             \
  X(peer_can,             "cuDeviceCanAccessPeer",     (int* can, DeviceId device, DeviceId peer)) \
  X(peer_enable,          "cuCtxEnablePeerAccess",     (Context peer, unsigned flags))             \
  X(copy_peer,            "cuMemcpyPeerAsync",         (Address to, Context to_context, Address from, \
                                                        Context from_context, std::size_t bytes, Stream stream)) \
  X(copy_later,           "cuMemcpyHtoDAsync_v2",      (Address to, const void* from, std::size_t bytes, Stream stream)) \
  X(pointer_attribute,    "cuPointerGetAttribute",     (void* value, int attribute, Address address)) \
  X(module_unload,        "cuModuleUnload",            (Module module))                         \
  X(module_global,        "cuModuleGetGlobal_v2",      (std::uint64_t* address, std::size_t* bytes, Module module, \
                                                        const char* name))                        \
  X(capture_begin,        "cuStreamBeginCapture_v2",   (Stream stream, int mode))                  \
  X(capture_end,          "cuStreamEndCapture",        (Stream stream, Graph* graph))              \
  X(graph_instantiate,    "cuGraphInstantiateWithFlags", (GraphExec* exec, Graph graph, unsigned long long flags)) \
  X(graph_launch,         "cuGraphLaunch",             (GraphExec exec, Stream stream))            \
  X(graph_destroy,        "cuGraphDestroy",            (Graph graph))                              \
  X(graph_exec_destroy,   "cuGraphExecDestroy",        (GraphExec exec))                           \
  X(launch_ex,            "cuLaunchKernelEx",          (const LaunchConfig* config, Function function, void** params, \
                                                        void** extra))                            \
  X(encode_tiled,         "cuTensorMapEncodeTiled",    (void* map, int type, unsigned rank, void* address, \
                                                        const std::uint64_t* sizes, const std::uint64_t* strides, \
                                                        const unsigned* box, const unsigned* steps, int interleave, \
                                                        int swizzle, int promotion, int fill))    \
  X(encode_im2col,        "cuTensorMapEncodeIm2col",   (void* map, int type, unsigned rank, void* address, \
                                                        const std::uint64_t* sizes, const std::uint64_t* strides, \
                                                        const int* lower, const int* upper, unsigned channels, \
                                                        unsigned pixels, const unsigned* steps, int interleave, \
                                                        int swizzle, int promotion, int fill))    \
  X(array_create,         "cuArray3DCreate_v2",        (Array* array, const ArrayDescription* description)) \
  X(array_destroy,        "cuArrayDestroy",            (Array array))                             \
  X(copy_3d,              "cuMemcpy3D_v2",             (const Copy3d* copy))                      \
  X(texture_create,       "cuTexObjectCreate",         (std::uint64_t* texture, const ResourceDescription* resource, \
                                                        const TextureDescription* description, const void* view)) \
  X(texture_destroy,      "cuTexObjectDestroy",        (std::uint64_t texture))                   \
  X(surface_create,       "cuSurfObjectCreate",        (std::uint64_t* surface, const ResourceDescription* resource)) \
  X(surface_destroy,      "cuSurfObjectDestroy",       (std::uint64_t surface))
// clang-format on

struct Driver {
#define NG_DRIVER_MEMBER(member, symbol, parameters) Status(*member) parameters = nullptr;
  NG_DRIVER_CALLS(NG_DRIVER_MEMBER)
  NG_DRIVER_OPTIONAL_CALLS(NG_DRIVER_MEMBER)
#undef NG_DRIVER_MEMBER
};

struct DriverLoad {
  const Driver* driver = nullptr;  // null: there is none
  std::string why;                 // then: the reason
};

// Opens libcuda.so.1 once; it is never closed.
const DriverLoad& load_driver();

}  // namespace nervanagpu::cuda
