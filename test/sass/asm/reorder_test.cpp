// List scheduling: random programs give the same bits in every order that their dependences allow, and the order chosen
// is never slower by the model than the order of the program.
#include "sass/asm/schedule/reorder.h"

#include <gtest/gtest.h>

#include <random>

#include "sass/asm/schedule/timing.h"
#include "test/sass/asm/template_text.h"
#include "test/sass/emulate/harness.h"
#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using emulate::Memory;
using emulate::Mode;
using Order = std::vector<std::uint32_t>;

constexpr unsigned kThreads = 64;
constexpr unsigned kData = 16;  // registers of the random part: R8 to R23
constexpr unsigned kOutWords = kData + 4;

// Addresses in R2 (out), R4 (in, 64 words a thread), R6 (shared, 64 bytes a thread); data in R8 .. R23 and P0 .. P2.
std::string prologue() {
  std::string t = R"(
    S2R R0, SR_TID.X
    ULDC.64 UR4, c[0x0][0x208]
    MOV R2, c[0x0][0x210]
    MOV R3, c[0x0][0x214]
    MOV R4, c[0x0][0x218]
    MOV R5, c[0x0][0x21c]
    IMAD.WIDE.U32 R2, R0, 0x50, R2
    IMAD.WIDE.U32 R4, R0, 0x100, R4
    IMAD R6, R0, 0x40, RZ
    IADD3 R6, R6, 0x400, RZ
    UMOV UR6, 0x7
)";
  for (unsigned k = 0; k < 16; ++k) t += "STS [R6+" + std::to_string(k * 4) + "], R0\n";
  for (unsigned k = 0; k < kData; ++k) {
    t += "LDG.E R" + std::to_string(8 + k) + ", desc[UR4][R4.64+" + std::to_string(k * 4) + "]\n";
  }
  for (unsigned p = 0; p < 3; ++p) {
    t += "ISETP.LT.AND P" + std::to_string(p) + ", PT, R" + std::to_string(8 + p) + ", R" + std::to_string(12 + p) +
         ", PT\n";
  }
  return t;
}

std::string epilogue() {
  std::string t;
  for (unsigned k = 0; k < kData; ++k) {
    t += "STG.E desc[UR4][R2.64+" + std::to_string(k * 4) + "], R" + std::to_string(8 + k) + "\n";
  }
  for (unsigned p = 0; p < 3; ++p) {
    t += "SEL R24, R8, RZ, P" + std::to_string(p) + "\n";
    t += "STG.E desc[UR4][R2.64+" + std::to_string((kData + p) * 4) + "], R24\n";
  }
  return t + "LDS R24, [R6+0x8]\nSTG.E desc[UR4][R2.64+" + std::to_string((kData + 3) * 4) + "], R24\nEXIT\n";
}

class Generator {
 public:
  explicit Generator(unsigned seed) : rng_(seed) {}

  std::string body(unsigned count) {
    std::string t;
    for (unsigned i = 0; i < count; ++i) {
      const std::string inst = one();
      t += (inst[0] == 'U' ? "" : guard()) + inst + "\n";  // uniform operations have uniform guards
    }
    return t;
  }

 private:
  unsigned below(unsigned n) { return rng_() % n; }
  std::string r() { return "R" + std::to_string(8 + below(kData)); }
  std::string pair() { return "R" + std::to_string(8 + below(kData / 2) * 2); }
  std::string p() { return "P" + std::to_string(below(3)); }
  std::string guard() {
    const unsigned k = below(8);
    return k == 0 ? "@" + p() + " " : k == 1 ? "@!" + p() + " " : "";
  }
  std::string offset() { return std::to_string(below(8) * 8); }
  std::string one() {
    switch (below(17)) {
      case 0: return "FFMA " + r() + ", " + r() + ", " + r() + ", " + r();
      case 1: return "FADD " + r() + ", " + r() + ", " + r();
      case 2: return "IADD3 " + r() + ", " + r() + ", " + r() + ", " + r();
      case 3: return "IADD3 " + r() + ", " + p() + ", " + r() + ", " + r() + ", RZ";
      case 4: return "LOP3.LUT " + r() + ", " + r() + ", " + r() + ", " + r() + ", 0x96, !PT";
      case 5: return "IMAD " + r() + ", " + r() + ", " + r() + ", " + r();
      case 6: return "IMAD.WIDE.U32 " + pair() + ", " + r() + ", " + r() + ", " + pair();
      case 7: return "ISETP.LT.AND " + p() + ", PT, " + r() + ", " + r() + ", " + p();
      case 8: return "SEL " + r() + ", " + r() + ", " + r() + ", " + p();
      case 9: return "LDS " + r() + ", [R6+" + offset() + "]";
      case 10: return "STS [R6+" + offset() + "], " + r();
      case 11: return "LDS.64 " + pair() + ", [R6+" + offset() + "]";
      case 12: return "LDG.E " + r() + ", desc[UR4][R4.64+" + offset() + "]";
      case 13: return "STG.E desc[UR4][R4.64+" + offset() + "], " + r();
      case 14: return "POPC " + r() + ", " + r();
      case 15: return "IMAD " + r() + ", " + r() + ", UR6, " + r();
      default: return "UIADD3 UR6, UR6, 0x3, URZ";
    }
  }
  std::mt19937 rng_;
};

