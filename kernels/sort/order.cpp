#include "kernels/sort/order.h"

namespace nervanagpu::sorting {
namespace {

constexpr std::uint32_t kOnes = 0xffffffffU;

Order integers(unsigned width, bool is_signed, bool descending) {
  Order o;
  o.key = width == 1 ? "i8" : width == 2 ? "i16" : width == 4 ? "i32" : "i64";
  const std::uint32_t all = width >= 4 ? kOnes : (1U << (8 * width)) - 1;
  const std::uint32_t sign = is_signed ? all ^ all >> 1 : 0;  // of the only word or the upper one
  const std::uint32_t turn = descending ? all : 0;
  (width == 8 ? o.flip_high : o.flip) = sign;
  o.flip ^= turn;
  o.flip_high ^= turn;
  o.pad = all ^ o.flip;
  o.pad_high = all ^ o.flip_high;
  return o;
}

// `least`: the exponent's lowest bit.
Order floats(const char* key, unsigned width, std::uint32_t least, bool descending) {
  Order o;
  o.key = key;
  const std::uint32_t all = width == 4 ? kOnes : 0xffff;
  const std::uint32_t sign = all ^ all >> 1;
  const std::uint32_t infinity = sign - least;
  o.fold = 1 - sign;
  o.up = infinity;
  o.cap = 2 * infinity + 1;
  o.mul = descending ? kOnes : 1;
  o.add = descending ? kOnes : all - o.cap;
  o.pad = descending ? ~all | sign | infinity : kOnes;  // -inf, NaN; with their sign
  return o;
}

Order doubles(bool descending) {
  Order o;
  o.key = "f64";
  o.flip = o.flip_high = descending ? kOnes : 0;
  o.pad = descending ? 0 : kOnes;
  o.pad_high = descending ? 0xfff00000U : kOnes;
  return o;
}

}  // namespace

Order order_of(Dtype dtype, bool descending) {
  switch (dtype) {
    case Dtype::float16: return floats("f16", 2, 0x400, descending);
    case Dtype::bfloat16: return floats("f16", 2, 0x80, descending);
    case Dtype::float32: return floats("f32", 4, 0x800000, descending);
    case Dtype::float64: return doubles(descending);
    case Dtype::int8:
    case Dtype::int16:
    case Dtype::int32:
    case Dtype::int64: return integers(static_cast<unsigned>(size_of(dtype)), true, descending);
    default: return integers(static_cast<unsigned>(size_of(dtype)), false, descending);
  }
}

}  // namespace nervanagpu::sorting
