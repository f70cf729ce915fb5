// Source of scale_fill.*.cubin: what the cubin reader is held against.
//   nvcc -ptx -arch=compute_75 scale_fill.cu; then ".version 8.4", ".target sm_52 | sm_90a", and ptxas 12.4: ABI 7
//   nvcc 13.0 -cubin -arch=sm_90a scale_fill.cu: ABI 8
extern "C" __global__ void __launch_bounds__(128) scale(float* out, const float* in, float a, int n) {
  __shared__ float tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] * a : 0.0f;
  __syncthreads();
  if (i < n) out[i] = tile[127 - threadIdx.x];
}

extern "C" __global__ void fill(unsigned char* out, unsigned char v, double x, short h, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = v + (unsigned char)x + h;
}
