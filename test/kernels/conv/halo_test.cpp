// halo.sass, halo_swapped.sass, resident.sass and cells.sass: every variant, and whose bits theirs are.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "kernels/conv/halo/cells.h"
#include "kernels/conv/halo/halo_choice.h"
#include "kernels/conv/halo/resident_choice.h"
#include "kernels/conv/tensor_cores.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/kernels/order.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

class HaloTest : public test::OnTensorCores {
 protected:
  [[nodiscard]] static std::string tile_of(const Kernel& k) { return k.name().substr(k.name().rfind('_')); }

  // Without those of bytes that come through cells (hconv_test.cpp).
  [[nodiscard]] std::vector<const Kernel*> direct(std::string_view op) const {
    std::vector<const Kernel*> out = kernels_of(op);
    std::erase_if(out, [](const Kernel* k) { return !of_bytes(*k) && k->manifest().variant.at("YT") == "s32"; });
    return out;
  }
  [[nodiscard]] std::vector<const Kernel*> of_floats(std::string_view op) const {
    std::vector<const Kernel*> out = direct(op);
    std::erase_if(out, [](const Kernel* k) { return of_bytes(*k); });
    return out;
  }

  // Several tiles, none full: two patches of channels, the second one's not even, places between lines and images.
  [[nodiscard]] ConvCase halo_case(const Kernel& k) const {
    ConvCase c;
    const bool forward = k.manifest().variant.at("PASS") == "f";
    c.pass = forward ? ConvPass::fprop : ConvPass::bprop;
    c.p.n = 3, c.p.in = {1, 11, 10}, c.p.filter = {1, 3, 2}, c.p.pad = {0, 2, 1}, c.p.dilation = {1, 2, 1};
    c.p.c = 88, c.p.k = k.number("BN") + 8;
    if (!forward) std::swap(c.p.c, c.p.k);
    c.forced.kernel = "_halo" + tile_of(k);
    take_types(k, c);
    if (of_bytes(k)) c.p.c *= 2;  // two are a channel to it
    return c;
  }
  [[nodiscard]] ConvCase resident_case(const Kernel& k) const {
    ConvCase c;
    c.p.n = 3, c.p.in = {1, 11, 10}, c.p.filter = {1, 3, 3}, c.p.pad = {0, 1, 1};
    c.p.c = k.number("ROW") == 32 ? 16 : 48, c.p.k = k.number("BN") - 24;
    c.forced.kernel = "_resident_" + k.manifest().variant.at("ROW") + tile_of(k);
    take_types(k, c);
    if (of_bytes(k)) c.p.c *= 2;  // two are a channel to it
    return c;
  }
  // Several tiles, none full; the last product of a line has one tap of two or four.
  [[nodiscard]] static ConvCase swapped_case(const Kernel& k, ConvPass pass) {
    ConvCase c;
    c.pass = pass;
    c.p.n = k.number("BM") > 300 ? 4 : 3, c.p.in = {1, 11, 13}, c.p.filter = {1, 3, 5}, c.p.pad = {0, 2, 1};
    c.p.dilation = {1, 2, 1};
    c.p.c = 88, c.p.k = 64 / k.number("TAPS") - 8;
    if (pass == ConvPass::bprop) std::swap(c.p.c, c.p.k);
    c.forced.kernel = "_swapped" + tile_of(k);
    take_types(k, c);
    return c;
  }
};
NG_ON_EACH_DEVICE(HaloTest);

TEST_P(HaloTest, EveryVariant) {
  for (const char* op : {"halo", "resident"}) {
    for (const Kernel* k : direct(op)) {
      ConvCase c = std::string(op) == "halo" ? halo_case(*k) : resident_case(*k);
      if (checked()) c.p.n = 1;
      ASSERT_EQ(judge_form(*k, c), "") << k->name();
      if (checked()) continue;
      c.options.beta = -1.0F;
      c.options.alpha *= 2.0F;
      c.options.relu = c.bias = c.pass == ConvPass::fprop;
      c.scale = c.p.w_type == Dtype::int8 && c.p.y_type != Dtype::int32;
      ASSERT_EQ(judge_form(*k, c), "") << k->name();
      if (c.pass != ConvPass::fprop || c.p.y_type == Dtype::int32) continue;
      c.options.relu = false;
      c.options.activation = GemmActivation::clip;
      c.options.clip_low = -3, c.options.clip_high = 11;
      ASSERT_EQ(judge_form(*k, c), "") << k->name();
    }
  }
}

