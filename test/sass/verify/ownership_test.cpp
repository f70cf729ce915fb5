// Registers of asynchronous products: who may touch them, from WARPGROUP.ARRIVE to WARPGROUP.DEPBAR (docs/engines.md).
// Each kernel is right but for the one bug that its test plants.
#include <gtest/gtest.h>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::kernel;
using test::sentences;

// Sums in R24 .. R27; A in R4 .. R7 where it lies in registers.
const std::string kArrive = "--:-:-:-:8 | WARPGROUP.ARRIVE\n";
const std::string kProduct = "--:-:-:-:3 | HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], R24, gsb0\n";
const std::string kOpenProduct = "--:-:-:-:1 | HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], R24\n";
const std::string kFromRegisters = "--:-:-:-:3 | HGMMA.64x8x16.F32.BF16 R24, R4, gdesc[UR8], R24, gsb0\n";
const std::string kOther = "--:-:-:-:3 | HGMMA.64x8x16.F32.BF16 R32, gdesc[UR4], R32, gsb0\n";
const std::string kRead = "--:-:-:-:5 | FADD R0, R26, 1\n";
const std::string kWrite = "--:-:-:-:5 | MOV R25, RZ\n";
const std::string kExit = "--:-:-:-:5 | EXIT\n";
std::string wait(int groups) {
  return "--:-:-:-:1 | WARPGROUP.DEPBAR.LE gsb0, " + std::to_string(groups) + "\n";
}

std::vector<Hazard> judged(const std::string& text) {
  return verify(Arch::sm_90a, kernel(text));
}

void expect_proven(const std::string& text) {
  const auto found = judged(text);
  EXPECT_TRUE(found.empty()) << text << sentences(found);
}

void expect_one(const std::string& text, Hazard::Kind kind, const std::string& reg, const std::string& says) {
  const auto found = judged(text);
  ASSERT_EQ(found.size(), 1u) << text << sentences(found);
  EXPECT_EQ(found[0].kind, kind) << found[0].text;
  EXPECT_EQ(found[0].reg, reg) << found[0].text;
  EXPECT_NE(found[0].text.find(says), std::string::npos) << found[0].text;
}

constexpr const char* kOwned = ": no WARPGROUP.DEPBAR has retired its group on some path";
constexpr const char* kUnarrived = ": no WARPGROUP.ARRIVE stands between them on some path";

TEST(Ownership, SumsBelongToTheProduct) {
  expect_proven(kArrive + kProduct + wait(0) + kRead + kWrite + kExit);
  expect_one(kArrive + kProduct + kRead + wait(0) + kExit, Hazard::Kind::kRaw, "R26",
             "FADD at 0x0020 (hand.sass:3): reads R26, which belongs to HGMMA at 0x0010 (hand.sass:2)");
  expect_one(kArrive + kProduct + kWrite + wait(0) + kExit, Hazard::Kind::kWaw, "R25",
             "overwrites R25, which belongs to HGMMA at 0x0010 (hand.sass:2)" + std::string(kOwned));
  expect_one(kArrive + kProduct + kRead + kExit, Hazard::Kind::kRaw, "R26", kOwned);
}

TEST(Ownership, GroupIsNotAwaitedTooSoon) {
  const std::string product = "HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], R24, gsb0\n";
  const std::string text =
      "WARPGROUP.DEPBAR comes 2 cycles after the product that closes its group; at least 3 are needed";
  expect_one(kArrive + "--:-:-:-:2 | " + product + wait(0) + kExit, Hazard::Kind::kControl, "", text);
  expect_one(kArrive + "--:-:-:-:1 | " + product + "--:-:-:-:1 | MOV R0, RZ\n" + wait(1) + kExit,
             Hazard::Kind::kControl, "", text);
  expect_proven(kArrive + "--:-:-:-:1 | " + product + "--:-:-:-:2 | MOV R0, RZ\n" + wait(0) + kExit);
  expect_proven(kArrive + "--:-:-:-:1 | " + kOpenProduct.substr(kOpenProduct.find("HGMMA")) + "--:-:-:-:3 | " +
                product + wait(0) + kExit);
}

