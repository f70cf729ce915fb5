// torch's tensors: what an operator is given and gives back, and their memory as the library's tensors.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "nervanagpu/nervanagpu.hpp"
#include "python/torch_ops/shim.h"

namespace nervanagpu::python::torch {

// Owns a handle of a tensor. What it says of the tensor is there after look().
class Array {
 public:
  Array() = default;
  explicit Array(TensorObject* handle) noexcept : handle_(handle) {}
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array();

  void look();
  [[nodiscard]] TensorObject* handle() const noexcept { return handle_; }
  [[nodiscard]] TensorObject* release() noexcept { return std::exchange(handle_, nullptr); }

  [[nodiscard]] std::int64_t axes() const noexcept { return axes_; }
  [[nodiscard]] std::int64_t size(std::int64_t axis) const noexcept { return sizes_[axis]; }
  [[nodiscard]] std::int64_t stride(std::int64_t axis) const noexcept { return strides_[axis]; }
  [[nodiscard]] Shape sizes() const { return {sizes_, sizes_ + axes_}; }
  [[nodiscard]] Shape strides() const { return {strides_, strides_ + axes_}; }
  [[nodiscard]] std::int64_t elements() const noexcept;
  [[nodiscard]] std::int32_t type() const noexcept { return dtype_; }  // torch's number
  [[nodiscard]] bool on_gpu() const noexcept { return device_type_ == shim().cuda; }
  [[nodiscard]] std::int32_t device() const noexcept { return device_; }  // its index, among those of its type
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] Dtype dtype() const;  // of a float that check_operands() has let pass

  [[nodiscard]] bool contiguous() const noexcept;
  // Of 4 or 5 axes (N, C, ...): whether torch makes results channels last because of it, which may have gaps; and whether it
  // lies so, without gaps.
  [[nodiscard]] bool channels_last() const noexcept;
  [[nodiscard]] bool lies_channels_last() const noexcept;

 private:
  friend Array empty_strided(const Array& like, const Shape& sizes, const Shape& strides, std::int32_t type);
  TensorObject* handle_ = nullptr;
  std::int64_t axes_ = 0;
  const std::int64_t *sizes_ = nullptr, *strides_ = nullptr;  // torch's, while the tensor lives
  std::int32_t dtype_ = 0, device_type_ = 0, device_ = 0;
  void* data_ = nullptr;
};

// How torch writes it: "(3, 4)", "(3,)".
std::string shown(const Shape& shape);

// Throws what torch shall say, a std::runtime_error.
[[noreturn]] void refuse(const std::string& why);

// What an operator is given, checked: floats of one dtype on one device of ours. It is the current device for as long as this lives,
// and its stream is torch's current one.
class Call {
 public:
  explicit Call(std::span<const Array* const> operands);  // null: one that is not there
  explicit Call(std::initializer_list<const Array*> operands) : Call(std::span(operands.begin(), operands.size())) {}
  [[nodiscard]] const Stream& stream() const noexcept { return stream_; }

  // The memory of `t`, as it lies or with other sizes and strides (in elements) from its first element.
  [[nodiscard]] static Tensor ours(const Array& t) { return ours(t, t.sizes(), t.strides()); }
  [[nodiscard]] static Tensor ours(const Array& t, Shape sizes, Shape strides) {
    return ours(t, std::move(sizes), std::move(strides), t.dtype());
  }
  [[nodiscard]] static Tensor ours(const Array& t, Shape sizes, Shape strides, Dtype dtype);

 private:
  [[nodiscard]] static int place_of(std::span<const Array* const> operands);
  OnDevice there_;
  Stream stream_;
};

// New tensors beside `like`, of its dtype unless another is asked for.
Array empty(const Array& like, const Shape& sizes);
Array empty(const Array& like, const Shape& sizes, std::int32_t type);
Array empty_channels_last(const Array& like, const Shape& sizes);
Array empty_channels_last(const Array& like, const Shape& sizes, std::int32_t type);
Array zeroed(Array t);                    // `t`, floats without gaps, all of them 0
void copy(Array& to, const Array& from);  // broadcasts
// `t` itself if it is contiguous, or else a copy, in `kept`.
const Array& contiguous(const Array& t, Array& kept);

// torch's name of a dtype's number.
std::string dtype_name(std::int32_t type);

}  // namespace nervanagpu::python::torch
