// What ptxas was seen to rely on, over many instances, and one step beyond it.
#include <gtest/gtest.h>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::kernel;
using test::sentences;

struct Distance {
  const char* from;
  const char* to;
  Arch arch;
  int cycles;  // enough; one less is not
};

class Distances : public testing::TestWithParam<Distance> {};

std::vector<Hazard> after(const Distance& d, int cycles) {
  const std::string text =
      "--:-:-:-:" + std::to_string(cycles) + " | " + d.from + "\n--:-:0:-:2 | " + d.to + "\n01:-:-:-:5 | EXIT\n";
  return verify(d.arch, kernel(text, d.arch));
}

TEST_P(Distances, IsEnoughAndNotLess) {
  const Distance& d = GetParam();
  const auto none = after(d, d.cycles);
  EXPECT_TRUE(none.empty()) << sentences(none);
  const auto found = after(d, d.cycles - 1);
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].missing, 1) << sentences(found);
}

const Distance kDistances[] = {
    {"IMAD R0, R4, R5, R6", "REDUX.SUM UR4, R0", Arch::sm_80, 4},
    {"IMAD R0, R4, R5, R6", "REDUX.SUM UR4, R0", Arch::sm_90a, 4},
    {"FMUL R0, R4, R5", "REDUX.SUM UR4, R0", Arch::sm_90a, 4},
    {"IADD3 R0, R4, R5, R6", "REDUX.SUM UR4, R0", Arch::sm_90a, 4},
    {"IMAD.WIDE R0, R4, R5, R6", "REDUX.SUM UR4, R1", Arch::sm_90a, 4},
    {"IMAD.WIDE R0, R4, R5, R6", "I2F.U64 R2, R0", Arch::sm_80, 4},
    {"IMAD.WIDE R0, R4, R5, R6", "I2F.U64 R2, R0", Arch::sm_86, 4},
    {"IMAD.WIDE R0, R4, R5, R6", "POPC R2, R1", Arch::sm_80, 4},
    {"UMOV UR5, 0x0", "LDG.E.SYS R2, [R4.64+UR4]", Arch::sm_75, 2},
    {"UMOV UR4, 0x400", "LDS R2, [R4+UR4]", Arch::sm_75, 2},
    {"UMOV UR4, 0x400", "LDS R2, [R4+UR4]", Arch::sm_80, 2},
    {"UMOV UR4, 0x400", "LDS R2, [R4+UR4]", Arch::sm_90a, 2},
};

INSTANTIATE_TEST_SUITE_P(Compilers, Distances, testing::ValuesIn(kDistances));

std::string products(Arch arch, const char* second_sb, const char* wait) {
  const std::string product = arch == Arch::sm_90a ? ":-:2 | DMMA.8x8x4 " : ":-:2 | DMMA.884 ";
  return "--:-:0" + product + "R8, R4, R6, RZ\n--:-:" + second_sb + product + "R12, R4, R6, RZ\n" + wait +
         " | DADD R16, R8, R8\n--:-:-:-:5 | EXIT\n";
}

// A younger product, or a count of the products after it, shows that an older one is there.
TEST(Compilers, DoubleProductsAreThereInOrder) {
  for (const Arch arch : {Arch::sm_80, Arch::sm_90a}) {
    for (const std::string& right :
         {products(arch, "1", "02:-:2:-:5"), products(arch, "0", "--:-:-:-:4 | DEPBAR.LE SB0, 0x1\n--:-:2:-:5")}) {
      const auto none = verify(arch, kernel(right, arch));
      EXPECT_TRUE(none.empty()) << sentences(none) << right;
    }
    for (const std::string& wrong :
         {products(arch, "1", "--:-:2:-:5"), products(arch, "0", "--:-:-:-:4 | DEPBAR.LE SB0, 0x2\n--:-:2:-:5"),
          products(arch, "1", "--:-:-:-:4 | DEPBAR.LE SB0, 0x1\n--:-:2:-:5")}) {
      const auto found = verify(arch, kernel(wrong, arch));
      ASSERT_EQ(found.size(), 1u) << sentences(found) << wrong;
      EXPECT_EQ(found[0].reg, "R8");
    }
  }
}

// The registers of a younger operation on an mbarrier are read after those of older ones.
TEST(Compilers, OperationsOnMbarriersReadInOrder) {
  const auto text = [](const char* wait) {
    return std::string(R"(
      --:-:-:-:1 | SYNCS.ARRIVE.TRANS64 RZ, [UR5], R4
      --:1:-:-:2 | SYNCS.ARRIVE.TRANS64 RZ, [UR5+0x8], R6
      )") + wait +
           R"(:-:-:-:5 | VIADD R4, R4, 0x1
      --:-:-:-:5 | EXIT)";
  };
  const auto none = verify(Arch::sm_90a, kernel(text("02")));
  EXPECT_TRUE(none.empty()) << sentences(none);
  EXPECT_EQ(verify(Arch::sm_90a, kernel(text("--"))).size(), 1u);

  const auto made = [](const char* wait) {
    return std::string(R"(
      --:-:1:-:1 | SYNCS.EXCH.64 URZ, [UR4], UR6
      --:2:1:-:2 | SYNCS.EXCH.64 URZ, [UR4+0x8], UR8
      )") + wait +
           R"(:-:-:-:1 | UMOV UR6, 0x1
      --:-:-:-:5 | EXIT)";
  };
  const auto both = verify(Arch::sm_90a, kernel(made("04")));
  EXPECT_TRUE(both.empty()) << sentences(both);
  EXPECT_EQ(verify(Arch::sm_90a, kernel(made("--"))).size(), 1u);
}

