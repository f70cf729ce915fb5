// Tensors: views, copies, fills, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "nervanagpu/nervanagpu.hpp"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class TensorTest : public test::OnEmulator {
 protected:
  static Tensor counted(const Shape& shape) {
    std::vector<std::int32_t> data(64);
    std::int64_t n = 1;
    for (const std::int64_t l : shape) n *= l;
    data.resize(static_cast<std::size_t>(n));
    std::iota(data.begin(), data.end(), 0);
    return Tensor::from_host<std::int32_t>(data, shape);
  }
};

using Ints = std::vector<std::int32_t>;

TEST_F(TensorTest, RoundTrip) {
  const Tensor t = counted({2, 3});
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(t.strides(), (Shape{3, 1}));
  EXPECT_EQ(t.nbytes(), 24U);
  EXPECT_EQ(t.address() % 256, 0U);
  EXPECT_EQ(t.to_host<std::int32_t>(), (Ints{0, 1, 2, 3, 4, 5}));
}

TEST_F(TensorTest, Views) {
  const Tensor t = counted({3, 4});
  EXPECT_EQ(t.transpose().to_host<std::int32_t>(), (Ints{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(t.slice(0, 1, 3).slice(1, 1, 4, 2).to_host<std::int32_t>(), (Ints{5, 7, 9, 11}));
  EXPECT_EQ(t.slice(1, -1, -5, -1).slice(0, 2, 3).to_host<std::int32_t>(), (Ints{11, 10, 9, 8}));
  EXPECT_EQ(t.select(0, -1).to_host<std::int32_t>(), (Ints{8, 9, 10, 11}));
  EXPECT_EQ(t.select(1, 2).to_host<std::int32_t>(), (Ints{2, 6, 10}));
  EXPECT_EQ(t.reshape({2, -1}).shape(), (Shape{2, 6}));
  EXPECT_EQ(t.insert_axis(1).shape(), (Shape{3, 1, 4}));
  EXPECT_EQ(counted({2, 3, 4}).transpose({1, 0, 2}).select(0, 1).to_host<std::int32_t>(),
            (Ints{4, 5, 6, 7, 16, 17, 18, 19}));
  EXPECT_EQ(t.slice(0, 2, 1).size(), 0);
  EXPECT_EQ(t.slice(0, 0, 100, 7).shape(), (Shape{1, 4}));
}

TEST_F(TensorTest, WritingAViewLeavesTheRestAlone) {
  Tensor t = counted({4, 4});
  Tensor view = t.slice(0, 3, -5, -2).slice(1, 0, 4, 3);  // rows 3, 1; columns 0, 3
  const Ints values = {100, 101, 102, 103};
  view.set(values.data(), 16);
  EXPECT_EQ(view.to_host<std::int32_t>(), values);
  EXPECT_EQ(t.to_host<std::int32_t>(), (Ints{0, 1, 2, 3, 102, 5, 6, 103, 8, 9, 10, 11, 100, 13, 14, 101}));
}

TEST_F(TensorTest, RandomViewsAgreeWithIndexing) {
  std::mt19937 random(7);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    Shape shape(static_cast<std::size_t>(pick(1, 4)));
    for (auto& l : shape) l = pick(1, 6);
    const Tensor t = counted(shape);
    const Ints all = t.to_host<std::int32_t>();
    Tensor v = t;
    for (int axis = 0; axis < v.ndim(); ++axis) {
      const std::int64_t step = pick(0, 1) == 0 ? pick(1, 3) : -pick(1, 3);
      const std::int64_t length = v.shape()[static_cast<std::size_t>(axis)];
      v = step > 0 ? v.slice(axis, pick(0, length), pick(0, length), step)
                   : v.slice(axis, pick(0, length - 1), pick(-length - 1, -length + 1), step);
    }
    if (pick(0, 1) == 0) v = v.transpose();
    // The reference walks the indices and adds up the strides.
    Ints expected;
    Shape index(v.shape().size(), 0);
    for (std::int64_t i = 0; i < v.size(); ++i) {
      std::int64_t rest = i;
      std::int64_t at = static_cast<std::int64_t>(v.address() - t.address()) / 4;
      for (std::size_t axis = index.size(); axis-- > 0;) {
        at += rest % v.shape()[axis] * v.strides()[axis];
        rest /= v.shape()[axis];
      }
      expected.push_back(all[static_cast<std::size_t>(at)]);
    }
    ASSERT_EQ(v.to_host<std::int32_t>(), expected);
    // What is written through the view is read back, and nothing else changed.
    Ints fresh(expected.size());
    std::iota(fresh.begin(), fresh.end(), 1000);
    v.set(fresh.data(), fresh.size() * 4);
    ASSERT_EQ(v.to_host<std::int32_t>(), fresh);
    const Ints after = t.to_host<std::int32_t>();
    std::size_t changed = 0;
    for (std::size_t i = 0; i < all.size(); ++i) changed += after[i] != all[i] ? 1 : 0;
    ASSERT_EQ(changed, fresh.size());
  }
}

TEST_F(TensorTest, FillsEveryDtype) {
  for (int d = 0; d <= static_cast<int>(Dtype::complex128); ++d) {
    const auto dtype = static_cast<Dtype>(d);
    const Tensor t = Tensor::ones({5, 3}, dtype);
    std::vector<std::byte> bytes(t.nbytes());
    t.get(bytes.data(), bytes.size());
    Tensor u = Tensor::zeros({5, 3}, dtype);
    u.slice(0, 0, 5, 2).fill(1.0);
    u.slice(0, 1, 5, 2).fill(1.0);
    std::vector<std::byte> other(u.nbytes());
    u.get(other.data(), other.size());
    EXPECT_EQ(bytes, other) << name_of(dtype);
  }
  EXPECT_EQ(Tensor::full({3}, 2.5).to_host<float>(), (std::vector<float>{2.5F, 2.5F, 2.5F}));
  EXPECT_EQ(Tensor::full({2}, -1.0, Dtype::int64).to_host<std::int64_t>(), (std::vector<std::int64_t>{-1, -1}));
}

TEST_F(TensorTest, CopiesBetweenViews) {
  Tensor t = counted({4, 4});
  Tensor u = Tensor::zeros({4, 4}, Dtype::int32);
  u.transpose().copy_from(t);
  EXPECT_EQ(u.to_host<std::int32_t>(), t.transpose().to_host<std::int32_t>());
  // Overlapping source and destination.
  t.slice(0, 1, 4).copy_from(t.slice(0, 0, 3));
  EXPECT_EQ(t.to_host<std::int32_t>(), (Ints{0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  expect_error<InvalidArgument>([&] { t.copy_from(counted({4, 3})); }, "source has shape (4, 3); needs (4, 4)");
  expect_error<TypeError>([&] { t.copy_from(Tensor::zeros({4, 4})); }, "source has dtype float32; needs int32");
}

TEST_F(TensorTest, EmptyAndScalar) {
  Tensor none = Tensor::zeros({0, 4});
  EXPECT_EQ(none.address(), 0U);
  EXPECT_EQ(none.to_host<float>().size(), 0U);
  none.fill(1.0);
  const Tensor one = Tensor::full({}, 3.0);
  EXPECT_EQ(one.to_host<float>(), (std::vector<float>{3.0F}));
  EXPECT_EQ(Tensor().size(), 0);
}

TEST_F(TensorTest, RefusesWhatCannotBe) {
  const Tensor t = counted({3, 4});
  expect_error<InvalidArgument>([&] { static_cast<void>(t.slice(2, 0, 1)); },
                                "tensor (3, 4): axis 2 is out of range; it has 2 axes");
  expect_error<InvalidArgument>([&] { static_cast<void>(t.slice(0, 0, 1, 0)); }, "tensor (3, 4): slice step is 0");
  expect_error<InvalidArgument>([&] { static_cast<void>(t.select(0, 3)); },
                                "tensor (3, 4): index 3 is out of range for axis 0 of length 3");
  expect_error<InvalidArgument>(
      [&] {
        static_cast<void>(t.reshape({5, 2}));
      },
      "tensor (3, 4): 12 elements do not fit into shape (5, 2)");
  expect_error<InvalidArgument>(
      [&] {
        static_cast<void>(t.reshape({5, -1}));
      },
      "tensor (3, 4): 12 elements do not fit into shape (5, -1)");
  expect_error<InvalidArgument>(
      [&] { static_cast<void>(t.transpose().reshape({12})); },
      "tensor (4, 3): reshape needs a contiguous tensor; strides are (1, 4) (copy() it first)");
  expect_error<InvalidArgument>(
      [&] {
        static_cast<void>(t.transpose({0, 0}));
      },
      "tensor (3, 4): transpose got axis 0 twice");
  expect_error<TypeError>([&] { static_cast<void>(t.to_host<float>()); }, "tensor (3, 4): dtype is int32, not float32");
  std::vector<float> host(3);
  expect_error<InvalidArgument>([&] { t.get(host.data(), 12); }, "bytes is 12; a tensor (3, 4) of int32 needs 48");
  expect_error<InvalidArgument>([] { Tensor::empty({-1}); }, "shape (-1,): length -1 of axis 0 is negative");
  expect_error<InvalidArgument>([] { Tensor::wrap(0, {2}, {1}, Dtype::float32); },
                                "address is 0; needs that of 8 bytes");
  expect_error<InvalidArgument>([] { Tensor::wrap(6, {2}, {1}, Dtype::float32); },
                                "address 6 is not a multiple of 4, as dtype float32 needs");
  expect_error<InvalidArgument>(
      [&] {
        Tensor::wrap(t.address(), {2, 2}, {1, 1}, Dtype::int32).set(host.data(), 16);
      },
      "a tensor (2, 2) with strides (1, 1) has elements in the same memory and cannot be written");
}

TEST_F(TensorTest, OutOfMemoryNamesTheSizes) {
  const Tensor t = Tensor::zeros({1024});
  try {
    Tensor::empty({std::int64_t{1} << 40});
    FAIL() << "4 TiB were allocated";
  } catch (const OutOfMemory& e) {
    EXPECT_EQ(std::string(e.what()).rfind("out of memory: 4398046511104 bytes asked for, ", 0), 0U) << e.what();
  }
  EXPECT_EQ(memory_stats().in_use, 4096U);
}

TEST_F(TensorTest, MemoryIsFreedWithTheLastHandle) {
  {
    const Tensor view = counted({8, 8}).transpose().slice(0, 1, 3);
    EXPECT_EQ(memory_stats().in_use, 256U);
    EXPECT_EQ(view.to_host<std::int32_t>().front(), 1);
  }
  EXPECT_EQ(memory_stats().in_use, 0U);
}

TEST_F(TensorTest, HostCopiesStayInsideAllocations) {
  const Tensor t = Tensor::zeros({4});
  const Tensor beyond = Tensor::wrap(t.address(), {5}, {1}, Dtype::float32);
  std::vector<float> host(5);
  EXPECT_THROW(beyond.get(host.data(), 20), InvalidArgument);
}

TEST_F(TensorTest, EventsMeasureAndRefuse) {
  Event start;
  Event end;
  EXPECT_THROW(static_cast<void>(end.ms_since(start)), InvalidArgument);
  start.record();
  end.record();
  EXPECT_GE(end.ms_since(start), 0.0);
}

}  // namespace
}  // namespace nervanagpu
