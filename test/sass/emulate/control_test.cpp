// Divergence, convergence, barriers, calls, atomics over many CTAs.
#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;

const Control kLoad{.stall = 15, .yield = true, .write_sb = 0};
const Control kAwait{.stall = 15, .yield = true, .wait = 1};

// A kernel with one pointer: R4:5 the address of word [global thread], R0 thread, R1 CTA, R2 lane; then `body`, which
// leaves its result in R10; it is stored.
KernelImage thread_kernel(const std::vector<std::string>& body, u32 shared = 0) {
  std::vector<TextLine> lines = {
      {"S2R R0, SR_TID.X", kLoad},     {"S2R R1, SR_CTAID.X", kLoad},       {"S2R R2, SR_LANEID", kLoad},
      {"ULDC.64 UR4, c[0x0][0x208]"},  {"LDC.64 R6, c[0x0][0x210]", kLoad}, {"LDC R3, c[0x0][0x0]", kLoad},
      {"IMAD R4, R1, R3, R0", kAwait}, {"IMAD.WIDE.U32 R4, R4, 0x4, R6"},   {"MOV R10, RZ"}};
  for (const std::string& b : body) lines.push_back({b, {.stall = 15, .yield = true, .write_sb = 0, .wait = 1}});
  lines.push_back({"STG.E desc[UR4][R4.64], R10", kAwait});
  lines.push_back({"EXIT"});
  return assemble(lines, 8, shared);
}

std::vector<u32> run_threads(const KernelImage& image, u32 grid, u32 block, Mode mode = Mode::kChecked) {
  Memory memory(16 << 20);
  Buffer<u32> out(memory, std::vector<u32>(grid * block, 0xdeadbeef));
  const Result<Report> r = run_image(image, memory, {grid}, {block}, Params().add(out.address()).bytes(), mode);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
  if (r.ok()) {
    for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
  }
  return out.get();
}

TEST(Control, BothSidesOfABranchMeetAgain) {
  const KernelImage k = thread_kernel({"ISETP.LT.U32.AND P0, PT, R2, 0xb, PT", "BSSY B0, `(JOIN)", "@P0 BRA `(LOW)",
                                       "MOV R10, 0x64", "BRA `(JOIN)", "LOW:", "MOV R10, 0xc8", "JOIN:", "BSYNC B0",
                                       "VOTE.ANY R11, PT, PT", "POPC R12, R11", "IADD3 R10, R10, R12, RZ"});
  const std::vector<u32> got = run_threads(k, 1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], (l < 11 ? 200u : 100u) + 32u) << l;
}

TEST(Control, NestedDivergenceAndDifferentTripCounts) {
  // Lane l adds 1 + 2 + .. + l, and odd lanes double it inside.
  const KernelImage k =
      thread_kernel({"MOV R11, R2", "BSSY B0, `(OUT)", "LOOP:", "ISETP.EQ.AND P0, PT, R11, RZ, PT", "@P0 BRA `(OUT)",
                     "IADD3 R10, R10, R11, RZ", "LOP3.LUT P1, RZ, R2, 0x1, RZ, 0xc0, !PT", "BSSY B1, `(EVEN)",
                     "@!P1 BRA `(EVEN)", "IADD3 R10, R10, R11, RZ", "EVEN:", "BSYNC B1", "IADD3 R11, R11, -0x1, RZ",
                     "BRA `(LOOP)", "OUT:", "BSYNC B0", "VOTE.ALL P2, PT", "@!P2 MOV R10, RZ"});
  const std::vector<u32> got = run_threads(k, 2, 64);
  for (u32 i = 0; i < 128; ++i) {
    const u32 l = i % 32;
    EXPECT_EQ(got[i], l * (l + 1) / 2 * (l % 2 + 1)) << i;
  }
}

