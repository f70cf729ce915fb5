// Strided arrays: making them, views, and what they refuse.
#include "nervanagpu/tensor.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "nervanagpu/error.hpp"
#include "src/device/select_device.h"
#include "src/memory/storage.h"
#include "src/numbers/scalar.h"
#include "src/tensor/shape.h"
#include "src/tensor/strided.h"

namespace nervanagpu {
namespace {

std::string label(const Tensor& t) {
  return t.name().empty() ? "tensor " + text_of(t.shape()) : t.name() + " " + text_of(t.shape());
}

std::size_t axis_of(const Tensor& t, int axis) {
  const int n = t.ndim();
  if (axis < -n || axis >= n) {
    throw InvalidArgument(label(t) + ": axis " + std::to_string(axis) + " is out of range; it has " +
                          std::to_string(n) + (n == 1 ? " axis" : " axes"));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

std::int64_t stride_times(std::int64_t stride, std::int64_t count) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(stride, count, &out)) throw InvalidArgument("a stride leaves 63 bits");
  return out;
}

}  // namespace

Tensor Tensor::empty(Shape shape, Dtype dtype) {
  Tensor t;
  const std::size_t bytes = byte_count(shape, dtype);
  t.strides_ = row_major_strides(shape);
  t.shape_ = std::move(shape);
  t.dtype_ = dtype;
  t.device_ = current_ordinal;
  if (bytes > 0) {
    auto storage = std::make_shared<Storage>(current_device(), bytes);
    t.address_ = storage->address();
    t.storage_ = std::move(storage);
  }
  return t;
}

Tensor Tensor::zeros(Shape shape, Dtype dtype) {
  return full(std::move(shape), 0.0, dtype);
}
Tensor Tensor::ones(Shape shape, Dtype dtype) {
  return full(std::move(shape), 1.0, dtype);
}

Tensor Tensor::full(Shape shape, const Scalar& value, Dtype dtype) {
  static_cast<void>(scalar_bits(value, dtype));  // refuse before anything is allocated
  Tensor t = empty(std::move(shape), dtype);
  t.fill(value);
  return t;
}

Tensor Tensor::wrap(std::uint64_t address, Shape shape, Shape strides, Dtype dtype) {
  if (shape.size() != strides.size()) {
    throw InvalidArgument("strides " + text_of(strides) + ": " + std::to_string(strides.size()) + " of them; shape " +
                          text_of(shape) + " needs " + std::to_string(shape.size()));
  }
  static_cast<void>(byte_count(shape, dtype));
  static_cast<void>(extent_of(shape, strides));
  Tensor t;
  t.address_ = address;
  t.shape_ = std::move(shape);
  t.strides_ = std::move(strides);
  t.dtype_ = dtype;
  t.device_ = current_ordinal;
  if (address == 0 && t.size() > 0)
    throw InvalidArgument("address is 0; needs that of " + std::to_string(t.nbytes()) + " bytes");
  if (address % alignment_of(dtype) != 0) {
    throw InvalidArgument("address " + std::to_string(address) + " is not a multiple of " +
                          std::to_string(alignment_of(dtype)) + ", as dtype " + std::string(name_of(dtype)) + " needs");
  }
  return t;
}

std::int64_t Tensor::size() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t length : shape_) count *= length;
  return count;
}

std::size_t Tensor::nbytes() const noexcept {
  return static_cast<std::size_t>(size()) * size_of(dtype_);
}

bool Tensor::contiguous() const noexcept {
  std::int64_t stride = 1;
  for (std::size_t i = shape_.size(); i-- > 0;) {
    if (shape_[i] == 0) return true;
    if (shape_[i] != 1 && strides_[i] != stride) {
      // A 0 further left still makes it contiguous.
      return std::find(shape_.begin(), shape_.end(), 0) != shape_.end();
    }
    stride *= shape_[i];
  }
  return true;
}

