// Planned poolings: the bits of the functions of pool.hpp, at whatever addresses.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "kernels/pool/argmax.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/kernels/pool/model.h"

namespace nervanagpu {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kRoom = 64;  // around an operand

// An operand's memory, `residue` bytes after a multiple of 16, with room around it.
class Memory {
 public:
  Memory(const Bytes& bytes, std::size_t residue) : begin_(kRoom + residue), size_(bytes.size()) {
    Bytes all(bytes.size() + 2 * kRoom, 0xfb);
    std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(begin_));
    tensor_ = Tensor::from_host<std::uint8_t>(all, {static_cast<std::int64_t>(all.size())});
  }
  [[nodiscard]] std::uint64_t address() const { return tensor_.address() + begin_; }
  [[nodiscard]] Bytes now() const {
    const Bytes all = tensor_.to_host<std::uint8_t>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool outside = i < begin_ || i >= begin_ + size_;
      EXPECT_TRUE(!outside || all[i] == 0xfb) << "byte " << i << " was written";
    }
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin_);
    return {first, first + static_cast<std::ptrdiff_t>(size_)};
  }

 private:
  std::size_t begin_, size_;
  Tensor tensor_;
};

class PoolPlanTest : public test::OnEachDevice {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  Bytes numbers(std::int64_t count, Dtype type) {
    const std::size_t width = size_of(type);
    Bytes out(static_cast<std::size_t>(count) * width);
    for (std::size_t i = 0; i < out.size(); i += width) {
      const std::uint32_t bits = test::bits_of(type, static_cast<double>(pick(-9, 9)) / 4);
      std::memcpy(&out[i], &bits, width);
    }
    return out;
  }

  struct Case {
    PoolPass pass;
    PoolProblem p;
    PoolOptions options;
    bool argmax = false;
    std::size_t residue = 0;
    Bytes in, x, out, codes;
  };
  Case draw(int turn) {
    Case c;
    c.pass = turn % 2 == 0 ? PoolPass::fprop : PoolPass::bprop;
    const bool forward = c.pass == PoolPass::fprop;
    c.p = test::random_pool(random_, 1500);
    if (turn % 8 < 2) {  // the windows of networks
      c.p.op = PoolOp::max;
      c.p.window = {1, 1, 3, 3};
      const std::int64_t stride = 1 + turn / 8 % 2;
      c.p.pad = {0, 0, 1, 1}, c.p.stride = {1, 1, stride, stride};
      for (std::size_t a = 2; a < 4; ++a) c.p.in[a] = std::max<std::int64_t>(c.p.in[a], 3);
    }
    if (turn % 3 == 0) {
      c.p.op = PoolOp::max;
      c.p.window[0] = c.p.stride[0] = 1, c.p.pad[0] = 0;
      const auto& w = c.p.window;
      c.argmax = w[1] * w[2] * w[3] <= 255;
    }
    c.options.relu = c.argmax && forward && pick(0, 1) == 0;
    c.options.alpha = pick(0, 1) == 0 ? 1.0F : -2.0F;
    c.options.beta = pick(0, 1) == 0 ? 0.0F : 0.5F;
    if (pick(0, 2) == 0) c.options.rounding = {true, 77, static_cast<std::uint64_t>(pick(0, 50)), 3};
    const pool_detail::Alignments needed = pool_detail::alignments_of(c.p, c.argmax);
    c.residue = std::max(needed.tensors, needed.argmax) * static_cast<std::size_t>(pick(0, 3)) % 16;
    const std::int64_t of_x = test::x_elements(c.p), of_y = test::y_elements(c.p);
    c.in = numbers(forward ? of_x : of_y, c.p.dtype);
    c.out = numbers(forward ? of_y : of_x, c.p.dtype);
    c.x = numbers(of_x, c.p.dtype);
    if (c.argmax) c.codes.assign(static_cast<std::size_t>(pool_argmax_bytes(c.p)), 0x21);
    return c;
  }

  // The result and the codes of `compute` on memory of its own.
  template <class Compute>
  static std::array<Bytes, 2> results(const Case& c, const Compute& compute) {
    const Memory in(c.in, c.residue), out(c.out, c.residue), x(c.x, c.residue), codes(c.codes, c.residue);
    compute(PoolAddresses{in.address(), out.address(), x.address(), c.argmax ? codes.address() : 0, 0});
    return {out.now(), codes.now()};
  }
  static void call(const Case& c, const PoolAddresses& at, const PoolOptions& options) {
    const bool forward = c.pass == PoolPass::fprop;
    if (c.argmax && forward) return max_pool_fprop(c.p, at.in, at.out, at.argmax, options);
    if (c.argmax) return max_pool_bprop(c.p, at.in, at.argmax, at.out, options);
    if (forward) return pool_fprop(c.p, at.in, at.out, options);
    pool_bprop(c.p, at.in, at.x, at.out, options);
  }
};

NG_ON_EACH_DEVICE(PoolPlanTest);

