// Sums of a result's channels and of their squares: exact of integers (conv_case.cpp compares), their order, what they may be of.
#include "kernels/conv/sums/channel_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/conv/halo/halo_choice.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/tensor_cores.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/nervanagpu.hpp"
#include "src/ceil_div.h"
#include "test/kernels/bound.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/kernels/order.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

using Floats = std::vector<float>;

class ChannelSumsTest : public test::OnEachDevice {
 protected:
  Tensor on_device(const Floats& host, const Shape& shape, Dtype type) {
    Tensor out = Tensor::empty(shape, type);
    convert(Tensor::from_host<float>(host, shape), out);
    return out;
  }
  Tensor normal(const Shape& shape, Dtype type) {
    std::normal_distribution<float> some;
    std::int64_t count = 1;
    for (const std::int64_t length : shape) count *= length;
    Floats host(static_cast<std::size_t>(count));
    for (float& v : host) v = some(random_);
    return on_device(host, shape, type);
  }
  static Floats on_host(const Tensor& t) {
    Tensor wide = Tensor::empty(t.shape());
    convert(t, wide);
    return wide.to_host<float>();
  }
  static std::vector<std::uint32_t> bits(const Tensor& t) {
    const Floats host = t.to_host<float>();
    std::vector<std::uint32_t> out(host.size());
    std::ranges::transform(host, out.begin(), [](float v) { return std::bit_cast<std::uint32_t>(v); });
    return out;
  }

  // One filter of one tap with weight 1 for each channel: y = x.
  static ConvProblem identity(Layout layout, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c,
                              Dtype type) {
    ConvProblem p;
    p.layout = layout;
    p.n = n, p.c = p.k = p.groups = c;
    p.in = {1, h, w};
    p.x_type = p.w_type = p.y_type = type;
    return p;
  }
};
NG_ON_EACH_DEVICE(ChannelSumsTest);

TEST_P(ChannelSumsTest, RandomProblemsAreExact) {
  for (int turn = 0; turn < drawn(160, 40); ++turn) {
    test::ConvCase c;
    c.pass = turn % 2 == 0 ? ConvPass::fprop : ConvPass::bprop;
    c.p = test::random_problem(random_, 1500);
    test::choose_pitches(random_, c.p);
    test::choose_types(random_, c);
    c.p.y_type = c.p.w_type = c.p.x_type;
    if (c.p.x_type == Dtype::int8 || c.p.x_type == Dtype::uint8) continue;
    test::choose_epilogue(random_, c);
    c.channel_sum = turn % 3 != 0;
    c.channel_sum_squares = turn % 3 != 1;
    c.options.tensor_cores = turn % 4 != 0;
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
}

// More places than 32 chains have, parts of other lengths than others, channels at every place of a group of vectors.
TEST_P(ChannelSumsTest, OddShapesAreExact) {
  std::size_t turn = 0;  // one of five: every layout, dtype, shape and pass is among them
  for (const Layout layout : {Layout::channels_last, Layout::batch_last, Layout::channels_first}) {
    for (const Dtype type : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
      for (const auto& [n, side, channels] :
           {std::array{1, 1, 1}, std::array{2, 13, 3}, std::array{1, 11, 67}, std::array{3, 17, 16}}) {
        if (checked() && n * side > 50) continue;
        test::ConvCase c;
        c.p = identity(layout, n, side, side, channels, type);
        c.channel_sum = c.channel_sum_squares = true;
        for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop}) {
          c.pass = pass;
          if (!test::in_tier(turn++, 5)) continue;
          ASSERT_EQ(test::judge(device_, random_, c), "") << channels;
        }
      }
    }
  }
}

