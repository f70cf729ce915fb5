// sgd_update() beside its definition, bit for bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "nervanagpu/expr.hpp"
#include "nervanagpu/graph.hpp"
#include "nervanagpu/nn.hpp"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/kernels/nn/operands.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

using test::make_normal;
using test::make_operand;
using test::mismatch;
using test::Operand;

constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float16};

class SgdTest : public test::OnEachDevice {};

NG_ON_EACH_DEVICE(SgdTest);

TEST_P(SgdTest, EveryTypeByItsDefinition) {
  for (const std::int64_t n : {1, 3, 4, 33, 515, 2051}) {
    if (checked() && n == 2051) continue;
    for (const Dtype w_type : kFloats) {
      for (const Dtype g_type : kFloats) {
        for (const Dtype v_type : kFloats) {
          for (const bool with_master : {false, true}) {
            for (const float momentum : {0.9F, 0.0F}) {
              for (const std::int64_t shift : {0, 1}) {
                SgdOptions o;
                o.lr = 0.05F;
                o.momentum = momentum;
                o.weight_decay = 0.003F;
                if (n % 2 != 0 && shift == 0) o.rounding = {true, 5, 77, 0};
                Operand w = make_normal(random_, {n}, w_type, shift);
                Operand master = make_normal(random_, {n}, Dtype::float32, shift);
                // Without momentum the velocity is not read: it may be anything.
                Operand v = momentum != 0.0F ? make_normal(random_, {n}, v_type, shift)
                                             : make_operand(random_, {n}, v_type, shift);
                const Operand g = make_normal(random_, {n}, g_type, shift);
                sgd_update(w.t, with_master ? &master.t : nullptr, v.t, g.t, o);
                const auto weight = [&](std::size_t i) { return with_master ? master.value(i) : w.value(i); };
                const auto velocity = [&](std::size_t i) {
                  const float gradient = std::fma(o.weight_decay, weight(i), g.value(i));
                  return momentum != 0.0F ? std::fma(momentum, v.value(i), gradient) : gradient;
                };
                const auto next = [&](std::size_t i) { return std::fma(-o.lr, velocity(i), weight(i)); };
                ASSERT_EQ(mismatch(v, {}, velocity), "") << n;
                ASSERT_EQ(mismatch(w, o.rounding, next), "") << n;
                ASSERT_EQ(mismatch(master, {}, [&](std::size_t i) { return with_master ? next(i) : master.value(i); }),
                          "");
              }
            }
          }
        }
      }
    }
  }
}

TEST_P(SgdTest, IsOneKernel) {
  for (const bool with_master : {false, true}) {
    Operand w = make_normal(random_, {515}, Dtype::float16);
    Operand master = make_normal(random_, {515}, Dtype::float32);
    Operand v = make_normal(random_, {515}, Dtype::float32);
    const Operand g = make_normal(random_, {515}, Dtype::float16);
    SgdOptions o;
    o.momentum = 0.9F;
    o.rounding = {true, 5, 77, 0};
    const std::uint64_t before = launch_count();
    sgd_update(w.t, with_master ? &master.t : nullptr, v.t, g.t, o);
    EXPECT_EQ(launch_count(), before + 1);
  }
}

// A rate in memory is read when the work is done, by a graph at each replay, and gives the bits of lr.
TEST_P(SgdTest, RateInMemory) {
  Tensor rate = Tensor::full({1}, 99.0);
  const Operand w = make_normal(random_, {515}, Dtype::float16), m = make_normal(random_, {515}, Dtype::float32);
  const Operand v = make_normal(random_, {515}, Dtype::float32), g = make_normal(random_, {515}, Dtype::float16);
  Tensor w1 = w.t.copy(), m1 = m.t.copy(), v1 = v.t.copy(), w2 = w.t.copy(), m2 = m.t.copy(), v2 = v.t.copy();
  SgdOptions o;
  o.momentum = 0.9F;
  o.rate = &rate;
  const Graph graph = Graph::capture([&] { sgd_update(w1, &m1, v1, g.t, o); });
  o.rate = nullptr;
  for (const float lr : {0.5F, 0.0078F, 0.0F}) {
    rate.fill(lr);
    graph.launch();
    o.lr = lr;
    sgd_update(w2, &m2, v2, g.t, o);
    EXPECT_EQ(test::read_bits(w1), test::read_bits(w2)) << lr;
    EXPECT_EQ(test::read_bits(m1), test::read_bits(m2)) << lr;
    EXPECT_EQ(test::read_bits(v1), test::read_bits(v2)) << lr;
  }
}

TEST_P(SgdTest, DescendsAParabola) {
  // f(w) = w^2 / 2: the gradient is w.
  Tensor w = Tensor::full({10}, 1.0);
  Tensor v = Tensor::zeros({10});
  SgdOptions o;
  o.lr = 0.1F;
  o.momentum = 0.5F;
  for (int i = 0; i < 100; ++i) sgd_update(w, nullptr, v, w.copy(), o);
  for (const float x : w.to_host<float>()) EXPECT_TRUE(std::fabs(x) <= 1e-4F) << x;
}

TEST_P(SgdTest, Refusals) {
  Tensor w = Tensor::full({4}, 7);
  Tensor v = Tensor::full({4}, 8);
  const Tensor g = Tensor::zeros({4});
  Tensor half = Tensor::zeros({4}, Dtype::float16);
  Tensor five = Tensor::zeros({5});
  expect_error<InvalidArgument>([&] { sgd_update(w, nullptr, five, g, {}); },
                                "sgd_update: velocity has shape (5,); needs (4,), that of w");
  expect_error<InvalidArgument>([&] { sgd_update(w, nullptr, v, five, {}); },
                                "sgd_update: grad has shape (5,); needs (4,), that of w");
  SgdOptions o;
  o.rate = &five;
  expect_error<InvalidArgument>([&] { sgd_update(w, nullptr, v, g, o); },
                                "sgd_update: rate has shape (5,); needs (1,), one element");
  expect_error<TypeError>([&] { sgd_update(w, &half, v, g, {}); },
                          "sgd_update: master has dtype float16; needs float32");
  expect_error<InvalidArgument>([&] { sgd_update(w, &w, v, g, {}); },
                                "sgd_update: master shares memory with w; needs memory of its own");
  expect_error<InvalidArgument>([&] { sgd_update(w, nullptr, w, g, {}); },
                                "sgd_update: velocity shares memory with w; needs memory of its own");
  EXPECT_EQ(w.to_host<float>(), std::vector<float>(4, 7.0F));
  EXPECT_EQ(v.to_host<float>(), std::vector<float>(4, 8.0F));
}

}  // namespace
}  // namespace nervanagpu
