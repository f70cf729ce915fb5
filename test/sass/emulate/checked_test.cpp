// Planted bugs of every kind that checked mode knows, each beside the same code put right, which has no findings.
#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;

constexpr Control stall(u32 n) {
  return {.stall = static_cast<std::uint8_t>(n), .yield = n >= 12};
}
constexpr Control sets(u32 sb, u32 n = 2) {
  return {.stall = static_cast<std::uint8_t>(n), .yield = false, .write_sb = static_cast<std::uint8_t>(sb)};
}
constexpr Control reads(u32 sb, u32 n = 2) {
  return {.stall = static_cast<std::uint8_t>(n), .yield = false, .read_sb = static_cast<std::uint8_t>(sb)};
}
constexpr Control awaits(u32 sbs, u32 n = 15) {
  return {.stall = static_cast<std::uint8_t>(n), .yield = n >= 12, .wait = static_cast<std::uint8_t>(sbs)};
}

// After a prologue of 6 lines (R0 thread, R2:3 and R4:5 the pointer and its element for the thread, UR4:5 descriptor,
// R6 the thread's shared address, all ready): the body, then EXIT. The first line of the body is 7.
std::vector<std::string> findings(const std::vector<TextLine>& body, u32 block = 64, std::uint32_t count = 1024) {
  std::vector<TextLine> lines = {
      {"S2R R0, SR_TID.X", sets(0, 15)},         {"ULDC.64 UR4, c[0x0][0x208]", stall(15)},
      {"LDC.64 R2, c[0x0][0x210]", sets(0, 15)}, {"IMAD.WIDE.U32 R4, R0, 0x4, R2", awaits(1)},
      {"LEA R6, R0, 0x400, 0x2", stall(15)},     {"NOP", stall(15)}};
  lines.insert(lines.end(), body.begin(), body.end());
  lines.push_back({"EXIT", stall(15)});
  const KernelImage image = assemble(lines, 8, 4096);
  Memory memory(1 << 20);
  Buffer<u32> data(memory, std::vector<u32>(count, 7));
  const Result<Report> r = run_image(image, memory, {1}, {block}, Params().add(data.address()).bytes(), Mode::kChecked);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
  std::vector<std::string> out;
  if (!r.ok()) return out;
  for (const Finding& f : r->findings) {
    EXPECT_EQ(f.kernel, "test");
    EXPECT_EQ(f.at.file, "test.sass");
    EXPECT_FALSE(f.detail.empty());
    out.push_back(f.what + " in line " + std::to_string(f.at.line));
  }
  return out;
}

using List = std::vector<std::string>;
const List kClean;

TEST(Checked, FixedLatency) {
  const auto chain = [](u32 n) {
    return std::vector<TextLine>{{"FADD R8, R0, R0", stall(n)}, {"FADD R9, R8, R8", stall(15)}};
  };
  EXPECT_EQ(findings(chain(3)), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(chain(4)), kClean);
  const auto to_address = [](u32 n) {
    return std::vector<TextLine>{{"IADD3 R8, R6, 0x0, RZ", stall(n)}, {"STS [R8], R0", stall(15)}};
  };
  // The address is poison, then.
  EXPECT_EQ(findings(to_address(4)), (List{"misaligned in line 8", "read before ready in line 8"}));
  EXPECT_EQ(findings(to_address(5)), kClean);
}

TEST(Checked, TheReaderGetsPoisonAndOnlyTheReader) {
  const std::vector<TextLine> lines = {{"S2R R0, SR_TID.X", sets(0, 15)},
                                       {"ULDC.64 UR4, c[0x0][0x208]", stall(15)},
                                       {"LDC.64 R2, c[0x0][0x210]", sets(0, 15)},
                                       {"IMAD.WIDE.U32 R4, R0, 0x4, R2", awaits(1)},
                                       {"IADD3 R8, R0, 0x1, RZ", stall(1)},
                                       {"MOV R9, R8", stall(15)},
                                       {"STG.E desc[UR4][R4.64], R8", stall(2)},
                                       {"STG.E desc[UR4][R4.64+0x80], R9", stall(2)},
                                       {"EXIT", stall(15)}};
  Memory memory(1 << 20);
  Buffer<u32> data(memory, std::size_t{64});
  const Result<Report> r =
      run_image(assemble(lines, 8), memory, {1}, {32}, Params().add(data.address()).bytes(), Mode::kChecked);
  ASSERT_TRUE(r.ok());
  ASSERT_EQ(r->findings.size(), 1u);
  EXPECT_EQ(r->findings[0].text(),
            "kernel test, test.sass:6, CTA (0,0,0), warp 0, lane 0: read before ready: R8 is read 1 cycle after IADD3 "
            "R8, R0, 0x1, RZ "
            "wrote it, which needs 4 cycles");
  const std::vector<u32> got = data.get();
  for (u32 l = 0; l < 32; ++l) {
    EXPECT_EQ(got[l], l + 1);
    EXPECT_EQ(got[32 + l], 0x7ff1deadu);
  }
}

