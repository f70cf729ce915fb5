// A few of the exact poolings.
#include <gtest/gtest.h>

#include "test/gpu/exact.h"

namespace nervanagpu::gpu_test {

TEST(Exact, Pooling) {
  run_exact(exact_pool, 2);
}

}  // namespace nervanagpu::gpu_test
