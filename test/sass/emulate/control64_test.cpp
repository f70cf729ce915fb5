// The convergence stack of sm_50 .. sm_62, branches on CC, and what else sits around the arithmetic: special registers,
// memory of all sizes, atomics, shuffles, votes, barriers.
#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;

constexpr Arch kArch = Arch::sm_52;
const Control kLoad{.stall = 15, .yield = true, .write_sb = 0};
const Control kAwait{.stall = 15, .yield = true, .wait = 1};

// A kernel with one pointer: R4:5 the address of word [global thread], R0 thread, R1 CTA, R2 lane; then `body`, which
// leaves its result in R10; it is stored.
KernelImage thread_kernel(const std::vector<std::string>& body, u32 shared = 0) {
  std::vector<TextLine> lines = {{"S2R R0, SR_TID.X", kLoad},      {"S2R R1, SR_CTAID.X", kLoad},
                                 {"S2R R2, SR_LANEID", kLoad},     {"XMAD R4, R1, c[0x0][0x8], R0", kAwait},
                                 {"SHR.U32 R5, R4, 0x1e"},         {"ISCADD R4.CC, R4, c[0x0][0x140], 0x2"},
                                 {"IADD.X R5, R5, c[0x0][0x144]"}, {"MOV R10, RZ"}};
  for (const std::string& b : body) lines.push_back({b, {.stall = 15, .yield = true, .write_sb = 0, .wait = 1}});
  lines.push_back({"STG.E [R4], R10", kAwait});
  lines.push_back({"EXIT"});
  return assemble(lines, 8, shared, kArch);
}

std::vector<u32> run_threads(const KernelImage& image, u32 grid, u32 block) {
  std::vector<u32> got;
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    Memory memory(16 << 20);
    Buffer<u32> out(memory, std::vector<u32>(grid * block, 0xdeadbeef));
    const Result<Report> r =
        run_image(image, memory, {grid}, {block}, Params().add(out.address()).bytes(), mode, 0, 0, kArch);
    EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
    if (r.ok()) {
      for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
    }
    const std::vector<u32> now = out.get();
    if (mode == Mode::kChecked) {
      EXPECT_EQ(now, got);
    }
    got = now;
  }
  return got;
}

std::string fault_of(const KernelImage& image, u32 block = 32) {
  Memory memory(1 << 20);
  Buffer<u32> out(memory, std::size_t{256});
  const Result<Report> r =
      run_image(image, memory, {1}, {block}, Params().add(out.address()).bytes(), Mode::kFast, 0, 0, kArch);
  return r.ok() ? "" : r.error().message;
}

// How many lanes are here, into R12, which every convergence is asked with.
const std::string kWho = "VOTE.ANY R11, PT, PT";
const std::string kCount = "POPC R12, R11";

TEST(Control64, WithoutATokenNobodyJoins) {
  const auto got = run_threads(
      thread_kernel({"ISETP.LT.U32.AND P0, PT, R2, 0xb, PT", "@P0 BRA `(LOW)", "NOP", "LOW:", kWho, "POPC R10, R11"}),
      1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], l < 11 ? 11u : 21u) << l;
}

TEST(Control64, GroupsAtOnePlaceTakeTurns) {
  // Three groups spin on a counter of shared memory until all three have been there.
  const auto got = run_threads(
      thread_kernel({"LOP32I.AND R13, R2, 0x3", "ISETP.EQ.AND P0, PT, R0, RZ, PT", "@P0 STS [0x0], RZ", "BAR.SYNC 0x0",
                     "ISETP.EQ.AND P0, PT, R13, RZ, PT", "ISETP.EQ.AND P1, PT, R13, 0x1, PT", "SSY `(JOIN)",
                     "@P0 BRA `(WORK)", "@P1 BRA `(WORK)", "NOP", "WORK:", "MOV32I R14, 0x1",
                     "ATOMS.ADD R15, [0x0], R14", "SPIN:", "ATOMS.ADD R10, [0x0], RZ",
                     "ISETP.NE.AND P2, PT, R10, 0x20, PT", "@P2 BRA `(SPIN)", "SYNC", "JOIN:"},
                    4),
      1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], 32u) << l;
}

TEST(Control64, SyncJoinsBothSides) {
  const auto got = run_threads(
      thread_kernel({"ISETP.LT.U32.AND P0, PT, R2, 0xb, PT", "SSY `(JOIN)", "@P0 BRA `(LOW)", "MOV32I R10, 0x64",
                     "SYNC", "LOW:", "MOV32I R10, 0xc8", "SYNC", "JOIN:", kWho, kCount, "IADD R10, R10, R12"}),
      1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], (l < 11 ? 200u : 100u) + 32u) << l;
}

