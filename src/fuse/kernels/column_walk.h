// Rows that lie across memory, as kernels walk them: items are neighbours of the innermost axis that is not reduced, `lanes`
// elements each; the walk goes from one to the next along the reduced axis.
#pragma once

#include <string>
#include <vector>

#include "src/fuse/kernel.h"
#include "src/fuse/kernels/layout.h"
#include "src/fuse/kernels/values.h"

namespace nervanagpu::fuse {

// Whether the rows of `p` over `layout` (row_layout) lie so, and all operands allow it.
bool is_across(const Program& p, const Layout& layout);
// Whether tensor k has one element for each row.
bool is_row_leaf(const Program& p, std::size_t k);

struct ColumnWalk {
  unsigned lanes = 1;
  std::size_t rank = 1;        // axes of rows
  std::vector<Access> access;  // along the innermost axis of rows
};
ColumnWalk column_walk(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                       const std::vector<std::uint64_t>& address);
void append_key(std::string& key, const ColumnWalk& f, const std::vector<Dtype>& dtypes);
// The values of the parameters that declare_columns() declares, and of the numbers after them.
Parameters column_parameters(const Program& p, const Layout& layout, const ColumnWalk& f,
                             const std::vector<Dtype>& dtypes, const std::vector<std::uint64_t>& address);

struct ColumnInputs {
  Arg count, length;  // items; steps of the walk
  std::vector<Division> division;
  std::vector<std::vector<Arg>> strides;  // of each operand from item to item, innermost axis first
  std::vector<Arg> walk;                  // and from step to step, in bytes
  std::vector<Operand> operands;
};
ColumnInputs declare_columns(Builder& b, const Program& p, const ColumnWalk& f);
// Of item i in each operand, at the first step; nothing for those that are the same for all.
std::vector<VReg> column_addresses(Builder& b, const ColumnInputs& in, VReg i);

}  // namespace nervanagpu::fuse