// The tiles' own kernels make them, of 16-bit results with channels last; no launch reads the result again.
TEST_P(ChannelSumsTest, KernelsOfTilesMakeThem) {
  if (GetParam().arch != sass::Arch::sm_90a) return;
  struct Case {
    const char* kernel;  // forced; "": what the model takes
    std::int64_t n, side, c, k, taps, groups;
    const char* family;
  };
  const Case cases[] = {
      {"_128x64x1", 2, 11, 72, 40, 3, 1, "hconv_"},
      {"_128x256x1", 3, 9, 64, 248, 3, 1, "hconv_"},
      {"_128x192x1", 1, 13, 24, 184, 1, 1, "hconv_"},
      {"_128x128x2", 5, 7, 64, 136, 3, 1, "hconv_"},
      {"_64x192x2", 2, 13, 64, 200, 3, 1, "hconv_"},
      {"_64x256x2", 1, 17, 64, 264, 3, 1, "hconv_"},
      {"_128x128x1", 2, 12, 128, 96, 3, 2, "hconv_"},
      {"_128x64x1", 3, 10, 80, 160, 3, 5, "hconv_"},
      {"_halo_128x64", 3, 11, 64, 56, 3, 1, "halo_"},
      {"_halo_256x64", 2, 13, 64, 64, 5, 1, "halo_"},
      {"_halo_256x128", 4, 9, 64, 120, 3, 1, "halo_"},
      {"_halo_128x96", 2, 9, 72, 88, 3, 1, "halo_"},
      {"_halo_256x96", 5, 7, 64, 96, 3, 1, "halo_"},
      {"_halo_128x160", 1, 23, 64, 312, 3, 1, "halo_"},
      {"_halo_128x192", 2, 12, 64, 192, 3, 1, "halo_"},
      {"_halo_128x128", 7, 6, 64, 128, 3, 1, "halo_"},
      {"_halo_128x64", 2, 9, 128, 128, 3, 2, "halo_"},
      {"_8_128x64", 2, 11, 32, 80, 3, 2, "gconv_"},
      {"_8_128x64", 2, 11, 16, 40, 5, 1, "gconv_"},
      {"_4_128x128", 2, 12, 12, 88, 3, 1, "gconv_"},
      {"_1_128x192", 1, 15, 3, 168, 3, 1, "gconv_"},
      {"_resident_32_128x64", 3, 12, 16, 56, 5, 1, "resident_"},
      {"_resident_32_128x128", 2, 14, 16, 104, 3, 1, "resident_"},
      {"_resident_128_128x64", 2, 11, 48, 64, 3, 1, "resident_"},
      {"_resident_128_128x128", 4, 8, 48, 96, 3, 1, "resident_"},
  };
  int turn = 0;
  for (const Case& one : cases) {
    if (checked() && one.n * one.side * one.side > 300) continue;
    for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop}) {
      test::ConvCase c;
      c.pass = pass;
      c.p.n = one.n, c.p.groups = one.groups;
      c.p.c = pass == ConvPass::fprop ? one.c : one.k, c.p.k = pass == ConvPass::fprop ? one.k : one.c;
      c.p.in = {1, one.side, one.side + 2}, c.p.filter = {1, one.taps, one.taps};
      c.p.pad = {0, one.taps / 2, one.taps / 2};
      c.p.x_type = c.p.w_type = c.p.y_type = turn % 2 == 0 ? Dtype::float16 : Dtype::bfloat16;
      c.forced.kernel = one.kernel;
      c.forced.splits = one.family == std::string("hconv_") || one.family == std::string("gconv_") ? 1 : 0;
      c.channel_sum = turn % 3 != 0, c.channel_sum_squares = turn % 3 != 1;
      c.kernels_sums = true;
      c.size = 2;
      c.bias = pass == ConvPass::fprop,
      c.bias_type = turn % 4 < 2 ? Dtype::float32 : c.p.y_type;  // also where C has no rows
      c.options.relu = pass == ConvPass::fprop && turn % 5 == 0;
      c.options.beta = turn % 7 == 0 ? 1.0F : 0.0F;
      c.options.alpha = turn % 3 == 0 ? 2.0F : 1.0F;
      ASSERT_EQ(test::judge(device_, random_, c), "") << one.kernel << (pass == ConvPass::fprop ? " f" : " b");
      ++turn;
    }
  }
}

// Parts that are no multiple of what a CTA loads at a time begin where there are very many elements.
TEST_P(ChannelSumsTest, LongPartsAreExact) {
  if (checked()) return;
  constexpr std::int64_t kPlaces = 1031, kChannels = 8200;
  Floats host(static_cast<std::size_t>(kPlaces * kChannels));
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i * 2654435761U >> 7 & 7U) - 3;
  for (const Layout layout : {Layout::channels_last, Layout::batch_last}) {
    const ConvProblem p = identity(layout, 1, 1, kPlaces, kChannels, Dtype::bfloat16);
    const Tensor y = on_device(host, {kPlaces * kChannels}, Dtype::bfloat16);
    const Tensor sum = Tensor::empty({kChannels}), squares = Tensor::empty({kChannels});
    const auto bytes = static_cast<std::int64_t>(conv_detail::channel_sums::workspace(ConvPass::fprop, p, 0));
    const Tensor parts = Tensor::empty({bytes / 4});
    conv_detail::Epilogue e;
    e.sums = {sum.address(), squares.address(), parts.address()};
    conv_detail::channel_sums::queue(device_, ConvPass::fprop, p, y.address(), e, 0, 0);
    Floats want(kChannels), want_squares(kChannels);
    for (std::size_t i = 0; i < host.size(); ++i) {
      const std::size_t k = layout == Layout::channels_last ? i % kChannels : i / kPlaces;
      want[k] += host[i], want_squares[k] += host[i] * host[i];
    }
    EXPECT_EQ(sum.to_host<float>(), want);
    EXPECT_EQ(squares.to_host<float>(), want_squares);
  }
}

