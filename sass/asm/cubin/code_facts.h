// What the loader wants to know about a kernel's code, found in the encoded words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sass/isa/arch.h"
#include "sass/isa/word.h"

namespace nervanagpu::sass {

// An instruction that works on an mbarrier, as tools that patch the code are told (compute-sanitizer's synccheck takes every
// mbarrier for one that nobody has made, unless it is told who makes it).
struct MbarrierUse {
  enum class Kind : std::uint8_t {
    kInit = 0,
    kArrive = 1,
    kArriveNoComplete = 2,
    kDrop = 3,
    kDropNoComplete = 4,
    kTestParity = 6,  // 5, 9: the same by a state, which the instruction does not tell from a parity
    kCopies = 7,
    kInvalidate = 8,
    kTryParity = 10,
    kExpect = 11,
    kComplete = 12
  };
  std::uint32_t address = 0;  // of the instruction, bytes
  Kind kind = Kind::kInit;
  std::uint8_t reg = 0xff, ureg = 0x3f;  // of its operand; these are RZ and URZ
  std::uint32_t offset = 0;
  friend bool operator==(const MbarrierUse&, const MbarrierUse&) = default;
};

struct CodeFacts {
  std::vector<std::uint32_t> exits;   // byte addresses of EXIT
  std::vector<std::uint32_t> ctaids;  // byte addresses of S2R SR_CTAID.{X,Y,Z}
  bool ctaid_z = false;
  std::vector<MbarrierUse> mbarriers;  // sm_90a; not arrivals that expect bytes, which ptxas does not name either
  std::uint32_t crs_bytes = 0;         // call-return stack, sm_50 .. sm_62
};

// Words that do not decode count as instructions of no interest.
CodeFacts find_code_facts(Arch arch, std::span<const Word> code);

}  // namespace nervanagpu::sass
