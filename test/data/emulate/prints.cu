// printf, and functions that call themselves at -O0, whose code compares the stack with SR_LMEMHIOFF; print_test.cpp runs
// them. To rebuild, with ARCH in sm_52 sm_80 sm_90a:
//   nvcc -ptx -arch=compute_75 prints.cu -o p.ptx
//   sed -e 's/^\.version.*/.version 8.4/' -e "s/^\.target.*/.target $ARCH/" p.ptx > p.$ARCH.ptx
//   ptxas (12.4) -O3 -arch=$ARCH p.$ARCH.ptx -o prints.$ARCH.cubin, and with -O0 to stack.$ARCH.cubin
#include <cstdio>

__constant__ char constant_format[] = "constant %d %s\n";
__device__ char name[] = "global";

extern "C" __global__ void prints(long long n, int* out) {
  __shared__ char shared[8];
  const int t = threadIdx.x;
  char local[8] = "local0";
  local[5] = static_cast<char>('0' + t);
  if (t == 0) {
    shared[0] = 's';
    shared[1] = 'h';
    shared[2] = 0;
  }
  __syncthreads();
  out[t] = printf("%d %lld %f %x %c %p %% %s|%5.2e|%-6d|%s|%s\n", t, n * t, t * 0.5, t * 77, 'a' + t, out, name, 3.25 * t, t,
                  local, shared);
  if ((t & 1) != 0) printf("odd %d\n", t);
  if (t == 2) printf("plain\n");
  printf(constant_format, t, "literal");
  printf(t < 2 ? "low %u\n" : "high %+d\n", t);
}

extern "C" __global__ void prints_nowhere(const char* text) {
  printf("%d then %s\n", 7, text);
}

__device__ __noinline__ int fibonacci(int n) {
  if (n < 2) return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursive(int n, int* out) {
  out[threadIdx.x] = fibonacci(n + threadIdx.x % 3);
}

extern "C" __global__ void of_run_time_size(int n, int* a) {
  int* p = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) p[i] = a[i];
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += p[p[i]];
  a[n] = sum;
}
