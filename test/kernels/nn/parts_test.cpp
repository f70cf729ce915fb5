// Tensors that take several launches give the bits of one launch: with limits so small that they show here.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "kernels/nn/nn.h"
#include "nervanagpu/nn.hpp"
#include "src/fuse/kernels/elementwise.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/operands.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

using test::Placement;

class PartsTest : public test::OnEmulator {
 protected:
  std::mt19937 random_{1};
};

const Rounding kRoundings[] = {{}, {true, 9, 0xffffffff, 0}};

TEST_F(PartsTest, Conversions) {
  for (const Placement order : {Placement::row_major, Placement::permuted, Placement::backwards}) {
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

class SmallLaunches {
 public:
  explicit SmallLaunches(std::int64_t most) : before_(fuse::exchange_most_elements(most)) {}
  ~SmallLaunches() { fuse::exchange_most_elements(before_); }
  SmallLaunches(const SmallLaunches&) = delete;
  SmallLaunches& operator=(const SmallLaunches&) = delete;

 private:
  std::int64_t before_;
};

TEST_F(PartsTest, Elementwise) {
  const std::int64_t rows = 12;
  for (const std::int64_t cols : {36, 35, 300}) {
    const Tensor a = test::make_normal(random_, {rows, cols}, Dtype::float16).t;
    const Tensor b = test::make_normal(random_, {rows, cols}, Dtype::float16).t;
    const Tensor along = test::make_normal(random_, {cols}, Dtype::float16).t;
    const Tensor across = test::make_normal(random_, {rows}, Dtype::float32).t;
    const Tensor labels = test::from_bits({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 34, 99}, {rows}, Dtype::int32);
    for (const Rounding& rounding : kRoundings) {
      const std::function<void(Tensor&)> all[] = {
          [&](Tensor& y) { add(a, b, y, 1.5F, 2.0F, rounding); },
          [&](Tensor& y) { activation_fprop(Activation::tanh, a, y, 0, rounding); },
          [&](Tensor& y) { bias_add(a, along, true, y, rounding); },
          [&](Tensor& y) { bias_add(a, across, false, y, rounding); },
          [&](Tensor& y) { softmax_bprop(a, labels, y, 0.3F, rounding); },
          [&](Tensor& y) { dropout(a, y, 0.5F, 7, 0xfffffffe, rounding); }};
      for (const auto& op : all) {
        Tensor whole = Tensor::zeros({rows, cols}, Dtype::float16);
        op(whole);
        const std::vector<std::uint32_t> expected = test::read_bits(whole);
        for (const std::int64_t most : {64, 100, 200}) {
          const SmallLaunches here(most);
          Tensor parts = Tensor::full({rows, cols}, 7, Dtype::float16);
          const std::uint64_t before = launch_count();
          op(parts);
          EXPECT_GE(launch_count(), before + static_cast<std::uint64_t>(rows * cols / most));
          ASSERT_EQ(test::read_bits(parts), expected)
              << "operation " << &op - all << ", " << cols << " columns, in parts of " << most;
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
