// max whose gradient comes from the positions of the maxima: the bits of the gradient from x (which pool_test.cpp compares with its
// definition), the positions themselves, and relu's gradient folded in, on the emulators of all families.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/pool/argmax.h"
#include "kernels/pool/indices.h"
#include "kernels/pool/pool.h"
#include "nervanagpu/error.hpp"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/kernels/pool/model.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

using pool_detail::Forced;
using pool_detail::Pass;
using Bits = std::vector<std::uint32_t>;

class MaxPool : public test::OnEachDevice {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  PoolProblem draw(std::int64_t i) {
    for (;;) {
      PoolProblem p = test::random_pool(random_, checked() ? 1500 : 4000);
      p.op = PoolOp::max;
      p.window[0] = p.stride[0] = 1;
      p.pad[0] = 0;
      if (i % 2 == 0) {  // the windows of networks
        const std::int64_t side = i % 6 == 0 ? 2 : 3;
        p.window = {1, 1, side, side};
        p.pad = {0, 0, pick(0, side - 1), pick(0, side - 1)};
        const std::int64_t stride = side == 2 ? 2 : 1 + i / 2 % 2;
        p.stride = {1, 1, stride, stride};
        for (std::size_t a = 2; a < 4; ++a) p.in[a] = std::max(p.in[a], side);
      }
      if (i % 3 != 0) {  // vectors
        if (p.layout == Layout::channels_last) p.in[0] = pick(1, 2) * 8;
        if (p.layout == Layout::batch_last) p.n = 8;
      }
      const bool fits = test::x_elements(p) <= 8000 && test::y_elements(p) <= 8000;
      if (fits && pool_detail::positions(p) <= 255) return p;
    }
  }

  // Small integers with many ties, or now and then NaN, infinities, zeros of both signs, subnormals; or hardly anything but those
  // below all others.
  Bits make(Dtype dtype, std::int64_t count, std::int64_t kind) {
    Bits out(static_cast<std::size_t>(count));
    for (std::uint32_t& bits : out) {
      bits = test::bits_of(dtype, static_cast<double>(pick(-3, 3)));
      if (kind == 1 && pick(0, 2) == 0) bits = test::random_bits(random_, dtype);
      if (kind == 2 && pick(0, 5) != 0) bits = test::bits_of(dtype, -INFINITY);
      if (kind == 3 && pick(0, 5) != 0) bits = test::bits_of(dtype, pick(0, 1) == 0 ? -0.0 : 0.0);
    }
    return out;
  }
  static std::vector<float> floats(Dtype dtype, const Bits& bits) {
    std::vector<float> out;
    for (const std::uint32_t b : bits) out.push_back(static_cast<float>(test::value_of(dtype, b)));
    return out;
  }
  static Tensor on_device(const Bits& bits, Dtype dtype) {
    return test::from_bits(bits, {static_cast<std::int64_t>(bits.size())}, dtype);
  }

  // Codes with bytes around them that must stay.
  struct Codes {
    static constexpr std::int64_t kGuard = 32;
    explicit Codes(const PoolProblem& p)
        : bytes(pool_argmax_bytes(p)), all(Tensor::full({bytes + 2 * kGuard}, 0xa5, Dtype::uint8)) {}
    [[nodiscard]] std::uint64_t address() const { return all.address() + kGuard; }
    [[nodiscard]] std::vector<std::uint8_t> get() const {
      const auto host = all.to_host<std::uint8_t>();
      for (std::size_t i = 0; i < host.size(); ++i) {
        const bool guard = i < kGuard || i >= host.size() - kGuard;
        EXPECT_TRUE(!guard || host[i] == 0xa5) << "written outside, at " << i;
      }
      return {host.begin() + kGuard, host.end() - kGuard};
    }
    std::int64_t bytes;
    Tensor all;
  };

