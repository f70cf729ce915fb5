// The hazard proof: over encoded words only, with its own latency table reading, independent of schedule.
#pragma once

#include <string>
#include <vector>

#include "sass/cubin.h"

namespace nervanagpu::sass {

struct Hazard {
  enum class Kind : std::uint8_t { kRaw, kWaw, kWar, kControl, kDecode };
  Kind kind = Kind::kRaw;
  std::uint32_t producer = 0;  // instruction index
  std::uint32_t consumer = 0;
  std::string reg;   // "R12", "P0", "UR4"
  int missing = 0;   // cycles short; -1: a scoreboard is not awaited
  Span at;           // of the consumer
  std::string text;  // one full sentence
};

// Every hazard of `kernel`, in order of the consumer; empty: proven. `data`: what the cubin's kernels share, which tells
// whom calls through its constants call; nullptr: not known, so such a call may go to any label.
std::vector<Hazard> verify(Arch arch, const KernelImage& kernel, const ModuleData* data = nullptr);

}  // namespace nervanagpu::sass
