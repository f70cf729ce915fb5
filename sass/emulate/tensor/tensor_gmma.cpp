// HGMMA, IGMMA, QGMMA and BGMMA: each warp of a warpgroup computes its 16 of the 64 rows, when it comes there. Operands in shared
// memory may change only after the wait, so this is what the chip computes; checked mode proves that they do not.
#include <cstdint>
#include <cstring>
#include <string>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/tensor/families.h"
#include "sass/emulate/tensor/tensor_layout.h"
#include "sass/emulate/tensor/tensor_sparse.h"
#include "sass/emulate/tensor/tensor_unit.h"
#include "sass/emulate/uop/words.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

// Copies the pieces of `rows` rows from `first` on, 32 bytes of k each; `half` 1: the next 32. false: some lie outside of the
// CTA's shared memory, `bad` being the first.
bool collect(Warp& w, const Uop* u, u64 descriptor, bool transposed, unsigned bytes, unsigned first, unsigned rows,
             unsigned half, tensor::Stored& to, u32& bad) {
  const tensor::Descriptor d = tensor::describe(descriptor);
  const unsigned lines = tensor::lines_of(transposed, rows, bytes);
  const unsigned length = tensor::line_bytes(transposed, rows, bytes);
  const unsigned line0 = transposed ? half * lines : first;
  const unsigned at0 = transposed ? first * bytes : half * 32;
  std::byte* out = to.bytes.data();
  for (unsigned line = 0; line < lines; ++line) {
    for (unsigned at = 0; at < length; at += 16, out += 16) {
      const u32 address = tensor::piece_address(d, transposed, line0 + line, at0 + at);
      const u32 offset = address - w.shared_base;
      if (offset >= w.shared_bytes || w.shared_bytes - offset < 16) {
        bad = address;
        return false;
      }
      std::memcpy(out, w.shared + offset, 16);
      if (w.checker != nullptr) w.checker->tensor_read(w, u, offset);
    }
  }
  return true;
}

std::string hex(u32 v) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", v);
  return text;
}

const Uop* outside(Warp& w, const Uop* u, const char* operand, u32 address) {
  std::string what = std::string("out of bounds: operand ") + operand + " at shared address " + hex(address) +
                     "; the CTA has [" + hex(w.shared_base) + ", " + hex(w.shared_base + w.shared_bytes) + ")";
  return fault(w, u, kLanes, what);
}

const Uop* gmma(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const TensorOp& op = x.tensor;
  if (w.exec != kAllLanes) return fault(w, u, kLanes, "a warpgroup instruction by a part of the warp");
  TensorUnit& unit = tensor_unit(w);
  const auto descriptor = [&](unsigned i) {
    return u64{w.ureg[op.descriptor + i]} | u64{w.ureg[op.descriptor + i + 1]} << 32;
  };
  const bool floats = is_float(op.a);
  const unsigned first = w.index % 4 * tensor::kRows;
  u32 bad = 0;
  const unsigned bytes = element_bytes(op.a);
  if (op.registers_a) {
    collect_a(w, op.row_a, 4, unit.stored);
  } else if (!collect(w, u, descriptor(0), op.transposed_a, bytes, first, tensor::kRows, 0, unit.stored, bad)) {
    return outside(w, u, "A", bad);
  }
  if (op.a == TensorOp::Element::kBit) {
    unit.stored_a = unit.stored;
  } else if (floats) {
    unit.fill_a(unit.a, type_of(op.a), unit.stored, op.k, op.transposed_a && !op.registers_a, op.negate);
  } else {
    integers_of(unit.stored, op.a, tensor::kRows, op.k, unit.integers_a.data());
  }
  const u64 descriptor_b = descriptor(2);  // with A in registers the first two are not read
  const auto collect_half = [&](unsigned half) {
    return collect(w, u, descriptor_b, op.transposed_b, element_bytes(op.b), 0, op.n, half, unit.stored, bad);
  };
  if (!collect_half(0)) return outside(w, u, "B", bad);
  const bool keep = predicate(w, op.keep_c) != 0;
  load_accumulators(w, op, keep, unit.cd);
  if (op.sparse) {
    SparseUnit& s = sparse_unit(unit);
    fill_half(op, unit, 0);
    if (!collect_half(1)) return outside(w, u, "B", bad);
    fill_half(op, unit, 1);
    places_of(w, op, s.places);
    multiply_sparse(op, unit);
  } else if (op.a == TensorOp::Element::kBit) {
    multiply_bits(op, unit.stored_a, unit.stored, unit.cd);
  } else if (floats) {
    const tensor::PanelB& b = unit.cache.find(type_of(op.b), op.transposed_b, op.n, descriptor_b, unit.stored);
    unit.multiply(unit.a, b, op.n, op.k, unit.cd, mode_of(op));
  } else {
    integers_of(unit.stored, op.b, op.n, op.k, unit.integers_b.data());
    multiply_integers(op, unit);
  }
  store_accumulators(w, op, x.dst, unit.cd);
  return u + 1;
}

// The engine is done with an instruction when its handler returns; checked mode has an eye on who relies on that.
const Uop* nothing(Warp&, const Uop* u) {
  return u + 1;
}

}  // namespace

bool bind_gmma(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  if (inst.op == Op::WARPGROUP) {
    x.body = nothing;
    return true;
  }
  if (ready(inst) != Ready::kGroup) return false;
  TensorOp& op = x.tensor;
  op.registers_a = x.src[0].kind == Src::Kind::kRow;
  const unsigned at = op.registers_a ? 1 : 0;
  if (x.src_count < at + 2 || x.src[at].kind != Src::Kind::kUniform) b.refuse("operands");
  op.a = inst.op == Op::BGMMA ? TensorOp::Element::kBit : element_of(inst, Axis::kSrcType);
  op.b = inst.op == Op::HGMMA || inst.op == Op::BGMMA ? op.a : element_of(inst, Axis::kSrcType2);
  op.half = inst.has(Axis::kDstType, Tok::F16);
  op.saturate = inst.has(Axis::kSat, Tok::SAT);
  op.negate = (inst.has(Axis::kNegA, Tok::negA) || x.src[0].neg) != inst.has(Axis::kNegB, Tok::negB);
  op.transposed_a = inst.has(Axis::kTransA, Tok::tnspA);
  op.transposed_b = inst.has(Axis::kTransB, Tok::tnspB);
  op.n = static_cast<std::uint16_t>(product_columns(inst));
  op.k = static_cast<std::uint16_t>(256 / element_bits(op.a));
  op.row_a = x.src[0].row;
  op.row_c = x.src[at + 1].row;
  op.descriptor = static_cast<std::uint8_t>(x.src[at].bits);
  if (x.puse_count > 0) op.keep_c = x.puse[0];
  bind_sparse(inst, at + 2, b);
  x.body = gmma;
  return true;
}

}  // namespace nervanagpu::sass::emulate
