// Where control goes from each kind of instruction, in both families.
#include "sass/isa/control_flow.h"

#include <gtest/gtest.h>

#include "sass/isa/codec/codec.h"

namespace nervanagpu::sass {
namespace {

struct Case {
  Arch arch;
  const char* text;
  bool computed;
  bool conditional;
  bool falls;
  bool reaches;
};

// clang-format off
constexpr Case kCases[] = {
    {Arch::sm_90a, "NOP",                           false, false, true,  true},
    {Arch::sm_90a, "EXIT",                          false, false, false, false},
    {Arch::sm_90a, "@P0 EXIT",                      false, true,  true,  true},
    {Arch::sm_90a, "@!PT EXIT",                     false, true,  true,  true},
    {Arch::sm_90a, "EXIT P0",                       false, true,  true,  true},
    {Arch::sm_90a, "BRA 0x20",                      false, false, false, false},
    {Arch::sm_90a, "BRA !P1, 0x20",                 false, true,  true,  true},
    {Arch::sm_90a, "BRA.U UP0, 0x20",               false, true,  true,  true},
    {Arch::sm_90a, "BRA.DIV UR4, 0x20",             false, true,  true,  true},
    {Arch::sm_90a, "BRX R2",                        true,  false, false, false},
    {Arch::sm_90a, "CALL.REL.NOINC 0x20",           false, false, false, true},
    {Arch::sm_90a, "CALL.REL.NOINC R2 0x20",        true,  false, false, true},
    {Arch::sm_90a, "CALL.ABS.NOINC R2",             true,  false, false, true},
    {Arch::sm_90a, "CALL.ABS.NOINC P3, R2",         true,  true,  true,  true},
    {Arch::sm_90a, "RET.REL.NODEC R2 0x20",         true,  false, false, false},
    {Arch::sm_90a, "BPT.TRAP",                      false, false, false, false},
    {Arch::sm_90a, "@P0 BPT.TRAP",                  false, true,  true,  true},
    {Arch::sm_90a, "BSSY B0, 0x20",                 false, false, true,  true},
    {Arch::sm_90a, "BSYNC B0",                      false, false, true,  true},
    {Arch::sm_75,  "BPT.TRAP 0x1",                  false, false, false, false},
    {Arch::sm_52,  "EXIT",                          false, false, false, false},
    {Arch::sm_52,  "EXIT CC.LT",                    false, true,  true,  true},
    {Arch::sm_52,  "BRA CC.NEU, 0x20",              false, true,  true,  true},
    {Arch::sm_52,  "SSY 0x20",                      false, false, true,  true},
    {Arch::sm_52,  "SYNC",                          false, false, false, false},
    {Arch::sm_52,  "SYNC CC.GE",                    false, true,  true,  true},
    {Arch::sm_52,  "BRK",                           false, false, false, false},
    {Arch::sm_52,  "CONT",                          false, false, false, false},
    {Arch::sm_52,  "CAL 0x20",                      false, false, false, true},
    {Arch::sm_52,  "RET",                           true,  false, false, false},
    {Arch::sm_52,  "BRX R2",                        true,  false, false, false},
    {Arch::sm_52,  "JMX R2",                        true,  false, false, false},
    {Arch::sm_52,  "BPT.TRAP",                      false, false, false, false},
};
// clang-format on

TEST(ControlFlow, OfEachKindOfInstruction) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const Result<ParsedInst> parsed = parse_inst(c.arch, c.text, {});
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    EXPECT_EQ(computed_target(parsed->inst), c.computed);
    EXPECT_EQ(conditional(parsed->inst), c.conditional);
    EXPECT_EQ(falls_through(parsed->inst), c.falls);
    EXPECT_EQ(reaches_next(parsed->inst), c.reaches);
  }
}

}  // namespace
}  // namespace nervanagpu::sass
