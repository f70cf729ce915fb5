// Planted hazards of sm_52, each beside the same code put right: in words of our own, and in the control codes of
// programs that ptxas scheduled.
#include <algorithm>
#include <cstdio>

#include "sass/verify/verify.h"
#include "test/sass/emulate/program_fixture.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;

constexpr Control stall(u32 n) {
  return {.stall = static_cast<std::uint8_t>(n)};
}
constexpr Control sets(u32 sb, u32 n = 2) {
  return {.stall = static_cast<std::uint8_t>(n), .write_sb = static_cast<std::uint8_t>(sb)};
}
constexpr Control reads(u32 sb, u32 n = 2) {
  return {.stall = static_cast<std::uint8_t>(n), .read_sb = static_cast<std::uint8_t>(sb)};
}
constexpr Control awaits(u32 sbs, u32 n = 15) {
  return {.stall = static_cast<std::uint8_t>(n), .wait = static_cast<std::uint8_t>(sbs)};
}

// After a prologue of 6 lines (R0 thread, R4:5 the address of its word, R6 its shared address, all ready): the body,
// then EXIT. The first line of the body is 7.
std::vector<std::string> findings(const std::vector<TextLine>& body, u32 block = 64, std::uint32_t count = 1024) {
  std::vector<TextLine> lines = {{"S2R R0, SR_TID.X", sets(0, 15)},
                                 {"SHL R6, R0, 0x2", awaits(1)},
                                 {"IADD R4.CC, R6, c[0x0][0x140]", stall(15)},
                                 {"IADD.X R5, RZ, c[0x0][0x144]", stall(15)},
                                 {"NOP", stall(15)},
                                 {"NOP", stall(15)}};
  lines.insert(lines.end(), body.begin(), body.end());
  lines.push_back({"EXIT", stall(15)});
  const KernelImage image = assemble(lines, 8, 4096, Arch::sm_52);
  Memory memory(1 << 20);
  Buffer<u32> data(memory, std::vector<u32>(count, 7));
  const Result<Report> r =
      run_image(image, memory, {2}, {block}, Params().add(data.address()).bytes(), Mode::kChecked, 0, 0, Arch::sm_52);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
  std::vector<std::string> out;
  if (!r.ok()) return out;
  for (const Finding& f : r->findings) {
    EXPECT_FALSE(f.detail.empty());
    out.push_back(f.what + " in line " + std::to_string(f.at.line));
  }
  return out;
}

using List = std::vector<std::string>;
const List kClean;

TEST(Checked64, FixedLatency) {
  const auto chain = [](u32 n) {
    return std::vector<TextLine>{{"FFMA R8, R0, R0, R0", stall(n)}, {"XMAD R9, R8, R8, RZ", stall(15)}};
  };
  EXPECT_EQ(findings(chain(5)), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(chain(6)), kClean);
  // Stall 0 issues both in one cycle.
  EXPECT_EQ(
      findings({{"FFMA R8, R0, R0, R0", stall(0)}, {"IADD R9, R0, R0", stall(6)}, {"IADD R9, R8, R9", stall(15)}}),
      kClean);
  EXPECT_EQ(
      findings({{"FFMA R8, R0, R0, R0", stall(0)}, {"IADD R9, R0, R0", stall(5)}, {"IADD R9, R8, RZ", stall(15)}}),
      (List{"read before ready in line 9"}));
  // Addresses are read later.
  const auto to_address = [](u32 n) {
    return std::vector<TextLine>{{"IADD R8, R6, RZ", stall(n)}, {"STS [R8], R0", stall(15)}};
  };
  EXPECT_EQ(findings(to_address(1)), (List{"misaligned in line 8", "read before ready in line 8"}));
  EXPECT_EQ(findings(to_address(2)), kClean);
}

TEST(Checked64, PredicatesAndCcNeedTheirTime) {
  const auto guard = [](u32 n) {
    return std::vector<TextLine>{{"ISETP.LT.AND P0, PT, R0, 0x5, PT", stall(n)}, {"@P0 IADD R8, R0, 0x1", stall(15)}};
  };
  EXPECT_EQ(findings(guard(12)), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(guard(13)), kClean);
  const auto carry = [](u32 n) {
    return std::vector<TextLine>{{"IADD R8.CC, R0, R0", stall(n)}, {"IADD.X R9, R0, R0", stall(15)}};
  };
  EXPECT_EQ(findings(carry(5)), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(carry(6)), kClean);
}