TEST(Checked, GuardsNeedLonger) {
  const auto guard = [](u32 n) {
    return std::vector<TextLine>{{"ISETP.LT.AND P0, PT, R0, 0x5, PT", stall(n)},
                                 {"@P0 IADD3 R8, R0, 0x1, RZ", stall(15)}};
  };
  EXPECT_EQ(findings(guard(12)), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(guard(13)), kClean);
}

TEST(Checked, LongStallsNeedTheYieldBit) {
  Control c = stall(13);
  c.yield = false;
  EXPECT_EQ(findings({{"FADD R8, R0, R0", c}, {"FADD R9, R8, R8", stall(15)}}), (List{"read before ready in line 8"}));
}

TEST(Checked, StallZeroWithYieldDrains) {
  const auto product = [](const Control& c) {
    return findings({{"MOV R7, RZ", stall(15)},
                     {"MOV R8, RZ", stall(15)},
                     {"MOV R9, RZ", stall(15)},
                     {"HMMA.16816.F32 R12, R4, R8, RZ", c},
                     {"MOV R16, R12", stall(15)}});
  };
  EXPECT_EQ(product({.stall = 0, .yield = true}), kClean);
  EXPECT_EQ(product(stall(15)), (List{"read before ready in line 11"}));
}

TEST(Checked, LoadsNeedTheirScoreboard) {
  const auto load = [](Control first, Control second) {
    return std::vector<TextLine>{{"LDG.E R8, desc[UR4][R4.64]", first}, {"IADD3 R9, R8, 0x1, RZ", second}};
  };
  EXPECT_EQ(findings(load(sets(1), stall(15))), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(load(sets(1), awaits(4))), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(load(stall(2), awaits(2))), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(load(sets(1, 1), awaits(2))), (List{"read before ready in line 8"}));  // not raised yet
  EXPECT_EQ(findings(load(sets(1, 2), awaits(2))), kClean);
}

TEST(Checked, AYoungerResultOfTheSameQueueWillDo) {
  const auto two = [](const std::string& second) {
    return std::vector<TextLine>{{"STS [R6], R0", stall(15)},
                                 {"LDS R8, [R6]", stall(2)},
                                 {second, sets(1, 2)},
                                 {"IADD3 R9, R8, 0x1, RZ", awaits(2)}};
  };
  EXPECT_EQ(findings(two("LDS R10, [R6]")), kClean);
  EXPECT_EQ(findings(two("LDG.E R10, desc[UR4][R4.64]")), (List{"read before ready in line 10"}));
}

TEST(Checked, CountedWaits) {
  const auto three = [](const std::string& wait) {
    return std::vector<TextLine>{{"STS [R6], R0", stall(15)},           {"LDS R8, [R6]", sets(1, 2)},
                                 {"LDS R9, [R6]", sets(1, 2)},          {wait, stall(4)},
                                 {"IADD3 R11, R8, 0x1, RZ", stall(15)}, {"IADD3 R12, R9, 0x1, RZ", awaits(2)}};
  };
  EXPECT_EQ(findings(three("DEPBAR.LE SB1, 0x1")), kClean);
  EXPECT_EQ(findings(three("DEPBAR.LE SB1, 0x2")), (List{"read before ready in line 11"}));
}

TEST(Checked, OverwrittenInFlight) {
  const auto load = [](Control second) {
    return std::vector<TextLine>{{"LDG.E R8, desc[UR4][R4.64]", sets(1)}, {"MOV R8, 0x1", second}, {"NOP", awaits(2)}};
  };
  EXPECT_EQ(findings(load(stall(15))), (List{"overwritten in flight in line 8"}));
  EXPECT_EQ(findings(load(awaits(2))), kClean);
}

