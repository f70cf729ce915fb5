#include "sass/emulate/tensor/tensor_sparse.h"

#include <cstring>
#include <string>

namespace nervanagpu::sass::emulate {
namespace {

void multiply_floats(const TensorOp& op, TensorUnit& unit, SparseUnit& s) {
  for (unsigned m = 0; m < tensor::kRows; ++m) {
    for (unsigned i = 0; i < op.k; ++i) {
      const unsigned k = s.places[m][i];
      const tensor::PanelB& from = s.b[k / op.k];
      std::memcpy(s.met.value[i].data(), from.value[k % op.k].data(), op.n * sizeof(float));
      std::memcpy(s.met.exponent[i].data(), from.exponent[k % op.k].data(), op.n * sizeof(std::int16_t));
    }
    for (unsigned n = 0; n < op.n; ++n) {
      unit.cd[m][n] = tensor::dot(unit.a, s.met, m, n, op.k, unit.cd[m][n], mode_of(op));
    }
  }
}

void multiply_integers(const TensorOp& op, TensorUnit& unit, const SparseUnit& s) {
  for (unsigned m = 0; m < tensor::kRows; ++m) {
    for (unsigned n = 0; n < op.n; ++n) {
      std::int64_t sum = static_cast<std::int32_t>(unit.cd[m][n]);
      for (unsigned i = 0; i < op.k; ++i) {
        const unsigned k = s.places[m][i];
        sum += unit.integers_a[m][i] * s.integers_b[k / op.k][n][k % op.k];
      }
      unit.cd[m][n] = static_cast<std::uint32_t>(tensor::finish_integer(sum, op.saturate));
    }
  }
}

}  // namespace

void places_of(const Warp& w, const TensorOp& op, Places& to) {
  const bool one_of_two = op.a == TensorOp::Element::kTf32;
  const bool bytes = element_bits(op.a) == 8;
  const unsigned groups = one_of_two ? op.k : op.k / 2U;  // of a row
  const unsigned first = op.selector * groups / 4U;
  const std::uint32_t* metadata = tensor_row(w, op.row_metadata, 0);
  for (unsigned m = 0; m < tensor::kRows; ++m) {
    for (unsigned group = 0; group < groups; ++group) {
      const unsigned lane = m % 8 * 4 + first + (bytes ? group / 8 * 2 + m / 8 : group / 4);
      const std::uint32_t bits = metadata[lane] >> (bytes ? group % 8 * 4 : m / 8 * 16 + group % 4 * 4) & 15;
      if (one_of_two) {
        to[m][group] = static_cast<std::uint8_t>(2 * group + (bits >> 1 & 1));
      } else {
        to[m][2 * group] = static_cast<std::uint8_t>(4 * group + (bits & 3));
        to[m][2 * group + 1] = static_cast<std::uint8_t>(4 * group + (bits >> 2));
      }
    }
  }
}

SparseUnit& sparse_unit(TensorUnit& unit) {
  if (!unit.sparse) unit.sparse = std::make_shared<SparseUnit>();
  return *unit.sparse;
}

void fill_half(const TensorOp& op, TensorUnit& unit, unsigned half) {
  SparseUnit& s = sparse_unit(unit);
  if (is_float(op.b)) {
    unit.fill_b(s.b[half], type_of(op.b), unit.stored, op.n, op.k, op.transposed_b);
  } else {
    integers_of(unit.stored, op.b, op.n, op.k, s.integers_b[half].data());
  }
}

void multiply_sparse(const TensorOp& op, TensorUnit& unit) {
  SparseUnit& s = sparse_unit(unit);
  if (is_float(op.a)) {
    multiply_floats(op, unit, s);
  } else {
    multiply_integers(op, unit, s);
  }
}

void bind_sparse(const Inst& inst, unsigned at, Binding& b) {
  if (!inst.has(Axis::kSparse, Tok::SP)) return;
  Detail& x = b.detail;
  TensorOp& op = x.tensor;
  op.sparse = true;
  if (x.src_count <= at || x.src[at].kind != Src::Kind::kRow) return b.refuse("operands");
  op.row_metadata = x.src[at].row;
  const unsigned lanes = (op.a == TensorOp::Element::kTf32 ? op.k : op.k / 2U) / 4U;
  if (x.src_count > at + 1) op.selector = static_cast<std::uint8_t>(x.src[at + 1].bits);
  if (op.selector * lanes >= 4) b.refuse("metadata selector " + std::to_string(op.selector));
}

}  // namespace nervanagpu::sass::emulate
