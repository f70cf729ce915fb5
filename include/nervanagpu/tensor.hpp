// A strided array in device memory. Copies of a Tensor are handles of the same memory, as are views (slice, transpose,
// reshape); the memory is freed with its last handle.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nervanagpu/dtype.hpp"
#include "nervanagpu/export.hpp"
#include "nervanagpu/scalar.hpp"
#include "nervanagpu/stream.hpp"

namespace nervanagpu {

using Shape = std::vector<std::int64_t>;

// Dtype of a C++ element type.
template <class T>
struct DtypeOf;
template <>
struct DtypeOf<float> {
  static constexpr Dtype value = Dtype::float32;
};
template <>
struct DtypeOf<double> {
  static constexpr Dtype value = Dtype::float64;
};
template <>
struct DtypeOf<std::int8_t> {
  static constexpr Dtype value = Dtype::int8;
};
template <>
struct DtypeOf<std::int16_t> {
  static constexpr Dtype value = Dtype::int16;
};
template <>
struct DtypeOf<std::int32_t> {
  static constexpr Dtype value = Dtype::int32;
};
template <>
struct DtypeOf<std::int64_t> {
  static constexpr Dtype value = Dtype::int64;
};
template <>
struct DtypeOf<std::uint8_t> {
  static constexpr Dtype value = Dtype::uint8;
};
template <>
struct DtypeOf<std::uint16_t> {
  static constexpr Dtype value = Dtype::uint16;
};
template <>
struct DtypeOf<std::uint32_t> {
  static constexpr Dtype value = Dtype::uint32;
};
template <>
struct DtypeOf<std::uint64_t> {
  static constexpr Dtype value = Dtype::uint64;
};
template <>
struct DtypeOf<std::complex<float>> {
  static constexpr Dtype value = Dtype::complex64;
};
template <>
struct DtypeOf<std::complex<double>> {
  static constexpr Dtype value = Dtype::complex128;
};

class NG_API Tensor {
 public:
  Tensor() = default;  // no elements: shape (0,), float32
  // For the library's own parts: to be assigned before it is used. It takes no memory for its shape.
  struct Later {};
  explicit Tensor(Later /*unused*/) noexcept : shape_(), strides_() {}

  // Row-major; the contents of `empty` are undefined.
  static Tensor empty(Shape shape, Dtype dtype = Dtype::float32);
  static Tensor zeros(Shape shape, Dtype dtype = Dtype::float32);
  static Tensor ones(Shape shape, Dtype dtype = Dtype::float32);
  static Tensor full(Shape shape, const Scalar& value, Dtype dtype = Dtype::float32);
  // A copy of row-major host data.
  template <class T>
  static Tensor from_host(std::span<const T> data, const Shape& shape) {
    Tensor t = empty(shape, DtypeOf<T>::value);
    t.set(data.data(), data.size_bytes());
    return t;
  }
  // Device memory of the caller's, who keeps it alive: the current device's. Strides in elements.
  static Tensor wrap(std::uint64_t address, Shape shape, Shape strides, Dtype dtype);
  // The same, but `give_back` is called once: with the last handle, on whatever thread, after the work in the streams that
  // used_on() told of; also if this throws. `read_only`: what would write there is refused. Statements in place are done at
  // once, as the owner looks at the memory, too.
  static Tensor adopt(std::uint64_t address, Shape shape, Shape strides, Dtype dtype, std::function<void()> give_back,
                      bool read_only = false);
  // Host memory, which the emulator works in. InvalidArgument on a GPU.
  static Tensor adopt_host(void* memory, Shape shape, Shape strides, Dtype dtype, std::function<void()> give_back,
                           bool read_only = false);

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const Shape& strides() const noexcept { return strides_; }  // in elements; may be negative
  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  [[nodiscard]] int device() const noexcept { return device_; }  // its ordinal; -1: of no device, without elements
  [[nodiscard]] int ndim() const noexcept { return static_cast<int>(shape_.size()); }
  [[nodiscard]] std::int64_t size() const noexcept;                          // elements
  [[nodiscard]] std::size_t nbytes() const noexcept;                         // size() * size_of(dtype())
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }  // of element (0, 0, ...); 0: no memory
  [[nodiscard]] bool contiguous() const noexcept;                            // row-major without gaps
  [[nodiscard]] const std::string& name() const noexcept { return name_; }   // for messages; may be empty
  void set_name(std::string name) { name_ = std::move(name); }
  // How the factory of the 2015 library rounds results that it writes here: 0 to nearest, else stochastically to so many
  // mantissa bits. Nothing else looks at it.
  [[nodiscard]] int rounding() const noexcept { return rounding_; }
  void set_rounding(int bits) { rounding_ = bits; }

