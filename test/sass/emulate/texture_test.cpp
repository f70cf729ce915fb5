// Textures and surfaces: what checked mode says of handles and places, the filter's weights and sums. That results are an
// H200's is tested in test/python/toolchain/test_textures.py.
#include <numeric>

#include "sass/emulate/memory/texture.h"
#include "sass/emulate/texture/texture_filter.h"
#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;

class Textures : public ::testing::Test {
 protected:
  // UR6:7 the handle, the only parameter; R8, R9 coordinates 1, R12 a value.
  static KernelImage kernel(const std::string& line) {
    const Control load{.stall = 15, .yield = true, .write_sb = 0};
    const Control all{.stall = 15, .yield = true, .write_sb = 0, .wait = 1};
    const Control settle{.stall = 15, .yield = true};
    return assemble({{"ULDC.64 UR6, c[0x0][0x210]", settle},
                     {"MOV R8, 0x1", settle},
                     {"MOV R9, 0x1", settle},
                     {"MOV R10, 0x1", settle},
                     {"MOV R12, 0x5", settle},
                     {"NOP", load},
                     {line, all},
                     {"EXIT", {.stall = 15, .yield = true, .wait = 1}}},
                    8, 0);
  }

  std::uint64_t make(bool surface, ImageKind kind = ImageKind::k2D) {
    TextureObject object;
    object.image.kind = kind;
    object.image.width = object.image.height = 4;
    object.image.address = image_;
    object.surface = surface;
    return memory_.textures().create(object);
  }

  std::string say(const std::string& line, std::uint64_t handle, Mode mode) {
    const Result<Report> r = run_image(kernel(line), memory_, {1}, {1}, Params().add(handle).bytes(), mode);
    if (!r.ok()) return r.error().message;
    return r->findings.empty() ? "nothing" : r->findings[0].text();
  }
  // The same in both modes.
  void expect(const std::string& line, std::uint64_t handle, const std::string& what) {
    for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
      const std::string said = say(line, handle, mode);
      if (what == "nothing") {
        EXPECT_EQ(said, what);
      } else {
        EXPECT_NE(said.find(what), std::string::npos) << said;
      }
    }
  }

  Memory memory_{1 << 20};
  std::uint64_t image_ = memory_.allocate(4 * 4 * 4);
};

constexpr const char* kFetch = "TEX.LL R2, R0, R8, R10, UR6, 0x0, 2D";
constexpr const char* kStore = "SUST.D.BA.2D.STRONG.SM.TRAP [R8], R12, UR6, 0x0";

TEST_F(Textures, HandlesAreKnown) {
  const std::uint64_t texture = make(false), surface = make(true);
  expect(kFetch, texture, "nothing");
  expect(kFetch, surface, "no such texture: 0x7e00002 is a surface");
  expect(kStore, texture, "no such surface: 0x7e00001 is a texture");
  expect(kFetch, 0x7e00003, "no such texture: 0x7e00003 is no handle");
  EXPECT_TRUE(memory_.textures().destroy(texture));
  EXPECT_FALSE(memory_.textures().destroy(texture));
  expect(kFetch, texture, "no such texture: 0x7e00001 has been destroyed");
  EXPECT_EQ(make(false), 0x7e00003u);  // never the same again
}

TEST_F(Textures, TheInstructionsShapeIsTheTextures) {
  expect(kFetch, make(false, ImageKind::k1D), "nothing");  // tex.1d has become 2D
  expect(kFetch, make(false, ImageKind::k2DArray), "is a 2D array texture, the instruction takes a 2D one");
  expect("TLD.LZ R2, R0, R8, UR6, 0x0, 1D", make(false, ImageKind::k1D),
         "is a 1D texture, the instruction takes a buffer one");
}

TEST_F(Textures, PlacesOfSurfaces) {
  const std::uint64_t surface = make(true);
  expect(kStore, surface, "misaligned: 4-byte access of a surface at byte 1 of a row");
  expect("SUST.D.BA.2D.U8.STRONG.SM.TRAP [R8], R12, UR6, 0x0", surface, "nothing");
  expect("SULD.D.2D.U8.STRONG.SM.TRAP R0, [R8], UR6, 0x0", surface, "nothing");
  TextureObject narrow;
  narrow.image.width = narrow.image.height = 1;
  narrow.image.address = image_;
  narrow.surface = true;
  const std::uint64_t small = memory_.textures().create(narrow);
  expect("SUST.D.BA.2D.U8.STRONG.SM.TRAP [R8], R12, UR6, 0x0", small,
         "out of bounds: 1-byte access of a surface at byte 1 of row 1; it has 4 bytes in each of 1 rows");
  expect("SUST.D.BA.2D.U8.STRONG.SM.IGN [R8], R12, UR6, 0x0", small, "nothing");
}

TEST_F(Textures, TheMemoryMustBeThere) {
  const std::uint64_t texture = make(false);
  EXPECT_TRUE(memory_.free(image_));
  expect(kFetch, texture, "out of bounds: the memory of the texture's image is not there any more");
}

TEST_F(Textures, WhatCannotRunIsRefusedByName) {
  for (const auto& [line, what] : {std::pair{"TEX.LL.AOFFI R2, R0, R8, R10, UR6, 0x0, 2D", ".AOFFI"},
                                   std::pair{"TEX.LL.DC R2, R0, R8, R10, UR6, 0x0, 2D", ".DC"},
                                   std::pair{"TLD4.R R2, R0, R8, UR6, 0x0, ARRAY_2D", "a gather from layers or a cube"},
                                   std::pair{"SULD.P.2D.STRONG.SM.TRAP R0, [R8], UR6, 0x0", "a formatted load"}}) {
    expect(line, make(false), what);
  }
}

TEST(TextureFilter, WeightsAddUp) {
  for (u32 a = 0; a < 256; a += 5) {
    for (u32 b = 0; b < 256; b += 3) {
      for (const u32 c : {0u, 1u, 128u, 255u}) {
        const std::array<u32, 3> fractions = {a, b, c};
        for (const std::size_t n : {1u, 2u, 3u}) {
          const auto w = filter_weights(std::span(fractions).first(n));
          EXPECT_EQ(std::accumulate(w.begin(), w.end(), 0u), 256u);
        }
      }
    }
  }
  const std::array<u32, 2> half = {128, 128};
  EXPECT_EQ(filter_weights(half), (std::array<u32, 8>{64, 64, 64, 64, 0, 0, 0, 0}));
}

TEST(TextureFilter, SumsOfOneCornerAreItsValue) {
  const std::array<u32, 2> left = {256, 0};
  for (const float v : {1.5F, -3.25e30F, 1e-30F, 65504.0F}) {
    EXPECT_EQ(filter_floats(left, std::array{v, 7.0F}, 1, kFilterF32), v);
  }
  EXPECT_EQ(filter_floats(left, std::array{1e-40F, 7.0F}, 1, kFilterF32), 0.0F);  // subnormal
  for (std::int32_t v = -127; v <= 127; ++v) {
    EXPECT_NEAR(filter_integers(left, std::array{v, 0}, true, true), v * 32767 / 127.0, 0.52) << v;
  }
  EXPECT_EQ(filter_integers(left, std::array{127, 0}, true, true), 32767);
  EXPECT_EQ(filter_integers(left, std::array{-128, 0}, true, true), -32767);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