TEST_P(PoolPlanTest, RandomProblemsHaveTheBitsOfTheFunctions) {
  std::set<std::string> families;
  for (int turn = 0; turn < drawn(240, 60) && !HasFailure(); ++turn) {
    const Case c = draw(turn);
    SCOPED_TRACE(test::text_of(c.p));
    PoolAddresses like;
    const auto wanted = results(c, [&](const PoolAddresses& at) {
      like = at;
      call(c, at, c.options);
    });
    const std::uint64_t before = kernels_launched;
    const PoolPlan plan(c.pass, c.p, like, c.options);
    EXPECT_EQ(kernels_launched, before);
    EXPECT_EQ(plan.workspace(), 0U);
    const Memory elsewhere(Bytes(1000), 0);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(wanted, results(c, [&](const PoolAddresses& at) { plan.launch(at); }));
    }
    for (const std::string& k : plan.kernels()) families.insert(k.substr(0, k.find('_', 5)));
    if (!c.options.rounding.stochastic) continue;
    PoolOptions later = c.options;
    later.rounding.offset += 12;
    EXPECT_EQ(results(c, [&](const PoolAddresses& at) { call(c, at, later); }), results(c, [&](PoolAddresses at) {
                at.rounding_offset = 12;
                plan.launch(at);
              }));
  }
  EXPECT_EQ(families, (std::set<std::string>{"pool_blocks", "pool_cells", "pool_columns", "pool_fprop", "pool_gather",
                                             "pool_strips"}));
}

TEST_P(PoolPlanTest, GraphsReplayThem) {
  PoolProblem p;
  p.dtype = Dtype::float16, p.n = 2, p.in = {8, 1, 6, 6}, p.window = {1, 1, 2, 2}, p.stride = {1, 1, 2, 2};
  const Tensor x = Tensor::ones({2, 6, 6, 8}, Dtype::float16);
  Tensor y = Tensor::zeros({2, 3, 3, 8}, Dtype::float16), codes = Tensor::zeros({pool_argmax_bytes(p)}, Dtype::uint8);
  const PoolPlan plan(PoolPass::fprop, p, x, y, {nullptr, &codes, 0});
  const Graph graph = Graph::capture([&] { plan.launch(x, y, {nullptr, &codes, 0}); });
  const auto bits = [&] { return test::read_bits(y); };
  EXPECT_EQ(bits(), std::vector<std::uint32_t>(144, 0)) << "a body is recorded, not run";
  graph.launch();
  EXPECT_EQ(bits(), std::vector<std::uint32_t>(144, 0x3c00));
}

TEST_P(PoolPlanTest, WhatIsUnlikeIsRefused) {
  PoolProblem p;
  p.n = 2, p.in = {4, 1, 4, 4}, p.window = {1, 1, 2, 2}, p.stride = {1, 1, 2, 2};
  const Tensor x = Tensor::ones({2, 4, 4, 4});
  Tensor y = Tensor::empty({2, 2, 2, 4}), dx = Tensor::empty(x.shape());
  Tensor codes = Tensor::empty({pool_argmax_bytes(p)}, Dtype::uint8);
  const PoolPlan plan(PoolPass::fprop, p, x, y);
  const auto refused = [](const auto& f, const std::string& text) {
    try {
      f();
      ADD_FAILURE() << "no error; expected: " << text;
    } catch (const InvalidArgument& e) {
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  };
  refused([&] { plan.launch(x, dx); }, "pool plan: y has shape (2, 4, 4, 4)");
  refused([&] { plan.launch(x, y, {nullptr, &codes, 0}); }, "argmax was not planned");
  refused([&] { plan.launch(x, y, {&x, nullptr, 0}); }, "x was not planned");
  refused([&] { plan.launch(PoolAddresses{x.address() + 4, y.address()}); }, "address of x is");
  refused([&] { PoolPlan(PoolPass::fprop, p, PoolAddresses{2}); }, "x is aligned to 2; needs a multiple of 4");
  refused([&] { PoolPlan(PoolPass::bprop, p, y, dx); }, "neither x nor argmax is given for bprop");
  refused([&] { PoolPlan(PoolPass::fprop, p, x, y, {&x, nullptr, 0}); }, "x is given for fprop");
  const PoolPlan back(PoolPass::bprop, p, y, dx, {nullptr, &codes, 0});
  refused([&] { back.launch(y, dx); }, "argmax is missing; one was planned");
  refused(
      [&] {
        PoolPlan(PoolPass::bprop, p, y, dx, {&x, nullptr, 0}).launch(y, dx);
      },
      "x is missing; one was planned");
  refused([&] { PoolPlan(PoolPass::fprop, p).launch(x, y); }, "was made of addresses");
  p.op = PoolOp::avg;
  PoolPlan(PoolPass::bprop, p, y, dx).launch(y, dx);
  refused([&] { PoolPlan(PoolPass::fprop, p, PoolAddresses{0, 0, 0, 16}); }, "argmax is given; needs op max");
}

}  // namespace
}  // namespace nervanagpu
