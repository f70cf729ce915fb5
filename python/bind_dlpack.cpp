// DLPack, both ways (dmlc.github.io/dlpack): capsules that share device memory with other libraries. On the emulator,
// whose memory nobody else sees, tensors are handed out as copies in host memory.
#include <cstring>
#include <memory>
#include <optional>

#include "python/bind.h"

namespace nervanagpu::python {
namespace {

// The structures of the specification, version 0.
enum : std::int32_t { kCpu = 1, kCuda = 2 };
enum : std::uint8_t { kSigned = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kBool = 6 };
struct DlDevice {
  std::int32_t type = kCpu;
  std::int32_t id = 0;
};
struct DlType {
  std::uint8_t code = kFloat;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;
};
struct DlTensor {
  void* data = nullptr;
  DlDevice device;
  std::int32_t ndim = 0;
  DlType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // in elements; none: row-major
  std::uint64_t byte_offset = 0;
};
struct DlManaged {
  DlTensor tensor;
  void* context = nullptr;
  void (*deleter)(DlManaged*) = nullptr;
};
constexpr const char* kFresh = "dltensor";
constexpr const char* kUsed = "used_dltensor";

constexpr struct {
  Dtype ours;
  DlType theirs;
} kTypes[] = {{Dtype::float32, {kFloat, 32}},   {Dtype::float64, {kFloat, 64}},   {Dtype::float16, {kFloat, 16}},
              {Dtype::bfloat16, {kBfloat, 16}}, {Dtype::int8, {kSigned, 8}},      {Dtype::int16, {kSigned, 16}},
              {Dtype::int32, {kSigned, 32}},    {Dtype::int64, {kSigned, 64}},    {Dtype::uint8, {kUnsigned, 8}},
              {Dtype::uint16, {kUnsigned, 16}}, {Dtype::uint32, {kUnsigned, 32}}, {Dtype::uint64, {kUnsigned, 64}},
              {Dtype::boolean, {kBool, 8}}};

bool on_gpu() {
  return device().kind == DeviceKind::cuda;
}

// What a capsule of ours keeps alive.
struct Shared {
  DlManaged managed;
  Tensor tensor;
  std::vector<std::byte> copy;  // on the emulator
  Shape shape, strides;
};

void drop_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kFresh) == 0) return;  // somebody has taken it
  auto* m = static_cast<DlManaged*>(PyCapsule_GetPointer(capsule, kFresh));
  m->deleter(m);
}

py::object to_dlpack(const Tensor& t) {
  before_write(t);  // whoever gets it may write
  auto s = std::make_unique<Shared>();
  s->tensor = t;
  s->shape = t.shape();
  DlTensor& d = s->managed.tensor;
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == t.dtype()) d.dtype = theirs;
  }
  if (on_gpu()) {
    d.device.type = kCuda;
    d.data = reinterpret_cast<void*>(t.address());  // NOLINT(performance-no-int-to-ptr)
    s->strides = t.strides();
  } else {
    s->copy.resize(t.nbytes());
    t.get(s->copy.data(), t.nbytes());
    d.data = s->copy.data();
    s->strides.assign(s->shape.size(), 1);
    for (std::size_t i = s->shape.size(); i-- > 1;) s->strides[i - 1] = s->strides[i] * s->shape[i];
  }
  d.ndim = static_cast<std::int32_t>(s->shape.size());
  d.shape = s->shape.data();
  d.strides = s->strides.data();
  s->managed.context = s.get();
  s->managed.deleter = [](DlManaged* m) { delete static_cast<Shared*>(m->context); };
  PyObject* capsule = PyCapsule_New(&s->managed, kFresh, &drop_capsule);
  if (capsule == nullptr) throw py::error_already_set();
  static_cast<void>(s.release());  // the capsule's now
  return py::reinterpret_steal<py::object>(capsule);
}

// A copy of what the capsule shows, which is given back.
Tensor from_dlpack(const py::object& capsule) {
  auto* m = static_cast<DlManaged*>(PyCapsule_GetPointer(capsule.ptr(), kFresh));
  if (m == nullptr) throw py::error_already_set();
  const DlTensor& d = m->tensor;
  std::optional<Dtype> dtype;
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs.code == d.dtype.code && theirs.bits == d.dtype.bits && d.dtype.lanes == 1) dtype = ours;
  }
  if (!dtype) {
    throw TypeError("from_dlpack: a type of code " + std::to_string(d.dtype.code) + " and " +
                    std::to_string(d.dtype.bits) + " bits; needs integers, floats or bool of 8 to 64 bits");
  }
  if (d.device.type != (on_gpu() ? kCuda : kCpu)) {
    throw InvalidArgument("from_dlpack: memory of a device of type " + std::to_string(d.device.type) + "; needs " +
                          std::to_string(on_gpu() ? kCuda : kCpu) + " (1: host, 2: GPU)");
  }
  const Shape shape(d.shape, d.shape + d.ndim);
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  const Shape dense = strides;
  if (d.strides != nullptr) strides.assign(d.strides, d.strides + d.ndim);
  auto* data = static_cast<std::byte*>(d.data) + d.byte_offset;
  Tensor out = Tensor::empty(shape, *dtype);
  if (out.size() > 0 && on_gpu()) {
    const auto address = reinterpret_cast<std::uint64_t>(data);
    out.copy_from(Tensor::wrap(address, shape, strides, *dtype));
    synchronize();  // before they take it back
  } else if (out.size() > 0) {
    if (strides != dense) throw InvalidArgument("from_dlpack: host memory with gaps; needs a contiguous array");
    out.set(data, out.nbytes());
  }
  PyCapsule_SetName(capsule.ptr(), kUsed);
  if (m->deleter != nullptr) m->deleter(m);
  return out;
}

}  // namespace

void bind_dlpack(py::module_& m) {
  m.def("to_dlpack", &to_dlpack);
  m.def("from_dlpack", &from_dlpack);
}

}  // namespace nervanagpu::python
