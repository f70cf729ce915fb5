// Atomics on global, shared and generic addresses, in all widths and types.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void histogram(const unsigned char* text, unsigned* counts, int n) {
  __shared__ unsigned local[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[text[i]], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
    if (local[i] != 0) atomicAdd(&counts[i], local[i]);
  }
}

// The maximum of floats of any sign by compare and swap, and by integer maxima and minima of their bits.
__device__ float max_by_cas(float* at, float v) {
  int old = __float_as_int(*at), seen;
  do {
    seen = old;
    if (__int_as_float(seen) >= v) break;
    old = atomicCAS(reinterpret_cast<int*>(at), seen, __float_as_int(v));
  } while (old != seen);
  return __int_as_float(old);
}
extern "C" __global__ void float_max(const float* in, float* out, int n) {
  __shared__ float best;
  if (threadIdx.x == 0) best = -1e30f;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    max_by_cas(&best, in[i]);
    if (in[i] >= 0) {
      atomicMax(reinterpret_cast<int*>(out + 1), __float_as_int(in[i]));
    } else {
      atomicMin(reinterpret_cast<unsigned*>(out + 2), __float_as_uint(in[i]));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = best;
}

// Every integer function in 32 and 64 bits, on global and on shared memory. Results do not depend on the order.
extern "C" __global__ void functions(const unsigned* in, unsigned* w, unsigned long long* d, int* s32, long long* s64) {
  __shared__ unsigned sw[8];
  __shared__ unsigned long long sd[4];
  if (threadIdx.x < 8) sw[threadIdx.x] = threadIdx.x == 4 ? ~0u : threadIdx.x == 1 ? ~0u : 0;
  if (threadIdx.x < 4) sd[threadIdx.x] = threadIdx.x == 1 ? ~0ull : 0;
  __syncthreads();
  const unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x];
  const unsigned long long v2 = (static_cast<unsigned long long>(v) << 29) ^ v;
  atomicAdd(w, v);
  atomicMin(w + 1, v);
  atomicMax(w + 2, v);
  atomicInc(w + 3, 100);
  atomicAnd(w + 4, v | 0xff);
  atomicOr(w + 5, v & 0x00ffff00);
  atomicXor(w + 6, v);
  atomicDec(w + 7, 77);
  atomicSub(s32, static_cast<int>(v));
  atomicMin(s32 + 1, static_cast<int>(v));
  atomicMax(s32 + 2, static_cast<int>(v));
  atomicAdd(d, v2);
  atomicMin(d + 1, v2);
  atomicMax(d + 2, v2);
  atomicAnd(d + 3, v2 | 0xffff);
  atomicOr(d + 4, v2 & 0xffff0000ffffull);
  atomicXor(d + 5, v2);
  atomicMin(s64, static_cast<long long>(v2 << 3));
  atomicMax(s64 + 1, static_cast<long long>(v2 << 3));
  atomicAdd(&sw[0], v);
  atomicMin(&sw[1], v);
  atomicMax(reinterpret_cast<int*>(&sw[2]), static_cast<int>(v));
  atomicInc(&sw[3], 50);
  atomicAnd(&sw[4], v | 0xf0f0);
  atomicOr(&sw[5], v & 0x0ff0);
  atomicXor(&sw[6], v);
  atomicDec(&sw[7], 33);
  atomicAdd(&sd[0], v2);
  atomicMin(&sd[1], v2);
  atomicMax(&sd[2], v2);
  atomicXor(&sd[3], v2);
  __syncthreads();
  if (threadIdx.x < 8) {
    if (threadIdx.x == 3 || threadIdx.x == 7) {
      w[8 + threadIdx.x] = sw[threadIdx.x];
    } else if (threadIdx.x == 0) {
      atomicAdd(w + 8, sw[0]);
    } else {
      atomicXor(w + 8 + threadIdx.x, sw[threadIdx.x]);
    }
  }
  if (threadIdx.x < 4) atomicXor(d + 6 + threadIdx.x, sd[threadIdx.x]);
}

// Floating-point atomics on values whose sums are exact in any order.
extern "C" __global__ void floats(const int* in, float* f, double* d, __half2* h, __nv_bfloat162* b) {
  __shared__ float sf;
  __shared__ double sd;
  if (threadIdx.x == 0) sf = sd = 0;
  __syncthreads();
  const int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(f, static_cast<float>(v) * 0.25f);
  atomicAdd(d, static_cast<double>(v) * 0.125);
  atomicAdd(h, __floats2half2_rn(static_cast<float>(v & 3), static_cast<float>(-(v & 1))));
  atomicAdd(b, __floats2bfloat162_rn(static_cast<float>(v & 1), static_cast<float>((v >> 1) & 1) * 0.5f));
  atomicAdd(&sf, static_cast<float>(v));
  atomicAdd(&sd, static_cast<double>(v) * 4);
  atomicAdd(reinterpret_cast<__half*>(h + 1), __float2half(static_cast<float>(v & 1)));
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(f + 1, sf);
    atomicAdd(d + 1, sd);
  }
}

// The same pointer is to shared or to global memory; what comes back decides a place in a list.
extern "C" __global__ void tickets_anywhere(unsigned* global, unsigned* list, unsigned long long* wide,
                                            int shared_too) {
  __shared__ unsigned counter;
  __shared__ unsigned long long counter2;
  if (threadIdx.x == 0) {
    counter = 0;
    counter2 = 0;
  }
  __syncthreads();
  unsigned* where = (threadIdx.x & 1) != 0 && shared_too != 0 ? &counter : global;
  unsigned long long* where2 = (threadIdx.x & 2) != 0 && shared_too != 0 ? &counter2 : wide;
  const unsigned ticket = atomicAdd(where, 1u);
  list[ticket + ((threadIdx.x & 1) != 0 ? blockDim.x / 2 : 0)] = 1 + (threadIdx.x & 1);
  atomicMax(where2, static_cast<unsigned long long>(threadIdx.x) << 33);
  unsigned expected = 0;
  atomicCAS(where + 0, expected + 12345, 7u);
  atomicExch(&list[2 * blockDim.x + threadIdx.x], threadIdx.x * 3);
  __syncthreads();
  if (threadIdx.x == 0) {
    list[3 * blockDim.x] = counter;
    wide[1] = counter2;
  }
}

// A lock taken by one lane after the other.
extern "C" __global__ void locked(unsigned* lock, unsigned* value) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0u, 1u) == 0) {
      __threadfence();
      const volatile unsigned* at = value;
      const unsigned v = *at;
      *const_cast<volatile unsigned*>(at) = v * 3 + 1;
      __threadfence();
      atomicExch(lock, 0u);
      done = true;
    }
  }
}
