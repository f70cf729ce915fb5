// Pipelines of the copy engine as ptxas makes them: a producer warp, rings of mbarriers, products of a warpgroup, multicast
// to a cluster, stores and reductions whose operands differ from lane to lane.
#include <cstdint>

namespace {

struct alignas(64) Map {
  uint64_t words[16];
};

__device__ uint32_t address_of(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ uint32_t in_rank(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ uint32_t cluster_rank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ void init(uint64_t* bar, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(bar)), "r"(arrivals) : "memory");
}
__device__ void fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void fence_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ void expect(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(bar)), "r"(bytes) : "memory");
}
__device__ void arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(bar)) : "memory");
}
__device__ void arrive_at(uint64_t* bar, uint32_t rank) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_rank(address_of(bar), rank))
               : "memory");
}
__device__ void wait(uint64_t* bar, uint32_t parity) {
  uint32_t over = 0;
  while (over == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(address_of(bar)), "r"(parity)
        : "memory");
  }
}
__device__ void load_box(const void* to, const Map& map, uint32_t x, uint32_t y, uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          address_of(to)),
      "l"(&map), "r"(x), "r"(y), "r"(address_of(bar))
      : "memory");
}
__device__ void load_box_to(const void* to, const Map& map, uint32_t x, uint32_t y, uint64_t* bar, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, "
      "%3}], [%4], %5;" ::"r"(address_of(to)),
      "l"(&map), "r"(x), "r"(y), "r"(address_of(bar)), "h"(ctas)
      : "memory");
}
__device__ void store_box(const Map& map, uint32_t x, uint32_t y, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y),
               "r"(address_of(from))
               : "memory");
}
__device__ void add_box(const Map& map, uint32_t x, uint32_t y, const void* from) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
               "r"(x), "r"(y), "r"(address_of(from))
               : "memory");
}
__device__ void commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int kLeft>
__device__ void stores_done() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kLeft) : "memory");
}
template <int kLeft>
__device__ void stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

// A stage of a ring of `stages`, and the parity of its phase.
template <unsigned kStages>
struct Ring {
  uint32_t stage = 0, parity = 0;
  __device__ void next() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
};

constexpr uint32_t kTile = 256;  // 8 rows of 32 words
constexpr uint32_t kAcross = 4;  // tiles of a row of them

// What a broken pipeline lacks: checked mode of the emulator has to see it.
enum Broken { kNone, kNoWait, kEarlyRelease, kNoFence, kFenceOfOneWarp, kNoReadWait };

// A warp fills a ring of tiles; four others turn them into 2 x + 1, and the engine stores them.
template <Broken kBroken>
__device__ void run(const Map& from, const Map& to, uint32_t tiles) {
  constexpr unsigned kStages = 3;
  __shared__ alignas(128) uint32_t in[kStages][kTile];
  __shared__ alignas(128) uint32_t out[2][kTile];
  __shared__ uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], 128);
    }
    fence_init();
  }
  __syncthreads();
  Ring<kStages> ring;
  if (threadIdx.x < 32) {
    for (uint32_t t = blockIdx.x; t < tiles; t += gridDim.x, ring.next()) {
      wait(&empty[ring.stage], ring.parity ^ 1);
      if (threadIdx.x != 0) continue;
      expect(&full[ring.stage], 4 * kTile);
      load_box(in[ring.stage], from, 32 * (t % kAcross), 8 * (t / kAcross), &full[ring.stage]);
    }
    return;
  }
  const uint32_t me = threadIdx.x - 32;
  const auto meet = [] { asm volatile("bar.sync 1, 128;" ::: "memory"); };
  uint32_t buffer = 0;
  for (uint32_t t = blockIdx.x; t < tiles; t += gridDim.x, ring.next(), buffer ^= 1) {
    if (kBroken != kNoReadWait && me == 0) stores_read<1>();
    meet();
    if (kBroken != kNoWait) wait(&full[ring.stage], ring.parity);
    if (kBroken == kEarlyRelease) arrive(&empty[ring.stage]);
    volatile uint32_t* tile = in[ring.stage];
    const uint32_t a = tile[me], b = tile[me + 128];
    if (kBroken != kEarlyRelease) arrive(&empty[ring.stage]);
    out[buffer][me] = 2 * a + 1;
    out[buffer][me + 128] = 2 * b + 1;
    if (kBroken != kNoFence && (kBroken != kFenceOfOneWarp || me < 32)) fence_proxy();
    meet();
    if (me == 0) {
      store_box(to, 32 * (t % kAcross), 8 * (t / kAcross), out[buffer]);
      commit();
    }
  }
  if (me == 0) stores_done<0>();
}

}  // namespace

