// What the tests of convolutions on the tensor cores share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/gathered_product.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu::test {

// A layer of float16 over square images, with square filters.
inline ConvProblem square_layer(std::int64_t n, std::int64_t c, std::int64_t side, std::int64_t k, std::int64_t size,
                                std::int64_t stride, std::int64_t pad) {
  ConvProblem p;
  p.n = n, p.c = c, p.k = k;
  p.in = {1, side, side}, p.filter = {1, size, size}, p.stride = {1, stride, stride}, p.pad = {0, pad, pad};
  p.x_type = p.w_type = p.y_type = Dtype::float16;
  return p;
}

class OnTensorCores : public OnEachDevice {
 protected:
  using Bits = std::vector<std::uint32_t>;

  [[nodiscard]] std::vector<const Kernel*> kernels_of(std::string_view op) const {
    const auto all = device_.registry().of_op(op);
    return {all.begin(), all.end()};
  }

  static bool of_bytes(const Kernel& k) {
    const std::string& type = k.manifest().variant.at("XT");
    return type == "s8" || type == "u8";
  }
  // What judge() says of a form in which a variant is tried: each by itself, then with epilogues. The short tier takes the first
  // form of every variant, and each further one of a fourth of them; the first of an eighth where accesses are checked.
  std::string judge_form(const Kernel& k, const ConvCase& c) {
    Forms& seen = forms_.try_emplace(&k, Forms{forms_.size(), 0}).first->second;
    const std::size_t form = seen.count++;
    const bool taken = checked() ? seen.variant % 8 == 0 && form == 0 : form == 0 || (seen.variant + form) % 4 == 0;
    return long_tier() || taken ? judge(device_, random_, c) : "";
  }

  // The kernel's types, and integers of which it has exact sums.
  static void take_types(const Kernel& k, ConvCase& c) {
    const auto& variant = k.manifest().variant;
    c.p.x_type = c.p.w_type = c.p.y_type = variant.at("XT") == "f16" ? Dtype::float16 : Dtype::bfloat16;
    c.size = 1;
    if (!of_bytes(k)) return;
    const std::string& result = variant.at("YT");
    c.p.x_type = variant.at("XT") == "s8" ? Dtype::int8 : Dtype::uint8;
    c.p.w_type = Dtype::int8;
    c.p.y_type = result == "s32" ? Dtype::int32 : result == "s8" ? Dtype::int8 : Dtype::float32;
    c.bias_type = result == "s32" ? Dtype::int32 : Dtype::float32;
    c.size = result == "s32" ? 127 : 40;  // float32 holds the sums
    if (result == "s8") c.options.alpha = 0x1p-7F;
  }

  // Normal numbers of a type.
  Bits numbers(std::int64_t count, Dtype type) {
    std::normal_distribution<double> normal;
    Bits out(static_cast<std::size_t>(count));
    for (std::uint32_t& b : out) b = bits_of(type, normal(random_));
    return out;
  }

  // fprop of float16, of random numbers, gives the bits of a product of the gathered matrix, whose rows have `depth` elements.
  void expect_the_gathered_product(ConvCase c, std::int64_t depth, const PlaceOf& l_of) {
    c.p.x_type = c.p.w_type = c.p.y_type = Dtype::float16;
    c.forced.splits = 1;
    const Bits x = numbers(c.p.x_elements(), Dtype::float16);
    const Bits w = numbers(c.p.w_elements(), Dtype::float16);
    EXPECT_EQ(run(device_, c, x, w), gathered_product(c.p, x, w, depth, l_of));
  }

  // 1 or -2, whose sums are exact.
  Bits ones_and_twos(std::int64_t count, Dtype type) {
    Bits out(static_cast<std::size_t>(count));
    for (std::uint32_t& b : out) b = bits_of(type, random_() % 2 == 0 ? 1.0 : -2.0);
    return out;
  }
  // Infinity, its negative and NaN of a 16-bit type, in turn.
  static std::uint32_t not_finite(Dtype type, std::size_t turn) {
    constexpr std::uint32_t kHalf[] = {0x7c00, 0xfc00, 0x7e00};
    constexpr std::uint32_t kBrain[] = {0x7f80, 0xff80, 0x7fc0};
    return (type == Dtype::bfloat16 ? kBrain : kHalf)[turn % 3];
  }

  // Kernels of one pass, of the same operands and results, give the same bits of the same data: at least `least` of them each.
  template <class CaseOf>
  void expect_the_same_bits(const std::vector<const Kernel*>& kernels, std::size_t least, const CaseOf& case_of) {
    std::map<std::string, Bits> seen;
    std::map<std::string, std::size_t> alike;
    for (const Kernel* k : kernels) {
      const ConvCase c = case_of(*k);
      random_.seed(7);
      const Bits in1 = numbers(c.pass == ConvPass::fprop ? c.p.x_elements() : c.p.y_elements(), c.p.x_type);
      const Bits in2 = numbers(c.pass == ConvPass::update ? c.p.x_elements() : c.p.w_elements(), c.p.x_type);
      const Bits got = run(device_, c, in1, in2);
      const auto& variant = k->manifest().variant;
      const std::string kind = variant.at("PASS") + variant.at("XT") + variant.at("YT");
      ++alike[kind];
      ASSERT_EQ(seen.emplace(kind, got).first->second, got) << k->name();
    }
    for (const auto& [kind, count] : alike) EXPECT_GE(count, least) << kind;
  }

 private:
  struct Forms {
    std::size_t variant, count;
  };
  std::map<const Kernel*, Forms> forms_;
};

}  // namespace nervanagpu::test
