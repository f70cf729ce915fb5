#include "test/src/fake_driver.h"

#include <cstdlib>
#include <cstring>

namespace nervanagpu::test {
namespace {

FakeDriver* fake = nullptr;
constexpr cuda::Status kInvalidValue = 1;
constexpr cuda::Status kInvalidHandle = 400;
constexpr cuda::Status kUnsupported = 900;  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
constexpr cuda::Status kImplicit = 906;     // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT

// Every function counts itself, and fails if it was told to.
#define NG_ENTER(symbol) \
  if (const cuda::Status s = fake->enter(symbol); s != cuda::kSuccess) return s

// So does what gives work to a stream, or waits for it, while that is being captured or must wait for one that is.
#define NG_QUEUE(symbol, stream) \
  NG_ENTER(symbol);              \
  if ((stream) == nullptr && fake->captured != nullptr && !fake->apart.contains(fake->captured)) return kImplicit

// Addresses and handles of the driver are numbers; here they are memory of the host, or count.
template <class T>
T pointer(std::uint64_t number) {
  return reinterpret_cast<T>(number);  // NOLINT(performance-no-int-to-ptr)
}
template <class T>
T handle() {
  T made = pointer<T>(fake->next_handle += 0x100);
  fake->made_in[made] = fake->current;
  return made;
}
cuda::Context context_of(cuda::DeviceId device) {
  return pointer<cuda::Context>(0x77 + static_cast<std::uint64_t>(device));
}
// Whether an event, a stream or a module is of the current context, as the driver asks for; of the caller's it is.
bool is_here(void* made) {
  const auto it = fake->made_in.find(made);
  return it == fake->made_in.end() || it->second == fake->current;
}

cuda::Status init(unsigned) {
  NG_ENTER("cuInit");
  return 0;
}
cuda::Status driver_version(int* v) {
  NG_ENTER("cuDriverGetVersion");
  *v = 12040;
  return 0;
}
cuda::Status device_count(int* n) {
  NG_ENTER("cuDeviceGetCount");
  *n = fake->devices;
  return 0;
}
cuda::Status device_get(cuda::DeviceId* d, int ordinal) {
  NG_ENTER("cuDeviceGet");
  *d = ordinal;
  return 0;
}
cuda::Status device_name(char* name, int length, cuda::DeviceId) {
  NG_ENTER("cuDeviceGetName");
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
  return 0;
}
cuda::Status device_attribute(int* v, int attribute, cuda::DeviceId) {
  NG_ENTER("cuDeviceGetAttribute");
  *v = attribute == cuda::kMultiprocessors ? 132 : attribute == cuda::kCapabilityMajor ? fake->major : fake->minor;
  return 0;
}
cuda::Status device_memory(std::size_t* bytes, cuda::DeviceId) {
  NG_ENTER("cuDeviceTotalMem_v2");
  *bytes = fake->capacity;
  return 0;
}
cuda::Status context_retain(cuda::Context* c, cuda::DeviceId device) {
  NG_ENTER("cuDevicePrimaryCtxRetain");
  *c = context_of(device);
  return 0;
}
cuda::Status context_get(cuda::Context* c) {
  NG_ENTER("cuCtxGetCurrent");
  *c = fake->current;
  return 0;
}
cuda::Status context_set(cuda::Context c) {
  NG_ENTER("cuCtxSetCurrent");
  fake->current = c;
  return 0;
}
cuda::Status context_synchronize() {
  NG_ENTER("cuCtxSynchronize");
  if (fake->captured != nullptr) return kUnsupported;
  return 0;
}
cuda::Status memory_info(std::size_t* free, std::size_t* total) {
  NG_ENTER("cuMemGetInfo_v2");
  *free = fake->capacity - fake->used;
  *total = fake->capacity;
  return 0;
}
cuda::Status memory_allocate(cuda::Address* a, std::size_t bytes) {
  NG_ENTER("cuMemAlloc_v2");
  if (fake->used + bytes > fake->capacity) return cuda::kOutOfMemory;
  *a = reinterpret_cast<cuda::Address>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  fake->live[*a] = bytes;
  fake->made_in[pointer<void*>(*a)] = fake->current;
  fake->used += bytes;
  return 0;
}
cuda::Status memory_free(cuda::Address a) {
  NG_ENTER("cuMemFree_v2");
  const auto it = fake->live.find(a);
  if (it == fake->live.end()) return kInvalidValue;
  fake->used -= it->second;
  fake->live.erase(it);
  std::free(pointer<void*>(a));
  return 0;
}
cuda::Status copy_to_device(cuda::Address to, const void* from, std::size_t bytes) {
  NG_QUEUE("cuMemcpyHtoD_v2", nullptr);
  std::memcpy(pointer<void*>(to), from, bytes);
  return 0;
}
cuda::Status copy_to_host(void* to, cuda::Address from, std::size_t bytes) {
  NG_QUEUE("cuMemcpyDtoH_v2", nullptr);
  std::memcpy(to, pointer<const void*>(from), bytes);
  return 0;
}
cuda::Status copy_on_device(cuda::Address to, cuda::Address from, std::size_t bytes, cuda::Stream stream) {
  NG_QUEUE("cuMemcpyDtoDAsync_v2", stream);
  std::memmove(pointer<void*>(to), pointer<const void*>(from), bytes);
  return 0;
}
template <class T>
void fill(cuda::Address to, T value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) pointer<T*>(to)[i] = value;
}
cuda::Status fill8(cuda::Address to, unsigned char v, std::size_t n, cuda::Stream stream) {
  NG_QUEUE("cuMemsetD8Async", stream);
  fill(to, v, n);
  return 0;
}
cuda::Status fill16(cuda::Address to, unsigned short v, std::size_t n, cuda::Stream stream) {
  NG_QUEUE("cuMemsetD16Async", stream);
  fill(to, v, n);
  return 0;
}
cuda::Status fill32(cuda::Address to, unsigned v, std::size_t n, cuda::Stream stream) {
  NG_QUEUE("cuMemsetD32Async", stream);
  fill(to, v, n);
  return 0;
}
cuda::Status stream_create(cuda::Stream* s, unsigned flags) {
  NG_ENTER("cuStreamCreate");
  *s = handle<cuda::Stream>();
  if (flags == cuda::kNonBlocking) fake->apart.insert(*s);
  return 0;
}
cuda::Status stream_destroy(cuda::Stream stream) {
  NG_ENTER("cuStreamDestroy_v2");
  if (stream == fake->captured) return kInvalidValue;
  return 0;
}
cuda::Status stream_synchronize(cuda::Stream stream) {
  NG_QUEUE("cuStreamSynchronize", stream);
  if (stream != nullptr && stream == fake->captured) return kUnsupported;
  return 0;
}
cuda::Status stream_wait_event(cuda::Stream stream, cuda::Event, unsigned) {
  NG_QUEUE("cuStreamWaitEvent", stream);
  if (!is_here(stream)) return kInvalidHandle;
  fake->order.push_back("wait in " + std::to_string(reinterpret_cast<std::uint64_t>(fake->current) - 0x77));
  return 0;
}
cuda::Status capture_mode(int* mode) {
  NG_ENTER("cuThreadExchangeStreamCaptureMode");
  *mode = 0;
  return 0;
}
cuda::Status capture_info(cuda::Stream stream, int* status, std::uint64_t* id, void*, const void*, std::size_t*) {
  NG_ENTER("cuStreamGetCaptureInfo_v2");
  const bool here = fake->capturing != 0 && (fake->captured == nullptr || fake->captured == stream);
  *status = here ? 1 : cuda::kNotCapturing;
  *id = here ? fake->capturing : 0;
  return 0;
}
cuda::Status event_create(cuda::Event* e, unsigned) {
  NG_ENTER("cuEventCreate");
  *e = handle<cuda::Event>();
  return 0;
}
cuda::Status event_destroy(cuda::Event) {
  NG_ENTER("cuEventDestroy_v2");
  return 0;
}
cuda::Status event_record(cuda::Event event, cuda::Stream stream) {
  NG_QUEUE("cuEventRecord", stream);
  if (!is_here(event) || !is_here(stream)) return kInvalidHandle;
  fake->order.push_back("record in " + std::to_string(reinterpret_cast<std::uint64_t>(fake->current) - 0x77));
  return 0;
}
cuda::Status event_query(cuda::Event) {
  NG_ENTER("cuEventQuery");
  return fake->events_pending ? cuda::kNotReady : 0;
}
cuda::Status event_synchronize(cuda::Event) {
  NG_ENTER("cuEventSynchronize");
  return 0;
}
cuda::Status event_elapsed(float* ms, cuda::Event, cuda::Event) {
  NG_ENTER("cuEventElapsedTime");
  *ms = 1.5F;
  return 0;
}
cuda::Status module_load(cuda::Module* m, const void*) {
  NG_ENTER("cuModuleLoadData");
  *m = handle<cuda::Module>();
  fake->modules.insert(*m);
  return 0;
}
cuda::Status module_unload(cuda::Module m) {
  NG_ENTER("cuModuleUnload");
  return fake->modules.erase(m) == 1 ? 0 : kInvalidValue;
}
cuda::Status module_global(std::uint64_t* address, std::size_t* bytes, cuda::Module m, const char* name) {
  NG_ENTER("cuModuleGetGlobal_v2");
  if (!fake->modules.contains(m)) return kInvalidValue;
  if (std::string(name) != "counter") return 500;  // not found
  *address = 0x7000;
  *bytes = 4;
  return 0;
}
cuda::Status module_function(cuda::Function* f, cuda::Module m, const char* name) {
  NG_ENTER("cuModuleGetFunction");
  fake->functions.emplace_back(name);
  fake->module_of.push_back(m);
  *f = pointer<cuda::Function>(fake->functions.size());
  return 0;
}
cuda::Status function_set(cuda::Function, int, int) {
  NG_ENTER("cuFuncSetAttribute");
  return 0;
}
cuda::Status note_launch(FakeDriver::Launch l, void** params, void** extra) {
  if (params != nullptr || !fake->modules.contains(l.module)) return kInvalidValue;
  if (!is_here(l.module) || !is_here(pointer<void*>(l.stream))) return kInvalidHandle;
  const std::byte* block = nullptr;
  std::size_t size = 0;
  for (void** e = extra; *e != cuda::kLaunchEnd; e += 2) {
    if (*e == cuda::kLaunchBuffer) block = static_cast<const std::byte*>(e[1]);
    if (*e == cuda::kLaunchBufferSize) size = *static_cast<std::size_t*>(e[1]);
  }
  l.params.assign(block, block + size);
  const bool recorded = fake->captured != nullptr && pointer<cuda::Stream>(l.stream) == fake->captured;
  (recorded ? fake->graph : fake->launches).push_back(std::move(l));
  return 0;
}
const std::string& name_of(cuda::Function f) {
  return fake->functions.at(reinterpret_cast<std::size_t>(f) - 1);
}
cuda::Module module_of(cuda::Function f) {
  return fake->module_of.at(reinterpret_cast<std::size_t>(f) - 1);
}
cuda::Status launch(cuda::Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared, cuda::Stream stream, void** params, void** extra) {
  NG_QUEUE("cuLaunchKernel", stream);
  if (by != 1 || bz != 1) return kInvalidValue;
  return note_launch(
      {name_of(f), {gx, gy, gz}, bx, shared, reinterpret_cast<std::uint64_t>(stream), {}, {}, module_of(f)}, params,
      extra);
}
cuda::Status launch_ex(const cuda::LaunchConfig* c, cuda::Function f, void** params, void** extra) {
  NG_QUEUE("cuLaunchKernelEx", c->stream);
  if (c->block_y != 1 || c->block_z != 1) return kInvalidValue;
  std::map<int, std::vector<std::uint32_t>> attributes;
  for (unsigned i = 0; i < c->count; ++i) {
    const cuda::LaunchAttribute& at = c->attributes[i];
    attributes[at.id] = {at.value[0], at.value[1], at.value[2]};
  }
  return note_launch({name_of(f),
                      {c->grid_x, c->grid_y, c->grid_z},
                      c->block_x,
                      c->shared,
                      reinterpret_cast<std::uint64_t>(c->stream),
                      {},
                      attributes,
                      module_of(f)},
                     params, extra);
}
cuda::Status error_name(cuda::Status s, const char** text) {
  switch (s) {
    case 2: *text = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
    case 100: *text = "CUDA_ERROR_NO_DEVICE"; return 0;
    case 209: *text = "CUDA_ERROR_NO_BINARY_FOR_GPU"; return 0;
    case 700: *text = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
    case 719: *text = "CUDA_ERROR_LAUNCH_FAILED"; return 0;
    default: return kInvalidValue;
  }
}
cuda::Status error_text(cuda::Status s, const char** text) {
  if (s != 700) return kInvalidValue;
  *text = "an illegal memory access was encountered";
  return 0;
}

// Maps that show what they were made of.
cuda::Status encode_tiled(void* map, int type, unsigned rank, void* address, const std::uint64_t* sizes,
                          const std::uint64_t* strides, const unsigned* box, const unsigned* steps, int interleave,
                          int swizzle, int promotion, int fill) {
  NG_ENTER("cuTensorMapEncodeTiled");
  const std::uint64_t words[16] = {1,
                                   static_cast<std::uint64_t>(type),
                                   rank,
                                   reinterpret_cast<std::uint64_t>(address),
                                   sizes[0],
                                   sizes[rank - 1],
                                   strides[0],
                                   box[0],
                                   box[1],
                                   steps[1],
                                   static_cast<std::uint64_t>(interleave),
                                   static_cast<std::uint64_t>(swizzle),
                                   static_cast<std::uint64_t>(promotion),
                                   static_cast<std::uint64_t>(fill)};
  std::memcpy(map, words, sizeof words);
  return 0;
}
cuda::Status encode_im2col(void* map, int type, unsigned rank, void* address, const std::uint64_t* sizes,
                           const std::uint64_t* strides, const int* lower, const int* upper, unsigned channels,
                           unsigned pixels, const unsigned* steps, int interleave, int swizzle, int promotion,
                           int fill) {
  NG_ENTER("cuTensorMapEncodeIm2col");
  const std::uint64_t words[16] = {2,
                                   static_cast<std::uint64_t>(type),
                                   rank,
                                   reinterpret_cast<std::uint64_t>(address),
                                   sizes[0],
                                   strides[0],
                                   static_cast<std::uint64_t>(lower[0]),
                                   static_cast<std::uint64_t>(upper[0]),
                                   channels,
                                   pixels,
                                   steps[1],
                                   static_cast<std::uint64_t>(interleave),
                                   static_cast<std::uint64_t>(swizzle),
                                   static_cast<std::uint64_t>(promotion),
                                   static_cast<std::uint64_t>(fill)};
  std::memcpy(map, words, sizeof words);
  return 0;
}

cuda::Status peer_can(int* can, cuda::DeviceId device, cuda::DeviceId peer) {
  NG_ENTER("cuDeviceCanAccessPeer");
  *can = device != peer && fake->peers ? 1 : 0;
  return 0;
}
cuda::Status peer_enable(cuda::Context peer, unsigned flags) {
  NG_ENTER("cuCtxEnablePeerAccess");
  if (flags != 0 || peer == fake->current) return kInvalidValue;
  return fake->enabled.insert({fake->current, peer}).second ? 0 : cuda::kPeerAlreadyEnabled;
}
cuda::Status copy_peer(cuda::Address to, cuda::Context to_context, cuda::Address from, cuda::Context from_context,
                       std::size_t bytes, cuda::Stream stream) {
  NG_QUEUE("cuMemcpyPeerAsync", stream);
  const auto owner = [](cuda::Address a) { return fake->made_in[pointer<void*>(a)]; };
  if (owner(to) != to_context || owner(from) != from_context || !is_here(stream)) return kInvalidValue;
  fake->order.push_back("copy in " + std::to_string(reinterpret_cast<std::uint64_t>(fake->current) - 0x77));
  std::memcpy(pointer<void*>(to), pointer<const void*>(from), bytes);
  return 0;
}
cuda::Status pointer_attribute(void* value, int attribute, cuda::Address address) {
  NG_ENTER("cuPointerGetAttribute");
  const auto it = fake->made_in.find(pointer<void*>(address));
  if (attribute != cuda::kPointerOrdinal || it == fake->made_in.end()) return kInvalidValue;
  const auto ordinal = static_cast<int>(reinterpret_cast<std::uint64_t>(it->second) - 0x77);
  std::memcpy(value, &ordinal, sizeof ordinal);
  return 0;
}

cuda::Status copy_later(cuda::Address to, const void* from, std::size_t bytes, cuda::Stream) {
  NG_ENTER("cuMemcpyHtoDAsync_v2");
  std::memcpy(pointer<void*>(to), from, bytes);
  return 0;
}
cuda::Status host_allocate(void** memory, std::size_t bytes, unsigned flags) {
  NG_ENTER("cuMemHostAlloc");
  if (flags != 1) return kInvalidValue;
  if (bytes > fake->capacity) return cuda::kOutOfMemory;
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  ++fake->pinned;
  return 0;
}
cuda::Status host_free(void* memory) {
  NG_ENTER("cuMemFreeHost");
  std::free(memory);
  --fake->pinned;
  return 0;
}

// One capture at a time; its graph is what was launched in its stream, which launching a graph launches again.
cuda::Status capture_begin(cuda::Stream stream, int mode) {
  NG_ENTER("cuStreamBeginCapture_v2");
  if (fake->capturing != 0 || stream == nullptr || mode != cuda::kCaptureRelaxed) return kInvalidValue;
  fake->capturing = 7;
  fake->captured = stream;
  fake->graph.clear();
  return 0;
}
cuda::Status capture_end(cuda::Stream stream, cuda::Graph* graph) {
  NG_ENTER("cuStreamEndCapture");
  if (fake->capturing == 0 || stream != fake->captured) return kInvalidValue;
  fake->capturing = 0;
  fake->captured = nullptr;
  *graph = handle<cuda::Graph>();
  return 0;
}
cuda::Status graph_instantiate(cuda::GraphExec* exec, cuda::Graph, unsigned long long) {
  NG_ENTER("cuGraphInstantiateWithFlags");
  *exec = handle<cuda::GraphExec>();
  return 0;
}
cuda::Status graph_launch(cuda::GraphExec, cuda::Stream stream) {
  NG_QUEUE("cuGraphLaunch", stream);
  for (const FakeDriver::Launch& l : fake->graph) {
    if (!fake->modules.contains(l.module)) return kInvalidValue;
  }
  fake->launches.insert(fake->launches.end(), fake->graph.begin(), fake->graph.end());
  return 0;
}
cuda::Status graph_destroy(cuda::Graph) {
  NG_ENTER("cuGraphDestroy");
  return 0;
}
cuda::Status graph_exec_destroy(cuda::GraphExec) {
  NG_ENTER("cuGraphExecDestroy");
  return 0;
}

cuda::Status array_create(cuda::Array* array, const cuda::ArrayDescription* description) {
  NG_ENTER("cuArray3DCreate_v2");
  *array = handle<cuda::Array>();
  fake->arrays[*array].description = *description;
  return 0;
}
cuda::Status array_destroy(cuda::Array array) {
  NG_ENTER("cuArrayDestroy");
  return fake->arrays.erase(array) == 1 ? 0 : kInvalidValue;
}
cuda::Status copy_3d(const cuda::Copy3d* copy) {
  NG_ENTER("cuMemcpy3D_v2");
  const std::size_t bytes = copy->width * copy->height * copy->depth;
  const bool up = copy->to.type == cuda::kArrayMemory;
  auto& memory = fake->arrays.at(up ? copy->to.array : copy->from.array).bytes;
  memory.resize(bytes);
  if (up) std::memcpy(memory.data(), copy->from.host, bytes);
  if (!up) std::memcpy(const_cast<void*>(copy->to.host), memory.data(), bytes);
  return 0;
}
cuda::Status texture_create(std::uint64_t* texture, const cuda::ResourceDescription* resource,
                            const cuda::TextureDescription* description, const void*) {
  NG_ENTER("cuTexObjectCreate");
  fake->objects[*texture = fake->next_handle += 0x100] = {*resource, *description};
  return 0;
}
cuda::Status surface_create(std::uint64_t* surface, const cuda::ResourceDescription* resource) {
  NG_ENTER("cuSurfObjectCreate");
  fake->objects[*surface = fake->next_handle += 0x100] = {*resource, {}};
  return 0;
}
cuda::Status texture_destroy(std::uint64_t texture) {
  NG_ENTER("cuTexObjectDestroy");
  return fake->objects.erase(texture) == 1 ? 0 : kInvalidValue;
}
cuda::Status surface_destroy(std::uint64_t surface) {
  NG_ENTER("cuSurfObjectDestroy");
  return fake->objects.erase(surface) == 1 ? 0 : kInvalidValue;
}

#undef NG_ENTER

}  // namespace

FakeDriver::FakeDriver() {
  fake = this;
#define NG_FAKE(member, symbol, parameters) table_.member = &nervanagpu::test::member;
  NG_DRIVER_CALLS(NG_FAKE)
  NG_DRIVER_OPTIONAL_CALLS(NG_FAKE)
#undef NG_FAKE
}

FakeDriver::~FakeDriver() {
  for (const auto& [address, bytes] : live) std::free(pointer<void*>(address));
  fake = nullptr;
}

void FakeDriver::fail(const std::string& symbol, cuda::Status status, int nth) {
  failures_[symbol] = {status, calls(symbol) + nth};
}

int FakeDriver::calls(const std::string& symbol) const {
  const auto it = counts_.find(symbol);
  return it == counts_.end() ? 0 : it->second;
}

cuda::Status FakeDriver::enter(const char* symbol) {
  const int count = ++counts_[symbol];
  const auto it = failures_.find(symbol);
  return it != failures_.end() && count >= it->second.nth ? it->second.status : cuda::kSuccess;
}

}  // namespace nervanagpu::test
