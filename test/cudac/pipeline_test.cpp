// Pipelines of the copy engine by ptxas: right in both modes, as on an H200, and every rule that one breaks is found.
#include <map>

#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

class PipelineProgram : public Program {
 protected:
  PipelineProgram() : Program("pipeline") {}

  // Rows of `across` elements in memory, boxes of wide x high.
  template <class T>
  EncodedTensorMap map(const Array<T>& a, MapType type, u32 across, u32 wide, u32 high, MapSwizzle swizzle = {}) {
    TensorMap m;
    m.type = type;
    m.address = a.address;
    m.sizes = {across, a.count / across};
    m.strides = {across * sizeof(T)};
    m.box = {wide, high};
    m.swizzle = swizzle;
    return chip_->encode(m);
  }
  EncodedTensorMap words(const Array<u32>& a, u32 high = 8) { return map(a, MapType::uint32, 128, 32, high); }
  // Halves of small integers, of which sums are exact.
  std::vector<std::uint16_t> small_halves(std::size_t n) {
    static constexpr std::array<std::uint16_t, 8> kSmall = {0, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4200, 0x4400, 0xc500};
    std::vector<std::uint16_t> v(n);
    for (auto& x : v) x = kSmall[rng_() >> 60 & 7];
    return v;
  }
};

float value(std::uint16_t half) {
  static const std::map<std::uint16_t, float> kValues = {{0, 0.0f},      {0x3c00, 1.0f},  {0xbc00, -1.0f},
                                                         {0x4000, 2.0f}, {0xc000, -2.0f}, {0x4200, 3.0f},
                                                         {0x4400, 4.0f}, {0xc500, -5.0f}};
  return kValues.at(half);
}

TEST_P(PipelineProgram, LoadsComputesAndStores) {
  for (const u32 tiles : {1u, 7u, 20u}) {
    const auto in = integers<u32>(std::size_t{40} * 128);
    const auto from = array(in);
    const auto to = blank<u32>(in.size());
    const std::vector<u32> before = get(to);
    launch("pipeline", {2, 1, 1}, {160, 1, 1}, 0, words(from), words(to), tiles);
    std::vector<u32> want = before;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (i / 128 / 8 * 4 + i % 128 / 32 < tiles) want[i] = 2 * in[i] + 1;
    }
    expect_equal("pipeline" + std::to_string(tiles), get(to), want);
  }
}

TEST_P(PipelineProgram, EveryBrokenRuleIsFound) {
  if (GetParam().mode != sass::emulate::Mode::kChecked) GTEST_SKIP() << "checked mode finds them";
  for (const auto& [kernel, finding] : {std::pair{"no_wait", "asynchronous copy not awaited"},
                                        {"early_release", "asynchronous copy not awaited"},
                                        {"no_fence", "no proxy fence"},
                                        {"fence_of_one_warp", "no proxy fence"},
                                        {"no_read_wait", "shared memory in use by a copy"}}) {
    const auto from = array(integers<u32>(std::size_t{40} * 128));
    const auto to = blank<u32>(std::size_t{40} * 128);
    const std::string said = try_launch(kernel, {2, 1, 1}, {160, 1, 1}, 0, words(from), words(to), 20u);
    EXPECT_NE(said.find(finding), std::string::npos) << kernel << ": " << said;
  }
}

TEST_P(PipelineProgram, ProductOfAWarpgroup) {
  constexpr u32 kM = 128, kN = 192;
  for (const u32 k : {64u, 320u}) {
    const auto a = small_halves(std::size_t{kM} * k), b = small_halves(std::size_t{kN} * k);
    const auto c = blank<float>(std::size_t{kM} * kN);
    const auto boxes = [&](const std::vector<std::uint16_t>& v) {
      return map(array(v), MapType::float16, k, 64, 64, MapSwizzle::b128);
    };
    launch("product", {kN / 64, kM / 64, 1}, {160, 1, 1}, 6 * 64 * 128, boxes(a), boxes(b), c, k, kN);
    std::vector<float> want(c.count);
    for (std::size_t m = 0; m < kM; ++m) {
      for (std::size_t n = 0; n < kN; ++n) {
        for (std::size_t i = 0; i < k; ++i) want[m * kN + n] += value(a[m * k + i]) * value(b[n * k + i]);
      }
    }
    expect_equal("product" + std::to_string(k), get(c), want);
  }
}

