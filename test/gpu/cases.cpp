#include "test/gpu/cases.h"

#include <algorithm>

namespace nervanagpu::gpu_test {
namespace {

constexpr std::int64_t kLengths[] = {1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200};
constexpr std::int64_t kChannels[] = {1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 64, 65};
constexpr std::int64_t kBatches[] = {1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33};
constexpr Layout kLayouts[] = {Layout::channels_last, Layout::batch_last, Layout::channels_first};

template <class A>
std::string list(const A& v) {
  std::string out;
  for (const std::int64_t i : v) out += (out.empty() ? "(" : ", ") + std::to_string(i);
  return out + ")";
}

const char* name_of(Layout layout) {
  return layout == Layout::channels_last ? "NDHWC" : (layout == Layout::batch_last ? "CDHWN" : "NCDHW");
}

}  // namespace

GemmProblem random_gemm(Random& random, double products) {
  GemmProblem p;
  do {
    p.m = choose(random, kLengths);
    p.n = choose(random, kLengths);
    p.k = choose(random, kLengths);
    if (pick(random, 0, 9) == 0) p.k = pick(random, 1, 1000);
  } while (static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) > products);
  p.a_transposed = pick(random, 0, 1) == 1;
  p.b_transposed = pick(random, 0, 1) == 1;
  constexpr std::int64_t kGaps[] = {0, 0, 0, 1, 3, 4, 5};
  p.lda = (p.a_transposed ? p.m : p.k) + choose(random, kGaps);
  p.ldb = (p.b_transposed ? p.k : p.n) + choose(random, kGaps);
  p.ldc = p.n + choose(random, kGaps);
  return p;
}

std::string text_of(const GemmProblem& p) {
  return "gemm m " + std::to_string(p.m) + " n " + std::to_string(p.n) + " k " + std::to_string(p.k) + " lda " +
         std::to_string(p.lda) + " ldb " + std::to_string(p.ldb) + " ldc " + std::to_string(p.ldc) +
         (p.a_transposed ? " At" : "") + (p.b_transposed ? " Bt" : "") + " alpha " + std::to_string(p.alpha) +
         " beta " + std::to_string(p.beta) + (p.bias != 0 ? (p.bias_per_row ? " row bias" : " bias") : "") +
         (p.relu ? " relu " : " ") + type_name(p);
}

ConvProblem random_conv(Random& random, double products, bool modest) {
  for (;;) {
    ConvProblem p;
    p.layout = choose(random, kLayouts);
    p.n = choose(random, kBatches);
    constexpr std::int64_t kGroups[] = {1, 1, 1, 1, 2, 3, 8};
    p.groups = choose(random, kGroups);
    const bool depthwise = p.groups > 1 && pick(random, 0, 1) == 1;
    p.c = p.groups * (depthwise ? 1 : choose(random, kChannels));
    p.k = p.groups * (depthwise ? pick(random, 1, 2) : choose(random, kChannels));
    const std::int64_t axes = pick(random, 1, 3);
    bool fits = true;
    for (std::size_t a = static_cast<std::size_t>(3 - axes); a < 3; ++a) {
      constexpr std::int64_t kFilters[] = {1, 1, 2, 3, 3, 3, 4, 5, 7};
      constexpr std::int64_t kStrides[] = {1, 1, 1, 2, 3, 4};
      constexpr std::int64_t kDilations[] = {1, 1, 1, 2, 3};
      p.in[a] = pick(random, 1, axes == 3 ? 8 : 16);
      p.filter[a] = choose(random, kFilters);
      p.stride[a] = choose(random, kStrides);
      p.dilation[a] = choose(random, kDilations);
      const std::int64_t reach = p.dilation[a] * (p.filter[a] - 1);
      p.pad[a] = pick(random, 0, std::max<std::int64_t>(reach, 0));
      if (!modest && pick(random, 0, 19) == 0) p.pad[a] = reach + pick(random, 1, 2);
      fits = fits && p.in[a] + 2 * p.pad[a] > reach;
    }
    if (fits && p.flops() / 2 <= products) return p;
  }
}

std::string text_of(const ConvProblem& p) {
  return std::string("conv ") + name_of(p.layout) + " n " + std::to_string(p.n) + " c " + std::to_string(p.c) + " k " +
         std::to_string(p.k) + " groups " + std::to_string(p.groups) + " in " + list(p.in) + " filter " +
         list(p.filter) + " pad " + list(p.pad) + " stride " + list(p.stride) + " dilation " + list(p.dilation) + " " +
         type_name(p);
}

PoolProblem random_pool(Random& random, double products, bool modest) {
  for (;;) {
    PoolProblem p;
    constexpr PoolOp kOps[] = {PoolOp::max, PoolOp::avg, PoolOp::l2};
    p.op = choose(random, kOps);
    p.layout = choose(random, kLayouts);
    p.count_padding = pick(random, 0, 1) == 1;
    p.n = choose(random, kBatches);
    p.in[0] = choose(random, kChannels);
    const std::int64_t axes = pick(random, 1, 3);
    double size = static_cast<double>(p.n);
    for (std::size_t a = 0; a < 4; ++a) {
      const bool there = a == 0 ? !modest && pick(random, 0, 2) == 0 : static_cast<std::int64_t>(a) >= 4 - axes;
      if (a > 0 && there) p.in[a] = pick(random, 1, axes == 3 ? 8 : 16);
      if (there) {
        p.window[a] = pick(random, 1, 5);
        p.stride[a] = pick(random, 1, 4);
        p.pad[a] = pick(random, 0, p.window[a] - 1);
        if (modest) p.pad[a] = std::min(p.pad[a], p.window[a] / 2);
      }
      if (p.in[a] + 2 * p.pad[a] < p.window[a]) p.window[a] = 1, p.pad[a] = 0;
      size *= static_cast<double>(p.in[a] * p.window[a]);
    }
    if (size <= products) return p;
  }
}

std::string text_of(const PoolProblem& p) {
  const char* op = p.op == PoolOp::max ? "max" : (p.op == PoolOp::avg ? "avg" : "l2");
  return std::string(op) + " pool " + name_of(p.layout) + " n " + std::to_string(p.n) + " in " + list(p.in) +
         " window " + list(p.window) + " pad " + list(p.pad) + " stride " + list(p.stride) +
         (p.count_padding ? " padding counts " : " ") + std::string(nervanagpu::name_of(p.dtype));
}

ConvTypes types_of(ConvPass pass, const ConvProblem& p) {
  switch (pass) {
    case ConvPass::fprop: return {p.x_type, p.w_type, p.y_type};
    case ConvPass::bprop: return {p.y_type, p.w_type, p.x_type};
    default: return {p.y_type, p.x_type, p.w_type};
  }
}
const char* name_of(ConvPass pass) {
  return pass == ConvPass::fprop ? "fprop" : (pass == ConvPass::bprop ? "bprop" : "update");
}

namespace {

std::string types(Dtype a, Dtype b, Dtype c) {
  std::string out(nervanagpu::name_of(a));
  if (b != a) out += " x " + std::string(nervanagpu::name_of(b));
  if (c != b) out += " -> " + std::string(nervanagpu::name_of(c));
  return out;
}

}  // namespace

std::string type_name(const GemmProblem& p) {
  return types(p.a_type, p.b_type, p.c_type);
}
std::string type_name(const ConvProblem& p) {
  return types(p.x_type, p.w_type, p.y_type);
}

}  // namespace nervanagpu::gpu_test
