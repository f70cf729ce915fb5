// What the loader wants to know about a kernel's code, found in the encoded words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sass/isa/arch.h"
#include "sass/isa/word.h"

namespace nervanagpu::sass {

struct CodeFacts {
  std::vector<std::uint32_t> exits;   // byte addresses of EXIT
  std::vector<std::uint32_t> ctaids;  // byte addresses of S2R SR_CTAID.{X,Y,Z}
  bool ctaid_z = false;
  std::uint32_t crs_bytes = 0;  // call-return stack, sm_50 .. sm_62
};

// Words that do not decode count as instructions of no interest.
CodeFacts find_code_facts(Arch arch, std::span<const Word> code);

}  // namespace nervanagpu::sass
