// What only the 64-bit family (sm_50 .. sm_62) has: reuse slots of three operands, CC, short immediates, XMAD.
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "sass/isa/access.h"
#include "sass/isa/codec/codec.h"
#include "sass/isa/rows/row.h"
#include "sass/isa/rows/table.h"
#include "test/sass/isa/golden.h"

namespace nervanagpu::sass::test {
namespace {

Inst inst_of(const std::string& text) {
  const Result<ParsedInst> p = parse_inst(Arch::sm_52, text, {});
  EXPECT_TRUE(p.ok()) << text << "\n" << (p.ok() ? "" : p.error().text());
  return p.ok() ? p->inst : Inst{};
}

std::uint64_t low_bits(const std::string& text) {
  const Result<Word> w = encode(Arch::sm_52, inst_of(text), 0);
  EXPECT_TRUE(w.ok()) << text << "\n" << (w.ok() ? "" : w.error().message);
  return w.ok() ? w->lo : 0;
}

std::string accesses_of(const std::string& text) {
  static const char* const kFile[] = {"R", "UR", "P", "UP", "B", "CC"};
  const Inst inst = inst_of(text);
  if (inst.row == nullptr) return "?";
  std::string out;
  for (const Access& a : accesses(inst)) {
    out += (out.empty() ? "" : " ") + std::string(a.write ? "=" : a.guard ? "@" : "") + kFile[static_cast<int>(a.file)];
    if (a.file != RegFile::kCc) out += std::to_string(a.first);
    if (a.count > 1) out += ":" + std::to_string(a.count);
    if (a.late) out += "*";
  }
  return out;
}

void expect_refused(Arch arch, const char* file, int at_least) {
  std::ifstream in(data_path(file));
  std::string line;
  int count = 0;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    ASSERT_NE(second, std::string::npos) << line;
    const std::string text = line.substr(0, first);
    const Result<ParsedInst> parsed = parse_inst(arch, text, Span{"file.sass", 7, 1});
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().message, line.substr(second + 1)) << text;
    EXPECT_EQ(parsed.error().at.col, std::stoul(line.substr(first + 1, second - first - 1))) << text;
    EXPECT_EQ(parsed.error().at.line, 7u);
    ++count;
  }
  EXPECT_GE(count, at_least);
}

TEST(Sm52, InvalidTextHasExactMessageAndColumn) {
  expect_refused(Arch::sm_52, "sm52.invalid", 85);
  expect_refused(Arch::sm_61, "sm61.invalid", 20);  // what sm_52 lacks
}

TEST(Sm52, InvalidWordIsRefusedByName) {
  const Result<Inst> inst = decode(Arch::sm_52, Word{0xffffffffffffffffULL, 0}, 0);
  ASSERT_FALSE(inst.ok());
  EXPECT_EQ(inst.error().message, "no known sm_52 instruction has the bits 0xffffffffffffffff");
}

TEST(Sm52, AllSixArchitecturesHaveTheRows) {
  for (const Arch a : {Arch::sm_50, Arch::sm_52, Arch::sm_53, Arch::sm_60, Arch::sm_61, Arch::sm_62}) {
    EXPECT_TRUE(parse_inst(a, "XMAD.PSL.CBCC R1, R2.H1, R3.H1, R4", {}).ok());
  }
  EXPECT_TRUE(parse_inst(Arch::sm_50, "MUFU.RSQ64H R1, R2", {}).ok());
  EXPECT_FALSE(parse_inst(Arch::sm_50, "MUFU.SQRT R1, R2", {}).ok());
  EXPECT_FALSE(parse_inst(Arch::sm_90a, "XMAD R1, R2, R3, R4", {}).ok());
  EXPECT_FALSE(parse_inst(Arch::sm_52, "FFMA R1, R2, UR4, R4", {}).ok());
}

// The mnemonics that kernels of this family may count on.
TEST(Sm52, HasTheMnemonics) {
  std::set<std::string_view> have;
  for (const Op op : ops_of(Arch::sm_52)) have.insert(op_text(op));
  for (const char* name :
       {"FFMA", "FADD",   "FMUL",   "FFMA32I", "FADD32I", "FMUL32I", "FMNMX", "FSETP", "FSET", "MUFU",
        "RRO",  "XMAD",   "IADD",   "IADD3",   "IADD32I", "ISCADD",  "IMNMX", "ISETP", "ISET", "ICMP",
        "LOP",  "LOP3",   "LOP32I", "SHL",     "SHR",     "SHF",     "BFE",   "BFI",   "PRMT", "SEL",
        "MOV",  "MOV32I", "FLO",    "POPC",    "F2F",     "F2I",     "I2F",   "I2I",   "S2R",  "LDC",
        "LDG",  "STG",    "LDS",    "STS",     "LDL",     "STL",     "SHFL",  "VOTE",  "ATOM", "ATOMS",
        "RED",  "BAR",    "MEMBAR", "DEPBAR",  "PSETP",   "P2R",     "R2P",   "BRA",   "SSY",  "SYNC",
        "PBK",  "BRK",    "EXIT",   "NOP",     "CAL",     "RET",     "DADD",  "DMUL",  "DFMA", "DSETP"}) {
    EXPECT_TRUE(have.contains(name)) << name;
  }
}