// docs/numerics.md: 32 chains a part, added in their order; parts, and parts of parts, in the same way.
TEST_P(ChannelSumsTest, TheOrderIsTheDocumentedOne) {
  std::size_t turn = 0;
  const std::int64_t n = 2, h = checked() ? 5 : 31, w = 59;
  for (const Layout layout : {Layout::channels_last, Layout::batch_last, Layout::channels_first}) {
    for (const Dtype type : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
      for (const std::int64_t channels : {24, 37}) {
        if (!test::in_tier(turn++, 5)) continue;
        const bool last = layout == Layout::channels_last, first = layout == Layout::channels_first;
        const Shape shape = last    ? Shape{n, h, w, channels}
                            : first ? Shape{n, channels, h, w}
                                    : Shape{channels, h, w, n};
        const ConvProblem p = identity(layout, n, h, w, channels, type);
        const Tensor x = normal(shape, type);
        const Shape filters = last || first ? Shape{channels, 1, 1, 1} : Shape{1, 1, 1, channels};
        const Tensor ones = on_device(Floats(static_cast<std::size_t>(channels), 1.0F), filters, type);
        Tensor y = Tensor::empty(shape, type);
        const Tensor sum = Tensor::full({channels}, NAN), squares = Tensor::full({channels}, NAN);
        ConvOptions options;
        options.tensor_cores = false;
        options.channel_sum = &sum, options.channel_sum_squares = &squares;
        conv_fprop(p, x, ones, y, options);
        const std::vector<std::uint32_t> once = bits(sum), once_squares = bits(squares);
        conv_fprop(p, x, ones, y, options);
        EXPECT_EQ(bits(sum), once);
        EXPECT_EQ(bits(squares), once_squares);

        const Kernel* parts = device_.registry().find((last ? "channel_sums_" : "channel_sums_apart_") +
                                                      std::string(sgemm::word_of(type)) + (last ? "_0" : ""));
        const Kernel* end = device_.registry().find("channel_sums_end");
        ASSERT_TRUE(parts != nullptr && end != nullptr);
        const auto order = test::order_of(parts->manifest().accum), ends = test::order_of(end->manifest().accum);
        ASSERT_TRUE(order && ends && order->kind == "strided" && ends->kind == "strided");
        const auto chains = static_cast<std::size_t>(order->number("chains", 0));
        const Floats stored = on_host(y);
        const std::int64_t places = n * h * w;
        const std::int64_t chunk = ceil_div(std::max<std::int64_t>(128, ceil_div(places, 512)), 32) * 32;
        for (std::int64_t k = 0; k < channels; ++k) {
          Floats sums, of_squares;
          double exact = 0, size = 0, exact_squares = 0;
          for (std::int64_t from = 0; from < places; from += chunk) {
            Floats part, chain_of_squares(chains);
            for (std::int64_t i = from; i < std::min(places, from + chunk); ++i) {
              const std::int64_t at = last    ? i * channels + k
                                      : first ? (i / (h * w) * channels + k) * h * w + i % (h * w)
                                              : k * places + i;
              const float v = stored[static_cast<std::size_t>(at)];
              float& chain = chain_of_squares[static_cast<std::size_t>(i - from) % chains];
              chain = std::fma(v, v, chain);
              part.push_back(v);
              exact += v, size += std::abs(v), exact_squares += double{v} * v;
            }
            sums.push_back(test::strided(part, chains));
            of_squares.push_back(test::strided(chain_of_squares, chains));
          }
          const auto number = static_cast<std::size_t>(ends->number("chains", 0));
          const auto got = std::bit_cast<float>(once[static_cast<std::size_t>(k)]);
          const auto got_squares = std::bit_cast<float>(once_squares[static_cast<std::size_t>(k)]);
          EXPECT_EQ(got, test::strided(sums, number)) << "channel " << k;
          EXPECT_EQ(got_squares, test::strided(of_squares, number)) << "channel " << k;
          const auto gamma = test::bound_of(end->manifest().bound, {{"k", static_cast<double>(places)}, {"S", 1.0}});
          ASSERT_TRUE(gamma);
          EXPECT_TRUE(std::abs(got - exact) <= *gamma * size) << "channel " << k;
          EXPECT_TRUE(std::abs(got_squares - exact_squares) <= *gamma * exact_squares) << "channel " << k;
        }
        if (HasFailure()) return;
      }
    }
  }
}

