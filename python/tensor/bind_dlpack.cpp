// DLPack, both ways, without a copy: capsules hold a handle of our memory, and tensors over theirs hold the capsule's memory
// until the last handle is gone. On the emulator, tensors are host memory.
#include <functional>
#include <memory>
#include <optional>

#include "python/bind.h"
#include "python/tensor/dlpack.h"

namespace nervanagpu::python {
namespace {

using namespace dlpack;

constexpr struct {
  Dtype ours;
  Type theirs;
} kTypes[] = {
    {Dtype::float32, {kFloat, 32}},   {Dtype::float64, {kFloat, 64}},     {Dtype::float16, {kFloat, 16}},
    {Dtype::bfloat16, {kBfloat, 16}}, {Dtype::int8, {kSigned, 8}},        {Dtype::int16, {kSigned, 16}},
    {Dtype::int32, {kSigned, 32}},    {Dtype::int64, {kSigned, 64}},      {Dtype::uint8, {kUnsigned, 8}},
    {Dtype::uint16, {kUnsigned, 16}}, {Dtype::uint32, {kUnsigned, 32}},   {Dtype::uint64, {kUnsigned, 64}},
    {Dtype::boolean, {kBool, 8}},     {Dtype::complex64, {kComplex, 64}}, {Dtype::complex128, {kComplex, 128}}};

bool on_gpu() {
  return device().kind == DeviceKind::cuda;
}

// --- ours, for others ----------------------------------------------------------------------------------------------

// What a capsule keeps alive: a handle of the tensor's memory, or elements on the host.
template <class Form>
struct Shared {
  Form form;
  Tensor tensor{Tensor::Later{}};
  std::vector<std::byte> copy;
  Shape shape, strides;
};

template <class Form>
void drop_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, Form::kFresh) == 0) return;  // somebody has taken it
  auto* m = static_cast<Form*>(PyCapsule_GetPointer(capsule, Form::kFresh));
  m->deleter(m);
}

Shape row_major(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

template <class Form>
void fill(Shared<Form>& s, const Tensor& t, bool to_host) {
  Array& d = s.form.array;
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == t.dtype()) d.dtype = theirs;
  }
  s.shape = t.shape();
  if (to_host) {
    s.strides = row_major(s.shape);
    s.copy.resize(t.nbytes());
    d.data = s.copy.data();
    const GilRelease release;
    t.get(s.copy.data(), t.nbytes());
  } else {
    s.tensor = t;
    s.strides = t.strides();
    t.expose();
    d.device.type = on_gpu() ? kCuda : kCpu;
    d.device.id = on_gpu() ? t.device() : 0;
    d.data = on_gpu() ? reinterpret_cast<void*>(t.address()) : t.host();  // NOLINT(performance-no-int-to-ptr)
  }
  d.ndim = static_cast<std::int32_t>(s.shape.size());
  d.shape = s.shape.data();
  d.strides = s.strides.data();
}

template <class Form>
py::object capsule_of(std::unique_ptr<Shared<Form>> s) {
  s->form.context = s.get();
  s->form.deleter = [](Form* m) { delete static_cast<Shared<Form>*>(m->context); };
  PyObject* capsule = PyCapsule_New(&s->form, Form::kFresh, &drop_capsule<Form>);
  if (capsule == nullptr) throw py::error_already_set();
  static_cast<void>(s.release());  // the capsule's now
  return py::reinterpret_steal<py::object>(capsule);
}

// `to_host`: elements in host memory of their own. `copied`: what the capsule says of `t`.
py::object to_dlpack(const Tensor& t, bool versioned, bool to_host, bool copied) {
  before_sharing(t);
  if (!versioned) {
    auto s = std::make_unique<Shared<Managed>>();
    fill(*s, t, to_host);
    return capsule_of(std::move(s));
  }
  auto s = std::make_unique<Shared<ManagedVersioned>>();
  fill(*s, t, to_host);
  s->form.flags = (copied || to_host ? kCopied : 0U) | (t.read_only() && !to_host ? kReadOnly : 0U);
  return capsule_of(std::move(s));
}

// --- theirs, for us ------------------------------------------------------------------------------------------------

// Calls what may run Python. A thread without the GIL must not wait for it, as it may hold locks that the thread with
// the GIL is waiting for: it leaves the call to the interpreter.
void call_with_gil(std::function<void()> call) {
  if (Py_IsInitialized() == 0) return;  // their memory goes with the process
  if (PyGILState_Check() != 0) return call();
  auto later = std::make_unique<std::function<void()>>(std::move(call));
  const auto run = [](void* what) {
    const std::unique_ptr<std::function<void()>> own(static_cast<std::function<void()>*>(what));
    (*own)();
    return 0;
  };
  if (Py_AddPendingCall(run, later.get()) == 0) {
    static_cast<void>(later.release());
    return;
  }
  const GilAcquire acquire;  // the interpreter's list is full
  (*later)();
}

Dtype dtype_of(const Type& type) {
  if (type.lanes != 1) {
    throw TypeError("from_dlpack: elements of " + std::to_string(type.lanes) + " lanes; needs 1");
  }
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs.code == type.code && theirs.bits == type.bits) return ours;
  }
  throw TypeError("from_dlpack: a type of code " + std::to_string(type.code) + " and " + std::to_string(type.bits) +
                  " bits; needs integers, floats or bool of 8 to 64 bits, or complex64 or complex128");
}

