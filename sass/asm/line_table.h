// The source position of every instruction <-> the text of the cubin's .ngasm.lines.K section: a file table, then one
// record for each run of instructions that come from one place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/result.h"

namespace nervanagpu::sass {

// The longest file name of a table; longer ones keep their end, which names the file.
inline constexpr std::size_t kMaxFileName = 255;

std::string line_table_text(std::span<const Span> lines);
// One Span for each of `count` instructions.
Result<std::vector<Span>> read_line_table(std::string_view text, std::size_t count);

}  // namespace nervanagpu::sass
