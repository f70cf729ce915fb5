// conv_f16x3.sass: every variant, random convolutions, the error of its sums, and what it leaves to three pieces or multiply-adds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/conv/pieces/two_pieces.h"
#include "kernels/conv/product.h"
#include "kernels/conv/tensor_cores.h"
#include "src/ceil_div.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_pieces.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/kernels/order.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

using test::kPasses;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

Bits absolute(Bits bits) {
  for (std::uint32_t& v : bits) v &= 0x7fffffffU;
  return bits;
}

class TwoPiecesTest : public test::OnPieces {
 protected:
  TwoPiecesTest() : OnPieces("_f16") {}
  [[nodiscard]] bool idle() const { return kernels_of("conv_f16x3").empty(); }
  Bits two(const ConvCase& c, const Bits& in1, const Bits& in2) { return test::run(device_, c, in1, in2); }
  // From three pieces, cut alike.
  Bits three(ConvCase c, const Bits& in1, const Bits& in2) {
    c.forced.kernel = c.pass == ConvPass::update || c.p.c > 128 || c.p.k > 128 ? "_128x192" : "_128x128";
    return test::run(device_, c, in1, in2);
  }

  // A pass whose sums have so many products, and are those of a product of matrices.
  ConvCase product_of(ConvPass pass, std::int64_t products) const {
    ConvCase c = case_of(pass, 128);
    c.p.filter = {1, 1, 1}, c.p.pad = {0, 0, 0};
    c.p.n = pass == ConvPass::update ? products / 64 : 1, c.p.in = {1, 8, 8};
    c.p.c = pass == ConvPass::fprop ? products : 36;
    c.p.k = pass == ConvPass::bprop ? products : 20;
    return c;
  }
  // No sum is farther from the strict one than `part` of its products' magnitudes, which are returned.
  Bits expect_close(const ConvCase& c, const Bits& in1, const Bits& in2, double part) {
    const Bits got = two(c, in1, in2);
    const Bits want = strict(c, in1, in2);
    ConvCase plain = c;
    plain.options.alpha = std::abs(c.options.alpha);
    Bits magnitude = strict(plain, absolute(in1), absolute(in2));
    const auto value = [](std::uint32_t bits) { return test::value_of(Dtype::float32, bits); };
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double error = std::abs(value(got[i]) - value(want[i]));
      if (!(error <= part * value(magnitude[i]))) ADD_FAILURE() << "element " << i << ": " << error;
    }
    return magnitude;
  }
  // From two pieces with lost elements: of both operands; of the first alone; of the second alone. alone: counts sums of lost elements, by
  // kind.
  void expect_made_good(const ConvCase& c, const Bits& in1, const Bits& in2, std::array<std::int64_t, 3>& alone) {
    for (std::size_t kind = 0; kind < 3; ++kind) {
      const Bits first = kind == 2 ? first_of(c) : in1;
      const Bits second = kind == 1 ? second_of(c) : in2;
      EXPECT_NE(two(c, first, second), three(c, first, second));
      for (const std::uint32_t m : expect_close(c, first, second, 4e-6)) {
        const double magnitude = test::value_of(Dtype::float32, m);
        alone[kind] += magnitude > 0 && magnitude < 1e-7 ? 1 : 0;
      }
    }
  }
  // Of the errors of its sums: ours, which are within the bound, and those of chains of multiply-adds in one part.
  struct Squares {
    double ours = 0, chains = 0;
  };
  Squares squares_of(const ConvCase& c, const Bits& in1, const Bits& in2) {
    const Bits got = two(c, in1, in2);
    EXPECT_NE(got, three(c, in1, in2));
    const Bits chains = strict(c, in1, in2);
    const std::int64_t positions = c.p.y_elements() / c.p.k;
    const bool update = c.pass == ConvPass::update;
    const std::int64_t rows = update ? c.p.k : positions;
    const std::int64_t columns = c.pass == ConvPass::fprop ? c.p.k : c.p.c;
    const std::int64_t products = c.pass == ConvPass::fprop ? c.p.c : c.pass == ConvPass::bprop ? c.p.k : positions;
    const double terms = 97 + 16 + std::ceil(static_cast<double>(products) / 512) + 1;
    const double bound = terms * 0x1p-24 / (1 - terms * 0x1p-24);
    const auto value = [](const Bits& bits, std::int64_t i) { return test::value_of(Dtype::float32, bits[at(i)]); };
    Squares out;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        double magnitude = 0;
        for (std::int64_t l = 0; l < products; ++l) {
          const double a = value(in1, update ? l * c.p.k + i : i * products + l);
          const double b = value(in2, c.pass == ConvPass::fprop ? j * c.p.c + l : l * c.p.c + j);
          sum += a * b;
          magnitude += std::abs(a * b);
        }
        const double error = std::abs(value(got, i * columns + j) - sum);
        if (!(error <= bound * magnitude)) ADD_FAILURE() << "element " << i << ", " << j << ": " << error;
        out.ours += std::pow(error / magnitude, 2);
        out.chains += std::pow((value(chains, i * columns + j) - sum) / magnitude, 2);
      }
    }
    return out;
  }
};
NG_ON_EACH_DEVICE(TwoPiecesTest);

