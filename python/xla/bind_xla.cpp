// Handlers of XLA's foreign function interface: nervanagpu.jax registers them. XLA calls them on threads of its own, which
// know nothing of Python. On a GPU they queue work in XLA's stream and return; on the emulator the work is done by then.
#include <pybind11/stl.h>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "python/bind.h"
#include "python/xla/xla.h"
#include "python/xla/xla_operations.h"

namespace nervanagpu::python {
namespace {

using namespace xla;

enum class Platform : std::uint8_t { host, cuda };

std::array<std::atomic<std::uint64_t>, kOperations> calls{};

// --- from XLA's structures to a request --------------------------------------------------------------------------------

std::int32_t dtype_of(std::int32_t type) {
  switch (type) {
    case kFloat32: return NG_FLOAT32;
    case kFloat16: return NG_FLOAT16;
    case kBfloat16: return NG_BFLOAT16;
    default:
      throw TypeError("an element type with XLA's number " + std::to_string(type) +
                      "; needs float32, float16 or bfloat16");
  }
}

std::size_t width_of(std::int32_t type) {
  return type == kUint8 ? 1 : type == kFloat32 ? 4 : 2;
}

// Memory of XLA's, for the time of a call: the emulator must be told of it.
class Memory {
 public:
  explicit Memory(Platform platform) : platform_(platform) {}
  std::uint64_t address_of(const Buffer& b) {
    std::size_t bytes = width_of(b.type);
    for (std::int64_t i = 0; i < b.rank; ++i) bytes *= static_cast<std::size_t>(b.dims[i]);
    if (bytes == 0) return 0;
    if (platform_ == Platform::cuda) return reinterpret_cast<std::uint64_t>(b.data);
    lent_.push_back(
        Tensor::adopt_host(b.data, {static_cast<std::int64_t>(bytes)}, {1}, Dtype::uint8, std::function<void()>()));
    return lent_.back().address();
  }