Program marked_program(const std::string& body) {
  Program p = test::program(prologue() + body + epilogue());
  p.manifest.shared = 64 * kThreads;
  p.manifest.threads = kThreads;
  p.manifest.params = {{"out", ParamType::u64, 0}, {"in", ParamType::u64, 8}};
  const std::size_t first = test::program(prologue()).lines.size();
  const std::size_t count = test::program(body).lines.size();
  for (std::size_t i = first; i < first + count; ++i) p.lines[i].mark.block = 1;
  return p;
}

// Schedules the program as it stands, proves it, runs it in both modes and returns what it wrote.
std::vector<std::uint32_t> outcome(Program p) {
  const Status s = schedule(p);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : s.error().text());
  const KernelImage image = test::encoded(p);
  const std::vector<Hazard> hazards = verify(Arch::sm_90a, image);
  EXPECT_TRUE(hazards.empty()) << test::sentences(hazards) << test::listing(p);
  std::vector<std::uint32_t> first;
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    Memory memory(std::size_t{1} << 20);
    std::vector<std::uint32_t> data(kThreads * 64);
    std::mt19937 rng(7);
    for (std::uint32_t& x : data) x = rng() >> (rng() % 24);
    const emulate::testing::Buffer<std::uint32_t> in(memory, data);
    const emulate::testing::Buffer<std::uint32_t> out(memory, std::size_t{kThreads} * kOutWords);
    const auto report = emulate::testing::run_image(
        image, memory, {1, 1, 1}, {kThreads, 1, 1},
        emulate::testing::Params().add(out.address()).add(in.address()).bytes(), mode, 0, 1);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text());
    if (report.ok()) {
      EXPECT_TRUE(report->findings.empty()) << report->findings[0].text() << "\n" << test::listing(p);
    }
    std::vector<std::uint32_t> result = out.get();
    const std::vector<std::uint32_t> changed = in.get();
    result.insert(result.end(), changed.begin(), changed.end());
    if (mode == Mode::kFast) first = result;
    EXPECT_EQ(result, first) << "the two modes differ";
  }
  return first;
}

std::vector<Accesses> touched_by(const Program& p) {
  std::vector<Accesses> out;
  for (const Line& l : p.lines) out.push_back(accesses(l.inst));
  return out;
}

Program in_order(const Program& p, const Region& region, const Order& order) {
  Program out = p;
  for (std::uint32_t k = 0; k < order.size(); ++k) out.lines[region.first + k] = p.lines[region.first + order[k]];
  for (Line& l : out.lines) l.mark = {};
  return out;
}

// A random order in which all of `edges` hold; empty if there is none.
Order random_order(std::uint32_t n, const std::vector<Dependence>& edges, std::mt19937& rng) {
  std::vector<std::vector<std::uint32_t>> next(n);
  std::vector<std::uint32_t> missing(n, 0);
  for (const Dependence& d : edges) {
    next[d.from].push_back(d.to);
    ++missing[d.to];
  }
  Order open, order;
  for (std::uint32_t k = 0; k < n; ++k) {
    if (missing[k] == 0) open.push_back(k);
  }
  while (!open.empty()) {
    const std::size_t at = rng() % open.size();
    const std::uint32_t k = open[at];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    order.push_back(k);
    for (const std::uint32_t to : next[k]) {
      if (--missing[to] == 0) open.push_back(to);
    }
  }
  return order.size() == n ? order : Order{};
}

Program unmarked(Program p) {
  for (Line& l : p.lines) l.mark = {};
  return p;
}

TEST(Reorder, RandomProgramsGiveTheSameBitsInEveryLegalOrder) {
  std::mt19937 rng(5);
  int moved = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Program p = marked_program(Generator(seed).body(8 + seed));
    const std::vector<std::uint32_t> want = outcome(unmarked(p));
    EXPECT_EQ(outcome(p), want) << "scheduled";
    const std::vector<Region> regions = regions_of(p, flow_of(p));
    ASSERT_EQ(regions.size(), 1u);
    const std::vector<Dependence> edges = dependences(p, touched_by(p), regions[0]);
    const Order order = random_order(regions[0].last - regions[0].first, edges, rng);
    moved += std::is_sorted(order.begin(), order.end()) ? 0 : 1;
    EXPECT_EQ(outcome(in_order(p, regions[0], order)), want) << "shuffled";
    if (HasFailure()) return;
  }
  EXPECT_GT(moved, 35);
}