TEST_P(TwoPiecesTest, EveryVariant) {
  for (const Kernel* k : kernels_of("conv_f16x3")) {
    expect_exact(*k);
    if (HasFatalFailure()) return;
    if (checked()) continue;
    // It is this kernel that has computed them: bits of its own, which the others of its pass have, too.
    ConvCase c = case_of(*k);
    const Bits in1 = first_of(c);
    const Bits in2 = second_of(c);
    const Bits own = two(c, in1, in2);
    EXPECT_NE(own, three(c, in1, in2)) << k->name();
    c.forced.kernel = "_f16_128x128";
    EXPECT_EQ(own, two(c, in1, in2)) << k->name();
  }
}

TEST_P(TwoPiecesTest, RandomConvolutions) {
  if (!checked() && !idle()) expect_exact_at_random("_f16_128x128");
}

// Within the class's bound, each sum; and no farther from the exact ones than multiply-adds are, which begin anew every 256.
TEST_P(TwoPiecesTest, ErrorsAreSmall) {
  if (checked() || idle()) return;
  for (const ConvPass pass : kPasses) {
    const ConvCase c = product_of(pass, 640);
    const Squares s = squares_of(c, first_of(c), second_of(c));
    EXPECT_GT(s.ours, 0);
    EXPECT_LE(s.ours, s.chains) << "pass " << static_cast<int>(pass);
  }
}

// Of positive numbers what HGMMA cuts off adds up. Pieces without the bias would have three quarters of the chains' squares and more (2,304 products).
TEST_P(TwoPiecesTest, ErrorsOfPositiveNumbers) {
  if (checked() || idle()) return;
  std::mt19937 random(20);
  const auto uniform = [&] { return std::uniform_real_distribution<float>(0, 1)(random); };
  for (const std::int64_t products : {640, 2304, 6400}) {
    for (int kind = 0; kind < 3; ++kind) {
      const auto some = [&](const Bits& bits) {
        Bits out;
        for (std::size_t i = 0; i < bits.size(); ++i) {
          const float u = uniform();
          const float v = kind == 0 ? u : kind == 1 ? -std::log1p(-u) : std::exp(2 * u + uniform() - 1);
          out.push_back(std::bit_cast<std::uint32_t>(v));
        }
        return out;
      };
      const ConvPass pass = kPasses[(products + kind) % 3];
      const ConvCase c = product_of(pass, products);
      const Squares s = squares_of(c, some(first_of(c)), some(second_of(c)));
      EXPECT_LE(s.ours, 0.6 * s.chains) << "pass " << static_cast<int>(pass) << ", kind " << kind << ", " << products;
    }
  }
}

