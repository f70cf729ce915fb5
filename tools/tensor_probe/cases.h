// The inputs of the tensor-core experiment: which instructions, and the bits of every operand as a function of a seed. The
// program on the chip (probe.cu) and the tests of the emulator's model compute them from this one text.
//
// A case is an instruction shape with its types. A tile is one such instruction; its style, drawn from the tile's number,
// says what its numbers look like.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define NG_BOTH __host__ __device__
#else
#define NG_BOTH
#endif

namespace nervanagpu::tensor_probe {

enum class Format : std::uint8_t { kF16, kBf16, kTf32, kE4m3, kE5m2, kF32, kF64, kS8, kU8, kS32 };

enum class Kind : std::uint8_t { kMma, kWgmma };

enum Flag : std::uint8_t {
  kNegateA = 1,
  kNegateB = 2,
  kDropC = 4,     // scale-d = 0
  kSaturate = 8,  // of integers
  kRegisterA = 16,
};

struct Case {
  const char* name;
  Kind kind;
  std::uint8_t m, n, k;
  Format a, b, c;  // c is also the result's
  std::uint8_t flags;
};

constexpr Case kCases[] = {
    {"mma.16816.f32.f16", Kind::kMma, 16, 8, 16, Format::kF16, Format::kF16, Format::kF32, 0},
    {"mma.1688.f32.f16", Kind::kMma, 16, 8, 8, Format::kF16, Format::kF16, Format::kF32, 0},
    {"mma.16816.f16.f16", Kind::kMma, 16, 8, 16, Format::kF16, Format::kF16, Format::kF16, 0},
    {"mma.1688.f16.f16", Kind::kMma, 16, 8, 8, Format::kF16, Format::kF16, Format::kF16, 0},
    {"mma.16816.f32.bf16", Kind::kMma, 16, 8, 16, Format::kBf16, Format::kBf16, Format::kF32, 0},
    {"mma.1688.f32.bf16", Kind::kMma, 16, 8, 8, Format::kBf16, Format::kBf16, Format::kF32, 0},
    {"mma.1688.f32.tf32", Kind::kMma, 16, 8, 8, Format::kTf32, Format::kTf32, Format::kF32, 0},
    {"mma.1684.f32.tf32", Kind::kMma, 16, 8, 4, Format::kTf32, Format::kTf32, Format::kF32, 0},
    {"mma.884.f64", Kind::kMma, 8, 8, 4, Format::kF64, Format::kF64, Format::kF64, 0},
    {"mma.1684.f64", Kind::kMma, 16, 8, 4, Format::kF64, Format::kF64, Format::kF64, 0},
    {"mma.1688.f64", Kind::kMma, 16, 8, 8, Format::kF64, Format::kF64, Format::kF64, 0},
    {"mma.16816.f64", Kind::kMma, 16, 8, 16, Format::kF64, Format::kF64, Format::kF64, 0},
    {"mma.16816.s8.s8", Kind::kMma, 16, 8, 16, Format::kS8, Format::kS8, Format::kS32, 0},
    {"mma.16832.s8.u8", Kind::kMma, 16, 8, 32, Format::kS8, Format::kU8, Format::kS32, 0},
    {"mma.16832.u8.s8.sat", Kind::kMma, 16, 8, 32, Format::kU8, Format::kS8, Format::kS32, kSaturate},
    {"mma.16816.u8.u8.sat", Kind::kMma, 16, 8, 16, Format::kU8, Format::kU8, Format::kS32, kSaturate},
    {"wgmma.f32.f16", Kind::kWgmma, 64, 8, 16, Format::kF16, Format::kF16, Format::kF32, 0},
    {"wgmma.f32.f16.neg_a", Kind::kWgmma, 64, 8, 16, Format::kF16, Format::kF16, Format::kF32, kNegateA},
    {"wgmma.f32.f16.drop_c", Kind::kWgmma, 64, 8, 16, Format::kF16, Format::kF16, Format::kF32, kDropC},
    {"wgmma.f32.f16.registers", Kind::kWgmma, 64, 8, 16, Format::kF16, Format::kF16, Format::kF32, kRegisterA},
    {"wgmma.f16.f16", Kind::kWgmma, 64, 8, 16, Format::kF16, Format::kF16, Format::kF16, 0},
    {"wgmma.f16.f16.neg_ab", Kind::kWgmma, 64, 8, 16, Format::kF16, Format::kF16, Format::kF16, kNegateA | kNegateB},
    {"wgmma.f16.f16.drop_c", Kind::kWgmma, 64, 8, 16, Format::kF16, Format::kF16, Format::kF16, kDropC},
    {"wgmma.f32.bf16", Kind::kWgmma, 64, 8, 16, Format::kBf16, Format::kBf16, Format::kF32, 0},
    {"wgmma.f32.bf16.neg_b", Kind::kWgmma, 64, 8, 16, Format::kBf16, Format::kBf16, Format::kF32, kNegateB},
    {"wgmma.f32.tf32", Kind::kWgmma, 64, 8, 8, Format::kTf32, Format::kTf32, Format::kF32, 0},
    {"wgmma.f32.tf32.registers", Kind::kWgmma, 64, 8, 8, Format::kTf32, Format::kTf32, Format::kF32, kRegisterA},
    {"wgmma.f32.e4m3.e4m3", Kind::kWgmma, 64, 8, 32, Format::kE4m3, Format::kE4m3, Format::kF32, 0},
    {"wgmma.f32.e4m3.e5m2", Kind::kWgmma, 64, 8, 32, Format::kE4m3, Format::kE5m2, Format::kF32, 0},
    {"wgmma.f32.e5m2.e4m3", Kind::kWgmma, 64, 8, 32, Format::kE5m2, Format::kE4m3, Format::kF32, 0},
    {"wgmma.f32.e5m2.e5m2", Kind::kWgmma, 64, 8, 32, Format::kE5m2, Format::kE5m2, Format::kF32, 0},
    {"wgmma.f32.e4m3.neg_a", Kind::kWgmma, 64, 8, 32, Format::kE4m3, Format::kE4m3, Format::kF32, kNegateA},
    {"wgmma.f32.e5m2.drop_c", Kind::kWgmma, 64, 8, 32, Format::kE5m2, Format::kE5m2, Format::kF32, kDropC},
    {"wgmma.f16.e4m3.e4m3", Kind::kWgmma, 64, 8, 32, Format::kE4m3, Format::kE4m3, Format::kF16, 0},
    {"wgmma.f16.e5m2.e5m2", Kind::kWgmma, 64, 8, 32, Format::kE5m2, Format::kE5m2, Format::kF16, 0},
    {"wgmma.f16.e5m2.e4m3", Kind::kWgmma, 64, 8, 32, Format::kE5m2, Format::kE4m3, Format::kF16, 0},
    {"wgmma.s8.s8", Kind::kWgmma, 64, 8, 32, Format::kS8, Format::kS8, Format::kS32, 0},
    {"wgmma.s8.u8", Kind::kWgmma, 64, 8, 32, Format::kS8, Format::kU8, Format::kS32, 0},
    {"wgmma.u8.s8.sat", Kind::kWgmma, 64, 8, 32, Format::kU8, Format::kS8, Format::kS32, kSaturate},
    {"wgmma.u8.u8.sat", Kind::kWgmma, 64, 8, 32, Format::kU8, Format::kU8, Format::kS32, kSaturate},
};
constexpr unsigned kCaseCount = sizeof kCases / sizeof kCases[0];

NG_BOTH constexpr unsigned bits_of(Format f) {
  switch (f) {
    case Format::kF16:
    case Format::kBf16: return 16;
    case Format::kE4m3:
    case Format::kE5m2:
    case Format::kS8:
    case Format::kU8: return 8;
    case Format::kF64: return 64;
    default: return 32;
  }
}
NG_BOTH constexpr unsigned exponent_bits(Format f) {
  switch (f) {
    case Format::kF16:
    case Format::kE5m2: return 5;
    case Format::kE4m3: return 4;
    case Format::kF64: return 11;
    default: return 8;
  }
}
// Stored bits after the exponent: of TF32, which lies in 32 bits, all 23.
NG_BOTH constexpr unsigned fraction_bits(Format f) {
  return bits_of(f) - 1 - exponent_bits(f);
}
NG_BOTH constexpr bool is_integer(Format f) {
  return f == Format::kS8 || f == Format::kU8 || f == Format::kS32;
}

NG_BOTH inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

enum Style : unsigned {
  kPlain,         // exponents close to 1.0
  kAnyBits,       // every pattern, NaN and infinity included
  kAnyFinite,     // every exponent
  kCancel,        // products come in pairs that nearly cancel
  kSparse,        // many zeros of both signs
  kSubnormal,     // the lowest exponents
  kLarge,         // the highest
  kSpecial,       // plain, with a few specials
  kWide,          // exponents far apart, some cancelling
  kRound,         // fractions near a power of two: carries and ties
  kExactPlain,    // plain, and C zero
  kTinyProducts,  // C large against all products, or the other way round
  kDeep,          // products around the smallest float32
  kStyleCount,
};

NG_BOTH inline Style style_of(std::uint64_t seed, std::uint64_t tile) {
  return static_cast<Style>(mix(seed ^ mix(tile * 3 + 0x5151)) % kStyleCount);
}

// A number with a random fraction and an exponent field drawn from [low, high].
NG_BOTH inline std::uint64_t float_bits(Format f, std::uint64_t h, int low, int high) {
  const unsigned fb = fraction_bits(f);
  const int top = (1 << exponent_bits(f)) - 1;
  low = low < 0 ? 0 : low;
  high = high > top ? top : high < 0 ? 0 : high;
  low = low > high ? high : low;
  const auto e =
      static_cast<std::uint64_t>(low + static_cast<int>((h >> 8 & 0xffffff) % static_cast<unsigned>(high - low + 1)));
  const std::uint64_t sign = h & 1;
  const std::uint64_t fraction = mix(h) & ((std::uint64_t{1} << fb) - 1);
  return sign << (bits_of(f) - 1) | e << fb | fraction;
}

NG_BOTH inline std::uint64_t special_bits(Format f, std::uint64_t h) {
  const unsigned fb = fraction_bits(f);
  const std::uint64_t top = (std::uint64_t{1} << exponent_bits(f)) - 1;
  const std::uint64_t sign = (h & 1) << (bits_of(f) - 1);
  const std::uint64_t all = (std::uint64_t{1} << fb) - 1;
  switch (h >> 1 & 7) {
    case 0: return sign;                                      // zero
    case 1: return sign | top << fb;                          // infinity
    case 2: return sign | top << fb | (mix(h) & all);         // NaN, mostly
    case 3: return sign | all;                                // largest subnormal
    case 4: return sign | (f == Format::kTf32 ? 0x2000 : 1);  // smallest subnormal
    case 5: return sign | ((top - 1) << fb) | all;            // largest finite, mostly
    case 6: return sign | std::uint64_t{1} << fb;             // smallest normal
    default: return sign | ((top >> 1) << fb);                // one
  }
}

// Operand A (which = 0, row = m) or B (which = 1, row = n) at k.
NG_BOTH inline std::uint64_t operand_bits(Format f, std::uint64_t seed, std::uint64_t tile, unsigned which,
                                          unsigned row, unsigned k) {
  const Style style = style_of(seed, tile);
  const std::uint64_t base = mix(seed + 0x1000 * which + 0x77) ^ mix(tile * 2 + which);
  const std::uint64_t h = mix(base + row * 256 + k);
  if (is_integer(f)) {
    const std::uint64_t v = mix(h);
    if (style == kSparse) return (v & 0x300) == 0 ? v & 0xff : 0;
    if (style == kLarge) return (v & 0x100) != 0 ? 0x80 : 0x7f + (v & 0x80);
    if (style == kSpecial) return (v & 0x100) != 0 ? 0xff : 0x80;
    return v & 0xff;
  }
  const int top = (1 << exponent_bits(f)) - 1;
  const int bias = top / 2;
  const unsigned fb = fraction_bits(f);
  switch (style) {
    case kAnyBits: return mix(h) & (bits_of(f) == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_of(f)) - 1);
    case kAnyFinite: return float_bits(f, h, 0, top - 1);
    case kCancel:
    case kWide: {
      const std::uint64_t pair = mix(base + row * 256 + (k & ~1u));
      const int reach = style == kCancel ? 4 : 12;
      std::uint64_t v = float_bits(f, pair, bias - reach, bias + reach > top - 1 ? top - 1 : bias + reach);
      if ((k & 1) == 0) return v;
      if (style == kWide && (h & 0x30) == 0) return float_bits(f, h, 0, bias);
      if (which == 0) v ^= std::uint64_t{1} << (bits_of(f) - 1);
      if ((h & 0x700) == 0) v ^= std::uint64_t{1} << (h >> 16 & 63) % (fb < 10 ? fb : fb - fb / 3);
      return v;
    }
    case kSparse:
      if ((h & 0x30) != 0) return (h & 1) << (bits_of(f) - 1);
      return float_bits(f, h, (h & 0x40) != 0 ? 0 : bias - 6, top - 1);
    case kSubnormal: return float_bits(f, h, 0, (h & 0x30) != 0 ? 0 : 3);
    case kLarge: return float_bits(f, h, top - 3, top - 1);
    case kSpecial:
      if ((h & 0x7c0) == 0) return special_bits(f, mix(h + 1));
      return float_bits(f, h, bias - 3, bias + 3);
    case kRound: {
      std::uint64_t v = float_bits(f, h, bias - 8, bias + 4);
      const std::uint64_t all = (std::uint64_t{1} << fb) - 1;
      v &= ~all;
      if ((h & 0x30) != 0) return v;
      return (h & 0x40) != 0 ? v | all : v | std::uint64_t{1} << (h >> 40) % fb;
    }
    case kTinyProducts: return float_bits(f, h, bias - 9, bias - 2);
    case kDeep: return which == 0 ? float_bits(f, h, bias - 68, bias - 62) : float_bits(f, h, bias - 82, bias - 66);
    default: return float_bits(f, h, bias - 3, bias + 3);
  }
}

