#include "sass/relocate.h"

namespace nervanagpu::sass {

void relocate(Arch arch, Word& word, CodeRelocation::Field field, std::uint64_t address) {
  constexpr unsigned kImmediate = 32, kFar = 34, kFarBits = 47, kNear = 16, kNearBits = 8;
  switch (field) {
    case CodeRelocation::Field::kLow: word = set_bits(word, kImmediate, 32, address & 0xffffffff); return;
    case CodeRelocation::Field::kHigh: word = set_bits(word, kImmediate, 32, address >> 32); return;
    case CodeRelocation::Field::kCall: break;
    case CodeRelocation::Field::kOther: return;
  }
  std::uint64_t steps = address / 4;
  if (arch == Arch::sm_90a) {  // the low bits lie apart
    word = set_bits(word, kNear, kNearBits, steps & ((1u << kNearBits) - 1));
    steps >>= kNearBits;
  }
  word = set_bits(word, kFar, kFarBits, steps & ((std::uint64_t{1} << kFarBits) - 1));
}

}  // namespace nervanagpu::sass
