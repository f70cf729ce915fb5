// Integers: long multiplication with carries, division of every width, bits, bytes, saturations.
#include "host.h"

#ifdef __CUDACC__
// 512 x 512 -> 1024 bits a thread, by rows of multiply and add with carry.
extern "C" __global__ void multiply_long(const unsigned* a, const unsigned* b, unsigned* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x[16], r[32] = {};
  for (int i = 0; i < 16; ++i) x[i] = a[t * 16 + i];
#pragma unroll 1
  for (int j = 0; j < 16; ++j) {
    const unsigned y = b[t * 16 + j];
    unsigned* at = r + j;
    unsigned carry = 0;
    for (int i = 0; i < 16; ++i) {
      unsigned low, high;
      asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.u32 %1, %2, %3, 0;"
          : "=r"(low), "=r"(high)
          : "r"(x[i]), "r"(y), "r"(at[i]));
      asm("add.cc.u32 %0, %0, %2;\n\taddc.u32 %1, %1, 0;" : "+r"(low), "+r"(high) : "r"(carry));
      at[i] = low;
      carry = high;
    }
    at[16] = carry;
  }
  for (int i = 0; i < 32; ++i) out[t * 32 + i] = r[i];
}

// A chain of eight words: sums and differences with carry and borrow.
extern "C" __global__ void add_long(const unsigned* a, const unsigned* b, unsigned* sum, unsigned* difference) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned* x = a + t * 4;
  const unsigned* y = b + t * 4;
  unsigned s[5], d[5];
  asm("add.cc.u32 %0, %5, %9;\n\taddc.cc.u32 %1, %6, %10;\n\taddc.cc.u32 %2, %7, %11;\n\taddc.cc.u32 %3, %8, %12;\n\t"
      "addc.u32 %4, 0, 0;"
      : "=r"(s[0]), "=r"(s[1]), "=r"(s[2]), "=r"(s[3]), "=r"(s[4])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
  asm("sub.cc.u32 %0, %5, %9;\n\tsubc.cc.u32 %1, %6, %10;\n\tsubc.cc.u32 %2, %7, %11;\n\tsubc.cc.u32 %3, %8, %12;\n\t"
      "subc.u32 %4, 0, 0;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
  for (int i = 0; i < 5; ++i) {
    sum[t * 5 + i] = s[i];
    difference[t * 5 + i] = d[i];
  }
}

// Arithmetic of bytes and halves packed in words, byte permutations, funnel shifts, sums of differences.
extern "C" __global__ void packed(const unsigned* in, unsigned* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned a = in[t * 3], b = in[t * 3 + 1], c = in[t * 3 + 2];
  unsigned* o = out + t * 24;
  o[0] = __vadd4(a, b);
  o[1] = __vsub2(a, b);
  o[2] = __vaddus4(a, b);
  o[3] = __vsubss2(a, b);
  o[4] = __vabsdiffu4(a, b);
  o[5] = __vabsdiffs2(a, b);
  o[6] = __vmaxs4(a, b);
  o[7] = __vminu2(a, b);
  o[8] = __vavgu4(a, b);
  o[9] = __vcmpgts4(a, b);
  o[10] = __vseteq2(a, b);
  o[11] = __vneg4(a) ^ __vabs2(b);
  o[12] = __byte_perm(a, b, c);
  o[13] = __funnelshift_l(a, b, c) ^ __funnelshift_r(a, b, c);
  o[14] = __funnelshift_lc(a, b, c & 63) ^ __funnelshift_rc(a, b, c & 63);
  o[15] = __sad(static_cast<int>(a), static_cast<int>(b), c);
  o[16] = __usad(a, b, c);
  o[17] = __brev(a) ^ static_cast<unsigned>(__brevll(static_cast<unsigned long long>(b) << 32 | c) >> 7);
  o[18] = static_cast<unsigned>(__viaddmax_s32(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)));
  o[19] = __vimin3_u32(a, b, c) + __vibmax_u32(a, b, nullptr == in ? nullptr : reinterpret_cast<bool*>(&o[23]));
  o[20] = __viaddmin_s16x2_relu(a, b, c);
  o[21] = __vimax3_s16x2(a, b, c);
  o[22] = static_cast<unsigned>(__mul24(static_cast<int>(a), static_cast<int>(b))) + __umul24(b, c) +
          static_cast<unsigned>(__rhadd(static_cast<int>(a), static_cast<int>(b))) + __uhadd(b, c);
  o[23] = 0;
}
#endif

