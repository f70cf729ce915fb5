// Every diagnostic of the template language: exact message, line and column, and a valid twin that passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

struct Case {
  std::string name, bad, expected, good;
  std::vector<std::string> notes;
};

bool starts_with_any(const std::string& line, std::initializer_list<const char*> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const char* s) { return line.rfind(s, 0) == 0; });
}

std::vector<Case> read_cases() {
  std::ifstream in(NG_SOURCE_DIR "/test/sass/asm/data/template_errors.txt");
  std::vector<Case> out;
  std::string line;
  enum { kBad, kNotes, kGood } part = kBad;
  while (std::getline(in, line)) {
    if (line.rfind("=== ", 0) == 0) {
      out.push_back({line.substr(4), {}, {}, {}, {}});
      part = kBad;
      continue;
    }
    if (out.empty()) continue;
    if (line.rfind("--- ", 0) == 0) {
      out.back().expected = line.substr(4);
      part = kNotes;
      continue;
    }
    if (part == kNotes && !starts_with_any(line, {"parameters: ", "system constants: ", "no macro is", "defined at ",
                                                  "in macro ", "included at ", "did you mean ", "names: "})) {
      part = kGood;
    }
    if (part == kBad) out.back().bad += line + "\n";
    if (part == kNotes) out.back().notes.push_back(line);
    if (part == kGood) out.back().good += line + "\n";
  }
  return out;
}

// The cases stand after a `.kernel` line, which their line numbers do not count.
Result<Program> compile(const std::string& text) {
  Result<Expansion> e = expand(testing::template_of(".kernel k\n" + text), Arch::sm_90a, {});
  if (!e.ok()) return e.error();
  return parse(*e);
}
std::string one_line_less(const std::string& text) {
  static const std::regex kPlace("(k\\.sass:|at line )([0-9]+)");
  std::smatch m;
  std::string out, rest = text;
  while (std::regex_search(rest, m, kPlace)) {
    out += m.prefix().str() + m[1].str() + std::to_string(std::stoi(m[2]) - 1);
    rest = m.suffix().str();
  }
  return out + rest;
}

TEST(TemplateErrors, EachCaseIsRefusedWhereItIsWrongAndItsTwinPasses) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GT(cases.size(), 85u);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<Program> bad = compile(c.bad);
    if (bad.ok()) {
      ADD_FAILURE() << "accepted:\n" << c.bad;
      continue;
    }
    const Diag& d = bad.error();
    const bool here = d.at.file == "k.sass";
    const std::string place = (here ? "" : d.at.file + ":") + std::to_string(d.at.line - (here ? 1 : 0)) + ":" +
                              std::to_string(d.at.col) + " ";
    EXPECT_EQ(place + one_line_less(d.message), c.expected);
    std::vector<std::string> notes;
    std::transform(d.notes.begin(), d.notes.end(), std::back_inserter(notes), one_line_less);
    for (const std::string& n : c.notes) {
      EXPECT_NE(std::find(notes.begin(), notes.end(), n), notes.end()) << "no note: " << n << "\n" << d.text();
    }
    const Result<Program> good = compile(c.good);
    EXPECT_TRUE(good.ok()) << "refused:\n" << c.good << (good.ok() ? "" : good.error().text());
  }
}

}  // namespace
}  // namespace nervanagpu::sass
