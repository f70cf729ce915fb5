// Products with a sparse A, and of single bits: one instruction a kernel, operands as they lie in memory. A thread's share is
// four words of A and of B, eight of C (four of a warp's product), one of metadata.

#define D4 "{%0,%1,%2,%3}"
#define D8 "{%0,%1,%2,%3,%4,%5,%6,%7}"

#define WARP(name, text, operands_a, operands_b, tail)                                                              \
  extern "C" __global__ void name(const uint4* a, const uint4* b, const unsigned* c, const unsigned* e, unsigned* d) { \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
    const uint4 x = a[i], y = b[i];                                                                                   \
    unsigned s[4];                                                                                                    \
    for (int r = 0; r < 4; ++r) s[r] = c[i * 8 + r];                                                                  \
    asm volatile(text " " D4 ", " operands_a ", " operands_b ", " D4 tail ";"                                         \
                 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])                                                     \
                 : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w), "r"(e[i]));        \
    for (int r = 0; r < 4; ++r) d[i * 8 + r] = s[r];                                                                  \
  }
#define SPARSE(shape, types) "mma.sp.sync.aligned." shape ".row.col." types
#define BITS(shape, function) "mma.sync.aligned." shape ".row.col.s32.b1.b1.s32." function ".popc"
#define A2 "{%4,%5}"
#define A4 "{%4,%5,%6,%7}"
#define B2 "{%8,%9}"
#define B4 "{%8,%9,%10,%11}"

WARP(f16_k16_0, SPARSE("m16n8k16", "f32.f16.f16.f32"), A2, B2, ", %12, 0x0")
WARP(f16_k16_1, SPARSE("m16n8k16", "f32.f16.f16.f32"), A2, B2, ", %12, 0x1")
WARP(f16_k16_2, SPARSE("m16n8k16", "f32.f16.f16.f32"), A2, B2, ", %12, 0x2")
WARP(f16_k16_3, SPARSE("m16n8k16", "f32.f16.f16.f32"), A2, B2, ", %12, 0x3")
WARP(f16_k32_0, SPARSE("m16n8k32", "f32.f16.f16.f32"), A4, B4, ", %12, 0x0")
WARP(bf16_k32_1, SPARSE("m16n8k32", "f32.bf16.bf16.f32"), A4, B4, ", %12, 0x1")
WARP(tf32_k8_0, SPARSE("m16n8k8", "f32.tf32.tf32.f32"), A2, B2, ", %12, 0x0")
WARP(tf32_k8_3, SPARSE("m16n8k8", "f32.tf32.tf32.f32"), A2, B2, ", %12, 0x3")
WARP(tf32_k16_1, SPARSE("m16n8k16", "f32.tf32.tf32.f32"), A4, B4, ", %12, 0x1")
WARP(s8_k32_0, SPARSE("m16n8k32", "s32.s8.u8.s32"), A2, B2, ", %12, 0x0")
WARP(s8_k32_1, SPARSE("m16n8k32", "satfinite.s32.u8.s8.s32"), A2, B2, ", %12, 0x1")
WARP(s8_k64, SPARSE("m16n8k64", "s32.s8.s8.s32"), A4, B4, ", %12, 0x0")
WARP(and_k128, BITS("m16n8k128", "and"), A2, "{%8}", "")
WARP(and_k256, BITS("m16n8k256", "and"), A4, B2, "")
WARP(xor_k256, BITS("m16n8k256", "xor"), A4, B2, "")

extern "C" __global__ void half_k32_0(const uint4* a, const uint4* b, const unsigned* c, const unsigned* e, unsigned* d) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 x = a[i], y = b[i];
  unsigned s[2] = {c[i * 8], c[i * 8 + 1]};
  asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7,%8,%9}, {%0,%1}, %10, 0x0;"
               : "+r"(s[0]), "+r"(s[1])
               : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w), "r"(e[i]));
  for (int r = 0; r < 2; ++r) d[i * 8 + r] = s[r];
}

extern "C" __global__ void and_k128_m8(const uint4* a, const uint4* b, const unsigned* c, const unsigned*, unsigned* d) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s[2] = {c[i * 8], c[i * 8 + 1]};
  asm volatile("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+r"(s[0]), "+r"(s[1])
               : "r"(a[i].x), "r"(b[i].x));
  for (int r = 0; r < 2; ++r) d[i * 8 + r] = s[r];
}

// A warpgroup's products, 16 columns. `a` and `b` are copied to shared memory as they are (2 KiB and 1 KiB); the descriptors lack only
// the addresses.
__device__ unsigned long long place(const void* at, unsigned long long rest) {
  return rest | (__cvta_generic_to_shared(at) >> 4 & 0x3fff);
}

