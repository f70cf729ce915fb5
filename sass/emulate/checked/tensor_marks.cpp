#include "sass/emulate/checked/tensor_marks.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {

void TensorMarks::reset(std::uint32_t bytes, std::uint32_t warps) {
  pieces_ = (bytes + 15) / 16;
  warps_ = warps;
  marks_.clear();  // made when first needed
  awaited_.assign(warps, {});
}

void TensorMarks::awaited(const Strand& s, std::uint32_t number) {
  auto& list = awaited_[s.warp];
  if (list.empty() || list.back().number < number) list.push_back({number, s.time(), s.agent});
}

std::optional<TensorMarks::Conflict> TensorMarks::write(const Strand& by, std::uint32_t offset, std::uint32_t bytes) {
  std::optional<Conflict> conflict;
  for (std::uint32_t piece = offset / 16; piece <= (offset + bytes - 1) / 16; ++piece) {
    for (std::uint32_t group = 0; group * 4 < warps_; ++group) {
      Mark& mark = marks_[std::size_t{pieces_} * group + piece];
      if (mark.number == 0) continue;
      for (std::uint32_t reader = group * 4; reader < std::min(group * 4 + 4, warps_) && !conflict; ++reader) {
        const auto& list = awaited_[reader];
        const auto it = std::lower_bound(list.begin(), list.end(), mark.number,
                                         [](const Await& a, std::uint32_t number) { return a.number < number; });
        if (it == list.end()) {
          conflict = Conflict{reader, mark.pc, false};
        } else if (time_in(by.known.at[0], it->agent) < it->time) {
          conflict = Conflict{reader, mark.pc, true};
        }
      }
      mark = Mark{};
    }
  }
  return conflict;
}

}  // namespace nervanagpu::sass::emulate
