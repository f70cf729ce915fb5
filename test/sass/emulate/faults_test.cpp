// What ends a run, and what a bad launch or kernel is told, to the letter.
#include <set>

#include "sass/isa/rows/row.h"
#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;

const Control kLoad{.stall = 15, .yield = true, .write_sb = 0};
const Control kAwait{.stall = 15, .yield = true, .wait = 1};

class Faults : public ::testing::Test {
 protected:
  // R0 thread, R6:7 the pointer parameter, UR4:5 the descriptor.
  static KernelImage kernel(const std::vector<std::string>& body, u32 shared = 0) {
    std::vector<TextLine> lines = {{"S2R R0, SR_TID.X", kLoad},
                                   {"ULDC.64 UR4, c[0x0][0x208]"},
                                   {"LDC.64 R6, c[0x0][0x210]", kLoad},
                                   {"NOP", kAwait}};
    for (const std::string& b : body) lines.push_back({b, {.stall = 15, .yield = true, .write_sb = 0, .wait = 1}});
    lines.push_back({"EXIT", kAwait});
    return assemble(lines, 8, shared);
  }

  std::string message(const KernelImage& k, Dim3 grid, Dim3 block) {
    const Result<Report> r = run_image(k, memory_, grid, block, Params().add(buffer_).bytes());
    return r.ok() ? "no fault" : r.error().message;
  }

  // The same in checked mode is a finding, and the run goes on.
  std::string finding(const KernelImage& k, Dim3 grid, Dim3 block) {
    const Result<Report> r = run_image(k, memory_, grid, block, Params().add(buffer_).bytes(), Mode::kChecked);
    EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
    if (!r.ok() || r->findings.size() != 1) return "";
    return r->findings[0].text();
  }

  Memory memory_{1 << 20};
  std::uint64_t buffer_ = memory_.allocate(100);
};

TEST_F(Faults, GlobalOutOfBounds) {
  const KernelImage k = kernel({"IMAD.WIDE.U32 R8, R0, 0x4, R6", "STG.E desc[UR4][R8.64], R0"});
  const std::string where = "kernel test, test.sass:6, CTA (0,0,0), warp 0, lane 25: ";
  const std::string what =
      "out of bounds: 4-byte store at 0x700000000064; the nearest allocation is [0x700000000000, 0x700000000064)";
  EXPECT_EQ(message(k, {1}, {32}), where + what);
  EXPECT_EQ(message(k, {1}, {25}), "no fault");
  EXPECT_EQ(finding(k, {1}, {32}), where + what + " (7 times)");
}

TEST_F(Faults, AnAccessThatCrossesTheEnd) {
  const KernelImage k = kernel({"LDG.E.128 R8, desc[UR4][R6.64+0x60]"});
  EXPECT_EQ(message(k, {1}, {1}),
            "kernel test, test.sass:5, CTA (0,0,0), warp 0, lane 0: out of bounds: 16-byte load at 0x700000000060; the "
            "nearest allocation is [0x700000000000, 0x700000000064), 96 bytes from its start");
}

TEST_F(Faults, NullPointerAndMisaligned) {
  EXPECT_EQ(message(kernel({"MOV R6, RZ", "MOV R7, RZ", "LDG.E R8, desc[UR4][R6.64+0x8]"}), {1}, {1}),
            "kernel test, test.sass:7, CTA (0,0,0), warp 0, lane 0: out of bounds: 4-byte load at 0x8; the nearest "
            "allocation is "
            "[0x700000000000, 0x700000000064)");
  EXPECT_EQ(message(kernel({"LDG.E.64 R8, desc[UR4][R6.64+0x4]"}), {1}, {1}),
            "kernel test, test.sass:5, CTA (0,0,0), warp 0, lane 0: misaligned: 8-byte load at 0x700000000004");
}

TEST_F(Faults, SharedOutOfBounds) {
  const KernelImage k = kernel({"LEA R8, R0, 0x400, 0x4", "STS.128 [R8], RZ"}, 256);
  EXPECT_EQ(message(k, {1, 2}, {17}),
            "kernel test, test.sass:6, CTA (0,0,0), warp 0, lane 16: out of bounds: 16-byte store at shared address "
            "0x500; the CTA has "
            "[0x400, 0x500)");
  EXPECT_EQ(message(k, {1, 2}, {16}), "no fault");
  EXPECT_EQ(message(kernel({"LDS R8, [RZ]"}, 256), {1}, {32}),
            "kernel test, test.sass:5, CTA (0,0,0), warp 0, lane 0: out of bounds: 4-byte load at shared address 0x0; "
            "the CTA has [0x400, "
            "0x500)");
}

TEST_F(Faults, TheCtaAndWarpAreNamed) {
  const KernelImage k = kernel({"S2R R1, SR_CTAID.Y", "S2R R2, SR_TID.Y", "ISETP.EQ.AND P0, PT, R1, 0x1, PT",
                                "ISETP.EQ.AND P0, PT, R2, 0x2, P0", "@P0 LDG.E R8, desc[UR4][R6.64+-0x4]"});
  EXPECT_EQ(message(k, {1, 2}, {32, 4}),
            "kernel test, test.sass:9, CTA (0,1,0), warp 2, lane 0: out of bounds: 4-byte load at 0x6ffffffffffc; the "
            "nearest allocation is "
            "[0x700000000000, 0x700000000064)");
}

