#include "test/kernels/nn/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/numbers/round.h"

namespace nervanagpu::test {

bool is_float(Dtype dtype) {
  return dtype == Dtype::float32 || dtype == Dtype::float16 || dtype == Dtype::bfloat16;
}

double value_of(Dtype dtype, std::uint32_t bits) {
  switch (dtype) {
    case Dtype::float32: return static_cast<double>(std::bit_cast<float>(bits));
    case Dtype::bfloat16: return static_cast<double>(std::bit_cast<float>(bits << 16));
    case Dtype::float16: {
      const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
      const int exponent = static_cast<int>(bits >> 10 & 31u);
      const auto fraction = static_cast<double>(bits & 1023u);
      if (exponent == 31) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
      return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024.0 + fraction, exponent - 25);
    }
    case Dtype::int32: return static_cast<std::int32_t>(bits);
    case Dtype::int8: return static_cast<std::int8_t>(bits);
    default: return static_cast<std::uint8_t>(bits);
  }
}

std::uint32_t bits_of(Dtype dtype, double value) {
  if (dtype == Dtype::float32) {
    return std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  if (dtype == Dtype::bfloat16) {
    if (std::isnan(value)) return 0x7fff;
    const std::uint32_t word = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint32_t rest = word & 0xffffu;  // above the middle, or there from an odd number, upwards
    return (word >> 16) + (rest > 0x8000u || (rest == 0x8000u && (word & 0x10000u) != 0) ? 1 : 0);
  }
  if (dtype == Dtype::float16) {
    if (std::isnan(value)) return 0x7fff;
    const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
    const double a = std::fabs(value);
    if (a >= 65520.0) return sign | 0x7c00u;
    if (a == 0) return sign;
    const int exponent = std::max(std::ilogb(a), -14);
    // In units of the last place, ties to even (the default mode of nearbyint).
    const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(a, 10 - exponent)));
    return sign | (units + (static_cast<std::uint32_t>(exponent + 14) << 10));
  }
  const auto wide = static_cast<std::int64_t>(value);
  if (dtype == Dtype::int32) return static_cast<std::uint32_t>(wide);
  return static_cast<std::uint32_t>(wide) & 0xffu;
}

std::uint32_t converted(Dtype from, Dtype to, std::uint32_t bits) {
  if (from == to) return bits;
  if (from == Dtype::bfloat16 && to == Dtype::float32) return bits << 16;  // NaN keeps its bits
  double v = value_of(from, bits);
  if (is_float(to)) return bits_of(to, is_float(from) ? v : static_cast<double>(static_cast<float>(v)));
  if (is_float(from)) {
    const double low = to == Dtype::int32 ? -2147483648.0 : to == Dtype::int8 ? -128.0 : 0.0;
    const double high = to == Dtype::int32 ? 2147483647.0 : to == Dtype::int8 ? 127.0 : 255.0;
    v = std::isnan(v) ? 0.0 : std::clamp(std::trunc(v), low, high);
  }
  return bits_of(to, v);
}

std::uint32_t rounded(Dtype to, float x, std::uint32_t word, unsigned bits) {
  if (to == Dtype::float16) return round_f16(x, word, bits == 0 ? 10 : bits);
  if (to == Dtype::bfloat16) return round_bf16(x, word, bits == 0 ? 7 : bits);
  return std::bit_cast<std::uint32_t>(round_f32(x, word, bits == 0 ? 15 : bits));
}

