// What choosers read of their templates' lines, by the compiler.
#include "kernels/variants.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace nervanagpu {
namespace {

struct Row {
  int columns = 0, stages = 0;
  bool operator==(const Row&) const = default;
};
constexpr std::string_view kLines[] = {
    ".variants PASS={f,b} BN={64,128} STAGES=7", ".let MORE = 3", ".let MOST = 2 * BN",
    ".variants PASS=f BN=64 STAGES=7 RAW=12",  // the same again
    ".variants PASS=u BN=96 STAGES=5",
};

TEST(VariantsTest, RowsAreThoseOfTheLines) {
  constexpr auto kRows = variants::table<Row, kLines>([](std::string_view line, auto add) {
    variants::each(line, "BN", [&](std::string_view columns) {
      add(Row{variants::number(columns), variants::number(line, "STAGES")});
    });
  });
  EXPECT_EQ(kRows, (std::array{Row{64, 7}, Row{128, 7}, Row{96, 5}}));
}

TEST(VariantsTest, ANameIsAWholeWord) {
  constexpr std::string_view kLine = ".variants XT=f16 T=s8 STAGES=7";
  static_assert(variants::text(kLine, "T") == "s8");
  static_assert(variants::text(kLine, "AGES").empty());
  static_assert(variants::text(kLine, "STAGES") == "7");
  static_assert(variants::has(kLine, "T", "s8") && !variants::has(kLine, "T", "s"));
  static_assert(variants::has(kLines[0], "PASS", "b") && !variants::has(kLines[0], "PASS", "u"));
}

TEST(VariantsTest, LinesThatAgree) {
  static_assert(variants::number_beside(kLines, ".variants BN=64 STAGES=7", {"BN", "STAGES"}, "RAW") == 12);
  static_assert(variants::number_beside(kLines, ".variants BN=96 STAGES=5", {"BN"}, "RAW") == 0);
}

TEST(VariantsTest, WhatIsDefined) {
  static_assert(variants::number(variants::let(kLines, "MORE")) == 3);
  static_assert(variants::let(kLines, "MOST") == "2 * BN");
}

TEST(VariantsTest, WhatIsNoNumberIsRefused) {
  EXPECT_ANY_THROW(variants::number(""));
  EXPECT_ANY_THROW(variants::number("7x"));
  EXPECT_ANY_THROW((void)variants::let(kLines, "MO"));
}

}  // namespace
}  // namespace nervanagpu
