#include <gtest/gtest.h>

#include "nervanagpu/nervanagpu.hpp"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class ExprTest : public test::OnEmulator {
 protected:
  ExprTest() : OnEmulator(true) { verify_generated(true); }
};

TEST_F(ExprTest, First) {
  std::vector<float> a(5000), b(5000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i) * 0.25F;
    b[i] = static_cast<float>(i % 7) - 3.0F;
  }
  const Tensor x = Tensor::from_host<float>(a, {5000});
  const Tensor y = Tensor::from_host<float>(b, {5000});
  const std::uint64_t before = launch_count();
  const Expr z = (Expr(x) + y) * 2.0 - x;
  EXPECT_EQ(launch_count(), before);
  const std::vector<float> got = z.evaluate().to_host<float>();
  EXPECT_EQ(launch_count(), before + 1);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(got[i], (a[i] + b[i]) * 2.0F - a[i]) << i;
}

}  // namespace
}  // namespace nervanagpu
