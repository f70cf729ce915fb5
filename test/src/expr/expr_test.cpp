// Expressions from C++: what runs when, dtypes and shapes, aliases, and errors. Values of every operation are compared with
// NumPy's in test/python/expressions/test_expressions.py.
#include <gtest/gtest.h>

#include <limits>

#include "nervanagpu/nervanagpu.hpp"
#include "src/expr/promote.h"
#include "src/fuse/immediate.h"
#include "src/fuse/kernels/elementwise.h"
#include "src/numbers/philox.h"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class ExprTest : public test::OnEmulator {
 protected:
  ExprTest() : OnEmulator(true) { verify_generated(true); }
  ~ExprTest() override { verify_generated(false); }

  static Tensor counted(const Shape& shape) {
    std::int64_t n = 1;
    for (const std::int64_t l : shape) n *= l;
    std::vector<float> data(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    return Tensor::from_host<float>(data, shape);
  }
};

using Floats = std::vector<float>;

TEST_F(ExprTest, OneKernelWhenItsElementsAreWanted) {
  const Tensor x = counted({5000});
  const std::uint64_t before = launch_count();
  const Expr z = (Expr(x) + 3) * 2.0 - x;
  EXPECT_EQ(launch_count(), before);
  EXPECT_FALSE(z.evaluated());
  const Floats got = z.evaluate().to_host<float>();
  EXPECT_EQ(z.evaluate().address(), z.evaluate().address());
  EXPECT_EQ(launch_count(), before + 1);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<float>(i) + 6) << i;
}

TEST_F(ExprTest, SeveralResultsShareAKernel) {
  const Tensor x = counted({100});
  const Expr a = Expr(x) + 1;
  const Expr b = a * 2;
  const Expr c = apply(ExprOp::less, {Expr(x), Expr(50)});
  const Expr all[] = {a, b, c};
  const std::uint64_t before = launch_count();
  evaluate(all);
  EXPECT_EQ(launch_count(), before + 1);
  EXPECT_EQ(a.evaluate().to_host<float>()[99], 100);
  EXPECT_EQ(b.evaluate().to_host<float>()[99], 200);
  EXPECT_EQ(c.dtype(), Dtype::boolean);
}

TEST_F(ExprTest, OverwrittenOperands) {
  const Tensor x = counted({100});
  const Expr y = Expr(x) + 1;
  const Expr z = y * 2;
  assign(x, Expr(0));
  EXPECT_TRUE(y.evaluated() && z.evaluated());
  EXPECT_EQ(z.evaluate().to_host<float>()[9], 20);
  // What was assigned is the expression's value until somebody overwrites it.
  const Expr w = Expr(x) + 5;
  assign(x, w);
  EXPECT_FALSE(w.evaluated());
  before_write(x);
  EXPECT_TRUE(w.evaluated());
  EXPECT_NE(w.evaluate().address(), x.address());
  EXPECT_EQ(w.evaluate().to_host<float>(), Floats(100, 5));
  // Trees that nobody holds any more are not computed.
  const std::uint64_t launches = launch_count();
  { const Expr gone = Expr(x) * 3; }
  before_write(x);
  EXPECT_EQ(launch_count(), launches);
}

TEST_F(ExprTest, ElementsAsTheyAreNow) {
  const Tensor x = counted({4});
  const auto value = [](const Expr& e) {
    float out = -1;
    e.get(&out, sizeof out);
    return out;
  };
  const Expr one = Expr::now(x.element(1));
  const Expr sum = one + Expr::now(x.slice(0, 2, 3));
  EXPECT_EQ(value(one), 1);
  EXPECT_FALSE(one.evaluated());  // it was read where it stands
  assign(x.element(3), one);      // and stands there as well
  assign(x.element(1), Expr(9));
  EXPECT_EQ(value(one), 1);
  assign(x, Expr(7));
  EXPECT_TRUE(one.evaluated());
  EXPECT_EQ(value(one), 1);
  EXPECT_EQ(sum.evaluate().to_host<float>(), std::vector<float>{3});
  assign_later(x, Expr(x) + 1.0F);
  EXPECT_EQ(value(Expr::now(x.element(2))), 8);
  const Expr before = Expr::now(x.element(0));
  assign_later(x, Expr(x) * 2.0F);
  EXPECT_EQ(value(before), 8);
  float too_many[2];
  EXPECT_THROW(before.get(too_many, sizeof too_many), InvalidArgument);
}

