// Which waits by parity are clear: two warps and one mbarrier, with and without an edge between them.
#include "sass/emulate/checked/phase_waits.h"

#include <gtest/gtest.h>

namespace nervanagpu::sass::emulate {
namespace {

class PhaseWaitsTest : public ::testing::Test {
 protected:
  PhaseWaitsTest() { order_.begin(0, 1, 2); }

  Strand& arriver() { return order_.strand(0, 0, 0); }
  Strand& waiter() { return order_.strand(0, 1, 0); }
  // One arrival ends a phase; how many waits that is unclear for.
  std::size_t end_phase(bool told = false) {
    waits_.arrives(arriver(), told);
    order_.release(arriver(), over_);
    return waits_.ends(over_).size();
  }
  bool ask(Strand& s) { return waits_.asks(s, {}); }
  void tell(Strand& from, Strand& to) {  // as a barrier does
    Known k;
    order_.release(from, k);
    to.known.join(k);
  }

  Order order_;
  PhaseWaits waits_;
  Known over_;
};

TEST_F(PhaseWaitsTest, OnePhaseMayBeUnknown) {
  EXPECT_TRUE(ask(waiter()));
  EXPECT_EQ(end_phase(), 0U);
  EXPECT_TRUE(ask(waiter()));
  waiter().known.join(over_);  // the answer was yes
  tell(waiter(), arriver());
  EXPECT_EQ(end_phase(), 0U);
  EXPECT_TRUE(ask(waiter()));
}

TEST_F(PhaseWaitsTest, TwoMustNotHaveEnded) {
  EXPECT_EQ(end_phase(), 0U);
  EXPECT_EQ(end_phase(), 0U);
  EXPECT_FALSE(ask(waiter()));
  EXPECT_TRUE(ask(arriver()));  // which ended them
  tell(arriver(), waiter());
  EXPECT_TRUE(ask(waiter()));
}

TEST_F(PhaseWaitsTest, OneKnownOfManyIsEnough) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(end_phase(), 0U);
  tell(arriver(), waiter());
  EXPECT_EQ(end_phase(), 0U);
  EXPECT_TRUE(ask(waiter()));
  EXPECT_EQ(end_phase(), 1U);  // and may have done so before that question
  EXPECT_FALSE(ask(waiter()));
}

TEST_F(PhaseWaitsTest, TheNextButOneComesBehindTheQuestion) {
  EXPECT_TRUE(ask(waiter()));
  EXPECT_EQ(end_phase(), 0U);
  EXPECT_EQ(end_phase(), 1U);  // nothing made it wait
  EXPECT_EQ(end_phase(), 0U);  // it is told once
}

TEST_F(PhaseWaitsTest, AnEarlierQuestionStillCounts) {
  EXPECT_TRUE(ask(waiter()));
  EXPECT_EQ(end_phase(), 0U);
  waiter().known.join(over_);
  EXPECT_TRUE(ask(waiter()));  // of the next phase: the first question is not forgotten
  EXPECT_EQ(end_phase(), 1U);
}

TEST_F(PhaseWaitsTest, AResultTellsWhichPhaseItIs) {
  EXPECT_EQ(end_phase(), 0U);
  EXPECT_EQ(end_phase(), 0U);
  waits_.arrives(waiter(), true);
  EXPECT_TRUE(ask(waiter()));
}

TEST_F(PhaseWaitsTest, ACopyIsKnownToWhoSawThePhaseEnd) {
  const std::uint16_t copies = order_.new_copies(0, 0x400);
  for (std::uint32_t n = 1; n <= 2; ++n) {
    waits_.copies(copies, n);
    EXPECT_EQ(end_phase(), 0U);
  }
  EXPECT_FALSE(ask(arriver()));  // it knows of its arrivals, not of the bytes
  Times& seen = arriver().known.at[0];
  seen.resize(copies + std::size_t{1});
  seen[copies] = 1;
  EXPECT_TRUE(ask(arriver()));
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