// docs/numerics.md: of 64 rows of a kernel's tiles, which of halo.sass are places of frames: 16 by one product of the tensor cores,
// the four warps' in ascending order.
TEST_P(ChannelSumsTest, TheKernelsOrderIsTheDocumentedOne) {
  if (GetParam().arch != sass::Arch::sm_90a) return;
  namespace cores = conv_detail::tensor_cores;
  constexpr std::size_t kProduct = 16, kWarps = 4, kMostParts = 512;
  const auto product = test::order_of("tensor step=16"), half = test::order_of("tensor step=8");
  const auto* end = device_.registry().find("channel_sums_end");
  ASSERT_TRUE(product && half && end != nullptr);
  const auto ends = static_cast<std::size_t>(test::order_of(end->manifest().accum)->number("chains", 0));
  for (const char* kernel : {"_128x64x1", "_128x128x2", "_halo_256x64", "_halo_128x128"}) {
    for (const Dtype type : {Dtype::float16, Dtype::bfloat16}) {
      ConvProblem p;
      p.n = checked() ? 1 : 3, p.c = 64, p.k = 72, p.in = {1, 13, 11}, p.filter = {1, 3, 3}, p.pad = {0, 1, 1};
      p.x_type = p.w_type = p.y_type = type;
      const Tensor x = normal({p.n, 13, 11, 64}, type), w = normal({72, 3, 3, 64}, type),
                   bias = normal({72}, Dtype::float32);
      const Tensor y = Tensor::empty({p.n, 13, 11, 72}, type), sum = Tensor::empty({72}), squares = Tensor::empty({72});
      conv_detail::Forced forced;
      forced.kernel = kernel, forced.splits = kernel[1] == 'h' ? 0 : 1;
      const std::int64_t most = cores::most_parts(ConvPass::fprop, p, forced);
      const auto room = [](std::size_t bytes) { return Tensor::empty({static_cast<std::int64_t>(bytes / 4) + 4}); };
      const Tensor workspace = room(cores::workspace(ConvPass::fprop, p, forced));
      const Tensor parts = room(conv_detail::channel_sums::workspace(ConvPass::fprop, p, most));
      ConvPointers at;
      at.in1 = x.address(), at.in2 = w.address(), at.out = y.address(), at.workspace = workspace.address();
      at.bias = bias.address();
      conv_detail::Epilogue e;
      e.sums = {sum.address(), squares.address(), parts.address(), most};
      std::vector<std::uint32_t> before;
      for (int again = 0; again < 2; ++again) {
        const cores::Made made = cores::queue(device_, ConvPass::fprop, p, at, e, {}, forced);
        ASSERT_GT(made.parts, 0) << kernel;
        conv_detail::channel_sums::queue(device_, ConvPass::fprop, p, at.out, e, 0, made.parts);
        if (again == 0) before = bits(sum);
      }
      EXPECT_EQ(bits(sum), before);

      // The result's rows in the order of the tiles'; none: 0.
      std::vector<std::int64_t> rows;
      if (forced.kernel[1] == 'h') {
        const auto work =
            conv_detail::halo::work_of(ConvPass::fprop, p, conv_detail::gathers(ConvPass::fprop, p)->front());
        const auto frame = conv_detail::halo::frame_of(*work);
        for (std::int64_t i = 0; i < frame->places(p.n); ++i) {
          const std::int64_t column = i % frame->width, line = i / frame->width % frame->height;
          rows.push_back(column < 11 && line < 13 ? (i / frame->width / frame->height * 13 + line) * 11 + column : -1);
        }
      } else {
        for (std::int64_t i = 0; i < p.n * 13 * 11; ++i) rows.push_back(i);
      }
      rows.resize(static_cast<std::size_t>(ceil_div(static_cast<std::int64_t>(rows.size()), 64) * 64), -1);
      const Floats stored = on_host(y), got = sum.to_host<float>(), got_squares = squares.to_host<float>();
      const auto made_of = [&](std::size_t k, bool squared) {
        test::Cut cut;
        cut.part = kProduct;
        cut.type = type == Dtype::float16 ? sass::emulate::tensor::Type::kF16 : sass::emulate::tensor::Type::kBf16;
        Floats all;
        for (std::size_t from = 0; from < rows.size(); from += kWarps * kProduct) {
          Floats warps;
          for (std::size_t warp = 0; warp < kWarps; ++warp) {
            test::Terms terms;
            for (std::size_t i = 0; i < kProduct; ++i) {
              const std::int64_t row = rows[from + warp * kProduct + i];
              const float v = row < 0 ? 0 : stored[static_cast<std::size_t>(row) * 72 + k];
              terms.a.push_back(v), terms.b.push_back(squared ? v : 1.0F);
            }
            warps.push_back(std::bit_cast<float>(test::modelled(squared ? *half : *product, terms, cut)));
          }
          all.push_back(((warps[0] + warps[1]) + warps[2]) + warps[3]);
        }
        EXPECT_LE(all.size(), kMostParts);
        return test::strided(all, ends);
      };
      constexpr double kUnit = 0x1p-24;
      for (std::size_t k = 0; k < 72; ++k) {
        EXPECT_EQ(got[k], made_of(k, false)) << kernel << " channel " << k;
        EXPECT_EQ(got_squares[k], made_of(k, true)) << kernel << " channel " << k;
        double exact = 0, size = 0, exact_squares = 0;
        for (std::size_t i = k; i < stored.size(); i += 72) {
          exact += stored[i], size += std::abs(stored[i]), exact_squares += double{stored[i]} * stored[i];
        }
        EXPECT_TRUE(std::abs(got[k] - exact) <= (14 + 48) * kUnit * size) << kernel;
        EXPECT_TRUE(std::abs(got_squares[k] - exact_squares) <= (24 + 48) * kUnit * exact_squares) << kernel;
      }
      if (HasFailure()) return;
    }
  }
}

