#include "test/kernels/conv/conv_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kernels/conv/gather/gconv_choice.h"
#include "kernels/conv/halo/cells.h"
#include "kernels/conv/halo/halo_update_choice.h"
#include "kernels/conv/halo/resident_choice.h"
#include "kernels/conv/halo/swapped_choice.h"
#include "kernels/conv/narrow/narrow_choice.h"
#include "kernels/conv/narrow/narrow_swapped_choice.h"
#include "kernels/conv/narrow/narrow_update_choice.h"
#include "kernels/conv/pieces/pieces.h"
#include "kernels/conv/problem.h"
#include "kernels/conv/product.h"
#include "kernels/conv/strided/by_cells.h"
#include "kernels/conv/sums/channel_sums.h"
#include "kernels/conv/tensor_cores.h"
#include "kernels/gemm/epilogue/relu_mask.h"
#include "nervanagpu/tensor.hpp"
#include "src/device/select_device.h"
#include "src/numbers/philox.h"
#include "src/numbers/round.h"
#include "test/kernels/conv/model.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"

namespace nervanagpu::test {
namespace {

using Bits = std::vector<std::uint32_t>;

constexpr std::size_t kGuard = 256;     // bytes before and after; keeps alignments
constexpr std::uint8_t kPoison = 0xfb;  // float16 and float32: a number that no test has

int pick(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

// Pixels of `row` elements, `pitch` elements from one to the next.
struct Rows {
  std::size_t row = 1, pitch = 1;
  [[nodiscard]] std::size_t place(std::size_t i) const { return row == pitch ? i : i / row * pitch + i % row; }
};

// Bytes of device memory between guard zones, all poison; so is what lies between pixels.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t shift, Rows rows = {})
      : from_(kGuard + shift),
        size_(bytes),
        rows_(rows),
        host_(bytes / rows.row * rows.pitch + 2 * kGuard + shift, kPoison),
        tensor_(upload(host_)) {}

  [[nodiscard]] std::uint64_t address() const { return tensor_.address() + from_; }

  void set(const Bits& bits, Dtype type) {
    for (std::size_t i = 0; i < bits.size(); ++i) {
      std::memcpy(host_.data() + at(i, type), &bits[i], size_of(type));  // little endian, as the device
    }
    tensor_.set(host_.data(), host_.size());
  }

  Bits get(Dtype type) {
    const std::vector<std::uint8_t> now = tensor_.to_host<std::uint8_t>();
    Bits bits(size_ / size_of(type));
    std::vector<std::uint8_t> others = now;  // what remains when the result is taken out
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const std::size_t from = at(i, type);
      std::memcpy(&bits[i], now.data() + from, size_of(type));
      std::memset(others.data() + from, kPoison, size_of(type));
    }
    const auto written = std::ranges::find_if(others, [](std::uint8_t b) { return b != kPoison; });
    if (written != others.end()) {
      throw std::runtime_error("byte " + std::to_string(written - others.begin()) +
                               " of a guard zone was written (the result is " + std::to_string(from_) + " to " +
                               std::to_string(from_ + size_) + ")");
    }
    return bits;
  }

 private:
  static Tensor upload(const std::vector<std::uint8_t>& bytes) {
    return Tensor::from_host<std::uint8_t>(bytes, {static_cast<std::int64_t>(bytes.size())});
  }

  [[nodiscard]] std::size_t at(std::size_t i, Dtype type) const { return from_ + rows_.place(i) * size_of(type); }

