// A float32 operand of a product that is computed from pieces of it, and how those lie: bf16x6.h, f16x3.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/operand.h"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/tensor_map.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::pieces {

inline constexpr std::int64_t kUnit = 4;  // elements that a lane splits at a time

// Elements of a row of pieces: rows begin at multiples of 16 bytes.
constexpr std::int64_t pitch_of(std::int64_t inner) {
  constexpr std::int64_t kRow = 8;
  return ceil_div(inner, kRow) * kRow;
}

struct Side {
  std::int64_t inner = 0, outer = 0;  // lengths of the contiguous axis and of the other
  std::int64_t matrices = 1;
  std::int64_t stride = 0;  // of the operand, in elements
  sgemm::Operand from;

  [[nodiscard]] std::int64_t pitch() const { return pitch_of(inner); }
  [[nodiscard]] std::int64_t bytes(std::int64_t pieces) const { return pieces * matrices * outer * pitch() * 2; }
  [[nodiscard]] std::int64_t units() const { return ceil_div(inner, kUnit) * outer * matrices; }

  // Where pieces of what lies after the first `before` of the axis that is not k begin, in bytes.
  [[nodiscard]] std::int64_t offset(std::int64_t before) const { return 2 * before * (from.k_inside ? pitch() : 1); }

  // Of pieces at `address`, for tiles of `tile` of the axis that is not k, without the first `before` of that axis.
  [[nodiscard]] TensorMap map(MapType type, std::int64_t pieces, std::uint64_t address, int tile,
                              std::int64_t before = 0) const {
    constexpr std::uint32_t kBlock = 64;
    TensorMap map;
    map.type = type;
    map.address = address + static_cast<std::uint64_t>(offset(before));
    map.rank = 3;
    map.sizes = {static_cast<std::uint64_t>(from.k_inside ? inner : inner - before),
                 static_cast<std::uint64_t>(from.k_inside ? outer - before : outer),
                 static_cast<std::uint64_t>(pieces * matrices)};
    map.strides = {static_cast<std::uint64_t>(2 * pitch()), static_cast<std::uint64_t>(2 * pitch() * outer)};
    map.box = {kBlock, from.k_inside ? static_cast<std::uint32_t>(tile) : kBlock, 1};
    map.swizzle = MapSwizzle::b128;
    map.promotion = MapPromotion::b128;
    return map;
  }

  // Of the operand itself, for blocks of 64 k and `rows` of the other axis, in boxes whose lines have 128 bytes: lib/sm_90a/pieces/float_rows.sass.
  [[nodiscard]] TensorMap whole_map(int rows) const {
    constexpr std::uint32_t kLine = 32, kBlock = 64;
    TensorMap map;
    map.type = MapType::float32;
    map.address = from.address;
    map.rank = 2;
    map.sizes = {static_cast<std::uint64_t>(inner), static_cast<std::uint64_t>(outer)};
    map.strides = {static_cast<std::uint64_t>(4 * from.leading)};
    map.box = {kLine, from.k_inside ? static_cast<std::uint32_t>(rows) : kBlock};
    map.swizzle = MapSwizzle::b128;
    map.promotion = MapPromotion::b256;
    return map;
  }
};

inline Side side_of(const sgemm::Operand& from, std::int64_t k, std::int64_t stride, std::int64_t batch) {
  const bool several = batch > 1 && stride != 0;
  return {from.k_inside ? k : from.length, from.k_inside ? from.length : k, several ? batch : 1, several ? stride : 0,
          from};
}
inline Side a_of(const GemmProblem& p) {
  return side_of(sgemm::a_of(p), p.k, p.stride_a, p.batch);
}
inline Side b_of(const GemmProblem& p) {
  return side_of(sgemm::b_of(p), p.k, p.stride_b, p.batch);
}

// Blocks of k of a problem whose operands have 16 bits.
inline std::int64_t chunks_of(const GemmProblem& p) {
  constexpr std::int64_t kChunk = 64;
  return ceil_div(p.k, kChunk);
}

// The problem as hgemm.sass's parameters say it: operands of `type`, partial sums `partial_sums` bytes into the workspace.
inline GemmProblem of_pieces(const GemmProblem& problem, Dtype type, std::size_t partial_sums) {
  GemmProblem p = problem;
  p.a_type = p.b_type = type;
  p.workspace = problem.workspace + partial_sums;
  p.mask = 0;  // which relu_mask.sass writes, and reads, after all kernels, if the epilogue does not
  return p;
}

}  // namespace nervanagpu::pieces
