// The language of .needs: what it compares, how it binds, what it does not know.
#include "sass/asm/template/condition.h"

#include <gtest/gtest.h>

#include <cstring>

namespace nervanagpu::sass {
namespace {

Manifest manifest() {
  Manifest m;
  m.name = "test";
  m.variant = {{"VA", "4"}, {"TA", "n"}};
  m.params = {{"a", ParamType::u64, 0}, {"m", ParamType::u32, 8},      {"lda", ParamType::s32, 12},
              {"t", ParamType::u8, 16}, {"alpha", ParamType::f32, 20}, {"map", ParamType::map, 48}};
  return m;
}

struct Call {
  std::uint64_t a = 0;
  std::uint32_t m = 0;
  std::int32_t lda = 0;
  std::uint8_t t = 0;
};

bool holds(const char* text, Call call, LaunchSize size = {}) {
  const auto c = Condition::compile(text, manifest());
  if (!c.ok()) {
    ADD_FAILURE() << text << ": " << c.error().message;
    return false;
  }
  std::array<std::byte, 20> block{};
  std::memcpy(block.data(), &call.a, 8);
  std::memcpy(block.data() + 8, &call.m, 4);
  std::memcpy(block.data() + 12, &call.lda, 4);
  std::memcpy(block.data() + 16, &call.t, 1);
  const bool out = c->holds(block, size);
  const std::int64_t values[] = {static_cast<std::int64_t>(call.a), call.m, call.lda, call.t, 0, 0};
  const bool asks_grid = std::string_view(text).find("grid") != std::string_view::npos;
  EXPECT_EQ(c->may_hold(values), out || asks_grid) << text;
  return out;
}

TEST(Condition, ComparesParameters) {
  EXPECT_TRUE(holds("m < 2^31", {.m = 2147483647}));
  EXPECT_FALSE(holds("m < 2^31", {.m = 1U << 31}));
  EXPECT_TRUE(holds("lda >= m", {.m = 5, .lda = 5}));
  EXPECT_FALSE(holds("lda >= m", {.m = 6, .lda = 5}));
  EXPECT_TRUE(holds("m != 3", {.m = 4}));
  EXPECT_TRUE(holds("lda == -2 && t == 200", {.lda = -2, .t = 200}));
  EXPECT_TRUE(holds("3 < m", {.m = 4}));
  EXPECT_FALSE(holds("3 < m", {.m = 3}));
}

TEST(Condition, BindsAsInC) {
  EXPECT_TRUE(holds("m + 2 * 3 == 7", {.m = 1}));
  EXPECT_TRUE(holds("(m + 2) * 3 == 9", {.m = 1}));
  EXPECT_TRUE(holds("10 - m - 3 == 5", {.m = 2}));
  EXPECT_TRUE(holds("1 || 0 && 0", {}));
  EXPECT_TRUE(holds("m == 1 || m == 2 && t == 3", {.m = 1}));
  EXPECT_FALSE(holds("(m == 1 || m == 2) && t == 3", {.m = 1}));
  EXPECT_TRUE(holds("2 * 3^2 == m", {.m = 18}));
  EXPECT_TRUE(holds("!(m == 1) && -m < 0", {.m = 2}));
  EXPECT_TRUE(holds("m == 0x1f", {.m = 31}));
}

// Every way to fold, to fuse and to skip, against all values of two small parameters.
TEST(Condition, FoldingAndSkippingChangeNothing) {
  const auto all = [&](const char* text, auto&& expected) {
    for (std::uint32_t m = 0; m < 9; ++m) {
      for (std::int32_t l = -4; l < 9; ++l) {
        EXPECT_EQ(holds(text, {.m = m, .lda = l}), expected(m, l)) << text << ", " << m << ", " << l;
      }
    }
  };
  all("VA == 4 && m > 2", [](auto m, auto) { return m > 2; });
  all("m > 2 && VA == 4", [](auto m, auto) { return m > 2; });
  all("VA == 1 || m > 2 || lda < 1", [](auto m, auto l) { return m > 2 || l < 1; });
  all("m > 2 || lda < 1 || VA == 1", [](auto m, auto l) { return m > 2 || l < 1; });
  all("m > 2 || (lda < 1 || m == 1)", [](auto m, auto l) { return m > 2 || l < 1 || m == 1; });
  all("m > 2 && (lda < 1 && m != 4)", [](auto m, auto l) { return m > 2 && l < 1 && m != 4; });
  all("(m > 2 || lda < 1) && (m < 5 || lda > 3)", [](auto m, auto l) { return (m > 2 || l < 1) && (m < 5 || l > 3); });
  all("(m && lda) + 1 == 2", [](auto m, auto l) { return m != 0 && l != 0; });
  all("(m || 0) == 1", [](auto m, auto) { return m != 0; });
  all("(0 || m) + (1 && lda) == 2", [](auto m, auto l) { return m != 0 && l != 0; });
  all("m % 4 == 0 && aligned(lda, 2)", [](auto m, auto l) { return m % 4 == 0 && l % 2 == 0; });
  all("bits(m, 6) == 2 || bits(lda, 1)", [](auto m, auto l) { return (m & 6U) == 2 || (l & 1) != 0; });
  all("m % 1 == 0 && (aligned(lda, 1) && m == 3)", [](auto m, auto) { return m == 3; });
  all("lda % 4 == 0", [](auto, auto l) { return l % 4 == 0; });
  all("m % 3 == 0", [](auto m, auto) { return m % 3 == 0; });
  all("(m + 1) % 4 == 0", [](auto m, auto) { return (m + 1) % 4 == 0; });
  all("m == 0 || 8 % m == 0", [](auto m, auto) { return m == 0 || 8 % m == 0; });
  all("lda <= m && lda >= 1 - m",
      [](auto m, auto l) { return l <= static_cast<int>(m) && l >= 1 - static_cast<int>(m); });
}

TEST(Condition, KnowsTheVariantAndAlignment) {
  EXPECT_TRUE(holds("VA == 1 || aligned(a, 16) && lda % 4 == 0", {.a = 32, .lda = 8}));
  EXPECT_FALSE(holds("VA == 1 || aligned(a, 16) && lda % 4 == 0", {.a = 36, .lda = 8}));
  EXPECT_FALSE(holds("VA == 1 || aligned(a, 16) && lda % 4 == 0", {.a = 32, .lda = 6}));
  EXPECT_TRUE(holds("aligned(a, 256)", {.a = 0xffff'ffff'ffff'ff00}));
}

// Numbers without a sign from 2^63 on are what they are, alone and in what is computed from them.
TEST(Condition, TakesAll64BitsOfNumbersWithoutASign) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const std::uint64_t a : {kHalf - 1, kHalf, kHalf + 1, kMost - 1, kMost}) {
    EXPECT_TRUE(holds("a > 0", {.a = a})) << a;
    EXPECT_TRUE(holds("a >= lda && -1 < a && a != -1", {.a = a, .lda = -1})) << a;
    EXPECT_EQ(holds("a < 2^63", {.a = a}), a < kHalf) << a;
    EXPECT_EQ(holds("2^63 <= a", {.a = a}), a >= kHalf) << a;
    EXPECT_EQ(holds("a == 0xffffffffffffffff", {.a = a}), a == kMost) << a;
    EXPECT_EQ(holds("a <= 18446744073709551614", {.a = a}), a < kMost) << a;
    EXPECT_EQ(holds("a % 3 == 0", {.a = a}), a % 3 == 0) << a;
    EXPECT_EQ(holds("aligned(a, 3) || aligned(a, 5)", {.a = a}), a % 3 == 0 || a % 5 == 0) << a;
    EXPECT_EQ(holds("aligned(a, 2^63)", {.a = a}), a == kHalf) << a;
    EXPECT_EQ(holds("a / 2 == 2^62", {.a = a}), a / 2 == kHalf / 2) << a;
    EXPECT_EQ(holds("bits(a, 2^63 + 1) == 2^63", {.a = a}), (a & (kHalf + 1)) == kHalf) << a;
    EXPECT_EQ(holds("a + 1 > a", {.a = a}), a < kMost) << a << ": one more is no number";
    EXPECT_EQ(holds("-a < 0", {.a = a}), a <= kHalf) << a;
    EXPECT_TRUE(holds("a - 2^63 < 2^63", {.a = a})) << a;
    EXPECT_FALSE(holds("a * 2 > 0 && a * 2 < a", {.a = a})) << a;
  }
  EXPECT_TRUE(holds("m * m * 1 > 2^63", {.m = ~0U}));
  EXPECT_TRUE(holds("(lda - 2^63) % -1 == 0", {}));
  EXPECT_TRUE(holds("aligned(lda, 3)", {.lda = -6}));
  EXPECT_FALSE(holds("aligned(lda, 3)", {.lda = -5}));
}

TEST(Condition, AsksForTheGrid) {
  EXPECT_TRUE(holds("grid_x == m && grid_y * grid_z == 6 && cluster == 2", {.m = 4}, {4, 3, 2, 2}));
  EXPECT_FALSE(holds("grid_x == m", {.m = 4}, {5, 1, 1, 1}));
}

TEST(Condition, DoesNotHoldWhereItCannotBeComputed) {
  EXPECT_FALSE(holds("m / lda == 0", {.m = 1}));
  EXPECT_FALSE(holds("aligned(m, lda)", {.m = 1}));
  // With a wrap these would hold: 2^24 2^40 is 0 then.
  EXPECT_TRUE(holds("m * 2^40 < 2^62", {.m = 1U << 21}));
  EXPECT_FALSE(holds("m * 2^40 < 2^62", {.m = 1U << 24}));
  EXPECT_FALSE(holds("m * m * m < 2^31", {.m = 1U << 31}));
  EXPECT_FALSE(holds("m + 2^62 + 2^61 + 2^61 < 0", {.m = 1}));
  EXPECT_FALSE(holds("m + 0xffffffffffffffff - 2^63 - 2^63 == 0", {.m = 1}));
  EXPECT_FALSE(holds("m - 2^62 - 2^62 - 1 > 0", {}));
  EXPECT_FALSE(holds("m - 2^62 - 2^62 - 1 < 0", {}));
  EXPECT_FALSE(holds("m ^ 64 == 0", {.m = 2}));
  EXPECT_FALSE(holds("2 ^ lda == 0", {.lda = -1}));
  EXPECT_TRUE(holds("lda ^ 65 == -1 && m ^ 1000 == 1", {.m = 1, .lda = -1}));
  const auto c = Condition::compile("m > 0", manifest());
  ASSERT_TRUE(c.ok());
  EXPECT_FALSE(c->holds({}, {})) << "a block that lacks the parameter";
}

TEST(Condition, SaysWhatItFound) {
  const auto c = Condition::compile("a != 0 && m % 4 == 0 || grid_y == m", manifest());
  ASSERT_TRUE(c.ok());
  std::array<std::byte, 20> block{};
  block[8] = std::byte{3};
  EXPECT_EQ(c->found(manifest(), block, {1, 7, 1, 1}), "a is 0, m is 3, grid_y is 7");
  EXPECT_EQ(c->params(), (std::vector<std::size_t>{0, 1}));
}

TEST(Condition, SaysWhatItCannotCompile) {
  const auto error = [](const std::string& text) {
    const auto c = Condition::compile(text, manifest());
    return c.ok() ? std::string() : std::to_string(c.error().at.col) + ": " + c.error().message;
  };
  EXPECT_EQ(error(""), "1: expected a number, a name or `(`, found the end");
  EXPECT_EQ(error("m <"), "4: expected a number, a name or `(`, found the end");
  EXPECT_EQ(error("(m < 3"), "7: expected `)`");
  EXPECT_EQ(error("m < 3 ;"), "7: expected an operator, found `;`");
  EXPECT_EQ(error("odd(m)"), "1: there is no function `odd`; there are aligned(value, number) and bits(value, mask)");
  EXPECT_EQ(error("aligned(a)"), "10: aligned needs a value and a number");
  EXPECT_EQ(error("m > 0 && k < 2^31"), "10: there is no `k` that a condition could ask for");
  EXPECT_EQ(error("alpha == 0"), "1: `alpha` is f32; conditions are about integers");
  EXPECT_EQ(error("map != 0"), "1: `map` is map; conditions are about integers");
  EXPECT_EQ(error("TA == m"), "1: `TA` is the word `n`; conditions compare numbers");
  EXPECT_EQ(error("m == 99999999999999999999"), "6: `99999999999999999999` is no number of 64 bits");
  EXPECT_EQ(error("m % 0 == 0"), "3: this divides by zero");
  EXPECT_EQ(error("1 % 0 == m"), "3: this divides by zero");
  EXPECT_EQ(error("m < 2^63"), "");
  EXPECT_EQ(error("m < 2^64"), "6: the result is no integer from -2^63 to 2^64 - 1");
  EXPECT_EQ(error("m > 0xffffffffffffffff + 1"), "24: the result is no integer from -2^63 to 2^64 - 1");
  EXPECT_EQ(error("m > -2^63 - 1"), "11: the result is no integer from -2^63 to 2^64 - 1");
  EXPECT_EQ(error("2^-1 == m"), "2: the result is no integer from -2^63 to 2^64 - 1");
  EXPECT_EQ(error("VA == 1"), "1: this condition never holds: `VA == 1`");
  for (const char* c : {"(", "-", "!"}) EXPECT_NE(error(std::string(5000, c[0])), "");
  std::string chain = "m";
  for (int i = 0; i < 5000; ++i) chain += " + m * lda";
  EXPECT_NE(error(chain), "");
}

TEST(Condition, OfAVariantThatItDoesNotConcernIsLeftOut) {
  Manifest m = manifest();
  m.needs = {"VA == 4 || lda % 4 == 0", "m > 0", "1"};
  const auto compiled = compile_needs(m);
  ASSERT_TRUE(compiled.ok());
  ASSERT_EQ(compiled->size(), 1U);
  EXPECT_EQ(compiled->front().text(), "m > 0");
  m.needs = {"n > 0"};
  const auto bad = compile_needs(m);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message,
            "kernel test: .needs `n > 0`, column 1: there is no `n` that a condition could ask for");
}

}  // namespace
}  // namespace nervanagpu::sass
