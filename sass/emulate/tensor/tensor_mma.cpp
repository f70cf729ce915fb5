// HMMA, IMMA, BMMA and DMMA: a warp multiplies fragments in its registers.
#include <cstdint>
#include <string>

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/tensor/families.h"
#include "sass/emulate/tensor/tensor_sparse.h"
#include "sass/emulate/tensor/tensor_unit.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate {
namespace {

using Element = TensorOp::Element;

const Uop* part_of_warp(Warp& w, const Uop* u) {
  return fault(w, u, kLanes, "a tensor-core instruction by a part of the warp");
}

const Uop* mma(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const TensorOp& op = x.tensor;
  if (w.exec != kAllLanes) return part_of_warp(w, u);
  TensorUnit& unit = tensor_unit(w);
  const unsigned registers = op.k * element_bits(op.b) / 128;  // of B; A has twice as many
  load_accumulators(w, op, true, unit.cd);
  if (op.m == 8) {
    collect_b(w, op.row_a, 0, registers, unit.stored);  // rows as of B
  } else {
    collect_a(w, op.row_a, 2 * registers, unit.stored);
  }
  if (op.a == Element::kBit) {
    unit.stored_a = unit.stored;
    collect_b(w, op.row_b, 0, registers, unit.stored);
    multiply_bits(op, unit.stored_a, unit.stored, unit.cd);
  } else if (op.sparse) {
    if (is_float(op.a)) {
      unit.fill_a(unit.a, type_of(op.a), unit.stored, op.k, false, op.negate);
    } else {
      integers_of(unit.stored, op.a, tensor::kRows, op.k, unit.integers_a.data());
    }
    for (unsigned half = 0; half < 2; ++half) {
      collect_b(w, op.row_b, half * registers, registers, unit.stored);
      fill_half(op, unit, half);
    }
    places_of(w, op, sparse_unit(unit).places);
    multiply_sparse(op, unit);
  } else if (is_float(op.a)) {
    unit.fill_a(unit.a, type_of(op.a), unit.stored, op.k, false, op.negate);
    collect_b(w, op.row_b, 0, registers, unit.stored);
    unit.fill_b(unit.b, type_of(op.b), unit.stored, op.n, op.k, false);
    unit.multiply(unit.a, unit.b, op.n, op.k, unit.cd, mode_of(op));
  } else {
    integers_of(unit.stored, op.a, tensor::kRows, op.k, unit.integers_a.data());
    collect_b(w, op.row_b, 0, registers, unit.stored);
    integers_of(unit.stored, op.b, op.n, op.k, unit.integers_b.data());
    multiply_integers(op, unit);
  }
  store_accumulators(w, op, x.dst, unit.cd);
  return u + 1;
}

u64 pair(const Warp& w, std::uint16_t first, unsigned r, unsigned lane) {
  return tensor_row(w, first, 2 * r)[lane] | u64{tensor_row(w, first, 2 * r + 1)[lane]} << 32;
}

// Fragments as of 32-bit elements, in pairs of registers; 8 rows take every row register for themselves.
const Uop* dmma(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const TensorOp& op = x.tensor;
  if (w.exec != kAllLanes) return part_of_warp(w, u);
  const unsigned halves = op.m / 8U;
  u64 sums[4][kLanes];
  for (unsigned r = 0; r < 2 * halves; ++r) {
    for (unsigned l = 0; l < kLanes; ++l) {
      const unsigned g = l / 4;
      const unsigned column = l % 4 * 2 + r % 2;
      u64 sum = pair(w, op.row_c, r, l);
      for (unsigned k = 0; k < op.k; ++k) {
        const u64 a = pair(w, op.row_a, k / 4 * halves + r / 2, 4 * g + k % 4);
        const u64 b = pair(w, op.row_b, k / 4, 4 * column + k % 4);
        sum = tensor::fma_step(a, b, sum);
      }
      sums[r][l] = sum;
    }
  }
  if (x.dst == rows::kDump) return u + 1;
  for (unsigned r = 0; r < 2 * halves; ++r) {
    u32* lo = w.row(static_cast<std::uint16_t>(x.dst + 2 * r));
    for (unsigned l = 0; l < kLanes; ++l) {
      lo[l] = static_cast<u32>(sums[r][l]);
      lo[kLanes + l] = static_cast<u32>(sums[r][l] >> 32);
    }
  }
  return u + 1;
}

}  // namespace

bool bind_mma(const Inst& inst, Binding& b) {
  if (inst.op != Op::HMMA && inst.op != Op::IMMA && inst.op != Op::BMMA && inst.op != Op::DMMA) return false;
  Detail& x = b.detail;
  TensorOp& op = x.tensor;
  struct Shape {
    Tok name;
    std::uint16_t m, k;
  };
  static constexpr Shape kShapes[] = {{Tok::k16816, 16, 16}, {Tok::k1688, 16, 8},     {Tok::k1684, 16, 4},
                                      {Tok::k16832, 16, 32}, {Tok::k8816, 8, 16},     {Tok::k8x8x4, 8, 4},
                                      {Tok::k8832, 8, 32},   {Tok::k884, 8, 4},       {Tok::k16x8x4, 16, 4},
                                      {Tok::k16x8x8, 16, 8}, {Tok::k16x8x16, 16, 16}, {Tok::k16864, 16, 64},
                                      {Tok::k88128, 8, 128}, {Tok::k168128, 16, 128}, {Tok::k168256, 16, 256}};
  bool found = false;
  for (const Shape& s : kShapes) {
    if (!inst.has(Axis::kShape, s.name)) continue;
    op.m = static_cast<std::uint8_t>(s.m);
    op.k = inst.has(Axis::kSparse, Tok::SP) ? s.k / 2 : s.k;
    found = true;
  }
  if (!found) b.refuse("its shape");
  if (x.src_count < 3) b.refuse("operands");
  op.row_a = x.src[0].row;
  op.row_b = x.src[1].row;
  op.row_c = x.src[2].row;
  for (const Src& s : x.src) {
    if (s.abs || s.inv || (s.neg && (inst.op == Op::DMMA || &s == &x.src[2]))) b.refuse("a sign of an operand");
  }
  op.negate = x.src[0].neg != x.src[1].neg;
  if (inst.op == Op::DMMA) {
    if (round_of(inst) != kNearest) b.refuse("a directed rounding");
    op.a = op.b = Element::kF64;
    x.body = dmma;
    return true;
  }
  if (inst.has(Axis::kFunction, Tok::XOR_POPC)) b.refuse("the count of bits that differ, .XOR.POPC");
  op.a = op.b = inst.op == Op::BMMA ? Element::kBit : element_of(inst, Axis::kSrcType);
  if (inst.op == Op::IMMA) op.b = element_of(inst, Axis::kSrcType2);
  op.half = inst.has(Axis::kDstType, Tok::F16);
  op.saturate = inst.has(Axis::kSat, Tok::SAT);
  bind_sparse(inst, 3, b);
  if (op.sparse && element_bits(op.a) == 4) b.refuse("sparse elements of four bits");
  x.body = mma;
  return true;
}

}  // namespace nervanagpu::sass::emulate