// An infinity or a NaN spoils the sums of its channel alone.
TEST_P(ChannelSumsTest, SpecialValuesStayInTheirChannels) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr std::int64_t kPlaces = 2 * 9 * 11, kChannels = 21;
  for (const Dtype type : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const ConvProblem p = identity(Layout::channels_last, 2, 9, 11, kChannels, type);
    Floats host(static_cast<std::size_t>(kPlaces * kChannels), 1.0F);
    host[3] = kInfinity;  // channel 3
    host[static_cast<std::size_t>(77 * kChannels + 7)] = -kInfinity;
    host[static_cast<std::size_t>(100 * kChannels + 7)] = kInfinity;
    host[static_cast<std::size_t>(197 * kChannels + 20)] = NAN;
    const Tensor x = on_device(host, {2, 9, 11, kChannels}, type);
    const Tensor ones = on_device(Floats(kChannels, 1.0F), {kChannels, 1, 1, 1}, type);
    Tensor y = Tensor::empty({2, 9, 11, kChannels}, type);
    const Tensor sum = Tensor::empty({kChannels}), squares = Tensor::empty({kChannels});
    ConvOptions options;
    options.channel_sum = &sum, options.channel_sum_squares = &squares;
    conv_fprop(p, x, ones, y, options);
    const Floats sums = sum.to_host<float>(), of_squares = squares.to_host<float>();
    for (std::size_t k = 0; k < kChannels; ++k) {
      if (k == 3) {
        EXPECT_EQ(sums[k], kInfinity);
        EXPECT_EQ(of_squares[k], kInfinity);
      } else if (k == 7 || k == 20) {
        EXPECT_TRUE(std::isnan(sums[k])) << k;
        EXPECT_EQ(std::isnan(of_squares[k]), k == 20);
      } else {
        EXPECT_EQ(sums[k], float{kPlaces}) << k;
        EXPECT_EQ(of_squares[k], float{kPlaces}) << k;
      }
    }
  }
}

