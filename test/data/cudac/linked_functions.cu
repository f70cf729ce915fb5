// The functions and variables of linked.cu.
#include <cstdint>

using Function = uint32_t (*)(uint32_t, uint32_t);
__device__ uint32_t table[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ uint32_t counter = 5;
__constant__ uint32_t weights[32] = {10, 20, 30, 0xffffffff};

__device__ __noinline__ uint32_t mix(uint32_t a, uint32_t b) {
  for (int i = 0; i < 3; ++i) a = (a ^ b) * 0x9e3779b9u + (a >> 7);
  return a;
}
__device__ __noinline__ uint32_t swap(uint32_t a, uint32_t b) {
  return (a << 16 | a >> 16) ^ b;
}
__device__ __noinline__ uint32_t fold(const uint32_t* v, uint32_t n) {
  if (n == 1) return v[0];
  return mix(fold(v, n / 2), fold(v + n / 2, n - n / 2));
}
__device__ Function choice[3] = {mix, swap, mix};
