// Words <-> the bytes of .text. On sm_70 and later they are the same 16 bytes. On sm_50 .. sm_62 every three 64-bit
// instructions stand after one 64-bit control word, 21 bits each, which Word keeps at [125:105] (word.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sass/isa/arch.h"
#include "sass/isa/word.h"
#include "sass/result.h"

namespace nervanagpu::sass {

inline constexpr std::size_t kBundleInsts = 3;
inline constexpr std::size_t kBundleBytes = 32;

// Fails on a bundle that is not full, and on bits that a 64-bit instruction has no place for.
Result<std::vector<std::uint8_t>> pack_code(Encoding encoding, std::span<const Word> code);

// Fails on a size that is not whole instructions (bundles), and on a control word whose bit 63 is set.
Result<std::vector<Word>> unpack_code(Encoding encoding, std::span<const std::uint8_t> bytes);

}  // namespace nervanagpu::sass
