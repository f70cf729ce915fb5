// Pooling of tensors, and the calls that are refused: one clear error, and nothing is written.
#include <gtest/gtest.h>

#include "kernels/pool/pool.h"
#include "nervanagpu/error.hpp"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class PoolRefuses : public test::OnEmulator {
 protected:
  PoolProblem right = [] {
    PoolProblem p;
    p.n = 2;
    p.in = {3, 1, 4, 4};
    p.window = {1, 1, 2, 2};
    p.stride = {1, 1, 2, 2};
    return p;
  }();
  Tensor x = Tensor::ones({2, 4, 4, 3});
  Tensor y = Tensor::full({2, 2, 2, 3}, 7);
  Tensor dx = Tensor::full({2, 4, 4, 3}, 7);

  void refuse(const PoolProblem& p, const std::string& text, const PoolOptions& options = {}) {
    expect_error<InvalidArgument>([&] { pool_fprop(p, x, y, options); }, "pool: " + text);
    expect_error<InvalidArgument>([&] { pool_bprop(p, y, x, dx, options); }, "pool: " + text);
    expect_error<InvalidArgument>([&] { pool_fprop(p, x.address(), y.address(), options); }, "pool: " + text);
    expect_error<InvalidArgument>([&] { pool_bprop(p, y.address(), x.address(), dx.address(), options); },
                                  "pool: " + text);
  }
  ~PoolRefuses() override {
    EXPECT_EQ(y.to_host<float>(), std::vector<float>(24, 7));
    EXPECT_EQ(dx.to_host<float>(), std::vector<float>(96, 7));
  }
};

TEST_F(PoolRefuses, Numbers) {
  const auto with = [&](auto change) {
    PoolProblem p = right;
    change(p);
    return p;
  };
  refuse(with([](PoolProblem& p) { p.n = 0; }), "n (batch) is 0; needs 1 or more and less than 2^31");
  refuse(with([](PoolProblem& p) { p.in[0] = 0; }),
         "input length (feature maps) is 0; needs 1 or more and less than 2^31");
  refuse(with([](PoolProblem& p) { p.in[3] = std::int64_t{1} << 31; }),
         "input length (width) is 2147483648; needs 1 or more and less than 2^31");
  refuse(with([](PoolProblem& p) { p.window[1] = 0; }), "window (depth) is 0; needs 1 or more and less than 2^31");
  refuse(with([](PoolProblem& p) { p.stride[2] = -1; }), "stride (height) is -1; needs 1 or more and less than 2^31");
  refuse(with([](PoolProblem& p) { p.pad[2] = 2; }),
         "padding (height) is 2; needs 0 or more and less than the window, 2, so that each window holds an element");
  refuse(with([](PoolProblem& p) { p.pad[0] = -1; }),
         "padding (feature maps) is -1; needs 0 or more and less than the window, 1, so that each window holds an "
         "element");
  refuse(with([](PoolProblem& p) { p.window[3] = 5; }),
         "the output is empty (width): input length 4 + 2 * padding 0 is less than the window, 5");
  refuse(with([](PoolProblem& p) {
           p.in = {1, 1, 1 << 14, 1 << 14};
           p.window = {1, 1, 1 << 12, 1 << 12};
         }),
         "window (feature maps * depth * height * width) is 16777216; needs less than 2^24 positions");
  PoolOptions options;
  options.rounding.stochastic = true;
  options.rounding.bits = 16;
  refuse(right, "rounding bits is 16; needs 1 to 15 for float32, or 0 for the most", options);
}

