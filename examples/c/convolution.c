/* One forward pass in C99: convolution with ReLU, max pooling, and a fully connected layer, on whatever device is there.
 * The numbers are small integers, so every result is exact: it is compared with plain loops, and printed.
 *
 *   cc -std=c99 convolution.c -lnervanagpu
 */
#include <stdio.h>
#include <stdlib.h>

#include <nervanagpu/nervanagpu.h>

enum {
  N = 2,                 /* images */
  C = 3, H = 6, W = 8,   /* channels, rows, columns of x */
  K = 4, R = 3, S = 3,   /* filters and their size; padding 1 keeps H and W */
  POOL = 2,              /* window and stride */
  PH = H / POOL, PW = W / POOL,
  FEATURES = PH * PW * K,
  CLASSES = 5
};

static void check(ng_status status, const char* what) {
  if (status == NG_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, ng_status_name(status), ng_last_error());
  exit(1);
}

/* Device memory that holds `count` floats, copied from `host` if that is not null. */
static uint64_t floats(const float* host, size_t count) {
  uint64_t address = 0;
  check(ng_malloc(&address, count * sizeof(float)), "ng_malloc");
  if (host != NULL) check(ng_upload(address, host, count * sizeof(float)), "ng_upload");
  return address;
}

/* Integers from -3 to 3 that look like nothing in particular. */
static void fill(float* out, int count, int seed) {
  int i;
  for (i = 0; i < count; ++i) out[i] = (float)((i * 37 + i * i * 11 + seed * 5) % 7 - 3);
}

/* The same in loops, NHWC. */
static void expected(const float* x, const float* w, const float* b, const float* full, float* out) {
  static float y[N][H][W][K], z[N][FEATURES];
  int n, h, v, c, k, r, s, f, o;
  for (n = 0; n < N; ++n)
    for (h = 0; h < H; ++h)
      for (v = 0; v < W; ++v)
        for (k = 0; k < K; ++k) {
          float sum = b[k];
          for (r = 0; r < R; ++r)
            for (s = 0; s < S; ++s)
              for (c = 0; c < C; ++c) {
                const int row = h + r - 1, column = v + s - 1;
                if (row < 0 || row >= H || column < 0 || column >= W) continue;
                sum += x[((n * H + row) * W + column) * C + c] * w[((k * R + r) * S + s) * C + c];
              }
          y[n][h][v][k] = sum > 0 ? sum : 0;
        }
  for (n = 0; n < N; ++n)
    for (h = 0; h < PH; ++h)
      for (v = 0; v < PW; ++v)
        for (k = 0; k < K; ++k) {
          float best = y[n][h * POOL][v * POOL][k];
          for (r = 0; r < POOL; ++r)
            for (s = 0; s < POOL; ++s)
              if (y[n][h * POOL + r][v * POOL + s][k] > best) best = y[n][h * POOL + r][v * POOL + s][k];
          z[n][(h * PW + v) * K + k] = best;
        }
  for (n = 0; n < N; ++n)
    for (o = 0; o < CLASSES; ++o) {
      float sum = 0;
      for (f = 0; f < FEATURES; ++f) sum += z[n][f] * full[f * CLASSES + o];
      out[n * CLASSES + o] = sum;
    }
}