// Slots A, B, C are bits 0, 1, 2 of the reuse field, but the second operand of FADD and DADD is in slot C.
TEST(Sm52, ReuseFlags) {
  const auto reuse = [](const char* text) {
    const Result<Word> w = encode(Arch::sm_52, inst_of(text), 0);
    EXPECT_TRUE(w.ok()) << text;
    return w.ok() ? static_cast<int>(get_control(*w).reuse) : -1;
  };
  EXPECT_EQ(reuse("FFMA R0, R1.reuse, R2, R3"), 1);
  EXPECT_EQ(reuse("FFMA R0, R1, R2.reuse, R3"), 2);
  EXPECT_EQ(reuse("FFMA R0, R1, R2, R3.reuse"), 4);
  EXPECT_EQ(reuse("FFMA R0, R1, R2.reuse, c[0x0][0x140]"), 2);
  EXPECT_EQ(reuse("FFMA R0, R1, c[0x0][0x140], R3.reuse"), 4);
  EXPECT_EQ(reuse("FADD R0, R1, R2.reuse"), 4);
  EXPECT_EQ(reuse("DADD R0, R2, R4.reuse"), 4);
  EXPECT_EQ(reuse("IADD R0, R1.reuse, R2.reuse"), 3);
  EXPECT_EQ(reuse("MOV R0, R1.reuse"), 2);
  EXPECT_EQ(reuse("XMAD R1, R2.H1.reuse, R3.H1, R4"), 1);
  EXPECT_EQ(reuse("FFMA32I R1, R2, 1.5, R1.reuse"), 4);
  const Result<Inst> read = decode(Arch::sm_52, put_control({0x59a0018000270000, 0}, {.yield = true, .reuse = 5}), 0);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(print(*read), "FFMA.FTZ R0, R0.reuse, R2, R3.reuse");  // unlike sm_70 and later, with yield too
  const Result<Inst> wrong = decode(Arch::sm_52, put_control({0x5c10000000270000, 0}, {.reuse = 4}), 0);
  EXPECT_FALSE(wrong.ok());  // IADD has no third operand
}

TEST(Sm52, CarryIsARegister) {
  EXPECT_EQ(accesses_of("IADD R1.CC, R2, R3"), "=R1 =CC R2 R3");
  EXPECT_EQ(accesses_of("IADD.X R1, R2, R3"), "=R1 R2 R3 CC");
  EXPECT_EQ(accesses_of("XMAD.X R1.CC, R2, R3, R4"), "=R1 =CC R2 R3 R4 CC");
  EXPECT_EQ(accesses_of("IADD R1, R2, R3"), "=R1 R2 R3");
  EXPECT_EQ(accesses_of("SHF.L.HI R1, R2, R3, R4"), "=R1 R2 R3 R4");
  EXPECT_EQ(accesses_of("BRA CC.LT, 0x40"), "@CC");
  EXPECT_EQ(accesses_of("BRA 0x40"), "");
  EXPECT_EQ(accesses_of("CSETP.EQ.AND P0, PT, CC, P1"), "=P0 CC P1");
  EXPECT_EQ(accesses_of("P2R R1, CC, RZ, 0xf"), "=R1 CC");
}

TEST(Sm52, Accesses) {
  EXPECT_EQ(accesses_of("@!P2 FFMA R1, R2, c[0x0][0x140], R4"), "@P2 =R1 R2 R4");
  EXPECT_EQ(accesses_of("FFMA32I R1, R2, 1.5, R1"), "=R1 R2 R1");
  EXPECT_EQ(accesses_of("DFMA R2, R4, R6, R8"), "=R2:2 R4:2* R6:2* R8:2*");
  EXPECT_EQ(accesses_of("F2F.F64.F32 R2, R5"), "=R2:2 R5*");
  EXPECT_EQ(accesses_of("F2I.S64.F64 R2, R4"), "=R2:2 R4:2*");
  EXPECT_EQ(accesses_of("MUFU.RCP R1, R2"), "=R1 R2*");
  EXPECT_EQ(accesses_of("LDG.E.128 R4, [R2+0x10]"), "=R4:4 R2:2*");
  EXPECT_EQ(accesses_of("LDG R4, [R3]"), "=R4 R3*");
  EXPECT_EQ(accesses_of("STG.E.64 [R2], R8"), "R2:2* R8:2*");
  EXPECT_EQ(accesses_of("LDS.U.128 R4, [R3]"), "=R4:4 R3*");
  EXPECT_EQ(accesses_of("STS [0x20], R8"), "R8*");
  EXPECT_EQ(accesses_of("LDC.64 R2, c[0x3][R5+0x8]"), "=R2:2 R5*");
  EXPECT_EQ(accesses_of("ATOM.E.ADD.U64 R2, [R4], R6"), "=R2:2 R4:2* R6:2*");
  EXPECT_EQ(accesses_of("ATOM.E.CAS R1, [R2], R4, R5"), "=R1 R2:2* R4:2* R5*");
  EXPECT_EQ(accesses_of("RED.E.ADD.F32.FTZ.RN [R2], R4"), "R2:2* R4*");
  EXPECT_EQ(accesses_of("SHFL.IDX PT, R1, R2, R3, 0x1f"), "=R1 R2* R3*");
  EXPECT_EQ(accesses_of("LEA P1, R1, R2, R3, 0x5"), "=P1 =R1 R2 R3");
  EXPECT_EQ(accesses_of("BAR.SYNC R1, R2"), "R1 R2");
}

