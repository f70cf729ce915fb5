#include "layers/random.h"

#include <numeric>
#include <utility>

#include "src/numbers/philox.h"

namespace nervanagpu::layers {

std::uint64_t mix(std::uint64_t seed, std::uint64_t purpose) {
  const PhiloxWords w = philox(seed, ~purpose);  // counters of results count from 0
  return (static_cast<std::uint64_t>(w[0]) << 32) | w[1];
}

void fill_uniform(std::vector<float>& values, double bound, std::uint64_t seed) {
  PhiloxWords words{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 4 == 0) words = philox(seed, i / 4);
    const auto step = static_cast<std::int32_t>(words[i % 4] >> 8) - (1 << 23);  // -2^23 .. 2^23 - 1
    values[i] = static_cast<float>((step + 0.5) * (bound / (1 << 23)));
  }
}

std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::uint64_t i = order.size(); i > 1; --i) {
    const PhiloxWords w = philox(seed, i);
    const std::uint64_t bits = (static_cast<std::uint64_t>(w[0]) << 32) | w[1];
    // bits * i / 2^64, from halves: uneven by less than i / 2^64.
    const std::uint64_t at = ((bits >> 32) * i + ((bits & 0xffffffffU) * i >> 32)) >> 32;
    std::swap(order[i - 1], order[at]);
  }
  return order;
}

}  // namespace nervanagpu::layers
