// The table of families: every kernel that multiplies matrices has a row, which is complete.
#include <gtest/gtest.h>

#include "kernels/gemm/families.h"
#include "nervanagpu/error.hpp"
#include "src/device/select_device.h"

namespace nervanagpu::sgemm {
namespace {

TEST(Families, EveryKernelHasARow) {
  const Registry& registry = current_device().registry();
  for (const char* op :
       {"sgemm", "gemm", "sgemm_ring", "sgemm_ring8", "dgemm", "gemm64", "hgemm", "hgemm_resident", "hgemm_cluster",
        "bf16x6", "bf16x6_32", "bf16x6_rs", "f16x3", "f16x3_compensated", "f16x3_rs"}) {
    EXPECT_FALSE(registry.of_op(op).empty()) << op;
    for (const Kernel* k : registry.of_op(op)) {
      const Family& family = family_of(*k);
      EXPECT_EQ(family.op, op);
      EXPECT_NE(family.values, nullptr) << op;
      EXPECT_TRUE((family.cost == nullptr) == (family.fits == nullptr) &&
                  (family.cost == nullptr) == (family.grid == nullptr))
          << op << " is chosen by all three or by none";
      const PiecesOf& pieces = family.pieces;
      EXPECT_EQ(pieces.room != nullptr, pieces.count != 0) << op;
      EXPECT_EQ(pieces.split != nullptr, pieces.count != 0) << op;
      EXPECT_TRUE(pieces.count == 0 || family.maps != nullptr) << op;
    }
  }
}

TEST(Families, OthersAreRefused) {
  const auto others = current_device().registry().of_op("table");
  ASSERT_FALSE(others.empty());
  EXPECT_THROW((void)family_of(*others.front()), Error);
}

}  // namespace
}  // namespace nervanagpu::sgemm