TEST(Control, ExitOfSomeLanesReleasesTheOthers) {
  const KernelImage k =
      thread_kernel({"ISETP.LT.U32.AND P0, PT, R2, 0x8, PT", "BSSY B0, `(JOIN)", "@!P0 BRA `(JOIN)", "MOV R10, 0x1",
                     "STG.E desc[UR4][R4.64], R10", "EXIT", "JOIN:", "BSYNC B0", "VOTE.ANY R10, PT, PT"});
  const std::vector<u32> got = run_threads(k, 1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], l < 8 ? 1u : 0xffffff00u) << l;
}

TEST(Control, BreakLeavesTheBarrier) {
  // Lanes under 4 break out and go their own way; the others do not wait for them at BSYNC.
  const KernelImage k =
      thread_kernel({"ISETP.LT.U32.AND P0, PT, R2, 0x4, PT", "BSSY B0, `(JOIN)", "@!P0 BRA `(JOIN)", "BREAK B0",
                     "MOV R10, 0x7", "BRA `(END)", "JOIN:", "BSYNC B0", "VOTE.ANY R10, PT, PT", "END:", "NOP"});
  const std::vector<u32> got = run_threads(k, 1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], l < 4 ? 7u : 0xfffffff0u) << l;
}

TEST(Control, WarpsyncJoinsLanes) {
  const KernelImage k =
      thread_kernel({"LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT", "@P0 BRA `(ODD)", "MOV R10, 0x2", "BRA `(MEET)",
                     "ODD:", "MOV R10, 0x3", "MEET:", "WARPSYNC.ALL", "SHFL.BFLY PT, R10, R10, 0x1, 0x1f"});
  const std::vector<u32> got = run_threads(k, 1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], l % 2 == 0 ? 3u : 2u) << l;
}

TEST(Control, CallsReturnToDifferentPlaces) {
  // Even lanes call with one return address, odd lanes with another.
  std::vector<std::string> body = {"LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT",
                                   "MOV R21, RZ",
                                   "MOV R20, 0x0",
                                   "@P0 MOV R20, 0x0",
                                   "CALL.REL.NOINC `(F)",
                                   "EVENBACK:",
                                   "IADD3 R10, R10, 0x64, RZ",
                                   "BRA `(DONE)",
                                   "ODDBACK:",
                                   "IADD3 R10, R10, 0xc8, RZ",
                                   "BRA `(DONE)",
                                   "F:",
                                   "IADD3 R10, R2, 0x1, RZ",
                                   "RET.REL.NODEC R20 0x0",
                                   "DONE:",
                                   "NOP"};
  // The prologue has 9 instructions: EVENBACK is number 14, ODDBACK 16.
  body[2] = "MOV R20, 0xe0";
  body[3] = "@P0 MOV R20, 0x100";
  const std::vector<u32> got = run_threads(thread_kernel(body), 1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], l + 1 + (l % 2 == 0 ? 100u : 200u)) << l;
}

TEST(Control, BarriersCarryDataBetweenWarps) {
  // Each thread reads what its neighbour in the next warp wrote.
  const KernelImage k =
      thread_kernel({"LEA R12, R0, 0x400, 0x2", "IMAD R13, R0, 0x3, RZ", "STS [R12], R13",
                     "BAR.SYNC.DEFER_BLOCKING 0x0", "IADD3 R14, R0, 0x20, RZ", "LOP3.LUT R14, R14, 0x7f, RZ, 0xc0, !PT",
                     "LEA R14, R14, 0x400, 0x2", "LDS R10, [R14]"},
                    512);
  const std::vector<u32> got = run_threads(k, 3, 128);
  for (u32 i = 0; i < 384; ++i) EXPECT_EQ(got[i], (i % 128 + 32) % 128 * 3) << i;
}

