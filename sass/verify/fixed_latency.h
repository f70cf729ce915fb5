// Results of fixed latency that may not be there yet, and sources that may not have been read: at each point of the
// program the writes and reads of the last few cycles, each with the fewest cycles that any path leaves since its issue.
#pragma once

#include <cstdint>
#include <vector>

#include "sass/isa/latency.h"
#include "sass/verify/finding.h"

namespace nervanagpu::sass::verify_detail {

class FixedLatencyState {
 public:
  // These scoreboards are zero. Before sm_90a R2UR, of fixed latency, may announce its result by one.
  void await(const Code& code, std::uint8_t mask);
  // Reports what step i reads or overwrites too early.
  void check(const Code& code, std::uint32_t i, Findings* out) const;
  // Step i issues and `cycles` pass.
  void issue(const Code& code, std::uint32_t i);
  void advance(int cycles, int horizon);
  // Joins another path's state; true if this one became weaker.
  bool merge(const FixedLatencyState& other);

 private:
  struct Write {
    std::uint32_t reg;
    std::uint32_t line;
    int elapsed;
    Producer producer;
    bool guard_kept;  // the guard of `line` still has its value
  };
  struct Read {
    std::uint32_t reg;
    std::uint32_t line;
    int elapsed;
    Consumer reader;
  };
  std::vector<Write> writes_;
  std::vector<Read> reads_;  // only those that some writer could overtake
};

}  // namespace nervanagpu::sass::verify_detail
