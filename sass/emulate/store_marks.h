// Checked mode: shared memory that copies out of it (UTMASTG, UTMAREDG, UBLKCP, UBLKRED) still read. A write must come
// after UTMACMDFLUSH and the wait for its scoreboard, by the warp that issued the copy, and know of that wait.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sass/emulate/shadow.h"

namespace nervanagpu::sass::emulate {

class StoreMarks {
 public:
  void reset(std::uint32_t bytes, std::uint32_t warps);
  [[nodiscard]] bool empty() const { return marks_.empty(); }

  void issued(std::uint32_t warp);                                        // a copy
  void read(std::uint32_t warp, std::uint32_t pc, std::uint32_t offset);  // 16 bytes, by the warp's youngest copy
  [[nodiscard]] std::uint32_t count(std::uint32_t warp) const { return count_[warp]; }  // copies of the warp so far
  // The first `count` copies of the warp have read all, at its time `now`.
  void awaited(std::uint32_t warp, std::uint32_t count, std::uint32_t now);

  struct Conflict {
    std::uint32_t warp = 0;
    std::uint32_t pc = 0;
    bool awaited = false;  // but the writer cannot know of it
  };
  // `warp` writes. The marks there are taken away.
  std::optional<Conflict> write(std::uint32_t warp, std::uint32_t offset, std::uint32_t bytes,
                                const Shadow::Clock& seen);

 private:
  struct Mark {
    std::uint32_t number = 0;  // of the copy, from 1; 0: none
    std::uint32_t pc = 0;
    std::uint32_t warp = 0;
  };
  std::uint32_t pieces_ = 0;
  std::vector<Mark> marks_;  // by 16 bytes: the last copy that reads them; made when first needed
  std::vector<std::uint32_t> count_;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> awaited_;  // of a warp: (copies, time), ascending
};

}  // namespace nervanagpu::sass::emulate
