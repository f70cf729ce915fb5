/* Softmax of rows in C99, as an expression: one kernel of the library's own, timed by events, beside plain loops.
 *
 *   cc -std=c99 expressions.c $(pkg-config --cflags --libs nervanagpu) -lm
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <nervanagpu/nervanagpu.h>

enum { ROWS = 37, COLUMNS = 101 };

static void check(ng_status status, const char* what) {
  if (status == NG_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, ng_status_name(status), ng_last_error());
  exit(1);
}

static ng_tensor matrix(uint64_t address) {
  ng_tensor t = NG_TENSOR_INIT;
  t.address = address;
  t.shape[0] = ROWS, t.shape[1] = COLUMNS;
  t.strides[0] = COLUMNS, t.strides[1] = 1;
  return t;
}

/* The parts may be destroyed as soon as they are part of something. */
static ng_expr* apply(const char* name, ng_expr* a, ng_expr* b) {
  const ng_expr* operands[2];
  ng_expr* out;
  operands[0] = a, operands[1] = b;
  check(ng_expr_apply(name, operands, b == NULL ? 1 : 2, &out), name);
  return out;
}

static ng_expr* of_rows(const char* name, const ng_expr* x) {
  const int32_t last = -1;
  ng_expr* out;
  check(ng_expr_reduce(name, x, &last, 1, 1, 0, &out), name);
  return out;
}

static void softmax(const ng_tensor* x, const ng_tensor* y) {
  ng_expr *in, *most, *shifted, *powers, *sum, *out;
  check(ng_expr_tensor(x, &in), "ng_expr_tensor");
  most = of_rows("max", in);
  shifted = apply("subtract", in, most);
  powers = apply("exp", shifted, NULL);
  sum = of_rows("sum", powers);
  out = apply("divide", powers, sum);
  check(ng_expr_assign(y, out), "ng_expr_assign");
  ng_expr_destroy(in), ng_expr_destroy(most), ng_expr_destroy(shifted);
  ng_expr_destroy(powers), ng_expr_destroy(sum), ng_expr_destroy(out);
}

int main(void) {
  static float x[ROWS * COLUMNS], y[ROWS * COLUMNS];
  const size_t bytes = sizeof x;
  uint64_t from, to;
  ng_event *start, *end;
  ng_tensor in, out;
  double ms, worst = 0;
  int i, j;
  for (i = 0; i < ROWS * COLUMNS; ++i) x[i] = (float)((i * 37) % 101) / 10;
  check(ng_malloc(&from, bytes), "ng_malloc");
  check(ng_malloc(&to, bytes), "ng_malloc");
  check(ng_upload(from, x, bytes), "ng_upload");
  check(ng_event_create(&start), "ng_event_create");
  check(ng_event_create(&end), "ng_event_create");
  in = matrix(from), out = matrix(to);
  check(ng_event_record(start, 0), "ng_event_record");
  softmax(&in, &out);
  check(ng_event_record(end, 0), "ng_event_record");
  check(ng_event_elapsed(start, end, &ms), "ng_event_elapsed");
  check(ng_download(y, to, bytes), "ng_download");

  for (i = 0; i < ROWS; ++i) {
    double most = -INFINITY, sum = 0;
    for (j = 0; j < COLUMNS; ++j) most = fmax(most, x[i * COLUMNS + j]);
    for (j = 0; j < COLUMNS; ++j) sum += exp(x[i * COLUMNS + j] - most);
    for (j = 0; j < COLUMNS; ++j) {
      const double error = fabs(y[i * COLUMNS + j] - exp(x[i * COLUMNS + j] - most) / sum);
      if (!(error <= worst)) worst = error; /* NaN is kept */
    }
  }
  printf("softmax of %d x %d: %.3f ms, largest error %.1e\n", ROWS, COLUMNS, ms, worst);
  ng_event_destroy(start), ng_event_destroy(end);
  check(ng_free(from), "ng_free");
  check(ng_free(to), "ng_free");
  return worst <= 1e-6 ? 0 : 1;
}
