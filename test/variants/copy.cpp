// Every kernel of convert.sass and transpose.sass: its types are in its name; how both views lie makes the rest.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/gemm/types.h"
#include "nervanagpu/nn.hpp"
#include "src/tensor/shape.h"
#include "test/gpu/buffer.h"
#include "test/variants/epilogue.h"
#include "test/variants/other.h"

namespace nervanagpu::variants {
namespace {

using gpu_test::Buffer;
using gpu_test::Bytes;
using gpu_test::pick;
using gpu_test::Values;

Dtype type_of(const std::string& word) {
  for (const Dtype t : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int8, Dtype::uint8, Dtype::int32}) {
    if (sgemm::word_of(t) == word) return t;
  }
  throw std::logic_error("no type is called " + word);
}

bool floating(Dtype t) {
  return t == Dtype::float32 || sgemm::half(t);
}

// Floats of a few bits after the point and beyond the range of bytes; integers that a float32 holds.
Values content(Random& random, std::int64_t count, Dtype type) {
  if (!floating(type)) {
    return type == Dtype::int32 ? gpu_test::integers(random, count, 100000, type)
                                : gpu_test::integers(random, count, 0, type);
  }
  Values out(static_cast<std::size_t>(count));
  for (double& v : out) v = gpu_test::round_to(static_cast<double>(pick(random, -3000, 3000)) / 8, type);
  return out;
}

// Floats become integers by truncation and saturate, integers wrap.
double converted(double v, Dtype from, Dtype to, const Rounding& rounding, std::int64_t at) {
  const auto low_bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(v));
  switch (to) {
    case Dtype::int8:
      return floating(from) ? std::clamp(std::trunc(v), -128.0, 127.0) : static_cast<std::int8_t>(low_bits);
    case Dtype::uint8:
      return floating(from) ? std::clamp(std::trunc(v), 0.0, 255.0) : static_cast<std::uint8_t>(low_bits);
    case Dtype::int32: return std::trunc(v);
    default: return round_result(to, rounding, v, at);
  }
}

}  // namespace

Outcome copy(Random& random, const Kernel& kernel, const Limits& /*limits*/) {
  const Dtype from_type = type_of(kernel.manifest().variant.at("FROM"));
  const Dtype to_type = type_of(kernel.manifest().variant.at("TO"));
  const bool turn = kernel.manifest().op == "transpose";
  const bool fours = kernel.number("V") == 4;
  // transpose: the last axis of the result is another one of the source, both of 16 or more.
  Shape shape = {pick(random, 1, 5), pick(random, turn ? 16 : 1, 150), pick(random, turn ? 16 : 1, 150)};
  if (fours) shape[2] = (shape[2] + 3) / 4 * 4;
  const std::int64_t gap = fours ? 4 * pick(random, 0, 2) : pick(random, 0, 5);
  Shape from = {0, shape[2] + gap, 1};
  if (turn) from = {0, 1, shape[1] + gap};
  from[0] = turn ? shape[2] * from[2] : shape[1] * from[1];
  // A single column, or one that begins anywhere, has no vectors.
  const std::size_t shift = fours ? 0 : size_of(from_type);
  const std::int64_t to_gap = fours ? 4 * pick(random, 0, 2) : 0;
  const Shape to = {shape[1] * (shape[2] + to_gap), shape[2] + to_gap, 1};

  Rounding rounding;
  if (floating(to_type) && pick(random, 0, 2) == 0) {
    const int most = to_type == Dtype::float16 ? 10 : to_type == Dtype::bfloat16 ? 7 : 15;
    rounding = {true, random(), random() % 1000, static_cast<int>(pick(random, 1, most))};
  }
  const std::int64_t of_from = shape[0] * from[0];
  const std::int64_t of_to = shape[0] * to[0];
  const Values source = content(random, of_from, from_type);
  const std::size_t size = size_of(to_type);
  Bytes wanted(static_cast<std::size_t>(of_to) * size, 0xff);
  std::int64_t number = 0;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      for (std::int64_t l = 0; l < shape[2]; ++l, ++number) {
        const double v = source[static_cast<std::size_t>(i * from[0] + j * from[1] + l * from[2])];
        const Bytes one = gpu_test::encode({converted(v, from_type, to_type, rounding, number)}, to_type);
        std::ranges::copy(one, wanted.begin() + static_cast<std::ptrdiff_t>(
                                                    static_cast<std::size_t>(i * to[0] + j * to[1] + l) * size));
      }
    }
  }
  const Buffer device_from(source, from_type, shift);
  const Buffer device_to = Buffer::poisoned(wanted.size());
  Outcome out;
  out.elements = number;
  out.problem = "copy of " + nervanagpu::text_of(shape) + " with strides " + nervanagpu::text_of(from) +
                " to strides " + nervanagpu::text_of(to) + (rounding.stochastic ? " at random" : "");
  if (rounding.stochastic) out.features.emplace_back("rounding at random");
  const Tensor x = Tensor::wrap(device_from.address(), shape, from, from_type);
  Tensor y = Tensor::wrap(device_to.address(), shape, to, to_type);
  convert(x, y, rounding);
  out.wrong = gpu_test::difference(device_to, wanted, to_type);
  return out;
}

}  // namespace nervanagpu::variants