TEST(Ownership, FactorInRegistersMayBeReadButNotOverwritten) {
  expect_proven(kArrive + kFromRegisters + "--:-:-:-:5 | FADD R0, R7, 1\n" + wait(0) + "--:-:-:-:5 | MOV R7, RZ\n" +
                kExit);
  expect_one(kArrive + kFromRegisters + "--:-:-:-:5 | MOV R7, RZ\n" + wait(0) + kExit, Hazard::Kind::kWar, "R7",
             "overwrites R7, which belongs to HGMMA at 0x0010");
}

// A load that returns into the sums; here also the scoreboards have nothing to say.
TEST(Ownership, LoadsToo) {
  expect_one(kArrive + kProduct + "--:-:0:-:2 | LDS R24, [R0]\n" + wait(0) + "01:-:-:-:5 | EXIT\n", Hazard::Kind::kWaw,
             "R24", "LDS at 0x0020 (hand.sass:3): overwrites R24");
}

// The engine may begin when the fastest warp has arrived and issued: a wait after the arrival is its warp's alone.
TEST(Ownership, LoadsAreThereAtTheArrival) {
  const std::string load = "--:-:0:-:2 | LDS R6, [R0]\n";
  const std::string awaited = "01:-:-:-:8 | WARPGROUP.ARRIVE\n";
  const std::string late = "01:-:-:-:3 | HGMMA.64x8x16.F32.BF16 R24, R4, gdesc[UR8], R24, gsb0\n";
  expect_proven(load + awaited + kFromRegisters + wait(0) + kExit);
  expect_proven(load + "01:-:-:-:1 | NOP\n" + kArrive + kFromRegisters + wait(0) + kExit);
  expect_one(load + kArrive + late + wait(0) + kExit, Hazard::Kind::kRaw, "R6",
             "takes R6, which LDS at 0x0000 (hand.sass:1) writes" + std::string(kUnarrived));
  // The sums, and reads of the sums before.
  expect_one("--:-:0:-:2 | LDS R26, [R0]\n" + kArrive + "01:-:-:-:3 | " + kProduct.substr(kProduct.find("HGMMA")) +
                 wait(0) + kExit,
             Hazard::Kind::kRaw, "R26", kUnarrived);
  // What shows a load done: its scoreboard, a younger one of its queue, DEPBAR; on every path.
  const std::string younger = "--:-:1:-:2 | LDS R9, [R0+0x4]\n";
  expect_proven(load + younger + "02:-:-:-:8 | WARPGROUP.ARRIVE\n" + kFromRegisters + wait(0) + kExit);
  expect_proven(load + "--:-:-:-:4 | DEPBAR.LE SB0, 0x0\n" + kArrive + kFromRegisters + wait(0) + kExit);
  expect_one("--:-:-:-:2 | LDS R6, [R0]\n" + younger + kArrive + "02" + late.substr(2) + wait(0) + kExit,
             Hazard::Kind::kRaw, "R6", kUnarrived);
  for (const int awaited_one : {0, 1}) {
    const std::string path = "--:-:-:Y:13 | ISETP.EQ.AND P0, PT, R0, RZ, PT\n--:-:-:-:5 | @P0 BRA `(other)\n" + load +
                             "--:-:-:-:5 | BRA `(both)\nother:\n--:-:1:-:2 | LDS R6, [R0+0x4]\nboth:\n";
    const std::string first = awaited_one == 0 ? "01" : "02";
    const std::string second = awaited_one == 0 ? "02" : "01";
    expect_one(path + first + kArrive.substr(2) + second + late.substr(2) + wait(0) + kExit, Hazard::Kind::kRaw, "R6",
               kUnarrived);
    expect_proven(path + "03" + kArrive.substr(2) + kFromRegisters + wait(0) + kExit);
  }
  // Two late readers of one register.
  expect_one("--:0:2:-:2 | MUFU.RCP R9, R26\n--:1:-:-:2 | STS [R0], R26\n02" + kArrive.substr(2) + "05:-:-:-:3 | " +
                 kProduct.substr(kProduct.find("HGMMA")) + wait(0) + kExit,
             Hazard::Kind::kWar, "R26", "reads");
  const std::string store = "--:0:-:-:2 | STS [R0], R26\n";
  expect_proven(store + awaited + kProduct + wait(0) + kExit);
  expect_one(store + kArrive + "01:-:-:-:3 | " + kProduct.substr(kProduct.find("HGMMA")) + wait(0) + kExit,
             Hazard::Kind::kWar, "R26", "reads");
}