// The bits of the class that the manifest names, over several blocks of totals, in one part and in two.
TEST_P(TwoPiecesTest, OrderOfSums) {
  if (checked() || idle()) return;
  constexpr std::int64_t kTerms = 1300;
  constexpr std::int64_t kChunk = 64;
  ConvCase c;
  c.p.precision = Precision::tensor;
  c.p.n = 1, c.p.in = {1, 5, 7}, c.p.c = kTerms, c.p.k = 20;
  c.forced.kernel = "_f16_128x128";
  const Bits x = first_of(c);
  const Bits w = second_of(c);
  const auto floats = [](const Bits& bits) {
    std::vector<float> out;
    for (const std::uint32_t v : bits) out.push_back(std::bit_cast<float>(v));
    return out;
  };
  const std::vector<float> a = floats(x);
  const std::vector<float> b = floats(w);
  const Kernel& kernel = *device_.registry().find("conv_f16x3_f_128x128");
  const auto order = test::order_of(kernel.manifest().accum);
  ASSERT_TRUE(order) << kernel.manifest().accum;
  test::Cut cut;
  cut.e_a = test::scale_of(a, 35, kTerms, kTerms);
  cut.e_b = test::scale_of(b, c.p.k, kTerms, kTerms);
  for (cut.splits = 1; cut.splits <= 2; ++cut.splits) {
    c.forced.splits = cut.splits;
    cut.part = kChunk * ceil_div(ceil_div(kTerms, kChunk), cut.splits);
    const Bits got = two(c, x, w);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(got.size()); i += 3) {
      test::Terms t;
      for (std::int64_t l = 0; l < kTerms; ++l) {
        t.a.push_back(a[at(i / c.p.k * kTerms + l)]);
        t.b.push_back(b[at(i % c.p.k * kTerms + l)]);
      }
      ASSERT_EQ(got[at(i)], test::modelled(*order, t, cut)) << i << ", splits " << cut.splits;
    }
  }
}

// Small elements beside large ones lose nothing that counts.
TEST_P(TwoPiecesTest, FewSmallElements) {
  if (checked() || idle()) return;
  for (const ConvPass pass : kPasses) {
    for (const bool second : {false, true}) {
      ConvCase c = case_of(pass, 128);
      Bits in1 = first_of(c);
      Bits in2 = second_of(c);
      Bits& where = second ? in2 : in1;
      where[at(static_cast<std::int64_t>(where.size()) / 2)] = test::bits_of(Dtype::float32, 1e-11);
      const Bits got = two(c, in1, in2);
      const Bits others = three(c, in1, in2);
      EXPECT_NE(got, others);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(test::value_of(Dtype::float32, got[i]), test::value_of(Dtype::float32, others[i]), 1e-4) << i;
      }
    }
  }
}

