// Every operation, type, layout, pass and rounding on the emulators of both families: bit for bit what float32 arithmetic
// in the promised order gives, and within float32's error of the exact result.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "kernels/pool/pool.h"
#include "nervanagpu/error.hpp"
#include "src/numbers/half.h"
#include "src/numbers/philox.h"
#include "src/numbers/round.h"
#include "test/kernels/bound.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/kernels/pool/model.h"

namespace nervanagpu {
namespace {

using pool_detail::Forced;
using pool_detail::Pass;
using test::PoolPass;
using Bits = std::vector<std::uint32_t>;

constexpr std::uint32_t kPoison = 0x7fc0ffff;  // its lower half is a NaN of 16 bits, float16 and bfloat16, too
constexpr PoolPass kPasses[] = {PoolPass::fprop, PoolPass::bprop};

float value_of(Dtype dtype, std::uint32_t bits) {
  return static_cast<float>(test::value_of(dtype, bits));
}

// An operand somewhere in device memory, `shift` elements after a multiple of 16 bytes, poison around it.
struct Operand {
  static constexpr std::int64_t kGuard = 64;
  Operand(const Bits& bits, Dtype dtype, std::int64_t shift) : dtype_(dtype), shift_(shift), size_(bits.size()) {
    Bits all(static_cast<std::size_t>(2 * kGuard + shift) + bits.size(), kPoison & mask());
    std::copy(bits.begin(), bits.end(), all.begin() + kGuard + shift);
    whole_ = test::from_bits(all, {static_cast<std::int64_t>(all.size())}, dtype);
  }
  [[nodiscard]] std::uint64_t address() const {
    return whole_.address() + static_cast<std::uint64_t>(kGuard + shift_) * size_of(dtype_);
  }
  [[nodiscard]] Bits get() const {
    const Bits all = test::read_bits(whole_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool guard = i < at(0) || i >= at(0) + size_;
      EXPECT_TRUE(!guard || all[i] == (kPoison & mask())) << "written outside, at " << i;
    }
    return {all.begin() + static_cast<std::ptrdiff_t>(at(0)), all.begin() + static_cast<std::ptrdiff_t>(at(0) + size_)};
  }

 private:
  [[nodiscard]] std::uint32_t mask() const { return size_of(dtype_) == 2 ? 0xffffU : 0xffffffffU; }
  [[nodiscard]] std::size_t at(std::size_t i) const { return i + static_cast<std::size_t>(kGuard + shift_); }
  Dtype dtype_;
  std::int64_t shift_;
  std::size_t size_;
  Tensor whole_;
};

class PoolTest : public test::OnEachDevice {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  // Small integers (many ties and zeros), normal numbers, or now and then NaN, infinities, -0, subnormals.
  enum class Values : std::uint8_t { integers, normal, special };
  Bits make(Values values, Dtype dtype, std::int64_t count) {
    Bits out(static_cast<std::size_t>(count));
    std::normal_distribution<double> normal;
    for (std::uint32_t& bits : out) {
      if (values == Values::special && pick(0, 3) == 0) {
        bits = test::random_bits(random_, dtype);
      } else {
        const double v = values == Values::normal ? normal(random_) : static_cast<double>(pick(-3, 3));
        bits = test::bits_of(dtype, values == Values::normal ? static_cast<float>(v) : v);
      }
    }
    return out;
  }
  static std::vector<float> floats(Dtype dtype, const Bits& bits) {
    std::vector<float> out;
    for (const std::uint32_t b : bits) out.push_back(value_of(dtype, b));
    return out;
  }

  static std::uint32_t rounded(Dtype dtype, float v, const Rounding& rounding, std::size_t i) {
    if (!rounding.stochastic) return test::bits_of(dtype, v);
    const auto words = philox(rounding.seed, rounding.offset + i / 4);
    if (dtype == Dtype::float16) return round_f16(v, words[i % 4], rounding.bits == 0 ? 10U : rounding.bits);
    if (dtype == Dtype::bfloat16) return round_bf16(v, words[i % 4], rounding.bits == 0 ? 7U : rounding.bits);
    return std::bit_cast<std::uint32_t>(round_f32(v, words[i % 4], rounding.bits == 0 ? 15U : rounding.bits));
  }

