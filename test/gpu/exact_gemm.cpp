// Products of small integers, whose results are exact: every bit is compared.
#include <algorithm>

#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/exact.h"
#include "test/gpu/reference.h"

namespace nervanagpu::gpu_test {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

void choose_types(Random& random, GemmProblem& p) {
  constexpr Dtype kBytes[] = {Dtype::int8, Dtype::uint8};
  switch (pick(random, 0, 3)) {
    case 0: break;
    case 3: p.a_type = p.b_type = p.c_type = p.bias_type = Dtype::bfloat16; break;
    case 1: p.a_type = p.b_type = p.c_type = p.bias_type = Dtype::float16; break;
    default:
      p.a_type = choose(random, kBytes);
      p.b_type = choose(random, kBytes);
      p.c_type = p.bias_type = Dtype::int32;
  }
  if (size_of(p.c_type) == 2 && pick(random, 0, 1) == 1) p.bias_type = Dtype::float32;
}

}  // namespace

Verdict exact_gemm(std::uint64_t number) {
  Random random(number * 2 + 1);
  GemmProblem p = random_gemm(random, 4e5);
  choose_types(random, p);
  constexpr float kScales[] = {1, 1, 1, 2, -1, 0};
  p.alpha = choose(random, kScales);
  p.beta = pick(random, 0, 1) == 0 ? 0.0F : choose(random, kScales);
  p.relu = pick(random, 0, 2) == 0;
  p.bias_per_row = pick(random, 0, 1) == 1;
  const bool has_bias = pick(random, 0, 1) == 1;
  const auto shift = [&](Dtype t) { return pick(random, 0, 3) == 0 ? size_of(t) : 0; };
  const bool bytes = p.c_type == Dtype::int32;

  const Values a = integers(random, (p.a_transposed ? p.k : p.m) * p.lda, bytes ? 0 : 4, p.a_type);
  const Values b = integers(random, (p.b_transposed ? p.n : p.k) * p.ldb, bytes ? 0 : 4, p.b_type);
  const Values bias = integers(random, std::max(p.m, p.n), 9, p.bias_type);
  const Values old = integers(random, p.m * p.n, 9, p.c_type);
  const Values sums = product(p, a, b);
  Values want(at(p.m * p.n));
  // Nothing of C that is not read or written may matter or change: it starts as poison, and so do the gaps of its rows.
  Bytes before(at(p.m * p.ldc) * size_of(p.c_type), 0xff);
  const auto in_row = [&](Bytes& to, const Bytes& from) {
    const auto width = static_cast<std::ptrdiff_t>(size_of(p.c_type));
    for (std::int64_t row = 0; row < p.m; ++row) {
      std::copy_n(from.begin() + row * p.n * width, p.n * width, to.begin() + row * p.ldc * width);
    }
  };
  for (std::int64_t i = 0; i < p.m * p.n; ++i) {
    double v = p.alpha * sums[at(i)];
    if (p.beta != 0) v += p.beta * old[at(i)];
    if (has_bias) v += bias[at(p.bias_per_row ? i / p.n : i % p.n)];
    want[at(i)] = p.relu ? std::max(v, 0.0) : v;
  }
  Bytes wanted = before;
  in_row(wanted, encode(want, p.c_type));
  if (p.beta != 0) in_row(before, encode(old, p.c_type));

  const Buffer device_a(a, p.a_type, shift(p.a_type));
  const Buffer device_b(b, p.b_type, shift(p.b_type));
  const Buffer device_bias(bias, p.bias_type, shift(p.bias_type));
  const Buffer device_c(before, shift(p.c_type));
  p.a = device_a.address(), p.b = device_b.address(), p.c = device_c.address();
  p.bias = has_bias ? device_bias.address() : 0;
  gemm(p);

  Verdict out;
  out.key = {"gemm", type_name(p), "fprop", "exact"};
  out.elements = p.m * p.n;
  out.wrong = difference(device_c, wanted, p.c_type);
  if (!out.wrong.empty()) out.wrong = "problem " + std::to_string(number) + ", " + text_of(p) + ": " + out.wrong;
  return out;
}

}  // namespace nervanagpu::gpu_test
