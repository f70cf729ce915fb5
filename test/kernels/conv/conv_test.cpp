// Every pass, type and layout on the emulator, of both families.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/conv/launch.h"
#include "kernels/conv/problem.h"
#include "src/numbers/philox.h"
#include "src/numbers/round.h"
#include "test/kernels/bound.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/model.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

constexpr const char* kClass = "chain chunk=256";
constexpr ConvPass kPasses[] = {ConvPass::fprop, ConvPass::bprop, ConvPass::update};

class ConvTest : public test::OnEachDevice {
 protected:
  ConvCase random_case(int turn, std::int64_t most) {
    ConvCase c;
    c.pass = kPasses[turn % 3];
    c.p = test::random_problem(random_, most);
    test::choose_types(random_, c);
    test::choose_epilogue(random_, c);
    return c;
  }

  // One that conv.sass takes as it is.
  ConvCase native_case(int turn, std::int64_t most) {
    ConvCase c = random_case(turn, most);
    for (Dtype* t : {&c.p.x_type, &c.p.w_type, &c.p.y_type, &c.bias_type}) {
      if (*t == Dtype::bfloat16) *t = Dtype::float16;
    }
    if (c.p.layout == Layout::channels_first) c.p.layout = Layout::channels_last;
    test::keep_sums(c);
    return c;
  }

  std::string variant(const Kernel& k, const char* name) const { return k.manifest().variant.at(name); }

  // A problem that the kernel is written for and that takes several of its tiles, none of them full.
  ConvCase case_of(const Kernel& k) const {
    const std::map<std::string, std::pair<ConvPass, Layout>> orders = {
        {"llj", {ConvPass::fprop, Layout::channels_last}},
        {"ljj", {ConvPass::bprop, Layout::channels_last}},
        {"iji", {ConvPass::fprop, Layout::batch_last}},
        {"ili", {ConvPass::bprop, Layout::batch_last}},
    };
    const std::map<std::string, Dtype> types = {{"f32", Dtype::float32},
                                                {"f16", Dtype::float16},
                                                {"s8", Dtype::int8},
                                                {"u8", Dtype::uint8},
                                                {"s32", Dtype::int32}};
    ConvCase c;
    c.pass = orders.at(variant(k, "ORDER")).first;
    c.p.layout = orders.at(variant(k, "ORDER")).second;
    const bool bprop = c.pass == ConvPass::bprop;
    (bprop ? c.p.y_type : c.p.x_type) = types.at(variant(k, "XT"));
    c.p.w_type = types.at(variant(k, "WT"));
    (bprop ? c.p.x_type : c.p.y_type) = types.at(variant(k, "YT"));
    const std::int64_t v = k.number("V");
    const std::int64_t wide = v == 4 ? k.number("BN") + 4 : k.number("BN") + 3;
    c.p.n = v == 4 ? 4 : 3;
    c.p.c = bprop ? wide : 4 * v;
    c.p.k = bprop ? 4 * v : wide;
    c.p.in = {1, 7, 6};
    c.p.filter = {1, 3, 2};
    c.p.pad = {0, 1, 1};
    c.forced.kernel = k.name().substr(k.name().rfind('_', k.name().rfind('_') - 1));
    return c;
  }
};
NG_ON_EACH_DEVICE(ConvTest);

TEST_P(ConvTest, ExactIntegers) {
  for (int turn = 0; turn < drawn(900); ++turn) {
    ASSERT_EQ(test::judge(device_, random_, random_case(turn, 700)), "") << turn;
  }
}

TEST_P(ConvTest, ExactIntegersOfSlices) {
  for (int turn = 0; turn < drawn(450); ++turn) {
    ConvCase c = random_case(turn, 700);
    c.p.layout = Layout::channels_last;
    test::choose_pitches(random_, c.p);
    ASSERT_EQ(test::judge(device_, random_, c), "") << turn;
  }
}