TEST(Checked64, LongStallsNeedNoYield) {
  EXPECT_EQ(findings({{"ISETP.LT.AND P0, PT, R0, 0x5, PT", {.stall = 13, .yield = false}},
                      {"@P0 IADD R8, R0, 0x1", stall(15)}}),
            kClean);
}

TEST(Checked64, LoadsNeedTheirScoreboard) {
  const auto load = [](Control first, Control second) {
    return std::vector<TextLine>{{"LDG.E R8, [R4]", first}, {"IADD R9, R8, 0x1", second}};
  };
  EXPECT_EQ(findings(load(sets(1), stall(15))), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(load(sets(1), awaits(4))), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(load(stall(2), awaits(2))), (List{"read before ready in line 8"}));
  EXPECT_EQ(findings(load(sets(1, 1), awaits(2))), (List{"read before ready in line 8"}));  // not raised yet
  EXPECT_EQ(findings(load(sets(1, 2), awaits(2))), kClean);
  // Conversions too, and MUFU.
  EXPECT_EQ(findings({{"I2F.F32.S32 R8, R0", stall(15)}, {"FADD R9, R8, 1", stall(15)}}),
            (List{"read before ready in line 8"}));
  EXPECT_EQ(findings({{"I2F.F32.S32 R8, R0", sets(0)},
                      {"MUFU.RCP R9, R8", {.stall = 2, .write_sb = 1, .wait = 1}},
                      {"FADD R9, R9, 1", awaits(2)}}),
            kClean);
}

TEST(Checked64, GlobalLoadsReturnInOrder) {
  const auto two = [](const std::string& second) {
    return std::vector<TextLine>{{"STS [R6], R0", stall(15)},
                                 {"LDG.E R8, [R4]", stall(2)},
                                 {second, sets(1, 2)},
                                 {"IADD R9, R8, 0x1", awaits(2)}};
  };
  EXPECT_EQ(findings(two("LDG.E R10, [R4]")), kClean);
  EXPECT_EQ(findings(two("LDS R10, [R6]")), (List{"read before ready in line 10"}));
}

TEST(Checked64, CountedWaitsCountWhatDidNotRun) {
  const auto program = [](const std::string& wait) {
    return std::vector<TextLine>{{"ISETP.LT.AND P0, PT, R0, RZ, PT", stall(15)},  // never
                                 {"LDG.E R8, [R4]", sets(1)},
                                 {"@P0 LDG.E R9, [R4]", sets(1)},
                                 {wait, stall(4)},
                                 {"IADD R10, R8, 0x1", stall(15)},
                                 {"NOP", awaits(2)}};
  };
  EXPECT_EQ(findings(program("DEPBAR.LE SB1, 0x1")), kClean);
  EXPECT_EQ(findings(program("DEPBAR.LE SB1, 0x2")), (List{"read before ready in line 11"}));
}

TEST(Checked64, Overwriting) {
  const auto load = [](Control second) {
    return std::vector<TextLine>{{"LDG.E R8, [R4]", sets(1)}, {"MOV32I R8, 0x1", second}, {"NOP", awaits(2)}};
  };
  EXPECT_EQ(findings(load(stall(15))), (List{"overwritten in flight in line 8"}));
  EXPECT_EQ(findings(load(awaits(2))), kClean);
  const auto store = [](const std::string& between, Control first, Control second) {
    return std::vector<TextLine>{
        {"MOV32I R8, 0x1", stall(15)}, {"STG.E [R4], R8", first}, {between, stall(15)}, {"MOV32I R8, 0x2", second}};
  };
  EXPECT_EQ(findings(store("NOP", reads(1), stall(15))), (List{"overwritten before read in line 10"}));
  EXPECT_EQ(findings(store("NOP", stall(15), stall(15))), (List{"overwritten before read in line 10"}));
  EXPECT_EQ(findings(store("NOP", reads(1), awaits(2))), kClean);
  // At a barrier of the CTA memory operations have read their sources.
  EXPECT_EQ(findings(store("BAR.SYNC 0x0", stall(15), stall(15))), kClean);
}

