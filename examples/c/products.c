/* Many small products in C99: a group at any addresses, tables of addresses on the device, and a batch that is broadcast, on
 * whatever device is there. The numbers are small integers: every result is compared with plain loops.
 *
 *   cc -std=c99 products.c -lnervanagpu
 */
#include <stdio.h>
#include <stdlib.h>

#include <nervanagpu/nervanagpu.h>

enum { COUNT = 40, M = 6, N = 5, K = 8 };

static float a[COUNT][M][K], b[COUNT][K][N], got[COUNT][M][N];
static int wrong = 0;

static void check(ng_status status, const char* what) {
  if (status == NG_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, ng_status_name(status), ng_last_error());
  exit(1);
}

static uint64_t memory(const void* host, size_t bytes) {
  uint64_t address = 0;
  check(ng_malloc(&address, bytes), "ng_malloc");
  if (host != NULL) check(ng_upload(address, host, bytes), "ng_upload");
  return address;
}

/* Integers from -3 to 3 that look like nothing in particular. */
static void fill(float* out, int count, int step) {
  int i;
  for (i = 0; i < count; ++i) out[i] = (float)((i * step + i % 11 * i) % 7 - 3);
}

/* Product i is a[i] b[i], or a[i] b[0]. */
static void compare(const char* what, uint64_t c, int same_b) {
  int i, r, s, l, bad = 0;
  check(ng_download(got, c, sizeof got), "ng_download");
  for (i = 0; i < COUNT; ++i)
    for (r = 0; r < M; ++r)
      for (s = 0; s < N; ++s) {
        float sum = 0;
        for (l = 0; l < K; ++l) sum += a[i][r][l] * b[same_b ? 0 : i][l][s];
        if (!(got[i][r][s] == sum)) ++bad;
      }
  printf("%-28s %s\n", what, bad == 0 ? "right" : "WRONG");
  wrong += bad;
}

int main(void) {
  ng_device device = NG_DEVICE_INIT;
  static ng_gemm_problem problems[COUNT];
  const ng_gemm_problem* all[COUNT];
  static uint64_t addresses[3][COUNT];
  ng_gemm_problem one = NG_GEMM_PROBLEM_INIT;
  ng_tensor ta = NG_TENSOR_INIT, tb = NG_TENSOR_INIT, tc = NG_TENSOR_INIT;
  uint64_t da, db, dc, tables, workspace = 0;
  size_t bytes = 0;
  int i, j;

  fill((float*)a, COUNT * M * K, 37);
  fill((float*)b, COUNT * K * N, 13);
  check(ng_device_info(&device), "ng_device_info");
  printf("nervanagpu %s on %s, kernels of %s\n", ng_version(), device.name, device.arch);
  da = memory(a, sizeof a), db = memory(b, sizeof b), dc = memory(NULL, sizeof got);

  /* A group: the products in an order that no stride describes. */
  one.m = M, one.n = N, one.k = K;
  one.lda = K, one.ldb = N, one.ldc = N;
  for (i = 0; i < COUNT; ++i) {
    j = i * 7 % COUNT;
    problems[i] = one;
    problems[i].a = da + (uint64_t)j * sizeof a[0];
    problems[i].b = db + (uint64_t)j * sizeof b[0];
    problems[i].c = dc + (uint64_t)j * sizeof got[0];
    addresses[0][i] = problems[i].a, addresses[1][i] = problems[i].b, addresses[2][i] = problems[i].c;
    all[i] = &problems[i];
  }
  check(ng_gemm_grouped_workspace(all, COUNT, &bytes), "ng_gemm_grouped_workspace");
  if (bytes > 0) check(ng_malloc(&workspace, bytes), "ng_malloc");
  check(ng_gemm_grouped(all, COUNT, workspace, bytes, 0), "ng_gemm_grouped");
  compare("a group of 40", dc, 0);

  /* The same by tables that are on the device already. */
  tables = memory(addresses, sizeof addresses);
  check(ng_upload(dc, a, sizeof got), "ng_upload"); /* something else */
  one.a = tables, one.b = tables + sizeof addresses[0], one.c = tables + 2 * sizeof addresses[0];
  one.batch = COUNT;
  one.pointers = 4; /* what every address is a multiple of */
  check(ng_gemm(&one, 0), "ng_gemm");
  compare("tables of addresses", dc, 0);

  /* A batch of two axes times one matrix, as NumPy's matmul. */
  ta.address = da, tb.address = db, tc.address = dc;
  ta.ndim = tc.ndim = 4, tb.ndim = 2;
  ta.shape[0] = tc.shape[0] = COUNT / 8, ta.shape[1] = tc.shape[1] = 8;
  ta.shape[2] = tc.shape[2] = M, ta.shape[3] = tb.shape[0] = K, tb.shape[1] = tc.shape[3] = N;
  ta.strides[3] = tb.strides[1] = tc.strides[3] = 1;
  ta.strides[2] = K, ta.strides[1] = M * K, ta.strides[0] = 8 * M * K;
  tc.strides[2] = N, tc.strides[1] = M * N, tc.strides[0] = 8 * M * N;
  tb.strides[0] = N;
  check(ng_matmul_workspace(&ta, &tb, &tc, &bytes), "ng_matmul_workspace");
  if (bytes > 0) return 1; /* products of a batch need none */
  check(ng_matmul(&ta, &tb, &tc, 0, 0, 0), "ng_matmul");
  compare("a batch times one matrix", dc, 1);

  tc.shape[3] = N + 1;
  if (ng_matmul(&ta, &tb, &tc, 0, 0, 0) != NG_INVALID_ARGUMENT) ++wrong;
  printf("refused: %s\n", ng_last_error());

  check(ng_free(da), "ng_free");
  check(ng_free(db), "ng_free");
  check(ng_free(dc), "ng_free");
  check(ng_free(tables), "ng_free");
  check(ng_free(workspace), "ng_free");
  if (wrong != 0) return 1;
  printf("every result is right\n");
  return 0;
}