TEST_P(ConvTest, LargerThanATile) {
  for (int turn = 0; turn < drawn(24); ++turn) {
    ConvCase c = random_case(turn, 1000);
    c.p.n = 5, c.p.in = {1, 6, 7}, c.p.filter = {1, 3, 3}, c.p.pad = {0, 1, 2}, c.p.stride = {1, 1, 1 + turn % 2};
    c.p.dilation = {1, 1, 1}, c.p.groups = 1;
    c.p.c = turn % 3 == 0 ? 72 : 67;
    c.p.k = turn % 3 == 1 ? 72 : 69;
    test::choose_pitches(random_, c.p);
    ASSERT_EQ(test::judge(device_, random_, c), "") << turn;
  }
}

TEST_P(ConvTest, EveryVariant) {
  std::size_t turn = 0;
  for (const Kernel* k : device_.registry().of_op("conv")) {
    ConvCase c = case_of(*k);
    ++turn;
    if (checked() && !test::in_tier(turn, 4)) continue;
    if (checked() && c.p.y_type == Dtype::float16) c.p.in[1] = 3;  // takes longer
    if (test::in_tier(turn, 2)) {
      ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
    }
    if (checked() || !test::in_tier(turn + 1, 2)) continue;
    c.shift = k->number("V") == 4 ? 4 : 1;
    c.options.beta = 2.0F;
    ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
  }
}

// Normal numbers: whichever tile computes them.
TEST_P(ConvTest, EveryVariantGivesTheSameBits) {
  if (checked()) return;
  std::normal_distribution<double> normal;
  std::map<std::string, Bits> seen;
  std::size_t compared = 0;
  for (const Kernel* k : device_.registry().of_op("conv")) {
    if (variant(*k, "YT") == "s32") continue;
    ConvCase c = case_of(*k);
    c.p.n = 4, c.p.c = 20, c.p.k = 12;
    const conv_detail::Roles roles = conv_detail::roles_of(c.pass);
    std::mt19937 random(7);  // the same data for all
    const auto data = [&](conv_detail::Role role) {
      const Dtype type = conv_detail::type_of(c.p, role);
      Bits bits(static_cast<std::size_t>(conv_detail::elements_of(c.p, role)));
      for (std::uint32_t& b : bits) b = test::is_float(type) ? test::bits_of(type, normal(random)) : random() & 255U;
      return bits;
    };
    const Bits in1 = data(roles.in1);
    const Bits in2 = data(roles.in2);
    const Bits got = test::run(device_, c, in1, in2);
    const std::string key = variant(*k, "ORDER") + variant(*k, "XT") + variant(*k, "YT");
    const auto [it, first] = seen.emplace(key, got);
    compared += first ? 0 : 1;
    ASSERT_EQ(it->second, got) << k->name();
  }
  EXPECT_GT(compared, 20U);
}