TEST(Ownership, GroupsAreCounted) {
  expect_proven(kArrive + kProduct + kOther + wait(1) + kRead + wait(0) + kExit);
  expect_one(kArrive + kProduct + kOther + wait(2) + kRead + wait(0) + kExit, Hazard::Kind::kRaw, "R26", kOwned);
  expect_one(kArrive + kProduct + wait(1) + kRead + wait(0) + kExit, Hazard::Kind::kRaw, "R26", kOwned);
  // The younger of the two.
  expect_one(kArrive + kProduct + kOther + wait(1) + "--:-:-:-:5 | MOV R32, RZ\n" + wait(0) + kExit, Hazard::Kind::kWaw,
             "R32", kOwned);
}

TEST(Ownership, ProductWithoutGroupBelongsToTheNext) {
  expect_proven(kArrive + kOpenProduct + kOther + wait(0) + kRead + kExit);
  expect_one(kArrive + kOpenProduct + wait(0) + kRead + kExit, Hazard::Kind::kRaw, "R26", kOwned);
  // R24's group is that of the second product: one group after it, not two.
  expect_proven(kArrive + kOpenProduct + kOther + kOther + wait(1) + kRead + wait(0) + kExit);
  expect_one(kArrive + kOpenProduct + kOther + kOther + wait(2) + kRead + wait(0) + kExit, Hazard::Kind::kRaw, "R26",
             kOwned);
}

TEST(Ownership, OnlyTheSameSumsMayFollow) {
  expect_proven(kArrive + kOpenProduct + kProduct + kProduct + wait(0) + kRead + kExit);
  expect_one(kArrive + kProduct + "--:-:-:-:3 | HGMMA.64x16x16.F32.BF16 R24, gdesc[UR4], R24, gsb0\n" + wait(0) + kExit,
             Hazard::Kind::kRaw, "R24", "HGMMA at 0x0020 (hand.sass:3): reads R24");
  expect_one(
      kArrive + kProduct + "--:-:-:-:3 | HGMMA.64x16x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0\n" + wait(0) + kExit,
      Hazard::Kind::kWaw, "R24", "overwrites R24");
  // Sums of one as factor of the next.
  expect_one(
      kArrive + kProduct + "--:-:-:-:3 | HGMMA.64x8x16.F32.BF16 R32, R24, gdesc[UR8], R32, gsb0\n" + wait(0) + kExit,
      Hazard::Kind::kRaw, "R24", kOwned);
  // A factor as sums of the next.
  expect_one(kArrive + kFromRegisters + "--:-:-:-:3 | HGMMA.64x8x16.F32.BF16 R4, gdesc[UR4], RZ, !UPT, gsb0\n" +
                 wait(0) + kExit,
             Hazard::Kind::kWar, "R4", kOwned);
}

TEST(Ownership, OtherFamilies) {
  for (const char* product :
       {"IGMMA.64x8x32.S8.S8 R24, gdesc[UR4], R24, gsb0", "QGMMA.64x8x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24, gsb0",
        "BGMMA.64x8x256.AND.POPC R24, gdesc[UR4], R24, gsb0"}) {
    const std::string line = std::string("--:-:-:-:3 | ") + product + "\n";
    expect_proven(kArrive + line + wait(0) + kRead + kExit);
    expect_one(kArrive + line + kRead + wait(0) + kExit, Hazard::Kind::kRaw, "R26", kOwned);
  }
}

