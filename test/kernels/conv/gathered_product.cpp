#include "test/kernels/conv/gathered_product.h"

#include "nervanagpu/gemm.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu::test {

std::vector<std::uint32_t> gathered_product(const ConvProblem& p, const std::vector<std::uint32_t>& x,
                                            const std::vector<std::uint32_t>& w, std::int64_t depth,
                                            const PlaceOf& l_of) {
  const auto out = p.out();
  const std::int64_t rows = p.n * out[1] * out[2];
  const std::int64_t taps = p.filter[1] * p.filter[2];
  std::vector<std::uint16_t> a(static_cast<std::size_t>(rows * depth)), b(static_cast<std::size_t>(p.k * depth));
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::int64_t line = tap / p.filter[2];
    const std::int64_t column = tap % p.filter[2];
    for (std::int64_t channel = 0; channel < p.c; ++channel) {
      const std::int64_t l = l_of(line, column, channel);
      for (std::int64_t k = 0; k < p.k; ++k) {
        b[at(k * depth + l)] = static_cast<std::uint16_t>(w[at((k * taps + tap) * p.c + channel)]);
      }
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t h = row / out[2] % out[1] * p.stride[1] - p.pad[1] + line * p.dilation[1];
        const std::int64_t s = row % out[2] * p.stride[2] - p.pad[2] + column * p.dilation[2];
        if (h < 0 || h >= p.in[1] || s < 0 || s >= p.in[2]) continue;
        const std::int64_t pixel = (row / (out[1] * out[2]) * p.in[1] + h) * p.in[2] + s;
        a[at(row * depth + l)] = static_cast<std::uint16_t>(x[at(pixel * p.c + channel)]);
      }
    }
  }
  Tensor left = Tensor::empty({rows, depth}, Dtype::float16);
  Tensor right = Tensor::empty({p.k, depth}, Dtype::float16);
  left.set(a.data(), a.size() * 2);
  right.set(b.data(), b.size() * 2);
  Tensor product = Tensor::empty({rows, p.k}, Dtype::float16);
  GemmOptions options;
  options.splits = 1;
  gemm(left, right.transpose(), product, options);
  const auto bits =
      Tensor::wrap(product.address(), product.shape(), product.strides(), Dtype::uint16).to_host<std::uint16_t>();
  return {bits.begin(), bits.end()};
}

}  // namespace nervanagpu::test
