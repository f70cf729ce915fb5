// What a scheduled kernel costs by the machine model: registers, occupancy, bank conflicts, and for each loop its issue
// slots, its cycles and what they are lost to. `ngasm as --report` prints it; docs/control-codes.md says how far it is off.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sass/asm/program.h"
#include "sass/asm/schedule/timing.h"
#include "sass/isa/occupancy.h"

namespace nervanagpu::sass {

struct LoopReport {
  Span first, last;                         // the lines of the template that it begins and ends with
  std::uint32_t depth = 1;                  // 1: no loop around it
  std::uint32_t instructions = 0;           // of one pass straight through
  std::uint32_t bytes = 0;                  // of its text
  std::uint32_t held = 0;                   // that an SM holds without fetching them again; 0: not known
  std::uint32_t bank_run = 0;               // most instructions of the FMA pipe in a row that write one register bank
  std::array<std::uint32_t, kPipes> slots;  // of them, by pipe
  std::array<std::uint32_t, kPipes> busy;   // cycles that each pipe of a scheduler is busy with one warp's pass
  // Cycles of a pass of one warp alone, and what they are lost to beyond one an instruction.
  double alone = 0;
  double stall = 0, scoreboard = 0, pipe = 0, banks = 0;
  // With all warps that an SM holds: the larger of `alone` and the bound, for all warps of a scheduler together.
  std::uint32_t warps = 0;  // of a scheduler
  double bound = 0;         // issue slots, register ports or the busiest pipe, times warps
  std::string bound_by;     // "issue", "FMA", "LSU", "latency"
  double predicted = 0;
};

struct BankConflict {
  Span at;
  std::string text;
  int cycles = 0;  // beyond one
};

struct KernelReport {
  std::string name;
  Arch arch = Arch::sm_90a;
  std::uint32_t instructions = 0;
  std::uint32_t registers = 0;  // as declared
  std::uint32_t uniform = 0, predicates = 0, uniform_predicates = 0;
  std::uint32_t shared = 0, threads = 0;
  Occupancy occupancy;
  std::vector<BankConflict> conflicts;
  std::vector<LoopReport> loops;  // in the order of their first lines
};

// `program` after schedule().
KernelReport report_of(const Program& program);
std::string table_of(const KernelReport& report);
std::string json_of(const KernelReport& report);  // one object

}  // namespace nervanagpu::sass
