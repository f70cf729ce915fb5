// Planned convolutions: the bits of conv(), at whatever addresses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "kernels/conv/problem.h"
#include "kernels/gemm/epilogue/relu_mask.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

using Bytes = std::vector<std::uint8_t>;
using test::ConvCase;

constexpr std::array kPasses = {ConvPass::fprop, ConvPass::bprop, ConvPass::update};
constexpr std::size_t kRoom = 64;  // around an operand

// The memory of one operand, with room around it.
class Memory {
 public:
  Memory(const Bytes& bytes, std::uint64_t residue) : size_(bytes.size()) {
    Bytes all(bytes.size() + 2 * kRoom, 0xfb);
    std::ranges::copy(bytes, all.begin() + static_cast<std::ptrdiff_t>(kRoom + residue));
    tensor_ = Tensor::from_host<std::uint8_t>(all, {static_cast<std::int64_t>(all.size())});
    from_ = tensor_.address() + kRoom + residue;  // of memory that is aligned to 16
    residue_ = residue;
  }
  [[nodiscard]] std::uint64_t address() const { return from_; }
  // What was written outside is poison no more.
  [[nodiscard]] Bytes now() const {
    const Bytes all = tensor_.to_host<std::uint8_t>();
    Bytes out(all.begin() + static_cast<std::ptrdiff_t>(kRoom + residue_),
              all.end() - static_cast<std::ptrdiff_t>(kRoom - residue_));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool outside = i < kRoom + residue_ || i >= kRoom + residue_ + size_;
      EXPECT_TRUE(!outside || all[i] == 0xfb) << "byte " << i << " was written";
    }
    return out;
  }

 private:
  std::size_t size_;
  Tensor tensor_;
  std::uint64_t from_ = 0, residue_ = 0;
};

class ConvPlanTest : public test::OnEachDevice {
 protected:
  Bytes numbers(const ConvProblem& p, conv_detail::Role role) {
    const conv_detail::Strided l = laid_out(p, role);
    std::int64_t count = 1;
    for (std::size_t i = 0; i < l.shape.size(); ++i) count += (l.shape[i] - 1) * l.strides[i];
    return numbers(count, type_of(p, role));
  }
  Bytes numbers(std::int64_t count, Dtype type) {
    std::normal_distribution<double> normal;
    const std::size_t width = size_of(type);
    Bytes out(static_cast<std::size_t>(count) * width);
    for (std::size_t i = 0; i < out.size(); i += width) {
      const double v = test::is_float(type) ? normal(random_) : static_cast<double>(random_() % 100);
      const std::uint32_t bits = test::bits_of(type, v);
      std::memcpy(&out[i], &bits, width);
    }
    return out;
  }

  // What each operand holds.
  struct Data {
    Bytes in1, in2, out, bias, mask;
  };
  Data data_of(const ConvCase& c, bool masked) {
    const conv_detail::Roles roles = conv_detail::roles_of(c.pass);
    Data d = {numbers(c.p, roles.in1), numbers(c.p, roles.in2), numbers(c.p, roles.out), {}, {}};
    if (c.bias) d.bias = numbers(c.p.k, c.bias_type);
    if (!masked) return d;
    const std::int64_t last = last_length(c.p, roles.out);
    d.mask.resize(static_cast<std::size_t>(elements_of(c.p, roles.out) / last * sgemm::words_of_mask(last)) * 4);
    for (std::uint8_t& b : d.mask) b = static_cast<std::uint8_t>(random_());
    return d;
  }

  // `compute` on memory of its own that lies `residue` bytes after multiples of 16: the result and the mask.
  template <class Compute>
  static std::pair<Bytes, Bytes> results(const ConvCase& c, const Data& d, std::uint64_t residue,
                                         const Compute& compute) {
    const Memory in1(d.in1, residue), in2(d.in2, residue), out(d.out, residue), bias(d.bias, residue), mask(d.mask, 0);
    const Memory workspace(Bytes(conv_workspace(c.pass, c.p), 0x55), 0);
    ConvPointers at;
    at.in1 = in1.address(), at.in2 = in2.address(), at.out = out.address(), at.workspace = workspace.address();
    at.bias = c.bias ? bias.address() : 0, at.bias_type = c.bias_type;
    at.mask = d.mask.empty() ? 0 : mask.address();
    compute(at);
    static_cast<void>(workspace.now());
    return {out.now(), mask.now()};
  }

