// The 21 control bits of an instruction: how long to wait after it, and which of the six scoreboards of the warp it
// sets and awaits. Layout in a Word (both families, see word.h):
//   [108:105] stall   [109] no-yield   [112:110] write scoreboard   [115:113] read scoreboard
//   [121:116] wait mask   [124:122] reuse of slots A, B, C ([125:122] and four slots on sm_50 .. sm_62)
#pragma once

#include <string>

#include "sass/isa/word.h"

namespace nervanagpu::sass {

inline constexpr unsigned kNoScoreboard = 7;

struct Control {
  std::uint8_t stall = 1;                 // issue cycles before the next instruction of this warp, 0..15
  bool yield = false;                     // true: the scheduler may prefer another warp (bit 109 = 0)
  std::uint8_t write_sb = kNoScoreboard;  // 0..5: released when the results are written; 7: none
  std::uint8_t read_sb = kNoScoreboard;   // 0..5: released when the sources were read; 7: none
  std::uint8_t wait = 0;                  // bit i: issue only when scoreboard i is zero
  std::uint8_t reuse = 0;                 // bit i: keep operand slot i in the reuse cache

  friend constexpr bool operator==(const Control&, const Control&) = default;
};

constexpr Word put_control(Word w, const Control& c) {
  w = set_bits(w, 105, 4, c.stall);
  w = set_bits(w, 109, 1, c.yield ? 0 : 1);
  w = set_bits(w, 110, 3, c.write_sb);
  w = set_bits(w, 113, 3, c.read_sb);
  w = set_bits(w, 116, 6, c.wait);
  return set_bits(w, 122, 4, c.reuse);
}

constexpr Control get_control(const Word& w) {
  return {.stall = static_cast<std::uint8_t>(get_bits(w, 105, 4)),
          .yield = get_bits(w, 109, 1) == 0,
          .write_sb = static_cast<std::uint8_t>(get_bits(w, 110, 3)),
          .read_sb = static_cast<std::uint8_t>(get_bits(w, 113, 3)),
          .wait = static_cast<std::uint8_t>(get_bits(w, 116, 6)),
          .reuse = static_cast<std::uint8_t>(get_bits(w, 122, 4))};
}

// All control bits: what `ngasm encode` leaves free and roundtrip compares apart.
inline constexpr Word kControlBits = bit_range(105, 21);

}  // namespace nervanagpu::sass
