// Programmatic launches: what touches global memory comes after an ACQBULK, on every path.
#include <gtest/gtest.h>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::kernel;
using test::sentences;

const std::string kAcquire = "--:-:-:-:8 | ACQBULK\n";
const std::string kSometimes = "--:-:-:-:8 | @P0 ACQBULK\n";
const std::string kLoad = "--:-:0:-:2 | LDG.E R4, desc[UR4][R2.64]\n";
const std::string kUse = "01:-:-:-:5 | FADD R0, R4, 1\n";
const std::string kExit = "--:-:-:-:5 | EXIT\n";
const std::string kSkip = "--:-:-:-:5 | @P0 BRA 0x20\n";

std::vector<Hazard> judged(const std::string& text, bool programmatic = true) {
  KernelImage k = kernel(text);
  k.manifest.programmatic = programmatic;
  return verify(Arch::sm_90a, k);
}

void expect_refused(const std::string& text) {
  const auto found = judged(text);
  ASSERT_EQ(found.size(), 1u) << text << sentences(found);
  EXPECT_EQ(found[0].kind, Hazard::Kind::kControl);
  EXPECT_NE(found[0].text.find("no ACQBULK comes before it on some path"), std::string::npos) << found[0].text;
}

TEST(Early, MemoryIsTouchedBehindTheWait) {
  for (const std::string& right : {kAcquire + kLoad + kUse + kExit, kExit, kAcquire + kSkip + kLoad + kUse + kExit}) {
    const auto found = judged(right);
    EXPECT_TRUE(found.empty()) << right << sentences(found);
  }
  expect_refused(kLoad + kUse + kAcquire + kExit);
  expect_refused(kLoad + kUse + kExit);
  expect_refused(kSometimes + kLoad + kUse + kExit);
  expect_refused(kSkip + kAcquire + kLoad + kUse + kExit);  // around the wait
  EXPECT_TRUE(judged(kLoad + kUse + kExit, false).empty());
}

TEST(Early, ReductionsOnSurfacesCount) {
  const std::string surface = "--:0:-:-:2 | SURED.D.1D.MAX.S32.STRONG.GPU.TRAP [R2], R1, UR6, 0x0\n";
  expect_refused(surface + "01:-:-:-:5 | EXIT\n");
  EXPECT_TRUE(judged(kAcquire + surface + "01:-:-:-:5 | EXIT\n").empty());
}

TEST(Early, CopyEnginesCount) {
  const std::string copy = "--:0:-:-:2 | UTMALDG.2D [UR8], [UR4]\n";
  expect_refused(copy + kExit);
  EXPECT_TRUE(judged(kAcquire + copy + kExit).empty());
}

}  // namespace
}  // namespace nervanagpu::sass
