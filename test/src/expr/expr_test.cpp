// Expressions from C++: what runs when, dtypes and shapes, aliases, and errors. Values of every operation are compared with
// NumPy's in test/python/test_expressions.py.
#include <gtest/gtest.h>

#include <limits>

#include "nervanagpu/nervanagpu.hpp"
#include "src/expr/promote.h"
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

// Each seed has its own numbers, though both count alike.
TEST_F(ExprTest, NumbersOfTwoSeeds) {
  const Floats a = random({37}, 5, 9).evaluate().to_host<float>();
  const Floats b = random({37}, 6, 9).evaluate().to_host<float>();
  const Floats got = (random({37}, 5, 9) - random({37}, 6, 9)).evaluate().to_host<float>();
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], a[i] - b[i]) << i;
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
  expect_error<InvalidArgument>([] { static_cast<void>(expr::bits_of(std::int64_t{128}, Dtype::int8)); },
                                "number 128 does not fit into dtype int8");
  expect_error<InvalidArgument>([] { static_cast<void>(expr::bits_of(std::int64_t{-1}, Dtype::uint64)); },
                                "number -1 does not fit into dtype uint64");
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

}  // namespace
}  // namespace nervanagpu
