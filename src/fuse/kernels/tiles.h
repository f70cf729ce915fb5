// Programs with reductions across rows that need what they read again: the CTAs of a cluster hold a tile of columns in
// registers, so that memory is read once.
#pragma once

#include <optional>

#include "src/fuse/kernels/column_walk.h"

namespace nervanagpu::fuse {

struct TilePlan {
  ColumnWalk walk;
  unsigned threads = 256;
  unsigned across = 8;   // threads of a tile side by side
  unsigned held = 1;     // items of a thread
  unsigned cluster = 1;  // CTAs of a tile, one after the other along the walk
  bool exact = false;    // every thread has exactly `held` items
  bool whole = false;    // there are as many items as threads across all tiles
  bool keep = true;      // functions of held items that several passes need stay in registers, too
};

// Nothing where the columns are too long to be held, or operands do not lie side by side.
std::optional<TilePlan> tile_plan(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                                  const std::vector<std::uint64_t>& address);
sass::Result<sass::KernelImage> make_tiles(const Program& p, const TilePlan& f, sass::Arch arch);
// False: its registers do not suffice.
bool run_tiles(const Program& p, const Layout& layout, TilePlan f, const std::vector<Dtype>& dtypes,
               const std::vector<std::uint64_t>& address);

}  // namespace nervanagpu::fuse