  std::size_t from_, size_;
  Rows rows_;
  std::vector<std::uint8_t> host_;
  Tensor tensor_;
};

Bits integers(std::mt19937& random, std::int64_t count, Dtype type, int size) {
  Bits out(static_cast<std::size_t>(count));
  const int low = type == Dtype::uint8 ? 0 : -size;
  for (std::uint32_t& b : out) b = bits_of(type, pick(random, low, size));
  return out;
}

Integers values(const Bits& bits, Dtype type) {
  Integers out(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) out[i] = static_cast<std::int64_t>(value_of(type, bits[i]));
  return out;
}

// Of element i of x or y.
std::int64_t channel_of(const ConvProblem& p, conv_detail::Role role, std::int64_t i) {
  const auto space = role == conv_detail::Role::x ? p.in : p.out();
  const std::int64_t channels = role == conv_detail::Role::x ? p.c : p.k;
  const std::int64_t places = space[0] * space[1] * space[2];
  switch (p.layout) {
    case Layout::channels_last: return i % channels;
    case Layout::batch_last: return i / (places * p.n);
    case Layout::channels_first: break;
  }
  return i / places % channels;
}

std::uint32_t rounded(double v, Dtype type, const Rounding& r, std::size_t i) {
  if (type == Dtype::int8) v = std::clamp(r.stochastic ? v : std::nearbyint(v), -128.0, 127.0);
  if (!r.stochastic || type == Dtype::int32) return bits_of(type, v);
  const std::uint32_t word = philox(r.seed, r.offset + i / 4)[i % 4];
  const auto f = static_cast<float>(v);
  if (type == Dtype::int8) return bits_of(type, round_s8(f, word));
  if (type == Dtype::float16) return round_f16(f, word, static_cast<unsigned>(r.bits != 0 ? r.bits : 10));
  if (type == Dtype::bfloat16) return round_bf16(f, word, static_cast<unsigned>(r.bits != 0 ? r.bits : 7));
  return std::bit_cast<std::uint32_t>(round_f32(f, word, static_cast<unsigned>(r.bits != 0 ? r.bits : 15)));
}

// The sums of the channels' elements, or of their squares, of a result that lies in `bits`: what `got` must be. Exact of integers.
void check_sums(const ConvCase& c, const Bits& bits, const std::vector<std::uint32_t>& got, bool squares) {
  constexpr double kExact = 0x1p16;
  constexpr double kRelative = 0x1p-15;
  const conv_detail::Role role = conv_detail::roles_of(c.pass).out;
  std::vector<double> sums(got.size()), sizes(got.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double v = value_of(type_of(c.p, role), bits[i]);
    const auto channel = static_cast<std::size_t>(channel_of(c.p, role, static_cast<std::int64_t>(i)));
    sums[channel] += squares ? v * v : v;
    sizes[channel] += squares ? v * v : std::abs(v);
  }
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double is = value_of(Dtype::float32, got[k]);
    if (std::abs(is - sums[k]) <= (sizes[k] < kExact ? 0 : kRelative * sizes[k])) continue;
    throw std::runtime_error(std::string(squares ? "channel_sum_squares" : "channel_sum") + " of channel " +
                             std::to_string(k) + " is " + std::to_string(is) + ", should be " +
                             std::to_string(sums[k]));
  }
}

// What the pass reads besides its tensors; fprop writes the mask.
struct Vectors {
  Bits bias, scale, mask;
};

// Rows of the mask are those of the result as it lies, of so many elements.
std::int64_t masked_row(const ConvCase& c) {
  return last_length(c.p, conv_detail::roles_of(c.pass).out);
}
std::size_t mask_words(const ConvCase& c) {
  const std::int64_t n = masked_row(c);
  return c.mask ? static_cast<std::size_t>(elements_of(c.p, conv_detail::roles_of(c.pass).out) / n *
                                           sgemm::words_of_mask(n))
                : 0;
}
// Of element i: its word and bit.
std::pair<std::size_t, std::uint32_t> mask_bit(const ConvCase& c, std::size_t i) {
  const auto n = static_cast<std::size_t>(masked_row(c));
  const auto words = static_cast<std::size_t>(sgemm::words_of_mask(masked_row(c)));
  return {i / n * words + i % n / 32, 1U << (i % n % 32)};
}
// What fprop must write.
void check_mask(const ConvCase& c, const Bits& bits, const Bits& got) {
  Bits want(got.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const auto [word, bit] = mask_bit(c, i);
    if (value_of(c.p.y_type, bits[i]) > 0) want[word] |= bit;
  }
  const auto wrong = std::ranges::mismatch(want, got).in1 - want.begin();
  if (wrong == static_cast<std::ptrdiff_t>(want.size())) return;
  throw std::runtime_error("word " + std::to_string(wrong) + " of the mask is " +
                           std::to_string(got[static_cast<std::size_t>(wrong)]) + ", should be " +
                           std::to_string(want[static_cast<std::size_t>(wrong)]));
}