  // Views. An axis counts from 0, or from the end if negative.
  [[nodiscard]] Tensor slice(int axis, std::int64_t start, std::int64_t stop, std::int64_t step = 1) const;
  [[nodiscard]] Tensor select(int axis, std::int64_t index) const;  // the axis goes; index may count from the end
  [[nodiscard]] Tensor element(std::int64_t offset) const;          // without axes, so far after the first; unchecked
  [[nodiscard]] Tensor insert_axis(int axis) const;                 // of length 1
  [[nodiscard]] Tensor transpose() const;                           // axes reversed
  [[nodiscard]] Tensor transpose(const std::vector<int>& axes) const;
  [[nodiscard]] Tensor diagonal() const;  // of the last two axes, which have one length; it is the last axis
  // The parts of complex elements; imag() of a real tensor is a TypeError, real() the tensor.
  [[nodiscard]] Tensor real() const;
  [[nodiscard]] Tensor imag() const;
  // One length may be -1. InvalidArgument where the elements have no strides as that shape; a contiguous tensor's have.
  [[nodiscard]] Tensor reshape(Shape shape) const;
  // The first elements' memory with another shape and dtype, of a contiguous tensor with as many bytes or more.
  [[nodiscard]] Tensor share(Shape shape, Dtype dtype) const;
  // All of the memory that this is a view of, in one row; of wrapped memory, and where there is none, this tensor.
  [[nodiscard]] Tensor base() const;

  [[nodiscard]] bool read_only() const noexcept;
  // Where the host sees element (0, 0, ...): on the emulator. nullptr: it does not, or there is no element.
  [[nodiscard]] void* host() const;
  // Others look at this memory from now on: statements in place are done at once.
  void expose() const;
  [[nodiscard]] bool exposed() const noexcept;

  // Whether it has memory of the library's that no other tensor has, and no stream but the default one uses.
  [[nodiscard]] bool alone() const;

  // Row-major host copies, whatever the strides. `bytes` must be nbytes(). They wait for work queued before.
  void get(void* host, std::size_t bytes) const;
  void set(const void* host, std::size_t bytes);
  template <class T>
  [[nodiscard]] std::vector<T> to_host() const {
    check_dtype(DtypeOf<T>::value);
    std::vector<T> out(static_cast<std::size_t>(size()));
    get(out.data(), out.size() * sizeof(T));
    return out;
  }
  // Every element becomes `value`: floats are rounded to nearest, for integers a fraction is cut off. OutOfRange if an
  // integer dtype cannot hold it, InvalidArgument for NaN there.
  void fill(const Scalar& value);
  // The elements of `source`: same shape and dtype, any strides, any device.
  void copy_from(const Tensor& source);
  [[nodiscard]] Tensor copy() const;  // contiguous, in memory of its own on the same device
  // The same elements on another device: itself if it lies there, else a contiguous copy. The default streams of both
  // devices wait for it.
  [[nodiscard]] Tensor to(int device) const;

  // Tells the allocator that work queued in `stream` uses this memory: it is not handed out again before that is done.
  void used_on(const Stream& stream) const;

 private:
  void check_dtype(Dtype asked) const;
  [[nodiscard]] Tensor part(std::size_t k) const;

  std::shared_ptr<void> storage_;
  std::uint64_t address_ = 0;
  Shape shape_{0};
  Shape strides_{1};
  Dtype dtype_ = Dtype::float32;
  int device_ = -1;
  std::string name_;
  int rounding_ = 0;
};

}  // namespace nervanagpu
