// x and dx that are channels of wider tensors: the bits of poolings of copies, and nothing beside them is written.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "kernels/pool/argmax.h"
#include "kernels/pool/pool.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/kernels/pool/model.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

using pool_detail::Forced;
using pool_detail::Pass;
using Bits = std::vector<std::uint32_t>;

class PoolSlices : public test::OnEachDevice {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  Tensor numbers(const Shape& shape, Dtype dtype) {
    std::int64_t count = 1;
    for (const std::int64_t length : shape) count *= length;
    Bits bits(static_cast<std::size_t>(count));
    for (std::uint32_t& b : bits) {
      b = pick(0, 15) == 0 ? test::random_bits(random_, dtype)
                           : test::bits_of(dtype, static_cast<double>(pick(-5, 5)) / 2);
    }
    return test::from_bits(bits, shape, dtype);
  }

  // With channels last; every third has the windows of networks, so that every kernel has its turn.
  PoolProblem draw(int turn) {
    for (;;) {
      PoolProblem p = test::random_pool(random_, checked() ? 1000 : 3000);
      p.layout = Layout::channels_last;
      if (turn % 3 == 0) {
        p.op = PoolOp::max;
        const std::int64_t side = turn % 2 == 0 ? 2 : 3;
        p.window = {1, 1, side, side};
        p.pad = {0, 0, pick(0, side - 1), pick(0, side - 1)};
        const std::int64_t stride = side == 2 ? 2 : 1 + turn / 3 % 2;
        p.stride = {1, 1, stride, stride};
        for (std::size_t a = 2; a < 4; ++a) p.in[a] = std::max(p.in[a], side);
        if (turn % 4 != 0) p.in[0] = 8 * pick(1, 3);
      }
      if (test::x_elements(p) <= 6000 && test::y_elements(p) <= 6000) return p;
    }
  }

  // A tensor of the shape of x that lies at `at` of pixels of `pitch` elements.
  struct Slice {
    Slice(Tensor whole, std::int64_t at, std::int64_t channels)
        : wide(std::move(whole)), before(wide.copy()), view(wide.slice(-1, at, at + channels)), first(at) {}
    void expect_only() const {
      const Bits now = test::read_bits(wide), then = test::read_bits(before);
      const std::int64_t pitch = wide.shape().back(), count = view.shape().back();
      for (std::size_t i = 0; i < now.size(); ++i) {
        const std::int64_t channel = static_cast<std::int64_t>(i) % pitch;
        if (channel >= first && channel < first + count) continue;
        ASSERT_EQ(now[i], then[i]) << "element " << i << " beside the slice";
      }
    }
    Tensor wide, before, view;
    std::int64_t first;
  };
};
NG_ON_EACH_DEVICE(PoolSlices);

TEST_P(PoolSlices, BitsAreThoseOfCopies) {
  int with_codes = 0;
  for (int turn = 0; turn < drawn(240, 60) && !HasFailure(); ++turn) {
    const PoolProblem p = draw(turn);
    const bool aligned = turn % 5 != 4;
    const std::int64_t unit = aligned ? 8 : 1;
    const std::int64_t at = unit * pick(0, 3);
    const std::int64_t pitch = (at + p.in[0] + pick(1, 20) + unit - 1) / unit * unit;
    SCOPED_TRACE(test::text_of(p) + ", at " + std::to_string(at) + " of " + std::to_string(pitch));
    const auto out = p.out();
    const Shape wide = {p.n, p.in[1], p.in[2], p.in[3], pitch}, of_y = {p.n, out[1], out[2], out[3], out[0]};
    const Slice x(numbers(wide, p.dtype), at, p.in[0]);
    PoolOptions options;
    options.alpha = pick(0, 1) == 0 ? 1.0F : -2.0F;
    options.beta = pick(0, 1) == 0 ? 0.0F : 0.5F;
    Tensor y = numbers(of_y, p.dtype), same_y = y.copy();
    pool_fprop(p, x.view, y, options);
    pool_fprop(p, x.view.copy(), same_y, options);
    EXPECT_EQ(test::read_bits(y), test::read_bits(same_y));

    Slice dx(numbers(wide, p.dtype), at, p.in[0]);
    const Tensor dy = numbers(of_y, p.dtype);
    Tensor same_dx = dx.view.copy();
    pool_bprop(p, dy, x.view, dx.view, options);
    pool_bprop(p, dy, x.view.copy(), same_dx, options);
    EXPECT_EQ(test::read_bits(dx.view.copy()), test::read_bits(same_dx));
    dx.expect_only();

    const bool codes = p.op == PoolOp::max && p.window[0] == 1 && p.stride[0] == 1 && pool_detail::positions(p) <= 255;
    const std::int64_t vector = codes ? pool_detail::argmax_form(p).elements : 1;
    if (!codes || at % vector != 0 || pitch % vector != 0) continue;
    ++with_codes;
    const std::int64_t bytes = pool_argmax_bytes(p);
    Tensor places = Tensor::full({bytes}, 0xa5, Dtype::uint8), same_places = places.copy();
    options.relu = pick(0, 1) == 0;
    max_pool_fprop(p, x.view, y, places, options);
    max_pool_fprop(p, x.view.copy(), same_y, same_places, options);
    EXPECT_EQ(test::read_bits(y), test::read_bits(same_y));
    EXPECT_EQ(test::read_bits(places), test::read_bits(same_places));
    max_pool_bprop(p, dy, places, dx.view, options);
    max_pool_bprop(p, dy, places, same_dx, options);
    EXPECT_EQ(test::read_bits(dx.view.copy()), test::read_bits(same_dx));
    dx.expect_only();
  }
  EXPECT_GT(with_codes, drawn(40, 10));
}