// Bits and bounds as the front matter states them, the parts of a sum added up, too.
TEST_P(ConvTest, EveryVariantHasTheBitsOfItsClassAndItsBound) {
  if (checked()) return;
  std::normal_distribution<double> normal;
  std::uint64_t planted = 0, bounded = 0;
  double largest = 0;
  for (const Kernel* k : device_.registry().of_op("conv")) {
    const bool integer = variant(*k, "YT") == "s32";
    ASSERT_EQ(k->manifest().accum, integer ? "integer" : kClass) << k->name();
    if (integer) continue;  // ExactIntegers
    for (const std::int64_t splits : {1, 3}) {
      ConvCase c = case_of(*k);
      c.p.n = 4, c.p.in = {1, 5, 4};
      c.p.c = c.pass == ConvPass::bprop ? 12 : 92;  // 552 terms: two chunks and a part of one
      c.p.k = c.pass == ConvPass::bprop ? 92 : 12;
      c.forced.splits = splits;
      if (splits > 1 && variant(*k, "ORDER") == "iji" && c.p.x_type != Dtype::int8 && c.p.x_type != Dtype::uint8) {
        c.pass = ConvPass::update;
        c.p.layout = Layout::channels_last;
        c.p.n = 40, c.p.c = 20;  // three parts of more than a chunk
      }
      const conv_detail::Roles roles = conv_detail::roles_of(c.pass);
      const auto data = [&](conv_detail::Role role) {
        const Dtype type = conv_detail::type_of(c.p, role);
        Bits bits(static_cast<std::size_t>(conv_detail::elements_of(c.p, role)));
        for (std::uint32_t& b : bits)
          b = test::is_float(type) ? test::bits_of(type, normal(random_)) : random_() & 255U;
        return bits;
      };
      const auto floats = [&](conv_detail::Role role, const Bits& bits) {
        std::vector<float> out;
        for (const std::uint32_t b : bits) out.push_back(test::value_of(conv_detail::type_of(c.p, role), b));
        return out;
      };
      const Bits in1 = data(roles.in1), in2 = data(roles.in2);
      const std::vector<float> x = floats(roles.in1, in1), y = floats(roles.in2, in2);
      const Dtype type = conv_detail::type_of(c.p, roles.out);
      const Bits got = test::run(device_, c, in1, in2);
      const std::vector<float> model =
          test::execute(c.pass, c.p, conv_detail::map(c.pass, c.p, c.forced.limits, splits), x, y);
      ASSERT_EQ(model.size(), got.size());
      std::vector<double> wide[4];  // both, and their absolute values
      for (const float v : x) wide[0].push_back(v), wide[2].push_back(std::fabs(v));
      for (const float v : y) wide[1].push_back(v), wide[3].push_back(std::fabs(v));
      const std::vector<double> exact = test::convolve(c.pass, c.p, wide[0], wide[1]);
      const std::vector<double> sizes = test::convolve(c.pass, c.p, wide[2], wide[3]);
      const conv_detail::Launch launch = conv_detail::map(c.pass, c.p, c.forced.limits, splits).launches.front();
      const double terms = static_cast<double>(launch.k);
      ASSERT_GT(launch.k, 256) << "a sum of one chunk";
      const double part = static_cast<double>(std::min(launch.k, launch.kchunk));
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], test::bits_of(type, model[i])) << k->name() << ", " << splits << " parts, element " << i;
        const auto bound = test::bound_of(
            k->manifest().bound,
            {{"k", terms}, {"part", part}, {"splits", static_cast<double>(launch.splits)}, {"S", sizes[i]}});
        ASSERT_TRUE(bound) << k->name() << ": " << k->manifest().bound;
        const double unit = type == Dtype::float16 ? 0x1p-11 : 0;
        const double most = *bound + unit * (std::fabs(exact[i]) + *bound) + (unit == 0 ? 0 : 0x1p-25);
        const double is = test::value_of(type, got[i]);
        ASSERT_TRUE(std::fabs(is - exact[i]) <= most) << k->name() << ": " << is << " for " << exact[i];
        if (most > 0) largest = std::max(largest, std::fabs(is - exact[i]) / most);
        // A sum that lacks the mean of one term.
        planted += std::fabs(is - exact[i] + sizes[i] / terms) > most ? 1 : 0;
        ++bounded;
      }
    }
  }
  EXPECT_GE(planted * 4, bounded * 3) << "the bound hides a term that is missing";
  EXPECT_GE(largest, 1.0 / 100) << "the bound is far from any error";
}

// The totals of every lane: sums of three chunks in several tiles.
TEST_P(ConvTest, EveryVariantAddsChunks) {
  for (const Kernel* k : device_.registry().of_op("conv")) {
    ConvCase c = case_of(*k);
    if (checked() && (c.p.y_type == Dtype::float16 || c.p.w_type == Dtype::float16)) continue;  // takes longer
    (c.pass == ConvPass::bprop ? c.p.k : c.p.c) = 92;
    c.p.in = {1, 5, 5};
    c.forced.splits = 1;
    ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
  }
}

