#include "sass/emulate/store_marks.h"

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

void StoreMarks::awaited(std::uint32_t warp, std::uint32_t count, std::uint32_t now) {
  auto& list = awaited_[warp];
  if (list.empty() || list.back().first < count) list.emplace_back(count, now);
}

std::optional<StoreMarks::Conflict> StoreMarks::write(std::uint32_t warp, std::uint32_t offset, std::uint32_t bytes,
                                                      const Shadow::Clock& seen) {
  std::optional<Conflict> conflict;
  for (std::uint32_t piece = offset / 16; piece <= (offset + bytes - 1) / 16; ++piece) {
    Mark& mark = marks_[piece];
    if (mark.number == 0) continue;
    const auto& list = awaited_[mark.warp];
    const auto it = std::lower_bound(list.begin(), list.end(), std::pair{mark.number, std::uint32_t{0}});
    const bool awaited = it != list.end();
    if (!conflict && (!awaited || (mark.warp != warp && seen[mark.warp] < it->second))) {
      conflict = Conflict{mark.warp, mark.pc, awaited};
    }
    mark = Mark{};
  }
  return conflict;
}

}  // namespace nervanagpu::sass::emulate
