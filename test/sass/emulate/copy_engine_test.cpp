// Boxes of tensors: arguments, what lies where, what is outside, and a kernel that loads and stores one.
#include <cstring>

#include "sass/emulate/engine/tensor_map.h"
#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

const Control kLoad{.stall = 15, .yield = true, .write_sb = 0};
const Control kAsk{.stall = 15, .yield = true, .write_sb = 0, .wait = 3};
const Control kSend{.stall = 15, .yield = true, .read_sb = 1, .wait = 3};
const Control kSwap{.stall = 15, .yield = true, .write_sb = 0, .read_sb = 1, .wait = 3};
const Control kAwait{.stall = 15, .yield = true, .wait = 3};

struct Shape {
  std::vector<u64> sizes = {40, 20};
  std::vector<u64> strides = {160};
  std::vector<u32> box = {32, 8};
  std::vector<u32> steps = {};
};

MapSpec spec(const Shape& s, MapSwizzle swizzle = MapSwizzle::kNone, bool nan = false) {
  return {.type = MapType::kF32,
          .address = 0x1000,
          .sizes = s.sizes,
          .strides = s.strides,
          .box = s.box,
          .element_strides = s.steps,
          .swizzle = swizzle,
          .fill_nan = nan};
}

std::string refusal(const Shape& s, MapSwizzle swizzle = MapSwizzle::kNone) {
  const Result<TensorMap> m = encode_tensor_map(spec(s, swizzle));
  return m.ok() ? "" : m.error().message;
}

TEST(TensorMap, RefusesByName) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.strides = {164}}), "tensor map: strides[0] is 164; a multiple of 16 below 2^40 is needed");
  EXPECT_EQ(refusal({.box = {32, 257}}), "tensor map: box[1] is 257; 1 to 256 are possible");
  EXPECT_EQ(refusal({.box = {33, 8}}), "tensor map: box[0], in bytes, is 132; a multiple of 16 is needed");
  EXPECT_EQ(refusal({.steps = {1, 9}}), "tensor map: element_strides[1] is 9; 1 to 8 are possible");
  EXPECT_EQ(refusal({.sizes = {40, 0}}), "tensor map: sizes[1] is 0; 1 to 2^32 are possible");
  EXPECT_EQ(refusal({.sizes = {40}}), "tensor map: the number of strides is 1; needed are 0");
  EXPECT_EQ(refusal({}, MapSwizzle::k64), "tensor map: box[0], in bytes, is 128; with this swizzle 64 are the most");
  const Shape shape;
  MapSpec s = spec(shape);
  s.address = 0x1008;
  EXPECT_FALSE(encode_tensor_map(s).ok());
}

TEST(TensorMap, SwizzlesPermuteChunksOfTheirPattern) {
  // The rule of the matrix descriptors: chunk c of row r of a pattern stands at c xor r.
  for (u32 r = 0; r < 8; ++r) {
    for (u32 c = 0; c < 8; ++c) EXPECT_EQ(swizzled(MapSwizzle::k128, r * 128 + c * 16), r * 128 + (c ^ r) * 16);
    for (u32 c = 0; c < 4; ++c) EXPECT_EQ(swizzled(MapSwizzle::k64, r * 64 + c * 16), r * 64 + (c ^ (r / 2)) * 16);
    for (u32 c = 0; c < 2; ++c) EXPECT_EQ(swizzled(MapSwizzle::k32, r * 32 + c * 16), r * 32 + (c ^ (r / 4)) * 16);
  }
}

// A kernel of one thread: loads a box of 32 x 8 floats at (c[0x210], c[0x214]) of the map at c[0x240], stores it by the map at
// c[0x2c0] at the same place.
KernelImage round_trip(u32 announced, bool init = true) {
  char bytes[40];
  std::snprintf(bytes, sizeof bytes, "MOV R1, 0x%x", announced);
  std::vector<TextLine> lines = {{"UMOV UR8, 0x800"},
                                 {"UMOV UR9, 0x400"},
                                 {"ULDC UR10, c[0x0][0x210]"},
                                 {"ULDC UR11, c[0x0][0x214]"},
                                 {"ULDC.64 UR12, c[0x0][0x198]"},
                                 {"UMOV UR4, 0x1ffffe"},
                                 {"UMOV UR5, 0x7ffff800"},
                                 {"UIADD3 UR14, UR12, 0x30, URZ"},
                                 {"UMOV UR15, UR13"},
                                 {"UIADD3 UR16, UR12, 0xb0, URZ"},
                                 {"UMOV UR17, UR13"},
                                 {"UMOV UR18, 0x400"},
                                 {bytes}};
  if (init) {
    lines.push_back({"SYNCS.EXCH.64 URZ, [UR9], UR4", kSwap});
    lines.push_back({"FENCE.VIEW.ASYNC.S", kAwait});
  }
  const std::vector<TextLine> rest = {{"SYNCS.ARRIVE.TRANS64 RZ, [UR9], R1", kSwap},
                                      {"UTMALDG.2D [UR8], [UR14]", kSend},
                                      {"again:"},
                                      {"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], RZ", kAsk},
                                      {"@!P0 BRA again", kAwait},
                                      {"UMOV UR9, UR10"},
                                      {"UMOV UR10, UR11"},
                                      {"UTMASTG.2D [UR8], [UR16]", kSend},
                                      {"UTMACMDFLUSH", kLoad},
                                      {"EXIT", kAwait}};
  lines.insert(lines.end(), rest.begin(), rest.end());
  return assemble(lines, 0xb0 + 128, 4096);
}

