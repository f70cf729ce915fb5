// Control words of sm_50 to sm_62, and words of 128 bits.
#include "sass/asm/cubin/bundle.h"

#include <gtest/gtest.h>

#include "sass/bytes.h"
#include "sass/isa/control.h"

namespace nervanagpu::sass {
namespace {

TEST(Bundle, ControlWordHoldsThreeFieldsFirstLowest) {
  // After the last EXIT of a kernel ptxas has EXIT (stall 15), BRA (stall 15), NOP (stall 0, yield): 0x001f8000ffe007ff.
  const Word exit = put_control({0xe30000000007000f, 0}, {.stall = 15});
  const Word bra = put_control({0xe2400fffff87000f, 0}, {.stall = 15});
  const Word nop = put_control({0x50b0000000070f00, 0}, {.stall = 0, .yield = true});
  const auto bytes = pack_code(Encoding::k64, std::vector<Word>{exit, bra, nop});
  ASSERT_TRUE(bytes.ok());
  ASSERT_EQ(bytes->size(), kBundleBytes);
  EXPECT_EQ(load_le<std::uint64_t>(*bytes, 0), 0x001f8000ffe007ffu);
  EXPECT_EQ(load_le<std::uint64_t>(*bytes, 8), exit.lo);
  EXPECT_EQ(load_le<std::uint64_t>(*bytes, 16), bra.lo);
  EXPECT_EQ(load_le<std::uint64_t>(*bytes, 24), nop.lo);
  const auto back = unpack_code(Encoding::k64, *bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, (std::vector<Word>{exit, bra, nop}));
}

TEST(Bundle, WideWordsAreLittleEndian) {
  const auto bytes = pack_code(Encoding::k128, std::vector<Word>{{0x0706050403020100, 0x0f0e0d0c0b0a0908}});
  ASSERT_TRUE(bytes.ok());
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ((*bytes)[i], i);
}

TEST(Bundle, RefusesWhatHasNoPlace) {
  EXPECT_EQ(pack_code(Encoding::k64, std::vector<Word>(4)).error().message,
            "code of 4 instructions does not fill bundles of three");
  EXPECT_EQ(pack_code(Encoding::k64, std::vector<Word>{{}, {0, 1}, {}}).error().message,
            "instruction 1 has bits above its 64 that are not control bits");
  Bytes bytes(2 * kBundleBytes);
  bytes[kBundleBytes + 7] = 0x80;
  EXPECT_EQ(unpack_code(Encoding::k64, bytes).error().message, "control word at byte 32 of the code has bit 63 set");
  EXPECT_EQ(unpack_code(Encoding::k64, Bytes(40)).error().message, "code of 40 bytes is not whole 32-byte bundles");
  EXPECT_EQ(unpack_code(Encoding::k128, Bytes(40)).error().message,
            "code of 40 bytes is not whole 16-byte instructions");
}

}  // namespace
}  // namespace nervanagpu::sass
