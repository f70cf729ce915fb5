// Clusters of CTAs: distributed shared memory, cluster barriers, arrivals at and stores to another CTA, multicast copies,
// and warps that hand registers to each other.
#include <cooperative_groups.h>

#include <cstdint>

namespace cg = cooperative_groups;

namespace {

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ uint32_t in_rank(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ void init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
__device__ void fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ void arrive_at(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ void wait(uint64_t* barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

}  // namespace

// What a thread can ask about its cluster: 15 numbers a CTA.
extern "C" __global__ void __cluster_dims__(2, 3, 1) places(uint32_t* out) {
  const uint32_t cta = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  uint32_t* o = out + 15 * cta;
  uint32_t v;
#define READ(name)                                 \
  asm volatile("mov.u32 %0, " name ";" : "=r"(v)); \
  *o++ = v;
  READ("%%cluster_ctaid.x") READ("%%cluster_ctaid.y") READ("%%cluster_ctaid.z")
  READ("%%cluster_nctaid.x") READ("%%cluster_nctaid.y") READ("%%cluster_nctaid.z")
  READ("%%clusterid.x") READ("%%clusterid.y") READ("%%clusterid.z")
  READ("%%nclusterid.x") READ("%%nclusterid.y") READ("%%nclusterid.z")
  READ("%%cluster_ctarank") READ("%%cluster_nctarank")
  asm volatile("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}" : "=r"(v));
  *o = v;
}

// Every CTA of the cluster holds a part of the bins.
extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram(const uint32_t* in, uint32_t* bins, int n) {
  __shared__ uint32_t part[64];
  const cg::cluster_group cluster = cg::this_cluster();
  for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) part[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uint32_t bin = in[i] & 255;
    atomicAdd(cluster.map_shared_rank(part, bin / 64) + bin % 64, 1u);
  }
  cluster.sync();
  for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(bins + cluster.block_rank() * 64 + i, part[i]);
}

// One sum a cluster of 8, in the order of the ranks.
extern "C" __global__ void __cluster_dims__(8, 1, 1) sum(const float* in, float* out) {
  __shared__ float v[128];
  const cg::cluster_group cluster = cg::this_cluster();
  v[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (unsigned d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) v[threadIdx.x] += v[threadIdx.x + d];
    __syncthreads();
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    float s = 0;
    for (unsigned r = 0; r < 8; ++r) s += *cluster.map_shared_rank(v, r);
    out[blockIdx.x / 8] = s;
  }
  cluster.sync();
}

// Numbers go round the ring of CTAs: each adds its rank and sends 16 bytes on, that count at the next one's mbarrier.
extern "C" __global__ void __cluster_dims__(4, 1, 1) ring(uint4* data, int rounds) {
  __shared__ uint4 slot[2][32];
  __shared__ uint64_t full[2];
  const cg::cluster_group cluster = cg::this_cluster();
  const uint32_t rank = cluster.block_rank(), next = (rank + 1) % 4;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      init(&full[i], 1);
      expect(&full[i], 32 * 16);
    }
    fence_init();
  }
  cluster.sync();
  uint4 v = data[blockIdx.x * 32 + threadIdx.x];
  for (int i = 0; i < rounds; ++i) {
    const int at = i & 1;
    v.x += rank;
    v.y ^= rank * 0x9e3779b9u;
    v.z = v.z * 3 + i;
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     in_rank(shared_address(&slot[at][threadIdx.x]), next)),
                 "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(in_rank(shared_address(&full[at]), next))
                 : "memory");
    wait(&full[at], i >> 1 & 1);
    v = slot[at][threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) expect(&full[at], 32 * 16);
    cluster.sync();  // nobody sends before all have read and armed
  }
  data[blockIdx.x * 32 + threadIdx.x] = v;
}

// Sums of 32-bit words by red.async: CTA r adds to all.
extern "C" __global__ void __cluster_dims__(2, 1, 1) add_async(uint32_t* out, uint32_t seed) {
  __shared__ uint32_t sum[64];
  __shared__ uint64_t done;
  const cg::cluster_group cluster = cg::this_cluster();
  sum[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) {
    init(&done, 1);
    expect(&done, 2 * 64 * 4);
    fence_init();
  }
  cluster.sync();
  for (uint32_t r = 0; r < 2; ++r) {
    asm volatile(
        "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.u32 [%0], %1, [%2];" ::"r"(
            in_rank(shared_address(&sum[threadIdx.x]), r)),
        "r"(seed * (cluster.block_rank() + 1) + threadIdx.x), "r"(in_rank(shared_address(&done), r))
        : "memory");
  }
  wait(&done, 0);
  out[blockIdx.x * 64 + threadIdx.x] = sum[threadIdx.x];
  cluster.sync();
}

