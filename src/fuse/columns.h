// Reductions across rows: a thread takes items that stand side by side and walks along the reduced axis, so that the
// threads of a warp read whole lines.
#pragma once

#include "src/fuse/layout.h"
#include "src/fuse/program.h"

namespace nervanagpu::fuse {

// Whether `p` over `layout` (row_layout) is one: results of rows only, one pass, neighbours side by side.
bool is_columns(const Program& p, const Layout& layout);
// Threads that it would run.
std::int64_t column_threads(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                            const std::vector<std::uint64_t>& address);
void run_columns(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                 const std::vector<std::uint64_t>& address);

}  // namespace nervanagpu::fuse
