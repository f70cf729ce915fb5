// What several families do to the bits of one lane. Included like lanes.h.
#pragma once

#include <cstdint>

#include "sass/emulate/uop/uop.h"

namespace nervanagpu::sass::emulate {
namespace {

// Any function of three bits: the eight minterms of the table that are in it.
[[maybe_unused]] inline std::uint32_t lut3(std::uint32_t lut, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t r = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t in = (lut >> i & 1) != 0 ? ~0u : 0u;
    r |= in & ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  return r;
}

[[maybe_unused]] inline std::uint32_t reverse(std::uint32_t a) {
  a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
  a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
  a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(a);
}

// A float32 whose subnormal numbers are zeros.
[[maybe_unused]] inline std::uint32_t flush(std::uint32_t b) {
  return (b & 0x7f800000u) == 0 ? b & 0x80000000u : b;
}

// What a load of fewer bytes than a register puts there.
[[maybe_unused]] inline std::uint32_t widen(const Detail& x, std::uint32_t v) {
  if (x.bytes == 1) return x.is_signed ? static_cast<std::uint32_t>(static_cast<std::int8_t>(v)) : v & 0xff;
  if (x.bytes == 2) return x.is_signed ? static_cast<std::uint32_t>(static_cast<std::int16_t>(v)) : v & 0xffff;
  return v;
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