  // The definition: of each window the first largest, NaN the largest, in (t, r, s) order; all ones where relu's gradient is 0.
  // elements: where that is in its plane of x.
  static std::vector<std::uint32_t> positions_of(const PoolProblem& p, const std::vector<float>& x, bool relu,
                                                 std::vector<std::int64_t>* elements = nullptr) {
    if (elements != nullptr) elements->resize(static_cast<std::size_t>(test::y_elements(p)));
    const auto out = p.out();
    const auto offset = [&](const std::array<std::int64_t, 4>& lengths, std::int64_t n, std::int64_t c, std::int64_t d,
                            std::int64_t h, std::int64_t w) {
      const std::int64_t space = (d * lengths[2] + h) * lengths[3] + w;
      const std::int64_t spaces = lengths[1] * lengths[2] * lengths[3];
      switch (p.layout) {
        case Layout::channels_last: return static_cast<std::size_t>((n * spaces + space) * lengths[0] + c);
        case Layout::batch_last: return static_cast<std::size_t>((c * spaces + space) * p.n + n);
        case Layout::channels_first: break;
      }
      return static_cast<std::size_t>((n * lengths[0] + c) * spaces + space);
    };
    const std::uint32_t none = (1U << pool_detail::argmax_form(p).bits) - 1;
    std::vector<std::uint32_t> found(static_cast<std::size_t>(test::y_elements(p)));
    for (std::int64_t i = 0; i < test::y_elements(p); ++i) {
      std::int64_t rest = i;
      const auto next = [&rest](std::int64_t length) {
        const std::int64_t index = rest % length;
        rest /= length;
        return index;
      };
      const std::int64_t w = next(out[3]), h = next(out[2]), d = next(out[1]), c = next(out[0]), n = next(p.n);
      bool any = false;
      float best = 0;
      std::uint32_t place = none;
      for (std::int64_t k = 0; k < pool_detail::positions(p); ++k) {
        const std::int64_t s = w * p.stride[3] - p.pad[3] + k % p.window[3];
        const std::int64_t r = h * p.stride[2] - p.pad[2] + k / p.window[3] % p.window[2];
        const std::int64_t t = d * p.stride[1] - p.pad[1] + k / p.window[3] / p.window[2];
        if (t < 0 || t >= p.in[1] || r < 0 || r >= p.in[2] || s < 0 || s >= p.in[3]) continue;
        const float v = x[offset(p.in, n, c, t, r, s)];
        if (any && !(v > best) && (std::isnan(best) || !std::isnan(v))) continue;
        any = true;
        best = v;
        place = static_cast<std::uint32_t>(k);
        if (elements != nullptr) (*elements)[offset(out, n, c, d, h, w)] = (t * p.in[2] + r) * p.in[3] + s;
      }
      found[offset(out, n, c, d, h, w)] = relu && !(best > 0) ? none : place;
    }
    return found;
  }
  static std::vector<std::uint32_t> decoded(const PoolProblem& p, const std::vector<std::uint8_t>& codes) {
    std::vector<std::uint32_t> out;
    for (std::int64_t i = 0; i < test::y_elements(p); ++i) {
      const auto at = static_cast<std::size_t>(i);
      out.push_back(pool_detail::argmax_form(p).bits == 8 ? codes[at] : codes[at / 2] >> at % 2 * 4 & 15U);
    }
    return out;
  }
};

NG_ON_EACH_DEVICE(MaxPool);

TEST_P(MaxPool, TheBitsOfTheGradientFromX) {
  const int count = checked() ? 48 : 240;
  int words = 0;
  for (int i = 0; i < count; ++i) {
    const PoolProblem p = draw(i);
    words += pool_detail::argmax_form(p).bits == 4 ? 1 : 0;
    PoolOptions options;
    const float scales[] = {1.0F, 1.0F, 0.5F, -2.0F};
    options.alpha = scales[pick(0, 3)];
    options.beta = pick(0, 1) == 0 ? 0.0F : scales[pick(0, 3)];
    if (pick(0, 2) == 0)
      options.rounding = {true, 7, static_cast<std::uint64_t>(pick(0, 99)), static_cast<int>(pick(1, 7))};
    const std::int64_t kind = i / 2 % 4;
    const Bits x = make(p.dtype, test::x_elements(p), kind);
    const Bits dy = make(p.dtype, test::y_elements(p), kind == 1 ? 1 : 0);
    const Bits old_y = make(p.dtype, test::y_elements(p), 0);
    const Bits old_dx = make(p.dtype, test::x_elements(p), 0);
    const Tensor tx = on_device(x, p.dtype), tdy = on_device(dy, p.dtype);
    const Tensor y = on_device(old_y, p.dtype), want_y = on_device(old_y, p.dtype);
    const Tensor dx = on_device(old_dx, p.dtype), want_dx = on_device(old_dx, p.dtype);
    const Codes codes(p);
    // Now and then in parts, or by the kernel for all windows.
    Forced forced;
    if (i % 5 == 3) forced.begin = i % 2 == 0 ? "pool_gather" : "";
    const std::int64_t most = std::max(test::x_elements(p), test::y_elements(p)) / 2 + 1;
    const std::int64_t outer = p.layout == Layout::batch_last ? p.in[0] : p.n;
    if (i % 4 == 1 && outer % 2 == 0 && !options.rounding.stochastic) forced.most_elements = most;
    const std::string what = test::text_of(p) + ", alpha " + std::to_string(options.alpha) + ", beta " +
                             std::to_string(options.beta) + (options.rounding.stochastic ? ", at random" : "");
    Forced forward = forced;
    forward.begin = "";
    pool_detail::queue(device_, Pass::fprop, p, {tx.address(), 0, want_y.address(), 0}, options);
    pool_detail::queue(device_, Pass::fprop, p, {tx.address(), 0, y.address(), codes.address()}, options, forward);
    pool_detail::queue(device_, Pass::bprop, p, {tx.address(), tdy.address(), want_dx.address(), 0}, options);
    pool_detail::queue(device_, Pass::bprop, p, {0, tdy.address(), dx.address(), codes.address()}, options, forced);
    ASSERT_EQ(test::read_bits(y), test::read_bits(want_y)) << what;
    ASSERT_EQ(decoded(p, codes.get()), positions_of(p, floats(p.dtype, x), false)) << what;
    ASSERT_EQ(test::read_bits(dx), test::read_bits(want_dx)) << what;
  }
  EXPECT_GT(words, count / 4);
  EXPECT_LT(words, count);
}

