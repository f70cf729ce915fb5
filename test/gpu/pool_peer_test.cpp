// Pooling beside cuDNN: max and average, both passes, over windows of one feature map (cuDNN has neither L2 nor windows
// over feature maps). The largest of each window is unique, so that the gradient does not depend on who breaks ties how.
#include <algorithm>
#include <cmath>

#include "test/gpu/cases.h"
#include "test/gpu/peer.h"
#include "test/gpu/peer_library.h"
#include "test/gpu/reference.h"

namespace nervanagpu::gpu_test {
namespace {

std::int64_t space(const std::array<std::int64_t, 4>& v) {
  return v[1] * v[2] * v[3];
}

// Values that are all different: halves have 1024 of them between powers of two.
Values distinct(Random& random, std::int64_t count, Dtype dtype) {
  Values out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double size = 1.0 + static_cast<double>(i / 2 % 1024) / 1024.0;
    out[i] = round_to((i % 2 == 0 ? size : -size) * std::ldexp(1.0, static_cast<int>(i / 2048) - 12), dtype);
  }
  std::shuffle(out.begin(), out.end(), random);
  return out;
}

// False: cuDNN refused it.
bool check(Cudnn& peer, const PoolProblem& p, bool forward, Random& random) {
  const auto out = p.out();
  const std::int64_t of_x = p.n * p.in[0] * space(p.in);
  const std::int64_t of_y = p.n * out[0] * space(out);
  const Key key = {p.op == PoolOp::max ? "max pool" : "avg pool", std::string(nervanagpu::name_of(p.dtype)),
                   forward ? "fprop" : "bprop", "cudnn"};
  const Values x = p.op == PoolOp::max ? distinct(random, of_x, p.dtype) : reals(random, of_x, p.dtype);
  const Values dy = reals(random, of_y, p.dtype);
  const auto x_first = [&](const Values& v) { return to_first(v, p.layout, p.n, p.in[0], space(p.in)); };
  const auto y_first = [&](const Values& v) { return to_first(v, p.layout, p.n, out[0], space(out)); };
  const std::size_t width = size_of(p.dtype);

  const Buffer peer_x(x_first(x), p.dtype);
  const Buffer peer_dy(y_first(dy), p.dtype);
  const Buffer peer_y = Buffer::poisoned(static_cast<std::size_t>(of_y) * width);
  const Buffer peer_dx = Buffer::poisoned(static_cast<std::size_t>(of_x) * width);
  bool done = peer.pool_fprop(p, p.dtype, peer_x.address(), peer_y.address());
  if (done && !forward) {
    done = peer.pool_bprop(p, p.dtype, peer_y.address(), peer_dy.address(), peer_x.address(), peer_dx.address());
  }
  if (!done) {
    report().add_unsupported(key);
    return false;
  }
  const Values first = (forward ? peer_y : peer_dx).get(p.dtype);
  const Side theirs = {forward ? from_first(first, p.layout, p.n, out[0], space(out))
                               : from_first(first, p.layout, p.n, p.in[0], space(p.in)),
                       kUnitFloat, p.dtype};

  const Buffer own_x(x, p.dtype);
  const Buffer own_dy(dy, p.dtype);
  const Buffer own = Buffer::poisoned(static_cast<std::size_t>(forward ? of_y : of_x) * width);
  if (forward) {
    pool_fprop(p, own_x.address(), own.address());
  } else {
    pool_bprop(p, own_dy.address(), own_x.address(), own.address());
  }
  const Side ours = {own.get(p.dtype), kUnitFloat, p.dtype};
  EXPECT_EQ(own.guards(), "") << text_of(p);
  const Pooled want = forward ? pooling(p, x) : pooling_gradient(p, dy, x);
  if (p.op == PoolOp::max && forward) {
    EXPECT_EQ(ours.got, theirs.got) << text_of(p);
  }
  compare(key, key.pass + " of " + text_of(p), ours, theirs, want.value, want.size, want.terms);
  return true;
}

void compare_all(PoolOp op, bool forward) {
  std::string why;
  Cudnn* peer = cudnn_peer(why);
  if (peer == nullptr) NG_NO_PEER(why);
  Random random(31);
  int problems = 0;
  int compared = 0;
  for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
    for (int i = 0; i < 40; ++i) {
      PoolProblem p = random_pool(random, 3e4, true);
      p.op = op;
      p.dtype = dtype;
      ++problems;
      compared += check(*peer, p, forward, random) ? 1 : 0;
    }
  }
  EXPECT_GE(compared * 2, problems) << "cuDNN refused the others";
}

TEST(PoolBesideCudnn, MaxFprop) {
  compare_all(PoolOp::max, true);
}
TEST(PoolBesideCudnn, MaxBprop) {
  compare_all(PoolOp::max, false);
}
TEST(PoolBesideCudnn, AverageFprop) {
  compare_all(PoolOp::avg, true);
}
TEST(PoolBesideCudnn, AverageBprop) {
  compare_all(PoolOp::avg, false);
}

}  // namespace
}  // namespace nervanagpu::gpu_test
