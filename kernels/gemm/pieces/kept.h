// Pieces that a caller keeps (nervanagpu/pieces.hpp): the words that a kernel left when it made them, and then they themselves.
// Of two pieces there are the words of both cases, k along rows and across them: they tell shares of small elements along k.
#pragma once

#include <cstdint>

#include "nervanagpu/gemm.hpp"

namespace nervanagpu::kept {

inline constexpr std::uint64_t kWords = 256 * 4;     // bytes of an operand's
inline constexpr std::uint64_t kTwo = 6 * kWords;    // before two pieces: what f16x2.sass leaves of two operands
inline constexpr std::uint64_t kThree = 2 * kWords;  // before three

constexpr std::uint64_t before(std::int64_t count) {
  return count == 2 ? kTwo : kThree;
}

// Bytes from the block's beginning to the words for a product whose k is along rows, or across them.
constexpr std::uint64_t words_at(std::int64_t count, bool k_inside) {
  return count == 2 && !k_inside ? kWords : 0;
}

// Some are kept, for a product of `count`.
constexpr bool has(const PiecesAt& at, std::int64_t count) {
  return at.address != 0 && at.count == count;
}

// Their address; 0: none are.
constexpr std::uint64_t words(const PiecesAt& at, std::int64_t count, bool k_inside) {
  return has(at, count) ? at.address + words_at(count, k_inside) : 0;
}

// Whether those of A (B) are of the operand as it lies.
constexpr bool of_operand(const GemmProblem& p, bool a) {
  const PiecesAt& at = a ? p.a_pieces : p.b_pieces;
  const bool k_inside = a != (a ? p.a_transposed : p.b_transposed);
  const std::int64_t length = a ? p.m : p.n;
  return at.rows == (k_inside ? length : p.k) && at.columns == (k_inside ? p.k : length);
}

}  // namespace nervanagpu::kept