// The gradient in front of a relu: what the model gives, but 0 where x is not above 0.
TEST_P(MaxPool, TakesReluAlong) {
  PoolOptions relu;
  relu.relu = true;
  for (int i = 0; i < drawn(120, 24); ++i) {
    const PoolProblem p = draw(i);
    const Bits x = make(p.dtype, test::x_elements(p), i / 2 % 4);
    const Bits dy = make(p.dtype, test::y_elements(p), 0);
    const Tensor tx = on_device(x, p.dtype), tdy = on_device(dy, p.dtype);
    const Tensor y = on_device(dy, p.dtype), dx = on_device(x, p.dtype);
    const Codes codes(p);
    max_pool_fprop(p, tx.address(), y.address(), codes.address(), relu);
    max_pool_bprop(p, tdy.address(), codes.address(), dx.address());
    const std::vector<float> values = floats(p.dtype, x);
    ASSERT_EQ(decoded(p, codes.get()), positions_of(p, values, true)) << test::text_of(p);
    std::vector<float> want = test::pool_bits(test::PoolPass::bprop, p, values, floats(p.dtype, dy));
    const Bits got = test::read_bits(dx);
    for (std::size_t k = 0; k < want.size(); ++k) {
      const float v = values[k] > 0 ? want[k] : 0.0F;
      ASSERT_EQ(got[k], test::bits_of(p.dtype, v)) << test::text_of(p) << ": element " << k;
    }
  }
}

TEST_P(MaxPool, SaysWhichElements) {
  constexpr std::int64_t kGuard = 4;
  for (int i = 0; i < drawn(240, 48); ++i) {
    const PoolProblem p = draw(i);
    const Bits x = make(p.dtype, test::x_elements(p), i / 2 % 4);
    const Tensor tx = on_device(x, p.dtype),
                 y = on_device(Bits(static_cast<std::size_t>(test::y_elements(p))), p.dtype);
    const Codes codes(p);
    const std::int64_t count = test::y_elements(p);
    const Tensor all = Tensor::full({count + 2 * kGuard}, -7, Dtype::int64);
    const std::uint64_t at = all.address() + kGuard * sizeof(std::int64_t);
    max_pool_fprop(p, tx.address(), y.address(), codes.address());
    if (i % 4 == 1) {  // in parts
      const std::int64_t outer = p.layout == Layout::channels_first ? p.n * p.in[0]
                                 : p.layout == Layout::batch_last   ? p.in[0]
                                                                    : p.n;
      const std::int64_t plane = count / outer / (8 / pool_detail::argmax_form(p).bits);
      pool_detail::queue_indices(device_, p, codes.address(), at, 0, plane * pick(1, outer));
    } else {
      max_pool_indices(p, codes.address(), at);
    }
    std::vector<std::int64_t> want;
    static_cast<void>(positions_of(p, floats(p.dtype, x), false, &want));
    want.insert(want.begin(), kGuard, -7);
    want.insert(want.end(), kGuard, -7);
    ASSERT_EQ(all.to_host<std::int64_t>(), want) << test::text_of(p);
  }
}

TEST_P(MaxPool, TakesTheKernelsOfNetworks) {
  struct Want {
    std::int64_t side, stride;
    const char *fprop, *bprop;
  };
  const Want wants[] = {
      {2, 2, "pool_fprop_argmax_f16_2_0_8", "pool_blocks_argmax_f16_2_0_2_nearest_8"},
      {3, 1, "pool_columns_argmax_f16_3_0_1_nearest_8", "pool_blocks_argmax_f16_3_0_1_nearest_8"},
      {3, 2, "pool_columns_argmax_f16_3_0_2_nearest_8", "pool_blocks_argmax_f16_3_0_2_nearest_8"},
      {3, 3, "pool_fprop_argmax_f16_3_0_8", "pool_gather_argmax_f16_0_0_8"},
      {5, 2, "pool_fprop_argmax_f16_0_0_1", "pool_gather_argmax_f16_0_0_1"},
  };
  for (const Want& w : wants) {
    PoolProblem p{PoolOp::max,  Layout::channels_last,      4,     {8, 1, 9, 10}, {1, 1, w.side, w.side},
                  {0, 0, 1, 1}, {1, 1, w.stride, w.stride}, false, Dtype::float16};
    const auto names = [&](Pass pass) {
      return pool_detail::kernels_for(device_.registry(), pass, p, {256, 512, 1024, 2048}, {});
    };
    EXPECT_EQ(names(Pass::fprop), std::vector<std::string>{w.fprop});
    EXPECT_EQ(names(Pass::bprop), std::vector<std::string>{w.bprop});
  }
}

