#include "python/torch_ops/rounding.h"

#include <array>

#include "nervanagpu/nn.hpp"
#include "python/torch_ops/operators.h"

namespace nervanagpu::python::torch {
namespace {

std::int32_t float_of(std::int64_t number) {
  const Shim& s = shim();
  switch (number) {
    case 0: return s.float32;
    case 1: return s.float16;
    case 2: return s.bfloat16;
    default: refuse("dtype is " + std::to_string(number) + "; needs 0 to 2: float32, float16 or bfloat16");
  }
}

std::uint64_t counter(const char* name, std::int64_t value) {
  if (value < 0) refuse(std::string(name) + " is " + std::to_string(value) + "; needs 0 or more");
  return static_cast<std::uint64_t>(value);
}

}  // namespace

Array stochastic_round(const Array& x, std::int64_t dtype, std::int64_t seed, std::int64_t offset, std::int64_t bits) {
  const Call call{&x};
  Rounding rounding;
  rounding.stochastic = true;
  rounding.seed = counter("seed", seed);
  rounding.offset = counter("offset", offset);
  if (bits < 0 || bits > 15) refuse("bits is " + std::to_string(bits) + "; needs 0 to 15");
  rounding.bits = static_cast<int>(bits);
  Array out = empty(x, x.sizes(), float_of(dtype));
  const std::int64_t count = out.elements();
  if (count == 0) return out;
  Array kept;
  Tensor to = Call::ours(out, {count}, {1});
  convert(Call::ours(contiguous(x, kept), {count}, {1}), to, rounding, call.stream());
  return out;
}

namespace {

constexpr std::array kRoundings{Operator{
    "stochastic_round(Tensor x, int dtype, int seed, int offset, int bits) -> Tensor", boxed<stochastic_round>}};

}  // namespace

std::span<const Operator> roundings() {
  return kRoundings;
}

}  // namespace nervanagpu::python::torch
