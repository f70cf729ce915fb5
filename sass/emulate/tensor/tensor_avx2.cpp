// multiply() for processors with AVX2: 16 columns at a time in float32, whose operations are all exact here but for the
// cuts that the model wants. Columns with numbers that float32 cannot carry through (NaN, infinity, very large or small
// exponents) take the plain way.
#include "sass/emulate/tensor/cpu.h"
#include "sass/emulate/tensor/tensor_fast.h"
#include "sass/emulate/uop/words.h"

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

// Sums and products of exponents within these bounds stay normal float32 numbers, scaled or not.
constexpr int kReach = 100;

struct Ints {
  __m256i lo, hi;  // columns 0 .. 7, 8 .. 15
};

__m256i widen(__m128i e) {
  return _mm256_cvtepi16_epi32(e);
}

// Largest exponent of the products of a row and 16 columns.
Ints products_exponent(const std::int16_t* ea, const PanelB& b, unsigned n, unsigned k) {
  __m256i top = _mm256_set1_epi16(kNoExponent);
  for (unsigned i = 0; i < k; ++i) {
    const __m256i e = _mm256_load_si256(reinterpret_cast<const __m256i*>(&b.exponent[i][n]));
    top = _mm256_max_epi16(top, _mm256_add_epi16(_mm256_set1_epi16(ea[i]), e));
  }
  return {widen(_mm256_castsi256_si128(top)), widen(_mm256_extracti128_si256(top, 1))};
}

// With that of C. `odd` gets a bit for each column outside the reach.
__m256i top_exponent(__m256i products, __m256 c, int lowest, unsigned& odd) {
  const __m256i bits = _mm256_castps_si256(c);
  const __m256i field = _mm256_and_si256(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(255));
  __m256i e = _mm256_max_epi32(_mm256_sub_epi32(field, _mm256_set1_epi32(127)), _mm256_set1_epi32(lowest));
  const __m256i zero = _mm256_cmpeq_epi32(_mm256_slli_epi32(bits, 1), _mm256_setzero_si256());
  e = _mm256_blendv_epi8(e, _mm256_set1_epi32(kNoExponent), zero);
  __m256i top = _mm256_max_epi32(products, e);
  // Nothing but zeros: any exponent will do.
  top = _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(kNoExponent / 2), top), top);
  const __m256i out = _mm256_cmpgt_epi32(_mm256_abs_epi32(top), _mm256_set1_epi32(kReach));
  odd = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(out)));
  return top;
}

__m256 power_of_two(__m256i e) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
}
__m256d power_of_two(__m128i e) {
  const __m256i wide = _mm256_cvtepi32_epi64(_mm_add_epi32(e, _mm_set1_epi32(1023)));
  return _mm256_castsi256_pd(_mm256_slli_epi64(wide, 52));
}

// The sum of 16 columns, exact: x + y, each below 2^31.
struct Sum {
  __m256i x, y;
};

__m256d exact_half(Sum s, __m256i unit, bool upper) {
  const auto part = [&](__m256i v) { return upper ? _mm256_extracti128_si256(v, 1) : _mm256_castsi256_si128(v); };
  const __m256d sum = _mm256_add_pd(_mm256_cvtepi32_pd(part(s.x)), _mm256_cvtepi32_pd(part(s.y)));
  return _mm256_mul_pd(sum, power_of_two(part(unit)));
}

// Cut to float32; the rounding mode is towards zero.
__m256 to_float(Sum s, __m256i unit) {
  const __m128 lo = _mm256_cvtpd_ps(exact_half(s, unit, false));
  const __m128 hi = _mm256_cvtpd_ps(exact_half(s, unit, true));
  return _mm256_insertf128_ps(_mm256_castps128_ps256(lo), hi, 1);
}

// Cut to 13 fraction bits: the sum is below 2^22.
__m256 to_short_float(Sum s, __m256i unit) {
  const __m256 sum = _mm256_mul_ps(_mm256_cvtepi32_ps(s.x), power_of_two(unit));
  return _mm256_and_ps(sum, _mm256_castsi256_ps(_mm256_set1_epi32(-1024)));
}

// Rounded to float16 by way of a float32 whose last bit says that something was cut.
__m256i to_half(Sum s, __m256i unit) {
  const auto sticky = [](__m256d v) {
    const __m128 cut = _mm256_cvtpd_ps(v);
    const __m256d more = _mm256_cmp_pd(_mm256_cvtps_pd(cut), v, _CMP_NEQ_UQ);
    const __m256i index = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    const __m256i mask = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(more), index);
    return _mm_or_si128(_mm_castps_si128(cut), _mm_and_si128(_mm256_castsi256_si128(mask), _mm_set1_epi32(1)));
  };
  const __m128i lo = sticky(exact_half(s, unit, false));
  const __m128i hi = sticky(exact_half(s, unit, true));
  const __m256 v = _mm256_castsi256_ps(_mm256_insertf128_si256(_mm256_castsi128_si256(lo), hi, 1));
  const __m256i h = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  return _mm256_andnot_si256(_mm256_cmpeq_epi32(h, _mm256_set1_epi32(0x8000)), h);  // no -0
}

template <bool kHalf>
__m256 load_c(const u32* c) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(c));
  if constexpr (!kHalf) return _mm256_castsi256_ps(bits);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(bits, bits), 0x08);
  return _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
}

