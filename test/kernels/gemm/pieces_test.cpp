// Pieces that are kept: that products read them and do not make them again, on addresses, in plans and in C.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/nervanagpu.hpp"
#include "src/device/select_device.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class KeptPieces : public test::OnEmulator {
 protected:
  Tensor numbers(std::int64_t rows, std::int64_t columns) {
    std::normal_distribution<float> normal;
    std::vector<float> host(static_cast<std::size_t>(rows * columns));
    for (float& x : host) x = normal(random_);
    return Tensor::from_host<float>(host, {rows, columns});
  }
  static GemmOptions options_of(int count) {
    GemmOptions o;
    o.precision = Precision::tensor;
    o.splits = 1;
    o.tile = count == 2 ? "f16_128x128" : "128x128";
    return o;
  }
  static std::vector<float> product(const Tensor& a, const Tensor& b, int count) {
    return dot(a, b, options_of(count)).to_host<float>();
  }
  // Of 65 x 200 and 200 x 130.
  static GemmProblem problem_of(const Tensor& a, const Tensor& b, const Tensor& c) {
    GemmProblem p;
    p.a = a.address(), p.b = b.address(), p.c = c.address();
    p.m = a.shape()[0], p.k = a.shape()[1], p.n = b.shape()[1];
    p.lda = p.k, p.ldb = p.ldc = p.n;
    p.splits = 1;
    p.precision = Precision::tensor;
    return p;
  }
  static PiecesAt at_of(const Tensor& block, const Tensor& matrix, int count) {
    return {block.address(), count, matrix.shape()[0], matrix.shape()[1]};
  }
  static Tensor block_of(const Tensor& matrix, int count) {
    const auto bytes = static_cast<std::int64_t>(gemm_pieces_bytes(matrix.shape()[0], matrix.shape()[1], count));
    Tensor block = Tensor::empty({bytes}, Dtype::uint8);
    gemm_split(matrix.address(), matrix.shape()[1], at_of(block, matrix, count));
    return block;
  }

  std::mt19937 random_{1};
};

// Of other matrices than the operands: the result is that of what was kept, and of the operand where another number is asked for.
TEST_F(KeptPieces, AreReadAndNotMadeAgain) {
  const Tensor a = numbers(65, 200), b = numbers(200, 130), other_a = numbers(65, 200), other_b = numbers(200, 130);
  Tensor c = Tensor::empty({65, 130});
  for (const int count : {2, 3}) {
    const std::string tile = options_of(count).tile;
    GemmProblem p = problem_of(a, b, c);
    const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(gemm_workspace(p, tile))}, Dtype::uint8);
    p.workspace = workspace.address();
    const Tensor of_a = block_of(other_a, count), of_b = block_of(other_b, count);
    const auto run = [&](const std::string& t) {
      gemm(p, {}, t);
      return c.to_host<float>();
    };
    EXPECT_EQ(run(tile), product(a, b, count));
    p.b_pieces = at_of(of_b, b, count);
    EXPECT_EQ(run(tile), product(a, other_b, count));
    p.a_pieces = at_of(of_a, a, count);
    EXPECT_EQ(run(tile), product(other_a, other_b, count));
    EXPECT_EQ(run(options_of(5 - count).tile), product(a, b, 5 - count));
    p.b_pieces = {};
    EXPECT_EQ(run(tile), product(other_a, b, count));
    p.precision = Precision::strict;
    p.a_pieces = at_of(of_a, a, count);
    gemm(p);
    EXPECT_EQ(c.to_host<float>(), [&] {
      GemmOptions o;
      o.splits = 1;
      return dot(a, b, o).to_host<float>();
    }());
  }
}

