#include "test/kernels/order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <sstream>
#include <utility>

#include "src/ceil_div.h"
#include "src/numbers/half.h"

namespace nervanagpu::test {
namespace {

namespace tensor = sass::emulate::tensor;

// Multiply-adds of terms [from, to), begun anew after every `chunk` of them (0: never).
float chain(const Terms& t, std::int64_t from, std::int64_t to, std::int64_t chunk) {
  float total = 0;
  bool first = true;
  for (std::int64_t begin = from; begin < to || first;) {
    const std::int64_t end = chunk == 0 ? to : std::min(to, begin + chunk);
    float sum = 0;
    for (std::int64_t l = begin; l < end; ++l) {
      sum = std::fma(t.a[static_cast<std::size_t>(l)], t.b[static_cast<std::size_t>(l)], sum);
    }
    total = first ? sum : sum + total;
    first = false;
    begin = std::max(end, begin + 1);
  }
  return total;
}

class TensorChain {
 public:
  explicit TensorChain(tensor::Type type) : type_(type) {}

  // `first`, and blocks of `step` products; what is missing in the last one are zeros.
  float run(const std::vector<float>& a, const std::vector<float>& b, std::size_t from, std::size_t to,
            std::size_t step, float first = 0) {
    // Of which one row and one column are used.
    static thread_local const auto a_panel = std::make_unique<tensor::PanelA>();
    static thread_local const auto b_panel = std::make_unique<tensor::PanelB>();
    tensor::PanelA& left = *a_panel;
    tensor::PanelB& right = *b_panel;
    auto c = std::bit_cast<std::uint32_t>(first);
    for (std::size_t begin = from; begin < to; begin += step) {
      left.range[0] = right.range[0] = {};
      for (std::size_t k = 0; k < step; ++k) {
        const std::size_t l = begin + k;
        const tensor::Number x = number(l < to && l < a.size() ? a[l] : 0.0F);
        const tensor::Number y = number(l < to && l < b.size() ? b[l] : 0.0F);
        left.value[0][k] = x.value, left.exponent[0][k] = x.exponent;
        right.value[k][0] = y.value, right.exponent[k][0] = y.exponent;
        left.range[0].add(x), right.range[0].add(y);
      }
      c = tensor::dot(left, right, 0, 0, static_cast<unsigned>(step), c, {});
    }
    return std::bit_cast<float>(c);
  }

