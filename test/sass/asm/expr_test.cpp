// The expressions of templates: precedence, overflow, functions.
#include "sass/asm/template/expr.h"

#include <gtest/gtest.h>

#include <string>

namespace nervanagpu::sass {
namespace {

class TestNames : public Names {
 public:
  [[nodiscard]] std::optional<Value> value(std::string_view name) const override {
    if (name == "BM") return Value::of(128);
    if (name == "TA") return Value::text("n");
    if (name == "big") return Value::of(INT64_MAX);
    if (name == "low") return Value::of(INT64_MIN);
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Result<Value>> call(std::string_view function, std::string_view argument) const override {
    if (function != "length") return std::nullopt;
    return Result<Value>(Value::of(static_cast<std::int64_t>(argument.size())));
  }
};

// The value in decimal, a word as it is, or "COLUMN: MESSAGE".
std::string eval(std::string_view text) {
  const Result<Value> r = evaluate(text, TestNames());
  if (!r.ok()) return std::to_string(r.error().at.col) + ": " + r.error().message;
  return r->str();
}

TEST(Expr, Literals) {
  EXPECT_EQ(eval("42"), "42");
  EXPECT_EQ(eval(" 0x1F "), "31");
  EXPECT_EQ(eval("0b101"), "5");
  EXPECT_EQ(eval("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(eval("0x7fffffffffffffff"), "9223372036854775807");
  EXPECT_EQ(eval("9223372036854775808"), "1: `9223372036854775808` is not a 64-bit integer (12, 0x1f, 0b101)");
  EXPECT_EQ(eval("0xg"), "1: `0xg` is not a 64-bit integer (12, 0x1f, 0b101)");
  EXPECT_EQ(eval("12ab"), "1: `12ab` is not a 64-bit integer (12, 0x1f, 0b101)");
  EXPECT_EQ(eval(""), "1: expected a number, a name or `(`, found the end");
}

TEST(Expr, PrecedenceAndAssociation) {
  EXPECT_EQ(eval("2 + 3 * 4"), "14");
  EXPECT_EQ(eval("(2 + 3) * 4"), "20");
  EXPECT_EQ(eval("20 - 8 - 4"), "8");
  EXPECT_EQ(eval("64 / 4 / 2"), "8");
  EXPECT_EQ(eval("1 << 2 + 1"), "8");
  EXPECT_EQ(eval("1 << 3 << 1"), "16");
  EXPECT_EQ(eval("6 & 3 == 2"), "1") << "& binds tighter than ==, unlike in C";
  EXPECT_EQ(eval("1 | 6 ^ 3 & 2"), "5");
  EXPECT_EQ(eval("1 < 2 == 1"), "1");
  EXPECT_EQ(eval("1 || 0 && 0"), "1");
  EXPECT_EQ(eval("-2 * -3"), "6");
  EXPECT_EQ(eval("~0 & 255"), "255");
  EXPECT_EQ(eval("!0 + !5"), "1");
  EXPECT_EQ(eval("- - 5"), "5");
  EXPECT_EQ(eval("0 ? 1 : 0 ? 2 : 3"), "3");
  EXPECT_EQ(eval("1 ? 0 ? 4 : 5 : 6"), "5");
}

TEST(Expr, SignedDivisionTruncates) {
  EXPECT_EQ(eval("-7 / 2"), "-3");
  EXPECT_EQ(eval("-7 % 2"), "-1");
  EXPECT_EQ(eval("-8 >> 1"), "-4");
}

TEST(Expr, EveryOverflowIsAnError) {
  EXPECT_EQ(eval("big + 1"), "5: 9223372036854775807 + 1 does not fit in 64 bits");
  EXPECT_EQ(eval("low - 1"), "5: -9223372036854775808 - 1 does not fit in 64 bits");
  EXPECT_EQ(eval("big * 2"), "5: 9223372036854775807 * 2 does not fit in 64 bits");
  EXPECT_EQ(eval("low / -1"), "5: -9223372036854775808 / -1 does not fit in 64 bits");
  EXPECT_EQ(eval("low % -1"), "5: -9223372036854775808 % -1 does not fit in 64 bits");
  EXPECT_EQ(eval("-low"), "1: -(-9223372036854775808) does not fit in 64 bits");
  EXPECT_EQ(eval("abs(low)"), "1: the result of abs() does not fit in 64 bits");
  EXPECT_EQ(eval("1 << 63"), "3: 1 << 63 does not fit in 64 bits");
  EXPECT_EQ(eval("1 << 62"), "4611686018427387904");
  EXPECT_EQ(eval("1 << 64"), "6: shift by 64; 0 to 63 is allowed");
  EXPECT_EQ(eval("1 >> -1"), "6: shift by -1; 0 to 63 is allowed");
  EXPECT_EQ(eval("ceil_div(big, 1)"), "9223372036854775807");
  EXPECT_EQ(eval("align(big, 2)"), "1: the result of align() does not fit in 64 bits");
}

TEST(Expr, DivisionByZero) {
  EXPECT_EQ(eval("1 / 0"), "5: division by zero");
  EXPECT_EQ(eval("1 % (2 - 2)"), "5: division by zero");
  EXPECT_EQ(eval("ceil_div(1, 0)"), "1: ceil_div() needs a second argument above 0, found 0");
}

TEST(Expr, WhatIsNotNeededIsNotEvaluated) {
  EXPECT_EQ(eval("0 && 1 / 0"), "0");
  EXPECT_EQ(eval("1 || 1 / 0"), "1");
  EXPECT_EQ(eval("1 ? 2 : 1 / 0"), "2");
  EXPECT_EQ(eval("0 ? undefined * 2 : 3"), "3");
  EXPECT_EQ(eval("1 && 7"), "1");
  EXPECT_EQ(eval("0 && (1 || 1 / 0) || 1"), "1");
  EXPECT_EQ(eval("0 ? ( : 3"), "7: expected a number, a name or `(`, found `:`") << "but it is read";
}

TEST(Expr, Functions) {
  EXPECT_EQ(eval("min(3, 1, 2)"), "1");
  EXPECT_EQ(eval("max(3)"), "3");
  EXPECT_EQ(eval("abs(-5)"), "5");
  EXPECT_EQ(eval("log2(1)"), "0");
  EXPECT_EQ(eval("log2(BM)"), "7");
  EXPECT_EQ(eval("log2(12)"), "1: log2() needs a power of two, found 12");
  EXPECT_EQ(eval("log2(0)"), "1: log2() needs a power of two, found 0");
  EXPECT_EQ(eval("ceil_div(7, 2)"), "4");
  EXPECT_EQ(eval("ceil_div(-7, 2)"), "-3");
  EXPECT_EQ(eval("align(130, 64)"), "192");
  EXPECT_EQ(eval("align(128, 64)"), "128");
  EXPECT_EQ(eval("log2(1, 2)"), "1: log2() takes 1 argument, found 2");
  EXPECT_EQ(eval("align(1)"), "1: align() takes 2 arguments, found 1");
  EXPECT_EQ(eval("min(1"), "6: expected `,` or `)`, found the end");
  EXPECT_EQ(eval("length(a[(3)])"), "6") << "the caller's functions get text";
  EXPECT_EQ(
      eval("sqrt(4)"),
      "1: there is no function `sqrt`; there are min, max, abs, log2, ceil_div, align, bank, reg, count, defined, "
      "is_register, is_number");
}

TEST(Expr, Words) {
  EXPECT_EQ(eval("TA == n"), "1");
  EXPECT_EQ(eval("TA != t"), "1");
  EXPECT_EQ(eval("TA == t ? 3 : 4"), "4");
  EXPECT_EQ(eval("TA"), "n");
  EXPECT_EQ(eval("TA == n ? row : col"), "row");
  EXPECT_EQ(eval("TA < n"), "1: the word `n` stands where `<` needs a number");
  EXPECT_EQ(eval("TA == 1"), "4: cannot compare the word `n` with the number 1");
  EXPECT_EQ(eval("BN == 1"), "4: cannot compare the word `BN` (not defined) with the number 1");
  EXPECT_EQ(eval("x == y"), "3: neither `x` nor `y` is defined");
  EXPECT_EQ(eval("BN + 1"), "1: `BN` is not defined; `+` needs a number");
  EXPECT_EQ(eval("TA + 1"), "1: the word `n` stands where `+` needs a number");
}

TEST(Expr, Malformed) {
  EXPECT_EQ(eval("1 +"), "4: expected a number, a name or `(`, found the end");
  EXPECT_EQ(eval("(1"), "3: expected `)`, found the end");
  EXPECT_EQ(eval("1 2"), "3: expected an operator or the end, found `2`");
  EXPECT_EQ(eval("1 ? 2"), "6: expected `:` of `?:`, found the end");
  EXPECT_EQ(eval("@"), "1: expected a number, a name or `(`, found `@`");
  EXPECT_EQ(eval("length(1"), "7: this `(` is never closed");
}

TEST(Expr, NestingHasALimit) {
  const std::string deep(100000, '(');
  EXPECT_NE(eval(deep).find("nested deeper than 200 levels"), std::string::npos);
  EXPECT_NE(eval(std::string(100000, '-') + "1").find("nested deeper than 200 levels"), std::string::npos);
  std::string chain = "1";
  for (int i = 0; i < 20000; ++i) chain += "+1";
  EXPECT_EQ(eval(chain), "20001") << "length is no nesting";
}

TEST(Expr, PrefixStopsWhereTheExpressionEnds) {
  const Result<Evaluated> r = evaluate_prefix("2*3..8", TestNames());
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->value.number, 6);
  EXPECT_EQ(r->used, 3u);
}

}  // namespace
}  // namespace nervanagpu::sass