  static ConvAddresses addresses(const ConvPointers& at, std::uint64_t rounding_offset = 0) {
    return {at.in1, at.in2, at.out, at.bias, at.mask, at.workspace, rounding_offset};
  }

  void compare(const ConvCase& c, bool masked) {
    SCOPED_TRACE(test::text_of(c.pass, c.p));
    const Data d = data_of(c, masked);
    const std::uint64_t residue = static_cast<std::uint64_t>(c.shift) * 4 % 16;
    ConvPointers example;
    const auto wanted = results(c, d, residue, [&](const ConvPointers& at) {
      example = at;
      conv(c.pass, c.p, at, c.options);
    });
    const std::uint64_t before = kernels_launched;
    const ConvPlan plan(c.pass, c.p, example, c.options);
    EXPECT_EQ(kernels_launched, before);
    const Memory elsewhere(Bytes(1000), 0);
    const auto launch = [&](const ConvPointers& at) { plan.launch(addresses(at)); };
    EXPECT_EQ(wanted, results(c, d, residue, launch));
    EXPECT_EQ(wanted, results(c, d, residue, launch));
    const ConvPlan again(c.pass, c.p, example, c.options);  // of the same recording
    EXPECT_EQ(wanted, results(c, d, residue, [&](const ConvPointers& at) { again.launch(addresses(at)); }));
    for (const std::string& k : plan.kernels()) families_.insert(k.substr(0, k.find('_')));
    if (!c.options.rounding.stochastic) return;
    ConvOptions later = c.options;
    later.rounding.offset += 12;
    EXPECT_EQ(results(c, d, residue, [&](const ConvPointers& at) { conv(c.pass, c.p, at, later); }),
              results(c, d, residue, [&](const ConvPointers& at) { plan.launch(addresses(at, 12)); }));
  }

  std::set<std::string> families_;  // the families of kernels that were planned
};

TEST_P(ConvPlanTest, RandomProblemsHaveTheBitsOfConv) {
  for (int turn = 0; turn < drawn(160); ++turn) {
    ConvCase c;
    c.pass = kPasses[static_cast<std::size_t>(turn) % 3];
    c.p = test::random_problem(random_, 1500);
    test::choose_pitches(random_, c.p);
    test::choose_types(random_, c);
    test::choose_epilogue(random_, c);
    c.options.tensor_cores = random_() % 4 != 0;
    const bool relu = c.pass == ConvPass::fprop ? c.options.relu : c.pass == ConvPass::bprop;
    const bool masked = relu && test::is_float(type_of(c.p, conv_detail::roles_of(c.pass).out)) && random_() % 2 == 0;
    compare(c, masked);
    if (HasFailure()) return;
  }
  std::set<std::string> wanted = {"conv", "convert", "relu", "split"};
  if (GetParam().arch == sass::Arch::sm_90a) wanted.insert({"hconv", "gconv"});
  for (const std::string& op : wanted) EXPECT_TRUE(families_.contains(op) || checked()) << op;
}

// float16, channels last, as the tensor cores take it.
ConvProblem small_problem() {
  ConvProblem p;
  p.n = 2, p.c = 16, p.k = 24;
  p.in = {1, 9, 8}, p.filter = {1, 3, 3}, p.pad = {0, 1, 1};
  p.x_type = p.w_type = p.y_type = Dtype::float16;
  return p;
}