TEST_F(Faults, Deadlocks) {
  // Warp 1 waits at a barrier that warp 0 never reaches: it waits at another.
  const KernelImage k =
      kernel({"ISETP.GE.U32.AND P0, PT, R0, 0x20, PT", "@P0 BRA `(B)", "BAR.SYNC.DEFER_BLOCKING 0x1, 0x40", "EXIT",
              "B:", "BAR.SYNC.DEFER_BLOCKING 0x2, 0x40"});
  EXPECT_EQ(message(k, {1}, {64}),
            "kernel test, test.sass:7, CTA (0,0,0), warp 0: deadlock: nothing in the CTA can go on; warp 0 lanes "
            "0xffffffff wait at barrier 1 "
            "(1 of 2 warps came) in line 7; warp 1 lanes 0xffffffff wait at barrier 2 (1 of 2 warps came) in line 10");
  const KernelImage half = kernel({"MOV R8, 0xffff", "ISETP.GE.U32.AND P0, PT, R0, 0x10, PT", "@P0 BRA `(B)",
                                   "WARPSYNC.ALL", "EXIT", "B:", "BAR.SYNC.DEFER_BLOCKING 0x0", "EXIT"});
  EXPECT_EQ(message(half, {1}, {32}),
            "kernel test, test.sass:11, CTA (0,0,0), warp 0: deadlock: nothing in the CTA can go on; warp 0 lanes "
            "0xffff0000 wait at barrier 0 (1 of 1 warps came) in line 11; warp 0 lanes 0xffff wait at WARPSYNC for "
            "lanes 0xffff0000 in line 8");
}

TEST_F(Faults, Trap) {
  EXPECT_EQ(message(kernel({"ISETP.EQ.AND P0, PT, R0, 0x3, PT", "@P0 BPT.TRAP"}), {1}, {32}),
            "kernel test, test.sass:6, CTA (0,0,0), warp 0, lane 3: trap");
}

TEST_F(Faults, RunningPastTheEnd) {
  KernelImage k = kernel({});
  k.code.pop_back();
  k.lines.resize(k.lines.size() - 1);
  EXPECT_EQ(message(k, {1}, {1}), "kernel test+0x40, CTA (0,0,0), warp 0: control runs past the last instruction");
}

TEST_F(Faults, BarrierMisuse) {
  EXPECT_EQ(message(kernel({"BAR.SYNC.DEFER_BLOCKING 0x1, 0x30"}), {1}, {32}),
            "kernel test, test.sass:5, CTA (0,0,0), warp 0, lane 0: barrier count 48 is not a multiple of 32");
  EXPECT_EQ(message(kernel({"BAR.ARV 0x1, 0x40", "BAR.ARV 0x1, 0x40"}), {1}, {32}),
            "kernel test, test.sass:6, CTA (0,0,0), warp 0, lane 0: barrier misuse: the warp arrives at barrier 1 "
            "again before the others did");
}

TEST_F(Faults, LaunchesAreChecked) {
  KernelImage k = kernel({});
  k.reqntid[0] = 64;
  k.reqntid[1] = k.reqntid[2] = 1;
  const auto launch = [&](Dim3 grid, Dim3 block, std::size_t params, u32 dynamic) {
    const Result<Report> r = run_image(k, memory_, grid, block, std::vector<std::byte>(params), Mode::kFast, dynamic);
    return r.ok() ? "" : r.error().message;
  };
  EXPECT_EQ(launch({1}, {64}, 8, 0), "");
  EXPECT_EQ(launch({1}, {32}, 8, 0), "kernel test: block of (32,1,1) threads; the kernel needs (64,1,1)");
  EXPECT_EQ(launch({1}, {64, 17}, 8, 0), "kernel test: block of (64,17,1) threads; 1 to 1024 are allowed");
  EXPECT_EQ(launch({0}, {64}, 8, 0), "kernel test: grid of (0,1,1); at most (2147483647,65535,65535), none 0");
  EXPECT_EQ(launch({1}, {64}, 12, 0), "kernel test: 12 bytes of parameters; the kernel takes 8");
  EXPECT_EQ(launch({1}, {64}, 8, 300000), "kernel test: 300000 bytes of shared memory; sm_90a has 232448");
  k.reqntid[0] = k.reqntid[1] = k.reqntid[2] = 0;
  k.max_threads = 128;
  EXPECT_EQ(launch({1}, {129}, 8, 0), "kernel test: 129 threads; the kernel allows 128");
  k.max_threads = 0;
  k.registers = 170;
  EXPECT_EQ(launch({1}, {256}, 8, 0), "");
  EXPECT_EQ(launch({1}, {257}, 8, 0),
            "kernel test: 257 threads of 176 registers; a multiprocessor has 168 for each of so many");
}