TEST(Checked, OverwrittenBeforeRead) {
  const auto store = [](Control first, Control second) {
    return std::vector<TextLine>{
        {"MOV R8, 0x1", stall(15)}, {"STG.E desc[UR4][R4.64], R8", first}, {"MOV R8, 0x2", second}};
  };
  EXPECT_EQ(findings(store(reads(1), stall(15))), (List{"overwritten before read in line 9"}));
  EXPECT_EQ(findings(store(stall(15), stall(15))), (List{"overwritten before read in line 9"}));
  EXPECT_EQ(findings(store(reads(1), awaits(2))), kClean);
}

TEST(Checked, Uninitialised) {
  EXPECT_EQ(findings({{"IADD3 R9, R20, 0x1, RZ", stall(15)}}), (List{"uninitialised register in line 7"}));
  EXPECT_EQ(findings({{"SEL R9, R0, RZ, P3", stall(15)}}), (List{"uninitialised register in line 7"}));
  EXPECT_EQ(findings({{"IADD3 R9, R0, UR9, RZ", stall(15)}}), (List{"uninitialised register in line 7"}));
  // Written by half of the lanes only.
  const auto half = [](const std::string& other) {
    return std::vector<TextLine>{{"ISETP.LT.AND P0, PT, R0, 0x5, PT", stall(15)},
                                 {"@P0 MOV R20, 0x1", stall(15)},
                                 {other, stall(15)},
                                 {"IADD3 R9, R20, 0x1, RZ", stall(15)}};
  };
  EXPECT_EQ(findings(half("NOP")), (List{"uninitialised register in line 10"}));
  EXPECT_EQ(findings(half("@!P0 MOV R20, 0x2")), kClean);
  EXPECT_EQ(findings({{"LDS R8, [R6]", sets(1)}, {"NOP", awaits(2)}}), (List{"uninitialised shared memory in line 7"}));
  EXPECT_EQ(findings({{"STS.U8 [R6], R0", stall(15)}, {"LDS.U16 R8, [R6]", sets(1)}, {"NOP", awaits(2)}}),
            (List{"uninitialised shared memory in line 8"}));
}

// R20 was never written. What reads only bytes that were is right, as compilers' code for bytes and halves does.
TEST(Checked, UninitialisedBytes) {
  const auto behind = [](const std::string& permute, const std::string& user) {
    return findings({{"ISETP.LT.AND P0, PT, R0, 0x4, PT", stall(15)},
                     {"SEL R9, R0, 0x5410, P0", stall(15)},
                     {permute, stall(15)},
                     {user, sets(1, 15)},
                     {"NOP", awaits(2)}});
  };
  const std::string into_lower = "PRMT R20, R0, 0x7610, R20", add = "IADD3 R9, R20, 0x1, RZ";
  EXPECT_EQ(behind("PRMT R8, R0, 0x3210, R20", "IADD3 R9, R8, 0x1, RZ"), kClean);
  EXPECT_EQ(behind("PRMT R8, R0, 0xba98, R20", "IADD3 R9, R8, 0x1, RZ"), kClean);
  EXPECT_EQ(behind(into_lower, "STG.E.U16 desc[UR4][R4.64], R20"), kClean);
  EXPECT_EQ(behind(into_lower, "STS.U8 [R6], R20"), kClean);
  EXPECT_EQ(behind(into_lower, "HADD2.F32 R9, -RZ, R20.H0_H0"), kClean);
  EXPECT_EQ(behind(into_lower, "LOP3.LUT R9, R20, 0xffff, RZ, 0xc0, !PT"), kClean);
  EXPECT_EQ(behind(into_lower, "PRMT R9, R20, 0x5410, R0"), kClean);
  EXPECT_EQ(behind("MOV R20, R0", add), kClean);
  const List at_user{"uninitialised register in line 10"}, at_permute{"uninitialised register in line 9"};
  EXPECT_EQ(behind(into_lower, add), at_user);
  EXPECT_EQ(behind(into_lower, "STG.E desc[UR4][R4.64], R20"), at_user);
  EXPECT_EQ(behind(into_lower, "HADD2.F32 R9, -RZ, R20.H1_H1"), at_user);
  EXPECT_EQ(behind(into_lower, "HADD2.F32 R9, -RZ, R20"), at_user);
  EXPECT_EQ(behind(into_lower, "LOP3.LUT R9, R20, 0x1ffff, RZ, 0xc0, !PT"), at_user);
  EXPECT_EQ(behind(into_lower, "LOP3.LUT R9, R20, 0xffff, RZ, 0xfc, !PT"), at_user);
  EXPECT_EQ(behind(into_lower, "PRMT R9, R0, 0x5410, R20"), kClean);  // it is the reader of R9 that would be wrong
  EXPECT_EQ(behind(into_lower, "PRMT R9, R0, 0x7676, R20"), at_user);
  EXPECT_EQ(behind("PRMT R8, R0, 0x7654, R20", "NOP"), at_permute);
  EXPECT_EQ(behind("PRMT R8, R0, 0xfedc, R20", "NOP"), at_permute);
  EXPECT_EQ(behind("PRMT R8, R0, R20, R0", "NOP"), at_permute);
  EXPECT_EQ(behind("@P0 " + into_lower, "@P0 STG.E.U16 desc[UR4][R4.64], R20"), kClean);
  EXPECT_EQ(behind("@P0 " + into_lower, "STG.E.U16 desc[UR4][R4.64], R20"), at_user);
  // A selector of each lane: those below 4 take bytes of R0 alone.
  EXPECT_EQ(behind("PRMT R8, R0, R9, R20", "@P0 IADD3 R9, R8, 0x1, RZ"), kClean);
  EXPECT_EQ(behind("PRMT R8, R0, R9, R20", "IADD3 R9, R8, 0x1, RZ"), at_user);
}