 private:
  Platform platform_;
  std::vector<Tensor> lent_;
};

const Buffer& buffer(const Buffers& all, std::int64_t i) {
  if (all.kinds[i] != Buffers::kBuffer) throw InvalidArgument("an operand that is no array");
  return *static_cast<const Buffer*>(all.at[i]);
}

Operand operand(const Buffer& b, Memory& memory) {
  const std::int32_t dtype = dtype_of(b.type);
  return {memory.address_of(b), dtype, {b.dims, b.dims + b.rank}};
}

void read_attributes(const Attributes& from, Request& to) {
  for (std::int64_t i = 0; i < from.count; ++i) {
    const std::string name(from.names[i]->start, from.names[i]->length);
    std::vector<std::int64_t>& values = to.numbers[name];
    const std::int32_t kind = from.kinds[i];
    if (kind == Attributes::kScalar) {
      const auto& one = *static_cast<const Number*>(from.at[i]);
      if (one.type == kInt64) values = {*static_cast<const std::int64_t*>(one.data)};
    } else if (kind == Attributes::kArray) {
      const auto& many = *static_cast<const Numbers*>(from.at[i]);
      const auto* data = static_cast<const std::int64_t*>(many.data);
      if (many.type == kInt64) values.assign(data, data + many.count);
    }  // what is of another type stays without numbers, and is refused when it is asked for
  }
}

// Of XLA's own functions: whether it has worked.
bool done(const Api& api, Failure* failure) {
  if (failure == nullptr) return true;
  DestroyError error{sizeof(DestroyError), nullptr, failure};
  api.destroy_error(&error);
  return false;
}

// The ordinal of the arrays' GPU; -1: the emulator.
int read_place(const Frame& frame, Platform platform, Request& to) {
  const DeviceInfo& here = device();
  if ((here.kind == DeviceKind::cuda) != (platform == Platform::cuda)) {
    throw InvalidArgument(platform == Platform::cuda
                              ? "arrays on a GPU, but the library's device is the emulator, which works on the CPU's"
                              : "arrays on the CPU, but the library's device is " + here.name +
                                    ": put them on jax.devices('gpu')[0], or set NERVANAGPU_DEVICE=emulator");
  }
  if (platform == Platform::host) return -1;
  GetOrdinal of{sizeof(GetOrdinal), nullptr, frame.context, -1};
  if (frame.api->size < sizeof(Api) || !done(*frame.api, frame.api->get_ordinal(&of)) || of.ordinal < 0) {
    throw InvalidArgument("XLA does not say which GPU the arrays are on");
  }
  if (of.ordinal > 0 && of.ordinal >= device_count()) {
    throw InvalidArgument("arrays on GPU " + std::to_string(of.ordinal) + "; the library's are 0 to " +
                          std::to_string(device_count() - 1));
  }
  GetStream stream{sizeof(GetStream), nullptr, frame.context, nullptr};
  if (!done(*frame.api, frame.api->get_stream(&stream))) throw Error("XLA has no stream for this call");
  to.stream = reinterpret_cast<std::uint64_t>(stream.stream);
  return of.ordinal;
}

void run(const Frame& frame, Platform platform, const Operation& operation) {
  Request call;
  const OnDevice there(read_place(frame, platform, call));
  read_attributes(frame.attributes, call);
  Memory memory(platform);
  for (std::int64_t i = 0; i < frame.arguments.count; ++i) {
    call.in.push_back(operand(buffer(frame.arguments, i), memory));
  }
  std::int64_t results = frame.results.count;
  if (operation.workspace != nullptr) {
    if (results == 0) throw InvalidArgument("no result for the workspace");
    const Buffer& last = buffer(frame.results, --results);
    if (last.type != kUint8 || last.rank != 1) throw TypeError("the last result is no workspace; needs a row of uint8");
    call.workspace = memory.address_of(last);
    call.workspace_bytes = static_cast<std::size_t>(last.dims[0]);
  }
  for (std::int64_t i = 0; i < results; ++i) call.out.push_back(operand(buffer(frame.results, i), memory));
  operation.run(call);
}

// --- handlers ----------------------------------------------------------------------------------------------------------

Code code_of(const std::exception& e) {
  if (dynamic_cast<const InvalidArgument*>(&e) != nullptr) return kInvalidArgument;
  if (dynamic_cast<const TypeError*>(&e) != nullptr) return kInvalidArgument;
  if (dynamic_cast<const OutOfMemory*>(&e) != nullptr) return kResourceExhausted;
  if (dynamic_cast<const DeviceLost*>(&e) != nullptr) return kUnavailable;
  return kInternal;
}

Failure* failed(const Frame& frame, const Operation& operation, Code code, const char* why) noexcept {
  const std::string message = std::string("nervanagpu.jax: ") + operation.name + ": " + why;
  CreateError error{sizeof(CreateError), nullptr, message.c_str(), code};
  return frame.api->create_error(&error);
}

void describe(Metadata& m) {
  m.version = {sizeof(Version), nullptr, kMajor, kMinor};
  m.traits = Metadata::kMayBeCaptured;
  if (m.size >= offsetof(Metadata, state) + sizeof m.state) m.state = 0;
}

template <Platform platform, std::size_t index>
Failure* handler(Frame* frame) {
  if (frame->extensions != nullptr && frame->extensions->type == Extension::kMetadata) {
    describe(*reinterpret_cast<MetadataExtension*>(frame->extensions)->metadata);
    return nullptr;
  }
  const Operation& operation = operations()[index];
  if (frame->stage != Frame::kExecute) return failed(*frame, operation, kFailedPrecondition, "called before execution");
  try {
    run(*frame, platform, operation);
  } catch (const std::exception& e) {
    return failed(*frame, operation, code_of(e), e.what());
  }
  ++calls[index];
  return nullptr;
}

using Handler = Failure* (*)(Frame*);

template <Platform platform, std::size_t... index>
constexpr std::array<Handler, sizeof...(index)> handlers_of(std::index_sequence<index...> /*unused*/) {
  return {handler<platform, index>...};
}

// --- what nervanagpu.jax sees ------------------------------------------------------------------------------------------

const Operation& operation_named(const std::string& name) {
  for (const Operation& o : operations()) {
    if (name == o.name) return o;
  }
  throw InvalidArgument("xla: there is no operation \"" + name + "\"");
}

Operand described(const std::pair<Shape, std::string>& array) {
  const std::int32_t dtype = array.second == "float16"    ? NG_FLOAT16
                             : array.second == "bfloat16" ? NG_BFLOAT16
                                                          : NG_FLOAT32;
  return {0, dtype, array.first};
}

using Described = std::vector<std::pair<Shape, std::string>>;  // shape and dtype of each
using Named = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

}  // namespace

void bind_xla(py::module_& m) {
  m.def(
      "xla_targets",
      [] {
        constexpr std::array kPlatforms{
            std::pair{"cpu", handlers_of<Platform::host>(std::make_index_sequence<kOperations>())},
            std::pair{"CUDA", handlers_of<Platform::cuda>(std::make_index_sequence<kOperations>())}};
        py::list out;
        for (const auto& [platform, handlers] : kPlatforms) {
          for (std::size_t i = 0; i < kOperations; ++i) {
            const py::capsule capsule(reinterpret_cast<const void*>(handlers[i]));
            out.append(py::make_tuple(operations()[i].name, platform, capsule));
          }
        }
        return out;
      },
      "Names, platforms and handlers of the operations for XLA.");
  m.def("precision", [] { return precision() == Precision::tensor ? "tensor" : "strict"; });
  m.def("xla_calls", [] {
    std::map<std::string, std::uint64_t> out;
    for (std::size_t i = 0; i < kOperations; ++i) out[operations()[i].name] = calls[i].load();
    return out;
  });
  m.def(
      "xla_workspace",
      [](const std::string& name, const Described& in, const Described& out, const Named& numbers) -> std::int64_t {
        Request call;
        call.numbers = numbers;
        for (const auto& array : in) call.in.push_back(described(array));
        for (const auto& array : out) call.out.push_back(described(array));
        const Operation& operation = operation_named(name);
        if (operation.workspace == nullptr) return -1;
        const GilRelease release;
        return static_cast<std::int64_t>(operation.workspace(call));
      },
      py::arg("name"), py::arg("operands"), py::arg("results"), py::arg("numbers"));
}

}  // namespace nervanagpu::python