TEST_P(MaxPool, Refuses) {
  PoolProblem p{PoolOp::max, Layout::channels_last, 2,     {8, 1, 4, 4},  {1, 1, 2, 2},
                {},          {1, 1, 2, 2},          false, Dtype::float16};
  EXPECT_EQ(pool_argmax_bytes(p), 2 * 8 * 4 / 2);
  PoolOptions relu;
  relu.relu = true;
  const auto refuse = [&](const PoolProblem& q, const std::string& text) {
    expect_error<InvalidArgument>([&] { static_cast<void>(pool_argmax_bytes(q)); }, text);
    expect_error<InvalidArgument>([&] { max_pool_fprop(q, 256, 512, 1024); }, text);
    expect_error<InvalidArgument>([&] { max_pool_bprop(q, 256, 512, 1024); }, text);
    expect_error<InvalidArgument>([&] { max_pool_indices(q, 256, 512); }, text);
  };
  PoolProblem mean = p, maps = p, large = p;
  mean.op = PoolOp::avg;
  refuse(mean, "pool: argmax is given; needs op max");
  maps.window[0] = 2;
  refuse(maps, "pool: argmax is given with a window of 2 feature maps and a stride of 1; needs 1 and 1");
  large.window = {1, 1, 16, 16};
  large.in = {8, 1, 16, 16};
  refuse(large, "pool: argmax is given with a window of 256 positions; needs at most 255");
  expect_error<InvalidArgument>([&] { max_pool_fprop(p, 256, 512, 0); }, "pool: argmax is 0; needs a device address");
  expect_error<InvalidArgument>([&] { max_pool_fprop(p, 258, 512, 1024); },
                                "pool: address of x is 258; needs a multiple of 16");
  expect_error<InvalidArgument>([&] { max_pool_bprop(p, 256, 514, 1024); },
                                "pool: address of argmax is 514; needs a multiple of 4");
  expect_error<InvalidArgument>([&] { max_pool_indices(p, 0, 512); }, "pool: argmax is 0; needs a device address");
  expect_error<InvalidArgument>([&] { max_pool_indices(p, 256, 0); }, "pool: indices is 0; needs a device address");
  expect_error<InvalidArgument>([&] { max_pool_indices(p, 256, 520); },
                                "pool: address of indices is 520; needs a multiple of 16");
  expect_error<InvalidArgument>([&] { pool_fprop(p, 256, 512, relu); },
                                "pool: relu is given without argmax; needs max_pool_fprop");
  const Tensor x = Tensor::zeros({2, 4, 4, 8}, Dtype::float16);
  Tensor y = Tensor::zeros({2, 2, 2, 8}, Dtype::float16), dx = Tensor::zeros(x.shape(), Dtype::float16);
  Tensor few = Tensor::full({31}, 7, Dtype::uint8), wide = Tensor::zeros({32}, Dtype::int32);
  expect_error<InvalidArgument>([&] { max_pool_fprop(p, x, y, few); }, "pool: argmax has shape (31,); needs (32,)");
  expect_error<InvalidArgument>([&] { max_pool_bprop(p, y, few, dx); }, "pool: argmax has shape (31,); needs (32,)");
  expect_error<TypeError>([&] { max_pool_fprop(p, x, y, wide); }, "pool: argmax has dtype int32; needs uint8");
  EXPECT_EQ(few.to_host<std::uint8_t>(), std::vector<std::uint8_t>(31, 7));
  const Tensor codes = Tensor::zeros({32}, Dtype::uint8);
  Tensor indices = Tensor::zeros({63}, Dtype::int64), narrow = Tensor::zeros({64}, Dtype::int32);
  expect_error<InvalidArgument>([&] { max_pool_indices(p, few, indices); },
                                "pool: argmax is uint8 (31,); needs contiguous uint8 (32,)");
  expect_error<InvalidArgument>([&] { max_pool_indices(p, codes, indices); },
                                "pool: indices is int64 (63,); needs contiguous int64, 64 of them");
  expect_error<InvalidArgument>([&] { max_pool_indices(p, codes, narrow); },
                                "pool: indices is int32 (64,); needs contiguous int64, 64 of them");
}

}  // namespace
}  // namespace nervanagpu
