// Tensors that take several launches give the bits of one launch: with limits so small that they show here.
#include <gtest/gtest.h>

#include <random>

#include "kernels/nn/map.h"
#include "kernels/nn/nn.h"
#include "nervanagpu/nn.hpp"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/operands.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

using test::Order;

class PartsTest : public test::OnEmulator {
 protected:
  std::mt19937 random_{1};
};

const Rounding kRoundings[] = {{}, {true, 9, 0xffffffff, 0}};

TEST_F(PartsTest, Conversions) {
  for (const Order order : {Order::row_major, Order::permuted, Order::backwards}) {
    for (const Shape& shape : {Shape{1003}, Shape{4, 20, 24}, Shape{3, 17, 19}}) {
      for (const Rounding& rounding : kRoundings) {
        const std::vector<int> axes = shape.size() == 1 ? std::vector<int>{0} : std::vector<int>{0, 2, 1};
        const test::Buffer from = test::make_buffer(random_, shape, Dtype::float32, order, axes);
        Tensor whole = Tensor::zeros(shape, Dtype::float16);
        convert(from.view, whole, rounding);
        const std::vector<std::uint32_t> expected = test::read_bits(whole);
        for (const std::int64_t most : {1, 4, 50, 100, 300, 480, 2000}) {
          if (most < 4 && shape.size() == 1) continue;
          Tensor parts = Tensor::full(shape, 7, Dtype::float16);
          nn::convert_strided(device_, {from.view.address(), Dtype::float32, from.view.strides()},
                              {parts.address(), Dtype::float16, parts.strides()}, shape, rounding, 0, "convert", most);
          ASSERT_EQ(test::read_bits(parts), expected) << "in parts of " << most;
        }
      }
    }
  }
}

TEST_F(PartsTest, Maps) {
  struct Case {
    const char* op;
    std::int64_t divisor;
    std::int64_t second;  // elements of b
  };
  const std::int64_t rows = 12;
  for (const std::int64_t cols : {36, 35}) {
    for (const Case& c : {Case{"add", 1, rows * cols}, Case{"tanh", 1, 1}, Case{"dropout", 1, 1},
                          Case{"bias_last", cols, cols}, Case{"bias_first", cols, rows}}) {
      for (const Rounding& rounding : kRoundings) {
        const test::Operand a = test::make_normal(random_, {rows, cols}, Dtype::float16);
        const test::Operand b = test::make_normal(random_, {c.second}, Dtype::float16);
        nn::Map m;
        m.op = c.op;
        m.dtype = m.b_dtype = Dtype::float16;
        m.a = a.t.address();
        m.b = b.t.address();
        m.elements = rows * cols;
        m.divisor = c.divisor;
        m.keep = 0x80000000;
        m.mask_counter = 0xfffffffe;
        m.rounding = rounding;
        Tensor whole = Tensor::zeros({rows, cols}, Dtype::float16);
        m.y = whole.address();
        nn::run(device_, m, 0);
        const std::vector<std::uint32_t> expected = test::read_bits(whole);
        for (const std::int64_t most : {4, 16, 36, 100, 200}) {
          Tensor parts = Tensor::full({rows, cols}, 7, Dtype::float16);
          m.y = parts.address();
          m.most = most;
          nn::run(device_, m, 0);
          ASSERT_EQ(test::read_bits(parts), expected) << c.op << ", " << cols << " columns, in parts of " << most;
        }
      }
    }
  }
}

// Strides beyond what a kernel takes as a number: one launch an index. The memory is never that large; the axis has
// only the elements that are there.
TEST_F(PartsTest, FarAxes) {
  const Tensor x = test::from_bits({1, 2, 3, 4, 5, 6}, {2, 3}, Dtype::int32);
  const std::int64_t far = std::int64_t{1} << 40;
  // An axis of length 1 may have any stride.
  Tensor out = Tensor::zeros({2, 1, 3}, Dtype::float32);
  nn::convert_strided(device_, {x.address(), Dtype::int32, {3, far, 1}}, {out.address(), Dtype::float32, {3, -far, 1}},
                      {2, 1, 3}, {}, 0);
  EXPECT_EQ(out.to_host<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace nervanagpu
