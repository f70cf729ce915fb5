// Which products the tensor cores get, in how many parts, and by which kernel. What comes out: test/python/products/test_dot_tensor.py.
#include <gtest/gtest.h>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/families.h"
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

TEST(Hgemm, TilesOfClustersAreFew) {
  const auto tiles = [](const GemmProblem& p) {
    const ClusterTiles all = cluster_tiles(p);
    return std::vector(all.tiles.begin(), all.tiles.begin() + static_cast<std::ptrdiff_t>(all.count));
  };
  const auto all = [](std::initializer_list<int> columns, std::initializer_list<int> swapped,
                      std::initializer_list<int> pairs) {
    std::vector<Tile> out;
    for (const int bn : columns) out.push_back({Form::cluster, 64, bn});
    for (const int bn : swapped) out.push_back({Form::swapped, 64, bn});
    for (const int bn : pairs) out.push_back({Form::pair, 128, bn});
    return out;
  };
  EXPECT_EQ(tiles(problem(Dtype::float16, 64, 2560, 2560)),
            all({16, 32, 64, 128}, {16, 32, 64, 128}, {64, 96, 128, 160, 192}));
  EXPECT_EQ(tiles(problem(Dtype::bfloat16, 4096, 100, 4096)), all({32, 64, 128}, {32, 64, 128}, {64, 96}));
  EXPECT_EQ(tiles(problem(Dtype::float16, 65536, 16, 64)), all({}, {}, {})) << "1,024 of the longest";
  EXPECT_EQ(tiles(problem(Dtype::float16, 1024, 1024, 1024)), all({64, 128}, {64, 128}, {64, 96, 128, 160, 192}))
      << "64 pairs of the narrowest, 66 held";
  EXPECT_EQ(tiles(problem(Dtype::float16, 256, 4096, 2048, false)), all({64, 128}, {64, 128}, {64, 128, 192}))
      << "contiguous columns come in boxes of 64";
  EXPECT_EQ(tiles(problem(Dtype::float16, 4096, 4096, 1024)), all({}, {}, {})) << "enough tiles for everyone";
  EXPECT_EQ(tiles(problem(Dtype::int8, 16, 4096, 4096)), all({}, {}, {}));
}

// Where k lies across both operands there are no more tiles than multiprocessors, elsewhere twice as many.
TEST(Hgemm, ClustersShareMultiprocessorsWhereKLiesInside) {
  GemmProblem p = problem(Dtype::float16, 64, 8000, 4096, false);
  const auto most = [&] {
    const ClusterTiles all = cluster_tiles(p);
    std::int64_t out = 0;
    for (std::size_t i = 0; i < all.count; ++i)
      out = std::max(out, tiles_m(p, all.tiles[i]) * tiles_n(p, all.tiles[i]));
    return out;
  };
  EXPECT_EQ(most(), 250);
  p.a_transposed = true;
  EXPECT_EQ(most(), 125);
  p.b_transposed = true;
  EXPECT_EQ(most(), 250);
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
  EXPECT_TRUE(sgemm::family_of(*plan.kernel).adds_splits) << plan.kernel->name();
  EXPECT_EQ(plan.grid.cluster, static_cast<std::uint32_t>(best_splits(p)));
  p.splits = 4;
  const sgemm::Plan named = chosen(p, "64x64t");
  EXPECT_TRUE(sgemm::family_of(*named.kernel).adds_splits);
  EXPECT_EQ(named.grid.cluster, 4U);
  EXPECT_EQ(named.grid.x, 4U);
  EXPECT_EQ(named.grid.y, 1U);
  EXPECT_EQ(named.grid.z, 40U);  // tiles of n, swapped
  p.splits = 10;                 // more than the CTAs of a cluster
  EXPECT_FALSE(sgemm::family_of(*chosen(p).kernel).adds_splits);
  EXPECT_THROW(chosen(p, "64x64t"), InvalidArgument);
  EXPECT_FALSE(sgemm::family_of(*chosen(problem(Dtype::float16, 4096, 4096, 4096)).kernel).adds_splits);
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

// Where a kernel that stores float16 alone would be the best, too: a resident operand.
TEST(Hgemm, TheTypeOfCDoesNotChangeHowKIsCut) {
  for (const std::int64_t m : {200, 1568, 6272, 25088}) {
    for (const std::int64_t k : {256, 832, 4096}) {
      GemmProblem p = problem(Dtype::float16, m, 64, k);
      p.workspace = 16;
      const std::int64_t plain = best_splits(p);
      p.c_type = Dtype::float32;
      EXPECT_EQ(best_splits(p), plain) << m << " " << k;
    }
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
