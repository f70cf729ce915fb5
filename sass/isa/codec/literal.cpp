#include "sass/isa/codec/literal.h"

#include <bit>
#include <charconv>
#include <cmath>

namespace nervanagpu::sass {
namespace {

// `v` rounded to nearest even with `fraction` explicit bits and the exponent range of `exponent` bits.
std::uint64_t small_float(double v, int exponent_bits, int fraction_bits) {
  const std::uint64_t sign = std::signbit(v) ? 1 : 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double magnitude = std::fabs(v);
  std::uint64_t raw = 0;
  if (magnitude != 0) {
    int e = 0;
    std::frexp(magnitude, &e);
    e -= 1;
    const int lowest = 1 - bias;
    const int scale = (e < lowest ? lowest : e) - fraction_bits;
    const auto n = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, -scale)));
    // A carry out of the fraction moves into the exponent by itself.
    raw = n + (static_cast<std::uint64_t>(e < lowest ? 0 : e - lowest) << fraction_bits);
  }
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  if (raw > infinity) raw = infinity;
  return sign << (exponent_bits + fraction_bits) | raw;
}

}  // namespace

std::size_t parse_integer(std::string_view text, std::int64_t& value) {
  std::size_t at = 0;
  bool negative = false;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
  int base = 10;
  if (text.substr(at, 2) == "0x" || text.substr(at, 2) == "0X") {
    base = 16;
    at += 2;
  }
  std::uint64_t v = 0;
  const char* const end = text.data() + text.size();
  const auto got = std::from_chars(text.data() + at, end, v, base);
  if (got.ec != std::errc{}) return 0;
  const bool suffix = got.ptr != end && *got.ptr == '.' && got.ptr + 1 != end && got.ptr[1] >= 'A' && got.ptr[1] <= 'Z';
  if (got.ptr != end && !suffix &&
      (*got.ptr == '.' || (*got.ptr >= 'a' && *got.ptr <= 'z') || (*got.ptr >= 'A' && *got.ptr <= 'Z'))) {
    return 0;
  }
  if (negative && v > std::uint64_t{1} << 63) return 0;
  value = static_cast<std::int64_t>(negative ? std::uint64_t{0} - v : v);
  return static_cast<std::size_t>(got.ptr - text.data());
}

std::size_t parse_float(std::string_view text, int kind, std::uint64_t& bits) {
  const int exponent_bits = kind == 64 ? 11 : kind == 16 ? 5 : 8;
  const int width = kind < 0 ? -kind : kind;
  const int fraction_bits = width - 1 - exponent_bits;
  std::size_t at = 0;
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) negative = text[at++] == '-';
  const std::uint64_t sign = negative ? std::uint64_t{1} << (width - 1) : 0;
  if (text.substr(at, 3) == "INF") {
    bits = sign | ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
    return at + 3;
  }
  if (text.substr(at, 4) == "QNAN") {
    // What the machine makes: +QNAN has all bits set, -QNAN only the quiet one; short of a double its upper half.
    bits = (std::uint64_t{1} << (width - 1)) - 1;
    if (width == 64) bits &= ~std::uint64_t{0xffffffff};
    if (negative) bits = sign | ((std::uint64_t{1} << (exponent_bits + 1)) - 1) << (fraction_bits - 1);
    return at + 4;
  }
  if (text.substr(at, 4) == "SNAN") {  // the highest bit of the fraction that does not make it a quiet one
    bits = sign | ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits | std::uint64_t{1} << (fraction_bits - 2);
    return at + 4;
  }
  if (text.substr(at, 2) == "0x") {
    std::int64_t v = 0;
    const std::size_t used = parse_integer(text, v);
    if (used == 0 || (width < 64 && (v < 0 || (v >> width) != 0))) return 0;
    bits = static_cast<std::uint64_t>(v);
    return used;
  }
  const char* const begin = text.data() + at;
  const char* const end = text.data() + text.size();
  if (begin == end || !((*begin >= '0' && *begin <= '9') || *begin == '.')) return 0;
  const char* stop = nullptr;
  if (kind == 32) {
    float v = 0;
    const auto got = std::from_chars(begin, end, v);
    if (got.ec == std::errc::invalid_argument) return 0;
    if (got.ec == std::errc::result_out_of_range) {  // too small is zero or subnormal, too large is refused
      double d = 0;
      const auto wide = std::from_chars(begin, end, d);
      if (wide.ec != std::errc{} || d > 1) return 0;
      v = static_cast<float>(d);
    }
    stop = got.ptr;
    bits = std::bit_cast<std::uint32_t>(v) | sign;
  } else {
    double v = 0;
    const auto got = std::from_chars(begin, end, v);
    if (got.ec != std::errc{}) return 0;
    stop = got.ptr;
    bits = (kind == 64 ? std::bit_cast<std::uint64_t>(v) : small_float(v, exponent_bits, fraction_bits)) | sign;
  }
  // 1.NEG: the dot belongs to what follows.
  if (stop != end && stop[-1] == '.' && *stop >= 'A' && *stop <= 'Z') --stop;
  return static_cast<std::size_t>(stop - text.data());
}

}  // namespace nervanagpu::sass