Bits expected(const ConvCase& c, const Integers& sums, const Bits& before, const Vectors& vectors) {
  const Dtype type = type_of(c.p, conv_detail::roles_of(c.pass).out);
  Bits out(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    double v = static_cast<double>(c.options.alpha) * static_cast<double>(sums[i]);
    const auto channel = static_cast<std::size_t>(channel_of(c.p, conv_detail::Role::y, static_cast<std::int64_t>(i)));
    if (c.scale) v *= value_of(Dtype::float32, vectors.scale[channel]);
    if (c.options.beta != 0.0F) v += static_cast<double>(c.options.beta) * value_of(type, before[i]);
    if (c.bias) v += value_of(c.bias_type, vectors.bias[channel]);
    if (c.options.relu) v = v > 0.0 ? v : 0.0;
    if (c.options.activation == GemmActivation::clip) {
      v = std::clamp(v, static_cast<double>(c.options.clip_low), static_cast<double>(c.options.clip_high));
    }
    out[i] = rounded(v, type, c.options.rounding, i);
    if (c.mask && c.pass == ConvPass::bprop) {
      const auto [word, bit] = mask_bit(c, i);
      if ((vectors.mask[word] & bit) == 0) out[i] = 0;
    }
  }
  return out;
}

Bits run(Device& device, const ConvCase& c, const Bits& in1, const Bits& in2, const Bits* before,
         const Vectors& vectors) {
  const conv_detail::Roles roles = conv_detail::roles_of(c.pass);
  const auto memory = [&](std::size_t count, Dtype type, Rows rows = {}) {
    return Guarded(count * size_of(type), static_cast<std::size_t>(c.shift) * size_of(type), rows);
  };
  const auto rows = [&](conv_detail::Role role) -> Rows {
    if (c.p.layout != Layout::channels_last || role == conv_detail::Role::w) return {};
    return {static_cast<std::size_t>(role == conv_detail::Role::x ? c.p.c : c.p.k),
            static_cast<std::size_t>(pitch_of(c.p, role))};
  };
  const Dtype types[] = {type_of(c.p, roles.in1), type_of(c.p, roles.in2), type_of(c.p, roles.out)};
  Guarded a = memory(in1.size(), types[0], rows(roles.in1));
  Guarded b = memory(in2.size(), types[1], rows(roles.in2));
  Guarded out = memory(static_cast<std::size_t>(elements_of(c.p, roles.out)), types[2], rows(roles.out));
  Guarded d = memory(vectors.bias.size(), c.bias_type);
  Guarded s = memory(vectors.scale.size(), Dtype::float32);
  const std::int64_t words = sgemm::words_of_mask(masked_row(c));
  Guarded m(4 * mask_words(c), 0, {static_cast<std::size_t>(words), static_cast<std::size_t>(words + c.mask_gap)});
  const auto channels = c.pass == ConvPass::update ? 0 : static_cast<std::size_t>(shape_of(c.p, roles.out).back());
  Guarded sum = memory(c.channel_sum ? channels : 0, Dtype::float32);
  Guarded squares = memory(c.channel_sum_squares ? channels : 0, Dtype::float32);
  a.set(in1, types[0]);
  b.set(in2, types[1]);
  if (before != nullptr) out.set(*before, types[2]);
  d.set(vectors.bias, c.bias_type);
  s.set(vectors.scale, Dtype::float32);
  m.set(vectors.mask, Dtype::float32);
  const bool forced = !c.forced.kernel.empty() || c.forced.splits != 0 || c.forced.limits.grid_z != 65535;
  const bool hconv = c.forced.kernel.ends_with("x1") || c.forced.kernel.ends_with("x2") ||
                     conv_detail::gconv::forced_run(c.forced) != 0 || conv_detail::halo::is_forced(c.forced) ||
                     conv_detail::halo_update::is_forced(c.forced) || conv_detail::resident::is_forced(c.forced) ||
                     conv_detail::swapped::is_forced(c.forced) || conv_detail::cells::is_forced(c.forced) ||
                     conv_detail::product::is_forced(c.forced) || conv_detail::narrow::is_forced(c.forced) ||
                     conv_detail::narrow_swapped::is_forced(c.forced) ||
                     conv_detail::narrow_update::is_forced(c.forced) || conv_detail::pieces::asked(c.p);
  const bool by_cells = conv_detail::by_cells::is_forced(c.forced);
  const auto cells = by_cells ? conv_detail::by_cells::named(c.p, c.forced) : std::nullopt;
  const bool sums = c.channel_sum || c.channel_sum_squares;
  const std::size_t bytes = !forced ? conv_workspace(c.pass, c.p, sums)
                            : cells ? conv_detail::by_cells::workspace(*cells, c.p)
                            : hconv ? conv_detail::tensor_cores::workspace(c.pass, c.p, c.forced)
                                    : conv_detail::partial_bytes(c.pass, c.p, c.forced);
  Guarded workspace(bytes, 0);
  const std::int64_t most_parts =
      forced && sums && hconv ? conv_detail::tensor_cores::most_parts(c.pass, c.p, c.forced) : 0;
  Guarded parts(forced && sums ? conv_detail::channel_sums::workspace(c.pass, c.p, most_parts) : 0, 0);
  ConvPointers pointers;
  pointers.in1 = a.address();
  pointers.in2 = b.address();
  pointers.out = out.address();
  pointers.workspace = workspace.address();
  if (c.bias) pointers.bias = d.address();
  if (c.scale) pointers.scale = s.address();
  if (c.mask) {
    pointers.mask = m.address();
    pointers.mask_pitch = words + c.mask_gap;
  }
  pointers.bias_type = c.bias_type;
  if (c.channel_sum) pointers.channel_sum = sum.address();
  if (c.channel_sum_squares) pointers.channel_sum_squares = squares.address();
  if (forced) {
    conv_detail::Epilogue e;
    e.alpha = c.options.alpha;
    e.beta = c.options.beta;
    e.relu = c.options.relu;
    e.activation = c.options.activation;
    e.clip_low = c.options.clip_low;
    e.clip_high = c.options.clip_high;
    e.scale = pointers.scale;
    e.bias_f16 = c.bias_type == Dtype::float16;
    e.rounding = c.options.rounding;
    e.mask = pointers.mask;
    e.ld_mask = pointers.mask_pitch;
    e.sums = {pointers.channel_sum, pointers.channel_sum_squares, parts.address(), most_parts};
    conv_detail::tensor_cores::Made made = {false, 0};
    if (by_cells) {
      const auto inner = [&](ConvPass pass, const ConvProblem& p, const ConvPointers& at) {
        conv_detail::Epilogue own = e;
        own.sums = {};
        own.mask = 0;
        conv_detail::tensor_cores::queue(device, pass, p, at, own, {});
      };
      conv_detail::by_cells::queue(device, cells.value(), c.p, pointers, e, inner, {});
    } else if (hconv) {
      made = conv_detail::tensor_cores::queue(device, c.pass, c.p, pointers, e, {}, c.forced);
    } else {
      conv_detail::queue(device, c.pass, c.p, pointers, e, 0, c.forced);
    }
    if (c.mask && !made.masked) {
      sgemm::mask_plan(device.registry(), conv_detail::masked_matrix(c.pass, c.p, pointers)).launch(device, 0);
    }
    if (c.kernels_sums && made.parts == 0) throw std::runtime_error("the kernel leaves no parts of sums");
    if (sums) conv_detail::channel_sums::queue(device, c.pass, c.p, pointers.out, e, 0, made.parts);
  } else {
    conv(c.pass, c.p, pointers, c.options);
  }
  static_cast<void>(workspace.get(Dtype::uint8));  // its guard zones
  static_cast<void>(parts.get(Dtype::uint8));
  Bits result = out.get(types[2]);
  if (c.mask && c.pass == ConvPass::fprop) check_mask(c, result, m.get(Dtype::float32));
  if (c.channel_sum) check_sums(c, result, sum.get(Dtype::float32), false);
  if (c.channel_sum_squares) check_sums(c, result, squares.get(Dtype::float32), true);
  return result;
}

}  // namespace

