// Happens-before in a cluster of CTAs, judged by vector clocks and not by the order in which the emulator ran the warps.
//
// A warp's lanes are one strand as long as they run together. Lanes that part (a divergent branch) become strands of their own
// and one again at BSYNC, WARPSYNC or a barrier; where they only meet by chance they stay apart. Agents have times: strands,
// and the engine's copies that complete at one mbarrier, whose time is the number of the last of them. What a strand knows of
// the agents has a reach:
//
//   kSeen      ordered: barriers, mbarriers and atomic operations carry it. Enough inside of a CTA, and for what only reads
//   kCluster   and made visible to the other CTAs of the cluster, by a MEMBAR after the access
//   kGpu       and to all of the GPU, by a MEMBAR of wider scope
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace nervanagpu::sass::emulate {

enum class Reach : std::uint8_t { kSeen, kCluster, kGpu };
inline constexpr std::size_t kReaches = 3;

using Times = std::vector<std::uint32_t>;  // by agent; one that is missing is 0
void join(Times& to, const Times& from);

// What is known of the agents of other clusters, by the cluster's number.
struct Abroad {
  Times seen, gpu;
};
using Foreign = std::map<std::uint32_t, Abroad>;
void join(Foreign& to, const Foreign& from);

struct Known {
  std::array<Times, kReaches> at;
  std::shared_ptr<const Foreign> foreign;  // may be null

  void join(const Known& from);
  void clear();
};

struct Strand {
  std::uint32_t lanes = 0;
  std::uint16_t agent = 0;
  std::uint16_t rank = 0;  // of its CTA
  std::uint32_t warp = 0;
  Known known;
  std::uint64_t flag = 0;  // the flag in global memory that it read last, and which version of it
  std::uint64_t flag_version = 0;

  [[nodiscard]] std::uint32_t time() const { return known.at[0][agent]; }
};

class Order {
 public:
  struct Agent {
    std::uint16_t rank = 0;
    std::uint16_t warp = 0;
    bool copies = false;  // of an mbarrier, whose shared address is `mbarrier`
    std::uint32_t mbarrier = 0;
  };

  void begin(std::uint32_t cluster, std::uint32_t ctas, std::uint32_t warps);
  [[nodiscard]] std::uint32_t cluster() const { return cluster_; }
  [[nodiscard]] std::uint32_t ctas() const { return ctas_; }
  [[nodiscard]] const Agent& agent(std::uint16_t a) const { return agents_[a]; }

  [[nodiscard]] Strand& strand(std::uint32_t rank, std::uint32_t warp, unsigned lane) {
    std::vector<Strand>& all = warps_[rank * warps_a_cta_ + warp];
    if (all.size() == 1) return all.front();
    return among(all, lane);
  }
  // `f` of every strand of the warp that has one of the lanes.
  template <class F>
  void each(std::uint32_t rank, std::uint32_t warp, std::uint32_t lanes, F f) {
    for (Strand& s : warps_[rank * warps_a_cta_ + warp]) {
      if ((s.lanes & lanes) != 0) f(s);
    }
  }
  // `lanes` of those that live run by themselves.
  void part(std::uint32_t rank, std::uint32_t warp, std::uint32_t lanes, std::uint32_t live) {
    std::vector<Strand>& all = warps_[rank * warps_a_cta_ + warp];
    if (all.size() != 1 || (all.front().lanes & live & ~lanes) != 0) divide(rank, warp, lanes, live);
  }
  void meet(std::uint32_t rank, std::uint32_t warp, std::uint32_t lanes);  // they have waited for each other

  // What the strand knows goes to `to`; what it does from now on is later than that.
  void release(Strand& s, Known& to) {
    to.join(s.known);
    tick(s);
  }
  void membar(Strand& s, bool gpu);
  std::uint32_t tick(Strand& s) { return s.known.at[0][s.agent] = ++time_; }

  // The barrier of the cluster: of those who have arrived, and of all who had when it was completed last.
  Known arriving, met;

  std::uint16_t new_copies(std::uint32_t rank, std::uint32_t mbarrier);

  // Of fences: who made what its lanes had done visible to the engines, or an mbarrier that it had initialised.
  enum class Fence : std::uint8_t { kEngines, kInit, kMembar };
  void fenced(Strand& s, Fence kind);
  // A fence, no weaker than `least`, of `lane` of the warp of `a` after its time `after`, that `reader` knows of.
  [[nodiscard]] bool is_fenced(const Strand& reader, std::uint16_t a, unsigned lane, std::uint32_t after,
                               Fence least) const;

 private:
  struct FenceMark {
    std::uint32_t time = 0;
    std::uint32_t lanes = 0;
    std::uint16_t agent = 0;
    Fence kind = Fence::kEngines;
  };
  static Strand& among(std::vector<Strand>& all, unsigned lane);
  void divide(std::uint32_t rank, std::uint32_t warp, std::uint32_t lanes, std::uint32_t live);
  std::uint16_t spare_agent(std::uint32_t rank, std::uint32_t warp);

  std::uint32_t cluster_ = 0;
  std::uint32_t ctas_ = 0;
  std::uint32_t warps_a_cta_ = 0;
  std::uint32_t time_ = 0;
  std::vector<Agent> agents_;
  std::vector<std::vector<Strand>> warps_;           // [rank][warp]
  std::vector<std::vector<std::uint16_t>> of_warp_;  // agents, those without a strand too
  std::vector<std::vector<FenceMark>> fences_;       // of a warp, by time
};

inline std::uint32_t time_in(const Times& t, std::uint16_t agent) {
  return agent < t.size() ? t[agent] : 0;
}

}  // namespace nervanagpu::sass::emulate