TEST_F(KeptPieces, InPlansABatchAndAGroup) {
  const Tensor a = numbers(2 * 65, 200), b = numbers(200, 130), other = numbers(200, 130);
  Tensor c = Tensor::empty({2 * 65, 130});
  for (const int count : {2, 3}) {
    const GemmOptions o = options_of(count);
    GemmProblem p = problem_of(a.slice(0, 0, 65), b, c);
    const Tensor block = block_of(other, count);
    p.b_pieces = at_of(block, b, count);
    const GemmPlan plan(p, o.tile);
    EXPECT_EQ(plan.pieces(), count);
    const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(plan.workspace())}, Dtype::uint8);
    GemmAddresses at = {.a = p.a, .b = p.b, .c = p.c, .workspace = workspace.address()};
    EXPECT_THROW(plan.launch(at), InvalidArgument);
    const Tensor again = block_of(b, count);
    for (const auto& [kept, of] : {std::pair(&block, &other), std::pair(&again, &b)}) {
      at.b_pieces = kept->address();
      plan.launch(at);
      EXPECT_EQ(c.slice(0, 0, 65).to_host<float>(), product(a.slice(0, 0, 65), *of, count));
    }
    // One B for a batch.
    p.batch = 2, p.stride_a = 65 * 200, p.stride_b = 0, p.stride_c = 65 * 130;
    const Tensor room = Tensor::empty({static_cast<std::int64_t>(gemm_workspace(p, o.tile))}, Dtype::uint8);
    p.workspace = room.address();
    gemm(p, {}, o.tile);
    const std::vector<float> got = c.to_host<float>();
    p.b = other.address(), p.b_pieces = {};
    gemm(p, {}, o.tile);
    EXPECT_EQ(c.to_host<float>(), got);
    p.b = b.address(), p.b_pieces = at_of(block, b, count);
    p.stride_b = 200 * 130;
    EXPECT_THROW(gemm(p, {}, o.tile), InvalidArgument);
  }
  // Of a group each is launched alone.
  std::vector<GemmProblem> group;
  const Tensor three = block_of(other, 3);
  GemmProblem p = problem_of(a.slice(0, 0, 65), b, c);
  const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(gemm_workspace(p))}, Dtype::uint8);
  p.workspace = workspace.address();
  group.push_back(p);
  p.a += 4 * 65 * 200, p.c += 4 * 65 * 130;
  p.b_pieces = at_of(three, b, 3);
  group.push_back(p);
  grouped_gemm(group, 0);
  EXPECT_EQ(c.slice(0, 0, 65).to_host<float>(), product(a.slice(0, 0, 65), b, 3));
  EXPECT_EQ(c.slice(0, 65, 130).to_host<float>(), product(a.slice(0, 65, 130), other, 3));
}

TEST_F(KeptPieces, Refusals) {
  const Tensor a = numbers(65, 200), b = numbers(200, 130);
  Tensor c = Tensor::empty({65, 130});
  GemmProblem p = problem_of(a, b, c);
  const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(gemm_workspace(p))}, Dtype::uint8);
  p.workspace = workspace.address();
  const Tensor block = block_of(b, 3);
  const PiecesAt good = at_of(block, b, 3);
  const std::vector<std::function<void(PiecesAt&)>> all = {
      [](PiecesAt& x) { x.count = 4; }, [](PiecesAt& x) { x.address += 8; },
      [](PiecesAt& x) { std::swap(x.rows, x.columns); }, [](PiecesAt& x) { x.columns = 129; }};
  for (const auto& change : all) {
    p.b_pieces = good;
    change(p.b_pieces);
    EXPECT_THROW(gemm(p), InvalidArgument);
    EXPECT_THROW(GemmPlan{p}, InvalidArgument);
  }
  p.b_pieces = good;
  EXPECT_NO_THROW(gemm(p));
  EXPECT_THROW(gemm_split(b.address(), 129, good), InvalidArgument);
  EXPECT_THROW(gemm_split(b.address() + 2, 130, good), InvalidArgument);
  EXPECT_THROW(gemm_split(0, 130, good), InvalidArgument);
  EXPECT_THROW(static_cast<void>(gemm_pieces_bytes(-1, 3, 2)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(gemm_pieces_bytes(1 << 20, 1 << 20, 2)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(gemm_pieces_bytes(3, 3, 1)), InvalidArgument);
  EXPECT_THROW(Pieces(cast(b, Dtype::float16).evaluate()), TypeError);
  EXPECT_THROW(static_cast<void>(Pieces::of_constant(b.transpose(), 2)), InvalidArgument);
  GemmOptions beta;
  beta.beta = 1.0F;
  EXPECT_THROW(static_cast<void>(dot(a, Pieces(b), beta)), InvalidArgument);
}

TEST_F(KeptPieces, OfTensors) {
  const Tensor a = numbers(65, 200);
  Tensor b = numbers(200, 130);
  for (const int count : {2, 3}) {
    const GemmOptions o = options_of(count);
    Pieces kept(b, count);
    const std::vector<float> before = product(a, b, count);
    EXPECT_EQ(dot(a, kept, o).to_host<float>(), before);
    const Tensor fresh = numbers(200, 130);
    b.copy_from(fresh);
    EXPECT_EQ(dot(a, kept, o).to_host<float>(), before);
    const Pieces constant = Pieces::of_constant(b, count);
    EXPECT_EQ(constant.bytes() - b.nbytes(), gemm_pieces_bytes(200, 130, count));
    kept.set(b);
    for (const Pieces& x : {kept, constant, constant.transpose().transpose()}) {
      EXPECT_EQ(dot(a, x, o).to_host<float>(), product(a, b, count));
      EXPECT_EQ(dot(x.transpose(), a.transpose(), o).to_host<float>(), product(b.transpose(), a.transpose(), count));
    }
    EXPECT_EQ(kept.transpose().shape(), (Shape{130, 200}));
  }
}

// What a problem takes follows from it alone, and is what its plan says.
TEST_F(KeptPieces, HowManyAProductTakes) {
  GemmProblem p;
  p.precision = Precision::tensor;
  const auto count = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    p.m = m, p.n = p.ldb = p.ldc = n, p.k = p.lda = k;
    EXPECT_EQ(GemmPlan(p).pieces(), gemm_pieces(p));
    return gemm_pieces(p);
  };
  EXPECT_EQ(count(256, 4096, 4096), 2);
  EXPECT_EQ(count(1024, 1024, 1024), 2);
  EXPECT_EQ(count(128, 4096, 9216), 2);
  EXPECT_EQ(count(4096, 4096, 512), 3);
  EXPECT_EQ(count(128, 1000, 4096), 0);
  p.splits = 4;
  EXPECT_EQ(count(128, 4096, 9216), 3);
  EXPECT_EQ(gemm_pieces(p, "f16_128x128"), 2);
  p.precision = Precision::strict;
  EXPECT_EQ(count(256, 4096, 4096), 0);
}

