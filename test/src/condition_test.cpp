#include "src/condition.h"

#include <gtest/gtest.h>

namespace nervanagpu {
namespace {

sass::Manifest manifest() {
  sass::Manifest m;
  m.name = "test";
  m.variant = {{"VA", "4"}, {"TA", "n"}};
  m.params = {{"a", sass::ParamType::u64, 0}, {"m", sass::ParamType::u32, 8}, {"lda", sass::ParamType::u32, 12}};
  return m;
}

bool holds(const char* text, std::int64_t a, std::int64_t m, std::int64_t lda) {
  const Condition c(text, manifest());
  EXPECT_EQ(c.error(), "") << text;
  const std::int64_t values[] = {a, m, lda};
  return c.holds(values);
}

TEST(Condition, ComparesParameters) {
  EXPECT_TRUE(holds("m < 2^31", 0, 2147483647, 0));
  EXPECT_FALSE(holds("m < 2^31", 0, std::int64_t{1} << 31, 0));
  EXPECT_TRUE(holds("lda >= m", 0, 5, 5));
  EXPECT_FALSE(holds("lda >= m", 0, 6, 5));
  EXPECT_TRUE(holds("m != 3", 0, 4, 0));
}

TEST(Condition, BindsAsInC) {
  EXPECT_TRUE(holds("m + 2 * 3 == 7", 0, 1, 0));
  EXPECT_TRUE(holds("(m + 2) * 3 == 9", 0, 1, 0));
  EXPECT_TRUE(holds("10 - m - 3 == 5", 0, 2, 0));
  EXPECT_TRUE(holds("1 || 0 && 0", 0, 0, 0));
  EXPECT_TRUE(holds("2 * 3^2 == 18", 0, 0, 0));
  EXPECT_TRUE(holds("!(m == 1) && -m < 0", 0, 2, 0));
}

TEST(Condition, KnowsTheVariantAndAlignment) {
  EXPECT_TRUE(holds("VA == 1 || aligned(a, 16) && lda % 4 == 0", 32, 0, 8));
  EXPECT_FALSE(holds("VA == 1 || aligned(a, 16) && lda % 4 == 0", 36, 0, 8));
  EXPECT_FALSE(holds("VA == 1 || aligned(a, 16) && lda % 4 == 0", 32, 0, 6));
  EXPECT_TRUE(holds("TA == n", 0, 0, 0));
  EXPECT_FALSE(holds("TA == t", 0, 0, 0));
  EXPECT_TRUE(holds("aligned(a, 256)", static_cast<std::int64_t>(0xffff'ffff'ffff'ff00), 0, 0));
}

TEST(Condition, IsNeverFulfilledWhenItCannotBeComputed) {
  EXPECT_FALSE(holds("m / lda == 0 || 1", 0, 1, 0));
  EXPECT_FALSE(holds("m % 0 == 0", 0, 1, 0));
  EXPECT_FALSE(holds("aligned(a, 0)", 0, 1, 0));
}

TEST(Condition, SaysWhatItCannotCompile) {
  const auto error = [](const char* text) { return Condition(text, manifest()).error(); };
  EXPECT_EQ(error(""), "``: a value is missing at column 1");
  EXPECT_EQ(error("m <"), "`m <`: a value is missing at column 4");
  EXPECT_EQ(error("(m < 3"), "`(m < 3`: a `)` is missing");
  EXPECT_EQ(error("m < 3 ;"), "`m < 3 ;`: unexpected `;`");
  EXPECT_EQ(error("odd(m)"), "`odd(m)`: there is no function `odd`");
  EXPECT_EQ(error("aligned(a)"), "`aligned(a)`: aligned needs a value and a number");
  EXPECT_NE(error(std::string(5000, '(').c_str()), "");
  EXPECT_NE(error(std::string(5000, '-').c_str()), "");
  EXPECT_FALSE(Condition("m <", manifest()).holds({}));
}

}  // namespace
}  // namespace nervanagpu