class RoundTrip : public ::testing::Test {
 protected:
  static constexpr u32 kWidth = 40;
  static constexpr u32 kHeight = 20;
  RoundTrip() {
    std::vector<u32> v(kWidth * kHeight);
    for (u32 i = 0; i < v.size(); ++i) v[i] = 1000 + i;
    from_ = std::make_unique<Buffer<u32>>(memory_, v);
    to_ = std::make_unique<Buffer<u32>>(memory_, std::vector<u32>(v.size(), 7));
  }
  Result<Report> go(const KernelImage& k, std::int32_t x, std::int32_t y, MapSwizzle swizzle, Mode mode) {
    std::vector<std::byte> params(0xb0 + 128);
    std::memcpy(params.data(), &x, 4);
    std::memcpy(params.data() + 4, &y, 4);
    const Shape shape{.sizes = {kWidth, kHeight}, .strides = {kWidth * 4}, .box = {32, 8}, .steps = {}};
    MapSpec s = spec(shape, swizzle);
    s.address = source_ != 0 ? source_ : from_->address();
    const Result<TensorMap> load = encode_tensor_map(s);
    s.address = to_->address();
    const Result<TensorMap> store = encode_tensor_map(s);
    if (!load) return load.error();
    if (!store) return store.error();
    std::memcpy(params.data() + 0x30, &*load, 128);
    std::memcpy(params.data() + 0xb0, &*store, 128);
    return run_image(k, memory_, {1}, {1}, params, mode);
  }
  Memory memory_{1 << 20};
  std::unique_ptr<Buffer<u32>> from_, to_;
  u64 source_ = 0;  // another array to load from
};

TEST_F(RoundTrip, BoxesInsideAndAcrossTheEdges) {
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    for (const MapSwizzle swizzle : {MapSwizzle::kNone, MapSwizzle::k128}) {
      for (const auto& [x, y] : {std::pair{0, 0}, {4, 3}, {12, 1}, {32, 17}, {100, 0}}) {
        SCOPED_TRACE(std::to_string(x) + "," + std::to_string(y));
        to_ = std::make_unique<Buffer<u32>>(memory_, std::vector<u32>(kWidth * kHeight, 7));
        const Result<Report> r = go(round_trip(32 * 8 * 4), x, y, swizzle, mode);
        ASSERT_TRUE(r.ok()) << r.error().text();
        for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
        const std::vector<u32> got = to_->get();
        for (int j = 0; j < static_cast<int>(kHeight); ++j) {
          for (int i = 0; i < static_cast<int>(kWidth); ++i) {
            const bool in = i >= x && i < x + 32 && j >= y && j < y + 8;
            const auto n = static_cast<u32>(j) * kWidth + static_cast<u32>(i);
            ASSERT_EQ(got[n], in ? 1000 + n : 7) << i << "," << j;
          }
        }
      }
    }
  }
}