// A source that is read late, and who overwrites it: ptxas awaits the read scoreboard.
TEST(Compilers, SourcesReadLate) {
  for (const auto& [reads, writes] : {std::pair{"LDG.E R8, desc[UR4][R2.64]", "LDC.64 R2, c[0x0][0x210]"},
                                      {"STG.E desc[UR4][R2.64], R8", "LDC R8, c[0x0][0x210]"},
                                      {"REDUX.SUM UR8, R2", "IADD3 R2, R3, R4, R5"},
                                      {"DMMA.8x8x4 R8, R2, R4, R12", "MOV R2, R3"},
                                      {"BMOV.32 B6, R2", "MOV R2, R3"}}) {
    const auto text = [&](const char* wait) {
      return std::string("--:0:-:-:2 | ") + reads + "\n" + wait + ":-:-:-:5 | " + writes + "\n--:-:-:-:5 | EXIT\n";
    };
    const auto none = verify(Arch::sm_90a, kernel(text("01")));
    EXPECT_TRUE(none.empty()) << reads << sentences(none);
    const auto found = verify(Arch::sm_90a, kernel(text("--")));
    ASSERT_EQ(found.size(), 1u) << reads << sentences(found);
    EXPECT_EQ(found[0].kind, Hazard::Kind::kWar);
  }
}

// Before sm_90 a double is there when its scoreboard says so, and its operands are read late; on sm_90a it takes its cycles.
TEST(Compilers, DoublesBeforeHopperHaveScoreboards) {
  const auto reads = [](const char* wait) {
    return std::string("--:-:0:-:8 | DFMA R4, R2, R6, R2\n") + wait + ":-:-:-:8 | DADD R8, R4, R6\n--:-:-:-:5 | EXIT\n";
  };
  const auto writes = [](const char* wait) {
    return std::string("--:0:1:-:2 | DMUL R4, R2, R6\n") + wait + ":-:-:-:5 | MOV R2, R9\n02:-:-:-:5 | EXIT\n";
  };
  // A younger one's speaks for it.
  const std::string younger = R"(
    --:-:-:-:4 | DFMA R14, R12, R16, R2
    --:-:0:-:8 | DMUL R12, R10, R12
    01:0:1:-:4 | DFMA R10, R14, R12, R10
    02:-:-:-:5 | EXIT)";
  for (const Arch arch : {Arch::sm_75, Arch::sm_80, Arch::sm_86, Arch::sm_89}) {
    const auto in_order = verify(arch, kernel(younger, arch));
    EXPECT_TRUE(in_order.empty()) << sentences(in_order);
    const auto last_open = verify(arch, kernel(reads("01"), arch));
    EXPECT_TRUE(last_open.empty()) << sentences(last_open);
    ASSERT_GE(verify(arch, kernel(reads("--"), arch)).size(), 1u);
    EXPECT_EQ(verify(arch, kernel(reads("--"), arch))[0].kind, Hazard::Kind::kRaw);
    const auto none = verify(arch, kernel(writes("01"), arch));
    EXPECT_TRUE(none.empty()) << sentences(none);
    ASSERT_EQ(verify(arch, kernel(writes("--"), arch)).size(), 1u);
    EXPECT_EQ(verify(arch, kernel(writes("--"), arch))[0].kind, Hazard::Kind::kWar);
  }
  EXPECT_TRUE(verify(Arch::sm_90a, kernel(reads("--"))).empty());
}

// -O0 leaves no scoreboard and no second instruction after a product that takes longer than the largest stall.
TEST(Compilers, StallZeroWithYieldDrains) {
  for (const char* product : {"HMMA.16816.F32 R12, R4, R8, RZ", "IMMA.16832.S8.U8 R12, R4.ROW, R8.COL, RZ"}) {
    const auto behind = [&](const std::string& stall) {
      return verify(Arch::sm_90a, kernel("--:-:-:Y:" + stall + " | " + product +
                                         "\n--:-:-:Y:15 | MOV R12, R12\n--:-:-:-:5 | EXIT\n"));
    };
    EXPECT_TRUE(behind("0").empty()) << sentences(behind("0"));
    EXPECT_EQ(behind("15").size(), 2u) << sentences(behind("15"));
  }
}

// Reuse bits of slots from which nothing is read keep nothing.
TEST(Compilers, StrayReuseBitsMeanNothing) {
  const auto with_bits = [](const char* text) {
    KernelImage k = kernel(text);
    Control c = get_control(k.code[0]);
    c.reuse = 1;
    k.code[0] = put_control(k.code[0], c);
    return verify(Arch::sm_90a, k);
  };
  const auto none = with_bits("--:-:-:Y:4 | DEPBAR.LE SB0, 0x1\n--:-:-:-:5 | EXIT\n");
  EXPECT_TRUE(none.empty()) << sentences(none);
  EXPECT_EQ(with_bits("--:-:-:Y:4 | FADD R0, R1, R2\n--:-:-:-:5 | EXIT\n").size(), 1u);
}

}  // namespace
}  // namespace nervanagpu::sass
