// Results and late reads that only a scoreboard announces: at each point of the program what is still outstanding on
// some path, and which scoreboards would, on every path, show that it is done: its own, and those of younger operations
// of the same in-order queue.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sass/isa/latency.h"
#include "sass/verify/finding.h"

namespace nervanagpu::sass::verify_detail {

// Registers as bits, by register_id.
using RegisterSet = std::array<std::uint64_t, 6>;

// What each step reads, reads late, writes, and writes after issue; of the last, what is there with its sources read.
struct StepSets {
  RegisterSet reads{}, late{}, writes{}, results{}, early{};
};
std::vector<StepSets> step_sets(const Code& code);

class ScoreboardState {
 public:
  ScoreboardState() { since_set_.fill(kLong); }

  // The wait of step i: what it awaits is done. Reports waits that come too soon after their scoreboard was set.
  // Returns the cycles that surely pass in it: compilers for sm_50 .. sm_62 count on them.
  int wait(const Code& code, std::uint32_t i, Findings* out);
  // Reports what step i reads or overwrites while it is outstanding; the same is not reported again further on.
  void check(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i, Findings* out);
  void issue(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i);
  void advance(int cycles);
  bool merge(const ScoreboardState& other);
  // f(line, reads, registers) of all that is outstanding: results of a line, or its late reads.
  template <typename F>
  void each(const std::vector<StepSets>& sets, F&& f) const {
    for (const Outstanding& o : open_) {
      const StepSets& of = sets[o.line];
      f(o.line, o.reads(), o.reads() ? of.late : o.part == Part::kResults ? of.results : of.early);
    }
  }

 private:
  enum class Part : std::uint8_t { kResults, kEarlyResults, kReads };
  struct Outstanding {
    std::uint32_t line;
    Part part;
    bool again;          // its line has issued once more since: an older turn of a loop
    std::uint8_t cover;  // scoreboards that show it done
    bool guard_kept;     // its guard still has its value
    std::array<std::uint8_t, kScoreboards>
        since{};                  // of those in `cover`: operations of the queue on them after the one that covers
    bool before_barrier = false;  // a BAR took its registers after it, so a B2R's result tells of it
    [[nodiscard]] bool reads() const { return part == Part::kReads; }
    [[nodiscard]] std::uint64_t key() const {
      return (std::uint64_t{line} * 4 + static_cast<unsigned>(part)) * 2 + (again ? 1 : 0);
    }
  };
  static constexpr int kLong = 100;
  static void join(Outstanding& to, const Outstanding& from);  // what both guarantee
  static bool speaks_for(ReadQueue queue, const Outstanding& o, ReadQueue older);
  void finish(std::uint8_t mask);
  void put(const Outstanding& o);

  std::vector<Outstanding> open_;              // ascending key
  std::array<int, kScoreboards> since_set_{};  // cycles since the scoreboard was last set, at least
};

}  // namespace nervanagpu::sass::verify_detail
