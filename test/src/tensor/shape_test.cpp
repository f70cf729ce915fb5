// Sizes, strides and extents of shapes.
#include "src/tensor/shape.h"

#include <gtest/gtest.h>

#include "nervanagpu/error.hpp"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

constexpr std::int64_t kBig = std::int64_t{1} << 40;

TEST(Shape, Text) {
  EXPECT_EQ(text_of({}), "()");
  EXPECT_EQ(text_of({3}), "(3,)");
  EXPECT_EQ(text_of({3, 4}), "(3, 4)");
}

TEST(Shape, CountsWithoutOverflow) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 4, 5}), 60);
  EXPECT_EQ(element_count({kBig, kBig, 0}), 0);
  EXPECT_EQ(byte_count({kBig}, Dtype::float64), static_cast<std::size_t>(kBig) * 8);
  expect_error<InvalidArgument>(
      [] {
        element_count({kBig, kBig});
      },
      "shape (1099511627776, 1099511627776): elements are more than 2^63 - 1");
  expect_error<InvalidArgument>([] { byte_count({std::int64_t{1} << 61}, Dtype::float32); },
                                "shape (2305843009213693952,): bytes are more than 2^63 - 1");
  expect_error<InvalidArgument>([] { element_count({3, -1}); }, "shape (3, -1): length -1 of axis 1 is negative");
}

TEST(Shape, RowMajorStrides) {
  EXPECT_EQ(row_major_strides({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(row_major_strides({2, 0, 4}), (Shape{4, 4, 1}));
  EXPECT_EQ(row_major_strides({}), Shape{});
}

TEST(Shape, ExtentOfNegativeStrides) {
  const Extent e = extent_of({3, 4}, {-10, 2});
  EXPECT_EQ(e.low, -20);
  EXPECT_EQ(e.high, 6);
  EXPECT_THROW(extent_of({kBig}, {kBig}), InvalidArgument);
}

TEST(Shape, DistinctElements) {
  EXPECT_TRUE(distinct({3, 4}, {4, 1}));
  EXPECT_TRUE(distinct({3, 4}, {1, 3}));
  EXPECT_TRUE(distinct({3, 4}, {-4, 1}));
  EXPECT_TRUE(distinct({3, 1}, {1, 0}));
  EXPECT_FALSE(distinct({3, 4}, {0, 1}));
  EXPECT_FALSE(distinct({3, 4}, {3, 1}));
  EXPECT_TRUE(distinct({0, 4}, {0, 0}));
}

}  // namespace
}  // namespace nervanagpu