TEST(Checked, Races) {
  // Each thread reads the word of the thread 32 further: another warp's.
  const auto exchange = [](const std::string& between, const std::string& after) {
    return std::vector<TextLine>{{"LOP3.LUT R8, R0, 0x20, RZ, 0x3c, !PT", stall(15)},
                                 {"LEA R8, R8, 0x400, 0x2", stall(15)},
                                 {"STS [R6], R0", stall(15)},
                                 {between, stall(15)},
                                 {"LDS R9, [R8]", sets(1, 15)},
                                 {after, awaits(2)},
                                 {"STS [R6], R9", stall(15)}};
  };
  const std::string bar = "BAR.SYNC.DEFER_BLOCKING 0x0";
  EXPECT_EQ(findings(exchange(bar, bar)), kClean);
  // Which of two accesses comes second and is blamed depends on the turns that warps take.
  for (const List& races : {findings(exchange(bar, "NOP")), findings(exchange("NOP", bar))}) {
    EXPECT_FALSE(races.empty());
    for (const std::string& f : races) {  // read too early, the word may not be there at all
      EXPECT_TRUE(f.starts_with("shared-memory race") || f.starts_with("uninitialised shared memory")) << f;
    }
  }
  // Bytes of one word by two warps are no race.
  EXPECT_EQ(findings({{"SHF.R.U32.HI R8, RZ, 0x5, R0", stall(15)},
                      {"ISETP.EQ.AND P0, PT, R8, RZ, PT", stall(15)},
                      {"IADD3 R8, R8, 0x400, RZ", stall(15)},
                      {"STS.U8 [R8], R0", stall(15)}}),
            kClean);
}

TEST(Checked, NamedBarriersOrderOnlyWhoTakesPart) {
  // Warp 0 writes and arrives at 1; warp 1 waits there and reads: fine. Warp 2 waits at 2 with warp 3 only.
  const auto program = [](const std::string& pair) {
    return std::vector<TextLine>{{"SHF.R.U32.HI R8, RZ, 0x5, R0", stall(15)},
                                 {"ISETP.EQ.AND P0, PT, R8, RZ, PT", stall(15)},
                                 {"LOP3.LUT R9, R0, 0x1f, RZ, 0xc0, !PT", stall(15)},
                                 {"LEA R9, R9, 0x400, 0x2", stall(15)},
                                 {"@!P0 BRA `(WAIT)", stall(15)},
                                 {"STS [R9], R0", stall(15)},
                                 {"BAR.ARV 0x1, 0x40", stall(15)},
                                 {"EXIT", stall(15)},
                                 {"WAIT:"},
                                 {pair, stall(15)},
                                 {"LDS R10, [R9]", sets(1, 15)},
                                 {"NOP", awaits(2)}};
  };
  EXPECT_EQ(findings(program("BAR.SYNC.DEFER_BLOCKING 0x1, 0x40"), 64), kClean);
  EXPECT_EQ(findings(program("BAR.SYNC.DEFER_BLOCKING 0x2, 0x20"), 64),
            (List{"shared-memory race in line 12", "barrier misuse in line 13"}));
}

