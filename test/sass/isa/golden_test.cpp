// Text and bits agree with nvdisasm in both directions, for every row of the table.
#include <map>

#include <gtest/gtest.h>

#include "sass/isa/codec/codec.h"
#include "sass/isa/rows/table.h"
#include "test/sass/isa/golden.h"

namespace nervanagpu::sass::test {
namespace {

struct Suite {
  std::vector<const char*> files;
  Arch arch;
};

class GoldenTest : public ::testing::TestWithParam<Suite> {
 protected:
  static std::vector<Golden> read_all(const Suite& suite) {
    std::vector<Golden> all;
    for (const char* file : suite.files) {
      for (Golden& g : read_golden(file, info(suite.arch).encoding)) all.push_back(std::move(g));
    }
    return all;
  }
  std::vector<Golden> golden_ = read_all(GetParam());
  Arch arch_ = GetParam().arch;
};

TEST_P(GoldenTest, FileIsThere) {
  for (const char* file : GetParam().files) {
    EXPECT_GT(read_golden(file, info(arch_).encoding).size(), 500u) << data_path(file);
  }
}

TEST_P(GoldenTest, WordsPrintAsNvdisasmWrites) {
  for (const Golden& g : golden_) {
    const Result<Inst> inst = decode(arch_, g.word, 0);
    ASSERT_TRUE(inst.ok()) << g.line << ": " << g.text << ": " << inst.error().message;
    ASSERT_EQ(print(*inst), g.text) << "line " << g.line;
  }
}

TEST_P(GoldenTest, TextEncodesToTheSameWord) {
  for (const Golden& g : golden_) {
    for (const char* wrap : {"", "  ", ";"}) {
      const std::string text = wrap[0] == ';' ? g.text + " ;" : wrap + g.text + wrap;
      Result<ParsedInst> parsed = parse_inst(arch_, text, Span{"golden", static_cast<std::uint32_t>(g.line), 1});
      ASSERT_TRUE(parsed.ok()) << g.text << "\n" << parsed.error().text();
      parsed->inst.control = get_control(g.word);
      const Result<Word> word = encode(arch_, parsed->inst, 0);
      ASSERT_TRUE(word.ok()) << g.line << ": " << g.text << ": " << word.error().message;
      ASSERT_EQ(*word, g.word) << g.line << ": " << g.text;
    }
  }
}

TEST_P(GoldenTest, EveryRowHasTwoLines) {
  std::map<const Row*, int> lines;
  for (const Golden& g : golden_) {
    const Result<Inst> inst = decode(arch_, g.word, 0);
    if (inst.ok()) ++lines[inst->row];
  }
  for (const std::span<const Row> rows : all_rows()) {
    for (const Row& r : rows) {
      if ((r.archs & mask_of(arch_)) == 0) continue;
      EXPECT_GE(lines[&r], 2) << form_text(r);
    }
  }
}

// Every neighbour of a golden word is refused or comes back bit for bit, through the text too.
TEST_P(GoldenTest, OneBitFlipsComeBackOrAreRefused) {
  const unsigned bits = info(arch_).encoding == Encoding::k128 ? 128 : 64;
  std::size_t accepted = 0;
  for (const Golden& g : golden_) {
    for (unsigned b = 0; b < bits; ++b) {
      const Word flipped = g.word ^ bit_range(b, 1);
      const Result<Inst> inst = decode(arch_, flipped, 0);
      if (!inst.ok()) continue;
      ++accepted;
      const Result<Word> back = encode(arch_, *inst, 0);
      ASSERT_TRUE(back.ok()) << g.text << " bit " << b << ": " << back.error().message;
      ASSERT_EQ(*back, flipped) << g.text << " bit " << b;
      if ((static_cast<unsigned>(g.line) + b) % 8 != 0) continue;  // a sample of the slower way
      Result<ParsedInst> parsed = parse_inst(arch_, print(*inst), {});
      ASSERT_TRUE(parsed.ok()) << print(*inst) << ": " << parsed.error().message;
      parsed->inst.control = inst->control;
      const Result<Word> again = encode(arch_, parsed->inst, 0);
      ASSERT_TRUE(again.ok()) << print(*inst);
      ASSERT_EQ(*again, flipped) << print(*inst);
    }
  }
  EXPECT_GT(accepted, golden_.size() * 10);
}

constexpr const char* kShared = "sm80_86_89.golden";  // what the three have in common

INSTANTIATE_TEST_SUITE_P(Archs, GoldenTest,
                         ::testing::Values(Suite{{"sm90a.golden", "sm90a_tensor.golden"}, Arch::sm_90a},
                                           Suite{{"sm52.golden"}, Arch::sm_52}, Suite{{"sm61.golden"}, Arch::sm_61},
                                           Suite{{"sm75.golden"}, Arch::sm_75},
                                           Suite{{"sm80.golden", kShared}, Arch::sm_80},
                                           Suite{{"sm86.golden", kShared}, Arch::sm_86},
                                           Suite{{"sm89.golden", kShared}, Arch::sm_89}),
                         [](const ::testing::TestParamInfo<Suite>& suite) {
                           return std::string(nervanagpu::sass::info(suite.param.arch).name);
                         });

}  // namespace
}  // namespace nervanagpu::sass::test