TEST(Control64, AGuardedSyncWaitsForTheOthers) {
  const auto got =
      run_threads(thread_kernel({"ISETP.LT.U32.AND P0, PT, R2, 0xb, PT", "SSY `(JOIN)", "@P0 SYNC", kWho,
                                 "POPC R10, R11", "SYNC", "JOIN:", kWho, kCount, "ISCADD R10, R12, R10, 0x8"}),
                  2, 64);
  for (u32 i = 0; i < 128; ++i) EXPECT_EQ(got[i], (i % 32 < 11 ? 0u : 21u) + (32u << 8)) << i;
}

TEST(Control64, LanesLeaveALoopAtDifferentTimes) {
  // Lane l adds 1 + 2 + .. + l, and odd lanes double it inside.
  const auto got =
      run_threads(thread_kernel({"MOV R13, R2", "PBK `(OUT)", "LOOP:", "ISETP.EQ.AND P0, PT, R13, RZ, PT", "@P0 BRK",
                                 "IADD R10, R10, R13", "LOP.AND.NZ P1, RZ, R2, 0x1", "SSY `(EVEN)", "@!P1 SYNC",
                                 "IADD R10, R10, R13", "SYNC", "EVEN:", "IADD R13, R13, -0x1", "BRA `(LOOP)",
                                 "OUT:", kWho, kCount, "ISETP.NE.AND P2, PT, R12, 0x20, PT", "@P2 MOV R10, RZ"}),
                  2, 64);
  for (u32 i = 0; i < 128; ++i) {
    const u32 l = i % 32;
    EXPECT_EQ(got[i], l * (l + 1) / 2 * (l % 2 + 1)) << i;
  }
}

TEST(Control64, BreaksFromInsideASync) {
  // Those that break from inside the SSY region are not waited for at its SYNC.
  const auto got = run_threads(
      thread_kernel({"ISETP.LT.U32.AND P0, PT, R2, 0x5, PT", "LOP.AND.NZ P1, RZ, R2, 0x1", "PBK `(OUT)", "SSY `(JOIN)",
                     "@P1 SYNC", "MOV32I R10, 0x100", "@P0 BRK", "SYNC", "JOIN:", kWho, kCount, "IADD R10, R10, R12",
                     "BRK", "OUT:", kWho, kCount, "ISCADD R10, R12, R10, 0x10"}),
      1, 32);
  for (u32 l = 0; l < 32; ++l) {
    const u32 inside = l % 2 != 0 ? 29u : l < 5 ? 0x100u : 0x100u + 29u;  // lanes 0, 2, 4 broke
    EXPECT_EQ(got[l], inside + (32u << 16)) << l;
  }
}

TEST(Control64, ContinueMeetsAtItsPlace) {
  // Three rounds; in each, lanes of other residues continue early.
  const auto got = run_threads(thread_kernel({"MOV R13, RZ",
                                              "LOOP:",
                                              "PCNT `(NEXT)",
                                              "SSY `(JOIN)",
                                              "LOP32I.AND R14, R2, 0x3",
                                              "ISETP.EQ.AND P0, PT, R14, R13, PT",
                                              "@P0 CONT",
                                              "IADD R10, R10, 0x1",
                                              "SYNC",
                                              "JOIN:",
                                              kWho,
                                              kCount,
                                              "ISCADD R10, R12, R10, 0x4",
                                              "CONT",
                                              "NEXT:",
                                              kWho,
                                              kCount,
                                              "ISETP.NE.AND P1, PT, R12, 0x20, PT",
                                              "@P1 MOV32I R10, 0xbad",
                                              "IADD R13, R13, 0x1",
                                              "ISETP.LT.AND P2, PT, R13, 0x3, PT",
                                              "@P2 BRA `(LOOP)"}),
                               1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], (l % 4 < 3 ? 2u : 3u) * (1 + 24 * 16)) << l;
}

