// What checked mode knows of an instruction: facts of its row, for every mnemonic that has them.
#include <gtest/gtest.h>

#include <algorithm>

#include "sass/emulate/checked/check.h"
#include "sass/isa/codec/codec.h"

namespace nervanagpu::sass::emulate {
namespace {

using In = CheckOp::Use::In;

CheckOp checked(Arch arch, const char* text) {
  const Result<ParsedInst> parsed = parse_inst(arch, text, {});
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().text());
  return parsed.ok() ? check_op(arch, parsed->inst) : CheckOp{};
}

In where_it_matters(const CheckOp& op, unsigned reg) {
  const auto is_reg = [&](const CheckOp::Use& use) { return use.tag == tags::kGpr + reg; };
  const auto found = std::ranges::find_if(op.uses, is_reg);
  EXPECT_NE(found, op.uses.end());
  return found == op.uses.end() ? In::kAll : found->matters;
}

TEST(CheckOp, AProductThatStartsAnewDoesNotReadItsAccumulators) {
  for (const char* text :
       {"HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, UP0, gsb0", "IGMMA.64x8x32.S8.S8 R24, gdesc[UR4], R24, UP0, gsb0",
        "QGMMA.64x8x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24, UP0, gsb0",
        "BGMMA.64x8x256.AND.POPC R24, gdesc[UR4], R24, UP0, gsb0"}) {
    EXPECT_EQ(where_it_matters(checked(Arch::sm_90a, text), 24), In::kTrue) << text;
  }
  const CheckOp op = checked(Arch::sm_90a, "BGMMA.64x8x256.AND.POPC R24, R28, gdesc[UR8], R24, UP0, gsb0");
  EXPECT_EQ(where_it_matters(op, 28), In::kAll);
}

TEST(CheckOp, ACompareThatIsDecidedDoesNotReadItsSources) {
  for (const char* text :
       {"ISETP.LT.AND P0, PT, R4, R5, P1", "FSETP.LT.AND P0, PT, R4, R5, P1", "DSETP.LT.AND P0, PT, R4, R6, P1",
        "HSETP2.LT.AND P0, PT, R4, R5, P1", "HSET2.LT.AND R2, R4, R5, P1"}) {
    EXPECT_EQ(where_it_matters(checked(Arch::sm_90a, text), 4), In::kTrue) << text;
  }
  EXPECT_EQ(where_it_matters(checked(Arch::sm_90a, "HSETP2.LT.OR P0, PT, R4, R5, P1"), 4), In::kFalse);
  EXPECT_EQ(where_it_matters(checked(Arch::sm_90a, "HSETP2.LT.XOR P0, PT, R4, R5, P1"), 4), In::kAll);
  EXPECT_EQ(where_it_matters(checked(Arch::sm_52, "FSET.BF.LT.AND R2, R4, R5, P1"), 4), In::kTrue);
  EXPECT_EQ(where_it_matters(checked(Arch::sm_90a, "IADD3 R2, R4, R5, RZ"), 4), In::kAll);
}

TEST(CheckOp, BeforeVoltaAllWritesOfGlobalMemoryAreOrdered) {
  for (const char* text : {"STG [R2], R4", "ST [R2], R4, PT", "ATOM.ADD R0, [R2], R4", "RED.ADD [R2], R4"}) {
    EXPECT_TRUE(checked(Arch::sm_52, text).strong) << text;
  }
  for (const char* text : {"LDG R0, [R2]", "STS [R2], R4", "STL [R2], R4"}) {
    EXPECT_FALSE(checked(Arch::sm_52, text).strong) << text;
  }
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
