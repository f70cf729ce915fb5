// The second stage: expanded lines become instructions, labels become instruction indices.
#pragma once

#include <string_view>

#include "sass/asm/pipeline.h"

namespace nervanagpu::sass {

struct ControlColumn {
  Control control;
  Pinned pinned;
};

// "WW:R:W:Y:S", for example "01:-:2:Y:4", "--:-:-:-:1" or "??:?:?:?:?":
//   WW  scoreboards to wait for, a mask of two hex digits    R  scoreboard released when the sources were read
//   W   scoreboard released when the results are written     Y  the scheduler may switch to another warp
//   S   stall, 0 to 15.   "-" (or "--") is none; "?" (or "??") leaves the field to schedule.
// Columns of the Diag count from 1 in `text`.
Result<ControlColumn> parse_control_column(std::string_view text);
// The same text from a control, as `ngasm dis` shows it.
std::string control_column(const Control& control);

// The text form of the parsed or scheduled program, for --dump.
std::string dump(const Program& program);

}  // namespace nervanagpu::sass