Tensor Tensor::slice(int axis, std::int64_t start, std::int64_t stop, std::int64_t step) const {
  const std::size_t i = axis_of(*this, axis);
  if (step == 0) throw InvalidArgument(label(*this) + ": slice step is 0");
  const std::int64_t length = shape_[i];
  // As Python: from the end if negative, then clipped.
  const auto clip = [&](std::int64_t v, std::int64_t low, std::int64_t high) {
    return std::clamp(v < 0 ? v + length : v, low, high);
  };
  const std::int64_t low = step > 0 ? 0 : -1;
  const std::int64_t high = step > 0 ? length : length - 1;
  const std::int64_t from = clip(start, low, high);
  const std::int64_t to = clip(stop, low, high);
  const std::int64_t way = step > 0 ? to - from : from - to;
  const std::uint64_t size = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  Tensor t = *this;
  t.shape_[i] = way <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(way) - 1) / size) + 1;
  if (t.shape_[i] > 1) t.strides_[i] = stride_times(strides_[i], step);
  if (t.size() > 0) {
    t.address_ += static_cast<std::uint64_t>(strides_[i] * from) * size_of(dtype_);
  }
  return t;
}

Tensor Tensor::select(int axis, std::int64_t index) const {
  const std::size_t i = axis_of(*this, axis);
  const std::int64_t length = shape_[i];
  if (index < -length || index >= length) {
    throw InvalidArgument(label(*this) + ": index " + std::to_string(index) + " is out of range for axis " +
                          std::to_string(i) + " of length " + std::to_string(length));
  }
  Tensor t = *this;
  t.shape_.erase(t.shape_.begin() + static_cast<std::ptrdiff_t>(i));
  t.strides_.erase(t.strides_.begin() + static_cast<std::ptrdiff_t>(i));
  if (t.size() > 0) {
    t.address_ += static_cast<std::uint64_t>(strides_[i] * (index < 0 ? index + length : index)) * size_of(dtype_);
  }
  return t;
}

Tensor Tensor::element(std::int64_t offset) const {
  Tensor t{Later{}};
  t.storage_ = storage_;
  t.address_ = address_ + static_cast<std::uint64_t>(offset) * size_of(dtype_);
  t.dtype_ = dtype_;
  t.device_ = device_;
  return t;
}

Tensor Tensor::insert_axis(int axis) const {
  const int n = ndim() + 1;
  if (axis < -n || axis >= n) {
    throw InvalidArgument(label(*this) + ": a new axis cannot stand at " + std::to_string(axis));
  }
  Tensor t = *this;
  const std::ptrdiff_t at = axis < 0 ? axis + n : axis;
  t.shape_.insert(t.shape_.begin() + at, 1);
  t.strides_.insert(t.strides_.begin() + at, 1);
  return t;
}

Tensor Tensor::transpose() const {
  Tensor t = *this;
  std::reverse(t.shape_.begin(), t.shape_.end());
  std::reverse(t.strides_.begin(), t.strides_.end());
  return t;
}

Tensor Tensor::transpose(const std::vector<int>& axes) const {
  if (axes.size() != shape_.size()) {
    throw InvalidArgument(label(*this) + ": transpose got " + std::to_string(axes.size()) + " axes; needs " +
                          std::to_string(shape_.size()));
  }
  Tensor t = *this;
  std::vector<bool> used(axes.size(), false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t from = axis_of(*this, axes[i]);
    if (used[from]) throw InvalidArgument(label(*this) + ": transpose got axis " + std::to_string(from) + " twice");
    used[from] = true;
    t.shape_[i] = shape_[from];
    t.strides_[i] = strides_[from];
  }
  return t;
}

Tensor Tensor::diagonal() const {
  if (ndim() < 2 || shape_[shape_.size() - 1] != shape_[shape_.size() - 2]) {
    throw InvalidArgument(label(*this) + ": diagonal needs two last axes of one length");
  }
  Tensor t = *this;
  t.shape_.pop_back();
  t.strides_.pop_back();
  t.strides_.back() += strides_.back();
  return t;
}

Tensor Tensor::part(std::size_t k) const {
  Tensor t = *this;
  t.dtype_ = part_of(dtype_);
  for (std::int64_t& s : t.strides_) s = stride_times(s, 2);
  if (t.address_ != 0) t.address_ += k * size_of(t.dtype_);
  return t;
}
Tensor Tensor::real() const {
  return is_complex(dtype_) ? part(0) : *this;
}
Tensor Tensor::imag() const {
  if (!is_complex(dtype_)) {
    throw TypeError(label(*this) + ": imag of " + std::string(name_of(dtype_)) + "; needs complex64 or complex128");
  }
  return part(1);
}