#define PIPELINE(name, broken)                                                                               \
  extern "C" __global__ void __launch_bounds__(160)                                                          \
      name(const __grid_constant__ Map from, const __grid_constant__ Map to, uint32_t tiles) {               \
    run<broken>(from, to, tiles);                                                                            \
  }
PIPELINE(pipeline, kNone)
PIPELINE(no_wait, kNoWait)
PIPELINE(early_release, kEarlyRelease)
PIPELINE(no_fence, kNoFence)
PIPELINE(fence_of_one_warp, kFenceOfOneWarp)
PIPELINE(no_read_wait, kNoReadWait)

// C = A B^T of halves, 64 x 64 a CTA: a warp loads, a warpgroup multiplies. Boxes are 64 x 64 with the swizzle of 128 bytes.
extern "C" __global__ void __launch_bounds__(160)
    product(const __grid_constant__ Map a, const __grid_constant__ Map b, float* c, uint32_t k, uint32_t ldc) {
  constexpr unsigned kStages = 3, kBytes = 64 * 128;
  extern __shared__ __align__(1024) uint8_t tiles[];  // of A and B in turn, kStages of each
  __shared__ uint64_t full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], 128);
    }
    fence_init();
  }
  __syncthreads();
  Ring<kStages> ring;
  const uint32_t m0 = 64 * blockIdx.y, n0 = 64 * blockIdx.x;
  if (threadIdx.x >= 128) {
    for (uint32_t i = 0; i < k; i += 64, ring.next()) {
      wait(&empty[ring.stage], ring.parity ^ 1);
      if (threadIdx.x != 128) continue;
      uint8_t* tile = tiles + 2 * kBytes * ring.stage;
      expect(&full[ring.stage], 2 * kBytes);
      load_box(tile, a, i, m0, &full[ring.stage]);
      load_box(tile + kBytes, b, i, n0, &full[ring.stage]);
    }
    return;
  }
  float s[32];
#pragma unroll
  for (float& v : s) v = 0;
  for (uint32_t i = 0; i < k; i += 64, ring.next()) {
    wait(&full[ring.stage], ring.parity);
    // Swizzle of 128 bytes, 1024 bytes from one group of eight rows to the next.
    const uint64_t form = uint64_t{1} << 62 | uint64_t{64} << 32 | uint64_t{1} << 16;
    const uint32_t at = address_of(tiles + 2 * kBytes * ring.stage);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (uint32_t step = 0; step < 4; ++step) {
      const uint64_t da = form | ((at + 32 * step) >> 4), db = form | ((at + kBytes + 32 * step) >> 4);
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
          "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, "
          "1, 1, 0, 0;"
          : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]), "+f"(s[7]), "+f"(s[8]),
            "+f"(s[9]), "+f"(s[10]), "+f"(s[11]), "+f"(s[12]), "+f"(s[13]), "+f"(s[14]), "+f"(s[15]), "+f"(s[16]),
            "+f"(s[17]), "+f"(s[18]), "+f"(s[19]), "+f"(s[20]), "+f"(s[21]), "+f"(s[22]), "+f"(s[23]), "+f"(s[24]),
            "+f"(s[25]), "+f"(s[26]), "+f"(s[27]), "+f"(s[28]), "+f"(s[29]), "+f"(s[30]), "+f"(s[31])
          : "l"(da), "l"(db)
          : "memory");
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    arrive(&empty[ring.stage]);
  }
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (uint32_t j = 0; j < 32; ++j) {
    const uint32_t row = 16 * warp + lane / 4 + 8 * (j / 2 % 2), column = 8 * (j / 4) + 2 * (lane % 4) + j % 2;
    c[(m0 + row) * ldc + n0 + column] = s[j];
  }
}