TEST(Control64, CallsReturnTogether) {
  const auto got = run_threads(thread_kernel({"ISETP.LT.U32.AND P0, PT, R2, 0xb, PT",
                                              "SSY `(JOIN)",
                                              "@P0 BRA `(LOW)",
                                              "MOV R13, R2",
                                              "CAL `(TWICE)",
                                              "IADD R10, R13, 0x1",
                                              "SYNC",
                                              "LOW:",
                                              "IADD R13, R2, 0x40",
                                              "CAL `(TWICE)",
                                              "MOV R10, R13",
                                              "SYNC",
                                              "TWICE:",
                                              "LOP.AND.NZ P1, RZ, R13, 0x1",
                                              "SHL R13, R13, 0x1",
                                              "@P1 RET",
                                              "IADD32I R13, R13, 0x1000",
                                              "CAL `(INNER)",
                                              "RET",
                                              "INNER:",
                                              "IADD32I R13, R13, 0x10000",
                                              "RET",
                                              "JOIN:",
                                              kWho,
                                              kCount,
                                              "ISCADD R10, R12, R10, 0x14"}),
                               1, 32);
  const auto twice = [](u32 v) { return 2 * v + (v % 2 != 0 ? 0u : 0x11000u); };
  for (u32 l = 0; l < 32; ++l) {
    EXPECT_EQ(got[l], (l < 11 ? twice(l + 0x40) : twice(l) + 1) + (32u << 20)) << l;
  }
}

TEST(Control64, ExitOfSomeReleasesTheOthers) {
  const auto got =
      run_threads(thread_kernel({"ISETP.LT.U32.AND P0, PT, R2, 0x8, PT", "ISETP.GE.U32.AND P1, PT, R2, 0x1c, PT",
                                 "SSY `(JOIN)", "@!P0 SYNC", "MOV32I R10, 0x5", "STG.E [R4], R10", "EXIT",
                                 "JOIN:", "@P1 EXIT", kWho, "POPC R10, R11"}),
                  1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], l < 8 ? 5u : l >= 28 ? 0xdeadbeef : 20u) << l;
}

TEST(Control64, BranchesOnCc) {
  const auto got =
      run_threads(thread_kernel({"SSY `(JOIN)", "IADD RZ.CC, R2, -0x9", "BRA CC.LT, `(LESS)", "MOV32I R10, 0x1",
                                 "SYNC CC.EQ", "MOV32I R10, 0x2", "SYNC", "LESS:", "IADD RZ.CC, R2, -0x3", "EXIT CC.LO",
                                 "MOV32I R10, 0x3", "SYNC", "JOIN:", kWho, kCount, "ISCADD R10, R12, R10, 0x8"}),
                  1, 32);
  for (u32 l = 0; l < 32; ++l) {
    EXPECT_EQ(got[l], l < 3 ? 0xdeadbeef : (29u << 8) + (l < 9 ? 3 : l == 9 ? 1 : 2)) << l;
  }
}

TEST(Control64, JumpTables) {
  // Case k of four stands k bundles after the first.
  const auto got = run_threads(thread_kernel({"LOP32I.AND R13, R2, 0x3",
                                              "SHL R13, R13, 0x5",
                                              "SSY `(JOIN)",
                                              "NOP",
                                              "NOP",
                                              "NOP",
                                              "BRX R13 0x20",
                                              "NOP",
                                              "NOP",
                                              "NOP",
                                              "MOV32I R10, 0x1",
                                              "NOP",
                                              "SYNC",
                                              "MOV32I R10, 0x2",
                                              "NOP",
                                              "SYNC",
                                              "MOV32I R10, 0x3",
                                              "NOP",
                                              "SYNC",
                                              "MOV32I R10, 0x4",
                                              "NOP",
                                              "SYNC",
                                              "JOIN:",
                                              kWho,
                                              kCount,
                                              "ISCADD R10, R12, R10, 0x8"}),
                               1, 32);
  // The prologue has 8 instructions, BRX is number 14, the last of bundle 4, and counts from bundle 5; the cases start with bundle 6.
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], (l % 4 + 1) + (32u << 8)) << l;
}

TEST(Control64, MisuseOfTheStackIsNamed) {
  EXPECT_NE(fault_of(thread_kernel({"SYNC"})).find("the convergence stack has no entry for this instruction"),
            std::string::npos);
  EXPECT_NE(fault_of(thread_kernel({"PBK `(OUT)", "SYNC", "OUT:"})).find("has no entry"), std::string::npos);
  EXPECT_NE(fault_of(thread_kernel({"SSY `(OUT)", "CAL `(F)", "EXIT", "F:", "BRK", "OUT:"})).find("has no entry"),
            std::string::npos);
  EXPECT_NE(fault_of(thread_kernel({"RET"})).find("has no entry"), std::string::npos);
  EXPECT_NE(fault_of(thread_kernel({"LOOP:", "SSY `(OUT)", "BRA `(LOOP)", "OUT:"})).find("never ends"),
            std::string::npos);
  EXPECT_NE(fault_of(thread_kernel({"LOOP:", "CAL `(LOOP)"})).find("never ends"), std::string::npos);
  EXPECT_NE(fault_of(thread_kernel({"SHL R13, R2, 0x2", "BRX R13"})).find("which is not in the kernel"),
            std::string::npos);
}

