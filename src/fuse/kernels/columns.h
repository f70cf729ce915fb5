// Reductions across rows: a thread takes items that stand side by side and walks along the reduced axis, so that the
// threads of a warp read whole lines.
#pragma once

#include "src/fuse/kernels/layout.h"
#include "src/fuse/program.h"

namespace nervanagpu::fuse {

// Whether `p` over `layout` (row_layout) is one: results of rows only, one pass, neighbours side by side.
bool is_columns(const Program& p, const Layout& layout);
// Into how many pieces the walk is to be cut, that all of so many multiprocessors work on it.
std::int64_t column_pieces(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                           const std::vector<std::uint64_t>& address, std::int64_t multiprocessors);
void run_columns(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                 const std::vector<std::uint64_t>& address);

}  // namespace nervanagpu::fuse