// C at (m, n), for operands of type `of`.
NG_BOTH inline std::uint64_t addend_bits(Format f, Format of, std::uint64_t seed, std::uint64_t tile, unsigned m,
                                         unsigned n) {
  const Style style = style_of(seed, tile);
  const std::uint64_t h = mix((mix(seed + 0x3333) ^ mix(tile * 2 + 0x100000001)) + m * 256 + n);
  if (f == Format::kS32) {
    const std::uint64_t v = mix(h);
    if ((h & 7) == 0) return v & 0xffffffff;
    if ((h & 7) < 4) return (0x7fffffff - (v & 0xffff) * (h >> 4 & 7)) & 0xffffffff;
    if ((h & 7) < 7) return (0x80000000u + (v & 0xffff) * (h >> 4 & 7)) & 0xffffffff;
    return 0;
  }
  const int top = (1 << exponent_bits(f)) - 1;
  const int bias = top / 2;
  const int of_bias = ((1 << exponent_bits(of)) - 1) / 2;
  const std::uint64_t sign = (h & 1) << (bits_of(f) - 1);
  switch (style) {
    case kAnyBits:
      if ((h & 0x30) == 0) return sign;
      return mix(h) & (bits_of(f) == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_of(f)) - 1);
    case kAnyFinite:
      if ((h & 0x30) == 0) return sign;
      if ((h & 0x40) != 0) return float_bits(f, h, 0, top - 1);
      return float_bits(f, h, bias - 2 * of_bias - 4, bias + 2 * of_bias > top - 1 ? top - 1 : bias + 2 * of_bias);
    case kCancel:
      if ((h & 0x30) == 0) return sign;
      return float_bits(f, h, bias - 24, bias + 8);
    case kSparse:
      if ((h & 0x10) == 0) return sign;
      return float_bits(f, h, 0, top - 1);
    case kSubnormal:
      if ((h & 0x30) == 0) return sign;
      if ((h & 0x30) == 0x10) return float_bits(f, h, 0, 2);
      return float_bits(f, h,
                        bias - 2 * of_bias - 6 - static_cast<int>(fraction_bits(of) > 10 ? 10 : fraction_bits(of)),
                        bias - 2 * of_bias + 8);
    case kLarge:
      if ((h & 0x70) == 0) return sign;
      if ((h & 0x10) == 0) return float_bits(f, h, top - 3, top - 1);
      return float_bits(f, h, bias + of_bias, bias + 2 * of_bias > top - 1 ? top - 1 : bias + 2 * of_bias);
    case kSpecial:
      if ((h & 0x7c0) == 0) return special_bits(f, mix(h + 1));
      return float_bits(f, h, bias - 6, bias + 6);
    case kWide: return float_bits(f, h, bias - 30, bias + 20 > top - 1 ? top - 1 : bias + 20);
    case kExactPlain: return sign;
    case kDeep: return (h & 0x10) == 0 ? sign : float_bits(f, h, 0, 3);
    case kTinyProducts:
      if ((h & 0x10) == 0) return float_bits(f, h, bias - 40, bias - 20);
      return float_bits(f, h, bias + 2, bias + 15 > top - 1 ? top - 1 : bias + 15);
    default: return float_bits(f, h, bias - 8, bias + 8);
  }
}

// Results are hashed in the order of tile, m, n.
NG_BOTH inline std::uint64_t fold(std::uint64_t hash, std::uint64_t bits) {
  return (hash ^ bits) * 0x100000001b3u;
}
constexpr std::uint64_t kFoldStart = 0xcbf29ce484222325u;
constexpr unsigned kChunk = 65536;  // results that share a digest

}  // namespace nervanagpu::tensor_probe