TEST(Load, WhatCannotRunIsRefusedByName) {
  const auto refusal = [](const std::string& line) {
    const Result<std::shared_ptr<const Kernel>> k = load(Arch::sm_90a, assemble({{"NOP"}, {line}, {"EXIT"}}));
    return k.ok() ? "" : k.error().text();
  };
  EXPECT_EQ(refusal("MOV R0, c[0x3][0x10]"),
            "test.sass:2:1: error: kernel test+0x10: MOV R0, c[0x3][0x10]: there is no c[0x3]");
  EXPECT_EQ(
      refusal("UIADD3.64 UR20, -UR6, -UR8, UR10"),
      "test.sass:2:1: error: kernel test+0x10: the emulator cannot run UIADD3.64 UR20, -UR6, -UR8, UR10: the first "
      "two operands negated: an illegal instruction");
  EXPECT_EQ(refusal("ULDC.64 UR4, cx[UR6][0x4]"),
            "test.sass:2:1: error: kernel test+0x10: the emulator cannot run ULDC.64 UR4, cx[UR6][0x4]: an offset that "
            "is no multiple of the operand's size");
  KernelImage bad = assemble({{"NOP"}, {"EXIT"}});
  bad.code[0] = {~std::uint64_t{0}, ~std::uint64_t{0}};
  EXPECT_EQ(load(Arch::sm_90a, bad).error().text(),
            "test.sass:1:1: error: kernel test+0x0: no known sm_90a instruction has the bits 0xffffffffffffffff "
            "0xffffffffffffffff");
  bad.code.clear();
  EXPECT_EQ(load(Arch::sm_90a, bad).error().text(), "error: kernel test has no instructions");
  EXPECT_EQ(load(Arch::sm_52, assemble({{"EXIT"}})).error().text(),
            "test.sass:1:1: error: kernel test+0x8: no known sm_52 instruction has the bits 0x000000000000794d");
}

// The operations of which some row, with its modifiers at their first values, is refused.
std::set<std::string> refused_rows(Arch arch, unsigned& rows) {
  std::set<std::string> refused;
  const bool narrow = info(arch).encoding == Encoding::k64;
  for (const std::span<const Row> table : all_rows()) {
    for (const Row& row : table) {
      if ((row.archs & mask_of(arch)) == 0) continue;
      Word w = narrow ? row.fixed : put_control(row.fixed, {});
      for (const Mod& m : row.mods()) {
        if (!m.field.none()) w = m.field.set(w, m.table.front().raw);
      }
      if (row.has_guard) w = set_bits(w, row.guard_field().piece[0].at, 3, kPT);
      for (const Slot& s : row.slots()) {
        if (s.type == SlotType::kGpr) w = s.value.set(w, narrow ? 4 : 24);
        if (s.type == SlotType::kGroup && s.show != Show::kAlways) w = s.value.set(w, s.omitted);
        if (s.type == SlotType::kSpecialReg) w = s.value.set(w, 33);
        if (s.type == SlotType::kPred || s.type == SlotType::kUPred) w = s.value.set(w, kPT);
        if (s.type == SlotType::kImm && s.omitted != 0) w = s.value.set(w, s.omitted);
        if (narrow && s.type == SlotType::kLabel) w = s.value.set(w, 0xfffff8);  // itself
      }
      ++rows;
      KernelImage k;
      k.name = "row";
      k.code = {w};
      if (!load(arch, k).ok()) refused.insert(std::string(op_text(row.op)));
    }
  }
  return refused;
}

TEST(Load, EveryRowIsRun) {
  unsigned rows = 0;
  const std::set<std::string> refused = refused_rows(Arch::sm_90a, rows);
  EXPECT_GT(rows, 400u);
  // A form at least of these is refused by name when a kernel is loaded: docs/flow.md.
  std::set<std::string> known = {"MUFU",  "I2IP", "F2IP", "F2FP",
                                 "PLOP3", "QSPC", "ATOMS"};   // halves, .OR, packed bytes
  known.merge(std::set<std::string>{"TLD4", "TXQ", "SULD"});  // layers, the number of levels, .P
  known.merge(std::set<std::string>{"FMNMX", "HMNMX2"});      // .XORSIGN
  known.merge(std::set<std::string>{"LDGMC"});                // multicast objects
  known.merge(std::set<std::string>{"RPCMOV", "BMOV"});  // the program counter of a return, the mask of active threads
  std::string more;
  for (const std::string& op : refused) {
    if (known.count(op) == 0) more += " " + op;
  }
  EXPECT_EQ(more, "");
  for (const std::string& op : known) EXPECT_EQ(refused.count(op), 1U) << op << " is run now";
}

TEST(Load, EveryMaxwellRowIsRun) {
  unsigned rows = 0;
  const std::set<std::string> refused = refused_rows(Arch::sm_52, rows);
  EXPECT_GT(rows, 200u);
  // The sum plus one of VADD; which lanes of a quad run.
  EXPECT_EQ(refused, (std::set<std::string>{"VADD", "SAM", "RAM"}));
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