  struct Case {
    PoolProblem p;
    PoolPass pass;
    PoolOptions options;
    Bits x, dy, old;
    std::array<std::int64_t, 3> shift{};  // of x, dy, the result
  };
  Case make_case(const PoolProblem& p, PoolPass pass, Values values) {
    Case c{p, pass, {}, make(values, p.dtype, test::x_elements(p)), make(values, p.dtype, test::y_elements(p)), {}, {}};
    const float scales[] = {1.0F, 1.0F, 0.5F, -2.0F, 0.0F};
    c.options.alpha = scales[pick(0, 3)];
    c.options.beta = pick(0, 1) == 0 ? 0.0F : scales[pick(0, 3)];
    const auto size = pass == PoolPass::fprop ? c.dy.size() : c.x.size();
    c.old = c.options.beta == 0 ? Bits(size, size_of(p.dtype) == 2 ? kPoison & 0xffffU : kPoison)
                                : make(values, p.dtype, static_cast<std::int64_t>(size));
    if (pick(0, 2) == 0) {
      const int most = p.dtype == Dtype::float16 ? 10 : p.dtype == Dtype::bfloat16 ? 7 : 15;
      c.options.rounding = {true, static_cast<std::uint64_t>(pick(0, 1 << 30)), static_cast<std::uint64_t>(pick(0, 99)),
                            static_cast<int>(pick(0, most))};
    }
    if (pick(0, 3) == 0) {
      for (std::int64_t& s : c.shift) s = pick(0, 3);
    }
    return c;
  }

  Bits run(const Case& c, const Forced& forced = {}) {
    const Operand x(c.x, c.p.dtype, c.shift[0]);
    const Operand dy(c.dy, c.p.dtype, c.shift[1]);
    const Operand out(c.old, c.p.dtype, c.shift[2]);
    pool_detail::queue(device_, c.pass == PoolPass::fprop ? Pass::fprop : Pass::bprop, c.p,
                       {x.address(), dy.address(), out.address()}, c.options, forced);
    return out.get();
  }

  static Bits expected(const Case& c) {
    const std::vector<float> sums = pool_bits(c.pass, c.p, floats(c.p.dtype, c.x), floats(c.p.dtype, c.dy));
    Bits out(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      float v = c.options.alpha * sums[i];
      if (c.options.beta != 0) v = std::fma(value_of(c.p.dtype, c.old[i]), c.options.beta, v);
      out[i] = rounded(c.p.dtype, v, c.options.rounding, i);
    }
    return out;
  }

  static void compare(const Case& c, const Bits& got, const Bits& want, const std::string& what) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i], want[i]) << std::hex << what << (c.pass == PoolPass::fprop ? " fprop of " : " bprop of ")
                                 << test::text_of(c.p) << ", alpha " << c.options.alpha << ", beta " << c.options.beta
                                 << (c.options.rounding.stochastic ? ", at random" : "") << ", shifts " << c.shift[0]
                                 << c.shift[1] << c.shift[2] << std::dec << ": element " << i << " of " << got.size();
    }
  }

  void check(const PoolProblem& p, PoolPass pass, Values values) {
    const Case c = make_case(p, pass, values);
    compare(c, run(c), expected(c), "");
  }

  static PoolProblem problem(PoolOp op, Layout layout, Dtype dtype, std::int64_t n, std::array<std::int64_t, 4> in,
                             std::array<std::int64_t, 4> window, std::array<std::int64_t, 4> pad,
                             std::array<std::int64_t, 4> stride, bool count_padding = false) {
    return {op, layout, n, in, window, pad, stride, count_padding, dtype};
  }
};

NG_ON_EACH_DEVICE(PoolTest);

constexpr PoolOp kOps[] = {PoolOp::max, PoolOp::avg, PoolOp::l2};
constexpr Layout kLayouts[] = {Layout::channels_last, Layout::batch_last, Layout::channels_first};
constexpr Dtype kTypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16};

TEST_P(PoolTest, RandomProblems) {
  const int count = checked() ? 120 : 500;
  for (int i = 0; i < count && !HasFatalFailure(); ++i) {
    const PoolProblem p = test::random_pool(random_, checked() ? 1500 : 4000);
    check(p, kPasses[i % 2], static_cast<Values>(i / 2 % 3));
  }
}

