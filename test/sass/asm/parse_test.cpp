// Expanded lines to instructions: control columns, labels, places, checks.
#include "sass/asm/parse.h"

#include <gtest/gtest.h>

#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

Result<Program> compile(const std::string& text) {
  const Result<Expansion> e = expand(testing::template_of(".kernel k\n" + text), Arch::sm_90a, {});
  if (!e.ok()) return e.error();
  return parse(*e);
}

TEST(Parse, ControlColumnFields) {
  const auto column = parse_control_column("2a:3:-:Y:11");
  ASSERT_TRUE(column.ok());
  EXPECT_EQ(column->control.wait, 0x2a);
  EXPECT_EQ(column->control.read_sb, 3);
  EXPECT_EQ(column->control.write_sb, kNoScoreboard);
  EXPECT_TRUE(column->control.yield);
  EXPECT_EQ(column->control.stall, 11);
  const Pinned& p = column->pinned;
  EXPECT_TRUE(p.wait && p.read_sb && p.write_sb && p.yield && p.stall);
}

TEST(Parse, QuestionMarksAreLeftToSchedule) {
  const auto column = parse_control_column("??:?:4:?:?");
  ASSERT_TRUE(column.ok());
  EXPECT_EQ(column->control.write_sb, 4);
  const Pinned& p = column->pinned;
  EXPECT_TRUE(p.write_sb);
  EXPECT_FALSE(p.wait || p.read_sb || p.yield || p.stall || p.reuse);
}

TEST(Parse, EveryControlColumnComesBack) {
  for (unsigned n = 0; n < 1U << 17; n += 13) {
    Control c;
    c.wait = n & 63;
    c.read_sb = (n >> 6) % 7 == 6 ? kNoScoreboard : (n >> 6) % 7;
    c.write_sb = (n >> 9) % 7 == 6 ? kNoScoreboard : (n >> 9) % 7;
    c.yield = (n >> 12 & 1) != 0;
    c.stall = n >> 13 & 15;
    const auto back = parse_control_column(control_column(c));
    ASSERT_TRUE(back.ok()) << control_column(c);
    ASSERT_EQ(back->control, c) << control_column(c);
  }
}

TEST(Parse, LinesWithoutAColumnPinNothing) {
  const auto p = compile("FFMA R0, R1, R2, R0\nFFMA R0, R1.reuse, R2, R0\n--:-:-:-:2 FFMA R0, R1, R2, R0\nEXIT\n");
  ASSERT_TRUE(p.ok()) << p.error().text();
  const Pinned& none = p->lines[0].pinned;
  EXPECT_FALSE(none.stall || none.yield || none.write_sb || none.read_sb || none.wait || none.reuse);
  EXPECT_TRUE(p->lines[1].pinned.reuse) << ".reuse pins the reuse flags";
  EXPECT_FALSE(p->lines[1].pinned.stall);
  EXPECT_EQ(p->lines[1].inst.control.reuse, 1);
  EXPECT_TRUE(p->lines[2].pinned.reuse) << "and so does a column without ?";
}

TEST(Parse, LabelsBecomeInstructionIndices) {
  const auto p = compile("BRA `(end)\nmid:\nNOP\nBRA mid\nend:\nother:\nEXIT\n");
  ASSERT_TRUE(p.ok()) << p.error().text();
  EXPECT_EQ(p->labels.at("mid"), 1u);
  EXPECT_EQ(p->labels.at("end"), 3u);
  EXPECT_EQ(p->labels.at("other"), 3u);
  const auto target = [&](std::size_t i) {
    for (const Operand& o : p->lines[i].inst.operands()) {
      if (o.kind == OperandKind::kLabel) return o.imm;
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(target(0), 3);
  EXPECT_EQ(target(2), 1);
  EXPECT_EQ(p->lines[0].label, "end");
}

TEST(Parse, ErrorsPointIntoTheTemplate) {
  // The mistake is the last operand, after replacements that change the length of the text.
  const std::string text =
      ".reg accumulators[8] = R100\n.let i = 3\n  FADD accumulators[i + 1], accumulators[i], 1.5.x\nEXIT\n";
  const auto p = compile(text);
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.error().at.file, "k.sass");
  EXPECT_EQ(p.error().at.line, 4u);
  const std::string line = "  FADD accumulators[i + 1], accumulators[i], 1.5.x";
  const std::size_t last = line.find("1.5.x") + 1;
  EXPECT_GE(p.error().at.col, last) << p.error().text();
  EXPECT_LE(p.error().at.col, line.size() + 1) << p.error().text();
  ASSERT_FALSE(p.error().notes.empty());
  EXPECT_EQ(p.error().notes.back(), "expanded: FADD R104, R103, 1.5.x");
}

TEST(Parse, ErrorsNameTheWayThere) {
  const auto p =
      compile(".macro inner(x)\n  FADD x, x\n.end\n.macro outer(y)\n  inner(y)\n.end\n.reg r\nouter(r)\nEXIT\n");
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.error().at.line, 3u);
  const auto& notes = p.error().notes;
  ASSERT_GE(notes.size(), 2u);
  const auto has = [&](const std::string& n) { return std::find(notes.begin(), notes.end(), n) != notes.end(); };
  EXPECT_TRUE(has("in macro inner, called at k.sass:6:3")) << p.error().text();
  EXPECT_TRUE(has("in macro outer, called at k.sass:9:1")) << p.error().text();
}

TEST(Parse, RegisterGroups) {
  EXPECT_FALSE(compile("IMAD.WIDE R1, R2, 0x4, R4\nEXIT\n").ok());
  EXPECT_TRUE(compile("IMAD.WIDE R0, R2, 0x4, R4\nEXIT\n").ok());
  const auto p = compile("LDS.128 R6, [R0]\nEXIT\n");
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.error().message, "LDS: R6 must be a multiple of 4 here (4 registers)");
  EXPECT_TRUE(compile("LDS.128 R8, [R0]\nEXIT\n").ok());
}

TEST(Parse, Barriers) {
  const auto p = compile("BAR.SYNC.DEFER_BLOCKING 0x10\nEXIT\n");
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.error().message, "number 16 is outside 0..15");
  EXPECT_TRUE(compile("BAR.SYNC.DEFER_BLOCKING 0xf\nEXIT\n").ok());
}

TEST(Parse, DumpShowsWhatWasRead) {
  const auto p = compile("top:\n01:-:2:Y:4 FADD R0, R1, R2\nBRA `(top)\n");
  ASSERT_TRUE(p.ok()) << p.error().text();
  EXPECT_EQ(dump(*p), "top:\n01:-:2:Y:4   FADD R0, R1, R2\n--:-:-:-:1   BRA `(top)\n");
}

}  // namespace
}  // namespace nervanagpu::sass