// Windows as a product, steps between positions, parts of k, and channels by themselves.
TEST_P(ConvPlanTest, EveryWayOfTheTensorCores) {
  const auto all_passes = [&](const ConvProblem& p) {
    for (const ConvPass pass : kPasses) {
      ConvCase c;
      c.pass = pass, c.p = p;
      compare(c, false);
    }
  };
  all_passes(small_problem());
  ConvProblem strided = small_problem();
  strided.stride = {1, 2, 3};
  all_passes(strided);
  ConvProblem groups = small_problem();
  groups.groups = 2, groups.k = 32;
  all_passes(groups);
  ConvProblem depthwise = small_problem();
  depthwise.groups = depthwise.k = depthwise.c;
  all_passes(depthwise);
  depthwise.layout = Layout::channels_first;
  all_passes(depthwise);
  ConvProblem far = small_problem();
  far.dilation = {1, 1, 200}, far.pad = {0, 1, 200};
  all_passes(far);
  ConvProblem deep = small_problem();
  deep.n = 4, deep.c = deep.k = 8, deep.in = {1, 20, 20};
  all_passes(deep);
  ConvProblem windows = small_problem();  // as rows in memory
  windows.c = 3, windows.k = 8, windows.in = {1, 4, 40}, windows.filter = {1, 2, 31};
  all_passes(windows);
  if (GetParam().arch != sass::Arch::sm_90a) return;
  for (const char* op : {"hconv", "hgemm", "split", "depthwise"}) EXPECT_TRUE(families_.contains(op)) << op;
}

TEST_P(ConvPlanTest, OperandsThatAreAlignedToLessAreRefusedAndToMoreAreNot) {
  ConvCase c;
  c.p = small_problem();
  const Data d = data_of(c, false);
  for (const std::uint64_t promised : {2, 4, 8, 16}) {
    ConvPointers example;
    example.in1 = example.in2 = example.out = promised;
    const ConvPlan plan(c.pass, c.p, example);
    const auto wanted = results(c, d, promised % 16, [&](const ConvPointers& at) { conv(c.pass, c.p, at, {}); });
    for (std::uint64_t residue = 0; residue < 16; residue += 2) {
      const auto launch = [&](const ConvPointers& at) { plan.launch(addresses(at)); };
      if (residue % promised == 0) {
        EXPECT_EQ(wanted, results(c, d, residue, launch)) << promised << " " << residue;
      } else {
        EXPECT_THROW(results(c, d, residue, launch), InvalidArgument) << promised << " " << residue;
      }
    }
  }
}

TEST_P(ConvPlanTest, WhatWasNotPlannedIsRefusedByName) {
  const ConvProblem p = small_problem();
  const Tensor x = Tensor::zeros({2, 9, 8, 16}, Dtype::float16), w = Tensor::zeros({24, 3, 3, 16}, Dtype::float16);
  const Tensor bias = Tensor::zeros({24}, Dtype::float16), mask = Tensor::zeros({2, 9, 8, 1}, Dtype::uint32);
  Tensor y = Tensor::zeros({2, 9, 8, 24}, Dtype::float16);
  ConvOptions options;
  options.relu = true, options.bias = &bias, options.mask = &mask;
  const ConvPlan plan(ConvPass::fprop, p, x, w, y, options);
  const ConvOperands both = {&bias, &mask, nullptr, 0};
  plan.launch(x, w, y, both);
  const auto refused = [&](const Tensor& x, const Tensor& w, Tensor y, const ConvOperands& more, const char* why) {
    expect_error<InvalidArgument>([&] { plan.launch(x, w, y, more); }, why);
  };
  const Tensor narrow = Tensor::zeros({2, 9, 8, 8}, Dtype::float16);
  refused(
      narrow, w, y, both,
      "conv plan: x has shape (2, 9, 8, 8) and strides (576, 64, 8, 1); needs (2, 9, 8, 16) and (1152, 128, 16, 1), "
      "as planned");
  const Tensor wide = Tensor::zeros({2, 9, 8, 32}, Dtype::float16);
  refused(
      wide.slice(3, 0, 16, 1), w, y, both,
      "conv plan: x has shape (2, 9, 8, 16) and strides (2304, 256, 32, 1); needs (2, 9, 8, 16) and (1152, 128, 16, "
      "1), as planned");
  refused(x, w, y, {nullptr, &mask, nullptr, 0}, "conv plan: bias is missing; one was planned");
  refused(x, w, y, {&bias, nullptr, nullptr, 0}, "conv plan: mask is missing; one was planned");
  refused(x, w, Tensor::wrap(x.address(), y.shape(), y.strides(), y.dtype()), both,
          "conv: y shares memory with x; needs memory of its own");
  expect_error<TypeError>(
      [&] {
        plan.launch(Tensor::zeros({2, 9, 8, 16}, Dtype::bfloat16), w, y, both);
      },
      "conv plan: x has dtype bfloat16; needs float16, as planned");
  expect_error<InvalidArgument>(
      [&] {
        plan.launch({x.address(), w.address(), y.address()});
      },
      "conv plan: bias is missing; one was planned");
  expect_error<InvalidArgument>(
      [&] {
        plan.launch({0, w.address(), y.address(), bias.address(), mask.address()});
      },
      "conv plan: x is 0; needs a device address");
  const ConvPlan plain(ConvPass::bprop, p, y, w, x);
  expect_error<InvalidArgument>(
      [&] {
        Tensor dx = x;
        plain.launch(y, w, dx, {&bias, nullptr, nullptr, 0});
      },
      "conv plan: bias was not planned");
  options.mask = nullptr;
  expect_error<InvalidArgument>([&] { ConvPlan(ConvPass::update, p, y, x, w, options); },
                                "conv: relu is for fprop alone");
  ConvPointers odd;
  odd.in2 = 0x1001;
  expect_error<InvalidArgument>([&] { ConvPlan(ConvPass::fprop, p, odd); },
                                "conv plan: w is aligned to 1; needs a multiple of 2");
}

