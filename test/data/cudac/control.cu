// Control: recursion, function pointers, virtual functions, deep and divergent loops, early returns, goto.
#include "host.h"

#ifdef __CUDACC__
#define NOT_INLINE __noinline__
#else
#define NOT_INLINE [[gnu::noinline]]
#endif

NOT_INLINE __device__ static int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
NOT_INLINE __device__ static int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}
__device__ static int is_odd(int n);
NOT_INLINE __device__ static int is_even(int n) {
  return n == 0 ? 1 : is_odd(n - 1);
}
NOT_INLINE __device__ static int is_odd(int n) {
  return n == 0 ? 0 : is_even(n - 1);
}
extern "C" __global__ void recursion(int* out) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  out[t] = fibonacci(t % 13) * 1000 + ackermann(t % 3, t % 4) * 10 + is_even(t % 23);
}

// Queens: solutions on a board of n x n with the first queen in the thread's column.
NOT_INLINE __device__ static int queens(unsigned columns, unsigned left, unsigned right, unsigned all) {
  if (columns == all) return 1;
  int sum = 0;
  for (unsigned free = all & ~(columns | left | right); free != 0; free &= free - 1) {
    const unsigned bit = free & (0u - free);
    sum += queens(columns | bit, (left | bit) << 1, (right | bit) >> 1, all);
  }
  return sum;
}
extern "C" __global__ void queens_from(int* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= n) return;
  const unsigned bit = 1u << t;
  out[t] = queens(bit, bit << 1, bit >> 1, (1u << n) - 1);
}

// A table of functions in global memory, and one picked by each thread.
using Operation = float (*)(float, float);
NOT_INLINE __device__ static float op_add(float a, float b) {
  return a + b;
}
NOT_INLINE __device__ static float op_product(float a, float b) {
  return a * b;
}
NOT_INLINE __device__ static float op_quotient(float a, float b) {
  return a / b;
}
NOT_INLINE __device__ static float op_larger(float a, float b) {
  return a > b ? a : op_add(a, -b);
}
__device__ static const Operation operations[4] = {op_add, op_product, op_quotient, op_larger};
extern "C" __global__ void function_pointers(const int* which, const float* a, const float* b, float* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  float v = a[t];
  for (int i = 0; i < 3; ++i) v = operations[which[t] >> (2 * i) & 3](v, b[t]);
  Operation last = (which[t] & 64) != 0 ? op_larger : op_product;
  out[t] = last(v, 0.5f);
}

// Shapes with virtual functions, made on the stack of each thread.
struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual int corners() const { return 0; }
};
struct Square final : Shape {
  __device__ explicit Square(int a) : side(a) {}
  __device__ int area() const override { return side * side; }
  __device__ int corners() const override { return 4; }
  int side;
};
struct Triangle : Shape {
  __device__ Triangle(int w, int h) : width(w), height(h) {}
  __device__ int area() const override { return width * height / 2; }
  __device__ int corners() const override { return 3; }
  int width, height;
};
struct Blob : Shape {
  __device__ explicit Blob(int a) : size(a) {}
  __device__ int area() const override { return size ^ 5; }
  int size;
};
extern "C" __global__ void shapes(const int* kinds, int* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const int k = kinds[t];
  Square square(k);
  Triangle triangle(k, 7);
  Blob blob(k);
  const Shape* all[3] = {&square, &triangle, &blob};
  const Shape* mine = all[k % 3];
  out[t] = mine->area() * 10 + mine->corners();
}

// Collatz: loops of very different length in one warp, with breaks, continues and a goto.
extern "C" __global__ void collatz(const unsigned* in, unsigned* out, int n) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (t >= n) return;
  unsigned long long v = in[t];
  unsigned steps = 0, odd = 0, high = 0;
again:
  while (v != 1) {
    ++steps;
    if (steps > 5000) break;
    if (v > high) high = static_cast<unsigned>(v);
    if ((v & 1) == 0) {
      v /= 2;
      continue;
    }
    v = 3 * v + 1;
    if (++odd % 64 == 63) goto again;
  }
  out[t * 2] = steps * 1000 + odd;
  out[t * 2 + 1] = high;
}

// Newton's roots with an inner search: nested data-dependent loops, calls in both branches.
NOT_INLINE __device__ static unsigned root_of(unsigned long long v) {
  unsigned r = 0;
  for (unsigned bit = 1u << 31; bit != 0; bit >>= 1) {
    const unsigned long long trial = r | bit;
    if (trial * trial <= v) r |= bit;
  }
  return r;
}
extern "C" __global__ void primes(unsigned* out, unsigned start) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned n = start + t;
  unsigned factor = 0;
  if (n % 2 == 0) {
    factor = n > 2 ? 2 : 0;
  } else {
    const unsigned limit = root_of(n);
    for (unsigned d = 3; d <= limit; d += 2) {
      if (n % d == 0) {
        factor = d;
        break;
      }
    }
  }
  out[t] = factor == 0 ? n : root_of(static_cast<unsigned long long>(factor) * n);
}
