// A filter for each channel: depthwise*.sass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/conv/depthwise/depthwise.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/model.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

constexpr ConvPass kPasses[] = {ConvPass::fprop, ConvPass::bprop, ConvPass::update};
constexpr Dtype kTypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16};

class DepthwiseTest : public test::OnEachDevice {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  // Maps of all sizes beside the filter's, more than a strip wide and high, and channels that fill no warp, one or two.
  ConvCase random_case(ConvPass pass) {
    constexpr std::int64_t kSides[] = {3, 3, 5, 7};
    for (;;) {
      ConvCase c;
      c.pass = pass;
      c.p.x_type = c.p.w_type = c.p.y_type = kTypes[pick(0, 2)];
      c.p.n = pick(1, 3);
      c.p.c = pick(0, 5) == 0 ? pick(60, 80) : pick(1, 12);
      if (c.p.x_type != Dtype::float32) c.p.c *= 2;
      c.p.k = c.p.groups = c.p.c;
      const std::int64_t side = kSides[pick(0, 3)];
      c.p.filter = {1, side, side};
      const std::int64_t stride = pick(1, 2);
      c.p.stride = {1, stride, stride};
      if (pick(0, 3) == 0) c.p.in[0] = pick(2, 3);
      for (const std::size_t axis : {1U, 2U}) {
        c.p.in[axis] = pick(1, pick(0, 2) == 0 ? 30 : 9);
        c.p.pad[axis] = pick(0, 1) == 0 ? side / 2 : pick(0, side + 2);
      }
      if (pick(0, 2) == 0) c.p.x_pitch = c.p.c + 2 * pick(0, 3), c.p.y_pitch = c.p.c + 2 * pick(0, 3);
      if (c.p.in[1] + 2 * c.p.pad[1] < side || c.p.in[2] + 2 * c.p.pad[2] < side) continue;
      if (c.p.y_elements() * side * side > (checked() ? 60000 : 300000)) continue;
      c.size = 3;
      return c;
    }
  }
};
NG_ON_EACH_DEVICE(DepthwiseTest);

TEST_P(DepthwiseTest, ExactIntegers) {
  int taken = 0;
  for (int turn = 0; turn < drawn(120, 20); ++turn) {
    ConvCase c = random_case(kPasses[turn % 3]);
    taken += conv_detail::depthwise::takes_strips(c.pass, c.p) ? 1 : 0;
    test::choose_epilogue(random_, c);
    c.shift = pick(0, 3) == 0 ? 2 : 0;
    if (pick(0, 3) != 0) c.options.rounding = {};
    ASSERT_EQ(test::judge(device_, random_, c), "") << turn;
  }
  EXPECT_GT(taken, drawn(40, 5));
}

// Any filter, stride, dilation and layout, in one to three dimensions.
TEST_P(DepthwiseTest, ExactIntegersOfAnyProblem) {
  int strips = 0;
  const int turns = drawn(150, 20);
  for (int turn = 0; turn < turns; ++turn) {
    ConvCase c;
    c.pass = kPasses[turn % 3];
    c.p = test::random_problem(random_, 700);
    c.p.c = c.p.k = c.p.groups = pick(2, 40);
    test::choose_pitches(random_, c.p);
    c.p.x_type = c.p.w_type = c.p.y_type = kTypes[pick(0, 2)];
    EXPECT_EQ(conv_detail::depthwise::takes(c.pass, c.p), c.p.layout == Layout::channels_last);
    strips += conv_detail::depthwise::takes_strips(c.pass, c.p) ? 1 : 0;
    test::choose_epilogue(random_, c);
    ASSERT_EQ(test::judge(device_, random_, c), "") << turn;
  }
  EXPECT_LT(strips, turns / 2);
}