// Division and remainder of every width and sign.
extern "C" __global__ void divide(const unsigned long long* in, unsigned long long* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const unsigned long long a = in[2 * i], b = in[2 * i + 1] | 1;
  const auto a32 = static_cast<unsigned>(a), b32 = static_cast<unsigned>(b);
  const auto sa = static_cast<int>(a32), sb = static_cast<int>(b32 >> 3 | 1);
  unsigned long long* o = out + 8 * i;
  o[0] = a / b;
  o[1] = a % b;
  o[2] = static_cast<unsigned long long>(static_cast<long long>(a) / static_cast<long long>(b >> 20 | 1));
  o[3] = static_cast<unsigned long long>(static_cast<long long>(a) % static_cast<long long>(b >> 40 | 1));
  o[4] = static_cast<unsigned long long>(a32 / b32) << 32 | a32 % b32;
  o[5] = static_cast<unsigned long long>(static_cast<unsigned>(sa / sb)) << 32 | static_cast<unsigned>(sa % sb);
  o[6] = a / 1000000007ull + a32 / 10u + static_cast<unsigned long long>(sa / 7) + a % 641u;
  o[7] = __umul64hi(a, b) + static_cast<unsigned short>(a) / (static_cast<unsigned short>(b) | 1u) +
         static_cast<unsigned long long>(static_cast<signed char>(a) / (static_cast<signed char>(b) | 1));
}

// Powers modulo an odd number of 64 bits by Montgomery's products, greatest common divisors by shifts.
extern "C" __global__ void modular(const unsigned long long* in, unsigned long long* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned long long m = in[t * 2] | 1, x = in[t * 2 + 1] % m;
  unsigned long long inverse = m;
  for (int i = 0; i < 5; ++i) inverse *= 2 - m * inverse;
  const auto reduce = [&](unsigned long long low, unsigned long long high) {
    const unsigned long long q = low * inverse;
    const unsigned long long h = __umul64hi(q, m);
    return high >= h ? high - h : high - h + m;
  };
  unsigned long long one = (0ull - m) % m, y = x, e = 65537;
  for (int i = 0; i < 64; ++i) y = y >= m - y ? y - (m - y) : y + y;  // x 2^64 mod m
  unsigned long long r = one;
  while (e != 0) {
    if ((e & 1) != 0) r = reduce(r * y, __umul64hi(r, y));
    y = reduce(y * y, __umul64hi(y, y));
    e >>= 1;
  }
  unsigned long long a = m, b = x | 1;
  while (b != 0) {
    while ((b & 1) == 0) b >>= 1;
    if (a > b) {
      const unsigned long long s = a;
      a = b;
      b = s;
    }
    b -= a;
  }
  out[t * 2] = reduce(r, 0);
  out[t * 2 + 1] = a;
}

// Counting, finding, reversing and interleaving bits.
extern "C" __global__ void bit_tricks(const unsigned long long* in, unsigned long long* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned long long v = in[t];
  const auto low = static_cast<unsigned>(v);
  unsigned long long spread = low & 0xffffu;
  spread = (spread | spread << 8) & 0x00ff00ffu;
  spread = (spread | spread << 4) & 0x0f0f0f0fu;
  spread = (spread | spread << 2) & 0x33333333u;
  spread = (spread | spread << 1) & 0x55555555u;
  unsigned gray = low ^ low >> 1, back = 0;
  for (int i = 31; i >= 0; --i) back |= ((gray >> i & 1) ^ (back >> (i + 1 < 32 ? i + 1 : 31) & (i < 31 ? 1 : 0))) << i;
  out[t * 4] =
      static_cast<unsigned long long>(__popc(low) + 100 * __popcll(v) + 10000 * __clz(static_cast<int>(low)) +
                                      1000000 * __clzll(static_cast<long long>(v)) + __ffs(static_cast<int>(low)));
  out[t * 4 + 1] = spread;
  out[t * 4 + 2] = back;
  out[t * 4 + 3] = v << (low & 63) ^ v >> (low >> 6 & 63) ^
                   static_cast<unsigned long long>(static_cast<long long>(v) >> (low >> 12 & 63));
}