 private:
  [[nodiscard]] tensor::Number number(float v) const {
    if (v == 0) return {v, tensor::kNoExponent};
    const int least = type_ == tensor::Type::kF16 ? -14 : -126;
    return {v, static_cast<std::int16_t>(std::max(std::ilogb(v), least))};
  }
  tensor::Type type_;
};

// Three bfloat16 numbers whose sum is the float: the nearest one, the one nearest to what is left, and so on.
std::array<std::vector<float>, 3> pieces_of(const std::vector<float>& x) {
  std::array<std::vector<float>, 3> out;
  for (float rest : x) {
    for (std::vector<float>& piece : out) {
      piece.push_back(static_cast<float>(bfloat_value(bfloat_bits(rest))));
      rest -= piece.back();
    }
  }
  return out;
}

// Chunks added in ascending order; in each six products of pieces one after the other, those that are small first. Those of first pieces may be a
// sum of their own behind the first `total` of the chunk.
float in_pieces(TensorChain& core, const Order& order, const Terms& t, std::int64_t from, std::int64_t to) {
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kProducts = {
      {{0, 2}, {2, 0}, {1, 1}, {1, 0}, {0, 1}, {0, 0}}};
  const std::int64_t chunk = order.number("chunk", 0);
  const auto step = static_cast<std::size_t>(order.number("step", 0));
  const auto total_of = static_cast<std::size_t>(order.number("total", chunk));
  const auto a = pieces_of(t.a);
  const auto b = pieces_of(t.b);
  float total = 0;
  for (std::int64_t begin = from; begin < to; begin += chunk) {
    const auto first = static_cast<std::size_t>(begin);
    const auto last = static_cast<std::size_t>(std::min(to, begin + chunk));
    const std::size_t half = std::min(last, first + total_of);
    float sum = 0;
    for (const auto& [x, y] : kProducts) sum = core.run(a[x], b[y], first, x + y == 0 ? half : last, step, sum);
    total += sum;
    if (total_of < static_cast<std::size_t>(chunk)) total += core.run(a[0], b[0], half, last, step, 0);
  }
  return total;
}

// Two float16 numbers, of which the first has ten bits and the second counts 2^-10 and is rounded with a bias away from 0, for x 2^(138 - e).
std::array<std::vector<float>, 2> halves_of(const std::vector<float>& x, int e, std::int64_t round_bias) {
  constexpr float kLow = 0x1p10F;
  constexpr std::uint32_t kHalf = 0x2000;  // of what lies after ten bits
  std::array<std::vector<float>, 2> out;
  for (const float v : x) {
    const float scaled = std::ldexp(v, 138 - e);
    const auto ten = std::bit_cast<float>((std::bit_cast<std::uint32_t>(scaled) + kHalf) & ~(2 * kHalf - 1));
    out[0].push_back(static_cast<float>(half_value(half_bits(ten))));
    const float rest = (scaled - out[0].back()) * kLow;
    const float biased = rest + std::copysign(std::ldexp(std::abs(rest) * static_cast<float>(round_bias), -16), scaled);
    out[1].push_back(static_cast<float>(half_value(half_bits(biased))));
  }
  return out;
}

// Chunks added in ascending order. The products of a first piece with a second one, times 2^-10, come before that of the first.
// Compensated: they are one sum, and a chunk's others begin with what the total has lost of those before.
float in_halves(TensorChain& core, const Order& order, const Terms& t, std::int64_t from, std::int64_t to,
                const Cut& cut) {
  const std::int64_t chunk = order.number("chunk", 0);
  const bool compensated = order.number("compensated", 0) != 0;
  const auto step = static_cast<std::size_t>(order.number("step", 0));
  const auto a = halves_of(t.a, cut.e_a, order.number("round_bias", 0));
  const auto b = halves_of(t.b, cut.e_b, order.number("round_bias", 0));
  float total = 0;
  float cross = 0;
  float lost = 0;
  for (std::int64_t begin = from; begin < to; begin += chunk) {
    const auto first = static_cast<std::size_t>(begin);
    const auto last = static_cast<std::size_t>(std::min(to, begin + chunk));
    if (!compensated) cross = 0;
    cross = core.run(a[0], b[1], first, last, step, cross);
    cross = core.run(a[1], b[0], first, last, step, cross);
    if (compensated) {
      const float sum = core.run(a[0], b[0], first, last, step, lost);
      const float next = total + sum;
      lost = sum - (next - total);
      total = next;
    } else {
      total += core.run(a[0], b[0], first, last, step, cross * 0x1p-10F);
    }
  }
  if (compensated) total += std::fma(cross, 0x1p-10F, lost);
  return std::ldexp(total, cut.e_a + cut.e_b - 2 * 138);
}

// All l of the first remainder of 8, then those of the next, each padded to blocks of 64.
Terms by_remainders(const Terms& t, const std::vector<std::int64_t>& order) {
  constexpr std::size_t kBlock = 64;
  Terms out;
  for (const std::int64_t r : order) {
    for (std::size_t l = static_cast<std::size_t>(r); l < t.a.size(); l += 8) {
      out.a.push_back(t.a[l]);
      out.b.push_back(t.b[l]);
    }
    const std::size_t whole = (out.a.size() + kBlock - 1) / kBlock * kBlock;
    out.a.resize(whole), out.b.resize(whole);
  }
  return out;
}

}  // namespace

std::int64_t Order::number(std::string_view name, std::int64_t otherwise) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

std::optional<Order> order_of(std::string_view accum) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> kClasses = {
      {"none", {}},
      {"integer", {}},
      {"integer64", {}},
      {"chain", {"warps", "chunk", "halves"}},
      {"tensor", {"step", "rows", "taps"}},
      {"pieces", {"chunk", "step", "total"}},
      {"halves", {"chunk", "step", "round_bias", "compensated"}},
      {"ascending", {}},
      {"window", {}},
      {"windows", {}},
      {"strips", {}},
      {"strided", {"chains", "lanes"}}};
  std::istringstream in{std::string(accum)};
  Order out;
  in >> out.kind;
  const auto known = kClasses.find(out.kind);
  if (known == kClasses.end()) return std::nullopt;
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos || std::ranges::find(known->second, name) == known->second.end())
      return std::nullopt;
    out.numbers[name] = std::atoll(word.c_str() + equals + 1);
  }
  return out;
}

