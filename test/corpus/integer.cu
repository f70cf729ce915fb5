// Corpus: integer arithmetic, logic, shifts, compares. Compiled to collect what ptxas emits; never executed.
#include <cstdint>
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void int_basic(int* o, const int* a, const int* b, const int* c, int s, unsigned u, i64 l, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  int x = a[i], y = b[i], z = c[i];
  unsigned ux = x, uy = y, uz = z;
#define P(e) o[i + 1024 * k++] = (int)(e)
  P(x + y + z); P(x - y + z); P(x - y - z); P(-x + 5); P(x + y - s); P(x * y + z); P(x * 17 + y); P(x * s + 5); P(x * y - z);
  P(x & y); P(x | y); P(x ^ y); P(~x); P(x & ~y); P((x & y) | z); P((x ^ y) & (z | s)); P((x & 0xff00) ^ y); P(x & s);
  P(x << 3); P(x << y); P(x >> 5); P(x >> y); P(ux >> 7); P(ux >> uy); P(x << s); P(ux >> u); P(1 << x); P(~0u >> ux);
  P((x << 4) + y); P((x << 2) + s); P(x * 8 + 3); P(x * 5); P(x * 9 + y); P((x >> 3) + y);
  P(min(x, y)); P(max(x, y)); P(min(ux, uy)); P(max(ux, 7u)); P(min(x, s)); P(max(x, -3)); P(abs(x)); P(abs(x - y)); P(min(max(x, 0), 255));
  P(__mulhi(x, y)); P(__umulhi(ux, uy)); P(__umulhi(ux, 0xcccccccdu)); P(x / 7); P(ux / 10u); P(x % 3); P(x / y); P(ux % uy); P(__mul24(x, y)); P(__umul24(ux, uy));
  P(__popc(x)); P(__clz(x)); P(__ffs(x)); P(__brev(x)); P(__clz(~x)); P(31 - __clz(ux)); P(__byte_perm(x, y, 0x5410)); P(__byte_perm(x, y, z)); P(__byte_perm(x, s, 0x3340));
  P(__funnelshift_l(x, y, z)); P(__funnelshift_r(x, y, 9)); P(__funnelshift_lc(x, y, z)); P(__funnelshift_rc(x, y, z)); P(__funnelshift_r(x, x, y));
  P(__dp4a(x, y, z)); P(__dp4a(ux, uy, uz)); P(__dp2a_lo(x, y, z)); P(__dp2a_hi(ux, uy, uz)); P(__sad(x, y, uz)); P(__usad(ux, uy, uz)); P(__hadd(x, y)); P(__rhadd(x, y));
  P(x == y); P(x < y ? z : s); P(ux < uy ? x : 3); P(x < y && y < z); P(x < y || z == 3); P((x < y) != (z < s)); P(x >= 5 ? y : z); P(ux > 5u ? y : -1); P(x ? y : z); P((x & 4) ? y : z);
  P((int8_t)x); P((int16_t)x); P((uint8_t)x + y); P((x >> 8) & 0xff); P((x << 20) >> 24); P((ux << 5) >> 13); P((ux >> 4) & 0x3f); P((char)(x >> 8)); P((short)(x >> 16) + (short)y);
  P(x == 3 ? 1.0f : 0.0f); P(n > 3 ? x : y); P(x + n * 4); P(x * n + s); P(s * n + u); P((s & n) + x); P((s << 3) ^ n ^ x);
  P(x > 0 ? (y > 0 ? z : s) : n); P(!(x & y) == !(z)); P((x | y) == 0 ? 5 : z); P((x ^ y ^ z) ? x : 9);
}
extern "C" __global__ void int_long(i64* o, const i64* a, const i64* b, const int* c, i64 s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  i64 x = a[i], y = b[i];
  u64 ux = x, uy = y;
  int z = c[i];
#define Q(e) o[i + 1024 * k++] = (i64)(e)
  Q(x + y); Q(x - y); Q(x + z); Q(-x); Q(x * y); Q((i64)z * z); Q((u64)(unsigned)z * (unsigned)n); Q((i64)z * 5 + x); Q((u64)(unsigned)z * 12 + x); Q((i64)z * n + s);
  Q(x << 3); Q(x << z); Q(x >> 5); Q(x >> z); Q(ux >> z); Q(ux >> 40); Q(x & y); Q(x | s); Q(~x ^ y); Q((x << 2) + y); Q(x + (i64)z * 8); Q(x + ((i64)z << 5));
  Q(x < y); Q(ux < uy ? x : y); Q(x == s ? 1 : z); Q(min(x, y)); Q(max(ux, uy)); Q(abs(x)); Q(__mul64hi(x, y)); Q(__umul64hi(ux, uy)); Q(__popcll(x)); Q(__clzll(x)); Q(__ffsll(x)); Q(__brevll(x));
  Q(x / 10); Q(ux / 1000u); Q(x + s + 12345678901LL); Q((x > 0 && y < 5) ? x : s); Q(x * 12345); Q((int)(x >> 16)); Q((x + y) * 3); Q(x / y); Q(ux % uy); Q((i64)__mulhi(z, n)); Q(__cvta_generic_to_shared(a));
}
extern "C" __global__ void int_vec(unsigned* o, const unsigned* a, const unsigned* b, unsigned s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  unsigned x = a[i], y = b[i];
#define V(e) o[i + 1024 * k++] = (unsigned)(e)
  V(__vadd4(x, y)); V(__vsub2(x, y)); V(__vmaxs4(x, y)); V(__vminu2(x, y)); V(__vmaxs2(x, y)); V(__vabsdiffu4(x, y)); V(__vcmpeq4(x, y)); V(__vsetgtu2(x, y)); V(__vadd2(x, y)); V(__vavgu4(x, y)); V(__vabs2(x)); V(__vneg2(x));
  V(__viaddmax_s32(x, y, s)); V(__vimax3_s32(x, y, s)); V(__vimin3_u32(x, y, s)); V(__vimax_s32_relu(x, y)); V(__vimin_s32_relu(x, y)); V(__vimax_s16x2_relu(x, y)); V(__viaddmin_u16x2(x, y, s)); V(__vaddus4(x, y)); V(__vsads4(x, y));
}
