#include "src/tensor/shares_memory.h"

#include <cstdlib>

#include "src/tensor/shape.h"

namespace nervanagpu {
namespace {

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

Range range_of(const Tensor& t) {
  const Extent e = extent_of(t.shape(), t.strides());
  const std::uint64_t width = size_of(t.dtype());  // unsigned: offsets that no memory has may go round
  return {t.address() + static_cast<std::uint64_t>(e.low) * width,
          t.address() + (static_cast<std::uint64_t>(e.high) + 1) * width};
}

// Rows of `row` elements, `pitch` elements apart; false if `t` is not of that form. Axes in front of a matrix go on with it.
bool rows_of(const Tensor& t, std::int64_t& row, std::int64_t& pitch) {
  if (t.ndim() > 2) {
    const auto last = static_cast<std::size_t>(t.ndim() - 1);
    row = t.shape()[last];
    pitch = t.strides()[last - 1];
    for (std::size_t axis = 0; axis + 1 < last; ++axis) {
      if (t.strides()[axis] != t.strides()[axis + 1] * t.shape()[axis + 1]) return false;
    }
    return t.strides()[last] == 1 && pitch >= row;
  }
  if (t.ndim() != 2) return false;
  for (int unit = 0; unit < 2; ++unit) {
    const auto u = static_cast<std::size_t>(unit);
    if (t.strides()[u] == 1 && t.strides()[1 - u] >= t.shape()[u]) {
      row = t.shape()[u];
      pitch = t.strides()[1 - u];
      return true;
    }
  }
  return false;
}

}  // namespace

bool shares_memory(const Tensor& a, const Tensor& b) {
  if (a.size() == 0 || b.size() == 0) return false;
  const Range ra = range_of(a);
  const Range rb = range_of(b);
  if (ra.end <= rb.begin || rb.end <= ra.begin) return false;
  std::int64_t row_a = 0;
  std::int64_t row_b = 0;
  std::int64_t pitch = 0;
  std::int64_t pitch_b = 0;
  if (a.dtype() != b.dtype() || !rows_of(a, row_a, pitch) || !rows_of(b, row_b, pitch_b) || pitch != pitch_b)
    return true;
  // Columns of the common grid of rows: a's are [0, row_a), b's begin where its address says.
  const auto width = static_cast<std::int64_t>(size_of(a.dtype()));
  const auto bytes = static_cast<std::int64_t>(b.address() - a.address());
  if (bytes % width != 0) return true;
  const std::int64_t column = ((bytes / width) % pitch + pitch) % pitch;
  return column < row_a || column + row_b > pitch;
}

}  // namespace nervanagpu