TEST_F(ExprTest, OverlappingViews) {
  const Tensor x = counted({10});
  assign(x.slice(0, 1, 10), Expr(x.slice(0, 0, 9)) + x.slice(0, 1, 10));
  EXPECT_EQ(x.to_host<float>(), (Floats{0, 1, 3, 5, 7, 9, 11, 13, 15, 17}));
  assign(x, Expr(x.slice(0, 9, -11, -1)));
  EXPECT_EQ(x.to_host<float>(), (Floats{17, 15, 13, 11, 9, 7, 5, 3, 1, 0}));
}

TEST_F(ExprTest, BeyondAVectorAndATile) {
  for (const std::int64_t n : {1, 3, 4, 1023, 1024, 4096, 4097, 8191, 70001}) {
    const Tensor x = counted({n + 1}).slice(0, 1, n + 1);  // not aligned to a vector
    const Floats got = (Expr(x) * 2).evaluate().to_host<float>();
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 2 * (static_cast<float>(i) + 1)) << n << " " << i;
  }
}

TEST_F(ExprTest, RowsInOneKernel) {
  const Tensor x = counted({6, 700});
  const Expr mean = reduce(Reduction::mean, x, {1}, true);
  const Expr off = Expr(x) - mean;
  const std::uint64_t before = launch_count();
  const Floats got = off.evaluate().to_host<float>();
  EXPECT_EQ(launch_count(), before + 1);
  EXPECT_EQ(got[0], -349.5F);
  EXPECT_EQ(got[6 * 700 - 1], 349.5F);
  EXPECT_NE(explain(reduce(Reduction::sum, x, {0})).find("fused_columns"), std::string::npos);
}

TEST_F(ExprTest, MultiplyAddRoundsOnce) {
  const Tensor x = Tensor::full({77}, 1 + 0x1p-23);
  const Tensor half = Tensor::full({77}, 3, Dtype::float16);
  EXPECT_EQ(fma(x, x, -1).evaluate().to_host<float>(), Floats(77, 0x1p-22F + 0x1p-46F));
  EXPECT_EQ(fma(half, 2, x).dtype(), Dtype::float32);
  EXPECT_EQ(fma(half, 2, x).evaluate().to_host<float>()[76], 7);
  expect_error<InvalidArgument>([&] { fma(x, x, counted({3})); },
                                "fma: shapes do not broadcast: float32 (77,), float32 (77,), float32 (3,)");
}

TEST_F(ExprTest, Indices) {
  for (const std::int64_t n : {1, 2, 3, 8, 33, 128, 2053, 70001}) {
    const std::vector<std::int32_t> got = indices(n).evaluate().to_host<std::int32_t>();
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<std::int32_t>(i)) << n;
    // In rows, along and across, held and not.
    const std::int64_t middle = n / 2;
    const Tensor place = Tensor::full({3, 1}, static_cast<double>(middle), Dtype::int32);
    const Expr there = apply(ExprOp::equal, {place, indices(n)});
    const Tensor x = counted({3, n});
    const std::uint64_t before = launch_count();
    const Floats picked =
        reduce(Reduction::sum, apply(ExprOp::where, {there, x, Expr(0)}), {1}).evaluate().to_host<float>();
    if (n < 70001) {
      EXPECT_EQ(launch_count(), before + 1);
    }
    for (std::size_t r = 0; r < 3; ++r)
      ASSERT_EQ(picked[r], static_cast<float>(static_cast<std::int64_t>(r) * n + middle)) << n;
    const Floats down = reduce(Reduction::sum, cast(there, Dtype::float32), {0}).evaluate().to_host<float>();
    for (std::size_t i = 0; i < down.size(); ++i)
      ASSERT_EQ(down[i], static_cast<std::int64_t>(i) == n / 2 ? 3 : 0) << n;
  }
  expect_error<InvalidArgument>([&] { indices(0); }, "indices: count is 0; needs 1 to 2^31 - 1");
}

TEST_F(ExprTest, WordsArePhilox) {
  const std::vector<std::uint32_t> got = random_words({37}, 5, 9).evaluate().to_host<std::uint32_t>();
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], philox(5, 9 + i / 4)[i % 4]) << i;
  for (const std::uint64_t offset : {(1ULL << 60) - 3, (1ULL << 61) + 7, ~0ULL - 4}) {
    const std::vector<std::uint32_t> far = random_words({1037}, 5, offset).evaluate().to_host<std::uint32_t>();
    for (std::size_t i = 0; i < far.size(); ++i)
      ASSERT_EQ(far[i], philox(5, offset + i / 4)[i % 4]) << offset << " " << i;
  }
}