TEST(Checked, AsynchronousCopies) {
  const auto copy = [](bool commit, const std::string& wait, const std::string& barrier, const std::string& from) {
    return std::vector<TextLine>{{"LOP3.LUT R8, R0, 0x20, RZ, 0x3c, !PT", stall(15)},
                                 {"LEA R8, R8, 0x400, 0x2", stall(15)},
                                 {"LDGSTS.E [R6], desc[UR4][R4.64]", reads(1)},
                                 {commit ? "LDGDEPBAR" : "NOP", commit ? sets(0, 2) : stall(2)},
                                 {wait, stall(4)},
                                 {barrier, awaits(2)},
                                 {"LDS R9, [" + from + "]", sets(2, 15)},
                                 {"NOP", awaits(4)}};
  };
  const std::string bar = "BAR.SYNC.DEFER_BLOCKING 0x0";
  EXPECT_EQ(findings(copy(true, "DEPBAR.LE SB0, 0x0", bar, "R8")), kClean);
  EXPECT_EQ(findings(copy(true, "DEPBAR.LE SB0, 0x0", "NOP", "R6")), kClean);
  EXPECT_EQ(findings(copy(true, "NOP", bar, "R8")), (List{"asynchronous copy not awaited in line 13"}));
  EXPECT_EQ(findings(copy(false, "DEPBAR.LE SB0, 0x0", bar, "R6")), (List{"asynchronous copy not awaited in line 13"}));
  EXPECT_EQ(findings(copy(true, "DEPBAR.LE SB0, 0x1", bar, "R6")), (List{"asynchronous copy not awaited in line 13"}));
  const List race = findings(copy(true, "DEPBAR.LE SB0, 0x0", "NOP", "R8"));
  EXPECT_FALSE(race.empty());
  for (const std::string& f : race) EXPECT_FALSE(f.starts_with("uninitialised register")) << f;
}

TEST(Checked, OutOfBoundsGoesOn) {
  // 64 words: of 64 threads all are inside; of 32, 33 words further, the last one is not.
  EXPECT_EQ(findings({{"STG.E desc[UR4][R4.64], R0", stall(15)}}, 64, 64), kClean);
  EXPECT_EQ(
      findings({{"STG.E desc[UR4][R4.64+0x84], R0", stall(15)}, {"STG.E desc[UR4][R4.64], R0", stall(15)}}, 32, 64),
      (List{"out of bounds in line 7"}));
}

TEST(Checked, BarrierMisuse) {
  EXPECT_EQ(findings({{"BAR.ARV 0x1, 0x60", stall(15)}}, 64), (List{"barrier misuse in line 7"}));
  EXPECT_EQ(findings({{"ISETP.LT.U32.AND P0, PT, R0, 0x20, PT", stall(15)},
                      {"@P0 BAR.ARV 0x1, 0x40", stall(15)},
                      {"@!P0 BAR.SYNC.DEFER_BLOCKING 0x1, 0x40", stall(15)}},
                     64),
            kClean);
  EXPECT_EQ(findings({{"ISETP.LT.U32.AND P0, PT, R0, 0x20, PT", stall(15)},
                      {"@P0 BAR.ARV 0x1, 0x40", stall(15)},
                      {"@!P0 BAR.SYNC.DEFER_BLOCKING 0x1, 0x20", stall(15)}},
                     64),
            (List{"barrier misuse in line 9"}));
}

// A BAR is for whole warps, though lanes that meet there by chance pass.
TEST(Checked, BarriersTakeWholeWarps) {
  const auto program = [](const std::string& enter, const std::string& meet) {
    return std::vector<TextLine>{{"ISETP.NE.AND P0, PT, R0, RZ, PT", stall(15)},
                                 {enter, stall(15)},
                                 {"@P0 BRA `(OVER)", stall(15)},
                                 {"NOP", stall(15)},
                                 {"OVER:"},
                                 {meet, stall(15)},
                                 {"JOINED:"},
                                 {"BAR.SYNC.DEFER_BLOCKING 0x0", stall(15)}};
  };
  EXPECT_EQ(findings(program("BSSY B0, `(JOINED)", "BSYNC B0"), 64), kClean);
  EXPECT_EQ(findings(program("NOP", "WARPSYNC.ALL"), 64), kClean);
  EXPECT_EQ(findings(program("NOP", "NOP"), 64), (List{"barrier misuse in line 14"}));
}

TEST(Checked, ALoopOnAPoisonedCounterEnds) {
  const List f = findings({{"MOV R8, 0x5", stall(15)},
                           {"LOOP:"},
                           {"IADD3 R8, R8, -0x1, RZ", stall(1)},
                           {"ISETP.NE.AND P0, PT, R8, RZ, PT", stall(15)},
                           {"@P0 BRA `(LOOP)", stall(15)}});
  EXPECT_EQ(f, (List{"read before ready in line 10"}));
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
