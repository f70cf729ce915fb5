// The shadow of a CTA's shared memory: which bytes were ever written, and who touched each word (access_log.h). An access may
// follow another agent's only if its strand knows of that (order.h). Copies of the engines: shadow_engine.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sass/emulate/checked/access_log.h"
#include "sass/emulate/checked/order.h"
#include "sass/emulate/checked/phase_waits.h"

namespace nervanagpu::sass::emulate {

// Whether what the strand does now comes after `b`. `abroad`: how far a write must have been made visible to the CTAs of the
// cluster, kCluster for shared memory and kGpu for global.
inline bool is_ordered(const Order& order, const Strand& s, const Touch& b, Reach abroad) {
  const bool near = order.agent(b.agent).rank == s.rank || !b.writes();
  const Times& known = s.known.at[near ? 0 : static_cast<std::size_t>(abroad)];
  return time_in(known, b.agent) >= b.time;
}

// What the strand does now, to the bytes of a word that `mask` names.
inline Touch touch_of(const Order& order, const Strand& s, std::uint32_t pc, unsigned lane, Touch::Kind kind,
                      std::uint8_t mask) {
  return {.cluster = order.cluster(),
          .time = s.time(),
          .pc = pc,
          .agent = s.agent,
          .warp = static_cast<std::uint16_t>(s.warp),
          .rank = static_cast<std::uint8_t>(s.rank),
          .kind = kind,
          .mask = mask,
          .lane = static_cast<std::uint8_t>(lane)};
}

// What is wrong with an access.
struct Trouble {
  enum class What : std::uint8_t { kNone, kUninitialised, kNotAwaited, kRace, kOverMbarrier, kNoFence };
  What what = What::kNone;
  std::uint32_t offset = 0;      // of the word
  Touch other;                   // all but kUninitialised and kOverMbarrier
  std::uint8_t other_lane = 32;  // 32: not known

  void note(What found, std::uint32_t index) {  // the first counts
    if (what != What::kNone) return;
    what = found;
    offset = index * 4;
  }
};

class Shadow {
 public:
  explicit Shadow(Order& order) : order_(order) {}
  void reset(std::uint32_t rank, std::uint32_t bytes, std::uint32_t warps);

  enum class Use : std::uint8_t { kLoad, kStore, kAtomic, kAsyncStore, kEngineLoad };
  // The first thing that is wrong with an access of `lane` of the strand, of this CTA or another one of the cluster.
  // access() of the common case, a load of whole words: true if all is well. False: the general way has to look.
  [[nodiscard]] bool plain_load(const Strand& s, std::uint32_t pc, unsigned lane, std::uint32_t offset,
                                unsigned bytes) {
    if (((offset | bytes) & 3) != 0) return false;
    const std::uint32_t now = number(s, pc, lane, Touch::Kind::kRead, 15);
    bool good = now != 0;
    for (std::uint32_t i = offset / 4; i < (offset + bytes) / 4 && good; ++i) {
      Word& word = words_[i];
      good = word.init == 15 && word.async == 0;
      if (!good) break;
      log_.touch(
          word, now, [&](const Touch& b) { return is_ordered(order_, s, b, Reach::kCluster); },
          [&](std::uint32_t, bool) { good = false; });
    }
    return good;
  }
  // The same of an engine, HGMMA or a copy out of shared memory.
  [[nodiscard]] bool plain_engine_load(const Strand& s, std::uint32_t pc, unsigned lane, std::uint32_t offset,
                                       unsigned bytes) {
    if (!plain_load(s, pc, lane, offset, bytes)) return false;
    for (std::uint32_t i = offset / 4; i < (offset + bytes) / 4; ++i) {
      if (!is_fenced(s, words_[i])) return false;
    }
    return true;
  }
  Trouble access(const Strand& s, std::uint32_t pc, unsigned lane, std::uint32_t offset, unsigned bytes, Use use);