// Both CTAs of a cluster read every tile; each loads one half of it, for both. What a CTA adds up is its own.
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160)
    halves(const __grid_constant__ Map half, uint32_t* out, uint32_t tiles) {
  constexpr unsigned kStages = 2;
  __shared__ alignas(128) uint32_t in[kStages][kTile];
  __shared__ uint64_t full[kStages], empty[kStages];
  const uint32_t rank = cluster_rank();
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], 2 * 128);
    }
    fence_init();
  }
  cluster_sync();
  Ring<kStages> ring;
  if (threadIdx.x < 32) {
    for (uint32_t t = 0; t < tiles; ++t, ring.next()) {
      if (threadIdx.x == 0) {
        wait(&empty[ring.stage], ring.parity ^ 1);  // of the threads of both
        expect(&full[ring.stage], 4 * kTile);
        load_box_to(in[ring.stage] + rank * kTile / 2, half, 32 * (t % kAcross), 8 * (t / kAcross) + 4 * rank,
                    &full[ring.stage], 3);
      }
      __syncwarp();
    }
  } else {
    const uint32_t me = threadIdx.x - 32;
    uint32_t sum = 0;
    for (uint32_t t = 0; t < tiles; ++t, ring.next()) {
      wait(&full[ring.stage], ring.parity);
      sum = sum * 5 + in[ring.stage][me] * (rank + 1) + in[ring.stage][me + 128];
      for (uint32_t r = 0; r < 2; ++r) arrive_at(&empty[ring.stage], r);
    }
    out[blockIdx.x * 128 + me] = sum;
  }
  cluster_sync();
}

// Lanes with operands of their own: each of four stores a tile, adds another at a place of its own, and adds a block of a
// length of its own. All CTAs add to the same sums.
extern "C" __global__ void __launch_bounds__(128)
    scatter(const __grid_constant__ Map to, const __grid_constant__ Map sums, uint32_t* block, uint32_t seed) {
  __shared__ alignas(128) uint32_t tile[4][kTile];
  const uint32_t me = threadIdx.x, lane = me % 32;
  for (uint32_t i = me; i < 4 * kTile; i += 128) tile[i / kTile][i % kTile] = (i + 1) * (seed + blockIdx.x);
  fence_proxy();
  __syncthreads();
  if (me < 32 && lane % 3 == 1 && lane < 12) {  // 1, 4, 7, 10
    const uint32_t n = lane / 3;
    store_box(to, 32 * n, 8 * blockIdx.x, tile[n]);
    commit();
    add_box(sums, 32 * (n ^ blockIdx.x & 3), 8 * (n & 1), tile[n]);
    commit();
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(block + 64 * n),
                 "r"(address_of(tile[3 - n])), "r"(64 * (n + 1))
                 : "memory");
    commit();
    stores_done<0>();
  }
}

// Each CTA of a cluster reduces its block into the other's.
#define REMOTE(number, operation)                                                                                   \
  case number:                                                                                                      \
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." operation          \
                 " [%0], [%1], %2, [%3];" ::"r"(in_rank(address_of(theirs), rank ^ 1)),                             \
                 "r"(address_of(mine)), "r"(static_cast<uint32_t>(sizeof mine)), "r"(in_rank(address_of(&done), rank ^ 1)) \
                 : "memory");                                                                                       \
    break;
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128)
    reduce_remote(const uint32_t* from, uint32_t* data, uint32_t operation) {
  __shared__ alignas(128) uint32_t mine[256], theirs[256];
  __shared__ uint64_t done;
  const uint32_t rank = cluster_rank();
  if (threadIdx.x == 0) {
    init(&done, 1);
    expect(&done, sizeof mine);
    fence_init();
  }
  for (uint32_t i = threadIdx.x; i < 256; i += 128) {
    mine[i] = from[blockIdx.x * 256 + i];
    theirs[i] = data[blockIdx.x * 256 + i];
  }
  fence_proxy();
  cluster_sync();
  if (threadIdx.x == 0) {
    switch (operation) {
      REMOTE(0, "add.u32")
      REMOTE(1, "add.s32")
      REMOTE(2, "add.u64")
      REMOTE(3, "inc.u32")
      REMOTE(4, "dec.u32")
      REMOTE(5, "min.u32")
      REMOTE(6, "min.s32")
      REMOTE(7, "max.u32")
      REMOTE(8, "max.s32")
      REMOTE(9, "and.b32")
      REMOTE(10, "or.b32")
      REMOTE(11, "xor.b32")
      default: break;
    }
  }
  wait(&done, 0);
  for (uint32_t i = threadIdx.x; i < 256; i += 128) data[blockIdx.x * 256 + i] = theirs[i];
  cluster_sync();
}