// More parts of an update than are added at once.
TEST_P(DepthwiseTest, ManyParts) {
  if (checked()) return;
  for (const Dtype type : kTypes) {
    ConvCase c;
    c.pass = ConvPass::update;
    c.p.x_type = c.p.w_type = c.p.y_type = type;
    c.p.n = 600, c.p.c = c.p.k = c.p.groups = type == Dtype::float32 ? 30 : 60;
    c.p.in = {1, 3, 6}, c.p.filter = {1, 3, 3}, c.p.pad = {0, 1, 1};
    c.options.beta = 2.0F;
    c.size = 1;
    EXPECT_GT(conv_detail::depthwise::workspace(c.pass, c.p), 67U * 4U * static_cast<std::size_t>(c.p.w_elements()));
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
}

Bits numbers(std::mt19937& random, std::int64_t count, Dtype type) {
  std::normal_distribution<double> normal;
  Bits out(static_cast<std::size_t>(count));
  for (std::uint32_t& b : out) b = test::bits_of(type, normal(random));
  return out;
}

std::vector<double> values(const Bits& bits, Dtype type) {
  std::vector<double> out(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) out[i] = test::value_of(type, bits[i]);
  return out;
}

// fprop and bprop: chains of multiply-adds in ascending order of the positions that are gathered.
TEST_P(DepthwiseTest, SumsAreChains) {
  if (checked()) return;
  for (int turn = 0; turn < 24; ++turn) {
    ConvCase c = random_case(kPasses[turn % 2]);
    const ConvProblem& p = c.p;
    c.p.in[0] = 1;
    if (!conv_detail::depthwise::takes_strips(c.pass, p) || p.x_elements() > 20000) continue;
    const bool forward = c.pass == ConvPass::fprop;
    const Bits in1 = numbers(random_, forward ? p.x_elements() : p.y_elements(), p.x_type);
    const Bits in2 = numbers(random_, p.w_elements(), p.x_type);
    const Bits got = test::run(device_, c, in1, in2);
    const std::vector<double> a = values(in1, p.x_type), w = values(in2, p.x_type);
    const auto out = p.out();
    const auto& from = forward ? p.in : out;
    const auto& to = forward ? out : p.in;
    const std::int64_t side = p.filter[1];
    std::size_t at = 0;
    for (std::int64_t n = 0; n < p.n; ++n) {
      for (std::int64_t h = 0; h < to[1]; ++h) {
        for (std::int64_t v = 0; v < to[2]; ++v) {
          for (std::int64_t channel = 0; channel < p.c; ++channel) {
            float sum = 0;
            for (std::int64_t y = 0; y < from[1]; ++y) {
              for (std::int64_t z = 0; z < from[2]; ++z) {
                const std::int64_t r = forward ? y - h * p.stride[1] + p.pad[1] : h - y * p.stride[1] + p.pad[1];
                const std::int64_t s = forward ? z - v * p.stride[2] + p.pad[2] : v - z * p.stride[2] + p.pad[2];
                if (r < 0 || r >= side || s < 0 || s >= side) continue;
                const auto i = static_cast<std::size_t>(((n * from[1] + y) * from[2] + z) * p.c + channel);
                const auto tap = static_cast<std::size_t>((channel * side + r) * side + s);
                sum = std::fma(static_cast<float>(a[i]), static_cast<float>(w[tap]), sum);
              }
            }
            ASSERT_EQ(got[at], test::bits_of(p.x_type, sum)) << test::text_of(c.pass, p) << ", element " << at;
            ++at;
          }
        }
      }
    }
  }
}

// One group's chain of the order class `strips`, of tap (r, s): `x` and `dy` are those of a channel.
float chain_of_strips(const ConvProblem& p, const conv_detail::depthwise::StripOrder& order, std::int64_t part,
                      std::int64_t group, std::int64_t r, std::int64_t s, const std::vector<float>& x,
                      const std::vector<float>& dy) {
  const auto out = p.out();
  const std::int64_t stride = p.stride[1];
  float sum = 0;
  for (std::int64_t base = 0; base < order.chunk; base += order.groups) {
    const std::int64_t strip = part * order.chunk + base + group;
    if (strip >= p.n * order.lh * order.lw) break;
    const std::int64_t n = strip / (order.lw * order.lh);
    const std::int64_t first = strip / order.lw % order.lh * order.tall, last = std::min(first + order.tall, out[1]);
    const std::int64_t left = strip % order.lw * order.width, right = std::min(left + order.width, out[2]);
    for (std::int64_t y = first; y < last; ++y) {  // a tap meets one row of x for each of dy
      for (std::int64_t z = left; z < right; ++z) {
        const std::int64_t h = y * stride - p.pad[1] + r, v = z * stride - p.pad[2] + s;
        const bool inside = h >= 0 && h < p.in[1] && v >= 0 && v < p.in[2];
        const float factor = inside ? x[static_cast<std::size_t>((n * p.in[1] + h) * p.in[2] + v)] : 0;
        sum = std::fma(factor, dy[static_cast<std::size_t>((n * out[1] + y) * out[2] + z)], sum);
      }
    }
  }
  return sum;
}

TEST_P(DepthwiseTest, UpdatesHaveTheOrderOfStrips) {
  if (checked()) return;
  std::int64_t most = 0;
  for (int turn = 0; turn < 16; ++turn) {
    ConvCase c = random_case(ConvPass::update);
    c.p.in[0] = 1;
    if (turn == 0) c.p.n = 600, c.p.in = {1, 5, 6}, c.p.pad = {0, 3, 3}, c.p.c = c.p.k = c.p.groups = 60;
    c.p.x_pitch = c.p.y_pitch = 0;
    const ConvProblem& p = c.p;
    if (turn != 0 && p.x_elements() > 20000) continue;
    const conv_detail::depthwise::StripOrder order = conv_detail::depthwise::order_of_update(p);
    most = std::max(most, order.run * order.runs);
    const Bits in1 = numbers(random_, p.y_elements(), p.x_type), in2 = numbers(random_, p.x_elements(), p.x_type);
    const Bits got = test::run(device_, c, in1, in2);
    const std::vector<double> all_dy = values(in1, p.x_type), all_x = values(in2, p.x_type);
    const std::int64_t side = p.filter[1];
    for (std::int64_t channel = 0; channel < p.c; channel += turn == 0 ? 13 : 3) {
      std::vector<float> x, dy;
      for (std::size_t i = 0; i < all_x.size(); ++i) {
        if (static_cast<std::int64_t>(i) % p.c == channel) x.push_back(static_cast<float>(all_x[i]));
      }
      for (std::size_t i = 0; i < all_dy.size(); ++i) {
        if (static_cast<std::int64_t>(i) % p.c == channel) dy.push_back(static_cast<float>(all_dy[i]));
      }
      for (std::int64_t tap = 0; tap < side * side; ++tap) {
        float sum = 0;
        for (std::int64_t run = 0; run < order.runs; ++run) {
          float of_run = 0;
          for (std::int64_t part = run * order.run; part < (run + 1) * order.run; ++part) {
            float of_part = 0;
            for (std::int64_t group = 0; group < order.groups; ++group) {
              of_part += chain_of_strips(p, order, part, group, tap / side, tap % side, x, dy);
            }
            of_run += of_part;
          }
          sum += of_run;
        }
        ASSERT_EQ(got[static_cast<std::size_t>(channel * side * side + tap)], test::bits_of(p.x_type, sum))
            << test::text_of(c.pass, p) << ", channel " << channel << ", tap " << tap;
      }
    }
  }
  EXPECT_GT(most, 66);
}

// A tensor that begins between vectors: depthwise_any.sass has the order of the strips.
TEST_P(DepthwiseTest, StripsGiveTheBitsOfSingleElements) {
  if (checked()) return;
  for (int turn = 0; turn < 24; ++turn) {
    ConvCase c = random_case(kPasses[turn % 2]);
    const ConvProblem& p = c.p;
    if (p.x_type == Dtype::float32) continue;
    ASSERT_TRUE(conv_detail::depthwise::takes_strips(c.pass, p));
    const Bits in1 = numbers(random_, c.pass == ConvPass::fprop ? p.x_elements() : p.y_elements(), p.x_type);
    const Bits in2 = numbers(random_, p.w_elements(), p.x_type);
    const Bits strips = test::run(device_, c, in1, in2);
    c.shift = 1;
    ASSERT_EQ(strips, test::run(device_, c, in1, in2)) << test::text_of(c.pass, p);
  }
}

// The bound that the front matter states, and the same bits each time.
TEST_P(DepthwiseTest, UpdatesAreWithinTheirBound) {
  if (checked()) return;
  for (int turn = 0; turn < 12; ++turn) {
    ConvCase c = random_case(ConvPass::update);
    const ConvProblem& p = c.p;
    const Bits dy = numbers(random_, p.y_elements(), p.x_type), x = numbers(random_, p.x_elements(), p.x_type);
    std::vector<double> wide[4] = {values(dy, p.x_type), values(x, p.x_type), {}, {}};
    for (const int i : {0, 1}) {
      for (const double v : wide[i]) wide[i + 2].push_back(std::fabs(v));
    }
    const std::vector<double> exact = test::convolve(c.pass, p, wide[0], wide[1]);
    const std::vector<double> sizes = test::convolve(c.pass, p, wide[2], wide[3]);
    const Bits got = test::run(device_, c, dy, x);
    ASSERT_EQ(got, test::run(device_, c, dy, x));
    const std::int64_t places = p.y_elements() / p.k;
    const auto terms = static_cast<double>(places);
    const double gamma = terms * 0x1p-24 / (1 - terms * 0x1p-24);
    const double unit = p.x_type == Dtype::float16 ? 0x1p-11 : p.x_type == Dtype::bfloat16 ? 0x1p-8 : 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double bound = gamma * sizes[i];
      const double most = bound + unit * (std::fabs(exact[i]) + bound) + (unit == 0 ? 0 : 0x1p-25);
      ASSERT_TRUE(std::fabs(test::value_of(p.x_type, got[i]) - exact[i]) <= most) << test::text_of(c.pass, p);
    }
  }
}