TEST(Control64, AWaitThatNobodyEndsIsADeadlock) {
  const std::string text = fault_of(thread_kernel({"ISETP.LT.U32.AND P0, PT, R0, 0x8, PT", "SSY `(JOIN)", "@P0 SYNC",
                                                   "BAR.SYNC 0x0", "SYNC", "JOIN:"}),
                                    64);
  EXPECT_NE(text.find("deadlock"), std::string::npos) << text;
  EXPECT_NE(text.find("warp 0 lanes 0xff wait at @P0 SYNC for lanes 0xffffff00"), std::string::npos) << text;
}

TEST(Control64, SpecialRegisters) {
  const auto got =
      run_threads(thread_kernel({"S2R R13, SR_LTMASK", "POPC R13, R13", "S2R R14, SR_GEMASK", "POPC R14, R14",
                                 "ISCADD R10, R14, R13, 0x8", "MOV R15, c[0x0][0x8]", "ISCADD R10, R15, R10, 0x10",
                                 "MOV R16, c[0x0][0x14]", "ISCADD R10, R16, R10, 0x18", "CS2R R17, SR_CLOCKLO"}),
                  3, 64);
  for (u32 i = 0; i < 192; ++i) EXPECT_EQ(got[i], i % 32 | (32 - i % 32) << 8 | 64u << 16 | 3u << 24) << i;
}

TEST(Memory64, SharedOfAllSizes) {
  const auto got = run_threads(
      thread_kernel({"SHL R13, R0, 0x4", "IADD R16, R0, 0x1", "IADD R17, R0, 0x2", "IADD R18, R0, 0x3",
                     "IADD R19, R0, 0x4", "STS.128 [R13], R16", "STS.U8 [R13+0x4], R0", "STS.U16 [R13+0xa], R13",
                     "BAR.SYNC 0x0", "LOP.XOR R14, R13, 0x200", "LDS.U.64 R20, [R14+0x8]", "LDS.S8 R22, [R14+0x4]",
                     "LDS.S16 R23, [R14+0xa]", "LDS R24, [R14]", "LDS.U.U8 R25, [R14+0xc]", "IADD3 R10, R20, R21, R22",
                     "IADD3 R10, R10, R23, R24", "IADD R10, R10, R25"},
                    1024),
      1, 64);
  for (u32 t = 0; t < 64; ++t) {
    const u32 o = t ^ 32;
    const u32 word2 = ((o + 3) & 0xffff) | o << 20;
    EXPECT_EQ(got[t], word2 + (o + 4) + o + o * 16 + (o + 1) + (o + 4)) << t;
  }
}

TEST(Memory64, LocalAndGlobalOfAllSizes) {
  KernelImage image = thread_kernel(
      {"MOV R1, c[0x0][0x20]", "IADD32I R1, R1, -0x10", "MOV32I R12, 0x80", "STL.64 [R1], R4", "STL.U8 [R1+0xf], R12",
       "STL.U16 [R1+0xc], R2", "STL.U8 [R1+0xe], RZ", "LDL.64 R14, [R1]", "LDL.S8 R16, [R1+0xf]", "LDL R17, [R1+0xc]",
       "STG.E.U16 [R14], R17", "STG.E.U8 [R14+0x3], R12", "STG.E.U8 [R14+0x2], RZ", "LDG.E.CG R18, [R4]",
       "LDG.E.U16 R19, [R4]", "LDG.E.S8 R20, [R4+0x3]", "IADD3 R10, R18, R19, R20", "IADD R10, R10, R16"});
  image.local = 64;
  const auto got = run_threads(image, 1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], (0x80000000u | l) + l - 128 - 128) << l;
}

TEST(Memory64, ConstantsByIndex) {
  const auto got =
      run_threads(thread_kernel({"LOP32I.AND R13, R2, 0x1", "SHL R13, R13, 0x2", "LDC R14, c[0x0][R13+0x8]",
                                 "LDC.U8 R15, c[0x0][R13+0x8]", "LDC.64 R16, c[0x0][0x8]", "IADD3 R10, R14, R15, R16"}),
                  1, 64);
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(got[t], (t % 2 == 0 ? 128u : 2u) + 64) << t;
}