#define GROUP(name, count, text, D, operand_a, operand_b, tail)                                                       \
  extern "C" __global__ void __launch_bounds__(128) name(const uint4* a, const uint4* b, const unsigned* c,           \
                                                         const unsigned* e, unsigned* d, unsigned long long rest_a,   \
                                                         unsigned long long rest_b) {                                 \
    __shared__ alignas(1024) uint4 sa[128], sb[64];                                                                   \
    const unsigned t = threadIdx.x, i = blockIdx.x * 128 + t;                                                         \
    sa[t] = a[i];                                                                                                     \
    if (t < 64) sb[t] = b[blockIdx.x * 64 + t];                                                                       \
    unsigned s[8];                                                                                                    \
    for (int r = 0; r < 8; ++r) s[r] = c[i * 8 + r];                                                                  \
    const uint4 x = a[i];                                                                                             \
    const unsigned m = e[i];                                                                                          \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                                      \
    __syncthreads();                                                                                                  \
    const unsigned long long da = place(sa, rest_a), db = place(sb, rest_b);                                          \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                           \
    asm volatile("wgmma.mma_async." text " " D ", " operand_a ", " operand_b tail ";"                                 \
                 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]), "+r"(s[4]), "+r"(s[5]), "+r"(s[6]), "+r"(s[7])     \
                 : "l"(da), "l"(db), "r"(m), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w));                                 \
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                                                    \
    asm volatile("wgmma.wait_group.sync.aligned 0;"                                                                   \
                 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]), "+r"(s[4]), "+r"(s[5]), "+r"(s[6]), "+r"(s[7])     \
                 :                                                                                                    \
                 : "memory");                                                                                         \
    for (int r = 0; r < count; ++r) d[i * 8 + r] = s[r];                                                              \
  }
#define SP(shape_types) "sp.sync.aligned.m64n16" shape_types
#define IN_SHARED "%8"
#define IN_REGISTERS "{%11,%12,%13,%14}"

GROUP(wg_f16_0, 8, SP("k32.f32.f16.f16"), D8, IN_SHARED, "%9", ", %10, 0, 1, 1, 1, 0, 0")
GROUP(wg_f16_1, 8, SP("k32.f32.f16.f16"), D8, IN_SHARED, "%9", ", %10, 1, 1, 1, 1, 0, 0")
GROUP(wg_f16_registers, 8, SP("k32.f32.f16.f16"), D8, IN_REGISTERS, "%9", ", %10, 1, 1, 1, 1, 0")
GROUP(wg_f16_transposed, 8, SP("k32.f32.f16.f16"), D8, IN_SHARED, "%9", ", %10, 0, 1, 1, 1, 1, 1")
GROUP(wg_half_0, 4, SP("k32.f16.f16.f16"), D4, IN_SHARED, "%9", ", %10, 0, 1, 1, -1, 0, 0")
GROUP(wg_bf16_1, 8, SP("k32.f32.bf16.bf16"), D8, IN_SHARED, "%9", ", %10, 1, 1, -1, 1, 0, 0")
GROUP(wg_tf32_0, 8, SP("k16.f32.tf32.tf32"), D8, IN_SHARED, "%9", ", %10, 0, 1, 1, 1")
GROUP(wg_tf32_1, 8, SP("k16.f32.tf32.tf32"), D8, IN_REGISTERS, "%9", ", %10, 1, 1, 1, 1")
GROUP(wg_e4m3, 8, SP("k64.f32.e4m3.e5m2"), D8, IN_SHARED, "%9", ", %10, 0, 1, 1, 1")
GROUP(wg_e5m2_half, 4, SP("k64.f16.e5m2.e5m2"), D4, IN_REGISTERS, "%9", ", %10, 0, 1, 1, 1")
GROUP(wg_s8, 8, SP("k64.s32.s8.u8"), D8, IN_SHARED, "%9", ", %10, 0, 1")
GROUP(wg_u8_saturated, 8, SP("k64.s32.u8.s8.satfinite"), D8, IN_REGISTERS, "%9", ", %10, 0, 1")
GROUP(wg_bits, 8, "sync.aligned.m64n16k256.s32.b1.b1.and.popc", D8, IN_SHARED, "%9", ", 1")
GROUP(wg_bits_registers, 8, "sync.aligned.m64n16k256.s32.b1.b1.and.popc", D8, IN_REGISTERS, "%9", ", 1")