// Each seed has its own numbers, though both count alike.
TEST_F(ExprTest, NumbersOfTwoSeeds) {
  const Floats a = random({37}, 5, 9).evaluate().to_host<float>();
  const Floats b = random({37}, 6, 9).evaluate().to_host<float>();
  const Floats got = (random({37}, 5, 9) - random({37}, 6, 9)).evaluate().to_host<float>();
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], a[i] - b[i]) << i;
}

TEST_F(ExprTest, SeveralResultsAtOnce) {
  using fuse::run_now;
  using fuse::Write;
  const Tensor x = counted({1000});
  const Tensor y = Tensor::zeros({1000});
  std::uint64_t before = launch_count();
  // Each reads what stood there before.
  const Write swap[] = {{x, Expr(y) + 1}, {y, Expr(x) * 2}};
  run_now(swap, Stream::create());
  EXPECT_EQ(launch_count(), before + 1);
  EXPECT_EQ(x.to_host<float>(), Floats(1000, 1));
  EXPECT_EQ(y.to_host<float>()[999], 1998);

  // A result along the rows and two of the rows, in place.
  for (const std::int64_t n : {7, 300, 5000}) {
    const Tensor m = counted({6, n}), sums = Tensor::zeros({6, 1}), most = Tensor::zeros({6, 1});
    const Expr sum = reduce(Reduction::sum, m, {1}, true);
    before = launch_count();
    const Write rows[] = {{sums, sum}, {m, Expr(m) - sum}, {most, reduce(Reduction::max, m, {1}, true)}};
    run_now(rows, {});
    EXPECT_EQ(launch_count(), before + 1) << n;
    const double first = static_cast<double>(n - 1) * static_cast<double>(n) / 2;
    EXPECT_EQ(sums.to_host<float>()[0], static_cast<float>(first));
    EXPECT_EQ(m.to_host<float>()[1], static_cast<float>(1 - first));
    EXPECT_EQ(most.to_host<float>()[5], static_cast<float>(6 * n - 1));
  }

  // Rows so long that they are cut: several kernels, the same results.
  const std::int64_t n = (std::int64_t{1} << 19) + 321;
  const Tensor one = Tensor::ones({1, n}), sum = Tensor::zeros({1, 1});
  const Expr total = reduce(Reduction::sum, one, {1}, true);
  const Write cut[] = {{sum, total}, {one, Expr(one) + total}};
  run_now(cut, {});
  EXPECT_EQ(sum.to_host<float>()[0], static_cast<float>(n));
  EXPECT_EQ(one.to_host<float>()[static_cast<std::size_t>(n) - 1], static_cast<float>(n + 1));
  const Write nothing[] = {{Tensor::zeros({0}), Expr(1)}};
  run_now(nothing, {});
}

// What an expression of the same form launched before is repeated with the numbers and addresses of this one alone.
TEST_F(ExprTest, RepeatedFormsTakeTheirOwnNumbers) {
  for (const int v : {0, 5, 0, 7}) {  // at first the same number as the only index
    EXPECT_EQ((indices(1) + cast(Expr(v), Dtype::int32)).evaluate().to_host<std::int32_t>()[0], v);
  }
  const Tensor x = Tensor::full({4, 6}, 3), column = Tensor::full({6}, 1);
  for (const auto& [a, b] : {std::pair(2.0, 2.0), {2.0, 5.0}, {5.0, 2.0}, {1.0, 1.0}}) {
    const Tensor y = ((Expr(x) + column) * a + b).evaluate();
    EXPECT_EQ(y.to_host<float>()[7], static_cast<float>(4 * a + b));
  }
}

TEST_F(ExprTest, RepeatedPartsOfNeighbours) {
  const std::int64_t before = fuse::exchange_most_elements(64);
  std::vector<float> host(2 * 240);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  const Tensor memory = Tensor::from_host(std::span<const float>(host), {480});
  const Tensor row = Tensor::full({12, 1}, 1);
  for (const std::int64_t distance : {64, 240, 64, 128, 0}) {  // y begins where a part of x does
    const Tensor x = memory.slice(0, 0, 240).reshape({12, 20});
    const Tensor y = memory.slice(0, distance, distance + 240).reshape({12, 20});
    const std::vector<float> got = (Expr(x) * 2 + y + row).evaluate().to_host<float>();
    for (std::int64_t i = 0; i < 240; ++i) {
      EXPECT_EQ(got[static_cast<std::size_t>(i)], static_cast<float>(2 * i + i + distance + 1)) << distance;
    }
  }
  fuse::exchange_most_elements(before);
}