// What the pieces of single elements lost is added: sums that consist of such elements are as exact as others.
using Three = decltype(ConvProblem::in);
struct Geometry {
  Three in, filter, stride, pad, dilation;
  std::int64_t c = 21, k = 37;
};
constexpr Geometry kGeometries[] = {{{1, 11, 8}, {1, 3, 3}, {1, 2, 3}, {0, 2, 0}, {1, 2, 1}},
                                    {{1, 7, 9}, {1, 3, 2}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
                                    {{4, 5, 6}, {2, 3, 5}, {2, 1, 2}, {1, 0, 3}, {1, 1, 2}},
                                    {{1, 6, 7}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
                                    {{1, 9, 8}, {1, 7, 7}, {1, 1, 1}, {0, 3, 3}, {1, 1, 1}},
                                    {{1, 5, 6}, {1, 2, 1}, {1, 1, 1}, {0, 1, 0}, {1, 1, 1}, 300, 290}};
constexpr std::int64_t kChannel = 4, kFilter = 8;  // of which lost elements alone are left

ConvCase with_geometry(ConvCase c, const Geometry& g) {
  c.p.in = g.in, c.p.filter = g.filter, c.p.stride = g.stride, c.p.pad = g.pad, c.p.dilation = g.dilation;
  c.p.n = 2, c.p.c = g.c, c.p.k = g.k;
  c.options.alpha = -1.5F;
  return c;
}
void put(Bits& bits, std::int64_t row, std::int64_t columns, std::int64_t column, double v) {
  const auto rows = static_cast<std::int64_t>(bits.size()) / columns;
  bits[at(row % rows * columns + column)] = test::bits_of(Dtype::float32, v);
}

TEST_P(TwoPiecesTest, LostElementsOfUpdate) {
  if (idle()) return;
  std::array<std::int64_t, 3> alone = {};
  for (const Geometry& g : kGeometries) {
    const ConvCase c = with_geometry(case_of(ConvPass::update, 128), g);
    Bits dy = first_of(c);
    Bits x = second_of(c);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int64_t>(i) % g.c == kChannel ? 0 : x[i];
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<std::int64_t>(i) % g.k == kFilter ? 0 : dy[i];
    put(x, 23, g.c, kChannel, 1.234567e-10);
    put(x, 40, g.c, kChannel, -7.654321e-16);
    put(dy, 11, g.k, kFilter, 3.141592e-11);
    put(dy, 17, g.k, kFilter, 2.718281e-9);
    expect_made_good(c, dy, x, alone);
    if (checked()) return;
    // With three of them a CTA has no room for all.
    put(x, 31, g.c, kChannel, 5e-13);
    EXPECT_EQ(two(c, dy, x), three(c, dy, x));
  }
  for (const std::int64_t sums : alone) EXPECT_GT(sums, 20);
}

// The second image of dy has lost elements alone.
TEST_P(TwoPiecesTest, LostElementsOfBprop) {
  if (idle()) return;
  std::array<std::int64_t, 3> alone = {};
  for (const Geometry& g : kGeometries) {
    const ConvCase c = with_geometry(case_of(ConvPass::bprop, 128), g);
    Bits dy = first_of(c);
    Bits w = second_of(c);
    const std::int64_t positions = c.p.y_elements() / g.k;
    const std::int64_t taps = c.p.w_elements() / g.k / g.c;
    for (std::size_t i = dy.size() / 2; i < dy.size(); ++i) dy[i] = 0;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::int64_t>(i) % g.c == kChannel ? 0 : w[i];
    put(dy, positions / 2 + 2, g.k, kFilter, 3.141592e-11);
    put(dy, positions - 2, g.k, kFilter, -2.718281e-9);
    put(w, kFilter * taps + taps / 2, g.c, kChannel, 1.234567e-10);
    put(w, 20 * taps + taps - 1, g.c, kChannel, -7.654321e-16);
    expect_made_good(c, dy, w, alone);
    ConvCase masked = c;
    masked.mask = true;
    masked.mask_gap = 1;
    const std::uint32_t word = 0x92d35ac6;
    const Bits plain = two(c, dy, w);
    const Bits some = test::run(device_, masked, dy, w, word);
    std::int64_t tiny = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      ASSERT_EQ(some[i], (word >> static_cast<std::int64_t>(i) % g.c % 32 & 1) != 0 ? plain[i] : 0) << i;
      tiny += some[i] == 0 && std::abs(test::value_of(Dtype::float32, plain[i])) < 1e-7 && plain[i] << 1 != 0 ? 1 : 0;
    }
    EXPECT_GT(tiny, 5);  // of strided ones relu_mask.sass makes them
    if (checked()) return;
    // With three of them a CTA has no room for all.
    Bits more = w;
    for (const std::int64_t f : {9, 10}) put(more, f * taps + taps / 2, g.c, kChannel, 5e-13);
    EXPECT_EQ(two(c, dy, more), three(c, dy, more));
    for (const std::int64_t f : {35, 36}) put(dy, positions / 2 + 2, g.k, f, 5e-13);
    EXPECT_EQ(two(c, dy, w), three(c, dy, w));
  }
  for (const std::int64_t sums : alone) EXPECT_GT(sums, 20);
}

// Of dy's lost elements any number stays beside enough large ones, where w has few small ones.
TEST_P(TwoPiecesTest, LostElementsThatStayInBprop) {
  if (checked() || idle()) return;
  ConvCase c = case_of(ConvPass::bprop, 128);
  c.p.k = 128;
  Bits dy = first_of(c);
  Bits w = second_of(c);
  for (std::uint32_t& v : w) v = (v & 0x80000000U) | 0x3f800000U;  // +-1
  const std::uint32_t lost = test::bits_of(Dtype::float32, -2e-11);
  for (const int small : {79, 80}) {  // of 128, and one of them lost: a share of 40 of 64, and more
    for (std::size_t i = 0; i < dy.size(); ++i) {
      dy[i] = static_cast<int>(i % 128) >= small ? 0x3f800000U : i % 128 == 5 ? lost : 0;
    }
    for (std::int64_t i = 0; i < 128; ++i) {
      if (i != 77) put(dy, 33, 128, i, i == 78 ? 1e-10 : 0);  // left out
    }
    EXPECT_EQ(two(c, dy, w) == three(c, dy, w), small == 80) << small;
    expect_close(c, dy, w, 2e-6);
  }
}

// More pixels than conv_lost_b.sass has threads: a lost element of w meets all of them.
TEST_P(TwoPiecesTest, LostElementsBesideManyPixels) {
  if (checked() || idle()) return;
  ConvCase c = case_of(ConvPass::bprop, 64);
  c.p.n = 1, c.p.in = {1, 183, 181}, c.p.filter = {1, 1, 1}, c.p.pad = {0, 0, 0}, c.p.c = 3, c.p.k = 9;
  const Bits dy = first_of(c);
  Bits w = second_of(c);
  for (std::int64_t i = 1; i < static_cast<std::int64_t>(w.size()); i += 3) w[at(i)] = 0;
  put(w, 4, 3, 1, 1.5e-10);
  EXPECT_NE(two(c, dy, w), three(c, dy, w));
  std::int64_t alone = 0;
  for (const std::uint32_t m : expect_close(c, dy, w, 4e-6)) {
    const double magnitude = test::value_of(Dtype::float32, m);
    alone += magnitude > 0 && magnitude < 1e-7 ? 1 : 0;
  }
  EXPECT_GT(alone, 32000);
}

// What is rounded stochastically has nothing added afterwards: one lost element of an update, or of dy beside zeros, is enough for three pieces.
TEST_P(TwoPiecesTest, LostElementsOfStochasticRounding) {
  if (checked() || idle()) return;
  for (const ConvPass pass : {ConvPass::bprop, ConvPass::update}) {
    ConvCase c = case_of(pass, 128);
    c.options.rounding = {true, 11, 22, 10};
    Bits dy = first_of(c);
    const Bits other = second_of(c);
    EXPECT_NE(two(c, dy, other), three(c, dy, other)) << "pass " << static_cast<int>(pass);
    for (std::int64_t i = 0; i < c.p.k; ++i) put(dy, 17, c.p.k, i, i == 6 ? 3e-11 : 0);
    EXPECT_EQ(two(c, dy, other), three(c, dy, other)) << "pass " << static_cast<int>(pass);
  }
}

// A lost element of a panel with one column: fprop has nothing after that would add it.
TEST_P(TwoPiecesTest, LostElementsInTheLastColumn) {
  if (checked() || idle()) return;
  for (const std::int64_t channels : {129, 130, 257}) {
    ConvCase c = case_of(ConvPass::fprop, 128);
    c.p.c = channels, c.p.filter = {1, 1, 1}, c.p.pad = {0, 0, 0};
    Bits x = first_of(c);
    const Bits w = second_of(c);
    for (std::int64_t i = 0; i < channels; ++i) put(x, 33, channels, i, i == channels - 1 ? 1.234567e-10 : 0);
    expect_close(c, x, w, 4e-6);
  }
}

// Sums that consist of what two pieces cannot tell: of one operand's small elements alone, or of those of both that meet each other's zeros
// and large ones.
TEST_P(TwoPiecesTest, SumsOfSmallElements) {
  if (checked() || idle()) return;
  const std::uint32_t small = test::bits_of(Dtype::float32, 3.3e-11);
  for (const ConvPass pass : kPasses) {
    for (int kind = 0; kind < 3; ++kind) {
      ConvCase c = case_of(pass, 128);
      Bits in1 = first_of(c);
      Bits in2 = second_of(c);
      const std::int64_t inner1 = pass == ConvPass::fprop ? c.p.c : c.p.k;
      if (kind == 0) {  // a pixel; update: a channel of dy
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(in1.size()); ++i) {
          if (pass == ConvPass::update ? i % inner1 == 5 : i / inner1 == 40) in1[at(i)] = small;
        }
      } else if (kind == 1) {  // a tap of a filter; bprop: of a channel; update: a channel of x
        const std::int64_t row = 6 * c.p.c;
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(in2.size()); ++i) {
          const bool here = pass == ConvPass::fprop   ? i / c.p.c == 20
                            : pass == ConvPass::bprop ? i % row == 3 * c.p.c + 7
                                                      : i % c.p.c == 9;
          if (here) in2[at(i)] = small;
        }
      } else {  // every other element of the one, and those that these do not meet of the other
        for (std::size_t i = 0; i < in1.size(); ++i) {
          if (static_cast<std::int64_t>(i) % inner1 % 2 == 0) in1[i] = small;
        }
        const std::int64_t row = pass == ConvPass::bprop ? 6 * c.p.c : 1;
        for (std::size_t i = 0; i < in2.size(); ++i) {
          if (static_cast<std::int64_t>(i) / row % 2 != 0) in2[i] = small;
        }
      }
      EXPECT_EQ(two(c, in1, in2), three(c, in1, in2)) << "pass " << static_cast<int>(pass) << ", kind " << kind;
    }
  }
}