TEST_F(PoolRefuses, Tensors) {
  Tensor other = Tensor::empty({2, 2, 2, 4});
  expect_error<InvalidArgument>([&] { pool_fprop(right, x, other); },
                                "pool: y has shape (2, 2, 2, 4); needs (2, 2, 2, 3)");
  expect_error<InvalidArgument>([&] { pool_bprop(right, other, x, dx); },
                                "pool: dy has shape (2, 2, 2, 4); needs (2, 2, 2, 3)");
  expect_error<InvalidArgument>([&] { pool_bprop(right, y, x, x); },
                                "pool: dx shares memory with x; needs memory of its own");
  Tensor both = Tensor::empty({2 * 48 + 24});
  Tensor low = both.slice(0, 0, 96).reshape({2, 4, 4, 3});
  Tensor high = both.slice(0, 95, 119).reshape({2, 2, 2, 3});
  expect_error<InvalidArgument>([&] { pool_fprop(right, low, high); },
                                "pool: y shares memory with x; needs memory of its own");
  const Tensor turned = Tensor::empty({4, 2, 4, 3}).transpose({1, 0, 2, 3});
  expect_error<InvalidArgument>([&] { pool_fprop(right, turned, y); },
                                "pool: x has strides (12, 24, 3, 1); needs contiguous memory (copy() makes it), or a "
                                "slice of the last axis of such");
  Tensor half = Tensor::empty({2, 2, 2, 3}, Dtype::float16);
  expect_error<TypeError>([&] { pool_fprop(right, x, half); }, "pool: y has dtype float16; needs float32");
  PoolProblem integer = right;
  integer.dtype = Dtype::int32;
  expect_error<TypeError>([&] { pool_fprop(integer, x, y); },
                          "pool: dtype is int32; needs float32, float16 or bfloat16");
}

TEST_F(PoolRefuses, Addresses) {
  expect_error<InvalidArgument>([&] { pool_fprop(right, 0, y.address()); }, "pool: x is 0; needs a device address");
  expect_error<InvalidArgument>([&] { pool_fprop(right, x.address(), 0); }, "pool: y is 0; needs a device address");
  expect_error<InvalidArgument>([&] { pool_bprop(right, 0, x.address(), dx.address()); },
                                "pool: dy is 0; needs a device address");
  expect_error<InvalidArgument>([&] { pool_fprop(right, 258, y.address()); },
                                "pool: address of x is 258; needs a multiple of 4");
}

// More than one launch can count: cut into parts, or refused where that is not possible.
TEST_F(PoolRefuses, Sizes) {
  using pool_detail::kernels_for;
  using pool_detail::Pass;
  PoolProblem p = right;
  p.in = {64, 1, 4096, 4096};
  p.n = 5;
  EXPECT_EQ(kernels_for(device_.registry(), Pass::fprop, p, {256, 256, 512}, {}).size(), 5U);
  p.layout = Layout::batch_last;
  EXPECT_EQ(kernels_for(device_.registry(), Pass::bprop, p, {256, 256, 512}, {}).size(), 3U);
  p.window[0] = 2;
  expect_error<InvalidArgument>(
      [&] {
        kernels_for(device_.registry(), Pass::fprop, p, {256, 256, 512}, {});
      },
      "pool: x has 5368709120 elements and y 1321205760; windows over feature maps of a batch-last layout need less "
      "than 2^31");
  p = right;
  p.in = {128, 1, 4096, 4096};
  expect_error<InvalidArgument>(
      [&] {
        kernels_for(device_.registry(), Pass::fprop, p, {256, 256, 512}, {});
      },
      "pool: one image has 2147483648 elements; needs less than 2^31");
}

// One, two and three spatial axes; the mean needs no x on addresses.
TEST_F(PoolRefuses, NothingThatIsRight) {
  for (int spatial = 1; spatial <= 3; ++spatial) {
    PoolProblem p;
    p.op = PoolOp::avg;
    p.n = 2;
    p.in = {3, 1, 1, 4};
    p.window = {1, 1, 1, 2};
    p.stride = {1, 1, 1, 2};
    Shape in = {2};
    in.insert(in.end(), static_cast<std::size_t>(spatial - 1), 1);
    Shape out = in;
    in.insert(in.end(), {4, 3});
    out.insert(out.end(), {2, 3});
    const Tensor threes = Tensor::full(in, 3);
    Tensor means = Tensor::empty(out);
    pool_fprop(p, threes, means);
    EXPECT_EQ(means.to_host<float>(), std::vector<float>(12, 3));
    Tensor gradient = Tensor::empty(in);
    pool_bprop(p, means.address(), 0, gradient.address());
    EXPECT_EQ(gradient.to_host<float>(), std::vector<float>(24, 1.5));
  }
}

}  // namespace
}  // namespace nervanagpu