Bits run(Device& device, const ConvCase& c, const Bits& in1, const Bits& in2, std::uint32_t mask_word) {
  return run(device, c, in1, in2, nullptr, {{}, {}, Bits(mask_words(c), mask_word)});
}

std::string judge(Device& device, std::mt19937& random, const ConvCase& c, Bits* bits) {
  const conv_detail::Roles roles = conv_detail::roles_of(c.pass);
  const Dtype type1 = type_of(c.p, roles.in1);
  const Dtype type2 = type_of(c.p, roles.in2);
  const Dtype type = type_of(c.p, roles.out);
  const Bits in1 = integers(random, elements_of(c.p, roles.in1), type1, c.size);
  const Bits in2 = integers(random, elements_of(c.p, roles.in2), type2, c.size);
  const Bits before = integers(random, elements_of(c.p, roles.out), type, 20);
  Vectors vectors;
  if (c.bias) vectors.bias = integers(random, c.p.k, c.bias_type, 20);
  if (c.scale) vectors.scale = integers(random, c.p.k, Dtype::float32, 4);
  if (c.mask) {
    vectors.mask.resize(mask_words(c));
    for (std::uint32_t& word : vectors.mask) word = static_cast<std::uint32_t>(random());
  }
  const std::string what = text_of(c.pass, c.p) + ", kernel *" + c.forced.kernel + ", splits " +
                           std::to_string(c.forced.splits) + ", shift " + std::to_string(c.shift);
  const Bits wanted = expected(c, convolve(c.pass, c.p, values(in1, type1), values(in2, type2)), before, vectors);
  Bits got;
  try {
    got = run(device, c, in1, in2, c.options.beta != 0.0F ? &before : nullptr, vectors);
  } catch (const std::exception& e) {
    return what + ": " + e.what();
  }
  if (bits != nullptr) *bits = got;
  std::size_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == wanted[i]) continue;
    if (wrong++ == 0) {
      first = ": element " + std::to_string(i) + " is " + std::to_string(value_of(type, got[i])) + ", should be " +
              std::to_string(value_of(type, wanted[i]));
    }
  }
  if (wrong == 0) return "";
  return what + first + "; " + std::to_string(wrong) + " of " + std::to_string(got.size()) + " are wrong";
}

