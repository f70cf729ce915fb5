// A fully connected layer in C++, tanh(x w + b), and its rows normalised: a product with its epilogue, then one kernel.
//
//   c++ -std=c++20 layer.cpp $(pkg-config --cflags --libs nervanagpu)
#include <cmath>
#include <cstdio>
#include <vector>

#include <nervanagpu/nervanagpu.hpp>

namespace ng = nervanagpu;

namespace {

constexpr std::int64_t kRows = 30, kIn = 20, kOut = 50;

std::vector<float> numbers(std::int64_t count, int seed) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(static_cast<float>((i * 37 + seed) % 21 - 10) / 40);
  return out;
}

}  // namespace

int main() {
  const std::vector<float> x = numbers(kRows * kIn, 1), w = numbers(kIn * kOut, 2), b = numbers(kOut, 3);
  try {
    const ng::Tensor xs = ng::Tensor::from_host<float>(x, {kRows, kIn});
    const ng::Tensor ws = ng::Tensor::from_host<float>(w, {kIn, kOut});
    const ng::Tensor bs = ng::Tensor::from_host<float>(b, {kOut});
    const ng::Expr h = ng::apply(ng::ExprOp::tanh, {ng::product(xs, ws) + bs});
    const ng::Expr y =
        (h - ng::reduce(ng::Reduction::mean, h, {1}, true)) / ng::reduce(ng::Reduction::std, h, {1}, true);
    const std::vector<float> got = y.evaluate().to_host<float>();

    double worst = 0;
    for (std::int64_t i = 0; i < kRows; ++i) {
      std::vector<double> row;
      double mean = 0, square = 0;
      for (std::int64_t j = 0; j < kOut; ++j) {
        double sum = b[j];
        for (std::int64_t k = 0; k < kIn; ++k) sum += static_cast<double>(x[i * kIn + k]) * w[k * kOut + j];
        row.push_back(std::tanh(sum));
        mean += row.back() / kOut;
      }
      for (const double r : row) square += (r - mean) * (r - mean) / kOut;
      for (std::int64_t j = 0; j < kOut; ++j) {
        const double error = std::abs(got[i * kOut + j] - (row[j] - mean) / std::sqrt(square));
        if (!(error <= worst)) worst = error;  // NaN is kept
      }
    }
    std::printf("layer of %d x %d on %s: largest error %.1e\n", int{kRows}, int{kOut}, ng::device().name.c_str(),
                worst);
    return worst <= 1e-5 ? 0 : 1;
  } catch (const ng::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