TEST(Sm52, Traits) {
  const auto needs_scoreboard = [](const char* text) { return ready(inst_of(text)) == Ready::kScoreboard; };
  for (const char* text :
       {"MUFU.RCP R1, R2", "F2I.S32.F32 R1, R2", "I2F.F32.S32 R1, R2", "FLO.U32 R1, R2", "POPC R1, R2",
        "S2R R1, SR_TID.X", "SHFL.IDX PT, R1, R2, R3, R4", "LDG.E R1, [R2]", "LDS R1, [R2]", "LDC R1, c[0x3][R2]",
        "ATOM.E.ADD R1, [R2], R4", "DFMA R2, R4, R6, R8", "DSETP.LT.AND P0, PT, R2, R4, PT", "IMAD R1, R2, R3, R4"}) {
    EXPECT_TRUE(needs_scoreboard(text)) << text;
  }
  for (const char* text :
       {"FFMA R1, R2, R3, R4", "XMAD R1, R2, R3, R4", "ISETP.LT.AND P0, PT, R2, R3, PT", "SHF.L R1, R2, R3, R4",
        "RRO.EX2 R1, R2", "VOTE.ALL P0, P1", "CS2R R1, SR_CLOCKLO", "STG.E [R2], R4"}) {
    EXPECT_FALSE(needs_scoreboard(text)) << text;
  }
  for (const char* text : {"STG.E [R2], R4", "STS [R2], R4", "RED.E.ADD [R2], R4", "ATOMS.ADD R1, [R2], R3",
                           "MUFU.RCP R1, R2", "DADD R2, R4, R6"}) {
    EXPECT_TRUE(reads_late(inst_of(text))) << text;
  }
  for (const char* text : {"FFMA R1, R2, R3, R4", "S2R R1, SR_TID.X", "BAR.SYNC 0x0"})
    EXPECT_FALSE(reads_late(inst_of(text))) << text;
  for (const char* text : {"EXIT", "@P0 BRK", "SYNC", "RET", "BRA 0x40"})
    EXPECT_TRUE(ends_block(inst_of(text))) << text;
  for (const char* text : {"SSY 0x40", "PBK 0x40", "NOP", "BAR.SYNC 0x0"})
    EXPECT_FALSE(ends_block(inst_of(text))) << text;
  EXPECT_TRUE(is_branch(inst_of("BRA 0x40")));
  EXPECT_FALSE(is_branch(inst_of("SSY 0x40")));
  EXPECT_EQ(unit(inst_of("FFMA R1, R2, R3, R4")), Unit::kFma);
  EXPECT_EQ(unit(inst_of("LDS R1, [R2]")), Unit::kMemShared);
}

// Both spellings of a number, and what a field cannot hold exactly.
TEST(Sm52, Immediates) {
  EXPECT_EQ(low_bits("IADD R1, R2, -0x80000"), low_bits("IADD R1, R2, -524288"));
  EXPECT_EQ(low_bits("IADD32I R1, R2, 0xffffffff"), low_bits("IADD32I R1, R2, -0x1"));
  EXPECT_EQ(low_bits("LDS R1, [0xffffff]"), low_bits("LDS R1, [-0x1]"));
  EXPECT_EQ(low_bits("FADD R1, R2, +INF .NEG"), low_bits("FADD R1, R2, +INF.NEG"));
  EXPECT_EQ(low_bits("FADD R1, R2, 1.NEG"), low_bits("FADD R1, R2, 0x3f800000.NEG"));
  EXPECT_EQ(low_bits("FFMA R1, R2, 0x3fc00000, R3"), low_bits("FFMA R1, R2, 1.5, R3"));
  EXPECT_EQ(low_bits("NOP") & 0xffff, 0x0f00u);
}

TEST(Sm52, BranchTargetsAreAbsolute) {
  const Result<Inst> inst = decode(Arch::sm_52, put_control({0xe24000000807000f, 0}, {}), 0x48);
  ASSERT_TRUE(inst.ok());
  EXPECT_EQ(print(*inst), "BRA 0xd0");
  const Result<Word> back = encode(Arch::sm_52, *inst, 0x48);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->lo, 0xe24000000807000fULL);
}

}  // namespace
}  // namespace nervanagpu::sass::test