TEST(Memory64, AtomicsInOrderOfLanes) {
  // Word 0 counts tickets; word 1 .. are changed by each lane in turn.
  const auto got = run_threads(
      thread_kernel({"MOV32I R20, 0x64", "ISETP.EQ.AND P0, PT, R0, RZ, PT", "@P0 STS [0x0], RZ", "@P0 STS [0x4], R20",
                     "@P0 STS [0x8], RZ", "BAR.SYNC 0x0", "MOV32I R13, 0x3", "ATOMS.ADD R14, [0x0], R13",
                     "ATOMS.MIN.S32 R15, [0x4], R2", "MOV R16, R2", "IADD R17, R2, 0x1",
                     "ATOMS.CAS R18, [0x8], R16, R17", "BAR.SYNC 0x0", "LDS R19, [0x4]", "LDS R21, [0x8]",
                     "IADD3 R10, R14, R19, R18", "ISCADD R10, R21, R10, 0x10"},
                    16),
      1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], 3 * l + 0 + l + (32u << 16)) << l;
}

TEST(Memory64, GlobalAtomics) {
  const auto got = run_threads(thread_kernel({"STG.E [R4], R2", "MOV32I R13, 0x5", "RED.E.ADD [R4], R13",
                                              "ATOM.E.XOR R14, [R4], R13", "ATOM.E.INC R15, [R4], R13", "MOV R16, RZ",
                                              "ATOM.E.EXCH R17, [R4], R16", "ISCADD R10, R14, R17, 0x10"}),
                               1, 32);
  for (u32 l = 0; l < 32; ++l) {
    const u32 flipped = (l + 5) ^ 5;
    EXPECT_EQ(got[l], (flipped >= 5 ? 0 : flipped + 1) + ((l + 5) << 16)) << l;
  }
}

TEST(Exchange64, ShufflesVotesAndReductions) {
  const auto got =
      run_threads(thread_kernel({"SHFL.IDX PT, R13, R2, 0x7, 0x1f", "SHFL.BFLY PT, R14, R2, 0x3, 0x1f",
                                 "SHFL.DOWN P0, R15, R2, 0x4, 0x1f", "SHFL.UP P1, R16, R2, R13, RZ",
                                 "SEL R15, R15, RZ, P0", "SEL R16, R16, RZ, P1", "ISCADD R10, R14, R13, 0x8",
                                 "ISCADD R10, R15, R10, 0x10", "ISCADD R10, R16, R10, 0x18"}),
                  1, 32);
  for (u32 l = 0; l < 32; ++l) {
    EXPECT_EQ(got[l], 7 + ((l ^ 3) << 8) + (l < 28 ? l + 4 : 0) * 0x10000 + (l >= 7 ? l - 7 : 0) * 0x1000000) << l;
  }
  const auto votes =
      run_threads(thread_kernel({"ISETP.LT.U32.AND P0, PT, R0, 0x28, PT", "VOTE.ALL R13, P1, P0", "VOTE.ANY P2, P0",
                                 "VOTE.EQ P3, P0", "POPC R10, R13", "P2R R14, PR, RZ, 0xe", "ISCADD R10, R14, R10, 0x8",
                                 "BAR.RED.POPC 0x0, P0", "B2R.RESULT R15", "ISCADD R10, R15, R10, 0x10"}),
                  1, 96);
  for (u32 t = 0; t < 96; ++t) {
    const u32 flags = t < 32 ? 0xe : t < 64 ? 0x4 : 0x8;
    EXPECT_EQ(votes[t], (t < 32 ? 32u : t < 64 ? 8u : 0u) + (flags << 8) + (40u << 16)) << t;
  }
}

TEST(Memory64, OutsideIsAFault) {
  EXPECT_NE(fault_of(thread_kernel({"LDS R10, [R0+0x400]"}, 1024))
                .find("out of bounds: 4-byte load at shared address "
                      "0x400; the CTA has [0x0, 0x400)"),
            std::string::npos);
  EXPECT_NE(fault_of(thread_kernel({"LDG.E R10, [RZ]"})).find("4-byte load at 0x0"), std::string::npos);
  EXPECT_NE(fault_of(thread_kernel({"LDG.E.64 R10, [R4+0x4]"})).find("misaligned"), std::string::npos);
  EXPECT_NE(fault_of(thread_kernel({"BPT.TRAP 0x1"})).find("trap"), std::string::npos);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