void choose_types(std::mt19937& random, ConvCase& c) {
  ConvProblem& p = c.p;
  constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16};
  const Dtype type = kFloats[pick(random, 0, 2)];
  p.x_type = p.w_type = p.y_type = type;
  c.size = 3;
  if (c.pass == ConvPass::bprop || pick(random, 0, 2) != 0) return;
  if (type == Dtype::bfloat16) return;
  p.x_type = pick(random, 0, 1) == 0 ? Dtype::int8 : Dtype::uint8;
  if (c.pass == ConvPass::update || pick(random, 0, 1) == 0) return;
  constexpr Dtype kResults[] = {Dtype::int32, Dtype::float32, Dtype::int8};
  p.w_type = Dtype::int8;
  p.y_type = kResults[pick(random, 0, 2)];
  c.size = p.y_type == Dtype::int32 ? 127 : 40;  // float32 holds the sums
}

void keep_sums(ConvCase& c) {
  if (c.p.w_type != Dtype::int8 || c.p.y_type == Dtype::int32) return;
  c.p.y_type = c.bias_type = Dtype::int32;
  c.scale = c.channel_sum = c.channel_sum_squares = false;
  c.options = {};
}

void choose_epilogue(std::mt19937& random, ConvCase& c) {
  const Dtype type = type_of(c.p, conv_detail::roles_of(c.pass).out);
  const float factors[] = {1.0F, 2.0F, -1.0F};
  c.options.alpha = factors[pick(random, 0, 2)];
  c.options.beta = pick(random, 0, 2) == 0 ? factors[pick(random, 0, 2)] : 0.0F;
  c.shift = pick(random, 0, 2) == 0 ? pick(random, 1, 3) : 0;
  const bool dequantized = c.p.w_type == Dtype::int8 && type != Dtype::int32;
  if (dequantized) {
    c.options.alpha *= type == Dtype::int8 ? 0x1p-7F : 0x1p-2F;
    c.scale = pick(random, 0, 1) == 0;
  }
  if (c.pass == ConvPass::fprop) {
    c.options.relu = pick(random, 0, 2) == 0;
    c.bias = pick(random, 0, 1) == 0;
    c.bias_type = size_of(type) == 1 || (size_of(type) == 2 && pick(random, 0, 1) == 0) ? Dtype::float32 : type;
    if (!c.options.relu && type != Dtype::int32 && pick(random, 0, 3) == 0) {
      c.options.activation = GemmActivation::clip;
      c.options.clip_low = -5, c.options.clip_high = 9;
    }
  }
  if (is_float(type) && (c.pass == ConvPass::bprop || c.options.relu)) c.mask = pick(random, 0, 2) == 0;
  c.mask_gap = pick(random, 0, 2);
  if (is_float(type) && c.pass != ConvPass::update) {
    c.channel_sum = pick(random, 0, 3) == 0;
    c.channel_sum_squares = pick(random, 0, 3) == 0;
  }
  if ((is_float(type) || type == Dtype::int8) && pick(random, 0, 3) == 0) {
    c.options.rounding = {true, random(), random(), type == Dtype::int8 ? 0 : pick(random, 0, 4)};
  }
}

}  // namespace nervanagpu::test
