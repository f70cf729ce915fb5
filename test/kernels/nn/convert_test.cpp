// convert(): every pair of dtypes, any strides, stochastic rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "kernels/nn/nn.h"
#include "nervanagpu/nn.hpp"
#include "src/numbers/philox.h"
#include "src/numbers/round.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

using test::Buffer;
using test::Placement;

class ConvertTest : public test::OnEachDevice {
 protected:
  // Every element of the result's buffer: those of the view converted, the others as they were.
  void check(const Shape& shape, Dtype from, Placement from_order, Dtype to, Placement to_order,
             std::vector<int> axes) {
    const Buffer source = test::make_buffer(random_, shape, from, from_order, axes);
    std::shuffle(axes.begin(), axes.end(), random_);
    Buffer result = test::make_buffer(random_, shape, to, to_order, axes);
    std::vector<std::uint32_t> expected = result.bits;
    for (std::size_t i = 0; i < static_cast<std::size_t>(source.view.size()); ++i) {
      expected[result.at(i)] = test::converted(from, to, source.bits[source.at(i)]);
    }
    convert(source.view, result.view);
    const std::vector<std::uint32_t> got = test::read_bits(result.whole);
    const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin());
    ASSERT_EQ(a, got.end()) << name_of(from) << " to " << name_of(to) << ", orders " << static_cast<int>(from_order)
                            << " and " << static_cast<int>(to_order) << ", element " << a - got.begin() << " of "
                            << got.size() << ": got " << std::hex << *a << ", expected " << *b;
  }

  void check_pairs(const Shape& shape, Placement from_order, Placement to_order) {
    std::vector<int> axes;
    for (std::size_t k = 0; k < shape.size(); ++k) axes.push_back(static_cast<int>(shape.size() - 1 - k));
    for (const Dtype from : test::kDtypes) {
      for (const Dtype to : test::kDtypes) {
        check(shape, from, from_order, to, to_order, axes);
        if (HasFatalFailure()) return;
      }
    }
  }
};

NG_ON_EACH_DEVICE(ConvertTest);

const Placement kOrders[] = {Placement::row_major, Placement::padded, Placement::permuted, Placement::strided,
                             Placement::backwards};

TEST_P(ConvertTest, ContiguousOfEveryLength) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 31, 33, 512, 513, 2047, 2048, 10003}) {
    if (checked() && n > 2048) continue;
    check_pairs({n}, Placement::row_major, Placement::row_major);
  }
}

TEST_P(ConvertTest, EveryPairInEveryOrder) {
  for (const Placement from : kOrders) {
    for (const Placement to : kOrders) {
      check_pairs({3, 8, 5}, from, to);
      check_pairs({2, 3, 1, 4, 7}, from, to);
    }
  }
}

TEST_P(ConvertTest, TilesOfEveryPair) {
  for (const Placement from : kOrders) {
    if (checked() && from != Placement::row_major && from != Placement::backwards) continue;
    check_pairs({16, 17}, from, Placement::permuted);
    check_pairs({2, 65, 2, 67}, Placement::permuted, from);
  }
  check({130, 129}, Dtype::float32, Placement::row_major, Dtype::float32, Placement::permuted, {1, 0});
  check({2, 3, 64, 2, 64}, Dtype::float16, Placement::row_major, Dtype::float32, Placement::permuted, {4, 3, 2, 1, 0});
}

TEST_P(ConvertTest, AnyBroadcastIsRead) {
  const Tensor row = test::from_bits({1, 2, 3, 4, 5}, {5}, Dtype::int32);
  const Tensor rows = Tensor::wrap(row.address(), {7, 5}, {0, 1}, Dtype::int32);
  Tensor out = Tensor::empty({7, 5}, Dtype::float32);
  convert(rows, out);
  const std::vector<float> got = out.to_host<float>();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<float>(i % 5 + 1));
}

TEST_P(ConvertTest, InPlace) {
  Tensor t = test::from_bits({0x3f800000, 0xc0200000, 0x4f7fffff}, {3}, Dtype::float32);
  Tensor whole = Tensor::wrap(t.address(), {3}, {1}, Dtype::int32);
  convert(t, whole);
  EXPECT_EQ(whole.to_host<std::int32_t>(), (std::vector<std::int32_t>{1, -2, 2147483647}));
}

