#include "src/tensor/strided.h"

#include <cstring>

namespace nervanagpu {
namespace {

// Calls row(packed offset, view offset, count, view step) for runs along the last axis; offsets and step in elements.
template <class F>
void for_rows(const Shape& shape, const Shape& strides, const F& row) {
  for (const std::int64_t length : shape) {
    if (length == 0) return;
  }
  if (shape.empty()) {
    row(0, 0, 1, 1);
    return;
  }
  const std::size_t last = shape.size() - 1;
  Shape index(shape.size(), 0);
  std::int64_t packed = 0;
  std::int64_t view = 0;
  while (true) {
    row(packed, view, shape[last], strides[last]);
    packed += shape[last];
    std::size_t axis = last;
    while (axis-- > 0) {
      view += strides[axis];
      if (++index[axis] < shape[axis]) break;
      view -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return;
  }
}

// One element; a width that the compiler knows becomes one move.
template <std::size_t kWidth>
void copy_run(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step, std::int64_t count) {
  constexpr auto kBytes = static_cast<std::int64_t>(kWidth);
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_step * kBytes, from + i * from_step * kBytes, kWidth);
}

void copy_elements(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                   std::int64_t count, std::size_t width) {
  if (to_step == 1 && from_step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * width);
    return;
  }
  switch (width) {
    case 1: copy_run<1>(to, to_step, from, from_step, count); break;
    case 2: copy_run<2>(to, to_step, from, from_step, count); break;
    case 4: copy_run<4>(to, to_step, from, from_step, count); break;
    case 8: copy_run<8>(to, to_step, from, from_step, count); break;
    default: copy_run<16>(to, to_step, from, from_step, count); break;
  }
}

}  // namespace

void gather(std::byte* packed, const std::byte* view, const Shape& shape, const Shape& strides, std::size_t width) {
  const auto w = static_cast<std::int64_t>(width);
  for_rows(shape, strides, [&](std::int64_t p, std::int64_t v, std::int64_t count, std::int64_t step) {
    copy_elements(packed + p * w, 1, view + v * w, step, count, width);
  });
}

void scatter(std::byte* view, const std::byte* packed, const Shape& shape, const Shape& strides, std::size_t width) {
  const auto w = static_cast<std::int64_t>(width);
  for_rows(shape, strides, [&](std::int64_t p, std::int64_t v, std::int64_t count, std::int64_t step) {
    copy_elements(view + v * w, step, packed + p * w, 1, count, width);
  });
}

}  // namespace nervanagpu
