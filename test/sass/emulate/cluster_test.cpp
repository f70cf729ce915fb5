// Clusters in small kernels: what each mistake is called, in fast and in checked mode.
#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;

const Control kLoad{.stall = 15, .yield = true, .write_sb = 0};
const Control kAsk{.stall = 15, .yield = true, .write_sb = 0, .wait = 3};
const Control kSend{.stall = 15, .yield = true, .read_sb = 1, .wait = 3};
const Control kAwait{.stall = 15, .yield = true, .wait = 3};

class ClusterKernel : public ::testing::Test {
 protected:
  // R0 thread, R1 rank, R2 4 * thread, R3 0x400 + R2, [R4] of the other CTA's word, [R10] an output of each thread.
  static std::vector<TextLine> begin() {
    return {{"S2R R0, SR_TID.X", kLoad},
            {"S2R R1, SR_CgaCtaId", kAsk},
            {"S2UR UR6, SR_SWINHI", kAsk},
            {"LDC.64 R6, c[0x0][0x210]", kAsk},
            {"ULDC.64 UR4, c[0x0][0x208]", kAwait},
            {"IMAD.SHL.U32 R2, R0, 0x4, RZ"},
            {"IMAD.MOV.U32 R8, RZ, RZ, 0x1000000"},
            {"IMAD R4, R1, -0x1000000, R8"},
            {"IADD3 R4, R4, 0x400, R2"},
            {"MOV R5, UR6"},
            {"IMAD R9, R1, 0x20, R0"},
            {"IMAD.WIDE.U32 R10, R9, 0x4, R6"},
            {"IMAD R12, R1, 0x64, R0"},
            {"IMAD R13, R1, 0x1000000, R2"},
            {"STS [R13+0x400], R12", kSend},
            {"NOP", kAwait}};
  }
  static KernelImage kernel(std::vector<TextLine> lines, const std::vector<TextLine>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
    KernelImage image = assemble(lines, 8, 1024);
    image.cluster[0] = 2;
    image.cluster[1] = image.cluster[2] = 1;
    return image;
  }
  Result<Report> go(const KernelImage& k, Mode mode, u32 block = 32, u32 ctas = 2) {
    return run_image(k, memory_, {ctas}, {block}, Params().add(out_.address()).bytes(), mode, 0, 1);
  }
  // What checked mode finds first, or the fault.
  std::string said(const KernelImage& k, Mode mode = Mode::kChecked, u32 block = 32) {
    const Result<Report> r = go(k, mode, block);
    if (!r.ok()) return r.error().message;
    return r->findings.empty() ? "" : r->findings[0].text();
  }
  Memory memory_{1 << 20};
  Buffer<u32> out_{memory_, 64};
};

const std::vector<TextLine> kSync = {{"MEMBAR.ALL.CTA", kSend}, {"UCGABAR_ARV", kAwait}, {"UCGABAR_WAIT", kAwait}};
const std::vector<TextLine> kRead = {
    {"LD.E R8, desc[UR4][R4.64]", kAsk},
    {"STG.E desc[UR4][R10.64], R8", {.stall = 15, .yield = true, .read_sb = 1, .wait = 3}},
    {"NOP", kAwait}};
const std::vector<TextLine> kExit = {{"EXIT", kAwait}};

std::vector<TextLine> all(std::initializer_list<std::vector<TextLine>> parts) {
  std::vector<TextLine> lines;
  for (const auto& p : parts) lines.insert(lines.end(), p.begin(), p.end());
  return lines;
}

TEST_F(ClusterKernel, ReadsTheOtherCtasMemory) {
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    const Result<Report> r = go(kernel(begin(), all({kSync, kRead, kSync, kExit})), mode);
    ASSERT_TRUE(r.ok()) << r.error().text();
    for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
    const std::vector<u32> got = out_.get();
    for (u32 i = 0; i < 64; ++i) EXPECT_EQ(got[i], i < 32 ? 100 + i : i - 32);
  }
}