int main(void) {
  static float x[N * H * W * C], w[K * R * S * C], b[K], full[FEATURES * CLASSES];
  float got[N * CLASSES], want[N * CLASSES];
  ng_device device = NG_DEVICE_INIT;
  ng_conv_problem conv = NG_CONV_PROBLEM_INIT;
  ng_conv_options options = NG_CONV_OPTIONS_INIT;
  ng_pool_problem pool = NG_POOL_PROBLEM_INIT;
  ng_gemm_problem gemm = NG_GEMM_PROBLEM_INIT;
  ng_gemm_addresses addresses = NG_GEMM_ADDRESSES_INIT;
  ng_gemm_plan* plan = NULL;
  uint64_t dx, dw, db, dfull, dy, dz, dout, workspace = 0, sums = 0;
  size_t bytes = 0;
  int64_t out[3];
  int n, o, wrong = 0;

  fill(x, N * H * W * C, 1);
  fill(w, K * R * S * C, 2);
  fill(b, K, 3);
  fill(full, FEATURES * CLASSES, 4);

  check(ng_device_info(&device), "ng_device_info");
  printf("nervanagpu %s on %s, kernels of %s\n", ng_version(), device.name, device.arch);

  conv.n = N, conv.c = C, conv.k = K;
  conv.in[1] = H, conv.in[2] = W;
  conv.filter[1] = R, conv.filter[2] = S;
  conv.pad[1] = 1, conv.pad[2] = 1;
  check(ng_conv_out(&conv, out), "ng_conv_out");
  printf("convolution  %d x %d x %d x %d -> %d x %d x %d x %d\n", N, H, W, C, N, (int)out[1], (int)out[2], K);

  pool.n = N;
  pool.in[0] = K, pool.in[2] = H, pool.in[3] = W;
  pool.window[2] = pool.window[3] = POOL;
  pool.stride[2] = pool.stride[3] = POOL;

  dx = floats(x, N * H * W * C);
  dw = floats(w, K * R * S * C);
  db = floats(b, K);
  dfull = floats(full, FEATURES * CLASSES);
  dy = floats(NULL, N * H * W * K);
  dz = floats(NULL, N * FEATURES);
  dout = floats(NULL, N * CLASSES);

  check(ng_conv_workspace(NG_FPROP, &conv, &bytes), "ng_conv_workspace");
  if (bytes > 0) check(ng_malloc(&workspace, bytes), "ng_malloc");
  options.bias = db;
  options.relu = 1;
  options.workspace = workspace;
  options.workspace_bytes = bytes;
  check(ng_conv_fprop(&conv, dx, dw, dy, &options), "ng_conv_fprop");

  check(ng_pool_fprop(&pool, dy, dz, NULL), "ng_pool_fprop");

  gemm.m = N, gemm.n = CLASSES, gemm.k = FEATURES;
  gemm.a = dz, gemm.lda = FEATURES;
  gemm.b = dfull, gemm.ldb = CLASSES;
  gemm.c = dout, gemm.ldc = CLASSES;
  check(ng_gemm_plan_create(&gemm, &plan), "ng_gemm_plan_create"); /* once; then any number of launches */
  check(ng_gemm_plan_workspace(plan, &bytes), "ng_gemm_plan_workspace");
  if (bytes > 0) check(ng_malloc(&sums, bytes), "ng_malloc");
  addresses.a = dz, addresses.b = dfull, addresses.c = dout;
  addresses.workspace = sums, addresses.workspace_bytes = bytes;
  check(ng_gemm_plan_launch(plan, &addresses, 0), "ng_gemm_plan_launch");
  ng_gemm_plan_destroy(plan);

  check(ng_download(got, dout, sizeof got), "ng_download"); /* waits for the three */
  expected(x, w, b, full, want);
  for (n = 0; n < N; ++n) {
    printf("image %d     ", n);
    for (o = 0; o < CLASSES; ++o) {
      printf(" %6g", (double)got[n * CLASSES + o]);
      if (!(got[n * CLASSES + o] == want[n * CLASSES + o])) ++wrong;
    }
    printf("\n");
  }

  /* A bad call says what is wrong, and does nothing. */
  gemm.lda = 1;
  if (ng_gemm(&gemm, 0) != NG_INVALID_ARGUMENT) ++wrong;
  printf("refused      %s\n", ng_last_error());

  check(ng_free(dx), "ng_free");
  check(ng_free(dw), "ng_free");
  check(ng_free(db), "ng_free");
  check(ng_free(dfull), "ng_free");
  check(ng_free(dy), "ng_free");
  check(ng_free(dz), "ng_free");
  check(ng_free(dout), "ng_free");
  check(ng_free(workspace), "ng_free");
  check(ng_free(sums), "ng_free");

  if (wrong != 0) {
    fprintf(stderr, "%d results are wrong\n", wrong);
    return 1;
  }
  printf("every result is right\n");
  return 0;
}