TEST_P(HaloTest, EveryVariantOfSwappedOperands) {
  for (const Kernel* k : kernels_of("halo_swapped")) {
    for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop}) {
      ConvCase c = swapped_case(*k, pass);
      if (checked()) c.p.n = 1;
      ASSERT_EQ(judge_form(*k, c), "") << k->name();
      if (checked()) break;
      c.options.beta = -1.0F;
      c.options.alpha *= 2.0F;
      c.options.relu = c.bias = pass == ConvPass::fprop;
      (pass == ConvPass::fprop ? c.p.c : c.p.k) = 40;  // no sixteens
      c.p.filter = {1, 2, 3};
      ASSERT_EQ(judge_form(*k, c), "") << k->name();
      c.options.rounding = {true, 5, 7, 3};
      ASSERT_EQ(judge_form(*k, c), "") << k->name();
      if (pass != ConvPass::fprop) continue;
      c.options.relu = false;
      c.options.rounding = {};
      c.options.activation = GemmActivation::clip;
      c.options.clip_low = -3, c.options.clip_high = 11;
      ASSERT_EQ(judge_form(*k, c), "") << k->name();
    }
  }
}

// The bits of a relu: fprop writes those of what it stores, and bprop clears where there is none. A bias makes no difference.
TEST_P(HaloTest, BitsOfReluBySwappedOperands) {
  for (const Kernel* k : kernels_of("halo_swapped")) {
    if (checked() && k->number("N") != 96) continue;
    for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop}) {
      ConvCase c = swapped_case(*k, pass);
      const bool forward = pass == ConvPass::fprop;
      const Dtype type = c.p.x_type;
      const std::int64_t columns = forward ? c.p.k : c.p.c, words = (columns + 31) / 32;
      const std::int64_t rows = (forward ? c.p.y_elements() : c.p.x_elements()) / columns;
      const auto tensor = [&](const Bits& bits) {
        const std::vector<std::uint16_t> halves(bits.begin(), bits.end());
        return Tensor::from_host<std::uint16_t>(halves, {static_cast<std::int64_t>(halves.size())});
      };
      const Tensor in1 = tensor(numbers(forward ? c.p.x_elements() : c.p.y_elements(), type));
      const Tensor w = tensor(numbers(c.p.w_elements(), type)), bias = tensor(numbers(c.p.k, type));
      std::vector<std::uint32_t> bits(static_cast<std::size_t>(rows * words));
      for (std::uint32_t& b : bits) b = static_cast<std::uint32_t>(random_());
      const Tensor mask = Tensor::from_host<std::uint32_t>(bits, {rows * words});
      const Tensor workspace = Tensor::zeros(
          {static_cast<std::int64_t>(conv_detail::tensor_cores::workspace(pass, c.p, c.forced)) + 16}, Dtype::uint8);
      const auto result = [&](bool masked) {
        Tensor out = Tensor::zeros({rows * columns}, Dtype::uint16);
        ConvPointers at;
        at.in1 = in1.address(), at.in2 = w.address(), at.out = out.address(), at.workspace = workspace.address();
        conv_detail::Epilogue e;
        e.relu = forward;
        if (forward) at.bias = bias.address(), at.bias_type = type, e.bias_f16 = type == Dtype::float16;
        if (masked) e.mask = mask.address(), e.ld_mask = words;
        conv_detail::tensor_cores::queue(device_, pass, c.p, at, e, {}, c.forced);
        return out.to_host<std::uint16_t>();
      };
      const auto plain = result(false), masked = result(true);
      if (forward) bits = mask.to_host<std::uint32_t>();
      for (std::size_t i = 0; i < plain.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const bool bit =
            (bits[static_cast<std::size_t>(at / columns * words + at % columns / 32)] >> (at % columns % 32) & 1) != 0;
        ASSERT_EQ(masked[i], forward || bit ? plain[i] : 0) << k->name() << ", element " << i;
        if (forward) {
          ASSERT_EQ(bit, test::value_of(type, plain[i]) > 0) << k->name() << ", element " << i;
        }
      }
    }
  }
}

// Of halo.sass, where a product has one tap.
TEST_P(HaloTest, BitsOfSwappedOperandsAreTheOthers) {
  if (checked()) return;
  for (const Kernel* k : kernels_of("halo_swapped")) {
    if (k->number("TAPS") != 1) continue;
    for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop}) {
      ConvCase c = swapped_case(*k, pass);
      c.p.dilation = {1, 2, 3};
      const Bits in1 = numbers(pass == ConvPass::fprop ? c.p.x_elements() : c.p.y_elements(), c.p.x_type);
      const Bits w = numbers(c.p.w_elements(), c.p.x_type);
      const Bits got = test::run(device_, c, in1, w);
      c.forced.kernel = "_halo_128x64";
      ASSERT_EQ(got, test::run(device_, c, in1, w)) << k->name();
    }
  }
}

