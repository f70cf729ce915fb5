// Calls and returns of sm_70 and later, where code keeps return addresses in registers and on the stack: each function is
// followed from its entry, and a return goes where its register says, in each caller.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sass/verify/code.h"

namespace nervanagpu::sass::verify_detail {

// What calls and computed branches look like to the one who follows them (cfg.cpp).
struct Branches {
  std::vector<std::vector<std::uint32_t>> next;  // of each step: all ways but those of calls and returns
  std::vector<std::uint32_t> target;             // of each step: its label, or kNowhere
  std::vector<std::uint32_t> landings;           // labels of branches, and what follows those that never go on
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
};

struct CallEdges {
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;  // from CALL and RET
  std::set<std::uint32_t> leaving;                          // calls that may go to a function outside of the cubin
  std::vector<Problem> unproven;
};

// Assumed: a function outside of the cubin returns where R20 says, or after its call, keeps what compilers keep across
// calls, and has awaited what it started. A computed branch stays within its function. A store to a computed place of local memory
// leaves spilled addresses alone. A call through a register whose value is not known goes to a function whose address the
// cubin takes, or outside; where it takes none, to any label.
CallEdges follow_calls(const Code& code, const Branches& branches);

}  // namespace nervanagpu::sass::verify_detail