// Rows that begin anywhere are told of from the multiple of 16 bytes before them.
TEST_F(RoundTrip, LentArraysThatBeginWithinSixteenBytes) {
  struct alignas(16) Sixteen {
    std::array<u32, 4> of;
  };
  std::vector<Sixteen> host(kWidth * kHeight / 4);
  for (u32 i = 0; i < kWidth * kHeight; ++i) host[i / 4].of[i % 4] = 1000 + i;
  auto* const first = reinterpret_cast<std::byte*>(host.data());
  source_ = reinterpret_cast<u64>(first);
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    for (const u32 others : {1U, 3U, 4U}) {  // elements in front that nobody has lent
      const std::size_t bytes = (kWidth * kHeight - others) * 4;
      ASSERT_TRUE(memory_.lend(first + others * 4, bytes));
      const Result<Report> r = go(round_trip(1024), 0, 0, MapSwizzle::kNone, mode);
      memory_.give_back(first + others * 4, bytes);
      if (others == 4) {
        const std::string said = !r.ok() ? r.error().message : r->findings.empty() ? "" : r->findings[0].text();
        EXPECT_NE(said.find("out of bounds: the copy engine reads 128 bytes"), std::string::npos) << said;
        continue;
      }
      ASSERT_TRUE(r.ok()) << r.error().text();
      for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
      const std::vector<u32> got = to_->get();
      for (u32 i = 0; i < 32; ++i) EXPECT_EQ(got[i], i < others ? 0xffffffffU : 1000 + i) << i;
    }
  }
}

// What ends the grid on an H200, too.
TEST_F(RoundTrip, BoxesThatMayNotBeginThere) {
  const auto refusal = [&](std::int32_t x, std::int32_t y) {
    const Result<Report> r = go(round_trip(1024), x, y, MapSwizzle::kNone, Mode::kFast);
    return r.ok() ? "" : r.error().message;
  };
  EXPECT_NE(refusal(5, 0).find("misaligned: the box begins at element 5 of a row, byte 20; a multiple of 16 is needed"),
            std::string::npos);
  EXPECT_NE(
      refusal(0, -2).find("a store at coordinate -2 of dimension 1; it may end outside the tensor, but not begin"),
      std::string::npos);
}

TEST_F(RoundTrip, BytesThatDoNotBalanceAreADeadlock) {
  const Result<Report> r = go(round_trip(1040), 0, 0, MapSwizzle::kNone, Mode::kFast);
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().message.find("mbarrier at 0x400 (0 of 1 arrivals and 16 bytes are missing)"), std::string::npos)
      << r.error().message;
}

TEST(TensorMapRows, ElementStridesAndNanOutside) {
  const Shape shape{.sizes = {40, 20}, .strides = {160}, .box = {32, 7}, .steps = {1, 3}};
  const Result<TensorMap> m = encode_tensor_map(spec(shape, MapSwizzle::kNone, true));
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(box_bytes(*m), 128U * 3);
  std::vector<BoxRow> rows;
  const std::array<std::int32_t, 2> at{12, 15};
  each_row(*m, at, {}, [&](const BoxRow& r) {
    rows.push_back(r);
    return true;
  });
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].address, 0x1000U + 15 * 160 + 48);
  EXPECT_EQ(rows[0].to, 28U * 4);
  EXPECT_EQ(rows[1].address, 0x1000U + 18 * 160 + 48);
  EXPECT_EQ(rows[1].offset, 128U);
  EXPECT_EQ(rows[2].to, rows[2].from);  // row 21 of 20
  std::array<u32, 4> row{};
  fill_outside(*m, std::as_writable_bytes(std::span(row)));
  for (const u32 v : row) EXPECT_EQ(v, 0x7ff77ff7U);
}

TEST(TensorMapRows, LoadsRoundTfloat32) {
  // Ten bits of fraction, halves to even; carries reach the exponent and infinity, and every NaN is the same.
  constexpr std::array<std::array<u32, 2>, 12> kRounded = {{{0x3f800fff, 0x3f800000},
                                                            {0x3f801000, 0x3f800000},
                                                            {0xbf803000, 0xbf804000},
                                                            {0x3ffff000, 0x40000000},
                                                            {0x00015ab8, 0x00016000},
                                                            {0x80000fff, 0x80000000},
                                                            {0x007fffff, 0x00800000},
                                                            {0x7f7fffff, 0x7f800000},
                                                            {0xff800000, 0xff800000},
                                                            {0x7f800001, 0x7fffe000},
                                                            {0xffc12345, 0x7fffe000},
                                                            {0xffffffff, 0x7fffe000}}};
  for (const MapType type : {MapType::kTf32, MapType::kTf32Ftz, MapType::kF32Ftz, MapType::kF32}) {
    const bool rounds = type == MapType::kTf32 || type == MapType::kTf32Ftz;
    std::array<u32, 12> v{};
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = kRounded[i][0];
    convert_loaded(type, std::as_writable_bytes(std::span(v)));
    for (std::size_t i = 0; i < v.size(); ++i)
      EXPECT_EQ(v[i], kRounded[i][rounds ? 1 : 0]) << std::hex << kRounded[i][0];
  }
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