// On addresses, by every kernel that may be taken, and in parts.
TEST_P(PoolSlices, KernelsAndPartsAgree) {
  std::set<std::string> families;
  for (int turn = 0; turn < drawn(160, 40) && !HasFailure(); ++turn) {
    PoolProblem p = draw(turn);
    p.x_pitch = p.in[0] + 8 * pick(1, 2);
    SCOPED_TRACE(test::text_of(p) + ", pitch " + std::to_string(p.x_pitch));
    const auto out = p.out();
    const Shape wide = {p.n, p.in[1], p.in[2], p.in[3], p.x_pitch}, of_y = {p.n, out[1], out[2], out[3], out[0]};
    const Tensor x = numbers(wide, p.dtype), dy = numbers(of_y, p.dtype);
    const Pass pass = turn / 6 % 2 == 0 ? Pass::fprop : Pass::bprop;
    const auto run = [&](const Forced& forced) {
      const Tensor result = Tensor::full(pass == Pass::fprop ? of_y : wide, 3, p.dtype);
      pool_detail::queue(device_, pass, p, {x.address(), dy.address(), result.address()}, {}, forced);
      return test::read_bits(result);
    };
    const Bits whole = run({});
    EXPECT_EQ(run({"", "_1"}), whole);
    EXPECT_EQ(run({pass == Pass::fprop ? "pool_fprop_" : "pool_gather_", ""}), whole);
    const std::int64_t x_all = p.n * p.x_pitch * p.in[1] * p.in[2] * p.in[3];
    if (p.n > 1) {
      EXPECT_EQ(run({"", "", std::max(x_all, test::y_elements(p)) / p.n}), whole);
    }
    for (const std::string& name :
         pool_detail::kernels_for(device_.registry(), pass, p, {256, 256, 256}, PoolOptions{})) {
      families.insert(name.substr(0, name.find('_', 5)));
    }
  }
  EXPECT_EQ(families,
            (std::set<std::string>{"pool_cells", "pool_columns", "pool_fprop", "pool_gather", "pool_strips"}));
}

