#include "src/tensor/shape.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "nervanagpu/error.hpp"

namespace nervanagpu {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void too_large(const Shape& shape, const char* what) {
  throw InvalidArgument("shape " + text_of(shape) + ": " + what + " more than 2^63 - 1");
}

}  // namespace

std::string text_of(const Shape& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      throw InvalidArgument("shape " + text_of(shape) + ": length " + std::to_string(shape[i]) + " of axis " +
                            std::to_string(i) + " is negative");
    }
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const std::int64_t length : shape) {
    if (__builtin_mul_overflow(count, length, &count)) too_large(shape, "elements are");
  }
  return count;
}

std::size_t byte_count(const Shape& shape, Dtype dtype) {
  if (dtype > Dtype::complex128) {
    throw TypeError("dtype is " + std::to_string(static_cast<int>(dtype)) + "; needs a Dtype");
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(shape), static_cast<std::int64_t>(size_of(dtype)), &bytes)) {
    too_large(shape, "bytes are");
  }
  return static_cast<std::size_t>(bytes);
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    // Shapes with a 0 may have any lengths beside it.
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(shape[i], 1), &stride)) stride = kMax;
  }
  return strides;
}

Extent extent_of(const Shape& shape, const Shape& strides) {
  Extent e;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] <= 1) continue;
    std::int64_t span = 0;
    std::int64_t& end = strides[i] < 0 ? e.low : e.high;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &span) || __builtin_add_overflow(end, span, &end)) {
      too_large(shape, ("with strides " + text_of(strides) + ", offsets are").c_str());
    }
  }
  return e;
}

namespace {

using Axis = std::pair<std::uint64_t, std::int64_t>;  // |stride|, length

Axis axis_of(const Shape& shape, const Shape& strides, std::size_t i) {
  const auto s = static_cast<std::uint64_t>(strides[i]);
  return {strides[i] < 0 ? 0 - s : s, shape[i]};
}

// Each stride is greater than what the axes before it span. `axis`(i): of `count`.
template <class F>
bool ascends(std::size_t count, const F& axis) {
  std::uint64_t span = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [stride, length] = axis(i);
    if (length == 1) continue;
    if (stride <= span) return false;
    span += stride * static_cast<std::uint64_t>(length - 1);
  }
  return true;
}

}  // namespace

bool distinct(const Shape& shape, const Shape& strides) {
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  const std::size_t n = shape.size();
  // Most tensors' last axis is the nearest, and the others follow.
  if (ascends(n, [&](std::size_t i) { return axis_of(shape, strides, n - 1 - i); })) return true;
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < n; ++i) axes.push_back(axis_of(shape, strides, i));
  std::sort(axes.begin(), axes.end());
  return ascends(n, [&](std::size_t i) { return axes[i]; });
}

}  // namespace nervanagpu