// What networks use, in lengths that take every kernel: vectors, rests, single elements.
TEST_P(PoolTest, EveryOperationTypeLayoutAndPass) {
  struct Window {
    std::int64_t side, pad, stride;
  };
  for (const Window w : {Window{2, 0, 2}, {3, 0, 2}, {3, 1, 2}, {3, 1, 1}, {2, 1, 2}, {3, 0, 3}, {4, 3, 5}}) {
    for (const PoolOp op : kOps) {
      for (const Layout layout : kLayouts) {
        for (const Dtype dtype : kTypes) {
          for (const PoolPass pass : kPasses) {
            const bool wide = pick(0, 1) == 0;
            const std::int64_t n = layout == Layout::batch_last && wide ? 8 : 3;
            const std::int64_t c = layout == Layout::channels_last && wide ? 16 : 5;
            check(problem(op, layout, dtype, n, {c, 1, 6, 7}, {1, 1, w.side, w.side}, {0, 0, w.pad, w.pad},
                          {1, 1, w.stride, w.stride}, pick(0, 1) == 0),
                  pass, Values::normal);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(PoolTest, AdversarialShapes) {
  using Quad = std::array<std::int64_t, 4>;
  struct Shape {
    std::int64_t n;
    Quad in, window, pad, stride;
  };
  const Shape shapes[] = {
      {1, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}},
      {3, {5, 1, 1, 1}, {1, 1, 5, 5}, {0, 0, 4, 4}, {1, 1, 1, 1}},    // the window is larger than the input
      {1, {3, 2, 3, 2}, {3, 5, 7, 3}, {2, 4, 6, 2}, {2, 3, 1, 5}},    // in four dimensions
      {8, {8, 1, 13, 11}, {1, 1, 2, 3}, {0, 0, 1, 0}, {1, 1, 5, 7}},  // apart, with a rest at the end
      {16, {3, 1, 7, 7}, {1, 1, 7, 7}, {0, 0, 0, 0}, {1, 1, 1, 1}},   // one window
      {2, {16, 3, 4, 4}, {16, 3, 4, 4}, {0, 0, 0, 0}, {9, 9, 9, 9}},  // and over everything
      {8, {7, 1, 3, 3}, {3, 1, 1, 1}, {1, 0, 0, 0}, {1, 1, 1, 1}},    // feature maps alone
      {8, {7, 1, 2, 2}, {1, 1, 1, 1}, {0, 0, 0, 0}, {3, 1, 1, 1}},    // one of three feature maps
      {1, {8, 5, 1, 1}, {1, 2, 1, 1}, {0, 1, 0, 0}, {1, 1, 1, 1}},    // depth alone
      {1, {1, 1, 1, 257}, {1, 1, 1, 9}, {0, 0, 0, 8}, {1, 1, 1, 2}},  // one dimension
      {24, {1, 1, 17, 1}, {1, 1, 3, 1}, {0, 0, 2, 0}, {1, 1, 2, 1}},
  };
  for (const Shape& s : shapes) {
    for (const PoolOp op : kOps) {
      for (const Layout layout : kLayouts) {
        for (const PoolPass pass : kPasses) {
          check(problem(op, layout, kTypes[pick(0, 1)], s.n, s.in, s.window, s.pad, s.stride, pick(0, 1) == 0), pass,
                static_cast<Values>(pick(0, 2)));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Whichever kernel computes it, in however many parts: the same bits.
TEST_P(PoolTest, KernelsAndPartsAgree) {
  int parts = 0;
  for (int i = 0; i < drawn(120, 20); ++i) {
    PoolProblem p = test::random_pool(random_, 2000);
    if (i % 3 == 0) {  // apart
      for (std::size_t a = 0; a < 4; ++a) p.stride[a] = std::max(p.stride[a], p.window[a]);
    }
    if (i % 3 == 1) {  // the windows of networks
      p.op = PoolOp::max;
      p.window = {1, 1, 3, 3};
      p.pad = {0, 0, pick(0, 2), pick(0, 2)};
      p.stride = {1, 1, 1 + i / 3 % 2, 1 + i / 3 % 2};
      for (std::size_t a = 2; a < 4; ++a) p.in[a] = std::max<std::int64_t>(p.in[a], 3);
    }
    const Case c = make_case(p, kPasses[i / 6 % 2], Values::special);
    const Bits whole = run(c);
    compare(c, run(c, {"", "_1"}), whole, "single elements:");
    const char* plain = c.pass == PoolPass::bprop ? "pool_gather_" : "pool_fprop_";
    compare(c, run(c, {plain, ""}), whole, plain);
    const std::int64_t most = std::max(test::x_elements(p), test::y_elements(p)) / 2 + 1;
    try {
      compare(c, run(c, {"", "", most}), whole, "in parts:");
      ++parts;
    } catch (const InvalidArgument&) {  // one image alone is more
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(parts, drawn(40, 5));
}

// The fast kernels exist, and are taken for what they are made for.
TEST_P(PoolTest, NetworksTakeTheFastKernels) {
  struct Want {
    PoolPass pass;
    std::int64_t side, stride;
    const char* kernel;
  };
  const Want wants[] = {
      {PoolPass::fprop, 2, 2, "pool_fprop_max_f32_2_0_4"},
      {PoolPass::fprop, 3, 2, "pool_columns_max_f32_3_0_2_nearest_4"},
      {PoolPass::fprop, 3, 1, "pool_columns_max_f32_3_0_1_nearest_4"},
      {PoolPass::fprop, 3, 3, "pool_fprop_max_f32_3_0_4"},
      {PoolPass::bprop, 2, 2, "pool_cells_max_f32_2_0_4"},
      {PoolPass::bprop, 3, 2, "pool_strips_max_f32_3_0_2_nearest_1"},
      {PoolPass::bprop, 3, 1, "pool_strips_max_f32_3_0_1_nearest_1"},
      {PoolPass::bprop, 3, 4, "pool_cells_max_f32_0_0_4"},
      {PoolPass::bprop, 4, 2, "pool_gather_max_f32_0_0_4"},
  };
  for (const Layout layout : {Layout::channels_last, Layout::batch_last}) {
    for (const Want& w : wants) {
      const PoolProblem p = problem(PoolOp::max, layout, Dtype::float32, 4, {8, 1, 9, 10}, {1, 1, w.side, w.side},
                                    {0, 0, 1, 1}, {1, 1, w.stride, w.stride});
      const auto kernels = pool_detail::kernels_for(
          device_.registry(), w.pass == PoolPass::fprop ? Pass::fprop : Pass::bprop, p, {256, 512, 1024}, {});
      EXPECT_EQ(kernels, std::vector<std::string>{w.kernel});
    }
  }
}

// The same against float64: the model of the bits above could be wrong in the same way as the kernels.
TEST_P(PoolTest, WithinTheBoundOfItsKernel) {
  std::map<std::string, double> nearest;  // by operation and kernel family: the largest of error / bound
  for (int i = 0; i < drawn(300, 20); ++i) {
    PoolProblem p = test::random_pool(random_, 1500);
    p.dtype = Dtype::float32;
    Case c = make_case(p, kPasses[i % 2], i % 3 == 0 ? Values::integers : Values::normal);
    c.options = {};
    const Bits got = run(c);
    const test::Bounded want = test::pool_exact(c.pass, p, floats(p.dtype, c.x), floats(p.dtype, c.dy));
    const auto names = pool_detail::kernels_for(
        device_.registry(), c.pass == PoolPass::fprop ? Pass::fprop : Pass::bprop, p, {256, 256, 256}, c.options);
    ASSERT_EQ(names.size(), 1U);
    const sass::Manifest& manifest = device_.registry().find(names[0])->manifest();
    for (std::size_t k = 0; k < got.size(); ++k) {
      const auto bound = test::bound_of(
          manifest.bound, {{"k", want.terms[k]}, {"w", want.windows[k]}, {"S", want.size[k]}, {"u", 0x1p-24}});
      ASSERT_TRUE(bound) << manifest.name << ": " << manifest.bound;
      const double error = std::fabs(value_of(p.dtype, got[k]) - want.value[k]);
      ASSERT_TRUE(error <= *bound) << manifest.name << ", " << test::text_of(p) << ": element " << k << " is off by "
                                   << error << ", more than " << *bound;
      if (*bound > 0) {
        double& most = nearest[manifest.op + " " + manifest.variant.at("OP")];
        most = std::max(most, error / *bound);
      }
    }
  }
  for (const auto& [what, most] : nearest) {
    if (!checked() && what.find("max") == std::string::npos) {
      EXPECT_GE(most, 1.0 / 16) << what << ": the bound is far from any error";
    }
  }
}

}  // namespace
}  // namespace nervanagpu