// Pixels that are 0 for the most part, or all, as after a max pool: beside them single lost elements have as many large ones as they need,
// one for eight of them, or a kernel after it computes the pass.
TEST_P(TwoPiecesTest, LostElementsBesideZeros) {
  if (checked() || idle()) return;
  constexpr std::int64_t kSum = 128;  // channels of a pixel, a group
  const std::uint32_t lost = test::bits_of(Dtype::float32, -2e-11);
  for (const int more : {0, 1}) {
    ConvCase c = case_of(ConvPass::fprop, 128);
    c.p.c = kSum;
    Bits x = first_of(c);
    Bits w = second_of(c);
    for (std::uint32_t& v : w) v = (v & 0x80000000U) | 0x3f800000U;  // +-1: none is small
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t pixel = i / kSum;
      if (pixel % 3 == 0 || i % 5 < 3) x[i] = 0;
    }
    // Of one pixel one large element is left, and eight lost ones, or nine.
    const std::size_t pixel = 41 * kSum;
    for (std::size_t i = 0; i < kSum; ++i) x[pixel + i] = i == 77 ? 0x3f800000U : 0;
    for (std::size_t i = 0; i < 8U + static_cast<std::size_t>(more); ++i) x[pixel + 14 * i] = lost;
    EXPECT_EQ(two(c, x, w) == three(c, x, w), more == 1);
    expect_close(c, x, w, 2e-6);
    // The other operand's elements may be small only where that leaves large ones.
    w[at(static_cast<std::int64_t>(w.size()) / 2)] = 0;
    EXPECT_EQ(two(c, x, w), three(c, x, w));
  }
}

