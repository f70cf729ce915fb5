// Panels of 16-bit operands, and of 8-bit ones by a table, for processors with AVX2.
#include <algorithm>
#include <cstring>

#include "sass/emulate/tensor/cpu.h"
#include "sass/emulate/tensor/tensor_operands.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

namespace nervanagpu::sass::emulate::tensor {
namespace {

// Eight numbers with their exponents, and the limits of these so far. The exponent of infinity and NaN is 128.
struct Limits {
  __m128i low = _mm_set1_epi16(10000);
  __m128i high = _mm_set1_epi16(kNoExponent);
};

struct Eight {
  __m256 value;
  __m128i exponent;
};

// 16-bit patterns of `kFraction` fraction bits; `kTop` is the field of infinity and NaN.
template <int kFraction, int kTop>
Eight eight(__m128i bits, Limits& limits) {
  const __m128i field = _mm_and_si128(_mm_srli_epi16(bits, kFraction), _mm_set1_epi16(kTop));
  __m128i e = _mm_sub_epi16(_mm_max_epi16(field, _mm_set1_epi16(1)), _mm_set1_epi16(kTop / 2));
  e = _mm_blendv_epi8(e, _mm_set1_epi16(128), _mm_cmpeq_epi16(field, _mm_set1_epi16(kTop)));
  const __m128i zero = _mm_cmpeq_epi16(_mm_slli_epi16(bits, 1), _mm_setzero_si128());
  limits.low = _mm_min_epi16(limits.low, _mm_or_si128(_mm_andnot_si128(zero, e), _mm_and_si128(zero, limits.low)));
  e = _mm_blendv_epi8(e, _mm_set1_epi16(kNoExponent), zero);
  limits.high = _mm_max_epi16(limits.high, e);
  const __m256 value =
      kFraction == 10 ? _mm256_cvtph_ps(bits) : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  return {value, e};
}

// Every number of an 8-bit type.
struct Table {
  std::array<float, 256> value;
  std::array<std::int16_t, 256> exponent;
  explicit Table(Type t) {
    for (unsigned i = 0; i < 256; ++i) {
      const Number n = decode(t, i);
      value[i] = n.value;
      exponent[i] = n.value - n.value == 0 ? n.exponent : std::int16_t{128};
    }
  }
};
const Table& table_of(Type t) {
  static const Table kE4m3(Type::kE4m3);
  static const Table kE5m2(Type::kE5m2);
  return t == Type::kE4m3 ? kE4m3 : kE5m2;
}

Range range_of(const Limits& limits) {
  alignas(16) std::array<std::int16_t, 8> low;
  alignas(16) std::array<std::int16_t, 8> high;
  _mm_store_si128(reinterpret_cast<__m128i*>(low.data()), limits.low);
  _mm_store_si128(reinterpret_cast<__m128i*>(high.data()), limits.high);
  Range r;
  r.low = *std::min_element(low.begin(), low.end());
  r.high = *std::max_element(high.begin(), high.end());
  r.special = r.high == 128;
  return r;
}

Eight eight(Type t, __m128i bits, Limits& limits) {
  return t == Type::kF16 ? eight<10, 31>(bits, limits) : eight<7, 255>(bits, limits);
}

__m128i load(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}

struct Block {  // 8 x 8
  __m128i row[8];
  __m128i& operator[](unsigned i) { return row[i]; }
};

void transpose(Block& m) {
  Block t;
  for (unsigned i = 0; i < 4; ++i) {
    t[2 * i] = _mm_unpacklo_epi16(m[2 * i], m[2 * i + 1]);
    t[2 * i + 1] = _mm_unpackhi_epi16(m[2 * i], m[2 * i + 1]);
  }
  for (unsigned i = 0; i < 2; ++i) {
    m[4 * i] = _mm_unpacklo_epi32(t[4 * i], t[4 * i + 2]);
    m[4 * i + 1] = _mm_unpackhi_epi32(t[4 * i], t[4 * i + 2]);
    m[4 * i + 2] = _mm_unpacklo_epi32(t[4 * i + 1], t[4 * i + 3]);
    m[4 * i + 3] = _mm_unpackhi_epi32(t[4 * i + 1], t[4 * i + 3]);
  }
  for (unsigned i = 0; i < 4; ++i) {
    t[2 * i] = _mm_unpacklo_epi64(m[i], m[i + 4]);
    t[2 * i + 1] = _mm_unpackhi_epi64(m[i], m[i + 4]);
  }
  m = t;
}

void put(PanelB& panel, unsigned k, unsigned n, const Eight& v) {
  _mm256_store_ps(&panel.value[k][n], v.value);
  _mm_store_si128(reinterpret_cast<__m128i*>(&panel.exponent[k][n]), v.exponent);
}

void join(Range& r, std::int16_t e) {
  if (e == kNoExponent) return;
  r.low = std::min(r.low, e);
  r.high = std::max(r.high, e);
  r.special = r.special || e == 128;
}

void fill_b_table(PanelB& panel, const Table& table, const Stored& from, unsigned n, unsigned k) {
  for (unsigned c = 0; c < n; ++c) {
    if (c % 8 == 0) panel.range[c / 8] = Range{};
    for (unsigned i = 0; i < k; ++i) {
      const auto v = std::to_integer<unsigned>(from.bytes[32 * c + i]);
      panel.value[i][c] = table.value[v];
      panel.exponent[i][c] = table.exponent[v];
      join(panel.range[c / 8], table.exponent[v]);
    }
  }
}

void fill_a_table(PanelA& panel, const Table& table, const Stored& from, unsigned k, bool negate) {
  for (unsigned r = 0; r < kRows; ++r) {
    panel.range[r] = Range{};
    for (unsigned i = 0; i < k; ++i) {
      const auto v = std::to_integer<unsigned>(from.bytes[32 * r + i]);
      panel.value[r][i] = negate ? -table.value[v] : table.value[v];
      panel.exponent[r][i] = table.exponent[v];
      join(panel.range[r], table.exponent[v]);
    }
  }
}

void fill_b_avx2(PanelB& panel, Type t, const Stored& from, unsigned n, unsigned k, bool transposed) {
  if (bytes_of(t) == 1 && !transposed) {
    fill_b_table(panel, table_of(t), from, n, k);
    return;
  }
  if (bytes_of(t) != 2 || k % 8 != 0) {
    fill_b_plain(panel, t, from, n, k, transposed);
    return;
  }
  const std::byte* p = from.bytes.data();
  for (unsigned c = 0; c < n; c += 8) {
    Limits limits;
    if (transposed) {
      for (unsigned i = 0; i < k; ++i) put(panel, i, c, eight(t, load(p + 2 * (std::size_t{i} * n + c)), limits));
    } else {
      for (unsigned i = 0; i < k; i += 8) {
        Block m;
        for (unsigned r = 0; r < 8; ++r) m[r] = load(p + std::size_t{32} * (c + r) + 2 * i);
        transpose(m);
        for (unsigned r = 0; r < 8; ++r) put(panel, i + r, c, eight(t, m[r], limits));
      }
    }
    panel.range[c / 8] = range_of(limits);
  }
}

void fill_a_avx2(PanelA& panel, Type t, const Stored& from, unsigned k, bool transposed, bool negate) {
  if (bytes_of(t) == 1 && !transposed) {
    fill_a_table(panel, table_of(t), from, k, negate);
    return;
  }
  if (bytes_of(t) != 2 || k % 8 != 0) {
    fill_a_plain(panel, t, from, k, transposed, negate);
    return;
  }
  const std::byte* p = from.bytes.data();
  const __m256 flip = negate ? _mm256_set1_ps(-0.0F) : _mm256_setzero_ps();
  std::array<Limits, kRows> limits;
  for (unsigned first = 0; first < kRows; first += 8) {
    for (unsigned i = 0; i < k; i += 8) {
      Block m;
      for (unsigned r = 0; r < 8; ++r) {
        m[r] = transposed ? load(p + 2 * (std::size_t{i + r} * kRows + first))
                          : load(p + std::size_t{32} * (first + r) + 2 * i);
      }
      if (transposed) transpose(m);
      for (unsigned r = 0; r < 8; ++r) {
        const Eight v = eight(t, m[r], limits[first + r]);
        _mm256_store_ps(&panel.value[first + r][i], _mm256_xor_ps(v.value, flip));
        _mm_store_si128(reinterpret_cast<__m128i*>(&panel.exponent[first + r][i]), v.exponent);
      }
    }
  }
  for (unsigned r = 0; r < kRows; ++r) panel.range[r] = range_of(limits[r]);
}

bool usable() {
  return has_avx2_and_halves();
}

}  // namespace

FillA fastest_fill_a() {
  return usable() ? fill_a_avx2 : fill_a_plain;
}
FillB fastest_fill_b() {
  return usable() ? fill_b_avx2 : fill_b_plain;
}

}  // namespace nervanagpu::sass::emulate::tensor

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else

namespace nervanagpu::sass::emulate::tensor {
FillA fastest_fill_a() {
  return fill_a_plain;
}
FillB fastest_fill_b() {
  return fill_b_plain;
}
}  // namespace nervanagpu::sass::emulate::tensor

#endif
