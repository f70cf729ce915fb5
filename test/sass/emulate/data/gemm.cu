// Products of whole matrices, C [m][n] = A [m][k] B: by mma.sync with ldmatrix, and by wgmma.
//   nvcc -std=c++17 -gencode=arch=compute_90a,code=sm_90a -cubin gemm.cu -o gemm.cubin
#include <cstdint>

namespace {

__device__ std::uint32_t shared(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ void matrices(std::uint32_t (&d)[4], std::uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(at));
}
__device__ void matrices_transposed(std::uint32_t (&d)[4], std::uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(at));
}

// Address of 16-byte piece `piece` of row `row` with rows of 128 bytes, swizzled.
__device__ unsigned swizzled(unsigned row, unsigned piece) {
  return row * 128 + ((piece ^ (row & 7)) << 4);
}

}  // namespace

// 64 x 64 of C a block of 4 warps, 16 rows each; B is [k][n], so that its fragments are transposed on the way.
extern "C" __global__ void __launch_bounds__(128) gemm_mma(const uint4* a, const uint4* b, float2* c, int n, int k) {
  __shared__ alignas(128) unsigned char sa[64 * 128], sb[64 * 128];
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  float acc[8][4] = {};
  for (int k0 = 0; k0 < k; k0 += 64) {
    for (unsigned i = threadIdx.x; i < 512; i += 128) {
      const unsigned row = i / 8, piece = i % 8;
      *reinterpret_cast<uint4*>(sa + swizzled(row, piece)) = a[((blockIdx.y * 64 + row) * k + k0) / 8 + piece];
      *reinterpret_cast<uint4*>(sb + swizzled(row, piece)) = b[((k0 + row) * n + blockIdx.x * 64) / 8 + piece];
    }
    __syncthreads();
    for (unsigned s = 0; s < 4; ++s) {
      std::uint32_t fa[4];
      matrices(fa, shared(sa) + swizzled(warp * 16 + lane % 16, 2 * s + lane / 16));
      for (unsigned j = 0; j < 4; ++j) {
        std::uint32_t fb[4];  // two columns of 8, each k 0 .. 7 and 8 .. 15
        matrices_transposed(fb, shared(sb) + swizzled(s * 16 + lane % 16, 2 * j + lane / 16));
        for (unsigned h = 0; h < 2; ++h) {
          float* d = acc[2 * j + h];
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                       : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                       : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
        }
      }
    }
    __syncthreads();
  }
  for (unsigned j = 0; j < 8; ++j) {
    for (unsigned h = 0; h < 2; ++h) {
      const unsigned row = blockIdx.y * 64 + warp * 16 + lane / 4 + 8 * h;
      c[(row * n + blockIdx.x * 64 + j * 8) / 2 + lane % 4] = make_float2(acc[j][2 * h], acc[j][2 * h + 1]);
    }
  }
}

// 64 x 64 of C a warpgroup, 128-byte swizzle, two stages: one group in flight while the next stage is filled.
// kTransposed: B is [k][n], else [n][k].
template <bool kTransposed, bool kWrong>
__device__ void gemm_wgmma_of(const uint4* a, const uint4* b, float2* c, int n) {
  __shared__ alignas(1024) unsigned char stage[2][2][64 * 128];
  const auto descriptor = [](const void* p, unsigned leading, unsigned stride) {
    return (static_cast<std::uint64_t>(shared(p)) >> 4 & 0x3fff) | std::uint64_t{leading >> 4} << 16 |
           std::uint64_t{stride >> 4} << 32 | std::uint64_t{1} << 62;
  };
  float d[32] = {};
  constexpr int k = 256;  // unrolled: in a loop ptxas waits for each instruction
#pragma unroll
  for (int i = 0; i < k / 64; ++i) {
    unsigned char* sa = stage[i & 1][0];
    unsigned char* sb = stage[i & 1][1];
    for (unsigned j = threadIdx.x; j < 512; j += 128) {
      const unsigned row = j / 8, piece = j % 8;
      *reinterpret_cast<uint4*>(sa + swizzled(row, piece)) = a[((blockIdx.y * 64 + row) * k + i * 64) / 8 + piece];
      *reinterpret_cast<uint4*>(sb + swizzled(row, piece)) =
          kTransposed ? b[((i * 64 + row) * n + blockIdx.x * 64) / 8 + piece]
                      : b[((blockIdx.x * 64 + row) * k + i * 64) / 8 + piece];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (unsigned s = 0; s < 4; ++s) {
      const std::uint64_t da = descriptor(sa + s * 32, 16, 1024);
      const std::uint64_t db = kTransposed ? descriptor(sb + s * 2048, 8192, 1024) : descriptor(sb + s * 32, 16, 1024);
      asm volatile(
          "{ .reg .pred p; setp.ne.b32 p, %35, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
          "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, %34; }"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
            "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
            "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
            "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "l"(da), "l"(db), "n"(kTransposed ? 1 : 0), "r"(i + static_cast<int>(s)));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (!kWrong) {  // the other stage is free once all groups but this one are done, in every warp
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      __syncthreads();
    }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) {
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      const unsigned row = blockIdx.y * 64 + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + 8 * h;
      c[(row * n + blockIdx.x * 64 + j * 8) / 2 + threadIdx.x % 4] = make_float2(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(128) gemm_wgmma(const uint4* a, const uint4* b, float2* c, int n) {
  gemm_wgmma_of<false, false>(a, b, c, n);
}
extern "C" __global__ void __launch_bounds__(128) gemm_wgmma_transposed(const uint4* a, const uint4* b, float2* c, int n) {
  gemm_wgmma_of<true, false>(a, b, c, n);
}
// A planted bug: nobody waits before a stage is filled again.
extern "C" __global__ void __launch_bounds__(128) gemm_wgmma_early(const uint4* a, const uint4* b, float2* c, int n) {
  gemm_wgmma_of<false, true>(a, b, c, n);
}
