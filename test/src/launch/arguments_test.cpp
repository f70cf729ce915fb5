// A launch's parameters as bytes, where the manifest says they lie.
#include "src/launch/arguments.h"

#include <gtest/gtest.h>

#include <cstring>

#include "nervanagpu/error.hpp"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

sass::Manifest manifest() {
  sass::Manifest m;
  m.name = "k";
  m.params = {{"n", sass::ParamType::u32, 0}, {"x", sass::ParamType::ptr, 8}, {"alpha", sass::ParamType::f32, 16}};
  return m;
}

TEST(Arguments, PacksAtTheManifestsOffsets) {
  const sass::Manifest m = manifest();
  Arguments args(m);
  args.add(std::uint32_t{7}).add(std::uint64_t{0x1122334455667788}).add(1.5F);
  const std::span<const std::byte> block = args.block();
  ASSERT_EQ(block.size(), 20U);
  std::uint32_t n = 0;
  std::uint32_t gap = 1;
  std::uint64_t x = 0;
  float alpha = 0;
  std::memcpy(&n, block.data(), 4);
  std::memcpy(&gap, block.data() + 4, 4);
  std::memcpy(&x, block.data() + 8, 8);
  std::memcpy(&alpha, block.data() + 16, 4);
  EXPECT_EQ(n, 7U);
  EXPECT_EQ(gap, 0U);
  EXPECT_EQ(x, 0x1122334455667788U);
  EXPECT_EQ(alpha, 1.5F);
}

TEST(Arguments, RefusesWrongTypesAndCounts) {
  const sass::Manifest m = manifest();
  expect_error<Error>([&] { Arguments(m).add(1.0F); }, "kernel k: argument 1 (n) is f32; needs u32");
  expect_error<Error>([&] { Arguments(m).add(std::int32_t{1}); }, "kernel k: argument 1 (n) is s32; needs u32");
  expect_error<Error>([&] { static_cast<void>(Arguments(m).add(std::uint32_t{1}).block()); },
                      "kernel k: 1 arguments; needs 3");
  expect_error<Error>([&] { Arguments(m).add(1U).add(std::uint64_t{1}).add(1.0F).add(1.0F); },
                      "kernel k: argument 4 is one too many; takes 3");
}

}  // namespace
}  // namespace nervanagpu
