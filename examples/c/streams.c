/* How a framework runs a step, in C99: on each device two streams of its own, plans that are made once and launched often, and
 * an event by which the second stream waits for the first. A convolution of 1 x 1 with ReLU, then max pooling that saves where
 * its maxima are. The numbers are small integers, so every result is exact: it is compared with plain loops.
 *
 *   cc -std=c99 streams.c -lnervanagpu
 */
#include <stdio.h>
#include <stdlib.h>

#include <nervanagpu/nervanagpu.h>

#if NG_VERSION_MAJOR != 0 || NG_VERSION_MINOR < 1
#error "needs nervanagpu 0.1 or later"
#endif

enum { N = 2, C = 8, H = 6, W = 4, K = 16, POOL = 2, STEPS = 3, PIXELS = N * H * W, PLACES = PIXELS / (POOL * POOL) };

static void check(ng_status status, const char* what) {
  if (status == NG_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, ng_status_name(status), ng_last_error());
  exit(1);
}

static uint64_t memory(size_t bytes) {
  uint64_t address = 0;
  if (bytes > 0) check(ng_malloc(&address, bytes), "ng_malloc");
  return address;
}

/* Integers from -3 to 3 that look like nothing in particular. */
static void fill(float* out, int count, int seed) {
  int i;
  for (i = 0; i < count; ++i) out[i] = (float)((i * 37 + i * i * 11 + seed * 5) % 7 - 3);
}

/* The same in loops, NHWC. */
static void expected(const float* x, const float* w, float* z) {
  static float y[PIXELS * K];
  int p, c, k, n, h, v, i, j;
  for (p = 0; p < PIXELS; ++p)
    for (k = 0; k < K; ++k) {
      float sum = 0;
      for (c = 0; c < C; ++c) sum += x[p * C + c] * w[k * C + c];
      y[p * K + k] = sum > 0 ? sum : 0;
    }
  for (n = 0; n < N; ++n)
    for (h = 0; h < H / POOL; ++h)
      for (v = 0; v < W / POOL; ++v)
        for (k = 0; k < K; ++k) {
          float best = 0; /* nothing is less, after the ReLU */
          for (i = 0; i < POOL; ++i)
            for (j = 0; j < POOL; ++j) {
              const float value = y[((n * H + h * POOL + i) * W + v * POOL + j) * K + k];
              if (value > best) best = value;
            }
          z[((n * (H / POOL) + h) * (W / POOL) + v) * K + k] = best;
        }
}

/* How many results are wrong on the current device. */
static int run(void) {
  static float x[PIXELS * C], w[K * C], got[PLACES * K], want[PLACES * K];
  ng_conv_problem conv = NG_CONV_PROBLEM_INIT;
  ng_conv_options relu = NG_CONV_OPTIONS_INIT;
  ng_conv_addresses at = NG_CONV_ADDRESSES_INIT;
  ng_pool_problem pool = NG_POOL_PROBLEM_INIT;
  ng_pool_addresses pooled = NG_POOL_ADDRESSES_INIT;
  ng_conv_plan* conv_plan = NULL;
  ng_pool_plan* pool_plan = NULL;
  ng_event *start = NULL, *made = NULL, *end = NULL;
  uint64_t first = 0, second = 0;
  size_t bytes = 0;
  int64_t argmax = 0;
  double ms = 0;
  int step, i, wrong = 0;

  conv.n = N, conv.c = C, conv.k = K;
  conv.in[1] = H, conv.in[2] = W;
  relu.relu = 1;
  check(ng_conv_plan_create(NG_FPROP, &conv, NULL, &relu, &conv_plan), "ng_conv_plan_create");
  check(ng_conv_plan_workspace(conv_plan, &bytes), "ng_conv_plan_workspace");
  at.in1 = memory(sizeof x), at.in2 = memory(sizeof w), at.out = memory(PIXELS * K * sizeof(float));
  at.workspace = memory(bytes), at.workspace_bytes = bytes;

  pool.n = N;
  pool.in[0] = K, pool.in[2] = H, pool.in[3] = W;
  pool.window[2] = pool.window[3] = POOL;
  pool.stride[2] = pool.stride[3] = POOL;
  check(ng_pool_argmax_bytes(&pool, &argmax), "ng_pool_argmax_bytes");
  pooled.in = at.out, pooled.out = memory(sizeof got), pooled.argmax = memory((size_t)argmax);
  check(ng_pool_plan_create(NG_POOL_FPROP, &pool, &pooled, NULL, &pool_plan), "ng_pool_plan_create");

  check(ng_stream_create(&first), "ng_stream_create");
  check(ng_stream_create(&second), "ng_stream_create");
  check(ng_event_create(&start), "ng_event_create");
  check(ng_event_create(&made), "ng_event_create");
  check(ng_event_create(&end), "ng_event_create");

  for (step = 0; step < STEPS; ++step) {
    fill(x, PIXELS * C, step), fill(w, K * C, step + 9);
    check(ng_upload(at.in1, x, sizeof x), "ng_upload");
    check(ng_upload(at.in2, w, sizeof w), "ng_upload");
    check(ng_event_record(start, first), "ng_event_record");
    check(ng_conv_plan_launch(conv_plan, &at, first), "ng_conv_plan_launch");
    check(ng_event_record(made, first), "ng_event_record");
    check(ng_stream_wait(second, made), "ng_stream_wait");
    check(ng_pool_plan_launch(pool_plan, &pooled, second), "ng_pool_plan_launch");
    check(ng_event_record(end, second), "ng_event_record");
    check(ng_stream_synchronize(second), "ng_stream_synchronize");
    check(ng_download(got, pooled.out, sizeof got), "ng_download");
    expected(x, w, want);
    for (i = 0; i < PLACES * K; ++i) wrong += !(got[i] == want[i]);
  }
  check(ng_event_elapsed(start, end, &ms), "ng_event_elapsed");
  printf("  %d steps, the last in %.3f ms\n", STEPS, ms);

  ng_event_destroy(start), ng_event_destroy(made), ng_event_destroy(end);
  ng_conv_plan_destroy(conv_plan), ng_pool_plan_destroy(pool_plan);
  check(ng_stream_destroy(first), "ng_stream_destroy");
  check(ng_stream_destroy(second), "ng_stream_destroy");
  check(ng_free(at.in1), "ng_free"), check(ng_free(at.in2), "ng_free"), check(ng_free(at.out), "ng_free");
  check(ng_free(at.workspace), "ng_free");
  check(ng_free(pooled.out), "ng_free"), check(ng_free(pooled.argmax), "ng_free");
  return wrong;
}

int main(void) {
  int32_t count = 0, ordinal;
  int wrong = 0;
  check(ng_device_count(&count), "ng_device_count");
  for (ordinal = 0; ordinal < count; ++ordinal) {
    ng_device device = NG_DEVICE_INIT;
    check(ng_device_set(ordinal), "ng_device_set");
    check(ng_device_info(&device), "ng_device_info");
    printf("device %d: %s, kernels of %s\n", (int)ordinal, device.name, device.arch);
    wrong += run();
  }
  if (count < 1 || wrong != 0) {
    fprintf(stderr, "%d devices, %d results are wrong\n", (int)count, wrong);
    return 1;
  }
  printf("every result is right\n");
  return 0;
}