TEST_F(ClusterKernel, ACtaThatExitsTooEarlyIsFound) {
  const std::string text = said(kernel(begin(), all({kSync, kRead, kExit})));
  EXPECT_NE(text.find("access to a CTA that has exited"), std::string::npos) << text;
}

TEST_F(ClusterKernel, MemoryOfTheOtherThatNobodyWroteIsFound) {
  auto lines = begin();
  lines[14] = {"NOP", kAwait};
  const std::string text = said(kernel(lines, all({kSync, kRead, kSync, kExit})));
  EXPECT_NE(text.find("uninitialised shared memory: shared offset 0 of another CTA"), std::string::npos) << text;
}

TEST_F(ClusterKernel, ARankThatDoesNotExist) {
  auto lines = begin();
  lines[6] = {"IMAD.MOV.U32 R8, RZ, RZ, 0x5000000"};
  const std::string text = said(kernel(lines, all({kSync, kRead, kSync, kExit})), Mode::kFast);
  EXPECT_NE(text.find("of CTA rank 5 of a cluster of 2"), std::string::npos) << text;
}

// What an H200 takes and what is an illegal instruction there: the rank in the address is the CTA's own, or nothing works.
// R4 has the other's rank, R13 the own, R2 none, which in rank 0 is the own.
TEST_F(ClusterKernel, AddressesHaveTheirOwnRank) {
  const auto reaches = [&](const std::string& line, u32 rank) {
    const std::vector<TextLine> one = {{"ISETP.NE.AND P0, PT, R1, " + std::to_string(rank) + ", PT", kAwait},
                                       {"UMOV UR12, 0x1000500", kAwait},
                                       {"UMOV UR13, 0x500", kAwait},
                                       {"VOTEU.ALL UP0, P0", kAwait},
                                       {(line.starts_with("SYNCS") ? "@!UP0 " : "@!P0 ") + line, kAsk},
                                       {"NOP", kAwait}};
    const std::string text = said(kernel(begin(), all({kSync, one, kSync, kExit})), Mode::kFast);
    const bool refused = text.find("in another CTA, which only") != std::string::npos;
    EXPECT_EQ(refused, !text.empty()) << line << ": " << text;
    return !refused;
  };
  for (const std::string op : {"LDS R8, [", "STS [", "ATOMS.ADD R8, [", "ATOMS.EXCH R8, [", "LDSM.16.M88 R8, ["}) {
    const std::string end = op.starts_with("LDS") ? "]" : "], R0";
    const bool rows = op.starts_with("LDSM");  // 16 bytes a lane
    EXPECT_FALSE(reaches(op + "R4" + end, 0)) << op;
    EXPECT_FALSE(reaches(op + "R4" + end, 1)) << op;
    if (rows) continue;
    EXPECT_TRUE(reaches(op + "R13+0x400" + end, 0)) << op;
    EXPECT_TRUE(reaches(op + "R13+0x400" + end, 1)) << op;
    EXPECT_TRUE(reaches(op + "R2+0x400" + end, 0)) << op;
    EXPECT_FALSE(reaches(op + "R2+0x400" + end, 1)) << op;
  }
  EXPECT_FALSE(reaches("SYNCS.EXCH.64 URZ, [UR12], UR14", 0));
  EXPECT_TRUE(reaches("SYNCS.EXCH.64 URZ, [UR13], UR14", 0));
  EXPECT_TRUE(reaches("SYNCS.EXCH.64 URZ, [UR12], UR14", 1));
  EXPECT_FALSE(reaches("SYNCS.EXCH.64 URZ, [UR13], UR14", 1));
}

