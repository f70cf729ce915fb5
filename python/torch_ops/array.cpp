#include "python/torch_ops/array.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace nervanagpu::python::torch {
namespace {

constexpr std::array kLast4{1, 3, 2, 0};     // the axes of (N, C, H, W), channels last, from the nearest elements
constexpr std::array kLast5{1, 4, 3, 2, 0};  // of (N, C, D, H, W)

// As torch has it: of an axis of one element the stride says nothing.
template <class Order>
bool lies(const Array& t, const Order& order) {
  std::int64_t expected = 1;
  for (const auto axis : order) {
    if (t.size(axis) == 1) continue;
    if (t.stride(axis) != expected) return false;
    expected *= t.size(axis);
  }
  return true;
}

void worked(Failed failed, const char* what, const PerAxis& sizes) {
  if (failed != 0) refuse(std::string(what) + " " + shown(sizes));
}

PerAxis row_major(const PerAxis& sizes) {
  PerAxis strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
  return strides;
}

template <class Order>
PerAxis strides_by(const PerAxis& sizes, const Order& order) {
  PerAxis strides(sizes.size());
  std::int64_t stride = 1;
  for (const auto axis : order) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= sizes[static_cast<std::size_t>(axis)];  // as torch: also where it becomes 0
  }
  return strides;
}

void check_place(const Array& t) {
  static const bool gpu = nervanagpu::device().kind == DeviceKind::cuda;
  if (!gpu) {
    if (!t.on_gpu()) return;
    refuse("a tensor on cuda:" + std::to_string(t.device()) +
           " while ours is the emulator, which works on CPU tensors");
  }
  if (t.on_gpu() && (t.device() == 0 || t.device() < device_count())) return;
  refuse("a tensor on " + (t.on_gpu() ? "cuda:" + std::to_string(t.device()) : std::string("cpu")) +
         " while ours are cuda:0 to cuda:" + std::to_string(device_count() - 1));
}

// Memory where no element may begin: torch takes it, of NumPy's arrays say.
void check_address(const Array& t) {
  const std::uintptr_t width = t.type() == shim().float32 ? 4 : 2;
  if (reinterpret_cast<std::uintptr_t>(t.data()) % width != 0) {
    refuse("memory at no multiple of " + std::to_string(width) + " bytes, an element's");
  }
}

Stream current_stream(int device) {
  void* stream = nullptr;
  if (shim().get_current_cuda_stream == nullptr) refuse("this torch has no CUDA streams");
  if (shim().get_current_cuda_stream(device, &stream) != 0) refuse("torch does not say its current stream");
  return Stream::from_handle(reinterpret_cast<std::uint64_t>(stream));
}

const Array& first_of(std::span<const Array* const> operands) {
  return **std::find_if(operands.begin(), operands.end(), [](const Array* t) { return t != nullptr; });
}

}  // namespace

void refuse(const std::string& why) {
  throw std::runtime_error("nervanagpu: " + why);
}

