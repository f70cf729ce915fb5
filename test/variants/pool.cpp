// Every pooling kernel: its window, strides and vectors are in its name.
#include <algorithm>

#include "kernels/pool/argmax.h"
#include "kernels/pool/pool.h"
#include "src/device/select_device.h"
#include "test/gpu/bound.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/reference.h"
#include "test/variants/epilogue.h"
#include "test/variants/other.h"

namespace nervanagpu::variants {
namespace {

using gpu_test::Buffer;
using gpu_test::choose;
using gpu_test::pick;
using gpu_test::Values;

PoolProblem draw(Random& random, const Kernel& kernel) {
  const std::string& op = kernel.manifest().op;
  const auto& variant = kernel.manifest().variant;
  const std::int64_t side = kernel.number("SIDE");
  const bool maps = variant.at("MAPS") == "1";
  const int v = std::max(kernel.number("V"), 1);
  const bool by_stride = variant.find("STR") != variant.end();
  const bool argmax = variant.at("OP") == "argmax";
  for (;;) {
    PoolProblem p = gpu_test::random_pool(random, 1e5, !maps);
    p.op = variant.at("OP") == "max" || argmax ? PoolOp::max : variant.at("OP") == "avg" ? PoolOp::avg : PoolOp::l2;
    p.dtype = variant.at("T") == "f16" ? Dtype::float16 : variant.at("T") == "bf16" ? Dtype::bfloat16 : Dtype::float32;
    if (v > 1) {
      // Neighbours in memory are images or, if windows have one feature map, these.
      if (p.layout == Layout::channels_first || maps) p.layout = Layout::batch_last;
      if (p.layout == Layout::batch_last) p.n = (p.n + v - 1) / v * v;
      if (p.layout == Layout::channels_last) p.in[0] = (p.in[0] + v - 1) / v * v;
    }
    if (!maps) p.window[0] = p.stride[0] = 1, p.pad[0] = 0;
    if (maps && p.window[0] == 1 && p.stride[0] == 1) p.stride[0] = 2;
    if (side != 0) {
      p.window[1] = 1, p.pad[1] = 0;
      p.window[2] = p.window[3] = side;
      for (const std::size_t a : {2U, 3U}) {
        p.in[a] = std::max(p.in[a], side);
        p.pad[a] = std::min(p.pad[a], side - 1);
      }
    }
    if (by_stride) p.stride = {1, 1, kernel.number("STR"), kernel.number("STR")};
    if (op == "pool_cells") {
      for (std::size_t a = 0; a < 4; ++a) p.stride[a] = std::max(p.stride[a], p.window[a]);
    }
    // How elements and their codes go together is the problem's business.
    if (argmax && pool_detail::argmax_form(p).elements != v) continue;
    const auto volume = static_cast<double>(p.n * p.in[0] * p.in[1] * p.in[2] * p.in[3]);
    if (volume * static_cast<double>(p.window[0] * p.window[1] * p.window[2] * p.window[3]) <= 4e5) return p;
  }
}

}  // namespace

Outcome pool(Random& random, const Kernel& kernel, const Limits& /*limits*/) {
  const std::string& name = kernel.manifest().op;
  const PoolProblem p = draw(random, kernel);
  const bool forward = name == "pool_fprop" || name == "pool_columns";
  const auto k = p.out();
  const std::int64_t of_x = p.n * p.in[0] * p.in[1] * p.in[2] * p.in[3];
  const std::int64_t of_y = p.n * k[0] * k[1] * k[2] * k[3];
  // Vectors want aligned addresses; a kernel of single elements gets others, so that no vector fits.
  const std::size_t shift = kernel.number("V") > 1 ? 0 : size_of(p.dtype);
  const bool argmax = kernel.manifest().variant.at("OP") == "argmax";

  const Values x = gpu_test::integers(random, of_x, static_cast<int>(pick(random, 1, 4)), p.dtype);
  const Values dy = gpu_test::integers(random, of_y, 4, p.dtype);
  const Values old = gpu_test::integers(random, forward ? of_y : of_x, 9, p.dtype);
  PoolOptions options;
  constexpr float kFactors[] = {1, 1, 1, 2, -1};
  options.alpha = choose(random, kFactors);
  options.beta = pick(random, 0, 1) == 0 ? 0.0F : choose(random, kFactors);
  const auto round = kernel.manifest().variant.find("ROUND");
  options.relu = argmax && pick(random, 0, 1) == 0;
  const bool named = round != kernel.manifest().variant.end();
  if (named ? round->second == "random" : p.op == PoolOp::max && pick(random, 0, 3) == 0) {
    options.rounding = {true, random(), random() % 1000, static_cast<int>(pick(random, 1, most_bits(p.dtype)))};
  }

  gpu_test::Pooled want = forward ? gpu_test::pooling(p, x) : gpu_test::pooling_gradient(p, dy, x);
  for (std::size_t i = 0; options.relu && !forward && i < x.size(); ++i) {
    if (!(x[i] > 0)) want.value[i] = 0;
  }
  for (std::size_t i = 0; i < want.value.size(); ++i) {
    want.value[i] *= options.alpha;
    want.size[i] *= options.alpha < 0 ? -options.alpha : options.alpha;
    if (options.beta == 0) continue;
    want.value[i] += options.beta * old[i];
    want.size[i] += options.beta < 0 ? -options.beta * 9 : options.beta * 9;
  }
  const Buffer device_x(x, p.dtype, shift);
  const Buffer device_dy(dy, p.dtype, shift);
  const Buffer device_out =
      options.beta != 0 ? Buffer(old, p.dtype, shift) : Buffer::poisoned(old.size() * size_of(p.dtype), shift);
  gpu_test::Bytes places;
  if (argmax) places = gpu_test::pooling_places(p, x, options.relu, pool_detail::argmax_form(p).bits);
  const Buffer device_places = forward ? Buffer::poisoned(places.size()) : Buffer(places);
  pool_detail::Forced forced;
  forced.begin = kernel.name();
  pool_detail::Pointers at;
  at.x = device_x.address();
  at.argmax = argmax ? device_places.address() : 0;
  at.dy = forward ? 0 : device_dy.address();
  at.out = device_out.address();

  Outcome out;
  out.elements = static_cast<std::int64_t>(want.value.size());
  out.problem = std::string(forward ? "fprop of " : "bprop of ") + gpu_test::text_of(p) + " alpha " +
                std::to_string(options.alpha) + " beta " + std::to_string(options.beta) +
                (options.rounding.stochastic ? " at random" : "");
  out.features = {std::string(nervanagpu::name_of(p.dtype)) + " result"};
  if (options.beta != 0) out.features.emplace_back("beta");
  if (options.relu) out.features.emplace_back("relu");
  if (options.rounding.stochastic) out.features.emplace_back("rounding at random");
  pool_detail::queue(current_device(), forward ? pool_detail::Pass::fprop : pool_detail::Pass::bprop, p, at, options,
                     forced);
  if (p.op == PoolOp::max) {
    for (std::size_t i = 0; i < want.value.size(); ++i) {
      want.value[i] = round_result(p.dtype, options.rounding, want.value[i], static_cast<std::int64_t>(i));
    }
    out.wrong = gpu_test::difference(device_out, gpu_test::encode(want.value, p.dtype), p.dtype);
    if (argmax && forward && out.wrong.empty()) {
      const bool same = device_places.get() == places;
      out.wrong = same ? device_places.guards() : "other places of the largest elements";
    }
    return out;
  }
  const Values got = device_out.get(p.dtype);
  const Values bound = gpu_test::bounds(want.value, want.size, want.terms, gpu_test::kUnitFloat, p.dtype);
  out.wrong = device_out.guards().empty() ? gpu_test::distance(got, want.value, bound).first : device_out.guards();
  return out;
}

}  // namespace nervanagpu::variants