namespace {

// The strides of t's elements, in the same order, as `shape`, which has as many; none if there are no such strides.
std::optional<Shape> strides_as(const Tensor& t, const Shape& shape) {
  if (t.size() == 0) return row_major_strides(shape);
  Shape lengths, steps;  // without axes of length 1, whose strides mean nothing
  for (std::size_t i = 0; i < t.shape().size(); ++i) {
    if (t.shape()[i] == 1) continue;
    lengths.push_back(t.shape()[i]);
    steps.push_back(t.strides()[i]);
  }
  Shape out(shape.size(), 1);
  std::size_t from = 0, to = 0;
  // Runs of axes with as many elements on both sides: inside a run of ours there must be no gap.
  while (from < lengths.size()) {
    std::size_t from_end = from + 1, to_end = to + 1;
    std::int64_t ours = lengths[from], theirs = shape[to];
    while (ours != theirs) {
      if (ours < theirs) {
        if (steps[from_end - 1] != steps[from_end] * lengths[from_end]) return std::nullopt;
        ours *= lengths[from_end++];
      } else {
        theirs *= shape[to_end++];
      }
    }
    std::int64_t step = steps[from_end - 1];
    for (std::size_t i = to_end; i-- > to;) {
      out[i] = step;
      step *= shape[i];
    }
    from = from_end;
    to = to_end;
  }
  return out;
}

}  // namespace

Tensor Tensor::reshape(Shape shape) const {
  const std::string asked = text_of(shape);
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    Shape rest(shape.begin(), open);
    rest.insert(rest.end(), open + 1, shape.end());
    const std::int64_t known = element_count(rest);
    if (known == 0 || size() % known != 0) {
      throw InvalidArgument(label(*this) + ": " + std::to_string(size()) + " elements do not fit into shape " + asked);
    }
    *open = size() / known;
  }
  if (element_count(shape) != size()) {
    throw InvalidArgument(label(*this) + ": " + std::to_string(size()) + " elements do not fit into shape " + asked);
  }
  std::optional<Shape> strides = contiguous() ? row_major_strides(shape) : strides_as(*this, shape);
  if (!strides) {
    throw InvalidArgument(label(*this) + ": reshape needs a contiguous tensor; strides are " + text_of(strides_) +
                          " (copy() it first)");
  }
  Tensor t = *this;
  t.strides_ = *std::move(strides);
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::share(Shape shape, Dtype dtype) const {
  const std::size_t bytes = byte_count(shape, dtype);
  if (!contiguous() || bytes > nbytes()) {
    throw InvalidArgument(label(*this) + ": share of " + text_of(shape) + " " + std::string(name_of(dtype)) +
                          " needs " + std::to_string(bytes) + " bytes without gaps; there are " +
                          std::to_string(nbytes()) + (contiguous() ? "" : ", with gaps"));
  }
  if (address_ % alignment_of(dtype) != 0) {
    throw InvalidArgument(label(*this) + ": share as " + std::string(name_of(dtype)) + " needs an address that is a " +
                          "multiple of " + std::to_string(alignment_of(dtype)) + "; it is " + std::to_string(address_));
  }
  Tensor t = *this;
  t.strides_ = row_major_strides(shape);
  t.shape_ = std::move(shape);
  t.dtype_ = dtype;
  return t;
}

Tensor Tensor::base() const {
  if (storage_ == nullptr || static_cast<const Storage*>(storage_.get())->foreign()) return *this;
  const auto& storage = *static_cast<const Storage*>(storage_.get());
  Tensor t = *this;
  t.address_ = storage.address();
  t.shape_ = {static_cast<std::int64_t>(storage.bytes() / size_of(dtype_))};
  t.strides_ = {1};
  return t;
}

void Tensor::check_dtype(Dtype asked) const {
  if (asked != dtype_) {
    throw TypeError(label(*this) + ": dtype is " + std::string(name_of(dtype_)) + ", not " +
                    std::string(name_of(asked)));
  }
}

bool Tensor::alone() const {
  if (storage_.use_count() != 1) return false;
  auto& storage = *static_cast<Storage*>(storage_.get());
  return storage.idle() && !storage.foreign();
}

void Tensor::used_on(const Stream& stream) const {
  if (storage_ != nullptr) static_cast<Storage*>(storage_.get())->used_on(stream);
}

}  // namespace nervanagpu