// 16 columns of a row. Those of `odd` are left as they were.
template <bool kHalf, int kBits>
unsigned sixteen(const PanelA& a, const PanelB& b, unsigned r, unsigned n, unsigned k, u32* c) {
  const __m256 c0 = load_c<kHalf>(c);
  const __m256 c1 = load_c<kHalf>(c + 8);
  const Ints products = products_exponent(a.exponent[r].data(), b, n, k);
  unsigned odd0 = 0;
  unsigned odd1 = 0;
  const __m256i e0 = top_exponent(products.lo, c0, kHalf ? -14 : -126, odd0);
  const __m256i e1 = top_exponent(products.hi, c1, kHalf ? -14 : -126, odd1);
  const __m256i bits = _mm256_set1_epi32(kBits);
  const __m256 s0 = power_of_two(_mm256_sub_epi32(bits, e0));
  const __m256 s1 = power_of_two(_mm256_sub_epi32(bits, e1));
  Sum sum0{_mm256_cvttps_epi32(_mm256_mul_ps(c0, s0)), _mm256_setzero_si256()};
  Sum sum1{_mm256_cvttps_epi32(_mm256_mul_ps(c1, s1)), _mm256_setzero_si256()};
  const float* va = a.value[r].data();
  const auto add = [&](unsigned i, __m256i& t0, __m256i& t1) {
    const __m256 v = _mm256_broadcast_ss(va + i);
    const __m256 p0 = _mm256_mul_ps(v, _mm256_load_ps(&b.value[i][n]));
    const __m256 p1 = _mm256_mul_ps(v, _mm256_load_ps(&b.value[i][n + 8]));
    t0 = _mm256_add_epi32(t0, _mm256_cvttps_epi32(_mm256_mul_ps(p0, s0)));
    t1 = _mm256_add_epi32(t1, _mm256_cvttps_epi32(_mm256_mul_ps(p1, s1)));
  };
  // With 25 bits 8 products and C, each below 2^27, fit 32 bits.
  const unsigned first = kBits == 25 && k > 8 ? 8 : k;
  for (unsigned i = 0; i < first; ++i) add(i, sum0.x, sum1.x);
  for (unsigned i = first; i < k; ++i) add(i, sum0.y, sum1.y);
  const auto finish = [&](Sum s, __m256i e) {
    const __m256i unit = _mm256_sub_epi32(e, bits);
    if constexpr (kHalf) return to_half(s, unit);
    if constexpr (kBits == 13) return _mm256_castps_si256(to_short_float(s, unit));
    return _mm256_castps_si256(to_float(s, unit));
  };
  const __m256i d0 = finish(sum0, e0);
  const __m256i d1 = finish(sum1, e1);
  if (odd0 == 0) _mm256_storeu_si256(reinterpret_cast<__m256i*>(c), d0);
  if (odd1 == 0) _mm256_storeu_si256(reinterpret_cast<__m256i*>(c + 8), d1);
  return (odd0 != 0 ? 1u : 0u) | (odd1 != 0 ? 2u : 0u);
}

bool within_reach(const Range& a, const Range& b) {
  return !a.special && !b.special && a.low + b.low >= -kReach && a.high + b.high <= kReach;
}

// Not inlined: nothing moves across the change of the rounding mode.
template <bool kHalf, int kBits>
[[gnu::noinline]] void all(const PanelA& a, const PanelB& b, unsigned n, unsigned k, Accumulators& cd) {
  const Mode mode{kHalf, kBits == 13};
  for (unsigned i = 0; i < n; i += 16) {
    for (unsigned r = 0; r < kRows; ++r) {
      u32* c = &cd[r][i];
      unsigned odd = 3;
      const bool good0 = within_reach(a.range[r], b.range[i / 8]);
      const bool good1 = i + 8 >= n || within_reach(a.range[r], b.range[i / 8 + 1]);
      if (good0 && good1) odd = sixteen<kHalf, kBits>(a, b, r, i, k, c);
      for (unsigned g = 0; g < 2 && i + 8 * g < n; ++g) {
        if ((odd >> g & 1) == 0) continue;
        for (unsigned j = 8 * g; j < 8 * g + 8; ++j) c[j] = dot(a, b, r, i + j, k, c[j], mode);
      }
    }
  }
}

}  // namespace

void multiply_avx2(const PanelA& a, const PanelB& b, unsigned n, unsigned k, Accumulators& cd, Mode mode) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | _MM_ROUND_TOWARD_ZERO);
  if (mode.half) {
    mode.eight_bits ? all<true, 13>(a, b, n, k, cd) : all<true, 25>(a, b, n, k, cd);
  } else {
    mode.eight_bits ? all<false, 13>(a, b, n, k, cd) : all<false, 25>(a, b, n, k, cd);
  }
  _mm_setcsr(before);
}

Multiply fastest() {
  return has_avx2_and_halves() ? multiply_avx2 : multiply_plain;
}

}  // namespace nervanagpu::sass::emulate::tensor

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else

namespace nervanagpu::sass::emulate::tensor {
Multiply fastest() {
  return multiply_plain;
}
}  // namespace nervanagpu::sass::emulate::tensor

#endif
