// The machine model: what one warp's code costs, by the rules that were measured. It ranks orders and fills reports; no
// result depends on it.
#pragma once

#include <array>
#include <cstdint>

#include "sass/isa/access.h"
#include "sass/isa/arch.h"
#include "sass/isa/inst.h"
#include "sass/isa/latency.h"

namespace nervanagpu::sass {

// The columns of a report: what executes an instruction.
enum class Pipe : std::uint8_t { kFma, kAlu, kHalf, kDouble, kMufu, kUniform, kMemory, kControl, kCount };
inline constexpr std::size_t kPipes = static_cast<std::size_t>(Pipe::kCount);
std::string_view name_of(Pipe pipe);

Pipe pipe_of(const Inst& inst);
// Cycles for which one instruction of one warp keeps its pipe of one scheduler. Memory: of the SM's load-store unit, which
// four schedulers share, if no lanes conflict.
int pipe_cycles(Arch arch, const Inst& inst);
// Cycles from issue until a variable-latency result is there, or (`reads`) its sources were read. Rough.
int usual_latency(const Inst& inst, bool reads);

// What each operand slot of the reuse cache holds.
struct ReuseCache {
  std::array<std::uint8_t, 4> reg{kRZ, kRZ, kRZ, kRZ};
};
// Cycles for which `inst` occupies the register ports (1: no conflict), with `cache` as its predecessor left it; then the
// cache as `inst` leaves it.
int bank_cycles(Arch arch, const Inst& inst, ReuseCache& cache);

// One warp alone on its scheduler, instruction by instruction.
class WarpClock {
 public:
  explicit WarpClock(Arch arch) : arch_(arch) {}

  // What held an instruction up, in cycles beyond the one that it takes to issue.
  struct Lost {
    int stall = 0;       // the stall count of its predecessor
    int scoreboard = 0;  // a result or a read that it awaits
    int pipe = 0;        // its pipe was busy
    int banks = 0;       // the register ports were
  };
  Lost issue(const Inst& inst);

  [[nodiscard]] int cycles() const { return next_; }      // until the next instruction may issue
  [[nodiscard]] int drained() const { return drained_; }  // until all results are there

 private:
  Arch arch_;
  int next_ = 0;       // when the next instruction may issue, by the stall counts
  int previous_ = -1;  // when the last one did
  int ports_ = 0;      // when the register ports are free
  int drained_ = 0;
  std::array<int, kScoreboards> scoreboard_{};  // when each scoreboard is zero
  std::array<int, kPipes> busy_{};              // until when each pipe is
  ReuseCache cache_;
};

}  // namespace nervanagpu::sass
