// One command of the copy engine, whatever it is: what test/tma runs on the emulator and on a GPU.
//
//   load_N, load_image_N     image -> shared memory, the command, shared memory -> out, the mbarrier behind it
//   store_N, store_image_N   image -> shared memory, the command: a copy (op 8) or a reduction (0 to 7)
//
// A load that never completes is waited for some thousand times only, so that a wrong number of bytes shows in the state of
// the mbarrier.
struct alignas(64) Map {
  unsigned long long words[16];
};
constexpr unsigned kChunks = 2048;  // of 16 bytes

__device__ unsigned address_of(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void fill(uint4* tile, const uint4* image) {
  for (unsigned i = threadIdx.x; i < kChunks; i += 128) tile[i] = image[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ void make_barrier(unsigned bar) {
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
}

__device__ void expect(unsigned bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

__device__ void finish(unsigned bar, uint4* tile, uint4* out, const unsigned long long* state) {
  for (int i = 0; i < 65536; ++i) {
    unsigned over;
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(over)
        : "r"(bar)
        : "memory");
    if (over != 0) break;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kChunks; i += 128) out[i] = tile[i];
  if (threadIdx.x == 0) *reinterpret_cast<unsigned long long*>(out + kChunks) = *state;
}

#define KERNEL(name)                                                                                                  \
  extern "C" __global__ void __launch_bounds__(128)                                                                   \
      name(const __grid_constant__ Map map, const uint4* image, uint4* out, int c0, int c1, int c2, int c3, int c4,   \
           unsigned where, unsigned at, unsigned bytes)
#define SHARED                                          \
  __shared__ alignas(1024) uint4 tile[kChunks];         \
  __shared__ alignas(16) unsigned long long state;      \
  const unsigned bar = address_of(&state);              \
  const unsigned box = address_of(tile) + at;           \
  fill(tile, image)

#define C1 "{%3}"
#define C2 "{%3, %4}"
#define C3 "{%3, %4, %5}"
#define C4 "{%3, %4, %5, %6}"
#define C5 "{%3, %4, %5, %6, %7}"

#define LOAD(name, dims, mode, coordinates, offsets)                                                                   \
  KERNEL(name) {                                                                                                       \
    SHARED;                                                                                                            \
    make_barrier(bar);                                                                                                 \
    __syncthreads();                                                                                                   \
    if (threadIdx.x == 0) {                                                                                            \
      expect(bar, bytes);                                                                                              \
      asm volatile("{ .reg .b16 w, h, d; cvt.u16.u32 w, %8; cvt.u16.u32 h, %9; cvt.u16.u32 d, %10;\n"                  \
                   "cp.async.bulk.tensor." dims ".shared::cluster.global." mode ".mbarrier::complete_tx::bytes [%0], " \
                   "[%1, " coordinates "], [%2]" offsets "; }" ::"r"(box),                                             \
                   "l"(&map), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(where & 1023),                \
                   "r"(where >> 10 & 1023), "r"(where >> 20)                                                           \
                   : "memory");                                                                                        \
    }                                                                                                                  \
    finish(bar, tile, out, &state);                                                                                    \
  }
LOAD(load_1, "1d", "tile", C1, "")
LOAD(load_2, "2d", "tile", C2, "")
LOAD(load_3, "3d", "tile", C3, "")
LOAD(load_4, "4d", "tile", C4, "")
LOAD(load_5, "5d", "tile", C5, "")
LOAD(load_image_3, "3d", "im2col", C3, ", {w}")
LOAD(load_image_4, "4d", "im2col", C4, ", {w, h}")
LOAD(load_image_5, "5d", "im2col", C5, ", {w, h, d}")

#define REDUCE(number, op, dims, mode, coordinates)                                                                 \
  case number:                                                                                                      \
    asm volatile("cp.reduce.async.bulk.tensor." dims ".global.shared::cta." op "." mode ".bulk_group [%1, " coordinates \
                 "], [%0];" ::"r"(box),                                                                             \
                 "l"(&map), "r"(0), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)                                     \
                 : "memory");                                                                                       \
    break;
#define STORE(name, dims, mode, coordinates)                                                                       \
  KERNEL(name) {                                                                                                   \
    SHARED;                                                                                                        \
    __syncthreads();                                                                                               \
    if (threadIdx.x != 0) return;                                                                                  \
    switch (where) {                                                                                               \
      REDUCE(0, "add", dims, mode, coordinates)                                                                    \
      REDUCE(1, "min", dims, mode, coordinates)                                                                    \
      REDUCE(2, "max", dims, mode, coordinates)                                                                    \
      REDUCE(3, "inc", dims, mode, coordinates)                                                                    \
      REDUCE(4, "dec", dims, mode, coordinates)                                                                    \
      REDUCE(5, "and", dims, mode, coordinates)                                                                    \
      REDUCE(6, "or", dims, mode, coordinates)                                                                     \
      REDUCE(7, "xor", dims, mode, coordinates)                                                                    \
      default:                                                                                                     \
        asm volatile("cp.async.bulk.tensor." dims ".global.shared::cta." mode ".bulk_group [%1, " coordinates      \
                     "], [%0];" ::"r"(box),                                                                        \
                     "l"(&map), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)                              \
                     : "memory");                                                                                  \
    }                                                                                                              \
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");                                                      \
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");                                                      \
  }
STORE(store_1, "1d", "tile", C1)
STORE(store_2, "2d", "tile", C2)
STORE(store_3, "3d", "tile", C3)
STORE(store_4, "4d", "tile", C4)
STORE(store_5, "5d", "tile", C5)
STORE(store_image_3, "3d", "im2col_no_offs", C3)
STORE(store_image_4, "4d", "im2col_no_offs", C4)
STORE(store_image_5, "5d", "im2col_no_offs", C5)
