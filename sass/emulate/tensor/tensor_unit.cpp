#include "sass/emulate/tensor/tensor_unit.h"
#include "sass/emulate/uop/words.h"

#include <bit>
#include <cstring>

namespace nervanagpu::sass::emulate {
namespace {

using Four = u32 __attribute__((vector_size(16)));

Four load4(const u32* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
void store4(u32* p, Four v) {
  std::memcpy(p, &v, sizeof v);
}

}  // namespace

TensorOp::Element element_of(const Inst& inst, Axis axis) {
  using E = TensorOp::Element;
  switch (inst.mod(axis)) {
    case Tok::BF16: return E::kBf16;
    case Tok::TF32: return E::kTf32;
    case Tok::E4M3: return E::kE4m3;
    case Tok::E5M2: return E::kE5m2;
    case Tok::S8: return E::kS8;
    case Tok::U8: return E::kU8;
    case Tok::S4: return E::kS4;
    case Tok::U4: return E::kU4;
    default: return E::kF16;
  }
}

TensorUnit& tensor_unit(Warp& w) {
  if (!w.cta->tensor) w.cta->tensor = std::make_shared<TensorUnit>();
  return *w.cta->tensor;
}

void load_accumulators(const Warp& w, const TensorOp& op, bool keep, tensor::Accumulators& cd) {
  if (!keep || op.row_c == rows::kZero) {
    for (auto& row : cd) std::memset(row.data(), 0, op.n * sizeof(u32));
    return;
  }
  for (unsigned j = 0; j < op.n / 8U; ++j) {
    for (unsigned h = 0; h < op.m / 8U; ++h) {
      const u32* even = tensor_row(w, op.row_c, op.half ? 2 * j + h : 4 * j + 2 * h);
      const u32* odd = op.half ? even : even + kLanes;
      for (unsigned g = 0; g < 8; ++g) {
        u32* to = &cd[g + 8 * h][j * 8];
        Four a = load4(even + 4 * g);
        Four b = load4(odd + 4 * g);
        if (op.half) {
          a &= 0xffffu;
          b >>= 16;
        }
        store4(to, __builtin_shufflevector(a, b, 0, 4, 1, 5));
        store4(to + 4, __builtin_shufflevector(a, b, 2, 6, 3, 7));
      }
    }
  }
}

void store_accumulators(const Warp& w, const TensorOp& op, std::uint16_t to, const tensor::Accumulators& cd) {
  if (to == rows::kDump) return;
  for (unsigned j = 0; j < op.n / 8U; ++j) {
    for (unsigned h = 0; h < op.m / 8U; ++h) {
      u32* even = w.row(static_cast<std::uint16_t>(to + (op.half ? 2 * j + h : 4 * j + 2 * h)));
      for (unsigned g = 0; g < 8; ++g) {
        const u32* from = &cd[g + 8 * h][j * 8];
        const Four lo = load4(from);
        const Four hi = load4(from + 4);
        const Four a = __builtin_shufflevector(lo, hi, 0, 2, 4, 6);
        const Four b = __builtin_shufflevector(lo, hi, 1, 3, 5, 7);
        if (op.half) {
          store4(even + 4 * g, a | b << 16);
        } else {
          store4(even + 4 * g, a);
          store4(even + kLanes + 4 * g, b);
        }
      }
    }
  }
}

void collect_a(const Warp& w, std::uint16_t first, unsigned registers, tensor::Stored& to) {
  for (unsigned r = 0; r < registers; ++r) {
    const u32* row = tensor_row(w, first, r);
    for (unsigned g = 0; g < 8; ++g) {
      std::memcpy(to.bytes.data() + std::size_t{32} * (g + 8 * (r & 1)) + std::size_t{16} * (r >> 1), row + 4 * g, 16);
    }
  }
}

void collect_b(const Warp& w, std::uint16_t first, unsigned skip, unsigned registers, tensor::Stored& to) {
  for (unsigned r = 0; r < registers; ++r) {
    const u32* row = tensor_row(w, first, skip + r);
    for (unsigned g = 0; g < 8; ++g) {
      std::memcpy(to.bytes.data() + std::size_t{32} * g + std::size_t{16} * r, row + 4 * g, 16);
    }
  }
}

void integers_of(const tensor::Stored& from, TensorOp::Element e, unsigned rows, unsigned k, Integers* to) {
  const bool nibbles = element_bits(e) == 4;
  const bool is_signed = e == TensorOp::Element::kS8 || e == TensorOp::Element::kS4;
  const int flip = !is_signed ? 0 : nibbles ? 8 : 128;
  for (unsigned r = 0; r < rows; ++r) {
    const std::byte* p = from.bytes.data() + std::size_t{32} * r;
    if (nibbles) {  // two a byte, the lower one first
      for (unsigned i = 0; i < k; ++i) {
        const int v = std::to_integer<int>(p[i / 2]) >> 4 * (i % 2) & 15;
        to[r][i] = static_cast<std::int16_t>((v ^ flip) - flip);
      }
      continue;
    }
    for (unsigned i = 0; i < k; ++i) to[r][i] = static_cast<std::int16_t>((std::to_integer<int>(p[i]) ^ flip) - flip);
  }
}

namespace {

// At most 32 products below 2^16, or 64 of four bits. Of a count that is known, so that the compiler takes several at once.
template <unsigned K>
std::int32_t dot(const std::int16_t* a, const std::int16_t* b) {
  std::int32_t sum = 0;
  for (unsigned k = 0; k < K; ++k) sum += a[k] * b[k];
  return sum;
}
std::int32_t dot(const std::int16_t* a, const std::int16_t* b, unsigned count) {
  if (count == 64) return dot<64>(a, b);
  if (count == 32) return dot<32>(a, b);
  if (count == 16) return dot<16>(a, b);
  std::int32_t sum = 0;
  for (unsigned k = 0; k < count; ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

void multiply_integers(const TensorOp& op, TensorUnit& unit) {
  for (unsigned m = 0; m < tensor::kRows; ++m) {
    const std::int16_t* a = unit.integers_a[m].data();
    for (unsigned n = 0; n < op.n; ++n) {
      const std::int64_t sum = dot(a, unit.integers_b[n].data(), op.k);
      const std::int64_t c = static_cast<std::int32_t>(unit.cd[m][n]);
      unit.cd[m][n] = static_cast<u32>(tensor::finish_integer(c + sum, op.saturate));
    }
  }
}

void multiply_bits(const TensorOp& op, const tensor::Stored& a, const tensor::Stored& b, tensor::Accumulators& cd) {
  const auto word = [](const tensor::Stored& from, unsigned row, unsigned i) {
    u32 v = 0;
    std::memcpy(&v, from.bytes.data() + std::size_t{32} * row + std::size_t{4} * i, sizeof v);
    return v;
  };
  for (unsigned m = 0; m < tensor::kRows; ++m) {
    for (unsigned n = 0; n < op.n; ++n) {
      for (unsigned i = 0; i < op.k / 32U; ++i) {
        cd[m][n] += static_cast<u32>(std::popcount(word(a, m, i) & word(b, n, i)));
      }
    }
  }
}

}  // namespace nervanagpu::sass::emulate