void check_place(const Place& place) {
  const bool gpu = on_gpu();
  const bool fits = gpu ? place.type == kCuda || place.type == kCudaHost || place.type == kCudaManaged
                        : place.type == kCpu || place.type == kCudaHost;
  if (!fits) {
    throw InvalidArgument("from_dlpack: memory of a device of type " + std::to_string(place.type) + "; needs " +
                          std::to_string(gpu ? kCuda : kCpu) + " (1: host, 2: GPU)");
  }
  if (gpu && place.type == kCuda && (place.id < 0 || place.id >= device_count())) {
    throw InvalidArgument("from_dlpack: memory of GPU " + std::to_string(place.id) + "; needs 0 to " +
                          std::to_string(device_count() - 1));
  }
}

Tensor adopted(const Array& d, bool read_only, std::function<void()> give_back) {
  const Dtype dtype = dtype_of(d.dtype);
  check_place(d.device);
  Shape shape(d.shape, d.shape + d.ndim);
  Shape strides = d.strides == nullptr ? row_major(shape) : Shape(d.strides, d.strides + d.ndim);
  auto* data = static_cast<std::byte*>(d.data) + d.byte_offset;
  const auto address = reinterpret_cast<std::uint64_t>(data);
  bool any = true;
  for (const std::int64_t n : shape) any = any && n != 0;
  if (any && address % alignment_of(dtype) != 0) {  // said before anything is given back
    throw InvalidArgument("from_dlpack: memory at " + std::to_string(address) + "; needs a multiple of " +
                          std::to_string(alignment_of(dtype)) + " for " + std::string(name_of(dtype)));
  }
  const OnDevice there(on_gpu() && d.device.type == kCuda ? d.device.id : device_of(address));
  if (on_gpu())
    return Tensor::adopt(address, std::move(shape), std::move(strides), dtype, std::move(give_back), read_only);
  return Tensor::adopt_host(data, std::move(shape), std::move(strides), dtype, std::move(give_back), read_only);
}

// A tensor over the capsule's memory. What is refused stays the capsule's.
template <class Form>
Tensor take(const py::object& capsule, bool read_only) {
  auto* m = static_cast<Form*>(PyCapsule_GetPointer(capsule.ptr(), Form::kFresh));
  const auto taken = std::make_shared<bool>(false);
  const auto give_back = [m] {
    if (m->deleter != nullptr) call_with_gil([m] { m->deleter(m); });
  };
  Tensor t = adopted(m->array, read_only, [taken, give_back] {
    if (*taken) give_back();
  });
  PyCapsule_SetName(capsule.ptr(), Form::kUsed);
  *taken = true;
  if (t.size() == 0) give_back();  // there is nothing to hold
  return t;
}

// `read_only`: whatever the capsule says of it.
Tensor from_dlpack(const py::object& capsule, bool read_only) {
  if (PyCapsule_IsValid(capsule.ptr(), Managed::kFresh) != 0) return take<Managed>(capsule, read_only);
  if (PyCapsule_IsValid(capsule.ptr(), ManagedVersioned::kFresh) == 0) {
    const char* name = PyCapsule_CheckExact(capsule.ptr()) != 0 ? PyCapsule_GetName(capsule.ptr()) : nullptr;
    throw InvalidArgument(
        "from_dlpack: needs a capsule \"dltensor\" or \"dltensor_versioned\" that nobody has taken; got " +
        (name != nullptr ? "\"" + std::string(name) + "\"" : std::string(py::repr(capsule))));
  }
  const auto* m = static_cast<ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), ManagedVersioned::kFresh));
  if (m->major != kMajor) {
    throw InvalidArgument("from_dlpack: version " + std::to_string(m->major) + "." + std::to_string(m->minor) +
                          " of DLPack; needs 1");
  }
  return take<ManagedVersioned>(capsule, read_only || (m->flags & kReadOnly) != 0);
}

// Memory that the object `owner` keeps alive.
Tensor adopt(std::uint64_t address, const py::object& shape, const py::object& strides, const py::object& dtype,
             const py::object& owner, bool read_only) {
  const OnDevice there(other_devices_used() || other_devices_possible() ? device_of(address) : -1);
  PyObject* held = owner.inc_ref().ptr();
  return Tensor::adopt(
      address, shape_from(shape), shape_from(strides), dtype_from(dtype),
      [held] { call_with_gil([held] { Py_DECREF(held); }); }, read_only);
}

}  // namespace

void bind_dlpack(py::module_& m) {
  m.def("to_dlpack", &to_dlpack, py::arg("tensor"), py::arg("versioned"), py::arg("to_host"), py::arg("copied"));
  m.def("from_dlpack", &from_dlpack, py::arg("capsule"), py::arg("read_only") = false);
  m.def("adopt", &adopt, py::arg("address"), py::arg("shape"), py::arg("strides"), py::arg("dtype"), py::arg("owner"),
        py::arg("read_only"));
  m.def(
      "expose",
      [](const Tensor& t) {
        before_sharing(t);
        t.expose();
      },
      py::arg("tensor"));
  m.def(
      "read_only", [](const Tensor& t) { return t.read_only(); }, py::arg("tensor"));
}

}  // namespace nervanagpu::python
