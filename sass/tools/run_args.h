// The arguments of `ngasm run`: values and arrays of a type, their contents, and what is said of them after the run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/program.h"
#include "sass/result.h"

namespace nervanagpu::sass::tools {

struct RunArg {
  ParamType type = ParamType::u32;
  bool array = false;
  std::uint64_t count = 1;
  std::string fill;              // zeros, ones, iota, random, or a file
  std::vector<std::byte> bytes;  // contents, before and after the run
  std::uint64_t address = 0;     // of an array

  [[nodiscard]] std::string title() const;  // "f32[1024]"
};

bool is_float(ParamType type);

// "f32[1024]=random", "u32=5", "f32=1.5". `index` (from 0) seeds the random fill together with `seed`. An array takes its
// bytes from `room`, or is refused.
Result<RunArg> read_run_arg(std::string_view text, std::uint64_t seed, std::size_t index, std::uint64_t& room);

// One line: smallest, largest, mean, how many are not finite, and a checksum of the bytes.
std::string statistics(const RunArg& arg);
// The values: all of a short array, the first and last of a long one.
std::string values(const RunArg& arg);

}  // namespace nervanagpu::sass::tools
