// The reference of poolings beside results that were worked out by hand.
#include <gtest/gtest.h>

#include "test/gpu/reference.h"

namespace nervanagpu::gpu_test {

TEST(Reference, Pooling) {
  PoolProblem p;
  p.in[3] = 4;
  p.window[3] = 3;
  p.pad[3] = 1;
  p.stride[3] = 2;
  const Values x = {3, 4, 4, -1};
  EXPECT_EQ(pooling(p, x).value, (Values{4, 4}));
  EXPECT_EQ(pooling_gradient(p, {1, 2}, x).value, (Values{0, 3, 0, 0}));  // ties: the first
  p.op = PoolOp::avg;
  EXPECT_EQ(pooling(p, x).value, (Values{3.5, 7.0 / 3.0}));
  p.count_padding = true;
  EXPECT_EQ(pooling(p, x).value, (Values{7.0 / 3.0, 7.0 / 3.0}));
  EXPECT_EQ(pooling_gradient(p, {3, 6}, x).value, (Values{1, 3, 2, 2}));
  p.op = PoolOp::l2;
  EXPECT_EQ(pooling(p, x).value[0], 5.0);
  EXPECT_EQ(pooling_gradient(p, {5, 0}, x).value, (Values{3, 4, 0, 0}));
  EXPECT_EQ(pooling_gradient(p, {5, 5}, {0, 0, 0, 0}).value, (Values{0, 0, 0, 0}));
}

}  // namespace nervanagpu::gpu_test
