// Every case of the tensor-core experiment on operands in memory: tile by tile, A [m][k], B [n][k] and C [m][n] as they are.
//   nvcc -std=c++17 -gencode=arch=compute_90a,code=sm_90a -cubin -I../../../../tools/tensor_probe tiles.cu -o tiles.cubin
#include "cases.h"
#include "instructions.cuh"

namespace nervanagpu::tensor_probe {

// Fragments are words of rows of k: word `group * 4 + t`.
template <int I>
__device__ void tile_mma(const void* a, const void* b, const void* c, void* out, unsigned tile) {
  constexpr Case x = kCases[I];
  const unsigned g = threadIdx.x / 4;
  const unsigned t = threadIdx.x % 4;
  if constexpr (x.a == Format::kF64) {
    const double* pa = static_cast<const double*>(a) + tile * x.m * x.k;
    const double* pb = static_cast<const double*>(b) + tile * x.n * x.k;
    const double* pc = static_cast<const double*>(c) + tile * x.m * x.n;
    double* po = static_cast<double*>(out) + tile * x.m * x.n;
    constexpr unsigned halves = x.m / 8;
    double fa[8], fb[4], d[4];
#pragma unroll
    for (unsigned r = 0; r < halves * x.k / 4; ++r) fa[r] = pa[(g + 8 * (r % halves)) * x.k + r / halves * 4 + t];
#pragma unroll
    for (unsigned r = 0; r < x.k / 4; ++r) fb[r] = pb[g * x.k + r * 4 + t];
#pragma unroll
    for (unsigned r = 0; r < x.m / 4; ++r) d[r] = pc[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2];
    mma<I>(d, fa, fb);
#pragma unroll
    for (unsigned r = 0; r < x.m / 4; ++r) po[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2] = d[r];
  } else {
    constexpr unsigned words = x.k * bits_of(x.a) / 32;  // of a row
    const std::uint32_t* pa = static_cast<const std::uint32_t*>(a) + tile * 16 * words;
    const std::uint32_t* pb = static_cast<const std::uint32_t*>(b) + tile * 8 * words;
    std::uint32_t fa[4] = {}, fb[2] = {}, d[4] = {};
#pragma unroll
    for (unsigned r = 0; r < words / 2; ++r) fa[r] = pa[(g + 8 * (r % 2)) * words + r / 2 * 4 + t];
#pragma unroll
    for (unsigned r = 0; r < words / 4; ++r) fb[r] = pb[g * words + r * 4 + t];
    constexpr unsigned pairs = x.c == Format::kF16 ? 1 : 2;  // words of two results
    const std::uint32_t* pc = static_cast<const std::uint32_t*>(c) + tile * 16 * 4 * pairs;
    std::uint32_t* po = static_cast<std::uint32_t*>(out) + tile * 16 * 4 * pairs;
#pragma unroll
    for (unsigned r = 0; r < 2 * pairs; ++r) d[r] = pc[((g + 8 * (r / pairs)) * 4 + t) * pairs + r % pairs];
    mma<I>(d, fa, fb);
#pragma unroll
    for (unsigned r = 0; r < 2 * pairs; ++r) po[((g + 8 * (r / pairs)) * 4 + t) * pairs + r % pairs] = d[r];
  }
}

template <int I>
__device__ void tile_wgmma(const void* a, const void* b, const void* c, void* out, unsigned tile) {
  constexpr Case x = kCases[I];
  __shared__ alignas(128) std::uint32_t sa[512], sb[64];
  const auto shared = [](const void* p) { return static_cast<std::uint64_t>(__cvta_generic_to_shared(p)); };
  const auto descriptor = [](std::uint64_t at) {  // core matrices side by side
    return (at >> 4 & 0x3fff) | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
  };
  const std::uint32_t* pa = static_cast<const std::uint32_t*>(a) + tile * 512;
  const std::uint32_t* pb = static_cast<const std::uint32_t*>(b) + tile * 64;
  const auto place = [](unsigned i) { return i / 64 * 64 + i % 8 / 4 * 32 + i / 8 % 8 * 4 + i % 4; };
  for (unsigned i = threadIdx.x; i < 512; i += 128) sa[place(i)] = pa[i];
  if (threadIdx.x < 64) sb[place(threadIdx.x)] = pb[threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned g = threadIdx.x % 32 / 4 + threadIdx.x / 32 * 16;
  const unsigned t = threadIdx.x % 4;
  std::uint32_t fa[4] = {}, d[4] = {};
  if constexpr ((x.flags & kRegisterA) != 0) {
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) fa[r] = pa[(g + 8 * (r % 2)) * 8 + r / 2 * 4 + t];
  }
  constexpr unsigned pairs = x.c == Format::kF16 ? 1 : 2;
  const std::uint32_t* pc = static_cast<const std::uint32_t*>(c) + tile * 64 * 4 * pairs;
  std::uint32_t* po = static_cast<std::uint32_t*>(out) + tile * 64 * 4 * pairs;
#pragma unroll
  for (unsigned r = 0; r < 2 * pairs; ++r) d[r] = pc[((g + 8 * (r / pairs)) * 4 + t) * pairs + r % pairs];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  wgmma<I>(d, fa, descriptor(shared(sa)), descriptor(shared(sb)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])::"memory");
#pragma unroll
  for (unsigned r = 0; r < 2 * pairs; ++r) po[((g + 8 * (r / pairs)) * 4 + t) * pairs + r % pairs] = d[r];
}

template <int I>
__global__ void __launch_bounds__(128) tile(const void* a, const void* b, const void* c, void* out) {
  if constexpr (kCases[I].kind == Kind::kMma)
    tile_mma<I>(a, b, c, out, blockIdx.x);
  else
    tile_wgmma<I>(a, b, c, out, blockIdx.x);
}

#define NG_TILE(i) template __global__ void tile<i>(const void*, const void*, const void*, void*);
#define NG_TILES(i) NG_TILE(i) NG_TILE(i + 1) NG_TILE(i + 2) NG_TILE(i + 3) NG_TILE(i + 4)
NG_TILES(0) NG_TILES(5) NG_TILES(10) NG_TILES(15) NG_TILES(20) NG_TILES(25) NG_TILES(30) NG_TILES(35)
static_assert(kCaseCount == 40);

}  // namespace nervanagpu::tensor_probe