TEST(Control, NamedBarriersWithCounts) {
  // Warp 1 produces, warp 0 consumes; warps 2 and 3 do not take part. One register has the threads in its high half.
  for (const std::string barrier : {"0x3, 0x40", "0x3, R14", "R15, 0x40", "R16, R16"}) {
    const KernelImage k = thread_kernel(
        {"MOV R14, 0x40", "MOV R15, 0x3", "MOV R16, 0x400003", "ISETP.GE.U32.AND P0, PT, R0, 0x40, PT", "MOV R10, 0x9",
         "@P0 BRA `(END)", "ISETP.GE.U32.AND P1, PT, R0, 0x20, PT", "@!P1 BRA `(CONSUME)", "LEA R12, R2, 0x400, 0x2",
         "IADD3 R10, R2, 0x5, RZ", "STS [R12], R10", "BAR.ARV " + barrier, "BRA `(END)",
         "CONSUME:", "BAR.SYNC.DEFER_BLOCKING " + barrier, "LEA R12, R2, 0x400, 0x2", "LDS R10, [R12]", "END:", "NOP"},
        128);
    const std::vector<u32> got = run_threads(k, 2, 128);
    for (u32 i = 0; i < 256; ++i) EXPECT_EQ(got[i], i % 128 < 64 ? i % 32 + 5 : 9u) << i << " " << barrier;
  }
}

TEST(Control, BarrierReductions) {
  const KernelImage k =
      thread_kernel({"ISETP.LT.U32.AND P0, PT, R0, 0x21, PT", "BAR.RED.POPC.DEFER_BLOCKING 0x0, P0", "B2R.RESULT R10",
                     "BAR.RED.AND.DEFER_BLOCKING 0x0, P0", "B2R.RESULT RZ, P1", "BAR.RED.OR.DEFER_BLOCKING 0x0, P0",
                     "B2R.RESULT RZ, P2", "@P1 IADD3 R10, R10, 0x64, RZ", "@P2 IADD3 R10, R10, 0x3e8, RZ"});
  const std::vector<u32> got = run_threads(k, 1, 96);
  for (u32 i = 0; i < 96; ++i) EXPECT_EQ(got[i], 33u + 1000u) << i;
}

TEST(Control, PartOfAWarp) {
  const KernelImage k = thread_kernel({"VOTE.ANY R10, PT, PT", "BAR.SYNC.DEFER_BLOCKING 0x0"});
  const std::vector<u32> got = run_threads(k, 2, 43);
  for (u32 i = 0; i < 86; ++i) EXPECT_EQ(got[i], i % 43 < 32 ? ~0u : 0x7ffu) << i;
}

TEST(Control, SpinningLanesLetOthersWork) {
  // Lane 0 sets a flag in shared memory only after lanes 1..31 have begun to spin on it.
  const KernelImage k = thread_kernel(
      {"MOV R12, 0x400", "ISETP.EQ.AND P0, PT, R0, RZ, PT", "@P0 STS [R12], RZ", "BAR.SYNC.DEFER_BLOCKING 0x0",
       "@P0 BRA `(SET)", "SPIN:", "MOV R13, RZ", "ATOMS.ADD R13, [R12], R13", "ISETP.EQ.AND P1, PT, R13, RZ, PT",
       "@P1 BRA `(SPIN)", "BRA `(END)", "SET:", "MOV R13, 0x5", "ATOMS.ADD RZ, [R12], R13", "END:", "MOV R10, R13"},
      16);
  const std::vector<u32> got = run_threads(k, 1, 64);
  for (u32 i = 0; i < 64; ++i) EXPECT_EQ(got[i], 5u) << i;
}