  // A copy that `s` has issued and that counts its bytes at an mbarrier of the CTA `home`: its time among the agent's.
  struct Copy {
    std::uint16_t agent = 0;
    std::uint32_t time = 0;
  };
  Copy copy_begins(std::uint32_t mbarrier);
  Trouble engine_store(const Strand& s, std::uint32_t pc, Copy copy, std::uint32_t offset, unsigned bytes, bool adds);

  void async_issued(std::uint32_t warp) { ++async_count_[warp]; }
  [[nodiscard]] std::uint32_t async_count(std::uint32_t warp) const { return async_count_[warp]; }
  void async_awaited(const Strand& s, std::uint32_t count);  // the first `count` copies of the warp are visible to it

  // Barriers of the CTA, flags in shared memory: what those who arrived or released know.
  Known& barrier(unsigned number) { return barriers_[number]; }
  Known& flag(std::uint32_t offset) { return flags_[offset]; }

  // Mbarriers, by their shared address. Who has seen a phase end knows what those knew that arrived in it.
  Trouble mbarrier_made(const Strand& s, std::uint32_t pc, unsigned lane, std::uint32_t address, std::uint32_t offset);
  void mbarrier_gone(std::uint32_t offset);
  // Any other use of it; `engine`: by a copy that counts bytes there. Trouble: it is not after the initialisation, or that not
  // after a fence.
  Trouble mbarrier_used(const Strand& s, std::uint32_t address, std::uint32_t offset, bool engine);
  // `counts`: as an arrival, not only bytes to come; `told`: its result says which phase it is.
  void mbarrier_arrive(Strand& s, std::uint32_t address, bool counts, bool told);
  bool mbarrier_ask(const Strand& s, std::uint32_t address, const PhaseWaits::Wait& wait) {
    return phases_[address].waits.asks(s, wait);
  }
  std::vector<PhaseWaits::Wait> phase_over(std::uint32_t address);
  void mbarrier_observe(Strand& s, std::uint32_t address) { s.known.join(phases_[address].over); }
  void mbarrier_remote(std::uint32_t address) { phases_[address].remote = true; }
  // Others of the cluster have arrived at it.
  [[nodiscard]] bool is_remote(std::uint32_t address) { return phases_[address].remote; }

 private:
  struct Word : Touched {
    std::uint32_t async = 0;  // number of the LDGSTS that wrote it; 0: none, or known to be awaited
    std::uint8_t lane = 0;    // that wrote it
    std::uint8_t init = 0;    // bytes ever written
    bool generic = false;     // written by a warp's own store: engines see it after a fence
    bool mbarrier = false;    // of one that nobody has invalidated
  };
  struct Phases {
    Known current;  // arrivals of this phase
    Known over;     // of all before
    PhaseWaits waits;
    bool remote = false;
    bool copied = false;
    std::uint16_t copies = 0;  // the agent
    std::uint32_t copy = 0;    // its last time
    bool made = false;
    Touch init;
    std::uint8_t init_lane = 0;
  };

  std::uint32_t number(const Strand& s, std::uint32_t pc, unsigned lane, Touch::Kind kind, std::uint8_t mask) {
    return log_.number(touch_of(order_, s, pc, lane, kind, mask));
  }
  [[nodiscard]] bool is_fenced(const Strand& s, const Word& word) const {
    if (!word.generic) return true;
    const Touch& b = log_.at(word.writer);
    return order_.is_fenced(s, b.agent, word.lane, b.time, Order::Fence::kEngines);
  }
  void word_access(const Strand& s, std::uint32_t now, unsigned lane, std::uint32_t index, Use use, Trouble& t);
  void await(Word& word, std::uint32_t index, Trouble& t);

  Order& order_;
  std::uint32_t rank_ = 0;
  AccessLog log_;
  std::vector<Word> words_;
  std::unordered_map<std::uint32_t, Phases> phases_;
  std::unordered_map<std::uint32_t, Known> flags_;
  std::array<Known, 16> barriers_;
  std::vector<std::uint32_t> async_count_;
  struct Await {
    std::uint32_t copies, time;
    std::uint16_t agent;
  };
  std::vector<std::vector<Await>> awaited_;  // of a warp, ascending
};

}  // namespace nervanagpu::sass::emulate
