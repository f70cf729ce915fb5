// Which products the tensor cores get, in how many parts, and by which kernel. What comes out: test/python/products/test_dot_tensor.py.
#include <gtest/gtest.h>

#include "kernels/gemm/choose/hgemm_cost.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "nervanagpu/error.hpp"
#include "src/device/select_device.h"

namespace nervanagpu::hgemm {
namespace {

GemmProblem problem(Dtype type, std::int64_t m, std::int64_t n, std::int64_t k, bool b_transposed = true) {
  GemmProblem p;
  p.a_type = p.b_type = type;
  p.c_type = size_of(type) == 2 ? type : Dtype::int32;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = 0x1000;
  p.b = 0x2000;
  p.c = 0x3000;
  p.b_transposed = b_transposed;
  p.lda = k;
  p.ldb = b_transposed ? k : n;
  p.ldc = n;
  p.workspace = 16;
  return p;
}

TEST(Hgemm, TakesWhatTheCopyEngineAndTheCoresTake) {
  EXPECT_TRUE(takes(problem(Dtype::float16, 5, 7, 8)));
  EXPECT_FALSE(takes(problem(Dtype::float16, 5, 7, 12)));        // rows of 24 bytes
  EXPECT_TRUE(takes(problem(Dtype::float16, 5, 8, 8, false)));   // n contiguous
  EXPECT_FALSE(takes(problem(Dtype::float16, 5, 7, 8, false)));  // in rows of 14 bytes
  EXPECT_FALSE(takes(problem(Dtype::int8, 16, 16, 8)));
  EXPECT_TRUE(takes(problem(Dtype::int8, 16, 16, 16)));
  EXPECT_FALSE(takes(problem(Dtype::int8, 16, 16, 16, false)));  // bytes have k contiguous
  GemmProblem p = problem(Dtype::float16, 8, 8, 8);
  p.a += 2;
  EXPECT_FALSE(takes(p));
  p = problem(Dtype::float16, 8, 8, 8);
  p.tensor_cores = false;
  EXPECT_FALSE(takes(p));
  p = problem(Dtype::float16, 8, 8, 8);
  p.b_type = Dtype::float32;
  EXPECT_FALSE(takes(p));
  EXPECT_TRUE(takes(problem(Dtype::bfloat16, 5, 7, 8)));
  p.b_type = Dtype::bfloat16;  // beside float16
  EXPECT_FALSE(takes(p));
}

TEST(Hgemm, CopiesWhatGainsByIt) {
  const auto copies = [](const GemmProblem& p) {
    const Packing c = packing(p);
    return std::pair(c.a, c.b);
  };
  using Pair = std::pair<bool, bool>;
  EXPECT_EQ(copies(problem(Dtype::float16, 5120, 701, 2048, false)), Pair(false, true));
  EXPECT_EQ(copies(problem(Dtype::float16, 701, 5120, 2047, false)), Pair(true, false));
  EXPECT_EQ(copies(problem(Dtype::float16, 65, 33, 17, false)), Pair(false, false));  // too small
  EXPECT_EQ(copies(problem(Dtype::float16, 1, 4097, 4096, false)),
            Pair(false, false));                                                        // one row: the copy is the work
  EXPECT_EQ(copies(problem(Dtype::int8, 2048, 2048, 2048, false)), Pair(false, true));  // n contiguous
  EXPECT_EQ(copies(problem(Dtype::float16, 2048, 2048, 2048, false)), Pair(false, false));  // nothing to copy
}

TEST(Hgemm, SplitsAreAFunctionOfTheProblem) {
  EXPECT_EQ(effective(10, 4), 4);
  EXPECT_EQ(effective(10, 6), 5);  // two blocks each
  EXPECT_EQ(effective(3, 8), 3);
  GemmProblem p = problem(Dtype::float16, 128, 1000, 4096);
  EXPECT_GT(best_splits(p), 1);
  EXPECT_EQ(best_splits(problem(Dtype::float16, 4096, 4096, 4096)), 1);
  EXPECT_EQ(blocks_of(p), 64);
  const std::int64_t splits = best_splits(p);
  EXPECT_LE(splits, kMostSplits);
  p.workspace = 0;
  EXPECT_EQ(best_splits(p), splits) << "clusters add them up themselves";
  p.c_type = Dtype::float32;
  EXPECT_EQ(best_splits(p), 1) << "there is no kernel of clusters for its C";
  p.workspace = 16;
  EXPECT_EQ(best_splits(p), splits) << "sums do not depend on the type of C";
  EXPECT_EQ(blocks_of(problem(Dtype::int8, 16, 16, 4096)), 32);  // of 128 bytes
}

TEST(Hgemm, TilesOfClustersCoverTheShortSide) {
  const auto tiles = [](const GemmProblem& p) {
    const ClusterTiles all = cluster_tiles(p);
    return std::vector(all.tiles.begin(), all.tiles.begin() + static_cast<std::ptrdiff_t>(all.count));
  };
  using Tiles = std::vector<Tile>;
  EXPECT_EQ(tiles(problem(Dtype::float16, 64, 2560, 2560)), (Tiles{{Form::swapped, 64, 64}}));
  EXPECT_EQ(tiles(problem(Dtype::bfloat16, 17, 2560, 2560)), (Tiles{{Form::swapped, 64, 32}}));
  EXPECT_EQ(tiles(problem(Dtype::float16, 4096, 100, 4096)), (Tiles{{Form::cluster, 64, 128}}));
  EXPECT_EQ(tiles(problem(Dtype::float16, 4096, 8, 4096)), (Tiles{{Form::cluster, 64, 16}}));
  EXPECT_EQ(tiles(problem(Dtype::float16, 4096, 8, 4096, false)), (Tiles{{Form::cluster, 64, 16}}));
  EXPECT_EQ(tiles(problem(Dtype::float16, 7680, 32, 2560, false)), (Tiles{{Form::cluster, 64, 32}}));
  EXPECT_EQ(
      tiles(problem(Dtype::float16, 192, 1000, 2048)),
      (Tiles{{Form::cluster, 64, 128}, {Form::cluster, 64, 32}, {Form::swapped, 64, 128}, {Form::swapped, 64, 32}}));
  EXPECT_EQ(tiles(problem(Dtype::float16, 4096, 256, 2048)), (Tiles{{Form::pair, 128, 64}}));
  EXPECT_EQ(tiles(problem(Dtype::float16, 256, 4096, 2048)), Tiles{});                          // pairs share rows of a
  EXPECT_EQ(tiles(problem(Dtype::float16, 1024, 1024, 1024)), (Tiles{{Form::pair, 128, 64}}));  // 64 pairs, 66 held
  EXPECT_EQ(tiles(problem(Dtype::float16, 2048, 2048, 1024)), Tiles{});  // enough tiles for everyone
  EXPECT_EQ(tiles(problem(Dtype::int8, 16, 4096, 4096)), Tiles{});
}

TEST(Hgemm, TilesOfClustersWhereKLiesAcross) {
  GemmProblem p = problem(Dtype::float16, 8, 584, 43640, false);
  EXPECT_EQ(cluster_tiles(p).count, 1U);
  p.a_transposed = true;
  EXPECT_EQ(cluster_tiles(p).count, 8U) << "all widths, of both sides";
  p.n = 8000, p.m = 64;  // 125 tiles of 64 columns, and more of narrower ones
  const ClusterTiles some = cluster_tiles(p);
  for (std::size_t i = 0; i < some.count; ++i) {
    EXPECT_LE(tiles_m(p, some.tiles[i]) * tiles_n(p, some.tiles[i]), kProcessors) << shape_name(some.tiles[i]);
  }
  p.b_transposed = true;
  EXPECT_EQ(cluster_tiles(p).count, 1U);
}

// CTAs for which there is room on multiprocessors of their own do not share one.
TEST(Hgemm, FewClustersStandApart) {
  Device& device = current_device();
  if (device.registry().of_op("hgemm").empty()) GTEST_SKIP() << "the tensor cores of sm_90a";
  GemmProblem p = problem(Dtype::float16, 64, 640, 4096);
  const auto grid_of = [&](std::int64_t splits, std::int64_t n) {
    p.splits = splits, p.n = p.ldc = n;
    return sgemm::choose(device.registry(), 132, p, "64x64t").grid;
  };
  EXPECT_TRUE(grid_of(8, 640).apart) << "10 clusters of 8";
  EXPECT_TRUE(grid_of(1, 132 * 64).apart);
  EXPECT_FALSE(grid_of(1, 133 * 64).apart);
  EXPECT_TRUE(grid_of(4, 30 * 64).apart);
  EXPECT_FALSE(grid_of(4, 31 * 64).apart) << "an H200 has room for 30";
}

TEST(Hgemm, ShortSidesAreTakenByClusters) {
  Device& device = current_device();
  if (device.registry().of_op("hgemm").empty()) GTEST_SKIP() << "the tensor cores of sm_90a";
  const auto chosen = [&](const GemmProblem& p, std::string_view tile = {}) {
    return sgemm::choose(device.registry(), 132, p, tile);
  };
  GemmProblem p = problem(Dtype::float16, 64, 2560, 2560);
  const sgemm::Plan plan = chosen(p);
  EXPECT_TRUE(adds_splits(*plan.kernel)) << plan.kernel->name();
  EXPECT_EQ(plan.grid.cluster, static_cast<std::uint32_t>(best_splits(p)));
  p.splits = 4;
  const sgemm::Plan named = chosen(p, "64x64t");
  EXPECT_TRUE(adds_splits(*named.kernel));
  EXPECT_EQ(named.grid.cluster, 4U);
  EXPECT_EQ(named.grid.x, 4U);
  EXPECT_EQ(named.grid.y, 1U);
  EXPECT_EQ(named.grid.z, 40U);  // tiles of n, swapped
  p.splits = 10;                 // more than the CTAs of a cluster
  EXPECT_FALSE(adds_splits(*chosen(p).kernel));
  EXPECT_THROW(chosen(p, "64x64t"), InvalidArgument);
  EXPECT_FALSE(adds_splits(*chosen(problem(Dtype::float16, 4096, 4096, 4096)).kernel));
  EXPECT_EQ(chosen(problem(Dtype::uint8, 4096, 4096, 4096)).kernel->name(), "hgemm_nt_u8_u8_s32_128x128x2");
}

TEST(Hgemm, AnEpilogueDoesNotChangeHowKIsCut) {
  for (const std::int64_t k : {256, 1024, 4096}) {
    GemmProblem p = problem(Dtype::float16, 4096, 4096, k);
    p.workspace = 16;  // there is one
    const std::int64_t plain = best_splits(p);
    p.activation = GemmActivation::gelu;
    p.rounding.stochastic = true;
    p.beta = 1;
    EXPECT_EQ(best_splits(p), plain) << k;
  }
}

TEST(Hgemm, OnlySmallGridsStartEarly) {
  EXPECT_TRUE(starts_early(problem(Dtype::float16, 1024, 1024, 1024), {Form::tiles, 128, 64}, 1));
  EXPECT_FALSE(starts_early(problem(Dtype::float16, 4096, 256, 2048), {Form::tiles, 128, 64}, 1));
  EXPECT_TRUE(starts_early(problem(Dtype::float16, 256, 256, 4096), {Form::tiles, 128, 64}, 1));
  EXPECT_FALSE(starts_early(problem(Dtype::float16, 256, 256, 4096), {Form::tiles, 128, 64}, 2));
}

}  // namespace
}  // namespace nervanagpu::hgemm
