// Complex expressions from C++: what runs when, dtypes, views, aliases, and errors. Values of every operation are compared
// with NumPy's in test/python/arrays/test_complex.py.
#include <gtest/gtest.h>

#include <complex>

#include "nervanagpu/nervanagpu.hpp"
#include "src/expr/promote.h"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

using C = std::complex<float>;
using Numbers = std::vector<C>;

class ComplexTest : public test::OnEmulator {
 protected:
  ComplexTest() : OnEmulator(true) {}

  static Numbers numbers(std::size_t n) {
    Numbers out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = {static_cast<float>(i), 3 - static_cast<float>(i % 7)};
    return out;
  }
  static Tensor tensor(const Shape& shape) {
    std::size_t n = 1;
    for (const std::int64_t l : shape) n *= static_cast<std::size_t>(l);
    return Tensor::from_host<C>(numbers(n), shape);
  }
};

TEST_F(ComplexTest, PartsAreViewsAndShareAKernel) {
  const Tensor x = tensor({3, 5});
  EXPECT_EQ(x.nbytes(), 120U);
  EXPECT_EQ(x.imag().address(), x.address() + 4);
  EXPECT_EQ(x.imag().strides(), (Shape{10, 2}));
  EXPECT_EQ(x.real().dtype(), Dtype::float32);
  const std::uint64_t before = launch_count();
  const Expr y = Expr(x) * conjugate(x) + Expr(Scalar(std::complex<double>(0, 2)));
  EXPECT_EQ(launch_count(), before);
  EXPECT_EQ(y.dtype(), Dtype::complex64);
  const Numbers got = y.evaluate().to_host<C>(), all = numbers(15);
  EXPECT_EQ(launch_count(), before + 1);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(got[i], all[i] * std::conj(all[i]) + C(0, 2)) << i;
  // What was computed of it before is what is in its memory now.
  EXPECT_EQ(imag(y).evaluate().address(), y.evaluate().address() + 4);
}

TEST_F(ComplexTest, OverwrittenOperandsAndResults) {
  const Tensor x = tensor({4, 4});
  const Numbers all = numbers(16);
  const Expr twice = Expr(x) * 2;
  assign(x, Expr(x) + Expr(x.transpose()));  // each element needs another one
  EXPECT_EQ(twice.evaluate().to_host<C>()[5], 2.0F * all[5]);
  EXPECT_EQ(x.to_host<C>()[1], all[1] + all[4]);
  EXPECT_EQ(x.to_host<C>()[4], all[1] + all[4]);
  const Expr square = Expr(x) * Expr(x);
  const std::uint64_t before = launch_count();
  assign(x, square);  // in place
  EXPECT_EQ(launch_count(), before + 1);
  const C was = all[1] + all[4];
  EXPECT_EQ(x.to_host<C>()[1], was * was);
  assign(x.imag(), Expr(0));
  EXPECT_EQ(square.evaluate().to_host<C>()[1], was * was);
  EXPECT_EQ(x.to_host<C>()[1], C((was * was).real(), 0));
}

TEST_F(ComplexTest, APartOfOneElementStaysAsItIsBroadcast) {
  const Tensor a = Tensor::ones({3, 1}), b = Tensor::zeros({4});
  const Expr z = complex_from(Expr(a), Expr(b) + 2);
  EXPECT_EQ(z.shape(), (Shape{3, 4}));
  EXPECT_EQ(real(z).shape(), (Shape{3, 4}));
  EXPECT_EQ(imag(cast(Expr(a), Dtype::complex128)).shape(), (Shape{3, 1}));
  for (const C& c : z.evaluate().to_host<C>()) EXPECT_EQ(c, C(1, 2));
}