TEST_P(ConvPlanTest, WorkspacesAreTakenOrGiven) {
  ConvProblem p = small_problem();
  p.layout = Layout::channels_first;
  const Tensor x = Tensor::zeros({2, 16, 9, 8}, Dtype::float16), w = Tensor::zeros({24, 16, 3, 3}, Dtype::float16);
  Tensor y = Tensor::zeros({2, 24, 9, 8}, Dtype::float16);
  const ConvPlan plan(ConvPass::fprop, p, x, w, y);
  ASSERT_GT(plan.workspace(), 0U);
  plan.launch(x, w, y);
  const Tensor room = Tensor::zeros({static_cast<std::int64_t>(plan.workspace())}, Dtype::uint8);
  plan.launch(x, w, y, {nullptr, nullptr, &room, 0});
  const Tensor less = Tensor::zeros({static_cast<std::int64_t>(plan.workspace() - 1)}, Dtype::uint8);
  expect_error<InvalidArgument>(
      [&] {
        plan.launch(x, w, y, {nullptr, nullptr, &less, 0});
      },
      "conv plan: workspace has " + std::to_string(plan.workspace() - 1) + " bytes; needs contiguous memory of " +
          std::to_string(plan.workspace()));
  expect_error<InvalidArgument>(
      [&] {
        plan.launch({x.address(), w.address(), y.address()});
      },
      "conv plan: workspace is 0; needs a device address");
  const ConvPlan direct(ConvPass::fprop, small_problem());
  EXPECT_EQ(direct.workspace() == 0, GetParam().arch == sass::Arch::sm_90a);
}

TEST_P(ConvPlanTest, GraphsHoldPlannedLaunches) {
  ConvCase c;
  c.p = small_problem();
  const Tensor x = Tensor::zeros({2, 9, 8, 16}, Dtype::float16), w = Tensor::zeros({24, 3, 3, 16}, Dtype::float16);
  Tensor y = Tensor::zeros({2, 9, 8, 24}, Dtype::float16), want = Tensor::zeros({2, 9, 8, 24}, Dtype::float16);
  const ConvPlan plan(ConvPass::fprop, c.p, x, w, y);
  const Graph graph = Graph::capture([&] { plan.launch(x, w, y); });
  const auto set = [&](const Tensor& t) {
    const Bytes bytes = numbers(t.size(), t.dtype());
    Tensor to = t;
    to.set(bytes.data(), bytes.size());
  };
  set(x), set(w);
  conv_fprop(c.p, x, w, want);
  const auto bits = [](const Tensor& t) {
    Bytes out(t.nbytes());
    t.get(out.data(), out.size());
    return out;
  };
  EXPECT_NE(bits(y), bits(want));
  graph.launch();
  EXPECT_EQ(bits(y), bits(want));
}

NG_ON_EACH_DEVICE(ConvPlanTest);

}  // namespace
}  // namespace nervanagpu