TEST_F(ClusterKernel, AWarpThatDoesNotComeToTheClusterBarrierIsNamed) {
  // Of two warps of each CTA the second of rank 1 waits for an arrival at a named barrier that nobody makes.
  const std::vector<TextLine> stray = {{"ISETP.GE.U32.AND P0, PT, R0, 0x20, PT"},
                                       {"ISETP.NE.AND P0, PT, R1, RZ, P0"},
                                       {"@!P0 BRA come"},
                                       {"BAR.SYNC.DEFER_BLOCKING 0x3, 0x40", kAwait},
                                       {"come:"}};
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    const std::string text = said(kernel(begin(), all({stray, kSync, kExit})), mode, 64);
    EXPECT_NE(text.find("deadlock: nothing in the cluster can go on"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 0 warp 0 lanes 0xffffffff wait at the cluster barrier for warp 1 of rank 1 in line 24"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("rank 1 warp 1 lanes 0xffffffff wait at barrier 3 (1 of 2 warps came)"), std::string::npos)
        << text;
  }
}

TEST_F(ClusterKernel, ArrivalsAndWaitsComeInPairs) {
  const TextLine arrive{"UCGABAR_ARV", kAwait}, wait{"UCGABAR_WAIT", kAwait};
  std::string text = said(kernel(begin(), all({{arrive, arrive, wait}, kExit})));
  EXPECT_NE(text.find("arrives at the cluster barrier again and has not waited"), std::string::npos) << text;
  text = said(kernel(begin(), all({{wait}, kExit})), Mode::kFast);
  EXPECT_NE(text.find("waits at the cluster barrier and has not arrived"), std::string::npos) << text;
}

TEST_F(ClusterKernel, TheGridIsAMultiple) {
  const Result<Report> r = go(kernel(begin(), kExit), Mode::kFast, 32, 3);
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().message.find("grid of (3,1,1); it must be a multiple of the cluster, (2,1,1) CTAs"),
            std::string::npos)
      << r.error().message;
}

TEST_F(ClusterKernel, MayBeTheLaunchsInsteadOfTheKernels) {
  KernelImage image = kernel(begin(), [] {
    std::vector<TextLine> lines = kSync;
    lines.insert(lines.end(), kRead.begin(), kRead.end());
    lines.insert(lines.end(), kSync.begin(), kSync.end());
    lines.insert(lines.end(), kExit.begin(), kExit.end());
    return lines;
  }());
  image.cluster[0] = image.cluster[1] = image.cluster[2] = 0;
  const auto params = Params().add(out_.address()).bytes();
  auto loaded = load(Arch::sm_90a, image);
  ASSERT_TRUE(loaded.ok());
  Launch launch{.grid = {2}, .block = {32}, .params = params, .mode = Mode::kChecked, .threads = 1, .cluster = 2};
  const Result<Report> report = run(**loaded, memory_, launch);
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_TRUE(report->findings.empty()) << report->findings[0].text();
  const std::vector<u32> got = out_.get();
  for (u32 i = 0; i < 64; ++i) EXPECT_EQ(got[i], i < 32 ? 100 + i : i - 32);

  launch.cluster = 0;  // on an H200 its barrier is an illegal instruction then
  const Result<Report> none = run(**loaded, memory_, launch);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("illegal instruction: the kernel states no cluster and was launched without one"),
            std::string::npos)
      << none.error().message;

  const KernelImage stated = kernel(begin(), kExit);
  auto both = load(Arch::sm_90a, stated);
  ASSERT_TRUE(both.ok());
  launch.cluster = 2;
  const Result<Report> twice = run(**both, memory_, launch);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message.find("it states its cluster; the launch asks for another"), std::string::npos);
}

// Warp 0 gives up `given` of 128 registers a thread; warp 1 wants 152.
KernelImage trade(const std::string& to, const char* used = "NOP") {
  return assemble({{"S2R R0, SR_TID.X", kLoad},
                   {"NOP", kAwait},
                   {"ISETP.GE.U32.AND P0, PT, R0, 0x20, PT"},
                   {"@P0 BRA again"},
                   {"USETMAXREG.DEALLOC.CTAPOOL " + to, kLoad},
                   {"NOP", kAwait},
                   {used},
                   {"EXIT"},
                   {"again:"},
                   {"USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0x98", kLoad},
                   {"NOP", kAwait},
                   {"PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0"},
                   {"@!P0 BRA again"},
                   {"MOV R149, 0x1"},
                   {"EXIT"}});
}