// A product goes over an operand only where nobody can tell.
TEST_F(ExprTest, ProductsGoOverWhatIsNobodyElses) {
  const Tensor a = Tensor::full({8, 4}, 2), b = Tensor::full({4, 16}, 3), c = Tensor::full({8, 16}, 1);
  const auto address = [&](Tensor over, const Tensor* other, bool stream) {
    if (stream) over.used_on(Stream::create());
    const std::uint64_t at = over.address();
    const Expr sum = Expr(over) + product(a, b);
    const Tensor view = other != nullptr ? over.select(0, 0) : Tensor();
    over = Tensor();
    const Tensor out = sum.evaluate();
    EXPECT_EQ(out.to_host<float>(), Floats(128, 25));
    if (other != nullptr) {
      EXPECT_EQ(view.to_host<float>(), Floats(16, 1));
    }
    return out.address() == at;
  };
  EXPECT_TRUE(address(c.copy(), nullptr, false));
  EXPECT_FALSE(address(c.copy(), &c, false));      // a view is left
  EXPECT_FALSE(address(c.copy(), nullptr, true));  // work of another stream may still read it
  EXPECT_FALSE(address(c, nullptr, false));
  EXPECT_EQ(c.to_host<float>(), Floats(128, 1));
}

TEST_F(ExprTest, Errors) {
  const Tensor x = counted({2, 3});
  expect_error<InvalidArgument>([&] { Expr(x) + counted({2}); },
                                "add: shapes do not broadcast: float32 (2, 3), float32 (2,)");
  expect_error<TypeError>(
      [&] {
        apply(ExprOp::bitwise_and, {Expr(x), Expr(1)});
      },
      "bitwise_and: operands are float32 (2, 3), a number; needs integers or bool");
  expect_error<InvalidArgument>([&] { apply(ExprOp::where, {Expr(x), Expr(x)}); }, "where: 2 operands; needs 3");
  expect_error<InvalidArgument>([&] { assign(x, Expr(counted({4}))); },
                                "value has shape (4,); needs one that broadcasts to (2, 3)");
  expect_error<InvalidArgument>([&] { reduce(Reduction::sum, x, {2}); },
                                "sum: axis 2 is out of range; the operand is float32 (2, 3)");
}

TEST(Promotion, FollowsNumPy) {
  using expr::promote;
  EXPECT_EQ(promote(Dtype::int64, Dtype::uint64), Dtype::float64);
  EXPECT_EQ(promote(Dtype::uint32, Dtype::int8), Dtype::int64);
  EXPECT_EQ(promote(Dtype::float16, Dtype::int8), Dtype::float16);
  EXPECT_EQ(promote(Dtype::float16, Dtype::int16), Dtype::float32);
  EXPECT_EQ(promote(Dtype::float32, Dtype::int32), Dtype::float64);
  EXPECT_EQ(promote(Dtype::boolean, Dtype::uint8), Dtype::uint8);
  EXPECT_EQ(expr::beside(Dtype::int8, expr::Kind::real), Dtype::float64);
  EXPECT_EQ(expr::beside(Dtype::float16, expr::Kind::integer), Dtype::float16);
  EXPECT_TRUE(expr::same_kind(Dtype::float64, Dtype::float16));
  EXPECT_FALSE(expr::same_kind(Dtype::int8, Dtype::uint8));
  EXPECT_FALSE(expr::same_kind(Dtype::float16, Dtype::int64));
}

TEST(Promotion, NumbersMustFit) {
  EXPECT_EQ(expr::bits_of(std::int64_t{-1}, Dtype::int16), 0xffffU);
  EXPECT_EQ(expr::bits_of(std::int64_t{255}, Dtype::uint8), 255U);
  expect_error<OutOfRange>([] { static_cast<void>(expr::bits_of(128, Dtype::int8)); },
                           "number 128 does not fit into dtype int8, which holds -128 to 127");
  expect_error<OutOfRange>([] { static_cast<void>(expr::bits_of(-1, Dtype::uint64)); },
                           "number -1 does not fit into dtype uint64, which holds 0 to 18446744073709551615");
}

