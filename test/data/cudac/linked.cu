// Programs of two source files, linked by nvlink: this one has the kernels, linked_functions.cu what they call.
#include <cstdint>

using Function = uint32_t (*)(uint32_t, uint32_t);
extern __device__ uint32_t mix(uint32_t a, uint32_t b);
extern __device__ uint32_t fold(const uint32_t* v, uint32_t n);
extern __device__ uint32_t table[64];
extern __constant__ uint32_t weights[32];
extern __device__ Function choice[3];
extern __device__ uint32_t counter;

// A direct call, variables of the other file, and a call through a pointer that differs from lane to lane.
extern "C" __global__ void hash(const uint32_t* in, uint32_t* out, uint32_t n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t v = mix(in[i], table[i & 63]) + weights[i & 31];
  v = choice[i % 3](v, i);
  atomicAdd(&counter, v);
  out[i] = v;
}

// A function that calls another, and itself.
extern "C" __global__ void sums(const uint32_t* in, uint32_t* out, uint32_t length) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = fold(in + i * length, length);
}

extern "C" __global__ void read_counter(uint32_t* out) {
  *out = counter;
}
