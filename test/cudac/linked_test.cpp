// A program of two source files: nvlink leaves the addresses of functions and variables to the loader.
#include <fstream>
#include <functional>
#include <iterator>

#include "sass/dis/elf.h"
#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

using u32 = std::uint32_t;

u32 mix(u32 a, u32 b) {
  for (int i = 0; i < 3; ++i) a = (a ^ b) * 0x9e3779b9u + (a >> 7);
  return a;
}

class LinkedProgram : public Program {
 protected:
  LinkedProgram() : Program("linked") {}
};

TEST_P(LinkedProgram, CallsAndVariablesOfTheOtherFile) {
  constexpr std::array<u32, 16> kTable = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  constexpr std::array<u32, 4> kWeights = {10, 20, 30, 0xffffffff};
  const auto in = integers<u32>(1000);
  const auto out = blank<u32>(in.size());
  launch("hash", {8, 1, 1}, {128, 1, 1}, 0, array(in), out, static_cast<u32>(in.size()));
  std::vector<u32> want;
  u32 counter = 5;
  for (u32 i = 0; i < in.size(); ++i) {
    const u32 weight = i % 32 < kWeights.size() ? kWeights[i % 32] : 0;
    const u32 v = mix(in[i], i % 64 < kTable.size() ? kTable[i % 64] : 0) + weight;
    want.push_back(i % 3 == 1 ? (v << 16 | v >> 16) ^ i : mix(v, i));
    counter += want.back();
  }
  expect_equal("hash", get(out), want);
  const auto count = blank<u32>(1);
  launch("read_counter", {1, 1, 1}, {1, 1, 1}, 0, count);
  expect_equal("counter", get(count), {counter});
}

TEST_P(LinkedProgram, FunctionsThatCallEachOther) {
  constexpr u32 kLength = 13;
  const auto in = integers<u32>(std::size_t{64} * kLength);
  const auto out = blank<u32>(64);
  launch("sums", {2, 1, 1}, {32, 1, 1}, 0, array(in), out, kLength);
  const std::function<u32(const u32*, u32)> fold = [&](const u32* v, u32 n) {
    return n == 1 ? v[0] : mix(fold(v, n / 2), fold(v + n / 2, n - n / 2));
  };
  std::vector<u32> want;
  for (u32 i = 0; i < 64; ++i) want.push_back(fold(in.data() + std::size_t{i} * kLength, kLength));
  expect_equal("sums", get(out), want);
}

TEST(LinkedModule, ARelocationThatIsNotKnownIsRefused) {
  std::ifstream file(NG_SOURCE_DIR "/test/data/cudac/linked.cubin", std::ios::binary);
  std::vector<char> chars((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::uint8_t> bytes(chars.begin(), chars.end());
  const auto elf = sass::ElfView::open(bytes);
  ASSERT_TRUE(elf.ok());
  for (const auto& s : elf->sections()) {
    if (s.name == ".rela.text.hash") bytes[static_cast<std::size_t>(s.data.data() - bytes.data()) + 8] = 99;
  }
  const auto chip = make_emulator(sass::emulate::Mode::kFast);
  ASSERT_EQ(chip->load(bytes), "");
  const std::string said = chip->launch({"hash", {1, 1, 1}, {1, 1, 1}, 0, std::vector<std::byte>(20)});
  EXPECT_NE(said.find("has a relocation of type 99, which is not known"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(Programs, LinkedProgram, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