// One arm of a branch forgets the wait.
TEST(Ownership, JoinsTakeTheWorst) {
  const auto text = [](const std::string& other_arm) {
    return kArrive + kProduct + "--:-:-:-:5 | @P0 BRA other\n" + wait(0) + "--:-:-:-:5 | BRA meet\n other:\n" +
           other_arm + " meet:\n" + kRead + kExit;
  };
  expect_proven(text(wait(0)));
  expect_one(text("--:-:-:-:1 | NOP\n"), Hazard::Kind::kRaw, "R26", kOwned);
  expect_one(text(wait(1)), Hazard::Kind::kRaw, "R26", kOwned);
  // A group that only one arm issues does not count after the join.
  const std::string maybe = kArrive + kProduct + "--:-:-:-:5 | @P0 BRA meet\n" + kOther + " meet:\n";
  expect_one(maybe + wait(1) + kRead + wait(0) + kExit, Hazard::Kind::kRaw, "R26", kOwned);
  expect_proven(maybe + wait(0) + kRead + kExit);
}

// Two groups in flight: each turn awaits the other's.
TEST(Ownership, Loops) {
  const auto text = [](int left, const std::string& end) {
    return kArrive + kProduct + " again:\n" + kArrive + kOther + wait(left) + kRead + kArrive + kProduct + wait(1) +
           "--:-:-:-:5 | FADD R1, R32, 1\n" + "--:-:-:-:5 | @P0 BRA again\n" + end + kWrite + kExit;
  };
  expect_proven(text(1, wait(0)));
  // In the first turn and in the later ones.
  const auto found = judged(text(2, wait(0)));
  ASSERT_EQ(found.size(), 2u) << sentences(found);
  for (const Hazard& h : found) EXPECT_TRUE(h.reg == "R26" && h.consumer == 5u) << h.text;
  expect_one(text(1, ""), Hazard::Kind::kWaw, "R25", kOwned);
}

TEST(Ownership, ArrivalStandsBehindTheLastAccess) {
  expect_proven("--:-:-:-:5 | MOV R25, RZ\n" + kArrive + kProduct + wait(0) + kExit);
  expect_one(
      kArrive + "--:-:-:-:5 | MOV R25, RZ\n" + kProduct + wait(0) + kExit, Hazard::Kind::kRaw, "R25",
      "HGMMA at 0x0020 (hand.sass:3): takes R25, which MOV at 0x0010 (hand.sass:2) writes" + std::string(kUnarrived));
  expect_one(kArrive + "--:-:-:-:5 | MOV R7, RZ\n" + kFromRegisters + wait(0) + kExit, Hazard::Kind::kRaw, "R7",
             kUnarrived);
  // A slower warp of the warpgroup may still read what the product overwrites.
  expect_one(kArrive + kProduct + wait(0) + kRead + kProduct + wait(0) + kExit, Hazard::Kind::kWar, "R26",
             "takes R26, which FADD at 0x0030 (hand.sass:4) reads" + std::string(kUnarrived));
  expect_proven(kArrive + kProduct + wait(0) + kRead + kArrive + kProduct + wait(0) + kExit);
  // A factor that is only read needs none.
  expect_proven(kArrive + kFromRegisters + wait(0) + "--:-:-:-:5 | FADD R0, R7, 1\n" + kFromRegisters + wait(0) +
                kExit);
}

TEST(Ownership, ArrivalOnEveryPath) {
  const std::string write = "--:-:-:-:5 | MOV R25, RZ\n";
  const std::string branch = "--:-:-:-:5 | @P0 BRA meet\n";
  expect_one(kArrive + branch + write + " meet:\n" + kProduct + wait(0) + kExit, Hazard::Kind::kRaw, "R25", kUnarrived);
  expect_proven(kArrive + branch + write + kArrive + " meet:\n" + kProduct + wait(0) + kExit);
  // None at all, whatever was written.
  expect_one(branch + kArrive + " meet:\n" + kProduct + wait(0) + kExit, Hazard::Kind::kControl, "",
             "no WARPGROUP.ARRIVE comes before it on some path");
  expect_one(kProduct + wait(0) + kExit, Hazard::Kind::kControl, "",
             "no WARPGROUP.ARRIVE comes before it on some path");
}

}  // namespace
}  // namespace nervanagpu::sass
