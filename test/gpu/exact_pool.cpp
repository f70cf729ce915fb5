// Poolings of small integers, whose results are exact: every bit is compared.
#include "test/gpu/bound.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/exact.h"
#include "test/gpu/reference.h"

namespace nervanagpu::gpu_test {

Verdict exact_pool(std::uint64_t number) {
  Random random(number * 2 + 1);
  PoolProblem p = random_pool(random, 1e5);
  constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float16};
  p.dtype = choose(random, kFloats);
  const bool forward = number % 2 == 0;
  const auto k = p.out();
  const std::int64_t of_x = p.n * p.in[0] * p.in[1] * p.in[2] * p.in[3];
  const std::int64_t of_y = p.n * k[0] * k[1] * k[2] * k[3];
  const auto shift = [&] { return pick(random, 0, 3) == 0 ? size_of(p.dtype) : 0; };

  // Few values, so that windows have many equal elements, and whole windows are 0.
  const Values x = integers(random, of_x, static_cast<int>(pick(random, 1, 4)), p.dtype);
  const Values dy = integers(random, of_y, 4, p.dtype);
  const Values old = integers(random, forward ? of_y : of_x, 9, p.dtype);
  PoolOptions options;
  constexpr float kScales[] = {1, 1, 1, 2, -1};
  options.alpha = choose(random, kScales);
  options.beta = pick(random, 0, 1) == 0 ? 0.0F : choose(random, kScales);

  Pooled want = forward ? pooling(p, x) : pooling_gradient(p, dy, x);
  for (std::size_t i = 0; i < want.value.size(); ++i) {
    want.value[i] *= options.alpha;
    want.size[i] *= options.alpha < 0 ? -options.alpha : options.alpha;
    if (options.beta == 0) continue;
    want.value[i] += options.beta * old[i];
    want.size[i] += options.beta < 0 ? -options.beta * 9 : options.beta * 9;
  }
  const Buffer device_x(x, p.dtype, shift());
  const Buffer device_dy(dy, p.dtype, shift());
  const std::size_t out_shift = shift();
  const Buffer device_out =
      options.beta != 0 ? Buffer(old, p.dtype, out_shift) : Buffer::poisoned(old.size() * size_of(p.dtype), out_shift);
  if (forward) {
    pool_fprop(p, device_x.address(), device_out.address(), options);
  } else {
    pool_bprop(p, device_dy.address(), device_x.address(), device_out.address(), options);
  }

  Verdict out;
  const char* op = p.op == PoolOp::max ? "max pool" : (p.op == PoolOp::avg ? "avg pool" : "l2 pool");
  out.key = {op, std::string(nervanagpu::name_of(p.dtype)), forward ? "fprop" : "bprop", "exact"};
  out.elements = static_cast<std::int64_t>(want.value.size());
  if (p.op == PoolOp::max) {
    out.wrong = difference(device_out, encode(want.value, p.dtype), p.dtype);
  } else {
    out.key.against = "reference";
    const Values got = device_out.get(p.dtype);
    const Values bound = bounds(want.value, want.size, want.terms, kUnitFloat, p.dtype);
    const Distance d = distance(got, want.value, bound);
    out.worst = d.worst;
    out.wrong = device_out.guards().empty() ? d.first : device_out.guards();
  }
  if (!out.wrong.empty()) {
    out.wrong = "problem " + std::to_string(number) + ", " + out.key.pass + " of " + text_of(p) + " alpha " +
                std::to_string(options.alpha) + " beta " + std::to_string(options.beta) + ": " + out.wrong;
  }
  return out;
}

}  // namespace nervanagpu::gpu_test