// So they do in the kernels, where an infinite bias is also in the rows that are not the result's.
TEST_P(ChannelSumsTest, SpecialValuesStayInTheirColumns) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Dtype type : {Dtype::float16, Dtype::bfloat16}) {
    for (const std::int64_t taps : {1, 3}) {
      ConvProblem p;
      p.n = 3, p.c = 72, p.k = 128, p.in = {1, 9, 7}, p.filter = {1, taps, taps}, p.pad = {0, taps / 2, taps / 2};
      if (taps == 1) p.stride = {1, 2, 2};  // no product of matrices
      p.x_type = p.w_type = p.y_type = type;
      const auto [one, h, w] = p.out();
      const Tensor x = on_device(Floats(3 * 9 * 7 * 72, 1.0F), {3, 9, 7, 72}, type);
      Floats filters(static_cast<std::size_t>(128 * taps * taps * 72), 0.0F), biases(128, 2.0F);
      filters[static_cast<std::size_t>(17 * taps * taps * 72 + 3)] = NAN;
      biases[40] = kInfinity, biases[41] = -kInfinity;
      const Tensor bias = on_device(biases, {128}, Dtype::float32);
      Tensor y = Tensor::empty({3, h, w, 128}, type);
      const Tensor sum = Tensor::empty({128}), squares = Tensor::empty({128});
      ConvOptions options;
      options.bias = &bias;
      options.channel_sum = &sum, options.channel_sum_squares = &squares;
      conv_fprop(p, x, on_device(filters, {128, taps, taps, 72}, type), y, options);
      const Floats sums = sum.to_host<float>(), of_squares = squares.to_host<float>();
      for (std::size_t k = 0; k < 128; ++k) {
        const bool nan = k == 17;
        EXPECT_EQ(std::isnan(sums[k]), nan) << k;
        EXPECT_EQ(std::isnan(of_squares[k]), nan) << k;
        if (nan) continue;
        const float want = k == 40 ? kInfinity : k == 41 ? -kInfinity : static_cast<float>(3 * h * w * 2);
        EXPECT_EQ(sums[k], want) << k;
        EXPECT_EQ(of_squares[k], std::abs(2 * want)) << k;
      }
    }
  }
}

// The sums are those of what the bits of a relu left.
TEST_P(ChannelSumsTest, AreOfMaskedGradients) {
  for (const Dtype type : {Dtype::float32, Dtype::float16}) {
    ConvProblem p;
    p.n = 2, p.c = 32, p.k = 16, p.in = {1, 7, 6}, p.filter = {1, 3, 3}, p.pad = {0, 1, 1};
    p.x_type = p.w_type = p.y_type = type;
    const Tensor dy = normal({2, 7, 6, 16}, type), w = normal({16, 3, 3, 32}, type);
    const Tensor mask = Tensor::full({2, 7, 6, 1}, 0x00ff0f35, Dtype::uint32);
    Tensor dx = Tensor::empty({2, 7, 6, 32}, type);
    const Tensor sum = Tensor::empty({32});
    ConvOptions options;
    options.mask = &mask, options.channel_sum = &sum;
    conv_bprop(p, dy, w, dx, options);
    const Floats stored = on_host(dx), sums = sum.to_host<float>();
    for (std::size_t k = 0; k < 32; ++k) {
      double exact = 0, size = 0;
      for (std::size_t i = k; i < stored.size(); i += 32) exact += stored[i], size += std::abs(stored[i]);
      EXPECT_EQ(size != 0, (0x00ff0f35U >> k & 1U) != 0) << k;
      EXPECT_TRUE(std::abs(sums[k] - exact) <= 1e-5 * size) << k;
    }
  }
}

