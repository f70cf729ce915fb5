// The decoded kernel that verify works on, and where control may go from each instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sass/cubin.h"
#include "sass/isa/access.h"
#include "sass/isa/inst.h"

namespace nervanagpu::sass::verify_detail {

struct Step {
  Inst inst;  // row is nullptr where the word has no row
  bool known = false;
  bool never = false;               // @!PT: it issues and waits, and does nothing
  bool leaves = false;              // it may call a function that is not in the cubin
  Accesses touched;                 // empty unless known and not never
  std::vector<std::uint32_t> next;  // instructions that may follow
};

struct Problem {
  std::uint32_t at = 0;
  std::string text;
};

struct Code {
  Arch arch{};
  const KernelImage* kernel = nullptr;
  const ModuleData* data = nullptr;  // what the cubin's kernels share; nullptr: not known
  std::vector<Problem> unproven;     // where control goes on to a place that is not known
  std::vector<Step> steps;

  [[nodiscard]] std::uint64_t address(std::uint32_t i) const { return address_of(info(arch).encoding, i); }
  // "FFMA at 0x0120 (sgemm.sass:41)".
  [[nodiscard]] std::string name(std::uint32_t i) const;
};

// Decodes; undecodable words become steps with only their control code, and a message in `problems`.
Code read_code(Arch arch, const KernelImage& kernel, const ModuleData* data, std::vector<Problem>& problems);

// Fills Step::next and Step::leaves: every way control can go (cfg.cpp).
void connect(Code& code);

}  // namespace nervanagpu::sass::verify_detail
