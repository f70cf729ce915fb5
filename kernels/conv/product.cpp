#include "kernels/conv/product.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "kernels/conv/pieces/pieces.h"
#include "kernels/conv/pieces/two_pieces.h"
#include "kernels/gemm/cost/cost.h"
#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/pieces/choice.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/types.h"
#include "src/memo.h"

namespace nervanagpu::conv_detail::product {

bool is_one(const ConvProblem& p) {
  using Three = decltype(p.filter);
  return p.filter == Three{1, 1, 1} && p.stride == Three{1, 1, 1} && p.pad == Three{0, 0, 0} && p.groups == 1;
}

bool possible(const ConvProblem& p) {
  return is_one(p) && sgemm::half(p.x_type);
}

GemmProblem shape_of(ConvPass pass, const ConvProblem& p) {
  const std::int64_t positions = p.n * p.in[0] * p.in[1] * p.in[2];
  GemmProblem g;
  g.a_type = g.b_type = p.x_type;
  g.c_type = p.w_type;
  g.precision = p.precision;
  g.a_transposed = pass == ConvPass::update;
  g.b_transposed = pass == ConvPass::fprop;
  g.m = g.a_transposed ? p.k : positions;
  g.n = g.ldc = pass == ConvPass::fprop ? p.k : p.c;
  g.k = g.a_transposed ? positions : pass == ConvPass::fprop ? p.c : p.k;
  g.lda = pass == ConvPass::fprop ? p.c : p.k;
  g.ldb = p.c;
  if (possible(p)) g.splits = splits_of(pass);
  return g;
}

namespace {

bool possible_of_float32(const ConvProblem& p) {
  return pieces::asked(p) && is_one(p) && p.layout == Layout::channels_last;
}

// As if there were a workspace, and no epilogue.
GemmProblem plain(const GemmProblem& problem) {
  GemmProblem g = problem;
  g.a = g.b = g.c = 0;
  g.bias = g.mask = 0;
  g.ld_mask = 0;
  g.relu = false;
  g.activation = GemmActivation::none;
  g.beta = 0;
  g.rounding = {};
  g.workspace = 1;
  return g;
}

double known(const GemmProblem& g) {
  using Three = std::array<std::int64_t, 3>;
  using Key = std::tuple<Three, Three, bool, bool, Dtype, Dtype, std::int64_t>;
  static auto& all = *new Memo<Key, double>;
  return all.get(
      {Three{g.m, g.n, g.k}, Three{g.lda, g.ldb, g.ldc}, g.a_transposed, g.b_transposed, g.a_type, g.c_type, g.splits},
      [&] { return hgemm::best_microseconds(plain(g)); });
}

}  // namespace

double microseconds(const GemmProblem& g, const Costs& costs) {
  return costs.product.start + costs.product.run * known(g);
}

bool of_float32(ConvPass pass, const ConvProblem& p) {
  constexpr std::int64_t kTile = 64;
  if (!possible_of_float32(p)) return false;
  const GemmProblem g = plain(shape_of(pass, p));
  if (nervanagpu::pieces::takes(g)) {
    if (nervanagpu::pieces::in_two(g)) return true;
    if (nervanagpu::pieces::many_rows(g)) {
      double others = pieces::microseconds(pass, p);
      if (two_pieces::chosen(pass, p)) others = std::min(others, two_pieces::microseconds(pass, p));
      if (nervanagpu::pieces::three_microseconds(g) <= others) return true;
    }
  }
  // One tile and a long k: conv.sass cuts it into more parts (64x64x401408 on an H100: 154 us, gemm() 210).
  if (pass == ConvPass::update && g.m <= kTile && g.n <= kTile) return false;
  return pieces::microseconds(pass, p) >= pieces::strict_microseconds(pass, p);
}

// An update after ReLUs: both operands have zeros, beside which the pieces of gemm() must not lose one element. Those of
// two_pieces.h may: a kernel after them adds what is lost.
bool of_float32(ConvPass pass, const ConvProblem& p, const Epilogue& e) {
  constexpr double kLost = 2.4e-8;  // of normal numbers, in the mean
  if (!possible_of_float32(p)) return false;
  const bool stored = e.beta == 0 || pieces::takes_beta(pass, p);
  if (pass != ConvPass::update || !stored || !two_pieces::can_add_lost(pass, e) || !two_pieces::chosen(pass, p))
    return of_float32(pass, p);
  const GemmProblem g = plain(shape_of(pass, p));
  if (!nervanagpu::pieces::takes(g) || !nervanagpu::pieces::in_two(g)) return false;
  const double lost = std::min(kLost * static_cast<double>(p.x_elements() + p.y_elements()), 1.0);
  const auto [done, behind] = nervanagpu::pieces::two_microseconds(g);
  return done + lost * behind <= two_pieces::microseconds(pass, p);
}

std::size_t workspace(const GemmProblem& problem) {
  const GemmProblem g = plain(problem);
  std::size_t bytes = static_cast<std::size_t>(sgemm::best_splits(g) * g.m * g.n) * sizeof(float);
  if (!nervanagpu::pieces::takes(g)) return bytes;
  bytes = std::max(bytes, bf16x6::room(g, bf16x6::splits_of(g)).bytes);
  return nervanagpu::pieces::in_two(g) ? std::max(bytes, f16x3::workspace(g, f16x3::splits_of(g), f16x3::tail_of(g)))
                                       : bytes;
}

bool is_forced(const Forced& forced) {
  return forced.kernel == "_gemm";
}

}  // namespace nervanagpu::conv_detail::product
