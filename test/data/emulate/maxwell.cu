// What the code of sm_52 is made of, one kernel for each: CC chains, XMAD, SSY/SYNC, PBK/BRK, BRX, windows of generic
// addresses. maxwell_test.cpp runs them and computes the same on the host. To rebuild:
//   nvcc -ptx -arch=compute_75 maxwell.cu -o m.ptx
//   sed -i -e 's/^\.version.*/.version 8.4/' -e 's/^\.target.*/.target sm_52/' m.ptx
//   ptxas (12.4) -arch=sm_52 m.ptx -o maxwell.sm_52.cubin
#include <cuda_fp16.h>

extern "C" __global__ void saxpy(const float* x, float* y, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

// The sum of each block, in a tree over shared memory.
extern "C" __global__ void tree(const float* in, float* out, int n) {
  __shared__ float s[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// Loops that lanes leave and skip at different times, around a switch of many ways.
extern "C" __global__ void branches(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  int sum = 0;
  for (int k = 0; k < 60; ++k) {
    if ((v & 7) == 3) {
      v += 5;
      continue;
    }
    if (v > 1000000) break;
    switch (v % 11) {
      case 0: sum += 3 * in[k]; break;
      case 1: sum ^= v; break;
      case 2: out[i + n] = k; break;
      case 3: sum *= 3; break;
      case 4: sum += v >> 2; break;
      case 5:
        for (int j = 0; j < (v >> 4 & 7); ++j) {
          if (((sum + j) & 31) == 9) break;
          sum += in[(i + j) % n];
        }
        break;
      case 6: sum = -in[sum & 63]; break;
      case 7: sum |= k; break;
      case 8:
        if (sum < 0) {
          out[i] = sum;
          return;
        }
        sum += 9;
        break;
      case 9: sum = sum / (k + 3); break;
      default: sum += k * v;
    }
    v = v * 5 + k;
  }
  out[i] = sum + v;
}

__device__ __noinline__ int gcd(int a, int b) {
  while (b != 0) {
    const int r = a % b;
    a = b;
    b = r;
  }
  return a;
}
__device__ __noinline__ int fold(int a, int b) {
  int sum = 0;
  for (int k = 0; k < (a & 3) + 1; ++k) {
    if ((b & 1) != 0) sum += gcd(a + k, b);
    b = b / 2 + 1;
  }
  return sum;
}
// Calls of calls, from where lanes have parted.
extern "C" __global__ void calls(const int* a, const int* b, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = 0;
  if (i % 3 == 0) {
    v = fold(a[i], b[i]);
  } else {
    v = gcd(a[i], b[i]) + fold(b[i], a[i]);
  }
  out[i] = v;
}

extern "C" __global__ void narrow(const signed char* sc, const unsigned char* uc, const short* ss,
                                  const unsigned short* us, int* out, signed char* sc_out, short* ss_out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __shared__ unsigned char bytes[128];
  __shared__ short halves[128];
  bytes[threadIdx.x] = uc[i];
  halves[threadIdx.x] = ss[i];
  __syncthreads();
  const int other = threadIdx.x ^ 1;
  out[i] = sc[i] * us[i] + bytes[other] - halves[other] * uc[i];
  sc_out[i] = static_cast<signed char>(sc[i] + us[i]);
  ss_out[i] = static_cast<short>(ss[i] * 3 + sc[i]);
}

extern "C" __global__ void transpose(const float4* in, float* out, int n) {  // n x n, tiles of 32 x 32
  __shared__ float tile[32][33];
  const int x = threadIdx.x;  // 8
  const int y = threadIdx.y;  // 32
  const float4 v = in[((blockIdx.y * 32 + y) * n + blockIdx.x * 32) / 4 + x];
  tile[y][4 * x] = v.x;
  tile[y][4 * x + 1] = v.y;
  tile[y][4 * x + 2] = v.z;
  tile[y][4 * x + 3] = v.w;
  __syncthreads();
  for (int k = 0; k < 4; ++k) out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + 4 * x + k] = tile[4 * x + k][y];
}

extern "C" __global__ void atomics(const int* in, int* shared_out, unsigned* out, unsigned long long* out64,
                                   float* outf, int n) {
  __shared__ int s[4];
  __shared__ float f;
  __shared__ unsigned long long u;
  if (threadIdx.x < 4) s[threadIdx.x] = threadIdx.x == 1 ? 0x7fffffff : 0;
  if (threadIdx.x == 0) f = 0;
  if (threadIdx.x == 0) u = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const int v = in[i];
    atomicAdd(&s[0], v);
    atomicMin(&s[1], v);
    atomicMax(&s[2], v);
    atomicXor(&s[3], v);
    atomicAdd(&f, static_cast<float>(v & 15));
    atomicAdd(&u, static_cast<unsigned long long>(v));
    atomicAdd(&out[0], static_cast<unsigned>(v));
    atomicMax(&out[1], static_cast<unsigned>(v));
    atomicAnd(&out[2], static_cast<unsigned>(v) | 0xff);
    atomicInc(&out[3], 100);
    out[8 + i] = atomicAdd(&out[4], 1u);
    atomicAdd(&out64[0], static_cast<unsigned long long>(v) << 20);
    atomicAdd(&outf[0], static_cast<float>(v & 7));
    unsigned old = out[5];
    unsigned seen;
    while ((seen = atomicCAS(&out[5], old, old + 3)) != old) old = seen;
    unsigned long long wide = out64[1];
    unsigned long long was;
    while ((was = atomicCAS(&out64[1], wide, wide * 3 + 1)) != wide) wide = was;
  }
  __syncthreads();
  if (threadIdx.x < 4) shared_out[blockIdx.x * 8 + threadIdx.x] = s[threadIdx.x];
  if (threadIdx.x == 4) shared_out[blockIdx.x * 8 + 4] = static_cast<int>(f);
  if (threadIdx.x == 5) shared_out[blockIdx.x * 8 + 5] = static_cast<int>(u);
}

extern "C" __global__ void halves(const __half* in, const float* f, __half* out, float* wide, int* whole, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half2 pair = reinterpret_cast<const __half2*>(in)[i / 2];
  const float v = i % 2 != 0 ? __high2float(pair) : __low2float(pair);
  wide[i] = v * 2 + f[i];
  out[2 * i] = __float2half_rn(f[i]);
  out[2 * i + 1] = __float2half_rz(f[i]);
  whole[4 * i] = static_cast<int>(ceilf(f[i]));
  whole[4 * i + 1] = __float_as_int(truncf(f[i]));
  whole[4 * i + 2] = static_cast<int>(__float2uint_rd(f[i]));
  whole[4 * i + 3] = __half2int_rn(in[i]);
}

extern "C" __global__ void wide(const long long* a, const long long* b, long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long x = a[i];
  const long long y = b[i];
  const auto ux = static_cast<unsigned long long>(x);
  const auto uy = static_cast<unsigned long long>(y);
  long long* o = out + 16 * i;
  o[0] = x / (y | 1);
  o[1] = static_cast<long long>(ux % (uy | 1));
  o[2] = __mul64hi(x, y);
  o[3] = static_cast<long long>(__umul64hi(ux, uy));
  o[4] = min(x, y);
  o[5] = static_cast<long long>(max(ux, uy));
  o[6] = (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (ux < uy) + 64 * (ux >= uy);
  o[7] = static_cast<long long>(ux >> (y & 63)) ^ (x >> (y & 31));
  o[8] = static_cast<long long>(static_cast<int>(x)) * static_cast<int>(y);
  o[9] = static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(x)) * static_cast<unsigned>(y)) + y;
  o[10] = (static_cast<long long>(__clzll(x)) << 8) + __popcll(ux) + (static_cast<long long>(__ffsll(y)) << 16);
  o[11] = x < 0 ? -x : x;
  o[12] = static_cast<long long>(static_cast<double>(x));
  o[13] = static_cast<long long>(__brevll(ux));
  o[14] = static_cast<int>(x) * static_cast<short>(y) + static_cast<unsigned short>(x) * static_cast<int>(y >> 32);
  o[15] = __mulhi(static_cast<int>(x), static_cast<int>(y)) ^ static_cast<long long>(__umulhi(static_cast<unsigned>(x), static_cast<unsigned>(y)));
}

