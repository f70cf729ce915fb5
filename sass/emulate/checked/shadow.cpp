#include "sass/emulate/checked/shadow.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {
namespace {

Touch::Kind kind_of(Shadow::Use use) {
  switch (use) {
    case Shadow::Use::kLoad:
    case Shadow::Use::kEngineLoad: return Touch::Kind::kRead;
    case Shadow::Use::kAtomic: return Touch::Kind::kStrongWrite;
    default: return Touch::Kind::kWrite;
  }
}

}  // namespace

void Shadow::reset(std::uint32_t rank, std::uint32_t bytes, std::uint32_t warps) {
  rank_ = rank;
  log_.clear();
  words_.assign((bytes + 3) / 4, Word{});
  phases_.clear();
  flags_.clear();
  for (Known& b : barriers_) b.clear();
  async_count_.assign(warps, 0);
  awaited_.assign(warps, {});
}

void Shadow::async_awaited(const Strand& s, std::uint32_t count) {
  auto& list = awaited_[s.warp];
  if (list.empty() || list.back().copies < count) list.push_back({count, s.time(), s.agent});
}

Trouble Shadow::access(const Strand& s, std::uint32_t pc, unsigned lane, std::uint32_t offset, unsigned bytes,
                       Use use) {
  Trouble t;
  for (std::uint32_t at = offset; at < offset + bytes;) {
    const std::uint32_t in = at & 3;
    const std::uint32_t n = std::min(4 - in, offset + bytes - at);
    const auto mask = static_cast<std::uint8_t>(((1u << n) - 1) << in);
    word_access(s, number(s, pc, lane, kind_of(use), mask), lane, at / 4, use, t);
    at += n;
  }
  return t;
}

// The write of an LDGSTS counts from the wait for it on.
void Shadow::await(Word& word, std::uint32_t index, Trouble& t) {
  const Touch& b = log_.at(word.writer);
  const auto& list = awaited_[order_.agent(b.agent).warp];
  const auto it = std::lower_bound(list.begin(), list.end(), word.async,
                                   [](const Await& a, std::uint32_t number) { return a.copies < number; });
  if (it == list.end()) {
    if (t.what != Trouble::What::kNone) return;
    t.other = b;
    t.other_lane = word.lane;
    t.note(Trouble::What::kNotAwaited, index);
    return;
  }
  word.writer = log_.moved(word.writer, it->agent, it->time);
  word.async = 0;
}

void Shadow::word_access(const Strand& s, std::uint32_t now, unsigned lane, std::uint32_t index, Use use, Trouble& t) {
  if (now == 0) return;
  Word& word = words_[index];
  const Touch a = log_.at(now);
  if (word.async != 0) await(word, index, t);
  const bool waits = word.async != 0;
  if (use != Use::kStore && use != Use::kAsyncStore && (word.init & a.mask) != a.mask) {
    t.note(Trouble::What::kUninitialised, index);
  }
  // PTX asks for it, and an H200 was seen to write there after every wait had been answered, where warps had had to sleep.
  if (word.mbarrier && a.writes()) t.note(Trouble::What::kOverMbarrier, index);
  const std::uint8_t lane_before = word.lane;
  const std::uint32_t writer_before = word.writer;
  log_.touch(
      word, now, [&](const Touch& b) { return is_ordered(order_, s, b, Reach::kCluster); },
      [&](std::uint32_t other, bool last) {
        if (t.what != Trouble::What::kNone || (last && waits)) return;
        t.other = log_.at(other);
        t.other_lane = last ? lane_before : std::uint8_t{32};
        t.note(Trouble::What::kRace, index);
      });
  if (use == Use::kEngineLoad && t.what == Trouble::What::kNone && !is_fenced(s, word)) {
    t.other = log_.at(word.writer);
    t.other_lane = word.lane;
    t.note(Trouble::What::kNoFence, index);
  }
  if (!a.writes()) return;
  word.init |= a.mask;
  word.generic = use == Use::kStore;
  if (word.writer != writer_before) word.lane = static_cast<std::uint8_t>(lane);  // of several the first lane
  word.async = use == Use::kAsyncStore ? async_count_[s.warp] + 1 : 0;
}

}  // namespace nervanagpu::sass::emulate
