// torch's tensors: what an operator is given and gives back, and their memory as the library's tensors.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nervanagpu/nervanagpu.hpp"
#include "python/torch_ops/shim.h"

namespace nervanagpu::python::torch {

// A number for each axis: sizes, or strides. As many as a tensor of convolution has take no memory of their own.
class PerAxis {
 public:
  PerAxis() = default;
  explicit PerAxis(std::size_t axes, std::int64_t value = 0);
  PerAxis(const std::int64_t* begin, const std::int64_t* end);
  PerAxis(std::initializer_list<std::int64_t> numbers) : PerAxis(numbers.begin(), numbers.end()) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::int64_t* begin() noexcept { return many_.empty() ? few_.data() : many_.data(); }
  [[nodiscard]] std::int64_t* end() noexcept { return begin() + count_; }
  [[nodiscard]] const std::int64_t* begin() const noexcept { return many_.empty() ? few_.data() : many_.data(); }
  [[nodiscard]] const std::int64_t* end() const noexcept { return begin() + count_; }
  std::int64_t& operator[](std::size_t axis) noexcept { return begin()[axis]; }
  std::int64_t operator[](std::size_t axis) const noexcept { return begin()[axis]; }
  friend bool operator==(const PerAxis& a, const PerAxis& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::size_t count_ = 0;
  std::array<std::int64_t, 5> few_{};
  std::vector<std::int64_t> many_;  // all of them, if they are more
};

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
  [[nodiscard]] PerAxis sizes() const { return {sizes_, sizes_ + axes_}; }
  [[nodiscard]] PerAxis strides() const { return {strides_, strides_ + axes_}; }
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
  friend Array empty_strided(const Array& like, const PerAxis& sizes, const PerAxis& strides, std::int32_t type);
  TensorObject* handle_ = nullptr;
  std::int64_t axes_ = 0;
  const std::int64_t *sizes_ = nullptr, *strides_ = nullptr;  // torch's, while the tensor lives
  std::int32_t dtype_ = 0, device_type_ = 0, device_ = 0;
  void* data_ = nullptr;
};

// How torch writes it: "(3, 4)", "(3,)".
std::string shown(const PerAxis& shape);

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
  [[nodiscard]] static Tensor ours(const Array& t, const PerAxis& sizes, const PerAxis& strides) {
    return ours(t, sizes, strides, t.dtype());
  }
  [[nodiscard]] static Tensor ours(const Array& t, const PerAxis& sizes, const PerAxis& strides, Dtype dtype);

 private:
  [[nodiscard]] static int place_of(std::span<const Array* const> operands);
  OnDevice there_;
  Stream stream_;
};

// New tensors beside `like`, of its dtype unless another is asked for.
Array empty(const Array& like, const PerAxis& sizes);
Array empty(const Array& like, const PerAxis& sizes, std::int32_t type);
Array empty_channels_last(const Array& like, const PerAxis& sizes);
Array empty_channels_last(const Array& like, const PerAxis& sizes, std::int32_t type);
Array zeroed(Array t);                    // `t`, floats without gaps, all of them 0
void copy(Array& to, const Array& from);  // broadcasts
// `t` itself if it is contiguous, or else a copy, in `kept`.
const Array& contiguous(const Array& t, Array& kept);

// torch's name of a dtype's number.
std::string dtype_name(std::int32_t type);

}  // namespace nervanagpu::python::torch
