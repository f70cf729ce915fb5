// Programs with reductions along rows: one kernel, which reads each row once and keeps it in registers if it fits there.
#pragma once

#include <algorithm>

#include "src/fuse/kernels/layout.h"
#include "src/fuse/program.h"

namespace nervanagpu::fuse {

// How a program with reductions (row_program_of) lies in memory.
struct Walk {
  explicit Walk(const Program& p);

  const Program& program;
  Layout layout;  // no axes: a row is no walk with one step
  std::vector<Dtype> dtypes;
  std::vector<std::uint64_t> address;  // of each tensor's, then each result's first element

  [[nodiscard]] bool possible() const { return !layout.axes.empty(); }
  [[nodiscard]] std::int64_t length() const { return layout.axes.back().length; }  // of a row
  [[nodiscard]] std::int64_t rows() const { return layout.size() / std::max<std::int64_t>(1, length()); }
  // Into how many pieces rows are to be cut, that all of the chip works on them.
  [[nodiscard]] std::int64_t pieces() const;
  // Columns that need more than one pass and are too long to be held: better one reduction after the other.
  [[nodiscard]] bool reads_again() const;
  void run() const;
  // Rows of `count` pieces of `chunk` elements, the first of them number `first`; the last may be shorter if it is alone.
  // Results of piece i lie i * step elements further on.
  [[nodiscard]] Walk chunks(std::int64_t first, std::int64_t count, std::int64_t chunk, std::int64_t step) const;
};

}  // namespace nervanagpu::fuse
