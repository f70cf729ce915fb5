// What the tensor-core handlers share: fragments in registers, and the work space of a host thread.
//
// A fragment register r of lane 4g + t holds, with e elements a register, of A the row g + 8 (r mod 2) at
// k = 4e (r / 2) + et ..., of B the column g at k = 4er + et .... Accumulators: of each 8 columns, registers 0 and 1 hold row g
// at columns 2t and 2t + 1, registers 2 and 3 the row g + 8; float16 packs the two columns into one register.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "sass/emulate/state/warp.h"
#include "sass/emulate/tensor/tensor_fast.h"
#include "sass/emulate/tensor/tensor_operands.h"
#include "sass/isa/inst.h"

namespace nervanagpu::sass::emulate {

struct SparseUnit;  // tensor_sparse.h

struct TensorUnit {
  static constexpr unsigned kMaxIntegers = 64;  // their k
  tensor::PanelA a;
  tensor::PanelB b;  // of registers
  tensor::Stored stored{};
  tensor::Stored stored_a{};  // of single bits
  tensor::Accumulators cd{};
  tensor::PanelCache cache;
  std::array<std::array<std::int16_t, kMaxIntegers>, tensor::kRows> integers_a{};
  std::array<std::array<std::int16_t, kMaxIntegers>, tensor::kMaxN> integers_b{};
  tensor::Multiply multiply = tensor::fastest();
  tensor::FillA fill_a = tensor::fastest_fill_a();
  tensor::FillB fill_b = tensor::fastest_fill_b();
  std::shared_ptr<SparseUnit> sparse;  // made when the first one comes
};

TensorUnit& tensor_unit(Warp& w);

// The type of A (kSrcType) or B (kSrcType2); float16 is not written.
TensorOp::Element element_of(const Inst& inst, Axis axis);

// Row `r` of a register operand; RZ has only one.
inline std::uint32_t* tensor_row(const Warp& w, std::uint16_t first, unsigned r) {
  return w.row(first == rows::kZero ? first : static_cast<std::uint16_t>(first + r));
}

void load_accumulators(const Warp& w, const TensorOp& op, bool keep, tensor::Accumulators& cd);
void store_accumulators(const Warp& w, const TensorOp& op, std::uint16_t to, const tensor::Accumulators& cd);

// The words of a fragment as plain rows of 32 bytes: `registers` of them from `first` on, of B after `skip`.
void collect_a(const Warp& w, std::uint16_t first, unsigned registers, tensor::Stored& to);
void collect_b(const Warp& w, std::uint16_t first, unsigned skip, unsigned registers, tensor::Stored& to);

// Integers of `rows` plain rows.
using Integers = std::array<std::int16_t, TensorUnit::kMaxIntegers>;
void integers_of(const tensor::Stored& from, TensorOp::Element e, unsigned rows, unsigned k, Integers* to);
// unit.cd += A * B of integers_a, integers_b.
void multiply_integers(const TensorOp& op, TensorUnit& unit);
// The same of single bits: A in `a`, B in `b`, the ones in both.
void multiply_bits(const TensorOp& op, const tensor::Stored& a, const tensor::Stored& b, tensor::Accumulators& cd);
constexpr unsigned element_bits(TensorOp::Element e) {
  using E = TensorOp::Element;
  switch (e) {
    case E::kF16:
    case E::kBf16: return 16;
    case E::kTf32: return 32;
    case E::kF64: return 64;
    case E::kBit: return 1;
    case E::kS4:
    case E::kU4: return 4;
    default: return 8;
  }
}
// What a transposed operand is made of; single bits are never transposed.
constexpr unsigned element_bytes(TensorOp::Element e) {
  return element_bits(e) < 8 ? 1 : element_bits(e) / 8;
}
constexpr bool is_float(TensorOp::Element e) {
  return e <= TensorOp::Element::kE5m2;
}
constexpr tensor::Type type_of(TensorOp::Element e) {
  return static_cast<tensor::Type>(e);  // the first ones, in the same order
}
constexpr tensor::Mode mode_of(const TensorOp& op) {
  return {op.half, element_bits(op.a) == 8};
}

}  // namespace nervanagpu::sass::emulate