TEST_P(PipelineProgram, MulticastOfHalves) {
  for (const u32 tiles : {1u, 2u, 9u, 16u}) {
    const auto in = integers<u32>(std::size_t{32} * 128);
    const auto out = blank<u32>(std::size_t{4} * 128);
    launch("halves", {4, 1, 1}, {160, 1, 1}, 0, words(array(in), 4), out, tiles);
    std::vector<u32> want(out.count);
    for (std::size_t i = 0; i < want.size(); ++i) {
      const std::size_t me = i % 128;
      for (std::size_t t = 0; t < tiles; ++t) {
        const auto word = [&](std::size_t at) { return in[(t / 4 * 8 + at / 32) * 128 + t % 4 * 32 + at % 32]; };
        want[i] = want[i] * 5 + word(me) * static_cast<u32>(i / 128 % 2 + 1) + word(me + 128);
      }
    }
    expect_equal("halves" + std::to_string(tiles), get(out), want);
  }
}

TEST_P(PipelineProgram, LanesWithOperandsOfTheirOwn) {
  constexpr u32 kCtas = 5, kSeed = 0x1234567;
  const auto to = blank<u32>(std::size_t{8} * kCtas * 128);
  const auto start = integers<u32>(std::size_t{16} * 128), block_start = integers<u32>(256);
  const auto sums = array(start), block = array(block_start);
  launch("scatter", {kCtas, 1, 1}, {128, 1, 1}, 0, words(to), words(sums), block, kSeed);
  std::vector<u32> want_to(to.count), want_sums = start, want_block = block_start;
  for (u32 cta = 0; cta < kCtas; ++cta) {
    for (u32 n = 0; n < 4; ++n) {
      const auto element = [&](u32 tile, u32 i) { return (tile * 256 + i + 1) * (kSeed + cta); };
      for (u32 i = 0; i < 256; ++i) {
        want_to[(8 * cta + i / 32) * 128 + 32 * n + i % 32] = element(n, i);
        want_sums[(8 * (n & 1) + i / 32) * 128 + 32 * (n ^ (cta & 3)) + i % 32] += element(n, i);
      }
      for (u32 i = 0; i < 16 * (n + 1); ++i) want_block[64 * n + i] += element(3 - n, i);
    }
  }
  expect_equal("scatter.to", get(to), want_to);
  expect_equal("scatter.sums", get(sums), want_sums);
  expect_equal("scatter.block", get(block), want_block);
}

u32 reduced(u32 operation, u32 a, u32 b) {
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  switch (operation) {
    case 3: return a >= b ? 0 : a + 1;
    case 4: return a == 0 || a > b ? b : a - 1;
    case 5: return std::min(a, b);
    case 6: return static_cast<u32>(std::min(sa, sb));
    case 7: return std::max(a, b);
    case 8: return static_cast<u32>(std::max(sa, sb));
    case 9: return a & b;
    case 10: return a | b;
    case 11: return a ^ b;
    default: return a + b;
  }
}

TEST_P(PipelineProgram, ReductionIntoTheOtherCta) {
  for (u32 operation = 0; operation < 12; ++operation) {
    const auto from = integers<u32>(std::size_t{4} * 256), before = integers<u32>(std::size_t{4} * 256);
    const auto data = array(before);
    launch("reduce_remote", {4, 1, 1}, {128, 1, 1}, 0, array(from), data, operation);
    std::vector<u32> want(before.size());
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = reduced(operation, before[i], from[i ^ 256]);
    for (std::size_t i = 0; operation == 2 && i < want.size(); i += 2) {
      u64 a = 0, b = 0;
      std::memcpy(&a, &before[i], 8);
      std::memcpy(&b, &from[i ^ 256], 8);
      a += b;
      std::memcpy(&want[i], &a, 8);
    }
    expect_equal("reduce_remote" + std::to_string(operation), get(data), want);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, PipelineProgram, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