int scale_of(const std::vector<float>& x, std::int64_t rows, std::int64_t length, std::int64_t leading) {
  constexpr std::int64_t kFour = 4;
  constexpr std::int64_t kSample = 1024;
  const std::int64_t fours = ceil_div(length, kFour);
  const std::int64_t step = fours * rows / kSample | 1;
  float most = 0;
  for (std::int64_t s = 0; s < kSample && s * step < fours * rows; ++s) {
    const std::int64_t row = s * step / fours;
    const std::int64_t first = s * step % fours * kFour;
    for (std::int64_t l = first; l < std::min(first + kFour, length); ++l) {
      most = std::max(most, std::abs(x[static_cast<std::size_t>(row * leading + l)]));
    }
  }
  return std::clamp(static_cast<int>(std::bit_cast<std::uint32_t>(most) >> 23), 11, 254);
}

std::uint32_t modelled(const Order& order, const Terms& terms, const Cut& cut) {
  const auto k = static_cast<std::int64_t>(terms.a.size());
  if (order.kind == "integer") {
    std::uint64_t sum = 0;
    for (std::size_t l = 0; l < terms.a.size(); ++l) {
      sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(terms.a[l]) * static_cast<std::int64_t>(terms.b[l]));
    }
    return static_cast<std::uint32_t>(sum);
  }
  float total = 0;
  const bool rows = order.number("rows", 0) != 0;
  const Terms reordered = rows ? by_remainders(terms, cut.remainders) : Terms{};
  TensorChain core(cut.type);
  for (std::int64_t p = 0; p < cut.splits; ++p) {
    float part = 0;
    if (order.kind == "tensor") {
      const Terms& t = rows ? reordered : terms;
      const auto length = static_cast<std::int64_t>(t.a.size());
      part = core.run(t.a, t.b, static_cast<std::size_t>(std::min(length, p * cut.part)),
                      static_cast<std::size_t>(std::min(length, (p + 1) * cut.part)),
                      static_cast<std::size_t>(order.number("step", 0)));
    } else if (order.kind == "pieces") {
      part = in_pieces(core, order, terms, std::min(k, p * cut.part), std::min(k, (p + 1) * cut.part));
    } else if (order.kind == "halves") {
      part = in_halves(core, order, terms, std::min(k, p * cut.part), std::min(k, (p + 1) * cut.part), cut);
    } else {
      std::int64_t chunk = order.number("chunk", 0);
      constexpr std::int64_t kBlock = 16;
      if (order.number("halves", 0) != 0) chunk = std::min(chunk, (cut.part / kBlock + 1) / 2 * kBlock);
      const std::int64_t warps = order.number("warps", 1);
      for (std::int64_t w = 0; w < warps; ++w) {
        const std::int64_t from = std::min(k, (p * warps + w) * cut.part);
        const float own = chain(terms, from, std::min(k, from + cut.part), chunk);
        part = w == 0 ? own : part + own;
      }
    }
    total = p == 0 ? part : total + part;
  }
  return std::bit_cast<std::uint32_t>(total);
}

float strided(const std::vector<float>& x, std::size_t chains) {
  float total = 0;
  for (std::size_t c = 0; c < chains; ++c) {
    float sum = 0;
    for (std::size_t i = c; i < x.size(); i += chains) sum += x[i];
    total = c == 0 ? sum : total + sum;
  }
  return total;
}

float butterfly(std::vector<float> lanes) {
  for (std::size_t far = lanes.size() / 2; far != 0; far /= 2) {
    const std::vector<float> before = lanes;
    for (std::size_t l = 0; l < lanes.size(); ++l) lanes[l] = before[l] + before[l ^ far];
  }
  return lanes[0];
}

}  // namespace nervanagpu::test