TEST_P(PoolSlices, PlansKnowThePitch) {
  PoolProblem p;
  p.dtype = Dtype::float16, p.n = 2, p.in = {16, 1, 6, 7}, p.window = {1, 1, 3, 3}, p.pad = {0, 0, 1, 1};
  const Slice x(numbers({2, 6, 7, 40}, p.dtype), 8, 16);
  Slice dx(numbers({2, 6, 7, 24}, p.dtype), 0, 16);
  Tensor y = numbers({2, 6, 7, 16}, p.dtype), same_y = y.copy(), same_dx = dx.view.copy();
  Tensor codes = Tensor::zeros({pool_argmax_bytes(p)}, Dtype::uint8), same_codes = codes.copy();
  const PoolPlan plan(PoolPass::fprop, p, x.view, y, {nullptr, &codes, 0});
  plan.launch(x.view, y, {nullptr, &codes, 0});
  max_pool_fprop(p, x.view.copy(), same_y, same_codes);
  EXPECT_EQ(test::read_bits(y), test::read_bits(same_y));
  EXPECT_EQ(test::read_bits(codes), test::read_bits(same_codes));
  const PoolPlan back(PoolPass::bprop, p, y, dx.view, {nullptr, &codes, 0});
  back.launch(y, dx.view, {nullptr, &codes, 0});
  max_pool_bprop(p, y, codes, same_dx);
  EXPECT_EQ(test::read_bits(dx.view.copy()), test::read_bits(same_dx));
  dx.expect_only();
  EXPECT_EQ(plan.problem().x_pitch, 40);
  expect_error<InvalidArgument>(
      [&] {
        plan.launch(x.view.copy(), y, {nullptr, &codes, 0});
      },
      "pool plan: x has shape (2, 6, 7, 16) and strides (672, 112, 16, 1); needs (2, 6, 7, 16) and "
      "(1680, 280, 40, 1), as planned");
}

TEST_P(PoolSlices, WhatIsRefused) {
  PoolProblem p;
  p.n = 2, p.in = {4, 1, 4, 4}, p.window = {1, 1, 2, 2}, p.stride = {1, 1, 2, 2};
  const Tensor wide = Tensor::ones({2, 4, 4, 8});
  const Tensor x = wide.slice(3, 4, 8);
  Tensor y = Tensor::full({2, 2, 2, 4}, 7), dx = wide.slice(3, 0, 4);
  Tensor wide_y = Tensor::full({2, 2, 2, 8}, 7), part_y = wide_y.slice(3, 0, 4);
  Tensor codes = Tensor::empty({pool_argmax_bytes(p)}, Dtype::uint8);
  pool_bprop(p, y, x, dx);  // neighbours in one tensor
  const auto refused = [&](const auto& f, const std::string& text) {
    expect_error<InvalidArgument>(f, "pool: " + text);
  };
  refused([&] { pool_fprop(p, x, part_y); }, "y has strides (32, 16, 8, 1); needs contiguous memory (copy() makes it)");
  refused([&] { pool_bprop(p, part_y, x, dx); },
          "dy has strides (32, 16, 8, 1); needs contiguous memory (copy() makes it)");
  refused(
      [&] {
        pool_fprop(p, Tensor::ones({2, 4, 4, 8}).transpose({0, 2, 1, 3}).slice(3, 0, 4), y);
      },
      "x has strides (128, 8, 32, 1); needs contiguous memory (copy() makes it), or a slice of the last axis of such");
  Tensor dense = Tensor::full({2, 4, 4, 4}, 7);
  refused([&] { pool_bprop(p, y, x, dense); }, "x has strides (128, 32, 8, 1); needs those of dx, (64, 16, 4, 1)");
  Tensor shifted = wide.slice(3, 3, 7);
  refused([&] { pool_bprop(p, y, x, shifted); }, "dx shares memory with x; needs memory of its own");
  refused([&] { max_pool_bprop(p, y, codes, shifted); },
          "address of dx is " + std::to_string(shifted.address()) + "; needs a multiple of 16");
  PoolOptions random;
  random.rounding.stochastic = true;
  pool_fprop(p, x, y, random);
  refused([&] { pool_bprop(p, y, x, dx, random); },
          "dx is rounded at random and a slice of a wider tensor; needs contiguous memory");
  const auto with = [&](std::int64_t pitch) {
    PoolProblem changed = p;
    changed.x_pitch = pitch;
    return changed;
  };
  refused([&] { pool_fprop(with(3), x, y); }, "x_pitch is 3; needs 0, or the channels, 4, or more and less than 2^31");
  refused([&] { pool_fprop(with(12), x, y); },
          "x has strides (128, 32, 8, 1); needs 12 elements from pixel to pixel, as the problem says");
  refused([&] { max_pool_fprop(with(6), x.address(), y.address(), codes.address()); },
          "x_pitch is 6 and argmax has 4 bits a window; needs a multiple of 4");
  PoolProblem last = with(8);
  last.layout = Layout::batch_last;
  refused([&] { pool_fprop(last, x.address(), y.address()); },
          "x_pitch is 8; needs 0, since only channels_last has pixels");
}

}  // namespace
}  // namespace nervanagpu