// Errors do not go on growing with the length of a sum. A chain of its 4,608 terms is beyond the bound where every rounding goes the same
// way, and has several times the error where they go any way.
TEST_P(ConvTest, LongSumsHaveTheErrorsOfChunks) {
  if (checked()) return;
  constexpr std::int64_t kTerms = 4608, kColumns = 12, kImages = 4, kWide = 3;
  constexpr double kRoundings = 256 + 18 - 1;  // of a chunk, and of 18 chunks that are added
  constexpr double kBound = kRoundings * 0x1p-24 / (1 - kRoundings * 0x1p-24);
  std::uniform_real_distribution<double> uniform;
  int tried = 0;
  for (const Kernel* k : device_.registry().of_op("conv")) {
    if (variant(*k, "XT") != "f32") continue;
    ConvCase c = case_of(*k);
    const bool bprop = c.pass == ConvPass::bprop;
    c.p.n = kImages, c.p.in = {1, 1, kWide}, c.p.filter = {1, 1, 1}, c.p.pad = {0, 0, 0};
    c.p.c = bprop ? kColumns : kTerms, c.p.k = bprop ? kTerms : kColumns;
    c.forced.splits = 1;
    const auto bound = test::bound_of(k->manifest().bound, {{"k", kTerms}, {"part", kTerms}, {"splits", 1}, {"S", 1}});
    ASSERT_TRUE(bound);
    EXPECT_LE(*bound, kBound) << k->name();
    const auto place = [&](std::int64_t row, std::int64_t channel, std::int64_t channels) {
      return static_cast<std::size_t>(
          test::offset_of(c.p.layout, {row / kWide, channel, 0, 0, row % kWide}, kImages, channels, c.p.in));
    };
    const auto weight = [&](std::int64_t l, std::int64_t column) {
      const test::At at = bprop ? test::At{l, column, 0, 0, 0} : test::At{column, l, 0, 0, 0};
      return static_cast<std::size_t>(test::offset_of(c.p.layout, at, c.p.k, c.p.c, c.p.filter));
    };
    std::vector<float> a(kImages * kWide * kTerms), b(kTerms * kColumns);
    for (float& v : a) v = static_cast<float>(uniform(random_));
    for (float& v : b) v = static_cast<float>(uniform(random_));
    // Beyond 2,048 each term loses half a unit in the last place of a sum that has them all.
    for (std::int64_t l = 0; l < kTerms; ++l) a[place(0, l, kTerms)] = 1, b[weight(l, 0)] = 1 + 0x1p-13F - 0x1p-23F;
    Bits in1, in2;
    for (const float v : a) in1.push_back(std::bit_cast<std::uint32_t>(v));
    for (const float v : b) in2.push_back(std::bit_cast<std::uint32_t>(v));
    const Bits got = test::run(device_, c, in1, in2);
    double squares = 0, of_chains = 0, largest_of_chains = 0;
    for (std::int64_t row = 0; row < kImages * kWide; ++row) {
      for (std::int64_t column = 0; column < kColumns; ++column) {
        double exact = 0;
        float chain = 0;
        for (std::int64_t l = 0; l < kTerms; ++l) {
          const float x = a[place(row, l, kTerms)], w = b[weight(l, column)];
          exact += static_cast<double>(x) * w;
          chain = std::fma(x, w, chain);
        }
        const double error = std::fabs(std::bit_cast<float>(got[place(row, column, kColumns)]) - exact) / exact;
        ASSERT_TRUE(error <= kBound) << k->name() << ": " << error << ", row " << row << ", column " << column;
        if (row > 0 && column > 0) squares += error * error, of_chains += std::pow((chain - exact) / exact, 2);
        largest_of_chains = std::max(largest_of_chains, std::fabs(chain - exact) / exact);
      }
    }
    EXPECT_LT(squares, of_chains / 9) << k->name();
    EXPECT_GT(largest_of_chains, kBound);
    ++tried;
  }
  EXPECT_GE(tried, 16);  // four orders, and tiles
}

