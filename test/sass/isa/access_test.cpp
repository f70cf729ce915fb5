// Which registers an instruction reads and writes.
#include <algorithm>

#include <gtest/gtest.h>

#include "sass/isa/access.h"
#include "sass/isa/codec/codec.h"
#include "test/sass/isa/golden.h"

namespace nervanagpu::sass::test {
namespace {

std::string name(const Access& a) {
  static const char* const kFile[] = {"R", "UR", "P", "UP", "B", "CC", "O"};
  std::string out = (a.write   ? "="
                     : a.guard ? "@"
                               : "") +
                    std::string(kFile[static_cast<int>(a.file)]) + std::to_string(a.first);
  if (a.count > 1) out += ":" + std::to_string(a.count);
  if (a.late) out += "*";
  if (a.carried) out += "~";
  return out;
}

std::string list(const std::string& text) {
  const Result<ParsedInst> p = parse_inst(Arch::sm_90a, text, {});
  if (!p.ok()) return p.error().text();
  std::string out;
  for (const Access& a : accesses(p->inst)) out += (out.empty() ? "" : " ") + name(a);
  return out;
}

TEST(Access, Registers) {
  EXPECT_EQ(list("FFMA R1, R2, R3, R4"), "=R1 R2 R3 R4");
  EXPECT_EQ(list("@!P3 FADD RZ, RZ, 1"), "@P3");
  EXPECT_EQ(list("MOV R1, c[0x0][0x210]"), "=R1");
  EXPECT_EQ(list("IMAD.WIDE R2, R3, 0x4, R6"), "=R2:2 R3 R6:2");
  EXPECT_EQ(list("IMAD.WIDE.U32 R2, P1, R3, R5, R6"), "=R2:2 =P1 R3 R5 R6:2");
  EXPECT_EQ(list("DFMA R2, R4, UR6, R8"), "=R2:2 R4:2 UR6:2 R8:2");
  EXPECT_EQ(list("IADD3.X R1, P0, P2, R2, R3, R4, P1, !PT"), "=R1 =P0 =P2 R2 R3 R4 P1");
  EXPECT_EQ(list("ISETP.GE.AND P0, PT, R1, UR4, P2"), "=P0 R1 UR4 P2");
  EXPECT_EQ(list("@UP1 UIADD3 UR4, UP2, UR5, 0x1, URZ"), "@UP1 =UR4 =UP2 UR5");
  EXPECT_EQ(list("F2F.F64.F32 R2, R4"), "=R2:2 R4*");
  EXPECT_EQ(list("I2F.F64.U64 R2, R4"), "=R2:2 R4:2*");
  EXPECT_EQ(list("CS2R R4, SRZ"), "=R4:2");
}

TEST(Access, Memory) {
  EXPECT_EQ(list("LDG.E.128 R4, desc[UR6][R2.64+0x10]"), "=R4:4 R2:2* UR6:2");
  EXPECT_EQ(list("STG.E.64 desc[UR6][R2.64], R8"), "R2:2* UR6:2 R8:2*");
  EXPECT_EQ(list("LDS.128 R4, [R2+UR5+0x10]"), "=R4:4 R2* UR5");
  EXPECT_EQ(list("STS.U8 [R2], R3"), "R2* R3*");
  EXPECT_EQ(list("LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64], !P1"), "R1* R2:2* UR4:2 P1");
  EXPECT_EQ(list("LDC.64 R2, c[0x3][R5+0x10]"), "=R2:2 R5*");
  EXPECT_EQ(list("ULDC.64 UR4, c[0x0][0x208]"), "=UR4:2");
  EXPECT_EQ(list("ATOMG.E.ADD.64.STRONG.GPU PT, R4, desc[UR6][R2.64], R8"), "=R4:2 R2:2* UR6:2 R8:2*");
  EXPECT_EQ(list("ATOMS.CAS R1, [R2], R3, R4"), "=R1 R2* R3* R4*");
  EXPECT_EQ(list("LDSM.16.M88.4 R4, [R2]"), "=R4:4 R2*");
  EXPECT_EQ(list("SHFL.BFLY P1, R1, R2, 0x1, 0x1f"), "=P1 =R1 R2*");
}

TEST(Access, ProductsOfAWarp) {
  EXPECT_EQ(list("HMMA.16816.F32 R4, R8, R12, R16"), "=R4:4 R8:4 R12:2 R16:4");
  EXPECT_EQ(list("HMMA.1688.F16 R4, R8, R12, R16"), "=R4:2 R8:2 R12 R16:2");
  EXPECT_EQ(list("HMMA.SP.16832.F32.BF16 R4, R8, R12, R16, R20, 0x1"), "=R4:4 R8:4 R12:4 R16:4 R20");
  EXPECT_EQ(list("HMMA.1684.F32.TF32 R4, R8, R12, RZ"), "=R4:4 R8:2 R12");
  EXPECT_EQ(list("IMMA.8816.S8.U8 R4, R8.ROW, R12.COL, R16"), "=R4:2 R8 R12 R16:2");
  EXPECT_EQ(list("DMMA.16x8x16 R8, R16, R32, R40"), "=R8:8 R16:16* R32:8* R40:8*");
}

TEST(Access, ProductsOfAWarpgroup) {
  EXPECT_EQ(list("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24, UP0, gsb0"), "=R24:128 UR8:4 R24:128 UP0 O1");
  EXPECT_EQ(list("HGMMA.64x64x16.F16 R24, gdesc[UR8].tnspB, RZ, !UPT"), "=R24:16 UR8:4 O1");
  // A in registers: only the second pair of the descriptors is read.
  EXPECT_EQ(list("HGMMA.64x8x16.F32 R24, -R28, gdesc[UR8].negB, R24, gsb0"), "=R24:4 R28:4 UR10:2 R24:4 O1");
  EXPECT_EQ(list("IGMMA.SP.64x48x64.S8.U8.SAT R24, R56, gdesc[UR4], R24, R60"), "=R24:24 R56:4 UR6:2 R24:24 R60 O1");
  EXPECT_EQ(list("WARPGROUP.DEPBAR.LE gsb0, 0x1"), "");
  const Result<ParsedInst> p = parse_inst(Arch::sm_90a, "HGMMA.64x8x16.F32 R24, R28, gdesc[UR8], R24, gsb0", {});
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(ready(p->inst), Ready::kGroup);
  for (const Access& a : accesses(p->inst)) EXPECT_EQ(a.group, a.file == RegFile::kGpr);
}

TEST(Access, CopyEngine) {
  EXPECT_EQ(list("UTMALDG.2D [UR4], [UR8]"), "UR4:4* UR8:2* O1");
  EXPECT_EQ(list("UTMALDG.5D.IM2COL.MULTICAST [UR8], [UR4], UR16, desc[UR6]"), "UR8:7* UR4:2* UR16* UR6:2* O1");
  EXPECT_EQ(list("UTMASTG.3D [UR4], [UR8]"), "UR4:4* UR8:2* O1");
  EXPECT_EQ(list("UTMAPF.L2.3D [UR8], [UR4]"), "UR8:3* UR4:2*");
  EXPECT_EQ(list("UBLKCP.S.G [UR4], [UR8], UR6"), "UR4:2* UR8:2* UR6* O1");
  EXPECT_EQ(list("UBLKCP.G.S [UR8], [UR4], UR6"), "UR8:2* UR4* UR6* O1");
  EXPECT_EQ(list("SYNCS.EXCH.64 URZ, [UR4+0x8], UR6"), "UR4* UR6:2*");
  EXPECT_EQ(list("SYNCS.ARRIVE.TRANS64.A1T0 R4, [R8+UR5], RZ"), "=R4:2 R8* UR5 O1");
  EXPECT_EQ(list("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R2"), "=P0 UR4 R2*");
  EXPECT_EQ(list("STAS.64 [R4.64], R8"), "R4:2* R8:2*");
  EXPECT_EQ(list("USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8"), "=UP0");
  EXPECT_EQ(list("ELECT P1, UR4, PT"), "=P1 =UR4");
}

TEST(Access, Control) {
  EXPECT_EQ(list("@P2 BRA 0x40"), "@P2");
  EXPECT_EQ(list("BRA P1, 0x40"), "@P1");
  EXPECT_EQ(list("BSSY B3, 0x100"), "=B3");
  EXPECT_EQ(list("BSYNC B3"), "B3");
  EXPECT_EQ(list("MEMBAR.ALL.CTA"), "O0*");
  EXPECT_EQ(list("MEMBAR.ALL.GPU"), "");
  EXPECT_EQ(list("FENCE.VIEW.ASYNC.S"), "=O0 =O1");
  EXPECT_EQ(list("BAR.RED.AND.DEFER_BLOCKING 0x0, P3"), "P3 O1");
  EXPECT_EQ(list("RET.REL.NODEC R4 0x0"), "R4:2");
  EXPECT_EQ(list("VOTE.ANY R3, P1, !P2"), "=R3 =P1 P2");
  EXPECT_EQ(list("VOTEU.ANY UR4, UPT, P2"), "=UR4 P2");
  EXPECT_EQ(list("R2UR UR4, R2"), "=UR4 R2");
  EXPECT_EQ(list("R2UR P0, UR4, R2"), "=P0 =UR4 R2");
  EXPECT_EQ(list("R2UR.OR P0, UR4, R2"), "P0 =P0 =UR4 R2");
}

// P2R reads every predicate, R2P writes those of its mask and carries the others through.
TEST(Access, PredicateFiles) {
  EXPECT_EQ(list("P2R R1, PR, RZ, 0x7f"), "=R1 P0:7");
  EXPECT_EQ(list("R2P PR, R1, 0x5"), "P0:7~ =P0 =P2 R1");
  EXPECT_EQ(list("R2P PR, R1, R2"), "=P0:7 R1 R2");
}

TEST(Access, TraitsOfTheRow) {
  const auto inst = [](const char* text) { return parse_inst(Arch::sm_90a, text, {})->inst; };
  EXPECT_EQ(ready(inst("LDG.E R1, desc[UR4][R2.64]")), Ready::kScoreboard);
  EXPECT_EQ(ready(inst("FFMA R1, R2, R3, R4")), Ready::kFixed);
  EXPECT_TRUE(reads_late(inst("STG.E desc[UR4][R2.64], R1")));
  EXPECT_FALSE(reads_late(inst("MOV R1, R2")));
  EXPECT_TRUE(ends_block(inst("EXIT")));
  EXPECT_TRUE(is_branch(inst("BRA 0x0")));
  EXPECT_FALSE(is_branch(inst("BSSY B0, 0x0")));
}

// No row has more accesses than Accesses holds, and no access leaves its register file.
TEST(Access, StaysInTheFile) {
  for (const Golden& g : read_golden("sm90a.golden", Encoding::k128)) {
    const Result<Inst> inst = decode(Arch::sm_90a, g.word, 0);
    ASSERT_TRUE(inst.ok());
    const Accesses all = accesses(*inst);
    EXPECT_LT(all.count, all.items.size());
    for (const Access& a : all) {
      const int limit = a.file == RegFile::kGpr       ? 255
                        : a.file == RegFile::kUGpr    ? 63
                        : a.file == RegFile::kBarrier ? 16
                                                      : 7;
      EXPECT_LE(a.first + a.count, limit) << g.text;
    }
  }
}

}  // namespace
}  // namespace nervanagpu::sass::test
