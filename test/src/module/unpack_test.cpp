// Embedded cubins, packed or plain, are what was assembled.
#include "src/module/unpack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "nervanagpu/error.hpp"
#include "sass/cubin.h"

namespace nervanagpu {
namespace {

std::vector<unsigned char> file_of(const std::string& name) {
  std::ifstream in(std::string(NG_BINARY_DIR) + "/kernels/" + name + ".cubin", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool packed(const EmbeddedCubin& cubin) {
  return cubin.size != image_size(cubin);
}

TEST(Unpack, GivesTheBytesThatWereAssembled) {
  Unpacker unpack;  // one for all: smaller ones follow larger ones in its buffer
  for (const EmbeddedCubin& cubin : embedded_cubins()) {
    const std::span<const unsigned char> got = unpack(cubin);
    const std::vector<unsigned char> want = file_of(cubin.name);
    ASSERT_FALSE(want.empty()) << cubin.name;
    EXPECT_EQ(got.size(), image_size(cubin));
    EXPECT_TRUE(std::ranges::equal(got, want)) << cubin.name;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got.data()) % 64, 0U) << cubin.name;
  }
}

TEST(Unpack, PlainBytesAreLeftWhereTheyAre) {
  Unpacker unpack;
  const unsigned char bytes[] = {0x7f, 'E', 'L', 'F', 1, 2, 3};
  const EmbeddedCubin plain{"plain.sm_90a", bytes, sizeof bytes};
  EXPECT_EQ(unpack(plain).data(), bytes);
  EXPECT_EQ(unpack(plain).size(), sizeof bytes);
  const EmbeddedCubin empty{"empty.sm_90a", bytes, 0};
  EXPECT_TRUE(unpack(empty).empty());
}

// No damage may be read past, or give an image of another size than the frame says.
TEST(Unpack, RefusesDamage) {
  const auto cubins = embedded_cubins();
  const auto smallest = std::ranges::min_element(cubins, {}, &EmbeddedCubin::size);
  if (!packed(*smallest)) GTEST_SKIP() << "built without libzstd";
  const std::vector<unsigned char> good(smallest->begin, smallest->begin + smallest->size);
  const std::size_t size = image_size(*smallest);
  Unpacker unpack;
  const auto outcome = [&](const std::vector<unsigned char>& bytes) -> std::string {
    // A copy of its own size, so that a sanitizer sees a read after it.
    const EmbeddedCubin bad{"bad.sm_90a", bytes.data(), bytes.size()};
    try {
      const auto got = unpack(bad);
      if (got.data() == bytes.data()) return "plain";
      return got.size() == image_size(bad) ? "unpacked" : "another size";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(outcome(good), "unpacked");
  for (std::size_t keep = 4; keep < good.size(); keep += 1 + keep / 8) {
    const std::string text = outcome({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(keep)});
    EXPECT_EQ(text.rfind("embedded cubin bad.sm_90a: cannot be decompressed: ", 0), 0U) << keep << ": " << text;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    std::vector<unsigned char> bytes = good;
    bytes[4 + random() % (bytes.size() - 4)] ^= static_cast<unsigned char>(1 + random() % 255);
    EXPECT_NE(outcome(bytes), "another size");
  }
  // Says that it is 2^60 bytes long: refused, not allocated.
  std::vector<unsigned char> huge = good;
  huge[4] = 0xc0 | (huge[4] & 0x1f);
  const std::uint64_t claim = std::uint64_t{1} << 60;
  std::memcpy(huge.data() + ((huge[4] & 0x20) != 0 ? 5 : 6), &claim, sizeof claim);
  EXPECT_NE(outcome(huge).find("cannot be decompressed"), std::string::npos);
  EXPECT_GT(size, good.size());
}

}  // namespace
}  // namespace nervanagpu
