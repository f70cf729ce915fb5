// Numbers in instruction text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nervanagpu::sass {

// What each lane of a quad does with two values, by its two bits: a + b, a - b, b - a, b.
inline constexpr std::array<std::string_view, 4> kQuadLanes = {"PP", "PN", "NP", "ZP"};

// Decimal or 0x number with optional sign at the start of `text`; returns the characters used, 0 if there is none or it
// does not fit in 64 bits.
std::size_t parse_integer(std::string_view text, std::int64_t& value);

// A floating-point number at the start of `text`: decimal, +INF, -INF, +QNAN, -QNAN, +SNAN, -SNAN, or its bits as 0x. `kind`: 16, 32,
// 64 bits, -16 = bfloat16. Returns the characters used, 0 if there is none or it is too large.
std::size_t parse_float(std::string_view text, int kind, std::uint64_t& bits);

}  // namespace nervanagpu::sass
