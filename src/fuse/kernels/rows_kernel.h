// The kernel of a program with reductions along rows (rows.h): how it is planned, and its instructions.
#pragma once

#include <vector>

#include "src/fuse/kernels/values.h"
#include "src/fuse/program.h"

namespace nervanagpu::fuse {

struct RowPlan {
  unsigned threads = 256;
  unsigned group = 256;  // threads of a row: 32 or all
  unsigned lanes = 1;
  unsigned held = 0;           // items of a thread in registers
  bool exact = false;          // every thread has exactly `held` items
  bool ahead = false;          // a CTA takes one row, and asks for one that another will take
  bool keep = true;            // functions of held items that several passes need stay in registers, too
  std::size_t rank = 1;        // axes of rows
  std::vector<Access> access;  // splat: one element a row
};

sass::Result<sass::KernelImage> make_rows(const Program& p, const RowPlan& plan, sass::Arch arch);

}  // namespace nervanagpu::fuse
