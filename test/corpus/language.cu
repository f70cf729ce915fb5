// Corpus: what the language itself makes: virtual calls, recursion, function pointers, allocation, printing, traps, switches,
// structures by value, lambdas, dynamic indexing, 128-bit integers, bit fields, volatile, atomics of <cuda/atomic>, barriers.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/complex>
namespace cg = cooperative_groups;
struct Shape { __device__ virtual float area(float s) const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape { float x; __device__ float area(float s) const override { return x * x * s; } };
struct Circle : Shape { double r; __device__ float area(float s) const override { return (float)(r * r * 3.14159 * s); } };
extern "C" __global__ void virtuals(float* o, int n) {
  Shape* s; if (n > 3) s = new Square; else s = new Circle; o[threadIdx.x] = s->area(n); delete s;
}
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
extern "C" __global__ void recursion(int* o) { o[threadIdx.x] = ackermann(o[0], o[1]); }
struct Big { int v[20]; double d; char c[13]; };
__device__ __noinline__ Big by_value(Big b, int k) { b.v[k] += 3; b.d *= 2; b.c[k & 7] = 9; return b; }
extern "C" __global__ void structs(Big* o, Big p, int k) { Big b = by_value(p, k); b = by_value(b, k + 1); o[threadIdx.x] = b; o[1].v[k] = p.v[k & 15] + p.c[k & 7]; }
extern "C" __global__ void wide(unsigned __int128* o, __int128* s, int n) { unsigned __int128 a = o[0], b = o[1]; o[2] = a * b + (a >> n); o[3] = a - b; o[4] = a << n; s[1] = s[0] >> n; o[5] = a < b ? a : b; o[6] = a / b; s[2] = s[0] % s[1]; o[7] = a == b; }
struct Bits { unsigned a : 3, b : 7, c : 12, d : 10; int e : 9; };
extern "C" __global__ void bit_fields(Bits* o, int x) { Bits b = o[1]; b.a = x; b.c += x; b.d ^= b.b; b.e = x >> 3; o[0] = b; }
extern "C" __global__ void prints(int n, double d, const char* s) { printf("%d %f %s %p\n", n, d, s, &n); if (n < 0) __trap(); }
extern "C" __global__ void switches(int* o, int n) {
  for (int i = 0; i < n; ++i) switch (o[i]) { case 0: o[i] = n * 3; break; case 1: o[i] ^= 5; break; case 2: o[i + 1] = 7; case 3: o[i] -= n; break; case 4: return; case 5: i += 3; break; case 6: o[i] = o[o[i + 1]]; break; case 7: o[n]++; break; case 8: o[i] = n / 3; break; case 9: o[i] = n % 7; break; case 10: o[i] <<= 4; break; case 100: o[7] = 1; break; case 1000: o[8] = 3; break; default: o[i] = -1; }
}
typedef float (*Op)(float, float);
__device__ float add_(float a, float b) { return a + b; }
__device__ float mul_(float a, float b) { return a * b; }
__device__ float pow_(float a, float b) { return powf(a, b); }
__device__ Op table[] = {add_, mul_, pow_};
extern "C" __global__ void pointers(float* o, int k, Op given) { o[threadIdx.x] = table[k](o[0], o[1]) + given(o[2], o[3]); }
extern "C" __global__ void atomics_std(int* a, unsigned long long* b, float* f, int* o, double* d, short* h) {
  cuda::atomic_ref<int, cuda::thread_scope_device> x(*a); cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> y(*b); cuda::atomic_ref<int, cuda::thread_scope_block> z(a[1]); cuda::atomic_ref<float, cuda::thread_scope_device> g(*f); cuda::atomic_ref<double, cuda::thread_scope_device> w(*d); cuda::atomic_ref<short, cuda::thread_scope_device> v(*h);
  o[0] = x.fetch_add(3, cuda::memory_order_relaxed); o[1] = x.fetch_sub(3, cuda::memory_order_acquire); o[2] = x.fetch_or(5, cuda::memory_order_release); o[3] = x.fetch_xor(9, cuda::memory_order_acq_rel); o[4] = x.exchange(4); o[5] = x.load(cuda::memory_order_acquire); x.store(5, cuda::memory_order_release); o[6] = (int)y.fetch_add(3); o[7] = (int)y.exchange(5, cuda::memory_order_relaxed); y.store(9); o[8] = z.fetch_and(7); o[9] = z.fetch_max(3, cuda::memory_order_relaxed); o[10] = x.fetch_min(3, cuda::memory_order_acquire); int e = 3; o[11] = x.compare_exchange_strong(e, 9); unsigned long long q = 4; o[12] = y.compare_exchange_weak(q, 5, cuda::memory_order_acq_rel, cuda::memory_order_relaxed); o[13] = (int)g.fetch_add(2.5f); o[14] = (int)w.fetch_add(1.5, cuda::memory_order_relaxed); o[15] = v.fetch_add(3); o[16] = v.exchange(4); o[17] = z.load(); z.store(4, cuda::memory_order_relaxed); o[18] = (int)g.load(); cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device); o[19] = 1; cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block); o[20] = 2; cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_system); o[21] = 3;
}
extern "C" __global__ void groups(int* o, const int* a, int n) {
  auto block = cg::this_thread_block(); auto grid = cg::this_grid(); auto w = cg::tiled_partition<32>(block); auto t4 = cg::tiled_partition<4>(w); auto t64 = cg::tiled_partition(block, 16);
  __shared__ int s[256]; cg::memcpy_async(block, s, a, sizeof(int) * 256); cg::wait(block); int x = s[threadIdx.x];
  o[0] = w.shfl(x, n); o[1] = t4.shfl_xor(x, 1); o[2] = w.any(x > 3); o[3] = t4.ballot(x > 2); o[4] = w.match_any(x); o[5] = cg::inclusive_scan(w, x); o[6] = cg::exclusive_scan(t4, x); o[7] = t64.thread_rank(); t64.sync(); auto c = cg::coalesced_threads(); if (x & 1) { auto d = cg::coalesced_threads(); o[8] = d.shfl(x, 0) + d.size() + d.any(x > 9); } o[9] = c.num_threads(); o[10] = cg::inclusive_scan(c, x); grid.sync(); o[11] = grid.thread_rank(); cg::invoke_one(w, [&] { o[12] = 5; }); auto parts = cg::binary_partition(w, x > 3); o[13] = parts.size();
}
extern "C" __global__ void complexes(cuda::std::complex<float>* f, cuda::std::complex<double>* d) { int i = threadIdx.x; f[i] = f[i] * f[i + 1] / (f[i + 2] + f[i + 3]); d[i] = cuda::std::exp(d[i]) * d[i + 1]; f[i + 9] = cuda::std::sqrt(f[i]); }
extern "C" __global__ void local_frames(float* o, const float* a, int n) { float m[64]; short h[64]; long long q[32]; unsigned char c[77]; for (int i = 0; i < 64; ++i) { m[i] = a[i]; h[i] = (short)i; c[i] = 3; q[i & 31] = i; } for (int i = 0; i < n; ++i) { int j = (int)m[(i * 5) & 63]; m[i & 63] += h[j & 63] + q[j & 31] + c[(j ^ n) & 63]; h[j & 63] = (short)n; c[i & 63]++; q[i & 31] ^= j; } float2 v = *(float2*)(m + 2 * (n & 15)); float4 w = *(float4*)(m + 4 * (n & 7)); o[0] = v.x + w.y + m[n & 63]; o[1] = (signed char)c[n & 63] + q[n & 31]; asm volatile("" ::"l"(&m[0])); }
extern "C" __global__ void spills(float* o, const float* a) { float r[300]; for (int i = 0; i < 300; ++i) r[i] = a[i * 7]; for (int k = 0; k < 5; ++k) { __syncthreads(); for (int i = 0; i < 300; ++i) r[i] = r[i] * a[k] + r[(i * 77 + 5) % 300]; } for (int i = 0; i < 300; ++i) o[i] = r[i]; }
extern "C" __global__ void clocks(long long* o) { o[0] = clock64(); o[1] = clock(); unsigned long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); o[2] = t; __nanosleep(50); o[3] = __ffsll(t) + __clzll(t); }
extern "C" __global__ void alloca_like(int* o, int n) { int* p = (int*)alloca(n * 4); for (int i = 0; i < n; ++i) p[i] = o[i] * 3; int s = 0; for (int i = n - 1; i >= 0; --i) s += p[i] ^ s; o[0] = s; }