TEST(Checked64, Uninitialised) {
  EXPECT_EQ(findings({{"IADD R9, R20, 0x1", stall(15)}}), (List{"uninitialised register in line 7"}));
  EXPECT_EQ(findings({{"SEL R9, R0, RZ, P3", stall(15)}}), (List{"uninitialised register in line 7"}));
  EXPECT_EQ(findings({{"STS [R6], R0", stall(15)}, {"LDS.U.64 R8, [0x0]", sets(1)}, {"NOP", awaits(2)}}, 32), kClean);
  EXPECT_EQ(findings({{"LDS R8, [R6]", sets(1)}, {"NOP", awaits(2)}}), (List{"uninitialised shared memory in line 7"}));
  // CC of half of the lanes.
  EXPECT_EQ(findings({{"ISETP.LT.AND P0, PT, R0, 0x5, PT", stall(15)},
                      {"IADD RZ, R0, R0", stall(15)},
                      {"@P0 BRA CC.LT, `(OUT)", stall(15)},
                      {"OUT:"}}),
            kClean);  // the prologue's chain wrote it
}

TEST(Checked64, RacesBoundsAndBarriers) {
  const auto exchange = [](const std::string& between) {
    return std::vector<TextLine>{{"LOP.XOR R8, R6, 0x80", stall(15)},  // another warp's
                                 {"STS [R6], R0", stall(15)},
                                 {between, stall(15)},
                                 {"LDS R9, [R8]", sets(1, 15)},
                                 {"NOP", awaits(2)}};
  };
  EXPECT_EQ(findings(exchange("BAR.SYNC 0x0")), kClean);
  const List race = findings(exchange("NOP"));
  EXPECT_FALSE(race.empty());
  for (const std::string& f : race) {
    EXPECT_TRUE(f.starts_with("shared-memory race") || f.starts_with("uninitialised shared memory")) << f;
  }
  EXPECT_EQ(findings({{"STG.E [R4+0x4], R0", stall(15)}, {"STG.E [R4], R0", stall(15)}}, 64, 64),
            (List{"out of bounds in line 7"}));
  EXPECT_EQ(findings({{"BAR.ARV 0x1, 0x60", stall(15)}}, 64), (List{"barrier misuse in line 7"}));
  // Lanes that have parted stay apart until a SYNC joins them, and a warp arrives at a barrier as one.
  const auto parted = [](const std::string& push, const std::string& pop) {
    return std::vector<TextLine>{{"ISETP.LT.AND P0, PT, R0, 0x5, PT", stall(15)},
                                 {push, stall(15)},
                                 {"@P0 BRA `(LOW)", stall(15)},
                                 {"MOV R8, R0", stall(15)},
                                 {pop, stall(15)},
                                 {"LOW:"},
                                 {pop, stall(15)},
                                 {"JOIN:"},
                                 {"BAR.SYNC 0x0", stall(15)}};
  };
  EXPECT_EQ(findings(parted("SSY `(JOIN)", "SYNC")), kClean);
  EXPECT_EQ(findings(parted("NOP", "NOP")), (List{"barrier misuse in line 15"}));
  EXPECT_EQ(
      findings({{"ISETP.LT.AND P0, PT, R0, 0x5, PT", stall(15)}, {"@P0 EXIT", stall(15)}, {"BAR.SYNC 0x0", stall(15)}}),
      kClean);
}

TEST(Checked64, AcrossTheConvergenceStack) {
  // What each side leaves behind is awaited where they meet.
  const auto sides = [](Control at_join) {
    return std::vector<TextLine>{{"ISETP.LT.AND P0, PT, R0, 0x5, PT", stall(15)},
                                 {"SSY `(JOIN)", stall(15)},
                                 {"@P0 BRA `(LOW)", stall(15)},
                                 {"LDG.E R8, [R4]", sets(1)},
                                 {"SYNC", stall(5)},
                                 {"LOW:"},
                                 {"MOV R8, R0", stall(15)},
                                 {"SYNC", stall(5)},
                                 {"JOIN:"},
                                 {"IADD R9, R8, 0x1", at_join}};
  };
  EXPECT_EQ(findings(sides(awaits(2))), kClean);
  EXPECT_EQ(findings(sides(stall(15))), (List{"read before ready in line 16"}));
}