// Every thread of every CTA takes part in each function on its own word; the results do not depend on the order.
TEST(Atomics, ManyCtasAtOnce) {
  const std::vector<TextLine> lines = {{"S2R R0, SR_TID.X", kLoad},
                                       {"S2R R1, SR_CTAID.X", kLoad},
                                       {"ULDC.64 UR4, c[0x0][0x208]"},
                                       {"LDC.64 R6, c[0x0][0x210]", kLoad},
                                       {"IMAD R2, R1, 0x80, R0", kAwait},
                                       {"IADD3 R3, R2, 0x1, RZ"},
                                       {"I2FP.F32.U32 R8, R0"},
                                       {"MOV R9, 0x3c003c00"},
                                       {"REDG.E.ADD.STRONG.GPU desc[UR4][R6.64], R3"},
                                       {"REDG.E.MAX.STRONG.GPU desc[UR4][R6.64+0x4], R3"},
                                       {"REDG.E.MIN.STRONG.GPU desc[UR4][R6.64+0x8], R2"},
                                       {"REDG.E.OR.STRONG.GPU desc[UR4][R6.64+0xc], R2"},
                                       {"REDG.E.XOR.STRONG.GPU desc[UR4][R6.64+0x10], R2"},
                                       {"REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R6.64+0x14], R8"},
                                       {"ATOMG.E.INC.STRONG.GPU PT, R12, desc[UR4][R6.64+0x18], R9", kLoad},
                                       {"MOV R16, 0x1", kAwait},
                                       {"MOV R17, RZ"},
                                       {"ATOMG.E.ADD.64.STRONG.GPU PT, R14, desc[UR4][R6.64+0x20], R16", kLoad},
                                       {"EXIT", kAwait}};
  const KernelImage k = assemble(lines, 8);
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    Memory memory(1 << 20);
    std::vector<u32> start(10);
    start[2] = 100000;
    start[8] = 0xfffffff0;  // the 64-bit sum carries
    Buffer<u32> out(memory, start);
    const Result<Report> r = run_image(k, memory, {60}, {128}, Params().add(out.address()).bytes(), mode, 0, 4);
    ASSERT_TRUE(r.ok()) << r.error().text();
    for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
    const u32 n = 60 * 128;
    const std::vector<u32> got = out.get();
    EXPECT_EQ(got[0], n * (n + 1) / 2);
    EXPECT_EQ(got[1], n);
    EXPECT_EQ(got[2], 0u);
    u32 all = 0, parity = 0;
    for (u32 i = 0; i < n; ++i) {
      all |= i;
      parity ^= i;
    }
    EXPECT_EQ(got[3], all);
    EXPECT_EQ(got[4], parity);
    EXPECT_EQ(std::bit_cast<float>(got[5]), 60.0F * 127 * 64);
    EXPECT_EQ(got[6], n);
    EXPECT_EQ(std::uint64_t{got[9]} << 32 | got[8], 0xfffffff0u + std::uint64_t{n});
  }
}

TEST(Atomics, LanesTakeTurnsInOrder) {
  const std::vector<TextLine> lines = {{"S2R R0, SR_TID.X", kLoad},
                                       {"ULDC.64 UR4, c[0x0][0x208]"},
                                       {"LDC.64 R6, c[0x0][0x210]", kLoad},
                                       {"IMAD.WIDE.U32 R8, R0, 0x4, R6", kAwait},
                                       {"MOV R1, R0"},
                                       {"IADD3 R2, R0, 0x1, RZ"},
                                       // Each lane swaps its number for the next: only in turn do all succeed.
                                       {"ATOMG.E.CAS.STRONG.GPU PT, R3, [R6], R1, R2", kLoad},
                                       {"STG.E desc[UR4][R8.64+0x4], R3", kAwait},
                                       {"EXIT"}};
  const KernelImage k = assemble(lines, 8);
  Memory memory(1 << 20);
  Buffer<u32> out(memory, std::size_t{33});
  ASSERT_TRUE(run_image(k, memory, {1}, {32}, Params().add(out.address()).bytes()).ok());
  const std::vector<u32> got = out.get();
  EXPECT_EQ(got[0], 32u);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[1 + l], l);
}

