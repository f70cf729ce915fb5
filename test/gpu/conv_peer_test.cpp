// Convolution beside cuDNN: every pass, layout and type. cuDNN is given NCHW copies; types that it lacks (8-bit operands)
// are given to it as float32, which holds their values.
#include <array>
#include <optional>
#include <vector>

#include "test/gpu/cases.h"
#include "test/gpu/peer.h"
#include "test/gpu/peer_library.h"
#include "test/gpu/reference.h"

namespace nervanagpu::gpu_test {
namespace {

enum class Role { x, w, y };

struct Operand {
  Role role;
  Dtype dtype;
  std::int64_t elements;
};

Operand operand(const ConvProblem& p, Role role) {
  switch (role) {
    case Role::x: return {role, p.x_type, p.x_elements()};
    case Role::w: return {role, p.w_type, p.w_elements()};
    default: return {role, p.y_type, p.y_elements()};
  }
}

// in1, in2 and the result of a pass.
std::array<Operand, 3> operands(ConvPass pass, const ConvProblem& p) {
  switch (pass) {
    case ConvPass::fprop: return {operand(p, Role::x), operand(p, Role::w), operand(p, Role::y)};
    case ConvPass::bprop: return {operand(p, Role::y), operand(p, Role::w), operand(p, Role::x)};
    default: return {operand(p, Role::y), operand(p, Role::x), operand(p, Role::w)};
  }
}

std::int64_t volume(const std::array<std::int64_t, 3>& v) {
  return v[0] * v[1] * v[2];
}

// Between the problem's layout and NCHW.
Values rearranged(const ConvProblem& p, Role role, const Values& in, bool to_nchw) {
  std::int64_t outer = p.n;
  std::int64_t inner = p.c;
  std::int64_t spatial = volume(p.in);
  if (role == Role::w) outer = p.k, inner = p.c / p.groups, spatial = volume(p.filter);
  if (role == Role::y) inner = p.k, spatial = volume(p.out());
  return to_nchw ? to_first(in, p.layout, outer, inner, spatial) : from_first(in, p.layout, outer, inner, spatial);
}

Values ours(ConvPass pass, const ConvProblem& p, const Values& in1, const Values& in2) {
  const auto o = operands(pass, p);
  const Buffer a(in1, o[0].dtype);
  const Buffer b(in2, o[1].dtype);
  const Buffer c = Buffer::poisoned(static_cast<std::size_t>(o[2].elements) * size_of(o[2].dtype));
  const Buffer workspace = Buffer::poisoned(conv_workspace(pass, p));
  ConvPointers pointers;
  pointers.in1 = a.address();
  pointers.in2 = b.address();
  pointers.out = c.address();
  pointers.workspace = workspace.address();
  conv(pass, p, pointers);
  Values out = c.get(o[2].dtype);
  EXPECT_EQ(c.guards(), "") << text_of(p);
  return out;
}

std::optional<Side> theirs(Cudnn& peer, ConvPass pass, const ConvProblem& p, Dtype type, const Values& in1,
                           const Values& in2) {
  const auto o = operands(pass, p);
  const Buffer a(rearranged(p, o[0].role, in1, true), type);
  const Buffer b(rearranged(p, o[1].role, in2, true), type);
  const Buffer c = Buffer::poisoned(static_cast<std::size_t>(o[2].elements) * size_of(type));
  const std::optional<double> unit = peer.conv(pass, p, type, a.address(), b.address(), c.address());
  if (!unit) return std::nullopt;
  return Side{rearranged(p, o[2].role, c.get(type), false), *unit, type};
}

// False: cuDNN has no algorithm for it.
bool check(Cudnn& peer, ConvPass pass, const ConvProblem& p, Random& random) {
  const Key key = {"conv", type_name(p), name_of(pass), "cudnn"};
  const auto o = operands(pass, p);
  const Values in1 = reals(random, o[0].elements, o[0].dtype);
  const Values in2 = reals(random, o[1].elements, o[1].dtype);
  const bool half = p.x_type == Dtype::float16;
  std::optional<Side> peers = theirs(peer, pass, p, half ? Dtype::float16 : Dtype::float32, in1, in2);
  if (!peers && half) peers = theirs(peer, pass, p, Dtype::float32, in1, in2);
  if (!peers) {
    report().add_unsupported(key);
    return false;
  }
  const Side own = {ours(pass, p, in1, in2), o[2].dtype == Dtype::int32 ? 0.0 : kUnitFloat, o[2].dtype};
  compare(key, std::string(name_of(pass)) + " of " + text_of(p), own, *peers, convolution(pass, p, in1, in2),
          convolution(pass, p, absolute(in1), absolute(in2)), terms(pass, p));
  return true;
}

// Layers as networks have them, small enough for the reference: sums of thousands of products, several tiles, edges.
std::vector<ConvProblem> layers() {
  struct Layer {
    std::int64_t n, c, k, in, filter, pad, stride, groups;
  };
  constexpr Layer kLayers[] = {{2, 64, 64, 14, 3, 1, 1, 1},  {1, 3, 64, 35, 11, 2, 4, 1}, {8, 32, 48, 9, 5, 2, 1, 2},
                               {3, 256, 130, 7, 1, 0, 1, 1}, {32, 17, 33, 8, 3, 1, 2, 1}, {1, 512, 129, 5, 3, 1, 1, 1}};
  std::vector<ConvProblem> out;
  for (const Layer& l : kLayers) {
    for (const Layout layout : {Layout::channels_last, Layout::batch_last, Layout::channels_first}) {
      ConvProblem p;
      p.layout = layout;
      p.n = l.n, p.c = l.c, p.k = l.k, p.groups = l.groups;
      p.in = {1, l.in, l.in};
      p.filter = {1, l.filter, l.filter};
      p.pad = {0, l.pad, l.pad};
      p.stride = {1, l.stride, l.stride};
      out.push_back(p);
    }
  }
  return out;
}

void compare_all(ConvPass pass, Dtype x, Dtype w, Dtype y, int count) {
  std::string why;
  Cudnn* peer = cudnn_peer(why);
  if (peer == nullptr) NG_NO_PEER(why);
  Random random(21 + static_cast<std::uint64_t>(pass) + 10 * static_cast<std::uint64_t>(x));
  std::vector<ConvProblem> problems = layers();
  for (int i = 0; i < count; ++i) problems.push_back(random_conv(random, 1e6, true));
  std::size_t compared = 0;
  for (ConvProblem& p : problems) {
    p.x_type = x, p.w_type = w, p.y_type = y;
    compared += check(*peer, pass, p, random) ? 1 : 0;
  }
  EXPECT_GE(compared * 2, problems.size()) << "cuDNN refused the others";
}

TEST(ConvBesideCudnn, Float32Fprop) {
  compare_all(ConvPass::fprop, Dtype::float32, Dtype::float32, Dtype::float32, 60);
}
TEST(ConvBesideCudnn, Float32Bprop) {
  compare_all(ConvPass::bprop, Dtype::float32, Dtype::float32, Dtype::float32, 60);
}
TEST(ConvBesideCudnn, Float32Update) {
  compare_all(ConvPass::update, Dtype::float32, Dtype::float32, Dtype::float32, 60);
}
TEST(ConvBesideCudnn, Float16Fprop) {
  compare_all(ConvPass::fprop, Dtype::float16, Dtype::float16, Dtype::float16, 60);
}
TEST(ConvBesideCudnn, Float16Bprop) {
  compare_all(ConvPass::bprop, Dtype::float16, Dtype::float16, Dtype::float16, 60);
}
TEST(ConvBesideCudnn, Float16Update) {
  compare_all(ConvPass::update, Dtype::float16, Dtype::float16, Dtype::float16, 60);
}

TEST(ConvBesideCudnn, FirstLayers) {
  for (const Dtype x : {Dtype::int8, Dtype::uint8}) {
    for (const Dtype y : {Dtype::float32, Dtype::float16}) {
      compare_all(ConvPass::fprop, x, y, y, 20);
      if (IsSkipped() || HasFatalFailure()) return;
      compare_all(ConvPass::update, x, y, y, 20);
    }
  }
}

TEST(ConvBesideCudnn, Integers) {
  for (const Dtype x : {Dtype::int8, Dtype::uint8}) {
    compare_all(ConvPass::fprop, x, Dtype::int8, Dtype::int32, 20);
    if (IsSkipped() || HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace nervanagpu::gpu_test