TEST(Registers, GoFromWarpToWarp) {
  Memory memory(1 << 20);
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    const auto r = run_image(trade("0x68"), memory, {1}, {64}, {}, mode);
    ASSERT_TRUE(r.ok()) << r.error().text();
    for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
  }
}

TEST(Registers, AWarpThatWaitsForMoreThanThereAreIsADeadlock) {
  Memory memory(1 << 20);
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    const auto r = run_image(trade("0x70"), memory, {1}, {64}, {}, mode);
    ASSERT_FALSE(r.ok());
    EXPECT_NE(
        r.error().message.find("warp 1 lanes 0xffffffff wait for 152 registers a thread (it has 128, others gave up "
                               "16) in line 10"),
        std::string::npos)
        << r.error().message;
  }
}

TEST(Registers, OneAboveTheLimitIsFound) {
  Memory memory(1 << 20);
  const auto last = run_image(trade("0x68", "MOV R101, 0x1"), memory, {1}, {64}, {}, Mode::kChecked);
  ASSERT_TRUE(last.ok()) << last.error().text();
  EXPECT_TRUE(last->findings.empty());
  const auto r = run_image(trade("0x68", "MOV R102, 0x1"), memory, {1}, {64}, {}, Mode::kChecked);
  ASSERT_TRUE(r.ok()) << r.error().text();
  ASSERT_EQ(r->findings.size(), 1u);
  EXPECT_EQ(r->findings[0].what, "register above the limit");
  EXPECT_EQ(r->findings[0].detail, "R102 of a warp that has 104 registers a thread, two of them the chip's");
}

// Waits for a word of memory; CTA 1 sets it where `set`.
KernelImage flag(bool set) {
  return assemble({{"S2R R1, SR_CTAID.X", kLoad},
                   {"LDC.64 R6, c[0x0][0x210]", kAsk},
                   {"ULDC.64 UR4, c[0x0][0x208]", kAwait},
                   {"ISETP.NE.AND P0, PT, R1, RZ, PT"},
                   {"MOV R2, 0x1"},
                   {"@P0 BRA sets"},
                   {"again:"},
                   {"LDG.E R3, desc[UR4][R6.64]", kLoad},
                   {"ISETP.EQ.AND P0, PT, R3, RZ, PT", kAwait},
                   {"@P0 BRA again"},
                   {"EXIT"},
                   {"sets:"},
                   {set ? "STG.E desc[UR4][R6.64], R2" : "NOP", kSend},
                   {"EXIT", kAwait}},
                  8);
}

TEST(Spin, AFlagThatNobodySetsIsADeadlock) {
  Memory memory(1 << 20);
  for (const unsigned threads : {1u, 2u}) {
    for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
      const Buffer<u32> out(memory, 1);
      const auto r = run_image(flag(false), memory, {2}, {32}, Params().add(out.address()).bytes(), mode, 0, threads);
      ASSERT_FALSE(r.ok());
      EXPECT_NE(r.error().message.find("CTA (0,0,0), warp 0: deadlock: nothing in the CTA can go on; warp 0 lanes "
                                       "0xffffffff repeat the same loop in line"),
                std::string::npos)
          << r.error().message;
    }
  }
}

TEST(Spin, AFlagOfAnotherCtaIsWaitedFor) {
  Memory memory(1 << 20);
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    const Buffer<u32> out(memory, 1);
    const auto r = run_image(flag(true), memory, {2}, {32}, Params().add(out.address()).bytes(), mode, 0, 2);
    EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
  }
}

TEST(Spin, ALongLoopIsNone) {
  Memory memory(1 << 20);
  const auto r = run_image(assemble({{"MOV R0, 0x200000"},
                                     {"again:"},
                                     {"IADD3 R0, R0, -0x1, RZ"},
                                     {"ISETP.NE.AND P0, PT, R0, RZ, PT"},
                                     {"@P0 BRA again"},
                                     {"EXIT"}}),
                           memory, {1}, {32}, {});
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