TEST_P(ConvTest, Splits) {
  int split = 0;
  for (int turn = 0; turn < drawn(240); ++turn) {
    ConvCase c = native_case(turn, 400);
    if (turn % 3 == 1) c.p.stride = {1, 1, 1};  // the others have classes of their own
    try {
      static_cast<void>(c.p.out());
    } catch (const std::exception&) {
      continue;
    }
    c.p.n = 7;
    c.forced.splits = 2 + turn % 5;
    ASSERT_EQ(test::judge(device_, random_, c), "") << turn;
    split += conv_detail::partial_bytes(c.pass, c.p, c.forced) > 0 ? 1 : 0;
  }
  EXPECT_GT(split, drawn(60));
  // As many as it takes by itself, and the same bits each time.
  ConvCase c;
  c.pass = ConvPass::update;
  c.p.n = 4, c.p.c = 3, c.p.k = 5, c.p.in = {1, 13, 16}, c.p.filter = {1, 3, 2};
  EXPECT_GT(conv_workspace(c.pass, c.p), 2U * 4U * static_cast<std::size_t>(c.p.w_elements()));
  Bits first;
  Bits second;
  std::mt19937 again = random_;
  ASSERT_EQ(test::judge(device_, random_, c, &first), "");
  ASSERT_EQ(test::judge(device_, again, c, &second), "");
  EXPECT_EQ(first, second);
}

TEST_P(ConvTest, CutBatchesAndGroups) {
  for (int turn = 0; turn < drawn(60); ++turn) {
    ConvCase c = native_case(turn, 300);
    c.p.layout = Layout::channels_last;
    c.p.n = 9;
    c.forced.limits.elements = std::max({c.p.x_elements() / 9, c.p.y_elements() / 9, c.p.w_elements()}) * 4 + 1;
    c.forced.limits.grid_z = 3;
    ASSERT_EQ(test::judge(device_, random_, c), "") << turn;
  }
}

TEST_P(ConvTest, NoTapsNoChannelsOfTheirOwn) {
  ConvCase c;
  c.pass = ConvPass::bprop;
  c.p.layout = Layout::batch_last;
  c.p.n = 4, c.p.c = 3, c.p.k = 5;
  c.p.in = {1, 9, 8}, c.p.filter = {1, 1, 2}, c.p.stride = {1, 3, 4};  // most positions are met by no tap
  ASSERT_EQ(test::judge(device_, random_, c), "");
  c.options.beta = -2.0F;
  ASSERT_EQ(test::judge(device_, random_, c), "");
  // Depthwise.
  for (const ConvPass pass : kPasses) {
    ConvCase d;
    d.pass = pass;
    d.p.n = 2, d.p.c = d.p.k = d.p.groups = 37;
    d.p.in = {1, 5, 6}, d.p.filter = {1, 3, 3}, d.p.pad = {0, 1, 1};
    ASSERT_EQ(test::judge(device_, random_, d), "");
  }
}

