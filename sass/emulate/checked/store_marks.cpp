#include "sass/emulate/checked/store_marks.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {

void StoreMarks::reset(std::uint32_t bytes, std::uint32_t warps) {
  pieces_ = (bytes + 15) / 16;
  marks_.clear();
  count_.assign(warps, 0);
  awaited_.assign(warps, {});
}

void StoreMarks::issued(std::uint32_t warp) {
  if (marks_.empty()) marks_.resize(pieces_);
  ++count_[warp];
}

void StoreMarks::read(std::uint32_t warp, std::uint32_t pc, std::uint32_t offset) {
  marks_[offset / 16] = {count_[warp], pc, warp};
}

void StoreMarks::awaited(const Strand& s, std::uint32_t count) {
  auto& list = awaited_[s.warp];
  if (list.empty() || list.back().copies < count) list.push_back({count, s.time(), s.agent});
}

std::optional<StoreMarks::Conflict> StoreMarks::write(const Strand& by, std::uint32_t offset, std::uint32_t bytes) {
  std::optional<Conflict> conflict;
  for (std::uint32_t piece = offset / 16; piece <= (offset + bytes - 1) / 16; ++piece) {
    Mark& mark = marks_[piece];
    if (mark.number == 0) continue;
    const auto& list = awaited_[mark.warp];
    const auto it = std::lower_bound(list.begin(), list.end(), mark.number,
                                     [](const Await& a, std::uint32_t copy) { return a.copies < copy; });
    const bool awaited = it != list.end();
    if (!conflict && (!awaited || time_in(by.known.at[0], it->agent) < it->time)) {
      conflict = Conflict{mark.warp, mark.pc, awaited};
    }
    mark = Mark{};
  }
  return conflict;
}

}  // namespace nervanagpu::sass::emulate