// Each tile is loaded once, by rank 0 or 1 in turn, into both CTAs; each CTA adds up its half of it. `empty` of the CTA that
// loads counts the threads of both.
extern "C" __global__ void __cluster_dims__(2, 1, 1) multicast(const uint32_t* in, uint32_t* out, int tiles) {
  constexpr int kStages = 3, kWords = 256;
  __shared__ alignas(128) uint32_t tile[kStages][kWords];
  __shared__ uint64_t full[kStages], empty[kStages];
  const cg::cluster_group cluster = cg::this_cluster();
  const uint32_t rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      init(&full[i], 1);
      init(&empty[i], 2 * 64);
    }
    fence_init();
  }
  cluster.sync();
  const uint32_t* from = in + blockIdx.x / 2 * tiles * kWords;
  if (threadIdx.x >= 64) {  // a warp that loads
    if (threadIdx.x == 64) {
      for (int t = 0; t < tiles; ++t) {
        const int s = t % kStages;
        wait(&empty[s], (t / kStages & 1) ^ 1);
        expect(&full[s], kWords * 4);
        // The other CTA may not have announced its bytes yet; they may come first.
        if (t % 2 == static_cast<int>(rank)) {
          asm volatile(
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
              "%4;" ::"r"(shared_address(tile[s])),
              "l"(from + t * kWords), "r"(kWords * 4), "r"(shared_address(&full[s])),
              "h"(static_cast<unsigned short>(3))
              : "memory");
        }
      }
      // The last arrivals from the other CTA must come while this one is still there.
    }
  } else {
    uint32_t sum = 0;
    for (int t = 0; t < tiles; ++t) {
      const int s = t % kStages;
      wait(&full[s], t / kStages & 1);
      for (int i = 0; i < 2; ++i) sum = sum * 5 + tile[s][rank * 128 + i * 64 + threadIdx.x];
      for (uint32_t r = 0; r < 2; ++r) arrive_at(in_rank(shared_address(&empty[s]), r));
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
  }
  cluster.sync();
}

// A block of shared memory goes to the next CTA.
extern "C" __global__ void __cluster_dims__(2, 1, 1) swap_blocks(uint32_t* data) {
  __shared__ alignas(128) uint32_t mine[128], theirs[128];
  __shared__ uint64_t full;
  const cg::cluster_group cluster = cg::this_cluster();
  const uint32_t other = cluster.block_rank() ^ 1;
  if (threadIdx.x == 0) {
    init(&full, 1);
    expect(&full, sizeof mine);
    fence_init();
  }
  mine[threadIdx.x] = data[blockIdx.x * 128 + threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  cluster.sync();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     in_rank(shared_address(theirs), other)),
                 "r"(shared_address(mine)), "r"(static_cast<uint32_t>(sizeof mine)),
                 "r"(in_rank(shared_address(&full), other))
                 : "memory");
  }
  wait(&full, 0);
  data[blockIdx.x * 128 + threadIdx.x] = theirs[threadIdx.x] + other;
  cluster.sync();
}

// A warpgroup that loads gives registers away, two others take them and multiply: many values are alive at once.
extern "C" __global__ void __launch_bounds__(384, 1) specialised(const float* in, float* out, int tiles) {
  constexpr int kStages = 2, kWords = 2048;
  __shared__ alignas(128) float tile[kStages][kWords];
  __shared__ uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      init(&full[i], 1);
      init(&empty[i], 256);
    }
    fence_init();
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 0) {
      for (int t = 0; t < tiles; ++t) {
        const int s = t % kStages;
        wait(&empty[s], (t / kStages & 1) ^ 1);
        expect(&full[s], kWords * 4);
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                shared_address(tile[s])),
            "l"(in + t * kWords), "r"(kWords * 4), "r"(shared_address(&full[s]))
            : "memory");
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const unsigned group = threadIdx.x / 128 - 1, t0 = threadIdx.x % 128;
    float sum[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) sum[i] = static_cast<float>(i);
    for (int t = 0; t < tiles; ++t) {
      const int s = t % kStages;
      wait(&full[s], t / kStages & 1);
      float a[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) a[i] = tile[s][group * 1024 + i * 128 + t0];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i * 8 + j] = fmaf(a[i], a[j], sum[i * 8 + j]);
      }
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&empty[s])) : "memory");
    }
#pragma unroll
    for (int i = 0; i < 64; ++i) out[(group * 64 + i) * 128 + t0] = sum[i];
  }
}

// A grid that waits for the one before it, and lets the one behind it start.
extern "C" __global__ void dependent(uint32_t* data) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  data[blockIdx.x * blockDim.x + threadIdx.x] += 7;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