TEST_P(ConvTest, SpecialValues) {
  // One NaN, one infinity and one -infinity in x: exactly the windows that hold them.
  for (const Layout layout : {Layout::channels_last, Layout::batch_last, Layout::channels_first}) {
    ConvCase c;
    c.p.layout = layout;
    c.p.n = 2, c.p.c = 3, c.p.k = 4, c.p.in = {1, 6, 7}, c.p.filter = {1, 3, 3}, c.p.pad = {0, 1, 1};
    std::vector<double> x(static_cast<std::size_t>(c.p.x_elements()), 1.0);
    std::vector<double> w(static_cast<std::size_t>(c.p.w_elements()), 2.0);
    x[static_cast<std::size_t>(test::offset_of(layout, {0, 1, 0, 2, 2}, 2, 3, c.p.in))] = std::nan("");
    x[static_cast<std::size_t>(test::offset_of(layout, {1, 2, 0, 0, 0}, 2, 3, c.p.in))] = HUGE_VAL;
    x[static_cast<std::size_t>(test::offset_of(layout, {1, 0, 0, 5, 6}, 2, 3, c.p.in))] = -HUGE_VAL;
    const std::vector<double> y = test::convolve(ConvPass::fprop, c.p, x, w);
    const auto bits = [](const std::vector<double>& v) {
      Bits out(v.size());
      for (std::size_t i = 0; i < v.size(); ++i) out[i] = test::bits_of(Dtype::float32, v[i]);
      return out;
    };
    for (const bool relu : {false, true}) {
      c.options.relu = relu;
      Bits wanted = bits(y);
      for (std::uint32_t& b : wanted) {
        if (relu && b >> 31 != 0) b = 0;
      }
      Bits got = test::run(device_, c, bits(x), bits(w));
      for (std::uint32_t& b : got) {
        if ((b & 0x7fffffffU) > 0x7f800000U) b = 0x7fffffff;  // any NaN
      }
      EXPECT_EQ(got, wanted);
    }
  }
}

TEST_P(ConvTest, ErrorBound) {
  std::normal_distribution<double> normal;
  for (int turn = 0; turn < drawn(12); ++turn) {
    ConvCase c;
    c.pass = kPasses[turn % 3];
    c.p = test::random_problem(random_, 1500);
    const bool half = turn % 2 == 0;
    c.p.x_type = c.p.w_type = c.p.y_type = half ? Dtype::float16 : Dtype::float32;
    const conv_detail::Roles roles = conv_detail::roles_of(c.pass);
    const auto data = [&](conv_detail::Role role) {
      Bits bits(static_cast<std::size_t>(conv_detail::elements_of(c.p, role)));
      for (std::uint32_t& b : bits) b = test::bits_of(c.p.x_type, normal(random_) * std::exp(2 * normal(random_)));
      return bits;
    };
    const auto values = [&](const Bits& bits, bool magnitude) {
      std::vector<double> out(bits.size());
      for (std::size_t i = 0; i < bits.size(); ++i) {
        out[i] = test::value_of(c.p.x_type, bits[i]);
        if (magnitude) out[i] = std::fabs(out[i]);
      }
      return out;
    };
    const Bits in1 = data(roles.in1);
    const Bits in2 = data(roles.in2);
    const std::vector<double> exact = test::convolve(c.pass, c.p, values(in1, false), values(in2, false));
    const std::vector<double> scale = test::convolve(c.pass, c.p, values(in1, true), values(in2, true));
    const std::vector<double> got = values(test::run(device_, c, in1, in2), false);
    const auto taps = static_cast<double>(c.p.filter[0] * c.p.filter[1] * c.p.filter[2]);
    const auto places = static_cast<double>(c.p.out()[0] * c.p.out()[1] * c.p.out()[2]);
    const double terms = c.pass == ConvPass::fprop   ? taps * static_cast<double>(c.p.c)
                         : c.pass == ConvPass::bprop ? taps * static_cast<double>(c.p.k)
                                                     : places * static_cast<double>(c.p.n);
    // On the tensor cores 16 products at a time, of each tap by themselves (docs/numerics.md).
    const double steps = half ? 10.5 * (terms / 16 + taps) : terms;
    const double u = std::ldexp(std::max(terms, steps), -24);
    for (std::size_t i = 0; i < got.size(); ++i) {
      double bound = u / (1 - u) * scale[i];
      if (half) bound += std::ldexp(std::fabs(exact[i]) + bound, -11) + std::ldexp(1.0, -25);
      if (half && std::fabs(exact[i]) > 65000) continue;
      ASSERT_LE(std::fabs(got[i] - exact[i]), bound) << test::text_of(c.pass, c.p) << ", element " << i;
    }
  }
}

