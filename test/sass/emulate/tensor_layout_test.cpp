// Matrix descriptors against what an H200 reads: test/data/digests/tensor_layouts.txt.
#include "sass/emulate/tensor/tensor_layout.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "tools/tensor_probe/layouts.h"

namespace nervanagpu::sass::emulate::tensor {
namespace {

namespace probe = nervanagpu::tensor_probe;

std::uint64_t digest(unsigned which, std::uint64_t flip) {
  const probe::LayoutCase& c = probe::kLayouts[which];
  const unsigned bytes = probe::bits_of(c.format) / 8;
  std::uint64_t hash = probe::kFoldStart;
  for (unsigned i = 0; i < 128; ++i) {
    const Descriptor d = describe(probe::layout_descriptor(1, which, i) ^ flip);
    for (unsigned row = 0; row < c.rows; ++row) {
      for (unsigned k = 0; k < c.k; ++k) {
        const std::uint32_t line = c.transposed ? k : row;
        const std::uint32_t at = (c.transposed ? row : k) * bytes;
        hash = probe::fold(hash, piece_address(d, c.transposed, line, at & ~15u) + at % 16 - probe::kRegionAt);
      }
    }
  }
  return hash;
}

TEST(TensorLayout, EqualsTheChip) {
  std::ifstream in(std::string(NG_SOURCE_DIR) + "/test/data/digests/tensor_layouts.txt");
  std::map<std::string, std::uint64_t> chip;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    chip[line.substr(0, space)] = std::stoull(line.substr(space + 1), nullptr, 16);
  }
  ASSERT_EQ(chip.size(), probe::kLayoutCount);
  for (unsigned i = 0; i < probe::kLayoutCount; ++i) {
    EXPECT_EQ(digest(i, 0), chip.at(probe::kLayouts[i].name)) << probe::kLayouts[i].name;
    for (const unsigned bit : {0u, 32u, 49u, 62u}) {  // a wrong start, stride, base or swizzle would be seen
      EXPECT_NE(digest(i, std::uint64_t{1} << bit), chip.at(probe::kLayouts[i].name)) << probe::kLayouts[i].name;
    }
  }
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::tensor