// The test above can fail: an order that breaks a single dependence changes the result of a good part of the programs.
TEST(Reorder, ABrokenDependenceChangesResults) {
  std::mt19937 rng(6);
  int tried = 0, seen = 0;
  for (unsigned seed = 0; seed < 60 && tried < 30; ++seed) {
    const Program p = marked_program(Generator(seed).body(14));
    const Region region = regions_of(p, flow_of(p)).at(0);
    std::vector<Dependence> edges = dependences(p, touched_by(p), region);
    if (edges.empty()) continue;
    const Dependence broken = edges[rng() % edges.size()];
    std::erase_if(edges, [&](const Dependence& d) { return d.from == broken.from && d.to == broken.to; });
    edges.push_back({broken.to, broken.from, 1});
    const Order order = random_order(region.last - region.first, edges, rng);
    if (order.empty()) continue;
    ++tried;
    seen += outcome(in_order(p, region, order)) != outcome(unmarked(p)) ? 1 : 0;
  }
  EXPECT_GE(tried, 20);
  EXPECT_GT(seen * 4, tried) << seen << " of " << tried;
}

TEST(Reorder, NeverSlowerByTheModelAndOftenFaster) {
  int faster = 0;
  for (unsigned seed = 100; seed < 160; ++seed) {
    SCOPED_TRACE(seed);
    Program plain = marked_program(Generator(seed).body(30));
    Program better = plain;
    for (Line& l : plain.lines) l.mark = {};
    const Flow flow = flow_of(better);
    const Region region = regions_of(better, flow).at(0);
    ASSERT_TRUE(schedule(plain).ok());
    ASSERT_TRUE(schedule(better).ok());
    const Cost before = cost_of(plain, flow, region);
    const Cost after = cost_of(better, flow, region);
    EXPECT_LE(after.issue, before.issue);
    EXPECT_LE(after.drain, before.drain);
    faster += after.issue < before.issue ? 1 : 0;
  }
  EXPECT_GT(faster, 30);
}

Program of_template(const std::string& text) {
  const Result<Expansion> e = expand(testing::template_of(".kernel k\n" + text), Arch::sm_90a, {});
  EXPECT_TRUE(e.ok()) << (e.ok() ? "" : e.error().text());
  Result<Program> p = e.ok() ? parse(*e) : Result<Program>(e.error());
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : p.error().text());
  if (!p.ok()) return {};
  EXPECT_TRUE(schedule(*p).ok());
  return *p;
}
std::string order_of(const Program& p) {
  std::string out;
  for (const Line& l : p.lines) out += (out.empty() ? "" : " ") + std::to_string(l.at.line - 1);
  return out;
}

TEST(Reorder, LoadsMoveUpAndOnlyInsideTheBlock) {
  const std::string loads = R"(FADD R0, R8, R9
FADD R1, R0, R9
LDS R2, [R10]
FADD R3, R2, R9
)";
  EXPECT_EQ(order_of(of_template(loads + "EXIT\n")), "1 2 3 4 5") << "no block: no change";
  EXPECT_EQ(order_of(of_template(".schedule\n" + loads + ".end\nEXIT\n")), "4 2 3 5 7");
  EXPECT_EQ(order_of(of_template(".schedule\nFADD R0, R8, R9\nFADD R1, R0, R9\nmiddle:\nLDS R2, [R10]\n"
                                 "FADD R3, R2, R9\n.end\nISETP.LT.AND P0, PT, R3, R1, PT\n@P0 BRA `(middle)\nEXIT\n")),
            "2 3 5 6 8 9 10")
      << "a label ends the block";
}

TEST(Reorder, FencesStay) {
  const auto with = [](const std::string& line) {
    return order_of(of_template(".schedule\nFADD R0, R8, R9\nFADD R1, R0, R9\n" + line +
                                "\nLDS R2, [R10]\nFADD R3, R2, R9\n.end\nEXIT\n"));
  };
  EXPECT_EQ(with("BAR.SYNC.DEFER_BLOCKING 0x0"), "2 3 4 5 6 8");
  EXPECT_EQ(with("??:-:-:-:? MOV R5, R9"), "2 3 4 5 6 8") << "pinned";
  EXPECT_EQ(with("CS2R R6, SR_CLOCKLO"), "2 3 4 5 6 8");
  EXPECT_EQ(with("MEMBAR.SC.GPU"), "2 3 4 5 6 8");
  EXPECT_EQ(with("MOV R5, R9").substr(0, 3), "5 2") << "an ordinary line does not stop the load";
}

