// What a user sees for a wrong line: place, the line with a mark under the mistake, what was meant, the accepted forms.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sass/asm/template/excerpt.h"
#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

using testing::template_of;

bool is_form(const std::string& line) {
  return line.size() > 2 && line.substr(0, 2) == "  " && line[2] >= 'A' && line[2] <= 'Z';
}

TEST(InstructionErrors, EachTextIsAsShown) {
  std::ifstream in(NG_SOURCE_DIR "/test/sass/asm/data/instruction_errors.txt");
  std::string head, line;
  struct Case {
    std::string wrong, expected;
  };
  std::vector<Case> cases;
  while (std::getline(in, line)) {
    if (line.rfind("=== ", 0) == 0) {
      cases.push_back({line.substr(4), ""});
    } else if (!cases.empty()) {
      cases.back().expected += line + "\n";
    } else if (line[0] != '#') {
      head += line + "\n";
    }
  }
  ASSERT_GE(cases.size(), 80u);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.wrong);
    const Result<CubinImage> r = assemble(template_of(head + "  " + c.wrong + "\n  EXIT\n"), Arch::sm_90a, {});
    if (r.ok()) {
      ADD_FAILURE() << "accepted";
      continue;
    }
    std::istringstream text(r.error().text());
    std::string shown;
    bool forms = false;
    while (std::getline(text, line)) {
      forms |= is_form(line);
      if (!is_form(line)) shown += line + "\n";
    }
    EXPECT_EQ(shown, c.expected);
    // Where operands do not match, the forms that would are listed.
    if (c.wrong[0] != '.' && (shown.find("an operand is missing") != std::string::npos ||
                              shown.find("expected a register") != std::string::npos)) {
      EXPECT_TRUE(forms);
    }
  }
}

TEST(InstructionErrors, OfManyNamesOnlySomeAreShown) {
  const Result<CubinImage> r =
      assemble(template_of(".kernel k\n  HGMMA.64x64x16.F32 R24, gdesc[UR8], Q\n  EXIT\n"), Arch::sm_90a, {});
  ASSERT_FALSE(r.ok());
  const std::string text = r.error().text();
  EXPECT_NE(text.find("HGMMA(.64x8|.64x16|...|.64x256)x16(.F16|.F32) R"), std::string::npos) << text;
  EXPECT_EQ(text.find(".64x24"), std::string::npos) << text;
}

TEST(Excerpt, PointsIntoIncludedFilesAndNamesTheCalls) {
  Template t = template_of(".kernel k\n.include \"m.sass\"\n\tput(R0)\n  EXIT\n");
  t.include = [](const std::string&) -> Result<std::string> {
    return std::string(".macro put(x)\n\tMOV x, Q\n.end\n");
  };
  const Result<CubinImage> r = assemble(t, Arch::sm_90a, {});
  ASSERT_FALSE(r.ok());
  const std::string text = r.error().text();
  EXPECT_NE(text.find("m.sass:2:9: error: "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  2 | \tMOV x, Q\n    | \t       ^\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  in macro put, called at k.sass:3:2"), std::string::npos) << text;
}

TEST(Excerpt, LeavesAloneWhatHasNoPlace) {
  const Template t = template_of("one\ntwo");
  EXPECT_TRUE(with_excerpt(error("x"), t).notes.empty());
  EXPECT_TRUE(with_excerpt(error_at({"k.sass", 9, 1}, "x"), t).notes.empty());
  EXPECT_TRUE(with_excerpt(error_at({"k.sass", 1, 99}, "x"), t).notes.empty());
  EXPECT_TRUE(with_excerpt(error_at({"other.sass", 1, 1}, "x"), t).notes.empty());
  EXPECT_EQ(with_excerpt(error_at({"k.sass", 2, 2}, "x"), t).notes, (std::vector<std::string>{"2 | two", "  |  ^~"}));
  EXPECT_EQ(with_excerpt(error_at({"k.sass", 2, 4}, "x"), t).notes, (std::vector<std::string>{"2 | two", "  |    ^"}));
}

}  // namespace
}  // namespace nervanagpu::sass
