// Checked mode: shared memory that copies out of it (UTMASTG, UTMAREDG, UBLKCP, UBLKRED) still read. A write must come
// after UTMACMDFLUSH and the wait for its scoreboard, by the warp that issued the copy, and know of that wait.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sass/emulate/checked/order.h"

namespace nervanagpu::sass::emulate {

class StoreMarks {
 public:
  void reset(std::uint32_t bytes, std::uint32_t warps);
  [[nodiscard]] bool empty() const { return marks_.empty(); }

  void issued(std::uint32_t warp);                                        // a copy
  void read(std::uint32_t warp, std::uint32_t pc, std::uint32_t offset);  // 16 bytes, by the warp's youngest copy
  [[nodiscard]] std::uint32_t count(std::uint32_t warp) const { return count_[warp]; }  // copies of the warp so far
  // The first `count` copies of the warp have read all, and the strand has waited for that.
  void awaited(const Strand& s, std::uint32_t count);

  struct Conflict {
    std::uint32_t warp = 0;
    std::uint32_t pc = 0;
    bool awaited = false;  // but the writer cannot know of it
  };
  // `by` writes. The marks there are taken away.
  std::optional<Conflict> write(const Strand& by, std::uint32_t offset, std::uint32_t bytes);

 private:
  struct Mark {
    std::uint32_t number = 0;  // of the copy, from 1; 0: none
    std::uint32_t pc = 0;
    std::uint32_t warp = 0;
  };
  std::uint32_t pieces_ = 0;
  std::vector<Mark> marks_;  // by 16 bytes: the last copy that reads them; made when first needed
  std::vector<std::uint32_t> count_;
  struct Await {
    std::uint32_t copies, time;
    std::uint16_t agent;
  };
  std::vector<std::vector<Await>> awaited_;  // of a warp, ascending
};

}  // namespace nervanagpu::sass::emulate
