// What the asynchronous engines do to shared memory. A copy into it counts as a writer of its own: every mbarrier that
// copies complete at has a place in the vector clocks, which holds the last copy known to be complete.
#include <algorithm>
#include <cstdio>

#include "sass/emulate/shadow.h"

namespace nervanagpu::sass::emulate {

std::uint32_t Shadow::copy_begins(std::uint32_t warp, std::uint32_t mbarrier, std::uint32_t pc, bool remote) {
  Phases& p = mbarriers_[mbarrier];
  // More mbarriers than places share them; copies are numbered through, so that some races are missed then, and no more.
  if (p.place == kNobody) p.place = static_cast<std::uint8_t>(kWarps + places_++ % kPlaces);
  copies_.push_back({pc, warp, mbarrier, p.place, remote});
  const auto number = static_cast<std::uint32_t>(copies_.size());
  p.current[p.place] = number;
  return number;
}

void Shadow::end_phase(Phases& p) {
  join(p.over, p.current);
  if (p.place != kNobody) completed_[p.place - kWarps] = std::max(completed_[p.place - kWarps], p.over[p.place]);
  p.current.fill(0);
}

void Shadow::fenced(std::uint32_t warp) {
  clock_[warp][warp] = ++time_;
  fences_[warp].push_back(time_);
  last_fence_[warp] = time_;
}

bool Shadow::is_fenced(std::uint32_t reader, const Word& word) const {
  const auto& list = fences_[word.writer];
  const auto it = std::upper_bound(list.begin(), list.end(), word.write_time);
  return it != list.end() && clock_[reader][word.writer] >= *it;
}

const char* Shadow::engine_load(std::uint32_t warp, std::uint32_t offset, unsigned bytes, std::string& detail) {
  const char* wrong = access(warp, offset, bytes, Kind::kLoad, detail);
  for (std::uint32_t i = offset / 4; i < (offset + bytes) / 4 && wrong == nullptr; ++i) {
    const Word& word = words_[i];
    if (!word.generic || is_fenced(warp, word)) continue;
    wrong = "no proxy fence";
    detail = "shared offset " + std::to_string(i * 4) + ": written by warp " + std::to_string(word.writer) +
             ", which has no FENCE.VIEW.ASYNC between that and this read by an engine";
  }
  return wrong;
}

const char* Shadow::engine_store(std::uint32_t warp, std::uint32_t copy, std::uint32_t offset, unsigned bytes,
                                 std::string& detail) {
  const char* wrong = access(warp, offset, bytes, Kind::kStore, detail);
  written_by_copy(copy, offset, bytes);
  return wrong;
}

void Shadow::written_by_copy(std::uint32_t copy, std::uint32_t offset, unsigned bytes) {
  for (std::uint32_t i = offset / 4; i < (offset + bytes) / 4; ++i) {
    Word& word = words_[i];
    word.writer = copies_[copy - 1].place;
    word.write_time = copy;
    word.write_mask = word.init = 15;
    word.readers = 0;
    word.async = 0;
    word.generic = false;
  }
}

std::string Shadow::describe_copy(std::uint32_t copy) const {
  const Copy& c = copies_[copy - 1];
  char address[16];
  std::snprintf(address, sizeof address, "0x%x", c.mbarrier);
  return (name_ ? name_(c.pc) : "a copy") + " of warp " + std::to_string(c.warp) + (c.remote ? " of another CTA" : "") +
         ", whose phase of the mbarrier at shared address " + address + " it has not seen end";
}

}  // namespace nervanagpu::sass::emulate