std::string shown(const PerAxis& shape) {
  std::string out = "(";
  for (const std::int64_t n : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
  return out + (shape.size() == 1 ? ",)" : ")");
}

std::string dtype_name(std::int32_t type) {
  const Shim& s = shim();
  const std::array<std::pair<std::int32_t, const char*>, 20> names{{{s.float32, "float32"},
                                                                    {s.float16, "float16"},
                                                                    {s.bfloat16, "bfloat16"},
                                                                    {s.dtype_float64(), "float64"},
                                                                    {s.dtype_int8(), "int8"},
                                                                    {s.dtype_uint8(), "uint8"},
                                                                    {s.dtype_int16(), "int16"},
                                                                    {s.dtype_int32(), "int32"},
                                                                    {s.dtype_int64(), "int64"},
                                                                    {s.dtype_bool(), "bool"},
                                                                    {s.dtype_complex64(), "complex64"},
                                                                    {s.dtype_complex128(), "complex128"},
                                                                    {s.dtype_complex32(), "complex32"},
                                                                    {s.dtype_uint16(), "uint16"},
                                                                    {s.dtype_uint32(), "uint32"},
                                                                    {s.dtype_uint64(), "uint64"},
                                                                    {s.dtype_float8_e4m3fn(), "float8_e4m3fn"},
                                                                    {s.dtype_float8_e5m2(), "float8_e5m2"},
                                                                    {s.dtype_float8_e4m3fnuz(), "float8_e4m3fnuz"},
                                                                    {s.dtype_float8_e5m2fnuz(), "float8_e5m2fnuz"}}};
  for (const auto& [number, name] : names) {
    if (number == type) return std::string("torch.") + name;
  }
  return "of torch's number " + std::to_string(type);
}

PerAxis::PerAxis(std::size_t axes, std::int64_t value) : count_(axes) {
  if (axes > few_.size()) many_.resize(axes);
  std::fill(begin(), end(), value);
}

PerAxis::PerAxis(const std::int64_t* begin, const std::int64_t* end) : PerAxis(static_cast<std::size_t>(end - begin)) {
  std::copy(begin, end, this->begin());
}

// --- Array -------------------------------------------------------------------------------------------------------------

Array& Array::operator=(Array&& other) noexcept {
  std::swap(handle_, other.handle_);
  axes_ = other.axes_, sizes_ = other.sizes_, strides_ = other.strides_;
  dtype_ = other.dtype_, device_type_ = other.device_type_, device_ = other.device_, data_ = other.data_;
  return *this;
}

Array::~Array() {
  if (handle_ != nullptr) static_cast<void>(shim().delete_tensor_object(handle_));
}

void Array::look() {
  const Shim& s = shim();
  std::int64_t *sizes = nullptr, *strides = nullptr;
  const bool failed = s.get_dim(handle_, &axes_) != 0 || s.get_sizes(handle_, &sizes) != 0 ||
                      s.get_strides(handle_, &strides) != 0 || s.get_dtype(handle_, &dtype_) != 0 ||
                      s.get_device_type(handle_, &device_type_) != 0 || s.get_device_index(handle_, &device_) != 0 ||
                      s.get_data_ptr(handle_, &data_) != 0;
  if (failed) refuse("an operand is None, or a tensor whose memory torch does not show");
  sizes_ = sizes;
  strides_ = strides;
}

std::int64_t Array::elements() const noexcept {
  std::int64_t count = 1;
  for (std::int64_t i = 0; i < axes_; ++i) count *= sizes_[i];
  return count;
}

Dtype Array::dtype() const {
  if (dtype_ == shim().float32) return Dtype::float32;
  return dtype_ == shim().float16 ? Dtype::float16 : Dtype::bfloat16;
}

bool Array::contiguous() const noexcept {
  if (elements() == 0) return true;
  std::int64_t expected = 1;
  for (std::int64_t i = axes_; i-- > 0;) {
    if (sizes_[i] == 1) continue;
    if (strides_[i] != expected) return false;
    expected *= sizes_[i];
  }
  return true;
}

namespace {

template <class Order>
bool strides_grow(const Array& t, const Order& order) {
  std::int64_t least = 0;
  for (const auto axis : order) {
    if (t.size(axis) == 0 || t.stride(axis) < least) return false;
    if (axis == 0 && least == t.stride(1)) return false;  // (N, 1, 1, 1): either
    least = t.stride(axis) * t.size(axis);
  }
  return t.stride(1) != 0;
}

}  // namespace

bool Array::channels_last() const noexcept {
  return (axes_ == 4 && strides_grow(*this, kLast4)) || (axes_ == 5 && strides_grow(*this, kLast5));
}

bool Array::lies_channels_last() const noexcept {
  return (axes_ == 4 && lies(*this, kLast4)) || (axes_ == 5 && lies(*this, kLast5));
}

// --- Call --------------------------------------------------------------------------------------------------------------

int Call::place_of(std::span<const Array* const> operands) {
  const Array& first = first_of(operands);
  const Shim& s = shim();
  for (const Array* t : operands) {
    if (t == nullptr) continue;
    if (t->type() != s.float32 && t->type() != s.float16 && t->type() != s.bfloat16) {
      refuse("dtype " + dtype_name(t->type()) + "; needs float32, float16 or bfloat16");
    }
    if (t->type() != first.type()) {
      refuse("operands of several dtypes: " + dtype_name(first.type()) + ", " + dtype_name(t->type()));
    }
    check_place(*t);
    check_address(*t);
    if (t->on_gpu() && t->device() != first.device()) {
      refuse("operands on cuda:" + std::to_string(first.device()) + " and cuda:" + std::to_string(t->device()));
    }
  }
  if (first.on_gpu()) return first.device();
  // Memory that one of several emulated devices has lent.
  return other_devices_used() ? device_of(reinterpret_cast<std::uint64_t>(first.data())) : -1;
}

Call::Call(std::span<const Array* const> operands) : there_(place_of(operands)) {
  const Array& first = first_of(operands);
  if (first.on_gpu()) stream_ = current_stream(first.device());
}

Tensor Call::ours(const Array& t, const PerAxis& sizes, const PerAxis& strides, Dtype dtype) {
  Shape lengths(sizes.begin(), sizes.end()), steps(strides.begin(), strides.end());
  if (!t.on_gpu()) {
    return Tensor::adopt_host(t.data(), std::move(lengths), std::move(steps), dtype, std::function<void()>());
  }
  return Tensor::wrap(reinterpret_cast<std::uint64_t>(t.data()), std::move(lengths), std::move(steps), dtype);
}

// --- new tensors -------------------------------------------------------------------------------------------------------

Array empty_strided(const Array& like, const PerAxis& sizes, const PerAxis& strides, std::int32_t type) {
  TensorObject* handle = nullptr;
  worked(shim().empty_strided(static_cast<std::int64_t>(sizes.size()), sizes.begin(), strides.begin(), type,
                              like.device_type_, like.device_, &handle),
         "torch has no memory for a tensor", sizes);
  Array out(handle);
  out.look();
  return out;
}

Array empty(const Array& like, const PerAxis& sizes) {
  return empty(like, sizes, like.type());
}

Array empty(const Array& like, const PerAxis& sizes, std::int32_t type) {
  return empty_strided(like, sizes, row_major(sizes), type);
}

Array empty_channels_last(const Array& like, const PerAxis& sizes) {
  return empty_channels_last(like, sizes, like.type());
}

Array empty_channels_last(const Array& like, const PerAxis& sizes, std::int32_t type) {
  return empty_strided(like, sizes, sizes.size() == 4 ? strides_by(sizes, kLast4) : strides_by(sizes, kLast5), type);
}

Array zeroed(Array t) {
  const std::int64_t count = t.elements();
  if (count == 0) return t;
  if (!t.on_gpu()) {  // 0.2 us less than by torch's operator
    std::memset(t.data(), 0, static_cast<std::size_t>(count) * size_of(t.dtype()));
    return t;
  }
  worked(shim().zero_(t.handle()), "torch cannot fill a tensor", t.sizes());
  return t;
}

void copy(Array& to, const Array& from) {
  worked(shim().copy_(to.handle(), from.handle(), 0), "torch cannot copy a tensor", from.sizes());
}

const Array& contiguous(const Array& t, Array& kept) {
  if (t.contiguous()) return t;
  kept = empty(t, t.sizes());
  copy(kept, t);
  return kept;
}

}  // namespace nervanagpu::python::torch
