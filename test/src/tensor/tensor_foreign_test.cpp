// Tensors over memory of others: in place, given back once, and not written where it is read-only.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

struct ForeignTest : test::OnEmulator {
  std::vector<float> memory = {0, 1, 2, 3, 4, 5};
  int given_back = 0;
  Tensor adopt(bool read_only = false) {
    return Tensor::adopt_host(
        memory.data(), {2, 3}, {3, 1}, Dtype::float32, [this] { ++given_back; }, read_only);
  }
};

TEST_F(ForeignTest, IsWorkedInWhereItLies) {
  const Tensor t = adopt();
  EXPECT_EQ(t.host(), memory.data());
  assign(t, Expr(t) * 2);
  EXPECT_EQ(memory, (std::vector<float>{0, 2, 4, 6, 8, 10}));
  assign_later(t, Expr(t) + 1);  // its owner looks whenever he likes
  EXPECT_EQ(memory[5], 11);
  EXPECT_FALSE(t.alone());
  EXPECT_EQ(t.base().shape(), t.shape());
}

TEST_F(ForeignTest, IsGivenBackOnceWithItsLastHandle) {
  {
    Tensor view = adopt().slice(1, 0, 3, 2);
    EXPECT_EQ(given_back, 0);
    const Tensor other = view;
    view = Tensor();
    EXPECT_EQ(given_back, 0);
  }
  EXPECT_EQ(given_back, 1);
  EXPECT_EQ(device_.host_view(reinterpret_cast<std::uint64_t>(memory.data()), 4), nullptr);
}

TEST_F(ForeignTest, IsGivenBackWhenItIsRefused) {
  const auto count = [this] { ++given_back; };
  EXPECT_THROW(Tensor::adopt_host(memory.data(), {2, 3}, {3}, Dtype::float32, count), InvalidArgument);
  EXPECT_EQ(given_back, 1);
  auto* odd = reinterpret_cast<std::byte*>(memory.data()) + 1;
  EXPECT_THROW(Tensor::adopt_host(odd, {2}, {1}, Dtype::float32, count), InvalidArgument);
  EXPECT_EQ(given_back, 2);
  static_cast<void>(Tensor::adopt_host(nullptr, {0, 3}, {3, 1}, Dtype::float32, count));
  EXPECT_EQ(given_back, 3);
}

TEST_F(ForeignTest, ReadOnlyMemoryIsNotWritten) {
  Tensor t = adopt(true);
  const std::array<float, 6> values{};
  const Tensor other = Tensor::ones({2, 3});
  EXPECT_TRUE(t.read_only());
  EXPECT_TRUE(t.transpose().read_only());
  EXPECT_THROW(t.fill(1), InvalidArgument);
  EXPECT_THROW(t.set(values.data(), sizeof values), InvalidArgument);
  EXPECT_THROW(t.copy_from(other), InvalidArgument);
  EXPECT_THROW(assign(t, Expr(other)), InvalidArgument);
  EXPECT_THROW(assign_later(t, Expr(t) + 1), InvalidArgument);
  EXPECT_THROW(before_write(t), InvalidArgument);
  EXPECT_EQ(memory, (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(t.copy().to_host<float>(), memory);
}

TEST_F(ForeignTest, NegativeStridesReachBack) {
  const Tensor t = Tensor::adopt_host(&memory[5], {2, 3}, {-3, -1}, Dtype::float32, [] {});
  EXPECT_EQ(t.to_host<float>(), (std::vector<float>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ((Expr(t) + 1).evaluate().to_host<float>()[0], 6);
}

TEST_F(ForeignTest, OurOwnMemoryKeepsItsAddress) {
  const Tensor ours = Tensor::ones({4, 4});
  const Tensor again = Tensor::adopt_host(ours.host(), {4, 4}, {4, 1}, Dtype::float32, [] {});
  EXPECT_EQ(again.address(), ours.address());
  const Expr later = Expr(ours) + 1;
  assign(again, Expr(5));
  EXPECT_EQ(later.evaluate().to_host<float>()[0], 2);
}

}  // namespace
}  // namespace nervanagpu