TEST_F(ComplexTest, Promotes) {
  using expr::promote;
  EXPECT_EQ(promote(Dtype::complex64, Dtype::float64), Dtype::complex128);
  EXPECT_EQ(promote(Dtype::int32, Dtype::complex64), Dtype::complex128);
  EXPECT_EQ(promote(Dtype::complex64, Dtype::bfloat16), Dtype::complex64);
  EXPECT_EQ(promote(Dtype::boolean, Dtype::complex64), Dtype::complex64);
  EXPECT_FALSE(expr::same_kind(Dtype::complex64, Dtype::float64));
  const Expr i(Scalar(std::complex<double>(0, 1)));
  EXPECT_EQ((Expr(Tensor::ones({2}, Dtype::float16)) * i).dtype(), Dtype::complex64);
  EXPECT_EQ((Expr(Tensor::ones({2}, Dtype::int8)) * i).dtype(), Dtype::complex128);
  EXPECT_EQ(i.evaluate().dtype(), Dtype::complex128);
}

TEST_F(ComplexTest, Order) {
  using C = std::complex<float>;
  const float nan = std::nanf("");
  const std::vector<C> a{{1, 2}, {1, 1}, {0, 5}, {nan, 0}, {1, nan}, {2, 0}},
      b{{1, 1}, {1, 1}, {1, 0}, {1, 0}, {2, 0}, {nan, 0}};
  const Expr x(Tensor::from_host<C>(a, {6})), y(Tensor::from_host<C>(b, {6}));
  const auto truths = [&](ExprOp op) {
    const Tensor t = as_dtype(apply(op, {x, y}), Dtype::uint8).evaluate();
    return t.to_host<std::uint8_t>();
  };
  EXPECT_EQ(truths(ExprOp::less), (std::vector<std::uint8_t>{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(truths(ExprOp::less_equal), (std::vector<std::uint8_t>{0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(truths(ExprOp::greater), (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(truths(ExprOp::greater_equal), (std::vector<std::uint8_t>{1, 1, 0, 0, 0, 0}));
  const auto largest = apply(ExprOp::maximum, {x, y}).evaluate().to_host<C>();
  EXPECT_EQ(largest[0], a[0]);
  EXPECT_EQ(largest[2], b[2]);
  EXPECT_TRUE(std::isnan(largest[3].real()) && std::isnan(largest[4].imag()) && std::isnan(largest[5].real()));
}

TEST_F(ComplexTest, Refusals) {
  const Tensor x = tensor({3}), r = Tensor::zeros({3});
  expect_error<TypeError>(
      [&] {
        apply(ExprOp::remainder, {Expr(x), Expr(1)});
      },
      "remainder: operands are complex64 (3,), a number; needs real numbers");
  expect_error<TypeError>(
      [&] {
        apply(ExprOp::hypot, {Expr(x), Expr(x)});
      },
      "hypot: operands are complex64 (3,), complex64 (3,); needs real numbers");
  expect_error<TypeError>([&] { reduce(Reduction::max, Expr(x)); },
                          "max: the operand is complex64 (3,); needs real numbers");
  expect_error<TypeError>([&] { fma(Expr(x), Expr(1), Expr(1)); },
                          "fma: operands are complex64 (3,), a number, a number; needs real numbers");
  expect_error<TypeError>([&] { complex_from(Expr(x), Expr(r)); },
                          "complex_from: parts are complex64 and float32; needs real numbers");
  expect_error<TypeError>([&] { assign(r, Expr(x)); },
                          "value has dtype complex64; needs one that converts to float32 (numpy.can_cast, same_kind)");
  expect_error<TypeError>([&] { Tensor(r).fill(Scalar(std::complex<double>(1, 0))); },
                          "number is complex; dtype is float32, needs complex64 or complex128");
  expect_error<TypeError>([&] { static_cast<void>(r.imag()); },
                          "tensor (3,): imag of float32; needs complex64 or complex128");
  EXPECT_EQ(r.to_host<float>(), (std::vector<float>(3, 0)));
}

}  // namespace
}  // namespace nervanagpu