TEST_F(KeptPieces, InC) {
  const Tensor a = numbers(65, 200), b = numbers(200, 130), other = numbers(200, 130);
  const Tensor c = Tensor::empty({65, 130});
  ng_gemm_problem p = NG_GEMM_PROBLEM_INIT;
  p.a = a.address(), p.b = b.address(), p.c = c.address();
  p.m = 65, p.n = p.ldb = p.ldc = 130, p.k = p.lda = 200;
  p.splits = 1;
  p.precision = NG_TENSOR;
  std::size_t bytes = 0;
  ASSERT_EQ(ng_gemm_workspace(&p, &bytes), NG_OK) << ng_last_error();
  const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8);
  p.workspace = workspace.address(), p.workspace_bytes = bytes;
  std::int32_t count = -1;
  ASSERT_EQ(ng_gemm_pieces(&p, &count), NG_OK) << ng_last_error();
  EXPECT_EQ(count, 3);
  ASSERT_EQ(ng_gemm_pieces_bytes(200, 130, count, &bytes), NG_OK) << ng_last_error();
  EXPECT_EQ(bytes, gemm_pieces_bytes(200, 130, 3));
  const Tensor block = Tensor::empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8);
  ASSERT_EQ(ng_gemm_split(other.address(), 200, 130, 130, count, block.address(), 0), NG_OK) << ng_last_error();
  p.b_pieces = block.address(), p.b_piece_count = count;
  ASSERT_EQ(ng_gemm(&p, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(c.to_host<float>(), product(a, other, 3));
  ng_gemm_plan* plan = nullptr;
  ASSERT_EQ(ng_gemm_plan_create(&p, &plan), NG_OK) << ng_last_error();
  ASSERT_EQ(ng_gemm_split(b.address(), 200, 130, 130, count, block.address(), 0), NG_OK) << ng_last_error();
  ng_gemm_addresses at = NG_GEMM_ADDRESSES_INIT;
  at.a = p.a, at.b = p.b, at.c = p.c, at.workspace = p.workspace, at.workspace_bytes = p.workspace_bytes;
  EXPECT_EQ(ng_gemm_plan_launch(plan, &at, 0), NG_INVALID_ARGUMENT) << "without its pieces";
  at.b_pieces = block.address();
  ASSERT_EQ(ng_gemm_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(c.to_host<float>(), product(a, b, 3));
  ng_gemm_plan_destroy(plan);
  // B transposed lies as it was kept, as 130 rows of 200.
  const Tensor bt = b.transpose().copy();
  p.b = bt.address(), p.b_transposed = 1, p.ldb = 200;
  ASSERT_EQ(ng_gemm_split(bt.address(), 130, 200, 200, count, block.address(), 0), NG_OK) << ng_last_error();
  ASSERT_EQ(ng_gemm(&p, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(c.to_host<float>(), product(a, b, 3));
  p.b_piece_count = 5;
  EXPECT_EQ(ng_gemm(&p, 0), NG_INVALID_ARGUMENT);
  EXPECT_EQ(ng_gemm_pieces(&p, nullptr), NG_INVALID_ARGUMENT);
  EXPECT_EQ(ng_gemm_pieces_bytes(3, 4, 2, nullptr), NG_INVALID_ARGUMENT);
  EXPECT_EQ(ng_gemm_pieces_bytes(-3, 4, 2, &bytes), NG_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace nervanagpu
