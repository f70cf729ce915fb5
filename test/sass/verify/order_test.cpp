// Stores reach the asynchronous engines through a MEMBAR and a fence, and both must be awaited (docs/engines.md).
#include <gtest/gtest.h>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::kernel;
using test::sentences;

// With X, Y: the wait of the fence and of what publishes.
std::string code(const std::string& membar, const std::string& fence, const std::string& last) {
  return "--:-:-:-:8 | WARPGROUP.ARRIVE\n--:0:-:-:1 | STS.128 [R6], R8\n" + membar + " | MEMBAR.ALL.CTA\n" + fence +
         " | FENCE.VIEW.ASYNC.S\n" + last + "\n01:-:-:-:5 | EXIT\n";
}

struct Case {
  const char* name;
  const char* publishes;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class Order : public testing::TestWithParam<Case> {
 public:
  [[nodiscard]] static std::string last(const char* wait) {
    return std::string(wait) + ":-:-:-:6 | " + GetParam().publishes;
  }
};

TEST_P(Order, AwaitedIsProven) {
  const auto found = verify(Arch::sm_90a, kernel(code("--:4:-:-:6", "10:-:5:-:2", last("20"))));
  EXPECT_TRUE(found.empty()) << sentences(found);
}

TEST_P(Order, FenceThatNobodyAwaits) {
  const auto found = verify(Arch::sm_90a, kernel(code("--:4:-:-:6", "10:-:5:-:2", last("10"))));
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_TRUE(
      found[0].text.starts_with("FENCE at 0x0030 (hand.sass:4) shows earlier stores to the engines, done when "
                                "scoreboard 5 says so; "))
      << found[0].text;
  EXPECT_TRUE(found[0].text.ends_with("at 0x0040 (hand.sass:5) goes on with no wait for it on some path"));
  EXPECT_EQ(found[0].reg, "the view of the engines");
}

TEST_P(Order, FenceWithoutScoreboard) {
  const auto found = verify(Arch::sm_90a, kernel(code("--:4:-:-:6", "10:-:-:-:2", last("3f"))));
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_NE(found[0].text.find(", but no write scoreboard says when; "), std::string::npos) << found[0].text;
}

TEST_P(Order, MembarThatTheFenceDoesNotAwait) {
  const auto found = verify(Arch::sm_90a, kernel(code("--:4:-:-:6", "--:-:5:-:2", last("20"))));
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].text,
            "MEMBAR at 0x0020 (hand.sass:3) orders earlier stores, done when scoreboard 4 says so; FENCE at 0x0030 "
            "(hand.sass:4) goes on with no wait for it on some path");
}

TEST_P(Order, ScheduleSetsAndAwaitsBoth) {
  const Program p =
      test::scheduled(code("??:?:?:?:?", "??:?:?:?:?", std::string("??:?:?:?:? | ") + GetParam().publishes));
  const auto control = [&](std::size_t i) { return p.lines[i].inst.control; };
  ASSERT_LT(control(2).read_sb, 6) << test::listing(p);
  ASSERT_LT(control(3).write_sb, 6) << test::listing(p);
  EXPECT_TRUE(control(3).wait >> control(2).read_sb & 1) << test::listing(p);
  EXPECT_TRUE(control(4).wait >> control(3).write_sb & 1) << test::listing(p);
  const auto found = verify(Arch::sm_90a, test::encoded(p));
  EXPECT_TRUE(found.empty()) << sentences(found);
}

INSTANTIATE_TEST_SUITE_P(
    Publishers, Order,
    testing::Values(Case{"Bar", "BAR.SYNC.DEFER_BLOCKING 0x0"}, Case{"BarArrive", "BAR.ARV 0x1, 0x80"},
                    Case{"Product", "HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], RZ, !UPT, gsb0"},
                    Case{"Store", "UTMASTG.2D [UR8], [UR4]"}, Case{"Load", "UTMALDG.2D [UR8], [UR4]"},
                    Case{"Bulk", "UBLKCP.G.S [UR8], [UR4], UR6"},
                    Case{"Arrive", "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR9], RZ"}, Case{"Cluster", "UCGABAR_ARV"}),
    [](const auto& info) { return std::string(info.param.name); });

// As ptxas has it: a younger fence speaks for the older one, ordinary accesses need neither.
TEST(Order, FencesAreInOrder) {
  const auto found = verify(Arch::sm_90a, kernel(R"(
       --:4:-:-:6 | MEMBAR.ALL.CTA
       10:-:-:-:4 | FENCE.VIEW.ASYNC.S
       --:-:0:-:1 | LDS R5, [R0+0x8]
       --:4:-:-:6 | MEMBAR.ALL.CTA
       10:-:2:-:2 | FENCE.VIEW.ASYNC.S
       04:-:-:-:1 | SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ
       01:-:-:-:5 | EXIT)"));
  EXPECT_TRUE(found.empty()) << sentences(found);
}

// One arm forgets the wait.
TEST(Order, OnEveryPath) {
  const auto found = verify(Arch::sm_90a, kernel(R"(
       --:4:-:-:6 | MEMBAR.ALL.CTA
       10:-:5:-:5 | FENCE.VIEW.ASYNC.S
       --:-:-:-:5 | @P0 BRA skip
       20:-:-:-:1 | NOP
     skip:
       --:-:-:-:6 | BAR.SYNC 0x0
       --:-:-:-:5 | EXIT)"));
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].consumer, 4u);
}

// The wide ones hold the warp: they need no scoreboard.
TEST(Order, MembarOfTheDevice) {
  const auto found = verify(Arch::sm_90a, kernel(R"(
       --:-:-:-:6 | MEMBAR.ALL.GPU
       --:-:5:-:2 | FENCE.VIEW.ASYNC.S
       20:-:-:-:6 | BAR.SYNC 0x0
       --:-:-:-:5 | EXIT)"));
  EXPECT_TRUE(found.empty()) << sentences(found);
}

}  // namespace
}  // namespace nervanagpu::sass
