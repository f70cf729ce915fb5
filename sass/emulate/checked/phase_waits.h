// Whether a wait for an mbarrier by parity can mean only one phase, whatever the order in which warps run.
//
// A strand that asks knows by happens-before of K phases that have ended, and K is also what may have ended in some order. So
// a wait that is right for every order means phase K or K - 1, as its parity says. It is told of the right one as long as no
// more than K + 1 phases can have ended. Two ways to break that are found:
//
//   more than K + 1 phases have ended when it asks
//   one more ends later, and nothing makes that wait until it has asked
//
// In both there is an order in which the answer is of a phase two further on or back: the wait is over too early, or never.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sass/emulate/checked/order.h"

namespace nervanagpu::sass::emulate {

class PhaseWaits {
 public:
  struct Wait {
    std::uint64_t known = 0;  // phases that it knew to have ended: K
    std::uint32_t time = 0;
    std::uint32_t pc = 0;
    std::uint16_t agent = 0;
    std::uint16_t warp = 0;
    std::uint8_t lane = 0;
    bool parity = false;
  };

  void reset() { *this = PhaseWaits(); }
  // The strand asks; `wait` but for what the strand says. False: more phases have ended than it may leave out.
  [[nodiscard]] bool asks(const Strand& s, Wait wait);
  // The strand arrives, before its time goes on; `told`: the result says which phase that is.
  void arrives(const Strand& s, bool told);
  // A copy, the agent's `time`, counts bytes in this phase.
  void copies(std::uint16_t agent, std::uint32_t time) { need(agent, time); }
  // The phase is over. `behind`: what comes ahead of that. Returns waits that may see two phases go by.
  std::vector<Wait> ends(const Known& behind);

 private:
  struct Mark {  // who knows of that time of the agent knows that so many phases have ended
    std::uint64_t ended = 0;
    std::uint32_t time = 0;
    std::uint16_t agent = 0;
  };

  void need(std::uint16_t agent, std::uint32_t time);
  [[nodiscard]] bool knows(const Strand& s, std::uint64_t ended) const;

  std::uint64_t ended_ = 0;
  std::array<Times, 3>
      needs_;  // by phase % 3, this one and two before: who knows of all of these knows that it has ended
  std::vector<Mark> marks_;
  std::vector<Wait> waits_;  // of an agent the last for each K
};

}  // namespace nervanagpu::sass::emulate