std::uint32_t random_bits(std::mt19937& random, Dtype dtype) {
  const auto pick = static_cast<std::uint32_t>(random());
  if (dtype == Dtype::float32) {
    constexpr std::uint32_t kSpecial[] = {0x7fffffff, 0x7f800000, 0,          1,          0x007fffff, 0x3f800000,
                                          0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x4f000000, 0x4effffff,
                                          0x43000000, 0x437f0000, 0x437fffff, 0x7f7fffff, 0x3f808000, 0x3f818000,
                                          0x7f7f8000, 0x7f7f7fff, 0x00008000, 0x00018000, 0x007f8000};
    if (pick % 4 == 0) return kSpecial[pick / 4 % std::size(kSpecial)] | (pick & 0x80000000u);
    if (pick % 4 == 1) return bits_of(dtype, static_cast<double>(static_cast<std::int32_t>(random())) / 4194304.0);
    return static_cast<std::uint32_t>(random());
  }
  if (dtype == Dtype::float16) {
    constexpr std::uint32_t kSpecial[] = {0x7fff, 0x7c00, 0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff};
    if (pick % 4 == 0) return kSpecial[pick / 4 % std::size(kSpecial)] | (pick >> 16 & 0x8000u);
    return random() & 0xffffu;
  }
  if (dtype == Dtype::bfloat16) {
    constexpr std::uint32_t kSpecial[] = {0x7fff, 0x7f80, 0, 1, 0x7f, 0x80, 0x3f80, 0x7f7f, 0x4300, 0x477f};
    if (pick % 4 == 0) return kSpecial[pick / 4 % std::size(kSpecial)] | (pick >> 16 & 0x8000u);
    if (pick % 4 == 1) return bits_of(dtype, static_cast<double>(static_cast<std::int32_t>(random())) / 4194304.0);
    return random() & 0xffffu;
  }
  if (dtype == Dtype::int32) return static_cast<std::uint32_t>(random()) >> pick % 32;
  return random() & 0xffu;
}

std::size_t Buffer::at(std::size_t element) const {
  const auto width = static_cast<std::int64_t>(size_of(view.dtype()));
  std::int64_t offset = static_cast<std::int64_t>(view.address() - whole.address()) / width;
  auto rest = static_cast<std::int64_t>(element);
  for (std::size_t k = view.shape().size(); k-- > 0;) {
    offset += rest % view.shape()[k] * view.strides()[k];
    rest /= view.shape()[k];
  }
  return static_cast<std::size_t>(offset);
}

std::vector<std::uint32_t> read_bits(const Tensor& t) {
  const std::size_t width = size_of(t.dtype());
  std::vector<std::byte> bytes(t.nbytes());
  t.get(bytes.data(), bytes.size());
  std::vector<std::uint32_t> out(static_cast<std::size_t>(t.size()), 0);
  for (std::size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], bytes.data() + i * width, width);
  return out;
}

Tensor from_bits(const std::vector<std::uint32_t>& bits, const Shape& shape, Dtype dtype) {
  const std::size_t width = size_of(dtype);
  std::vector<std::byte> bytes(bits.size() * width);
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(bytes.data() + i * width, &bits[i], width);
  Tensor t = Tensor::empty(shape, dtype);
  t.set(bytes.data(), bytes.size());
  return t;
}

Buffer make_buffer(std::mt19937& random, const Shape& shape, Dtype dtype, Placement order,
                   const std::vector<int>& axes) {
  // The buffer's axes are the view's in another order, each with room between and after its elements.
  const bool permuted = order != Placement::row_major && order != Placement::padded;
  const std::int64_t step = order == Placement::strided ? 2 : 1;
  const std::int64_t room = order == Placement::strided || order == Placement::backwards ? 3
                            : order == Placement::padded                                 ? 4
                                                                                         : 0;
  Shape stored;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    stored.push_back(shape[permuted ? static_cast<std::size_t>(axes[k]) : k] * step + room);
  }
  std::int64_t count = 1;
  for (const std::int64_t n : stored) count *= n;
  const std::int64_t guard = permuted ? 5 : 16;  // the latter takes the alignment away
  Buffer b;
  b.bits.resize(static_cast<std::size_t>(count + 2 * guard));
  for (std::uint32_t& x : b.bits) x = random_bits(random, dtype);
  b.whole = from_bits(b.bits, {count + 2 * guard}, dtype);
  Tensor t = b.whole.slice(0, guard, guard + count).reshape(stored);
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const int axis = static_cast<int>(k);
    const std::int64_t length = shape[permuted ? static_cast<std::size_t>(axes[k]) : k];
    if (order == Placement::strided) t = t.slice(axis, 1, 1 + 2 * length, 2);
    if (order == Placement::padded) t = t.slice(axis, 0, length);
    if (order == Placement::backwards) t = t.slice(axis, 1, 1 + length);
    if (order == Placement::backwards && k % 2 == 0) t = t.slice(axis, -1, -1 - length, -1);
  }
  if (permuted) {
    std::vector<int> back(axes.size());
    for (std::size_t k = 0; k < axes.size(); ++k) back[static_cast<std::size_t>(axes[k])] = static_cast<int>(k);
    t = t.transpose(back);
  }
  b.view = t;
  return b;
}

}  // namespace nervanagpu::test
