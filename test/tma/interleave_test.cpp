// Interleaved maps: the places in memory of the 16-byte chunks that an H200 put into shared memory, in their order there.
#include <gtest/gtest.h>

#include "sass/emulate/engine/tensor_map.h"

namespace nervanagpu::sass::emulate {
namespace {

struct Interleaved {
  const char* name;
  MapInterleave interleave;
  std::vector<std::uint64_t> sizes, strides;
  std::vector<std::uint32_t> box, steps;
  std::vector<std::int32_t> at;
  std::vector<std::uint64_t> rows;  // addresses of runs of 8 units; kOutside
  unsigned run = 8;
};
constexpr std::uint64_t kOutside = ~std::uint64_t{0};
constexpr std::uint64_t kBase = 0x10000;

class InterleavedMap : public ::testing::TestWithParam<Interleaved> {};

TEST_P(InterleavedMap, HasTheOrderOfTheChip) {
  const Interleaved& x = GetParam();
  MapSpec spec;
  spec.type = MapType::kU16;
  spec.address = kBase;
  spec.sizes = x.sizes;
  spec.strides = x.strides;
  spec.box = x.box;
  spec.element_strides = x.steps;
  spec.interleave = x.interleave;
  if (x.interleave == MapInterleave::k32) spec.swizzle = MapSwizzle::k32;
  const Result<TensorMap> map = encode_tensor_map(spec);
  ASSERT_TRUE(map.ok()) << map.error().message;
  const std::uint32_t unit = x.interleave == MapInterleave::k32 ? 32 : 16;
  std::vector<std::uint64_t> got;
  each_row(*map, x.at, {}, [&](const BoxRow& r) {
    EXPECT_EQ(r.offset, got.size() * unit);
    got.push_back(r.to == r.from ? kOutside : r.address - kBase);
    return true;
  });
  std::vector<std::uint64_t> want;
  const std::uint64_t step = x.steps.empty() ? unit : std::uint64_t{unit} * x.steps[0];
  for (const std::uint64_t row : x.rows) {
    for (unsigned i = 0; i < x.run; ++i) want.push_back(row == kOutside ? row : row + i * step);
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(box_bytes(*map), got.size() * unit);
}

const Interleaved kCases[] = {
    {"c8", MapInterleave::k16, {24, 64, 2}, {0x200, 0x4000}, {8, 8, 2}, {}, {0, 0, 0}, {0, 0x4000}},
    {"c17", MapInterleave::k16, {24, 64, 2}, {0x200, 0x4000}, {8, 17, 2}, {}, {0, 0, 0}, {0, 0x4000}},
    {"slice7", MapInterleave::k16, {24, 64, 2}, {0x200, 0x4000}, {8, 16, 2}, {}, {0, 7, 0}, {0xe00, 0x4e00}},
    {"outside", MapInterleave::k16, {24, 9, 2}, {0x200, 0x4000}, {8, 32, 2}, {}, {-1, -1, 0}, {kOutside, kOutside}},
    {"rank4",
     MapInterleave::k16,
     {24, 5, 64, 2},
     {0x180, 0x800, 0x4000},
     {8, 2, 16, 2},
     {},
     {0, 0, 0, 0},
     {0, 0x180, 0x4000, 0x4180}},
    {"rank5",
     MapInterleave::k16,
     {8, 5, 3, 64, 2},
     {0x80, 0x280, 0x800, 0x4000},
     {8, 2, 2, 16, 1},
     {},
     {0, 0, 0, 0, 0},
     {0, 0x80, 0x280, 0x300}},
    {"steps",
     MapInterleave::k16,
     {24, 5, 64, 2},
     {0x180, 0x800, 0x4000},
     {16, 2, 8, 1},
     {2, 1, 1, 1},
     {0, 0, 0, 0},
     {0, 0x180}},
    {"units32", MapInterleave::k32, {16, 64, 2}, {0x200, 0x4000}, {16, 32, 1}, {}, {0, 0, 0}, {0, 0x100}},
};
INSTANTIATE_TEST_SUITE_P(Cases, InterleavedMap, ::testing::ValuesIn(kCases),
                         [](const auto& p) { return std::string(p.param.name); });

// 10 channels of 16 bytes at (w, h) = (1, 1) of 5 x 4 pixels: a row after the other, then the next image.
TEST(InterleavedColumns, GoThroughWHN) {
  const std::vector<std::uint64_t> sizes = {5, 4, 64, 2}, strides = {0x80, 0x400, 0x4000};
  const std::vector<std::int32_t> corner = {0, 0}, at = {1, 1, 0, 0};
  const MapIm2col im2col{.lower = corner, .upper = corner, .channels = 16, .pixels = 22};
  MapSpec spec;
  spec.type = MapType::kU16;
  spec.address = kBase;
  spec.sizes = sizes;
  spec.strides = strides;
  spec.interleave = MapInterleave::k16;
  spec.im2col = &im2col;
  const Result<TensorMap> map = encode_tensor_map(spec);
  ASSERT_TRUE(map.ok()) << map.error().message;
  std::vector<std::uint64_t> got;
  const std::array<std::uint32_t, 3> offsets{};
  each_row(*map, at, offsets, [&](const BoxRow& r) {
    got.push_back(r.to == r.from ? kOutside : r.address - kBase);
    return true;
  });
  const std::vector<std::uint64_t> want = {0x90,   0xa0,   0xb0,   0xc0,   0x100,  0x110, 0x120,  0x130,
                                           0x140,  0x180,  0x190,  0x1a0,  0x1b0,  0x1c0, 0x4000, 0x4010,
                                           0x4020, 0x4030, 0x4040, 0x4080, 0x4090, 0x40a0};
  EXPECT_EQ(got, want);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