TEST(Expr, NumbersOf64BitsAreExact) {
  constexpr std::uint64_t kLarge = (std::uint64_t{1} << 63) + 5;
  const Tensor u = Tensor::full({2}, kLarge, Dtype::uint64);
  EXPECT_EQ(u.to_host<std::uint64_t>(), (std::vector<std::uint64_t>{kLarge, kLarge}));
  EXPECT_EQ((Expr(u) - (kLarge - 1)).evaluate().to_host<std::uint64_t>(), (std::vector<std::uint64_t>{1, 1}));
  EXPECT_EQ((Expr(u) + 3U).evaluate().to_host<std::uint64_t>()[0], kLarge + 3);
  const Tensor below = apply(ExprOp::greater, {u, -1}).evaluate();
  EXPECT_EQ(below.dtype(), Dtype::boolean);
  EXPECT_EQ(cast(Expr(below), Dtype::int32).evaluate().to_host<std::int32_t>(), (std::vector<std::int32_t>{1, 1}));
  EXPECT_THROW(Expr(u) + -1, OutOfRange);
  const Tensor s = Tensor::full({1}, -(std::int64_t{1} << 53) - 1, Dtype::int64);
  EXPECT_EQ(s.to_host<std::int64_t>()[0], -(std::int64_t{1} << 53) - 1);
  EXPECT_THROW(Expr(s) + kLarge, OutOfRange);
}

// Results whose values are those of an operand have memory of their own.
TEST(Expr, ResultsAreNobodyElses) {
  const std::vector<std::int32_t> numbers{1, 2, 3};
  const Tensor a = Tensor::from_host<std::int32_t>(numbers, {3});
  const Expr all[] = {cast(a, Dtype::int32), apply(ExprOp::floor, {a}), apply(ExprOp::positive, {a}),
                      reduce_each(Reduction::max, a), round(a, Dtype::int32, {})};
  for (const Expr& e : all) {
    const Tensor t = e.evaluate();
    EXPECT_NE(t.address(), a.address());
    assign(t, 7);
    EXPECT_EQ(a.to_host<std::int32_t>(), numbers);
  }
  const Expr before = apply(ExprOp::trunc, {a});
  assign(a, 9);
  EXPECT_EQ(before.evaluate().to_host<std::int32_t>(), numbers);
}

// The same tensor twice, a part of it between.
TEST(Expr, WritesThatWaitKeepTheirOrder) {
  const Tensor x = Tensor::zeros({6});
  const Tensor one = Tensor::ones({6});
  const Tensor part = x.slice(0, 2, 4);
  assign_later(x, Expr(one) * 2.0);
  assign_later(part, Expr(one.slice(0, 0, 2)) * 3.0);
  assign_later(x, Expr(x) + 1.0);
  EXPECT_EQ(x.to_host<float>(), (std::vector<float>{3, 3, 4, 4, 3, 3}));
  assign_later(x, Expr(one) * 5.0);
  assign_later(part, Expr(one.slice(0, 0, 2)) * 7.0);
  assign_later(x, Expr(one) * 9.0);
  EXPECT_EQ(x.to_host<float>(), std::vector<float>(6, 9));
}

// An expression that was computed is a tensor: every way into a tree sees the write that waits there.
TEST(Expr, WritesToValuesAreOperandsThatWait) {
  const std::vector<float> numbers{0, 1, 2, 3};
  const Tensor a = Tensor::from_host<float>(numbers, {4});
  const Expr e = Expr(a) + 1.0F;
  const Tensor t = e.evaluate();
  assign_later(t, e * 3.0F);
  const std::vector<float> want{3, 6, 9, 12};
  EXPECT_EQ((e + 0.0F).evaluate().to_host<float>(), want);
  assign_later(t, e + 1.0F);
  EXPECT_EQ(fma(e, Expr(1.0F), Expr(-1.0F)).evaluate().to_host<float>(), want);
  assign_later(t, e + 1.0F);
  EXPECT_EQ(cast(e, Dtype::int32).evaluate().to_host<std::int32_t>(), (std::vector<std::int32_t>{5, 8, 11, 14}));
  assign_later(t, e + 1.0F);
  EXPECT_EQ(reduce(Reduction::sum, e).evaluate().to_host<float>(), std::vector<float>{42});
  assign_later(t, e + 1.0F);
  EXPECT_EQ(round(e, Dtype::int32, {true, 1}).evaluate().to_host<std::int32_t>(),
            (std::vector<std::int32_t>{7, 10, 13, 16}));
  const Tensor other = Tensor::zeros({4});
  assign(other, Expr(a) * 2.0F);
  const Expr borrowed = Expr(a) * 5.0F;
  assign(other, borrowed);  // and stands there until `other` changes
  assign_later(other, Expr(other) + 100.0F);
  EXPECT_EQ((borrowed + 0.0F).evaluate().to_host<float>(), (std::vector<float>{0, 5, 10, 15}));
}

}  // namespace
}  // namespace nervanagpu
