// Sparse A (.SP): of every four elements along k two are stored (TF32: of every two, one), and metadata in a register of
// each lane say which. The others are not looked at: an infinity in B that meets none of them does no harm.
//
// Four bits of metadata a group of four (two), ascending from bit 0: the place of the first stored element in bits 0-1, of
// the second in bits 2-3; of TF32 bit 1. They lie with the quad of lanes 4g + t that has rows g and g + 8:
//   16 and 32 bits   lane t has groups 4t .. 4t + 3, of row g in its lower half, of row g + 8 in the upper
//   8 bits           lane t has groups 8 (t / 2) .. + 7, of row g if t is even, else of row g + 8
// A product that needs fewer than four lanes says by its selector which one, or which pair. Found on an H200
// (test/cudac/sparse_test.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "sass/emulate/tensor/tensor_unit.h"
#include "sass/emulate/uop/binding.h"

namespace nervanagpu::sass::emulate {

// Of each row and stored element of A: the logical k that it stands at.
using Places = std::array<std::array<std::uint8_t, tensor::kMaxK>, tensor::kRows>;
void places_of(const Warp& w, const TensorOp& op, Places& to);

// B of a sparse product: twice as deep as A, so it comes in two halves.
struct SparseUnit {
  Places places{};
  std::array<tensor::PanelB, 2> b;
  tensor::PanelB met;  // by one row of A
  std::array<std::array<Integers, tensor::kMaxN>, 2> integers_b{};
};
SparseUnit& sparse_unit(TensorUnit& unit);

// Takes B from unit.stored.
void fill_half(const TensorOp& op, TensorUnit& unit, unsigned half);

// unit.cd += A * B of unit.a or unit.integers_a, and the halves of B.
void multiply_sparse(const TensorOp& op, TensorUnit& unit);

// What a product with .SP says of its metadata, source `at` being their register.
void bind_sparse(const Inst& inst, unsigned at, Binding& b);

}  // namespace nervanagpu::sass::emulate
