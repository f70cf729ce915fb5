// One number for every register whose timing matters: GPRs, uniform registers, predicates, the condition code, and the
// two orders that are kept like registers.
#pragma once

#include <cstdint>
#include <string>

#include "sass/isa/access.h"

namespace nervanagpu::sass {

inline constexpr std::uint32_t kRegisterIds = 256 + 64 + 8 + 8 + 1 + 2;
// Convergence barriers are interlocked: no number.
inline constexpr std::uint32_t kNoRegisterId = kRegisterIds;

constexpr std::uint32_t register_id(RegFile file, unsigned number) {
  switch (file) {
    case RegFile::kGpr: return number;
    case RegFile::kUGpr: return 256 + number;
    case RegFile::kPred: return 320 + number;
    case RegFile::kUPred: return 328 + number;
    case RegFile::kCc: return 336;
    case RegFile::kOrder: return 337 + number;
    case RegFile::kBarrier: break;
  }
  return kNoRegisterId;
}

// "R12", "UR4", "P0", "UP1", "CC".
inline std::string register_name(std::uint32_t id) {
  if (id < 256) return "R" + std::to_string(id);
  if (id < 320) return "UR" + std::to_string(id - 256);
  if (id < 328) return "P" + std::to_string(id - 320);
  if (id < 336) return "UP" + std::to_string(id - 328);
  if (id == 336) return "CC";
  return id == register_id(RegFile::kOrder, kOrderOfStores) ? "the order of stores" : "the view of the engines";
}

}  // namespace nervanagpu::sass
