#include "test/gpu/bound.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>

namespace nervanagpu::gpu_test {

double gamma(std::int64_t terms, double unit) {
  const double ku = static_cast<double>(terms) * unit;
  return ku / (1.0 - ku);
}

Values bounds(const Values& value, const Values& size, std::int64_t terms, double unit, Dtype dtype) {
  const double factor = gamma(terms, unit);
  Values out(value.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double sum = factor * size[i];
    out[i] = sum + rounding_error(std::fabs(value[i]) + sum, dtype);
  }
  return out;
}

Values operator+(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

Distance distance(const Values& got, const Values& want, const Values& bound) {
  if (got.size() != want.size() || got.size() != bound.size()) throw std::logic_error("results of different sizes");
  Distance d;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::fabs(got[i] - want[i]);
    const bool same = got[i] == want[i];  // infinities too
    const double ratio = same ? 0.0 : difference / bound[i];
    if (same || difference <= bound[i]) {
      if (ratio > d.worst) d.worst = ratio;
      continue;
    }
    d.worst = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::fmax(d.worst, ratio);
    if (d.out++ == 0) {
      char text[160];
      std::snprintf(text, sizeof text, "element %zu: got %.9g, needs %.9g within %.3g", i, got[i], want[i], bound[i]);
      d.first = text;
    }
  }
  return d;
}

}  // namespace nervanagpu::gpu_test