TEST(Exchange, ShufflesInSegments) {
  // 8-lane segments: mask 0x18 in bits 12:8, clamp in bits 4:0.
  const auto shuffled = [](const std::string& text) {
    return run_threads(thread_kernel({"IADD3 R11, R2, 0x64, RZ", text, "@!P0 IADD3 R10, R10, 0x3e8, RZ"}), 1, 32);
  };
  const std::vector<u32> up = shuffled("SHFL.UP P0, R10, R11, 0x3, 0x1800");
  const std::vector<u32> down = shuffled("SHFL.DOWN P0, R10, R11, 0x3, 0x181f");
  const std::vector<u32> bfly = shuffled("SHFL.BFLY P0, R10, R11, 0x5, 0x181f");
  const std::vector<u32> idx = shuffled("SHFL.IDX P0, R10, R11, 0x2, 0x181f");
  for (u32 l = 0; l < 32; ++l) {
    EXPECT_EQ(up[l], l % 8 >= 3 ? l - 3 + 100 : l + 1100) << l;
    EXPECT_EQ(down[l], l % 8 < 5 ? l + 3 + 100 : l + 1100) << l;
    EXPECT_EQ(bfly[l], (l ^ 5) + 100) << l;
    EXPECT_EQ(idx[l], l / 8 * 8 + 2 + 100) << l;
  }
}

// On an H200 the same, over 1,024 warps of random values, guards, predicates and active lanes.
TEST(Exchange, R2urSaysWhoseValueIsAnother) {
  // Lanes hold 0, 1, 2, 0, 1, 2 ...; those below 4 are off.
  const auto ran = [](const std::string& text) {
    return run_threads(
        thread_kernel({"IMAD R11, R2, 0xab, RZ", "SHF.R.U32.HI R11, RZ, 0x9, R11", "IMAD R11, R11, -0x3, R2",
                       "ISETP.GT.U32.AND P1, PT, R2, 0x3, PT", "ISETP.EQ.AND P0, PT, R2, 0x7, PT", "UMOV UR6, 0x63",
                       text, "MOV R10, UR6", "@P0 IADD3 R10, R10, 0x64, RZ"}),
        1, 32);
  };
  const std::vector<u32> one = ran("@P1 R2UR P0, UR6, R11");
  const std::vector<u32> more = ran("@P1 R2UR.OR P0, UR6, R11");
  const std::vector<u32> value = ran("@P1 R2UR UR6, R11");
  const std::vector<u32> none = ran("@!PT R2UR P0, UR6, R11");
  for (u32 l = 0; l < 32; ++l) {
    const u32 was = l == 7 ? 100 : 0;
    EXPECT_EQ(one[l], 1 + (l > 3 && l % 3 != 1 ? 100 : 0)) << l;
    EXPECT_EQ(more[l], 1 + (l > 3 && l % 3 != 1 ? 100 : was)) << l;
    EXPECT_EQ(value[l], 1 + was) << l;
    EXPECT_EQ(none[l], 99 + was) << l;
  }
}

TEST(Exchange, ReductionsAndMatches) {
  const auto reduced = [](const std::string& text) {
    const std::vector<u32> got =
        run_threads(thread_kernel({"IMAD R11, R2, 0x7, RZ", "IADD3 R11, R11, -0x32, RZ", text, "MOV R10, UR6"}), 1, 32);
    for (u32 v : got) EXPECT_EQ(v, got[0]);
    return got[0];
  };
  u32 all = ~0u, any = 0, odd = 0, sum = 0;
  for (u32 l = 0; l < 32; ++l) {
    const u32 v = l * 7 - 50;
    all &= v;
    any |= v;
    odd ^= v;
    sum += v;
  }
  EXPECT_EQ(reduced("REDUX UR6, R11"), all);
  EXPECT_EQ(reduced("REDUX.OR UR6, R11"), any);
  EXPECT_EQ(reduced("REDUX.XOR UR6, R11"), odd);
  EXPECT_EQ(reduced("REDUX.SUM UR6, R11"), sum);
  EXPECT_EQ(reduced("REDUX.MIN.S32 UR6, R11"), static_cast<u32>(-50));
  EXPECT_EQ(reduced("REDUX.MIN UR6, R11"), 6u);
  EXPECT_EQ(reduced("REDUX.MAX.S32 UR6, R11"), 167u);
  const std::vector<u32> match =
      run_threads(thread_kernel({"LOP3.LUT R11, R2, 0x3, RZ, 0xc0, !PT", "MATCH.ANY R10, R11", "MATCH.ALL P0, R12, R11",
                                 "@P0 MOV R10, RZ"}),
                  1, 32);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(match[l], 0x11111111u << (l & 3)) << l;
}

