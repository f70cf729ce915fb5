// Runs every case on the chip and writes what came out:
//   tensor_probe dump DIR SEED CHUNKS    the bits of the results, all cases one after the other (dump.bin)
//   tensor_probe digest DIR SEED CHUNKS  one hash per case and chunk of kChunk results (digests.txt)
// Build: nvcc -std=c++20 -O2 -gencode=arch=compute_90a,code=sm_90a -Xcompiler -pthread probe.cu -o tensor_probe
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cases.h"
#include "instructions.cuh"

namespace nervanagpu::tensor_probe {
namespace {

void check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

template <Format F>
__device__ std::uint32_t pack(const std::uint64_t* e) {
  if constexpr (bits_of(F) == 8) return static_cast<std::uint32_t>(e[0] | e[1] << 8 | e[2] << 16 | e[3] << 24);
  if constexpr (bits_of(F) == 16) return static_cast<std::uint32_t>(e[0] | e[1] << 16);
  return static_cast<std::uint32_t>(e[0]);
}

// The register r of a fragment holds elements of row g (+ 8 if r is odd, of A) at k = first, first + 1, ...
template <Format F>
__device__ std::uint32_t fragment(std::uint64_t seed, std::uint64_t tile, unsigned which, unsigned row, unsigned group) {
  constexpr unsigned per = 32 / bits_of(F);
  std::uint64_t e[4] = {};
  for (unsigned i = 0; i < per; ++i) e[i] = operand_bits(F, seed, tile, which, row, (group * 4 + threadIdx.x % 4) * per + i);
  return pack<F>(e);
}

template <int I>
__global__ void run_mma(std::uint64_t seed, std::uint64_t first, unsigned tiles, void* out) {
  constexpr Case c = kCases[I];
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const unsigned warps = gridDim.x * blockDim.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned g = lane / 4;
  const unsigned t = lane % 4;
  for (unsigned i = warp; i < tiles; i += warps) {
    const std::uint64_t tile = first + i;
    if constexpr (c.a == Format::kF64) {
      double a[8], b[4], d[4];
      for (unsigned r = 0; r < c.m / 8 * c.k / 4; ++r) {
        const unsigned row = c.m == 8 ? g : g + 8 * (r & 1);
        const unsigned k = (c.m == 8 ? r : r >> 1) * 4 + t;
        a[r] = __longlong_as_double(static_cast<long long>(operand_bits(c.a, seed, tile, 0, row, k)));
      }
      for (unsigned r = 0; r < c.k / 4; ++r)
        b[r] = __longlong_as_double(static_cast<long long>(operand_bits(c.b, seed, tile, 1, g, r * 4 + t)));
      for (unsigned r = 0; r < c.m / 4; ++r)
        d[r] = __longlong_as_double(static_cast<long long>(addend_bits(c.c, c.a, seed, tile, g + 8 * (r >> 1), 2 * t + (r & 1))));
      mma<I>(d, a, b);
      auto* o = static_cast<unsigned long long*>(out) + std::size_t{i} * c.m * 8;
      for (unsigned r = 0; r < c.m / 4; ++r)
        o[(g + 8 * (r >> 1)) * 8 + 2 * t + (r & 1)] = static_cast<unsigned long long>(__double_as_longlong(d[r]));
    } else {
      constexpr unsigned per = 32 / bits_of(c.a);
      constexpr unsigned groups = c.k / (4 * per);
      std::uint32_t a[4] = {}, b[2] = {}, d[4] = {};
      for (unsigned r = 0; r < 2 * groups; ++r) a[r] = fragment<c.a>(seed, tile, 0, g + 8 * (r & 1), r >> 1);
      for (unsigned r = 0; r < groups; ++r) b[r] = fragment<c.b>(seed, tile, 1, g, r);
      std::uint64_t e[4];
      for (unsigned r = 0; r < 4; ++r) e[r] = addend_bits(c.c, c.a, seed, tile, g + 8 * (r >> 1), 2 * t + (r & 1));
      if constexpr (c.c == Format::kF16) {
        d[0] = static_cast<std::uint32_t>(e[0] | e[1] << 16);
        d[1] = static_cast<std::uint32_t>(e[2] | e[3] << 16);
      } else {
        for (unsigned r = 0; r < 4; ++r) d[r] = static_cast<std::uint32_t>(e[r]);
      }
      mma<I>(d, a, b);
      for (unsigned r = 0; r < 4; ++r) {
        const std::size_t at = std::size_t{i} * 128 + (g + 8 * (r >> 1)) * 8 + 2 * t + (r & 1);
        if constexpr (c.c == Format::kF16)
          static_cast<std::uint16_t*>(out)[at] = static_cast<std::uint16_t>(d[r >> 1] >> 16 * (r & 1));
        else
          static_cast<std::uint32_t*>(out)[at] = d[r];
      }
    }
  }
}

// Descriptor of a tile without swizzle: 8 x 16-byte core matrices, 128 bytes apart along k, 256 bytes along the rows.
__device__ std::uint64_t descriptor(const void* p) {
  const auto at = static_cast<std::uint64_t>(__cvta_generic_to_shared(p));
  return (at >> 4 & 0x3fff) | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
}
__device__ unsigned place(unsigned row, unsigned k, unsigned bytes) {
  const unsigned at = k * bytes;
  return row / 8 * 256 + at / 16 * 128 + row % 8 * 16 + at % 16;
}

template <Format F>
__device__ void fill(unsigned char* to, std::uint64_t seed, std::uint64_t tile, unsigned which, unsigned rows, unsigned k) {
  constexpr unsigned bytes = bits_of(F) / 8;
  for (unsigned i = threadIdx.x; i < rows * k; i += blockDim.x) {
    const std::uint64_t v = operand_bits(F, seed, tile, which, i / k, i % k);
    for (unsigned j = 0; j < bytes; ++j) to[place(i / k, i % k, bytes) + j] = static_cast<unsigned char>(v >> 8 * j);
  }
}

template <int I>
__global__ void __launch_bounds__(128) run_wgmma(std::uint64_t seed, std::uint64_t first, unsigned tiles, void* out) {
  constexpr Case c = kCases[I];
  __shared__ alignas(128) unsigned char sa[2048], sb[256];
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned g = lane / 4 + 16 * warp;
  const unsigned t = lane % 4;
  for (unsigned i = blockIdx.x; i < tiles; i += gridDim.x) {
    const std::uint64_t tile = first + i;
    __syncthreads();
    fill<c.a>(sa, seed, tile, 0, 64, c.k);
    fill<c.b>(sb, seed, tile, 1, 8, c.k);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    std::uint32_t a[4] = {}, d[4] = {};
    if constexpr ((c.flags & kRegisterA) != 0) {
      for (unsigned r = 0; r < 4; ++r) a[r] = fragment<c.a>(seed, tile, 0, g + 8 * (r & 1), r >> 1);
    }
    std::uint64_t e[4];
    for (unsigned r = 0; r < 4; ++r) e[r] = addend_bits(c.c, c.a, seed, tile, g + 8 * (r >> 1), 2 * t + (r & 1));
    if constexpr (c.c == Format::kF16) {
      d[0] = static_cast<std::uint32_t>(e[0] | e[1] << 16);
      d[1] = static_cast<std::uint32_t>(e[2] | e[3] << 16);
    } else {
      for (unsigned r = 0; r < 4; ++r) d[r] = static_cast<std::uint32_t>(e[r]);
    }
    const std::uint64_t da = descriptor(sa);
    const std::uint64_t db = descriptor(sb);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    wgmma<I>(d, a, da, db);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])::"memory");
    for (unsigned r = 0; r < 4; ++r) {
      const std::size_t at = std::size_t{i} * 512 + (g + 8 * (r >> 1)) * 8 + 2 * t + (r & 1);
      if constexpr (c.c == Format::kF16)
        static_cast<std::uint16_t*>(out)[at] = static_cast<std::uint16_t>(d[r >> 1] >> 16 * (r & 1));
      else
        static_cast<std::uint32_t*>(out)[at] = d[r];
    }
  }
}