// ---- Control codes of ptxas, changed ----------------------------------------------------------------------------------

const KernelImage& kernel_of(const CubinImage& cubin, const std::string& name) {
  const auto it =
      std::find_if(cubin.kernels.begin(), cubin.kernels.end(), [&](const auto& k) { return k.name == name; });
  EXPECT_NE(it, cubin.kernels.end()) << name;
  return *it;
}

// What checked mode says of saxpy, tree or transpose.
std::vector<Finding> findings_of(const KernelImage& k) {
  Memory memory(1 << 22);
  Buffer<float> x(memory, std::vector<float>(96 * 96, 1.0F)), y(memory, std::vector<float>(96 * 96, 2.0F));
  Params p;
  p.add(x.address()).add(y.address());
  Dim3 grid{2}, block{256};
  if (k.name == "saxpy") p.add(2.0F).add(1000);
  if (k.name == "tree") p.add(500);
  if (k.name == "transpose") {
    p.add(96);
    grid = {3, 3};
    block = {8, 32};
  }
  const Result<Report> r = run_image(k, memory, grid, block, p.bytes(), Mode::kChecked, 0, 0, Arch::sm_52);
  if (r.ok()) return r->findings;
  // A poisoned address or counter may fault after what it was poisoned by was found.
  Finding f;
  f.what = "fault";
  f.detail = r.error().text();
  return {f};
}

struct Planted {
  unsigned tried = 0;
  unsigned found = 0;
};

// Takes away each wait of each instruction, one at a time, as `change` does it.
template <class Change>
Planted plant(const KernelImage& k, Change change) {
  Planted n;
  for (std::size_t i = 0; i < k.code.size(); ++i) {
    const Control c = get_control(k.code[i]);
    for (const Control& bad : change(c)) {
      KernelImage broken = k;
      broken.code[i] = put_control(k.code[i], bad);
      // Only what the proof over the words calls a hazard; a wait may also be one too many.
      if (verify(Arch::sm_52, broken).empty()) continue;
      ++n.tried;
      const bool found = !findings_of(broken).empty();
      n.found += found ? 1 : 0;
      if (!found) std::printf("[          ] %s: not met by this run: instruction %zu\n", k.name.c_str(), i);
    }
  }
  return n;
}

TEST(Checked64, MissingWaitsOfCompiledCode) {
  const CubinImage cubin = read_file("maxwell.sm_52.cubin");
  for (const char* name : {"saxpy", "tree", "transpose"}) {
    const KernelImage& k = kernel_of(cubin, name);
    EXPECT_TRUE(findings_of(k).empty());
    const Planted waits = plant(k, [](const Control& c) {
      std::vector<Control> out;
      for (unsigned sb = 0; sb < 6; ++sb) {
        if ((c.wait >> sb & 1) == 0) continue;
        out.push_back(c);
        out.back().wait &= static_cast<std::uint8_t>(~(1u << sb));
      }
      return out;
    });
    EXPECT_GT(waits.tried, 1u) << name;
    EXPECT_EQ(waits.found, waits.tried) << name;
  }
}

TEST(Checked64, ShortStallsOfCompiledCode) {
  const CubinImage cubin = read_file("maxwell.sm_52.cubin");
  for (const char* name : {"saxpy", "tree", "transpose"}) {
    const KernelImage& k = kernel_of(cubin, name);
    const Planted stalls = plant(k, [](const Control& c) {
      std::vector<Control> out;
      if (c.stall > 1) {
        out.push_back(c);
        out.back().stall = 1;
      }
      return out;
    });
    EXPECT_GT(stalls.tried, 5u) << name;
    EXPECT_EQ(stalls.found, stalls.tried) << name;
  }
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
