// Streams: instructions set aside and dealt out among others.
#include <gtest/gtest.h>

#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

using testing::lines_of;

TEST(Stream, DealsInOrderBetweenOthers) {
  const std::string s = ".stream s\n.for i in 0..5\nA R{i}, R0\n.end\n.end\n";
  EXPECT_EQ(lines_of(s + "B R9, R9\n.deal s 2\nB R9, R9\n.deal s 9\n"),
            "B R9, R9\nA R0, R0\nA R1, R0\nB R9, R9\nA R2, R0\nA R3, R0\nA R4, R0\n");
  EXPECT_EQ(lines_of(s + ".deal s\n"), "A R0, R0\nA R1, R0\nA R2, R0\nA R3, R0\nA R4, R0\n");
}

TEST(Stream, SharesEvenlyOverTurns) {
  EXPECT_EQ(
      lines_of(
          ".stream s\n.for i in 0..5\nA R{i}, R0\n.end\n.end\n.for t in 0..3\nB R9, R9\n.deal s over 3 - t\n.end\n"),
      "B R9, R9\nA R0, R0\nA R1, R0\nB R9, R9\nA R2, R0\nA R3, R0\nB R9, R9\nA R4, R0\n");
}

TEST(Stream, TakesNamesFromItsOwnPlaceAndMayBeDefinedAgain) {
  EXPECT_EQ(lines_of(".reg x\n.let k = 1\n.stream s\nA x, {k}\n.end\n.if 1\n.let k = 2\n.deal s\n.end\n"), "A R0, 1\n");
  EXPECT_EQ(lines_of(".stream s\nA R0, R0\n.end\n.deal s\n.stream s\nB R0, R0\n.end\n.deal s\n"),
            "A R0, R0\nB R0, R0\n");
}

TEST(Stream, Mistakes) {
  EXPECT_NE(lines_of(".stream s\nA R0, R0\n.end\nB R0, R0\n").find("1 instructions that were never dealt"),
            std::string::npos);
  EXPECT_NE(lines_of(".deal s\n").find("there is no stream `s`"), std::string::npos);
  EXPECT_NE(lines_of(".stream s\nx:\n.end\n").find("a label inside .stream"), std::string::npos);
  EXPECT_NE(lines_of(".stream s\nA R0, R0\n.end\n.deal s over 0\n").find("the number of turns must be 1"),
            std::string::npos);
  EXPECT_NE(lines_of(".stream s\nA R0, R0\n.stream t\n.end\n.end\n").find("inside another"), std::string::npos);
  EXPECT_NE(lines_of(".stream s\nA R0, R0\n.end\n.stream s\n.end\n").find("were not dealt"), std::string::npos);
}

}  // namespace
}  // namespace nervanagpu::sass
