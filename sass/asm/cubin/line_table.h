// A table of lines <-> the bytes of the cubin's .ngasm.lines.K section: a head in text, that names the files, then for
// each run four numbers of seven bits a byte, the lowest first (the high bit: more follow): how many instructions after
// the run before it begins (0: the first), how far on the file and the line are from that run's (zigzag: 0, -1, 1, -2
// ...), and its column. A run is from another place than the one before: most take four bytes.
//
//   nervanagpu-lines 2
//   file "kernels/gemm/float32/sgemm.sass"
//   runs 217
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sass/line_table.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// The longest file name of a table; longer ones keep their end, which names the file.
inline constexpr std::size_t kMaxFileName = 255;

std::string line_table_bytes(const LineTable& lines);
// Of a kernel of `count` instructions.
Result<LineTable> read_line_table(std::string_view bytes, std::size_t count);

}  // namespace nervanagpu::sass
