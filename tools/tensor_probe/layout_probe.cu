// Which byte of shared memory each element of a wgmma operand comes from, for random descriptors:
//   layout_probe DIR SEED COUNT   writes layouts.bin: u32 byte offsets from kRegionAt, [case][descriptor][row][k]
// The operand is multiplied by a unit matrix; the region holds pieces of its own element numbers, one piece a pass.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cases.h"
#include "layouts.h"

namespace nervanagpu::tensor_probe {
namespace {

void check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

__device__ void b_f16_0(std::uint32_t* d, const std::uint32_t* a, std::uint64_t db) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%"
      "27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%"
      "52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
      ", {%64,%65,%66,%67}, %68, 1, 1, 1, 0;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]),
        "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]),
        "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
        "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
        "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));
}
__device__ void a_f16_0(std::uint32_t* d, std::uint64_t da, std::uint64_t db) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
      ", %16, %17, 1, 1, 1, 0, 0;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
      : "l"(da), "l"(db));
}
__device__ void b_f16_1(std::uint32_t* d, const std::uint32_t* a, std::uint64_t db) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%"
      "27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%"
      "52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
      ", {%64,%65,%66,%67}, %68, 1, 1, 1, 1;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]),
        "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]),
        "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
        "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
        "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));
}
__device__ void a_f16_1(std::uint32_t* d, std::uint64_t da, std::uint64_t db) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
      ", %16, %17, 1, 1, 1, 1, 0;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
      : "l"(da), "l"(db));
}
__device__ void b_tf32(std::uint32_t* d, const std::uint32_t* a, std::uint64_t db) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%"
      "27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%"
      "52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
      ", {%64,%65,%66,%67}, %68, 1, 1, 1;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]),
        "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]),
        "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
        "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
        "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));
}
__device__ void a_tf32(std::uint32_t* d, std::uint64_t da, std::uint64_t db) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
      ", %16, %17, 1, 1, 1;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
      : "l"(da), "l"(db));
}
__device__ void b_e4m3(std::uint32_t* d, const std::uint32_t* a, std::uint64_t db) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%"
      "27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%"
      "52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
      ", {%64,%65,%66,%67}, %68, 1, 1, 1;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
        "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
        "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]),
        "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]),
        "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
        "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
        "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(db));
}
__device__ void a_e4m3(std::uint32_t* d, std::uint64_t da, std::uint64_t db) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
      ", %16, %17, 1, 1, 1;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
        "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
      : "l"(da), "l"(db));
}

template <int L>
__device__ void multiply(std::uint32_t* d, const std::uint32_t* a, std::uint64_t probed, std::uint64_t unit) {
  if constexpr (L == 0) b_f16_0(d, a, probed);
  if constexpr (L == 1) b_f16_1(d, a, probed);
  if constexpr (L == 2) b_tf32(d, a, probed);
  if constexpr (L == 3) b_e4m3(d, a, probed);
  if constexpr (L == 4) a_f16_0(d, probed, unit);
  if constexpr (L == 5) a_f16_1(d, probed, unit);
  if constexpr (L == 6) a_tf32(d, probed, unit);
  if constexpr (L == 7) a_e4m3(d, probed, unit);
}

NG_BOTH constexpr unsigned piece_bits(Format f) {
  return f == Format::kE4m3 ? 5 : 10;  // bits of an element number that a pass shows
}
__device__ std::uint32_t one_of(Format f) {
  return f == Format::kF16 ? 0x3c00 : f == Format::kE4m3 ? 0x38 : 0x3f800000;
}