// Of a product of several taps: a chain of each, of every so manieth tap of a line, and their sum.
TEST_P(HaloTest, BitsOfSeveralTapsAreThoseOfTheirClass) {
  if (checked()) return;
  for (const Kernel* k : kernels_of("halo_swapped")) {
    const auto order = test::order_of(k->manifest().accum);
    ASSERT_TRUE(order) << k->name();
    const std::int64_t taps = order->number("taps", 1);
    ASSERT_EQ(taps, k->number("TAPS"));
    const ConvCase c = swapped_case(*k, ConvPass::fprop);
    const bool f16 = c.p.x_type == Dtype::float16;
    const Bits x = numbers(c.p.x_elements(), c.p.x_type);
    const Bits w = numbers(c.p.w_elements(), c.p.x_type);
    const Bits got = test::run(device_, c, x, w);
    const auto value = [&](std::uint32_t bits) { return static_cast<float>(test::value_of(c.p.x_type, bits)); };
    const auto out = c.p.out();
    for (std::size_t at = 0; at < got.size(); at += 997) {
      const auto element = static_cast<std::int64_t>(at);
      const std::int64_t filter = element % c.p.k, q = element / c.p.k % out[2];
      const std::int64_t p = element / c.p.k / out[2] % out[1], n = element / c.p.k / out[2] / out[1];
      float sum = 0;
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        test::Terms terms;
        for (std::int64_t first = 0; first < c.p.c; first += 64) {
          for (std::int64_t r = 0; r < c.p.filter[1]; ++r) {
            for (std::int64_t s = tap; s < c.p.filter[2]; s += taps) {
              const std::int64_t row = p - c.p.pad[1] + r * c.p.dilation[1], column = q - c.p.pad[2] + s;
              const bool inside = row >= 0 && row < c.p.in[1] && column >= 0 && column < c.p.in[2];
              for (std::int64_t i = first; i < std::min(first + 64, (c.p.c + 15) / 16 * 16); ++i) {
                const bool there = i < c.p.c;
                const std::int64_t pixel = ((n * c.p.in[1] + row) * c.p.in[2] + column) * c.p.c + i;
                const std::int64_t weight = ((filter * c.p.filter[1] + r) * c.p.filter[2] + s) * c.p.c + i;
                terms.a.push_back(inside && there ? value(x[static_cast<std::size_t>(pixel)]) : 0);
                terms.b.push_back(there ? value(w[static_cast<std::size_t>(weight)]) : 0);
              }
            }
          }
        }
        test::Cut cut;
        cut.part = static_cast<std::int64_t>(terms.a.size());
        cut.type = f16 ? sass::emulate::tensor::Type::kF16 : sass::emulate::tensor::Type::kBf16;
        const auto chain = std::bit_cast<float>(test::modelled(*test::order_of("tensor step=16"), terms, cut));
        sum = tap == 0 ? chain : sum + chain;
      }
      ASSERT_EQ(got[at], test::bits_of(c.p.x_type, static_cast<double>(sum))) << k->name() << ", element " << at;
    }
  }
}

// A NaN or an infinity reaches the windows that it lies in, though a line's last product has zeros after its taps.
TEST_P(HaloTest, NanStaysInItsWindows) {
  for (const Kernel* k : kernels_of("halo_swapped")) {
    ConvCase c = swapped_case(*k, ConvPass::fprop);
    c.p.n = 1, c.p.c = 8, c.p.dilation = {1, 1, 1};
    const bool f16 = c.p.x_type == Dtype::float16;
    const Bits w = numbers(c.p.w_elements(), c.p.x_type);
    const auto out = c.p.out();
    std::size_t turn = 0;
    for (const auto& [row, column] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {5, 6}, {10, 12}, {7, 12}}) {
      if (checked() && (column != 6 || k->number("N") != 96)) continue;
      Bits x(static_cast<std::size_t>(c.p.x_elements()), f16 ? 0x3c00 : 0x3f80);  // 1
      const std::uint32_t special = not_finite(c.p.x_type, turn++);
      x[static_cast<std::size_t>((row * c.p.in[2] + column) * c.p.c)] = special;
      const Bits got = test::run(device_, c, x, w);
      for (std::int64_t p = 0; p < out[1]; ++p) {
        for (std::int64_t q = 0; q < out[2]; ++q) {
          const std::int64_t r = row - p + c.p.pad[1];
          const std::int64_t s = column - q + c.p.pad[2];
          const bool inside = r >= 0 && r < c.p.filter[1] && s >= 0 && s < c.p.filter[2];
          const std::uint32_t bits = got[static_cast<std::size_t>((p * out[2] + q) * c.p.k)] & 0x7fff;
          EXPECT_EQ(bits >= (f16 ? 0x7c00U : 0x7f80U), inside)
              << k->name() << ": NaN at " << row << ", " << column << ": output " << p << ", " << q;
        }
      }
    }
  }
}