TEST(Reorder, MemoryKeepsItsOrderUnlessCalledIndependent) {
  const std::string text = R"(
FADD R0, R8, R9
FADD R1, R0, R9
STS [R10], R1
LDS R2, [R11]
FADD R3, R2, R9
.end
EXIT
)";
  EXPECT_EQ(order_of(of_template(".schedule" + text)), "2 3 4 5 6 8");
  EXPECT_EQ(order_of(of_template(".schedule independent global" + text)), "2 3 4 5 6 8");
  EXPECT_EQ(order_of(of_template(".schedule independent global, shared" + text)), "5 2 3 4 6 8");
}

TEST(Reorder, BlocksYieldAsOftenAsTheyAreTold) {
  const std::string text =
      "\nFADD R0, R8, R9\nFADD R1, R8, R9\nFADD R2, R8, R9\nFADD R3, R8, R9\n.end\nFADD R4, R8, R9\nEXIT\n";
  const auto yields = [&](const std::string& head) {
    std::string out;
    for (const Line& l : of_template(head + text).lines) {
      if (l.inst.op == Op::FADD) out += l.inst.control.yield ? 'Y' : '-';
    }
    return out;
  };
  EXPECT_EQ(yields(".schedule"), "-----");
  EXPECT_EQ(yields(".schedule yields 2"), "-Y-Y-");
  EXPECT_EQ(yields(".schedule yields 1 independent shared"), "YYYY-");
  const auto refused = [&](const std::string& head) {
    Template t;
    t.name = "t.sass";
    t.text = ".kernel k\n" + head + text;
    const auto made = assemble_variant(t, Arch::sm_90a, {});
    return made.ok() ? "assembled" : made.error().text();
  };
  EXPECT_NE(refused(".schedule yields 0").find("t.sass:2:18: error: yields is `0`; needs a number from 1 to 255"),
            std::string::npos)
      << refused(".schedule yields 0");
  EXPECT_NE(refused(".schedule yields").find("yields is ``; needs a number"), std::string::npos);
  EXPECT_NE(refused(".schedule yields 3x").find("yields is `3x`; needs a number"), std::string::npos);
  EXPECT_NE(refused(".schedule yields 2 now").find("t.sass:2:20: error: expected `independent`, found `now`"),
            std::string::npos)
      << refused(".schedule yields 2 now");
  EXPECT_NE(
      refused(".schedule yields 2 independent texture").find("t.sass:2:32: error: there is no memory `texture` here"),
      std::string::npos)
      << refused(".schedule yields 2 independent texture");
}

TEST(Reorder, StrongLoadsAndAtomicsPassNothing) {
  const auto use = [](const std::string& text) {
    const Result<ParsedInst> i = parse_inst(Arch::sm_90a, text, {});
    EXPECT_TRUE(i.ok()) << text;
    return i.ok() ? memory_use(i->inst) : MemoryUse{};
  };
  EXPECT_EQ(use("LDG.E R0, desc[UR4][R2.64]").writes, 0);
  EXPECT_EQ(use("LDG.E.STRONG.GPU R0, desc[UR4][R2.64]").writes, kSpaceGlobal);
  EXPECT_EQ(use("LD.E R0, desc[UR4][R2.64]").reads, kSpaceGlobal | kSpaceShared | kSpaceLocal);
  EXPECT_EQ(use("ATOMS.ADD R0, [R2], R3").writes, kSpaceShared);
}

// What exchanges registers touches nothing else and may move; what acts beyond registers and memory may not.
TEST(Reorder, ExchangesOfRegistersMay) {
  const auto fixed = [](Arch arch, const char* text) { return is_fence(test::program(text, arch).lines.at(0)); };
  for (const char* text : {"SHFL.IDX PT, R4, R5, RZ, 0x1f", "SHFL.IDX P0, RZ, R5, RZ, 0x1f", "MATCH.ANY R4, R5",
                           "MOVM.16.MT88 R4, R5", "S2R R4, SR_TID.X", "S2UR UR4, SR_CTAID.X"}) {
    EXPECT_FALSE(fixed(Arch::sm_90a, text)) << text;
  }
  for (const char* text : {"LDGDEPBAR", "CCTL.IVALL", "MEMBAR.SC.GPU", "B2R.RESULT R4", "BAR.SYNC 0x0"}) {
    EXPECT_TRUE(fixed(Arch::sm_90a, text)) << text;
  }
  EXPECT_TRUE(fixed(Arch::sm_52, "B2R.RESULT R4"));
}

}  // namespace
}  // namespace nervanagpu::sass