// One NaN and two infinities in what is gathered: exactly the sums that hold them, also where strips and maps end.
TEST_P(DepthwiseTest, SpecialValues) {
  for (int turn = 0; turn < drawn(60, 12); ++turn) {
    ConvCase c = random_case(kPasses[turn % 3]);
    c.p.n = 1, c.p.in[0] = 1;
    const ConvProblem& p = c.p;
    const bool update = c.pass == ConvPass::update;
    const std::int64_t of_in1 = c.pass == ConvPass::fprop ? p.x_elements() : p.y_elements();
    std::vector<double> in1(static_cast<std::size_t>(of_in1), 1.0);
    std::vector<double> in2(static_cast<std::size_t>(update ? p.x_elements() : p.w_elements()), 2.0);
    std::vector<double>& gathered = update ? in2 : in1;
    const auto any = [&] { return static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(gathered.size()) - 1)); };
    gathered[any()] = std::numeric_limits<double>::quiet_NaN();
    gathered[any()] = HUGE_VAL;
    gathered[any()] = -HUGE_VAL;
    const auto bits = [&](const std::vector<double>& v) {
      Bits out(v.size());
      for (std::size_t i = 0; i < v.size(); ++i) out[i] = test::bits_of(p.x_type, v[i]);
      return out;
    };
    const std::vector<double> wanted = test::convolve(c.pass, p, in1, in2);
    const std::vector<double> got = values(test::run(device_, c, bits(in1), bits(in2)), p.x_type);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(wanted[i])) {
        ASSERT_TRUE(std::isnan(got[i])) << test::text_of(c.pass, p) << ", element " << i;
      } else {
        ASSERT_EQ(got[i], wanted[i]) << test::text_of(c.pass, p) << ", element " << i;
      }
    }
  }
}

}  // namespace
}  // namespace nervanagpu
