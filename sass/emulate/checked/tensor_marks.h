// Checked mode: shared memory that HGMMA reads until its group was awaited. A write must come after the wait of all four
// warps of the warpgroup, by a barrier or the like between them and the writer.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sass/emulate/checked/order.h"

namespace nervanagpu::sass::emulate {

class TensorMarks {
 public:
  void reset(std::uint32_t bytes, std::uint32_t warps);
  [[nodiscard]] bool empty() const { return marks_.empty(); }

  // Instruction `number` (from 1, of the warp's own) at `pc` reads the 16 bytes at `offset`.
  void read(std::uint32_t warp, std::uint32_t number, std::uint32_t pc, std::uint32_t offset) {
    if (marks_.empty()) marks_.resize(std::size_t{pieces_} * ((warps_ + 3) / 4));
    marks_[std::size_t{pieces_} * (warp / 4) + offset / 16] = {number, pc};
  }
  // All instructions of the warp up to `number` are done, and the strand has waited for them.
  void awaited(const Strand& s, std::uint32_t number);

  struct Conflict {
    std::uint32_t warp = 0;  // that has not awaited, or whose wait the writer cannot know of
    std::uint32_t pc = 0;
    bool awaited = false;
  };
  // `by` writes. The marks there are taken away.
  std::optional<Conflict> write(const Strand& by, std::uint32_t offset, std::uint32_t bytes);

 private:
  struct Mark {
    std::uint32_t number = 0;  // 0: none
    std::uint32_t pc = 0;
  };
  std::uint32_t pieces_ = 0;
  std::uint32_t warps_ = 0;
  std::vector<Mark> marks_;  // [warpgroup][piece]
  struct Await {
    std::uint32_t number, time;
    std::uint16_t agent;
  };
  std::vector<std::vector<Await>> awaited_;  // of a warp, ascending
};

}  // namespace nervanagpu::sass::emulate
