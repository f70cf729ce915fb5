#include "sass/emulate/shadow.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {

void Shadow::reset(std::uint32_t bytes, std::uint32_t warps) {
  words_.assign((bytes + 3) / 4, Word{});
  time_ = 1;
  for (std::uint32_t w = 0; w < kWarps; ++w) {
    clock_[w].fill(0);
    if (w < warps) clock_[w][w] = time_;
    awaited_[w].clear();
    fences_[w].clear();
  }
  for (Clock& b : barrier_) b.fill(0);
  atomic_.fill(0);
  mbarriers_.clear();
  async_count_.fill(0);
  copies_.clear();
  places_ = 0;
  completed_.fill(0);
  last_fence_.fill(0);
}

void Shadow::join(Clock& to, const Clock& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

void Shadow::arrive(std::uint32_t warp, unsigned barrier) {
  join(barrier_[barrier], clock_[warp]);
  clock_[warp][warp] = ++time_;
}

void Shadow::release(std::uint32_t warp, unsigned barrier) {
  join(clock_[warp], barrier_[barrier]);
}

void Shadow::completed(unsigned barrier) {
  barrier_[barrier].fill(0);
}

void Shadow::mbarrier_arrive(std::uint32_t warp, std::uint32_t address, bool ends_phase) {
  Phases& p = mbarriers_[address];
  join(p.current, clock_[warp]);
  clock_[warp][warp] = ++time_;
  if (ends_phase) end_phase(p);
}

void Shadow::phase_over(std::uint32_t address) {
  end_phase(mbarriers_[address]);
}

bool Shadow::mbarrier_observe(std::uint32_t warp, std::uint32_t address) {
  const Phases& p = mbarriers_[address];
  join(clock_[warp], p.over);
  if (p.remote) {
    for (unsigned i = 0; i < kWarps; ++i) clock_[warp][i] = std::max(clock_[warp][i], clock_[i][i]);
    for (unsigned i = 0; i < kPlaces; ++i) {
      clock_[warp][kWarps + i] = std::max(clock_[warp][kWarps + i], completed_[i]);
    }
  }
  return p.remote;
}

const char* Shadow::remote_access(std::uint32_t offset, unsigned bytes, Kind kind, std::string& detail) {
  const char* wrong = nullptr;
  for (std::uint32_t at = offset; at < offset + bytes; ++at) {
    Word& word = words_[at / 4];
    const auto mask = static_cast<std::uint8_t>(1u << (at & 3));
    if (kind != Kind::kStore && kind != Kind::kAsyncStore && (word.init & mask) == 0 && wrong == nullptr) {
      wrong = "uninitialised shared memory";
      detail = "shared offset " + std::to_string(at) + " of another CTA: never written";
    }
    if (kind == Kind::kLoad) continue;
    word.writer = kNobody;
    word.generic = false;
    word.async = 0;
    word.readers = 0;
    word.init |= mask;
  }
  return wrong;
}

void Shadow::async_awaited(std::uint32_t warp, std::uint32_t count) {
  auto& list = awaited_[warp];
  if (list.empty() || list.back().first < count) list.emplace_back(count, clock_[warp][warp]);
}

const char* Shadow::access(std::uint32_t warp, std::uint32_t offset, unsigned bytes, Kind kind, std::string& detail) {
  if (kind == Kind::kAtomic) {
    // An atomic operation orders the warps that use one: whoever comes later has seen what came before.
    join(clock_[warp], atomic_);
    join(atomic_, clock_[warp]);
    clock_[warp][warp] = ++time_;
  }
  const char* wrong = nullptr;
  std::string text;
  for (std::uint32_t at = offset; at < offset + bytes;) {
    const std::uint32_t in = at & 3;
    const std::uint32_t n = std::min(4 - in, offset + bytes - at);
    const auto mask = static_cast<std::uint8_t>(((1u << n) - 1) << in);
    if (const char* what = word_access(warp, at / 4, mask, kind, text); what != nullptr && wrong == nullptr) {
      wrong = what;
      detail = std::move(text);
    }
    at += n;
  }
  return wrong;
}

const char* Shadow::word_access(std::uint32_t warp, std::uint32_t index, std::uint8_t mask, Kind kind,
                                std::string& detail) {
  Word& word = words_[index];
  const Clock& seen = clock_[warp];
  const char* wrong = nullptr;
  const auto blame = [&](const char* what, std::string text) {
    if (wrong != nullptr) return;
    wrong = what;
    detail = "shared offset " + std::to_string(index * 4) + ": " + std::move(text);
  };
  const auto other = [&] { return "warp " + std::to_string(word.writer); };
  const bool by_copy = word.writer >= kWarps && word.writer != kNobody;

  if (word.async != 0) {
    const auto& list = awaited_[word.writer];
    const auto it = std::lower_bound(list.begin(), list.end(), std::pair{word.async, std::uint32_t{0}});
    if (it == list.end()) {
      blame("asynchronous copy not awaited", "LDGSTS of " + other() + " was not awaited by DEPBAR before this access");
    } else {
      word.write_time = it->second;
      word.async = 0;
    }
  }
  const bool unordered = word.writer != kNobody && word.writer != warp && (word.write_mask & mask) != 0 &&
                         seen[word.writer] < word.write_time;
  if (kind == Kind::kLoad || kind == Kind::kAtomic) {
    if ((word.init & mask) != mask) blame("uninitialised shared memory", "never written in this CTA");
  }
  if (by_copy && unordered) {
    blame("asynchronous copy not awaited", (kind == Kind::kLoad ? "read by warp " : "written by warp ") +
                                               std::to_string(warp) + ", written by " + describe_copy(word.write_time));
  }
  if (kind == Kind::kLoad) {
    if (unordered && !by_copy && word.async == 0) {
      blame("shared-memory race",
            "read by warp " + std::to_string(warp) + ", written by " + other() + " with no barrier between");
    }
    const std::uint32_t bit = 1u << warp;
    const std::uint32_t now = seen[warp];
    word.read_time = word.readers == 0 ? now : std::min(word.read_time, now);
    word.readers |= bit;
    return wrong;
  }
  // PTX asks for it, and an H200 was seen to write there after every wait had been answered, where warps had had to sleep.
  if (word.mbarrier) blame("store over an mbarrier", "it was not invalidated (SYNCS.CCTL.IV)");
  if (kind == Kind::kAtomic) {
    word.writer = kNobody;
    word.async = 0;
    word.readers = 0;
    word.init |= mask;
    word.generic = false;
    return wrong;
  }
  if (unordered && !by_copy && word.async == 0) {
    blame("shared-memory race",
          "written by warp " + std::to_string(warp) + " and by " + other() + " with no barrier between");
  }
  for (std::uint32_t left = word.readers & ~(1u << warp); left != 0; left &= left - 1) {
    const auto reader = static_cast<std::uint32_t>(__builtin_ctz(left));
    if (seen[reader] >= word.read_time) continue;
    blame("shared-memory race", "written by warp " + std::to_string(warp) + ", read by warp " + std::to_string(reader) +
                                    " with no barrier between");
  }
  word.writer = static_cast<std::uint8_t>(warp);
  word.write_mask = mask;
  word.write_time = seen[warp];
  word.generic = kind == Kind::kStore;
  word.readers = 0;
  word.init |= mask;
  word.async = kind == Kind::kAsyncStore ? async_count_[warp] + 1 : 0;
  return wrong;
}

}  // namespace nervanagpu::sass::emulate