// Of hconv.sass: product for product, also where whole sixteens of zeros are left out.
TEST_P(HaloTest, BitsAreThoseOfWalkedTaps) {
  if (checked()) return;
  for (const Kernel* k : of_floats("halo")) {
    for (const std::int64_t channels : {48, 64, 88, 192}) {
      ConvCase c = halo_case(*k);
      (c.pass == ConvPass::fprop ? c.p.c : c.p.k) = channels;
      const bool forward = c.pass == ConvPass::fprop;
      const Bits in1 = numbers(forward ? c.p.x_elements() : c.p.y_elements(), c.p.x_type);
      const Bits w = numbers(c.p.w_elements(), c.p.x_type);
      const Bits got = test::run(device_, c, in1, w);
      c.forced.kernel = "_128x64x1";
      c.forced.splits = 1;
      ASSERT_EQ(got, test::run(device_, c, in1, w)) << k->name() << ", " << channels << " channels";
    }
  }
}

// Of gconv.sass.
TEST_P(HaloTest, BitsOfResidentFiltersAreThoseOfGatheredRows) {
  if (checked()) return;
  for (const Kernel* k : of_floats("resident")) {
    ConvCase c = resident_case(*k);
    const Bits x = numbers(c.p.x_elements(), c.p.x_type);
    const Bits w = numbers(c.p.w_elements(), c.p.x_type);
    const Bits got = test::run(device_, c, x, w);
    c.forced.kernel = "_8_128x64";
    c.forced.splits = 1;
    ASSERT_EQ(got, test::run(device_, c, x, w)) << k->name();
  }
}

// First layers of every layout, with strides and without.
TEST_P(HaloTest, CellsOfEveryLayout) {
  if (kernels_of("cells").empty()) return;
  int done = 0;
  while (done < drawn(30, 4)) {
    ConvCase c;
    c.p = test::random_problem(random_, checked() ? 1500 : 20000);
    c.p.groups = 1, c.p.c = 1 + done % 7;
    c.p.in[0] = c.p.filter[0] = c.p.stride[0] = c.p.dilation[0] = 1, c.p.pad[0] = 0;
    c.p.x_type = c.p.w_type = c.p.y_type = done % 2 == 0 ? Dtype::float16 : Dtype::bfloat16;
    c.pass = ConvPass::fprop;
    c.size = 1;
    c.forced.kernel = "_cells_128x64";
    const auto cells = conv_detail::cells::cells_of(c.pass, c.p);
    if (!cells || !conv_detail::tensor_cores::takes(c.pass, c.p)) continue;
    const conv_detail::halo::Work w = {'f',   cells->taps, {cells->pixels[1], cells->pixels[0], 1}, c.p.n, cells->wide,
                                       c.p.k, 1.0};
    if (!conv_detail::halo::choose(w, 1, {"_halo_128x64", 0, {}, {}})) continue;
    ++done;
    test::choose_epilogue(random_, c);
    c.options.rounding = {};
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
}

// A NaN reaches the windows that it lies in, and those that end less than a stride before it: docs/convolution.md.
TEST_P(HaloTest, NanStaysInTheLastCell) {
  if (checked() || kernels_of("cells").empty()) return;
  ConvCase c;
  c.p.n = 1, c.p.c = 3, c.p.k = 8, c.p.in = {1, 23, 27}, c.p.filter = {1, 5, 7}, c.p.pad = {0, 1, 2};
  c.p.stride = {1, 3, 4};
  c.p.x_type = c.p.w_type = c.p.y_type = Dtype::float16;
  c.forced.kernel = "_cells_128x64";
  const Bits w = numbers(c.p.w_elements(), Dtype::float16);
  const auto out = c.p.out();
  for (const auto& [row, column] : {std::pair<std::int64_t, std::int64_t>{7, 9}, {10, 12}, {0, 0}, {22, 26}, {6, 6}}) {
    Bits x(static_cast<std::size_t>(c.p.x_elements()), 0x3c00);  // 1
    x[static_cast<std::size_t>((row * c.p.in[2] + column) * c.p.c)] = 0x7e00;
    const Bits got = test::run(device_, c, x, w);
    for (std::int64_t p = 0; p < out[1]; ++p) {
      for (std::int64_t q = 0; q < out[2]; ++q) {
        const std::int64_t r = row - p * c.p.stride[1] + c.p.pad[1];
        const std::int64_t s = column - q * c.p.stride[2] + c.p.pad[2];
        const bool inside = r >= 0 && r < c.p.filter[1] && s >= 0 && s < c.p.filter[2];
        const bool in_cells = r >= 0 && r < 6 && s >= 0 && s < 8;
        const bool nan = (got[static_cast<std::size_t>((p * out[2] + q) * c.p.k)] & 0x7fff) > 0x7c00;
        EXPECT_EQ(nan, in_cells) << "NaN at " << row << ", " << column << ": output " << p << ", " << q;
        EXPECT_TRUE(nan || !inside);
      }
    }
  }
}

}  // namespace
}  // namespace nervanagpu