template <int L>
__global__ void __launch_bounds__(128) run(std::uint64_t seed, std::uint32_t* out) {
  constexpr LayoutCase c = kLayouts[L];
  constexpr unsigned bytes = bits_of(c.format) / 8;
  constexpr unsigned piece = piece_bits(c.format);
  constexpr unsigned passes = c.format == Format::kE4m3 ? 4 : 2;
  constexpr unsigned n = c.is_a ? 32 : 128;
  extern __shared__ unsigned char memory[];
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  unsigned char* unit = memory + (kRegionAt - 1024 - base);
  unsigned char* region = memory + (kRegionAt - base);
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned g = lane / 4 + 16 * warp;
  const unsigned t = lane % 4;
  std::uint32_t found[n / 2] = {};
  // The unit matrix: B in shared memory, 32 columns in core matrices, 256 bytes for 8 of them; or A in registers.
  for (unsigned i = threadIdx.x; i < 1024; i += 128) unit[i] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < c.k; i += 128) {
    const unsigned at = i * bytes;
    const unsigned place = i / 8 * 256 + at / 16 * 128 + i % 8 * 16 + at % 16;
    for (unsigned j = 0; j < bytes; ++j) unit[place + j] = static_cast<unsigned char>(one_of(c.format) >> 8 * j);
  }
  std::uint32_t a[4] = {};
  for (unsigned r = 0; r < 4; ++r) {
    for (unsigned j = 0; j < 4 / bytes; ++j) {
      if (g + 8 * (r & 1) == ((r >> 1) * 4 + t) * (4 / bytes) + j) a[r] |= one_of(c.format) << 8 * bytes * j;
    }
  }
  const std::uint64_t units = ((kRegionAt - 1024) >> 4) | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
  const std::uint64_t probed = layout_descriptor(seed, L, blockIdx.x);
  for (unsigned pass = 0; pass < passes; ++pass) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < kRegion / bytes; i += 128) {
      const std::uint32_t part = i >> piece * pass & ((1u << piece) - 1);
      const std::uint32_t v = c.format == Format::kF16 ? 0x3c00 | part : c.format == Format::kE4m3 ? 0x40 | part : 0x3f800000 | part << 13;
      for (unsigned j = 0; j < bytes; ++j) region[i * bytes + j] = static_cast<unsigned char>(v >> 8 * j);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    std::uint32_t d[n / 2] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply<L>(d, a, probed, units);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (unsigned i = 0; i < n / 2; ++i) {
      // 1 + part / 1024, or the float of an e4m3
      const std::uint32_t part = c.format == Format::kE4m3 ? (d[i] >> 20 & 0x7ff) - ((127 + 1) << 3) : (d[i] >> 13 & 0x3ff);
      found[i] |= part << piece * pass;
    }
  }
  std::uint32_t* o = out + std::size_t{blockIdx.x} * c.rows * c.k;
  for (unsigned i = 0; i < n / 2; ++i) {
    const unsigned row = g + 8 * (i >> 1 & 1);
    const unsigned col = i / 4 * 8 + 2 * t + (i & 1);
    if (c.is_a && col < c.k) o[row * c.k + col] = found[i] * bytes;
    if (!c.is_a && row < c.k) o[col * c.k + row] = found[i] * bytes;
  }
}

template <int L>
void probe(std::uint64_t seed, unsigned count, std::FILE* f) {
  constexpr LayoutCase c = kLayouts[L];
  const std::size_t words = std::size_t{count} * c.rows * c.k;
  std::uint32_t* out = nullptr;
  check(cudaMalloc(&out, words * 4), "cudaMalloc");
  check(cudaMemset(out, 0xcd, words * 4), "cudaMemset");
  constexpr int bytes = kRegion + kRegionAt - 1024;
  check(cudaFuncSetAttribute(run<L>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
  run<L><<<count, 128, bytes>>>(seed, out);
  check(cudaGetLastError(), c.name);
  std::vector<std::uint32_t> host(words);
  check(cudaMemcpy(host.data(), out, words * 4, cudaMemcpyDeviceToHost), c.name);
  check(cudaFree(out), "cudaFree");
  std::fwrite(host.data(), 4, words, f);
}

template <int... L>
void all(std::uint64_t seed, unsigned count, std::FILE* f, std::integer_sequence<int, L...>) {
  (probe<L>(seed, count, f), ...);
}

}  // namespace
}  // namespace nervanagpu::tensor_probe

int main(int argc, char** argv) {
  using namespace nervanagpu::tensor_probe;
  if (argc != 4) {
    std::fprintf(stderr, "usage: layout_probe DIR SEED COUNT\n");
    return 2;
  }
  std::FILE* f = std::fopen((std::string(argv[1]) + "/layouts.bin").c_str(), "wb");
  if (f == nullptr) return 1;
  const auto seed = std::strtoull(argv[2], nullptr, 0);
  all(seed, static_cast<unsigned>(std::strtoul(argv[3], nullptr, 0)), f, std::make_integer_sequence<int, kLayoutCount>());
  std::fclose(f);
  return 0;
}