template <int I>
void launch(std::uint64_t seed, std::uint64_t first, unsigned tiles, void* out) {
  if constexpr (kCases[I].kind == Kind::kMma)
    run_mma<I><<<528, 256>>>(seed, first, tiles, out);
  else
    run_wgmma<I><<<1056, 128>>>(seed, first, tiles, out);
  check(cudaGetLastError(), kCases[I].name);
}

template <int... I>
void dispatch(int which, std::uint64_t seed, std::uint64_t first, unsigned tiles, void* out, std::integer_sequence<int, I...>) {
  ((which == I ? launch<I>(seed, first, tiles, out) : void()), ...);
}

std::uint64_t hash(const unsigned char* p, std::size_t count, unsigned bytes) {
  std::uint64_t h = kFoldStart;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t v = 0;
    std::memcpy(&v, p + i * bytes, bytes);
    h = fold(h, v);
  }
  return h;
}

int main_of(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: tensor_probe dump|digest DIR SEED CHUNKS\n");
    return 2;
  }
  const bool dump = std::strcmp(argv[1], "dump") == 0;
  const std::string dir = argv[2];
  const std::uint64_t seed = std::strtoull(argv[3], nullptr, 0);
  const unsigned chunks = static_cast<unsigned>(std::strtoul(argv[4], nullptr, 0));
  std::FILE* f = std::fopen((dir + (dump ? "/dump.bin" : "/digests.txt")).c_str(), "wb");
  if (f == nullptr) return 1;
  for (unsigned i = 0; i < kCaseCount; ++i) {
    const Case& c = kCases[i];
    const unsigned bytes = bits_of(c.c) / 8;
    const unsigned per_tile = c.m * c.n;
    const std::size_t count = std::size_t{chunks} * kChunk;
    void* out = nullptr;
    check(cudaMalloc(&out, count * bytes), "cudaMalloc");
    check(cudaMemset(out, 0xcd, count * bytes), "cudaMemset");
    dispatch(static_cast<int>(i), seed, 0, static_cast<unsigned>(count / per_tile), out, std::make_integer_sequence<int, kCaseCount>());
    std::vector<unsigned char> host(count * bytes);
    check(cudaMemcpy(host.data(), out, host.size(), cudaMemcpyDeviceToHost), c.name);
    check(cudaFree(out), "cudaFree");
    if (dump) {
      std::fwrite(host.data(), 1, host.size(), f);
      continue;
    }
    std::vector<std::uint64_t> hashes(chunks);
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < 16; ++t)
      pool.emplace_back([&, t] {
        for (unsigned k = t; k < chunks; k += 16) hashes[k] = hash(host.data() + std::size_t{k} * kChunk * bytes, kChunk, bytes);
      });
    for (std::thread& t : pool) t.join();
    for (unsigned k = 0; k < chunks; ++k)
      std::fprintf(f, "%s %u %016llx\n", c.name, k, static_cast<unsigned long long>(hashes[k]));
  }
  std::fclose(f);
  return 0;
}

}  // namespace
}  // namespace nervanagpu::tensor_probe

int main(int argc, char** argv) {
  return nervanagpu::tensor_probe::main_of(argc, argv);
}
