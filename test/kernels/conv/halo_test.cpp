// halo.sass, resident.sass and cells.sass: every variant, and whose bits theirs are.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/conv/halo/cells.h"
#include "kernels/conv/halo/halo_choice.h"
#include "kernels/conv/halo/resident_choice.h"
#include "kernels/conv/implicit/tensor_cores.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/on_each_device.h"

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

  // Several tiles, none full: two patches of channels, the second one's not even, places between lines and pictures.
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
};
NG_ON_EACH_DEVICE(HaloTest);

TEST_P(HaloTest, EveryVariant) {
  for (const char* op : {"halo", "resident"}) {
    for (const Kernel* k : direct(op)) {
      ConvCase c = std::string(op) == "halo" ? halo_case(*k) : resident_case(*k);
      if (checked()) c.p.n = 1;
      ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
      if (checked()) continue;
      c.options.beta = -1.0F;
      c.options.alpha *= 2.0F;
      c.options.relu = c.bias = c.pass == ConvPass::fprop;
      c.scale = c.p.w_type == Dtype::int8 && c.p.y_type != Dtype::int32;
      ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
      if (c.pass != ConvPass::fprop || c.p.y_type == Dtype::int32) continue;
      c.options.relu = false;
      c.options.activation = GemmActivation::clip;
      c.options.clip_low = -3, c.options.clip_high = 11;
      ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
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
  while (done < (checked() ? 4 : 30)) {
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