// Addresses that are only known to be shared, local or global when the kernel runs.
extern "C" __global__ void generic(float* data, const int* which, int n) {
  __shared__ float s[64];
  float l[16];
  for (int k = 0; k < 16; ++k) l[k] = data[k] + static_cast<float>(k);
  s[threadIdx.x] = static_cast<float>(threadIdx.x) * 2;
  __syncthreads();
  const int w = which[threadIdx.x];
  float* p = w == 0 ? s : w == 1 ? l : data;
  float sum = p[threadIdx.x & 15];
  __syncthreads();
  if (w == 1) p[n & 15] = 100;
  if (w == 2) p[64 + threadIdx.x] = 7;
  __syncthreads();
  data[128 + threadIdx.x] = sum + l[(threadIdx.x + 1) & 15] + s[63 - threadIdx.x];
}

extern "C" __global__ void functions(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = in[i];
  out[8 * i] = expf(v);
  out[8 * i + 1] = logf(fabsf(v) + 1);
  out[8 * i + 2] = cbrtf(v);
  out[8 * i + 3] = tanhf(v);
  out[8 * i + 4] = rsqrtf(fabsf(v) + 0.5F);
  out[8 * i + 5] = __expf(v);
  out[8 * i + 6] = __sinf(v) + __cosf(v);
  out[8 * i + 7] = powf(fabsf(v), 1.5F);
}
