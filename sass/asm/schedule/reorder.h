// List scheduling of the lines inside .schedule blocks. Only the order changes, and only where no result can.
#pragma once

#include <cstdint>
#include <vector>

#include "sass/asm/program.h"
#include "sass/asm/schedule/flow.h"
#include "sass/isa/access.h"
#include "sass/isa/op_facts.h"

namespace nervanagpu::sass {

// Lines [first, last) that may change places: marked, of one basic block, without a fence among them.
struct Region {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// It keeps its place, and nothing moves across it: pinned lines, branches, barriers, fences, clocks, whatever has an
// effect that registers and memory do not show.
bool is_fence(const Line& line);

// What an instruction does to memory as far as order goes: what it only reads may pass other reads; stores, atomics and
// loads that other threads' stores are ordered with, which count as writes, pass nothing.
MemoryUse memory_use(const Inst& inst);

std::vector<Region> regions_of(const Program& program, const Flow& flow);

// b must not issue sooner than `cycles` after a.
struct Dependence {
  std::uint32_t from = 0;  // offsets in the region
  std::uint32_t to = 0;
  int cycles = 1;
};
std::vector<Dependence> dependences(const Program& program, const std::vector<Accesses>& touched, const Region& region);

enum class Goal : std::uint8_t {
  kDrain,  // results that leave the region are wanted soon: loads go first
  kIssue,  // only what the region itself waits for counts
};
// The new order of a region: offsets from region.first. Every dependence holds in it.
std::vector<std::uint32_t> list_schedule(const Program& program, const std::vector<Accesses>& touched,
                                         const Region& region, Goal goal);

}  // namespace nervanagpu::sass
