// Bad text gets one clear error at the right column: lines "text <tab> column <tab> message".
#include <fstream>

#include <gtest/gtest.h>

#include "sass/isa/codec/codec.h"
#include "test/sass/isa/golden.h"

namespace nervanagpu::sass::test {
namespace {

TEST(InvalidText, HasExactMessageAndColumn) {
  std::ifstream in(data_path("sm90a.invalid"));
  std::string line;
  int count = 0;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    ASSERT_NE(second, std::string::npos) << line;
    const std::string text = line.substr(0, first);
    const Result<ParsedInst> parsed = parse_inst(Arch::sm_90a, text, Span{"file.sass", 7, 1});
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message, line.substr(second + 1)) << text;
    EXPECT_EQ(parsed.error().at.col, std::stoul(line.substr(first + 1, second - first - 1))) << text;
    EXPECT_EQ(parsed.error().at.line, 7u);
    EXPECT_EQ(parsed.error().at.file, "file.sass");
    ++count;
  }
  EXPECT_GE(count, 40);
}

TEST(InvalidText, ColumnsCountFromWhereTheTextBegins) {
  const Result<ParsedInst> parsed = parse_inst(Arch::sm_90a, "  FFMA R1, R2, R3, R999", Span{"f", 3, 11});
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().at.col, 30u);
}

TEST(InvalidText, NamesTheNearestMnemonicAndTheForms) {
  const Result<ParsedInst> wrong = parse_inst(Arch::sm_90a, "FFNA R1, R2, R3, R4", {});
  ASSERT_FALSE(wrong.ok());
  ASSERT_FALSE(wrong.error().notes.empty());
  EXPECT_EQ(wrong.error().notes.front(), "did you mean FFMA?");
  const Result<ParsedInst> missing = parse_inst(Arch::sm_90a, "SEL R1, R2, R3", {});
  ASSERT_FALSE(missing.ok());
  ASSERT_FALSE(missing.error().notes.empty());
  EXPECT_EQ(missing.error().notes.front(), "SEL R, R, R, {!}P");
}

TEST(InvalidText, NoPrefixOfAnInstructionCrashes) {
  for (const Golden& g : read_golden("sm90a.golden", Encoding::k128)) {
    if (g.line % 16 != 0) continue;
    for (std::size_t n = 0; n < g.text.size(); ++n) {
      const Result<ParsedInst> parsed = parse_inst(Arch::sm_90a, g.text.substr(0, n), {});
      EXPECT_TRUE(parsed.ok() || !parsed.error().message.empty()) << g.text.substr(0, n);
    }
  }
}

TEST(InvalidWord, IsRefusedByName) {
  const Result<Inst> inst = decode(Arch::sm_90a, Word{~0ULL, ~0ULL}, 0);
  ASSERT_FALSE(inst.ok());
  EXPECT_EQ(inst.error().message, "no known sm_90a instruction has the bits 0xffffffffffffffff 0xffffffffffffffff");
}

}  // namespace
}  // namespace nervanagpu::sass::test
