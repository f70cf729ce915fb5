// Variables of a module: initial values, zeros, pointers to one another, strings, constants that are read by index and
// tables of functions; and functions that only a driver has.
#include <cassert>
#include <cstdio>

__device__ int counter = 5;
__device__ int* where = &counter;
__device__ const char* names[2] = {"alpha", "beta"};
__device__ float zeros[100];
__constant__ int table[4] = {1, 2, 3, 4};

using Function = int (*)(int);
__device__ __noinline__ int triple(int a) {
  return a * 3 + *where;
}
__device__ __noinline__ int flip(int a) {
  return a ^ 7;
}
__device__ Function functions[2] = {triple, flip};
__constant__ Function constant_functions[2] = {flip, triple};

extern "C" __global__ void variables(int* out, int i) {
  const int t = threadIdx.x & 1;
  zeros[threadIdx.x] += 1.0f;
  atomicAdd(where, 1);
  __syncthreads();
  out[threadIdx.x] = names[t][1 + i] * 1000 + table[threadIdx.x & 3] * 100 + functions[t](i) +
                     constant_functions[threadIdx.x >> 1 & 1](3) + static_cast<int>(zeros[threadIdx.x]);
}

extern "C" __global__ void asserts(const int* a) {
  assert(a[threadIdx.x] >= 0);
}

extern "C" __global__ void prints(int n) {
  if (n != 0) printf("%d %s\n", n, names[0]);
}

extern "C" __global__ void allocates(int** p, int n) {
  if (n != 0) *p = static_cast<int*>(malloc(n));
}