TEST(MemorySpaces, GenericAddressesReachSharedAndParameters) {
  const KernelImage k =
      thread_kernel({"LEA R12, R0, 0x400, 0x2", "S2R R13, SR_SWINHI", "IMAD R14, R0, 0x5, RZ", "ST.E [R12], R14",
                     "LDS R15, [R12]", "LD.E R16, [R12]", "LDC.64 R18, c[0x0][0x198]", "LD.E R17, [R18]",
                     "IADD3 R17, R17, -R6, RZ", "IADD3 R10, R15, R16, R17"},
                    128);
  const std::vector<u32> got = run_threads(k, 2, 32);
  for (u32 i = 0; i < 64; ++i) EXPECT_EQ(got[i], i % 32 * 10) << i;
}

TEST(MemorySpaces, SmallSizesExtend) {
  const KernelImage k = thread_kernel(
      {"LEA R12, R0, 0x400, 0x3", "MOV R14, 0x89abcdef", "MOV R15, RZ", "STS.64 [R12], R14", "STS.U8 [R12+0x4], R14",
       "STS.U16 [R12+0x6], R14", "LDS.S8 R16, [R12+0x4]", "LDS.U16 R17, [R12+0x6]", "LDS.S16 R18, [R12+0x2]",
       "LDS.U8 R19, [R12+0x3]", "IADD3 R10, R16, R17, R18", "IADD3 R10, R10, R19, RZ"},
      256);
  const u32 want = static_cast<u32>(-17) + 0xcdef + static_cast<u32>(static_cast<std::int16_t>(0x89ab)) + 0x89;
  for (u32 v : run_threads(k, 1, 32)) EXPECT_EQ(v, want);
}

TEST(MemorySpaces, MatricesOfHalves) {
  // Row r of the matrix holds 16r .. 16r + 7; lane l gets elements 2(l mod 4), +1 of row l/4, or of column l/4
  // transposed.
  const auto matrix = [](const std::string& load) {
    return thread_kernel({"LOP3.LUT R11, R0, 0x7, RZ, 0xc0, !PT", "LEA R12, R11, 0x400, 0x4", "IMAD R13, R11, 0x10, RZ",
                          "IMAD R14, R13, 0x10001, RZ", "IADD3 R16, R14, 0x10000, RZ", "IADD3 R17, R14, 0x30002, RZ",
                          "IADD3 R18, R14, 0x50004, RZ", "IADD3 R19, R14, 0x70006, RZ", "STS.128 [R12], R16", load},
                         128);
  };
  const std::vector<u32> rows = run_threads(matrix("LDSM.16.M88 R10, [R12]"), 1, 32);
  const std::vector<u32> columns = run_threads(matrix("LDSM.16.MT88 R10, [R12]"), 1, 32);
  for (u32 l = 0; l < 32; ++l) {
    const auto element = [](u32 r, u32 c) { return 16 * r + c; };
    EXPECT_EQ(rows[l], element(l / 4, l % 4 * 2) | element(l / 4, l % 4 * 2 + 1) << 16) << l;
    EXPECT_EQ(columns[l], element(l % 4 * 2, l / 4) | element(l % 4 * 2 + 1, l / 4) << 16) << l;
  }
}

TEST(MemorySpaces, IndexedConstants) {
  const KernelImage clean =
      thread_kernel({"LOP3.LUT R11, R0, 0x1, RZ, 0xc0, !PT", "LEA R11, R11, 0x210, 0x2", "LDC R10, c[0x0][R11]",
                     "LOP3.LUT P1, RZ, R0, 0x1, RZ, 0xc0, !PT", "SEL R12, R7, R6, P1", "IADD3 R10, R10, -R12, RZ"});
  for (u32 v : run_threads(clean, 1, 32)) EXPECT_EQ(v, 0u);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