// NaN, infinities, what float16 cannot scale, and what has no pieces at all: conv_if.sass's, in one part.
TEST_P(TwoPiecesTest, OutOfRange) {
  if (checked() || idle()) return;
  constexpr float kOdd[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3.4e38F};
  int number = 0;
  for (const ConvPass pass : kPasses) {
    for (const std::int64_t splits : {1, 2}) {
      for (const float odd : kOdd) {
        ConvCase c = case_of(pass, number % 2 == 0 || pass == ConvPass::update ? 128 : 64);
        c.forced.splits = splits;
        if (number % 3 == 0) c.p.stride = {1, 2, 2};
        c.options.relu = pass == ConvPass::fprop;
        c.mask = pass != ConvPass::update;
        Bits in1 = first_of(c);
        Bits in2 = second_of(c);
        Bits& where = number % 2 == 0 ? in1 : in2;
        where[static_cast<std::size_t>(number * 37) % where.size()] = test::bits_of(Dtype::float32, odd);
        expect_strict(c, in1, in2, odd);
        if (HasFatalFailure()) return;
        ++number;
      }
    }
  }
}

// Operands of any size: their scales are taken off again.
TEST_P(TwoPiecesTest, Scales) {
  if (checked() || idle()) return;
  const ConvCase c = case_of(ConvPass::fprop, 128);
  const Bits x = first_of(c);
  const Bits w = second_of(c);
  const Bits plain = two(c, x, w);
  const auto times = [](const Bits& bits, int power) {
    Bits out = bits;
    for (std::uint32_t& v : out) {
      v = test::bits_of(Dtype::float32, std::ldexp(test::value_of(Dtype::float32, v), power));
    }
    return out;
  };
  for (const int power : {-60, 50}) {
    EXPECT_EQ(two(c, times(x, power), w), times(plain, power));
    EXPECT_EQ(two(c, times(x, power), times(w, -power)), plain);
  }
}

