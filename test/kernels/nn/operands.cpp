#include "test/kernels/nn/operands.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "src/numbers/philox.h"
#include "src/numbers/round.h"
#include "test/kernels/nn/elements.h"

namespace nervanagpu::test {
namespace {

constexpr std::int64_t kGuard = 16;

Operand stored(std::vector<std::uint32_t> bits, const Shape& shape, Dtype dtype, std::int64_t shift) {
  const auto count = static_cast<std::int64_t>(bits.size());
  std::vector<std::uint32_t> all(static_cast<std::size_t>(count + 2 * kGuard + shift), guard_bits(dtype));
  std::copy(bits.begin(), bits.end(), all.begin() + kGuard + shift);
  Operand o;
  o.whole = from_bits(all, {static_cast<std::int64_t>(all.size())}, dtype);
  o.t = o.whole.slice(0, kGuard + shift, kGuard + shift + count).reshape(shape);
  o.bits = std::move(bits);
  return o;
}

std::size_t count_of(const Shape& shape) {
  std::size_t n = 1;
  for (const std::int64_t s : shape) n *= static_cast<std::size_t>(s);
  return n;
}

}  // namespace

std::uint32_t guard_bits(Dtype dtype) {
  return dtype == Dtype::float32 ? 0x7fc0beefu : 0x7eefu;
}

float Operand::value(std::size_t i) const {
  return static_cast<float>(value_of(t.dtype(), bits[i]));
}

Operand make_operand(std::mt19937& random, const Shape& shape, Dtype dtype, std::int64_t shift) {
  std::vector<std::uint32_t> bits(count_of(shape));
  for (std::uint32_t& b : bits) b = random_bits(random, dtype);
  return stored(std::move(bits), shape, dtype, shift);
}

Operand make_normal(std::mt19937& random, const Shape& shape, Dtype dtype, std::int64_t shift) {
  std::normal_distribution<float> normal;
  std::vector<std::uint32_t> bits(count_of(shape));
  for (std::uint32_t& b : bits) b = bits_of(dtype, static_cast<double>(normal(random)));
  return stored(std::move(bits), shape, dtype, shift);
}

Operand make_operand(const std::vector<float>& values, const Shape& shape, Dtype dtype) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float v : values) bits.push_back(bits_of(dtype, static_cast<double>(v)));
  return stored(std::move(bits), shape, dtype, 0);
}

std::uint32_t rounded(float x, Dtype dtype, const Rounding& rounding, std::size_t i) {
  if (!rounding.stochastic) return bits_of(dtype, static_cast<double>(x));
  const std::uint32_t word = philox(rounding.seed, rounding.offset + i / 4)[i % 4];
  if (dtype == Dtype::float16)
    return round_f16(x, word, rounding.bits == 0 ? 10 : static_cast<unsigned>(rounding.bits));
  return bits_of(
      dtype, static_cast<double>(round_f32(x, word, rounding.bits == 0 ? 15 : static_cast<unsigned>(rounding.bits))));
}

std::string mismatch(const Operand& got, const Rounding& rounding, const std::function<float(std::size_t)>& reference) {
  const std::vector<std::uint32_t> all = read_bits(got.whole);
  const auto begin = static_cast<std::size_t>(got.t.address() - got.whole.address()) / size_of(got.t.dtype());
  const auto count = static_cast<std::size_t>(got.t.size());
  std::ostringstream out;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool inside = k >= begin && k < begin + count;
    const std::uint32_t expected =
        inside ? rounded(reference(k - begin), got.t.dtype(), rounding, k - begin) : guard_bits(got.t.dtype());
    if (all[k] == expected) continue;
    // Selected NaNs keep their sign.
    if (inside && std::isnan(value_of(got.t.dtype(), all[k])) && std::isnan(value_of(got.t.dtype(), expected)))
      continue;
    out << "element " << static_cast<std::int64_t>(k) - static_cast<std::int64_t>(begin) << " of " << count << " ("
        << name_of(got.t.dtype()) << ") is " << std::hex << all[k] << ", expected " << expected;
    break;
  }
  return out.str();
}

}  // namespace nervanagpu::test