// Element number i, in the order of the result's memory, takes word i % 4 of philox(seed, offset + i / 4): the same
// bits for every layout and kernel.
TEST_P(ConvertTest, StochasticRoundingIsTheTwins) {
  for (const Dtype from : {Dtype::float32, Dtype::float16, Dtype::int32}) {
    for (const Dtype to : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
      for (const int bits : {0, 1, 7, 10}) {
        if (to == Dtype::bfloat16 && bits > 7) continue;
        const Rounding rounding = {true, 0x123456789abcdef0, 0xffffffff, bits};
        for (const Placement order : kOrders) {
          for (const Shape& shape : {Shape{2, 20, 36}, Shape{3, 17, 19}}) {
            if (checked() && bits != 7) continue;
            // The second order leaves tiles that lie after one another.
            const std::vector<int> axes = shape[0] == 2 ? std::vector<int>{2, 1, 0} : std::vector<int>{0, 2, 1};
            const Buffer source = test::make_buffer(random_, shape, from, order, axes);
            Tensor out = Tensor::empty(shape, to);
            convert(source.view, out, rounding);
            const std::vector<std::uint32_t> got = test::read_bits(out);
            for (std::size_t i = 0; i < got.size(); ++i) {
              const std::uint32_t word = philox(rounding.seed, rounding.offset + i / 4)[i % 4];
              const auto x = static_cast<float>(test::value_of(from, source.bits[source.at(i)]));
              const std::uint32_t expected = test::rounded(to, x, word, static_cast<unsigned>(bits));
              ASSERT_EQ(got[i], expected) << "element " << i << ", x " << x << ", bits " << bits;
            }
          }
        }
      }
    }
  }
}

TEST_P(ConvertTest, StochasticRoundingOfTransposedResultsCountsInMemory) {
  const Rounding rounding = {true, 5, 0, 0};
  const Tensor x = test::from_bits(std::vector<std::uint32_t>(40 * 24, 0x3f800fff), {40, 24}, Dtype::float32);
  Tensor a = Tensor::empty({40, 24}, Dtype::float16);
  Tensor b = Tensor::empty({24, 40}, Dtype::float16);
  Tensor b_view = b.transpose();
  convert(x, a, rounding);
  convert(x, b_view, rounding);
  EXPECT_EQ(test::read_bits(a), test::read_bits(b));
  const auto bits = test::read_bits(a);
  const std::set<std::uint32_t> values(bits.begin(), bits.end());
  EXPECT_EQ(values.size(), 2U);
}

TEST_P(ConvertTest, Refusals) {
  Tensor a = Tensor::zeros({3, 4});
  Tensor b = Tensor::zeros({4, 3});
  Tensor c = Tensor::zeros({3, 4}, Dtype::int32);
  Tensor d = Tensor::zeros({3, 4}, Dtype::float64);
  expect_error<InvalidArgument>([&] { convert(a, b); }, "convert: to has shape (4, 3); needs that of from, (3, 4)");
  expect_error<TypeError>([&] { convert(a, d); },
                          "convert: to has dtype float64; needs float32, float16, bfloat16, int32, int8 or uint8");
  expect_error<TypeError>([&] { convert(d, a); },
                          "convert: from has dtype float64; needs float32, float16, bfloat16, int32, int8 or uint8");
  expect_error<InvalidArgument>(
      [&] {
        convert(a, c, {true, 1, 0, 0});
      },
      "convert: rounding is stochastic but the result is int32; needs float16, bfloat16 or float32");
  expect_error<InvalidArgument>(
      [&] {
        convert(c, a, {true, 1, 0, 16});
      },
      "convert: rounding bits is 16; needs 1 to 15 for float32, or 0 for the most");
  Tensor square = Tensor::zeros({4, 4});
  Tensor turned = square.transpose();
  expect_error<InvalidArgument>([&] { convert(square, turned); },
                                "convert: to shares memory with from; needs memory of its own, or all of the same");
  const test::Buffer six = test::make_buffer(random_, {2, 2, 2, 2, 2, 2}, Dtype::float32, Placement::padded, {});
  Tensor six_out = Tensor::zeros({2, 2, 2, 2, 2, 2});
  expect_error<InvalidArgument>([&] { convert(six.view, six_out); },
                                "convert: the views have 6 axes that cannot be joined; needs 5 or fewer");
  Tensor wide = Tensor::wrap(a.address(), {2, 2}, {0, 1}, Dtype::float32);
  expect_error<InvalidArgument>(
      [&] {
        convert(Tensor::zeros({2, 2}), wide);
      },
      "convert: to has strides (0, 1): several of its elements are the same memory");
}

TEST_P(ConvertTest, NothingToDo) {
  Tensor a = Tensor::zeros({3, 0});
  Tensor b = Tensor::zeros({3, 0}, Dtype::int8);
  convert(a, b);
}

}  // namespace
}  // namespace nervanagpu
