// Numbers as addresses are written.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace nervanagpu::sass {

// "0x1f": without leading zeros.
inline std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

}  // namespace nervanagpu::sass