// A split, a group or a class that is added twice or not at all is found by the exact tests; that the order of the sums is
// the one the manifest promises, by this: the bits are those of fused multiply-adds in ascending l.
TEST_P(ConvTest, OneChainInAscendingOrder) {
  std::normal_distribution<double> normal;
  ConvCase c;
  c.p.n = 1, c.p.c = 13, c.p.k = 3, c.p.in = {1, 4, 5}, c.p.filter = {1, 3, 2};
  Bits x(static_cast<std::size_t>(c.p.x_elements()));
  Bits w(static_cast<std::size_t>(c.p.w_elements()));
  for (Bits* bits : {&x, &w}) {
    for (std::uint32_t& b : *bits) b = test::bits_of(Dtype::float32, normal(random_));
  }
  const Bits got = test::run(device_, c, x, w);
  const auto out = c.p.out();
  std::size_t at = 0;
  for (std::int64_t p = 0; p < out[1]; ++p) {
    for (std::int64_t q = 0; q < out[2]; ++q) {
      for (std::int64_t k = 0; k < c.p.k; ++k) {
        float sum = 0;
        for (std::int64_t l = 0; l < 3 * 2 * 13; ++l) {
          const std::int64_t channel = l % 13;
          const std::int64_t s = l / 13 % 2;
          const std::int64_t r = l / 26;
          sum = std::fma(std::bit_cast<float>(x[static_cast<std::size_t>(((p + r) * 5 + q + s) * 13 + channel)]),
                         std::bit_cast<float>(w[static_cast<std::size_t>(k * 78 + l)]), sum);
        }
        ASSERT_EQ(got[at++], std::bit_cast<std::uint32_t>(sum));
      }
    }
  }
}

// channels_first goes through copies in another order: the words are those of the result's own elements, and it is
// rounded once.
TEST_P(ConvTest, StochasticRoundingOfChannelsFirst) {
  std::normal_distribution<double> normal;
  for (const ConvPass pass : kPasses) {
    ConvCase c;
    c.pass = pass;
    c.p.layout = Layout::channels_first;
    c.p.n = 2, c.p.c = 5, c.p.k = 7, c.p.in = {1, 6, 5}, c.p.filter = {1, 3, 2}, c.p.stride = {1, 2, 1};
    const conv_detail::Roles roles = conv_detail::roles_of(pass);
    Bits in1(static_cast<std::size_t>(conv_detail::elements_of(c.p, roles.in1)));
    Bits in2(static_cast<std::size_t>(conv_detail::elements_of(c.p, roles.in2)));
    for (Bits* bits : {&in1, &in2}) {
      for (std::uint32_t& b : *bits) b = test::bits_of(Dtype::float16, normal(random_));
    }
    const auto widened = [](const Bits& bits) {
      Bits out = bits;
      for (std::uint32_t& b : out) b = test::bits_of(Dtype::float32, test::value_of(Dtype::float16, b));
      return out;
    };
    const Bits exact = test::run(device_, c, widened(in1), widened(in2));
    c.p.x_type = c.p.w_type = c.p.y_type = Dtype::float16;
    c.options.rounding = {true, 11, 3, 10};
    const Bits got = test::run(device_, c, in1, in2);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::uint32_t word = philox(11, 3 + i / 4)[i % 4];
      ASSERT_EQ(got[i], round_f16(std::bit_cast<float>(exact[i]), word, 10)) << "element " << i;
    }
  }
}

TEST_P(ConvTest, VariantsAreOfOneOrderClass) {
  std::set<std::string> orders;
  for (const Kernel* k : device_.registry().of_op("conv")) {
    orders.insert(variant(*k, "ORDER"));
    EXPECT_EQ(k->manifest().accum, variant(*k, "YT") == "s32" ? "integer" : kClass) << k->name();
  }
  EXPECT_EQ(orders.size(), 4U);
}

}  // namespace
}  // namespace nervanagpu