TEST_P(ChannelSumsTest, APlanHasTheBitsOfACall) {
  for (const Layout layout : {Layout::channels_last, Layout::channels_first}) {
    ConvProblem p;
    p.layout = layout;
    p.n = 3, p.c = 16, p.k = 24, p.in = {1, 9, 8}, p.filter = {1, 3, 3}, p.pad = {0, 1, 1};
    p.x_type = p.w_type = p.y_type = Dtype::float16;
    const bool last = layout == Layout::channels_last;
    const Tensor x = normal(last ? Shape{3, 9, 8, 16} : Shape{3, 16, 9, 8}, Dtype::float16);
    const Tensor w = normal(last ? Shape{24, 3, 3, 16} : Shape{24, 16, 3, 3}, Dtype::float16);
    Tensor y = Tensor::empty(last ? Shape{3, 9, 8, 24} : Shape{3, 24, 9, 8}, Dtype::float16);
    const Tensor sum = Tensor::empty({24}), squares = Tensor::empty({24});
    ConvOptions options;
    options.channel_sum = &sum, options.channel_sum_squares = &squares;
    conv_fprop(p, x, w, y, options);
    const ConvPlan plan(ConvPass::fprop, p, x, w, y, options);
    EXPECT_GT(plan.workspace(), 0U);
    const Tensor other = Tensor::full({24}, NAN), other_squares = Tensor::full({24}, NAN);
    Tensor other_y = Tensor::empty(y.shape(), Dtype::float16);
    ConvOperands more;
    more.channel_sum = &other;
    expect_error<InvalidArgument>([&] { plan.launch(x, w, other_y, more); },
                                  "conv plan: channel_sum_squares is missing; one was planned");
    more.channel_sum_squares = &other_squares;
    plan.launch(x, w, other_y, more);
    EXPECT_EQ(bits(sum), bits(other));
    EXPECT_EQ(bits(squares), bits(other_squares));
    const ConvPlan without(ConvPass::fprop, p, x, w, y);
    expect_error<InvalidArgument>([&] { without.launch(x, w, other_y, more); },
                                  "conv plan: channel_sum was not planned");
  }
}

TEST_P(ChannelSumsTest, RefusesWhatCannotBe) {
  ConvProblem p;
  p.n = 1, p.c = 4, p.k = 8, p.in = {1, 3, 3};
  const Tensor x = Tensor::zeros({1, 3, 3, 4}), w = Tensor::zeros({8, 1, 1, 4});
  Tensor y = Tensor::zeros({1, 3, 3, 8}), dw = Tensor::zeros({8, 1, 1, 4});
  const auto fprop = [&](const Tensor* sum, const Tensor* squares = nullptr) {
    ConvOptions options;
    options.channel_sum = sum, options.channel_sum_squares = squares;
    conv_fprop(p, x, w, y, options);
  };
  const Tensor right = Tensor::zeros({8}), four = Tensor::zeros({4}), halves = Tensor::zeros({8}, Dtype::float16);
  const Tensor apart = Tensor::zeros({8, 2}).select(1, 0), inside = y.reshape({72}).slice(0, 8, 16);
  fprop(&right);
  expect_error<InvalidArgument>([&] { fprop(&four); }, "conv: channel_sum has shape (4,); needs (8,)");
  expect_error<InvalidArgument>([&] { fprop(nullptr, &four); }, "conv: channel_sum_squares has shape (4,); needs (8,)");
  expect_error<TypeError>([&] { fprop(&halves); }, "conv: channel_sum has dtype float16; needs float32");
  expect_error<InvalidArgument>([&] { fprop(&apart); }, "conv: channel_sum has strides (2,); needs contiguous memory");
  expect_error<InvalidArgument>([&] { fprop(&inside); },
                                "conv: channel_sum shares memory with y; needs memory of its own");
  expect_error<InvalidArgument>([&] { fprop(&right, &right); },
                                "conv: channel_sum_squares shares memory with channel_sum; needs memory of its own");
  ConvOptions options;
  options.channel_sum = &four;
  expect_error<InvalidArgument>([&] { conv_update(p, y, x, dw, options); },
                                "conv: channel_sum is given but the pass is update; needs fprop or bprop");
  ConvProblem bytes = p;
  bytes.x_type = bytes.w_type = Dtype::int8, bytes.y_type = Dtype::int32;
  ConvPointers at;
  at.in1 = at.in2 = 256, at.out = 512, at.workspace = 4096, at.channel_sum = 1024;
  at.in2 = 768;
  expect_error<TypeError>(
      [&] { conv(ConvPass::fprop, bytes, at); },
      "conv: channel_sum is given but the result has dtype int32; needs float32, float16 or bfloat16");
  at.channel_sum = 1026;
  expect_error<InvalidArgument>([&] { conv(ConvPass::fprop, p, at); },
                                "conv: address of channel_sum is 1026; needs a multiple of 4");
  at.channel_sum = at.channel_sum_squares = 1024;
  expect_error<InvalidArgument>([&] { conv(ConvPass::fprop, p, at); },
                                "conv: channel_sum and channel_sum_squares have one address; needs memory for each");
  at.workspace = 0;
  expect_error<InvalidArgument>([&] { conv(ConvPass::fprop, p, at); }, "conv: workspace is 0; needs a device address");
}

}  // namespace
}  // namespace nervanagpu