// The library's own choice, unforced: layers just large enough for two pieces are exact, with one tap and with nine.
TEST_P(TwoPiecesTest, LayersThatChooseThem) {
  if (checked() || idle()) return;
  int taken = 0;
  for (const ConvPass pass : kPasses) {
    for (const std::int64_t taps : {1, 3}) {
      ConvCase c;
      c.pass = pass;
      c.p.precision = Precision::tensor;
      c.p.c = taps == 1 ? 528 : 256, c.p.k = taps == 1 ? 528 : 512;
      c.p.in = {1, 14, 14}, c.p.filter = {1, taps, taps}, c.p.pad = {0, taps / 2, taps / 2};
      while (c.p.n < 256 && !conv_detail::two_pieces::chosen(pass, c.p)) ++c.p.n;
      if (!conv_detail::two_pieces::chosen(pass, c.p)) continue;
      ++taken;
      c.options.relu = pass == ConvPass::fprop;
      c.mask = pass != ConvPass::update;
      const auto integers = [](Bits bits) {
        for (std::uint32_t& v : bits) {
          const double whole = std::clamp(std::nearbyint(test::value_of(Dtype::float32, v)), -3.0, 3.0);
          v = test::bits_of(Dtype::float32, whole);
        }
        return bits;
      };
      const Bits in1 = integers(first_of(c));
      const Bits in2 = integers(second_of(c));
      const Bits got = test::run(device_, c, in1, in2);
      c.p.precision = Precision::strict;
      const Bits want = test::run(device_, c, in1, in2);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_TRUE(got[i] == want[i] || ((got[i] | want[i]) << 1) == 0)
            << "pass " << static_cast<int>(pass) << ", taps " << taps << ", n " << c.p.n << ", element " << i;
      }
    }
  }
  EXPECT_EQ(taken, 6);
}

conv_detail::Forced forced(const char* kernel, std::int64_t splits = 0) {
  conv_detail::Forced out;
  out.kernel = kernel, out.splits = splits;
  return out;
}

TEST(TwoPiecesChoice, TakesLongSumsOfLargeLayers) {
  using conv_detail::two_pieces::chosen;
  for (const ConvPass pass : kPasses) {
    EXPECT_TRUE(chosen(pass, test::vgg_layer(256, 56, 256)));
    EXPECT_TRUE(conv_detail::tensor_cores::takes(pass, test::vgg_layer(256, 56, 256)));
    EXPECT_FALSE(chosen(pass, test::vgg_layer(256, 56, 256), forced("_128x128")));
    EXPECT_FALSE(chosen(pass, test::vgg_layer(256, 56, 256), forced("", 1)));
    EXPECT_TRUE(chosen(pass, test::vgg_layer(16, 7, 16), forced("_f16_128x128")));
    EXPECT_FALSE(chosen(pass, test::vgg_layer(64, 7, 64)));
  }
  EXPECT_FALSE(chosen(ConvPass::fprop, test::vgg_layer(48, 56, 256))) << "a short sum";
}

// A filter of one tap alone is a product, whatever the other ways would take.
TEST(TwoPiecesChoice, MoreTapsAreNoProduct) {
  std::mt19937 random(3);
  const auto some = [&](std::initializer_list<std::int64_t> of) { return *(of.begin() + random() % of.size()); };
  int products = 0;
  for (int i = 0; i < 400; ++i) {
    ConvProblem p = test::vgg_layer(some({64, 96, 256, 480, 832}), some({7, 14, 28, 56}), some({64, 160, 256, 512}));
    const std::int64_t taps = some({1, 2, 3, 5});
    p.n = some({16, 64, 128});
    p.filter = {1, taps, taps}, p.pad = {0, taps / 2, taps / 2}, p.stride = {1, some({1, 1, 2}), 1};
    conv_detail::Epilogue e;
    e.beta = static_cast<float>(some({0, 1}));
    for (const ConvPass pass : kPasses) {
      const bool is = conv_detail::product::of_float32(pass, p, e);
      EXPECT_TRUE(!is || conv_detail::product::is_one(p)) << i << ", pass " << static_cast<int>(pass);
      products += is ? 1 : 0;
    }
  }
  EXPECT_GT(products, 50);
}

}  // namespace
}  // namespace nervanagpu
