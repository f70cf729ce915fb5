// Which problem a kernel of products is the only one for: its types, layouts, tile, alignment and what the others of that tile
// cannot do.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/pieces/bf16x6_rs.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/pieces/f16x3_rs.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "kernels/gemm/types.h"
#include "src/ceil_div.h"
#include "test/variants/product.h"

namespace nervanagpu::variants {
namespace {

using gpu_test::choose;
using gpu_test::pick;

bool one_in(Random& random, std::int64_t n) {
  return pick(random, 1, n) == 1;
}

std::int64_t round_up(std::int64_t v, std::int64_t unit) {
  return ceil_div(v, unit) * unit;
}

Dtype type_of(const std::string& word) {
  for (const Dtype t : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int8, Dtype::uint8,
                        Dtype::int32, Dtype::int64}) {
    if (sgemm::word_of(t) == word) return t;
  }
  throw std::logic_error("no type is called " + word);
}

std::string word(const Kernel& k, const char* name) {
  const auto it = k.manifest().variant.find(name);
  return it == k.manifest().variant.end() ? std::string() : it->second;
}

// 1 to `most`, the ends and the neighbours of multiples of `tile` more often than others; a multiple of `unit`.
std::int64_t length(Random& random, std::int64_t tile, std::int64_t most, std::int64_t unit) {
  most = std::max(most, unit);
  std::int64_t v = pick(random, 1, most);
  switch (pick(random, 0, 4)) {
    case 0: v = pick(random, 1, std::min(most, tile)); break;
    case 1: v = round_up(v, tile); break;
    case 2: v = round_up(v, tile) + pick(random, -1, 1); break;
    default: break;
  }
  return round_up(std::clamp<std::int64_t>(v, 1, most), unit);
}

// How an operand's or the result's rows begin.
struct Rows {
  std::int64_t leading = 0;
  std::size_t shift = 0;
};

// `unit` elements: what rows begin at multiples of; if not `aligned`, not all of them do, nor at multiples of 4 of them, which is
// enough for bytes on some architectures.
Rows rows(Random& random, std::int64_t row, std::int64_t unit, bool aligned, std::size_t size) {
  Rows out = {round_up(row, unit) + unit * pick(random, 0, 2), 16 * static_cast<std::size_t>(pick(random, 0, 2))};
  if (aligned) return out;
  if (one_in(random, 2)) {
    out.shift = size * static_cast<std::size_t>(pick(random, 1, unit - 1));
    if (out.shift % (4 * size) == 0) out.shift += size;
    out.leading = row + pick(random, 0, 5);
  } else {
    out.leading += pick(random, 1, unit - 1);
    if (out.leading % 4 == 0) ++out.leading;
  }
  return out;
}

Rows any_rows(Random& random, std::int64_t row, std::size_t size) {
  constexpr std::int64_t kGaps[] = {0, 0, 0, 1, 3, 4, 5};
  Rows out = {row + choose(random, kGaps), 0};
  if (one_in(random, 2)) out.leading = round_up(row, 8);
  if (one_in(random, 4)) out.shift = size * static_cast<std::size_t>(pick(random, 1, 3));
  return out;
}

constexpr std::int64_t kPart = 16;  // of k: parts of a chain are multiples of

class Drawing {
 public:
  Drawing(Random& random, const Kernel& kernel, const Limits& limits)
      : random_(random), kernel_(kernel), limits_(limits), p_(out_.p) {}

  Product run() {
    const std::string& op = kernel_.manifest().op;
    const bool of_many_rows = op == "bf16x6_rs" || (op == "bf16x3" && number("VA") == 0);
    if (of_many_rows) return many_rows(), out_;
    if (op == "sgemm") chains(), draw_epilogue(random_, out_, {false, false, false});
    if (op == "gemm") chains(), draw_epilogue(random_, out_, {}), no_sgemm();
    if (op == "gemm64" || op == "dgemm") wide();
    if (op == "hgemm") tensor_cores();
    if (op == "hgemm_resident") resident();
    if (op == "hgemm_cluster") clusters();
    if (op == "bf16x6" || op == "bf16x6_32" || op == "bf16x3" || op == "gemm_if" || of_written_halves(op) ||
        op == "f16x2" || op == "split_sum_if")
      in_pieces(op);
    if (op == "f16x3_rs") few_rows();
    if (op == "sgemm_ring" || op == "sgemm_ring8") rings();
    if (op == "split_sum") parts();
    if (op == "relu_mask" || op == "result_sums" || op == "result_sums_end") behind();
    if (op == "table") group();
    return out_;
  }

 private:
  [[nodiscard]] bool is(const char* name, std::string_view value) const { return word(kernel_, name) == value; }
  [[nodiscard]] int number(const char* name) const { return kernel_.number(name); }

  void types(Dtype a, Dtype b, Dtype c) {
    p_.a_type = a, p_.b_type = b, p_.c_type = c;
    p_.bias_type = c == Dtype::int8 || (size_of(c) == 2 && one_in(random_, 2)) ? Dtype::float32 : c;
  }

  // A result that a kernel whose sums are of `sums`, or whose result is `y`, may have in parts.
  Dtype finished(Dtype operands) {
    if (sgemm::byte(operands)) {
      constexpr Dtype kAll[] = {Dtype::int32, Dtype::float32, Dtype::int8};
      return choose(random_, kAll);
    }
    return operands == Dtype::float32 || one_in(random_, 2) ? Dtype::float32 : operands;
  }

  // Lengths of so many tiles at most as the limits allow, at least `least` of them.
  struct Units {
    std::int64_t m = 1, n = 1, k = 1;
  };
  void lengths(int bm, int bn, std::int64_t most_k, std::int64_t block, const Units& units, std::int64_t least = 1) {
    p_.k = length(random_, block, most_k, units.k);
    const double tile = double(bm) * bn;
    const double depth = static_cast<double>(round_up(p_.k, block)) * static_cast<double>(p_.batch);
    const double most = std::min(limits_.products / (tile * depth), limits_.elements / tile / double(matrices()));
    const std::int64_t tiles = std::max(static_cast<std::int64_t>(most), least);
    const std::int64_t across = pick(random_, 1, tiles);
    p_.m = length(random_, bm, bm * across, units.m);
    p_.n = length(random_, bn, bn * std::max<std::int64_t>(tiles / across, 1), units.n);
    while (ceil_div(p_.m, bm) * ceil_div(p_.n, bn) < least) {
      if (p_.m <= p_.n) {
        p_.m += units.m * pick(random_, 1, bm);
      } else {
        p_.n += units.n * pick(random_, 1, bn);
      }
    }
  }
  [[nodiscard]] std::int64_t matrices() const { return p_.sum_batch ? 1 : p_.batch; }

  // unit_a, unit_b: elements that rows begin at multiples of, if they do.
  void lie(std::int64_t unit_a, bool aligned_a, std::int64_t unit_b, bool aligned_b) {
    const Rows a = rows(random_, p_.a_transposed ? p_.m : p_.k, unit_a, aligned_a, size_of(p_.a_type));
    const Rows b = rows(random_, p_.b_transposed ? p_.k : p_.n, unit_b, aligned_b, size_of(p_.b_type));
    p_.lda = a.leading, out_.shift_a = a.shift;
    p_.ldb = b.leading, out_.shift_b = b.shift;
    lie_result();
    strides(unit_a, unit_b);
  }
  void lie_result() {
    const Rows c = any_rows(random_, p_.n, size_of(p_.c_type));
    p_.ldc = c.leading, out_.shift_c = c.shift;
    if (one_in(random_, 4)) out_.shift_bias = size_of(p_.bias_type);
  }
  void strides(std::int64_t unit_a, std::int64_t unit_b) {
    if (p_.batch <= 1 || p_.pointers != 0) return;
    const auto stride = [&](std::int64_t rows, std::int64_t leading, std::int64_t unit) {
      return one_in(random_, 4) ? 0 : round_up(rows * leading, unit) + unit * pick(random_, 0, 2);
    };
    p_.stride_a = stride(p_.a_transposed ? p_.k : p_.m, p_.lda, unit_a);
    p_.stride_b = stride(p_.b_transposed ? p_.n : p_.k, p_.ldb, unit_b);
    if (p_.sum_batch) return;
    out_.side_by_side = one_in(random_, 4);
    p_.stride_c = out_.side_by_side ? p_.ldc : p_.m * p_.ldc + pick(random_, 0, 9);
    if (out_.side_by_side) p_.ldc *= p_.batch;
  }

  void batches(std::int64_t one_of) {
    if (one_in(random_, one_of)) p_.batch = pick(random_, 2, 4);
  }

  // sgemm.sass and gemm.sass: chains of multiply-adds.
  void chains() {
    const bool sgemm = kernel_.manifest().op == "sgemm";
    const Dtype a = sgemm ? Dtype::float32 : type_of(word(kernel_, "XT"));
    const Dtype b = sgemm ? Dtype::float32 : type_of(word(kernel_, "WT"));
    const bool bytes = sgemm::byte(a);
    types(a, b, sgemm ? Dtype::float32 : bytes ? finished(a) : type_of(word(kernel_, "YT")));
    p_.tensor_cores = false;
    p_.a_transposed = is("TA", "t");
    p_.b_transposed = is("TB", "t");
    out_.tile = std::to_string(number("BM")) + "x" + std::to_string(number("BN"));
    const bool finished_apart = bytes && p_.c_type != Dtype::int32;
    if (!finished_apart) batches(4);
    if (!sgemm && p_.batch > 1 && one_in(random_, 3)) p_.sum_batch = true;
    if (!sgemm && p_.batch > 1 && !p_.sum_batch && one_in(random_, 2)) p_.pointers = 1;
    if (!sgemm && p_.batch == 1 && one_in(random_, 3)) p_.splits = pick(random_, 1, 5);
    if (sgemm) p_.splits = 1;
    const std::int64_t four = bytes ? 16 : 4;
    const bool a_fits = number(sgemm ? "VA" : "V") == 4;
    const bool b_fits = number(sgemm ? "VB" : "V") == 4;
    const std::int64_t unit_a = p_.a_transposed ? 4 : four;
    const std::int64_t unit_b = p_.b_transposed ? four : 4;
    Units units;
    if (a_fits) (p_.a_transposed ? units.m : units.k) = unit_a;
    if (b_fits) (p_.b_transposed ? units.k : units.n) = std::max(p_.b_transposed ? units.k : 1, unit_b);
    lengths(number("BM"), number("BN"), p_.splits > 1 ? 200 : 80, 16, units);
    // Where there is a kernel for operands that fit, this one gets operands of which one, at least, does not.
    const bool misfit_a = !a_fits && ((sgemm && p_.a_transposed) || one_in(random_, 2));
    const bool misfit_b = !b_fits && (sgemm ? !p_.b_transposed || one_in(random_, 2) : !misfit_a || one_in(random_, 4));
    lie(unit_a, !misfit_a, unit_b, !misfit_b);
    if (p_.pointers == 0) return;
    p_.pointers = a_fits ? 16 : static_cast<std::int64_t>(std::max(size_of(p_.a_type), size_of(p_.c_type)));
    out_.shift_a = out_.shift_b = out_.shift_c = 0;
    if (!a_fits && p_.lda % 4 == 0 && p_.ldb % 4 == 0) ++p_.ldb;  // what did not fit was an address
  }

  // gemm64.h: alpha and beta, and nothing else.
  void wide() {
    const Dtype t = type_of(word(kernel_, "T"));
    types(t, t, t);
    p_.a_transposed = is("TA", "t"), p_.b_transposed = is("TB", "t");
    out_.tile = std::to_string(number("BM")) + "x" + std::to_string(number("BN"));
    p_.splits = one_in(random_, 2) ? 1 : 0;
    batches(4);
    const bool pairs = number("V") == 2;
    Units units;
    if (pairs) (p_.a_transposed ? units.m : units.k) = 2;
    if (pairs) (p_.b_transposed ? units.k : units.n) = 2;
    lengths(number("BM"), number("BN"), one_in(random_, 4) ? 200 : 80, 16, units);
    const bool misfit_a = !pairs && one_in(random_, 2);
    const bool misfit_b = !pairs && (!misfit_a || one_in(random_, 4));
    lie(2, !misfit_a, 2, !misfit_b);
    constexpr float kFactors[] = {1, 1, 2, -1, 0};
    constexpr float kFractions[] = {1, 1, 0.5F, -0.25F, 0};
    const bool integer = sgemm::integral(t);
    p_.alpha = integer ? choose(random_, kFactors) : choose(random_, kFractions);
    if (one_in(random_, 2)) p_.beta = integer ? choose(random_, kFactors) : choose(random_, kFractions);
  }

  // Of float32 products of one tile, sgemm.sass takes those that it can.
  void no_sgemm() {
    const bool shared = p_.a_type == Dtype::float32 && number("BM") == number("BN") && number("BM") >= 64;
    const bool in_parts = p_.splits > 1 && p_.k > kPart;
    if (!shared || p_.pointers != 0 || in_parts || p_.rounding.stochastic || p_.relu_first || sgemm::has_function(p_)) {
      return;
    }
    p_.mask = 0;
    p_.relu = false;
    p_.activation = GemmActivation::silu;
    p_.alpha = 0.0625F;
  }

  void tensor_cores() {
    const Dtype a = type_of(word(kernel_, "XT"));
    const Dtype y = type_of(word(kernel_, "YT"));
    const bool sums = y == (sgemm::byte(a) ? Dtype::int32 : Dtype::float32);
    p_.splits = 1;
    if (sums && one_in(random_, 2)) p_.splits = pick(random_, 2, 4);
    types(a, type_of(word(kernel_, "WT")), p_.splits > 1 ? finished(a) : y);
    p_.a_transposed = is("TA", "t");
    p_.b_transposed = is("TB", "t");
    out_.tile = hgemm::tile_name(kernel_);
    if (one_in(random_, 4)) p_.batch = pick(random_, 2, 4), p_.sum_batch = p_.splits > 1 || one_in(random_, 3);
    const std::int64_t block = hgemm::block_of(p_);
    std::int64_t blocks = one_in(random_, 4) ? pick(random_, 4, 12) : pick(random_, 1, 3);
    if (p_.splits > 1 && !p_.sum_batch) blocks = std::max(blocks, p_.splits);
    const std::int64_t unit = 16 / static_cast<std::int64_t>(size_of(a));
    const bool few = !limits_.in_turn && (p_.batch > 1 || one_in(random_, 5));
    lengths(number("BM"), number("BN"), blocks * block, block, {}, few ? 1 : 3);
    if (p_.splits > 1) p_.k = std::max(p_.k, (p_.splits - 1) * block + 1);
    lie(unit, true, unit, true);
    const std::int64_t tiles =
        ceil_div(p_.m, number("BM")) * ceil_div(p_.n, number("BN")) * std::max(p_.splits, matrices());
    if (limits_.in_turn || !one_in(random_, 8)) {
      out_.most_ctas = static_cast<std::uint32_t>(pick(random_, 1, std::max<std::int64_t>(tiles / 3, 1)));
    }
    draw_epilogue(random_, out_, {});
  }

  // hgemm_resident.sass: a k that fits, and of a batch one b. A CTA's tiles have the same columns.
  void resident() {
    const Dtype t = type_of(word(kernel_, "XT"));
    types(t, t, t);
    p_.b_transposed = is("TB", "t");
    p_.splits = 1;
    out_.tile = hgemm::tile_name(kernel_);
    constexpr std::int64_t kBlock = 64;
    batches(4);
    const std::int64_t most = number("STAY");
    const std::int64_t blocks = pick(random_, 1, one_in(random_, 3) ? most : std::min<std::int64_t>(most, 3));
    const bool few = !limits_.in_turn && (p_.batch > 1 || one_in(random_, 5));
    lengths(number("BM"), number("BN"), blocks * kBlock, kBlock, {}, few ? 1 : 3);
    p_.n = std::min<std::int64_t>(p_.n, std::int64_t{hgemm::kProcessors} * number("BN"));
    constexpr std::int64_t kRows = 3;  // of tiles, so that a CTA has as many
    while (!few && ceil_div(p_.m, number("BM")) * matrices() < kRows) p_.m += number("BM");
    lie(8, true, 8, true);
    if (p_.batch > 1) {
      p_.stride_b = 0;
      if (p_.stride_a == 0) p_.stride_a = round_up(p_.m * p_.lda, 8);
    }
    const std::int64_t columns = ceil_div(p_.n, number("BN"));
    const std::int64_t rows = ceil_div(p_.m, number("BM")) * matrices();
    if (limits_.in_turn || !one_in(random_, 8)) {
      out_.most_ctas = static_cast<std::uint32_t>(columns * pick(random_, 1, std::max<std::int64_t>(rows / 3, 1)));
    }
    draw_epilogue(random_, out_, {});
  }

  static bool of_written_halves(const std::string& op) { return op == f16x3::kPlain || op == f16x3::kCompensated; }
  // bf16x6.h: three kernels for each product. f16x3.h: two, and those after them.
  void in_pieces(const std::string& op) {
    types(Dtype::float32, Dtype::float32, Dtype::float32);
    p_.precision = Precision::tensor;
    const bool halves = of_written_halves(op);
    const bool whole = op == "bf16x6" || op == "bf16x6_32" || halves;
    const bool split = op == "bf16x3" || op == "f16x2";
    const bool sum = op == "split_sum_if";  // of a tail
    if (whole) out_.tile = halves ? f16x3::tile_name(kernel_) : bf16x6::tile_name(kernel_);
    const bool otherwise = op == "gemm_if";
    const bool at_once = otherwise && one_in(random_, 2);  // no three after two
    constexpr double kTiny = 0x1p-120;                     // has no exact pieces of bfloat16
    constexpr double kHuge = 0x1p100;                      // beside the others no two of float16
    if (otherwise) out_.beyond = at_once ? kHuge : kTiny;
    constexpr std::array kTiles = {"f16_128x64", "f16_128x192", "f16_c128x64", "f16_c128x128"};
    if (op == "f16x2" || sum || at_once) out_.tile = kTiles.at(random_() % kTiles.size());
    if (at_once) out_.tile += "+strict";
    p_.a_transposed = split || sum ? one_in(random_, 2) : is("TA", "t");
    p_.b_transposed = split || sum ? one_in(random_, 2) : is("TB", "t");
    p_.splits = sum || one_in(random_, 2) ? 1 : pick(random_, 2, 4);
    if (p_.splits == 1 && !sum) batches(4);
    constexpr std::int64_t kFour = 4;
    constexpr std::int64_t kChunk = 64;
    const bool fits = otherwise && number("V") == kFour;
    bool a_fits = split ? number("VA") == kFour : fits;
    bool b_fits = split ? number("VB") == kFour : fits;
    if (whole || sum) a_fits = one_in(random_, 2), b_fits = one_in(random_, 2);
    const bool fours = sum && number("V") == kFour;
    Units units;
    if (fours) units.n = kFour;
    if (a_fits) (p_.a_transposed ? units.m : units.k) = kFour;
    if (b_fits) (p_.b_transposed ? units.k : units.n) = kFour;
    const int bm = whole ? number("BM") : 128;
    const int bn = whole ? number("BN") : 128;
    const bool few = !limits_.in_turn && (p_.batch > 1 || one_in(random_, 5));
    lengths(bm, bn, kChunk * std::max(p_.splits, pick(random_, 1, 6)), kChunk, units, few || !whole ? 1 : 3);
    if (p_.splits > 1 || sum) p_.k = std::max(p_.k, std::max<std::int64_t>(p_.splits - 1, 1) * kChunk + kFour);
    const bool apart = halves && p_.splits == 1 && p_.batch == 1 && !limits_.in_turn && one_in(random_, 3);
    if (sum || apart) tail(sum ? 2 : 1);
    lie(kFour, a_fits, kFour, b_fits);
    if (fours) p_.ldc = round_up(p_.ldc, kFour), out_.shift_c = 0;
    if (sum && !fours) p_.ldc += p_.ldc % kFour == 0 && p_.n % kFour == 0 ? 1 : 0;
    const std::int64_t tiles = ceil_div(p_.m, bm) * ceil_div(p_.n, bn) * std::max(p_.splits, matrices());
    if (whole && (limits_.in_turn || !one_in(random_, 8))) {
      out_.most_ctas = static_cast<std::uint32_t>(pick(random_, 1, std::max<std::int64_t>(tiles / 3, 1)));
    }
    draw_epilogue(random_, out_, {});
  }

  // f16x3_rs.h: a large operand that lies as the copy engine wants it, in two splits at least, which end where its groups do.
  void few_rows() {
    types(Dtype::float32, Dtype::float32, Dtype::float32);
    p_.precision = Precision::tensor;
    out_.tile = f16x3_rs::tile_name(kernel_);
    const bool of_a = f16x3_rs::large_a(kernel_);
    p_.a_transposed = is("TA", "t"), p_.b_transposed = is("TB", "t");
    const bool inside = of_a ? !p_.a_transposed : p_.b_transposed;
    constexpr std::int64_t kFour = 4;
    constexpr std::int64_t kChunk = 64;
    constexpr std::int64_t kMostLarge = 420;
    const std::int64_t large = kFour * pick(random_, 1, kMostLarge / kFour);
    const std::int64_t small = pick(random_, 1, std::min<std::int64_t>(large - (of_a ? 1 : 0), 2 * number("BN")));
    p_.m = of_a ? large : small, p_.n = of_a ? small : large;
    p_.splits = pick(random_, 2, 4);
    const std::int64_t blocks = inside ? 2 * pick(random_, 1, 2) : pick(random_, 1, 4);
    p_.k = p_.splits * blocks * kChunk - (inside ? kFour * pick(random_, 0, 15) : pick(random_, 0, 63));
    lie(kFour, of_a, kFour, !of_a);
    if (limits_.in_turn || one_in(random_, 2)) out_.most_ctas = static_cast<std::uint32_t>(pick(random_, 1, 3));
    draw_epilogue(random_, out_, {});
  }

  // bf16x6_rs.h: an A that lies as the copy engine wants it, in fours where C is read. Of bf16x3.sass, VA = 0: such a product.
  void many_rows() {
    types(Dtype::float32, Dtype::float32, Dtype::float32);
    p_.precision = Precision::tensor;
    const bool split = kernel_.manifest().op == "bf16x3";
    const int columns = split ? 64 * static_cast<int>(pick(random_, 1, 2)) : number("BN");
    out_.tile = "rs" + std::to_string(columns);
    p_.a_transposed = split ? one_in(random_, 2) : is("TA", "t");
    p_.b_transposed = split ? one_in(random_, 2) : is("TB", "t");
    p_.splits = split || one_in(random_, 2) ? 1 : pick(random_, 2, 4);
    constexpr int kRows = 128;
    constexpr std::int64_t kFour = 4;
    constexpr std::int64_t kChunk = 64;
    const bool fours = split || one_in(random_, 2);
    const bool b_fits = split ? number("VB") == kFour : one_in(random_, 2);
    Units units;
    if (fours) (p_.a_transposed ? units.m : units.k) = kFour;
    if (split && b_fits) (p_.b_transposed ? units.k : units.n) = kFour;
    lengths(kRows, columns, kChunk * std::max(p_.splits, pick(random_, 1, 6)), kChunk, units, 3);
    if (p_.splits > 1) p_.k = std::max(p_.k, (p_.splits - 1) * kChunk + kFour);
    lie(kFour, true, kFour, b_fits);
    const std::int64_t tiles = ceil_div(p_.m, std::int64_t{kRows}) * ceil_div(p_.n, std::int64_t{columns}) * p_.splits;
    if (limits_.in_turn || !one_in(random_, 8)) {
      out_.most_ctas = static_cast<std::uint32_t>(pick(random_, 1, std::max<std::int64_t>(tiles / 3, 1)));
    }
    draw_epilogue(random_, out_, {});
    if (p_.splits == 1 && !fours) p_.beta = 0;
    if (split && p_.beta == 0) p_.beta = 2;
  }

  // The last rows or columns apart, in `least` parts or more (kernels/gemm/pieces/tail.h).
  void tail(std::int64_t least) {
    constexpr std::int64_t kUnit = 64;
    constexpr std::int64_t kMost = 8;  // parts
    const bool columns = one_in(random_, 2);
    std::int64_t& length = columns ? p_.n : p_.m;
    if (length <= kUnit) length += kUnit;
    const std::int64_t at = kUnit * pick(random_, 1, (length - 1) / kUnit);
    const std::int64_t parts = hgemm::effective(ceil_div(p_.k, kUnit), pick(random_, least, kMost));
    out_.tile += "+" + std::to_string(at) + (columns ? "cx" : "rx") + std::to_string(parts);
  }

  void clusters() {
    const Dtype a = type_of(word(kernel_, "XT"));
    types(a, a, a);
    const bool swapped = is("OUT", "t");
    const bool rows_of_b = is("TB", "r");
    const bool ta = is("TA", "t");
    const bool tb = is("TB", "t");
    p_.a_transposed = swapped ? !tb : ta;
    p_.b_transposed = swapped ? !ta : tb;
    p_.splits = number("MATES") == 2 ? 1 : pick(random_, 1, 8);
    const std::int64_t blocks = std::max(p_.splits, pick(random_, 1, one_in(random_, 3) ? 12 : 4));
    int bm = number("BM"), bn = number("BN");
    if (swapped) std::swap(bm, bn);
    const Abilities abilities = {false, true, true};
    if (rows_of_b) {
      rows_of_any_beginning(swapped);
      draw_epilogue(random_, out_, abilities);
      p_.mask = p_.row_sum = p_.column_sum = p_.row_max_abs = p_.column_max_abs = 0;  // relu_mask and sums are gemm()'s
      if (p_.activation == GemmActivation::drelu) p_.activation = GemmActivation::none;
      return;
    }
    out_.tile = hgemm::tile_name(kernel_);
    lengths(bm, bn, 64 * blocks, 64, {});
    p_.k = std::max(p_.k, 64 * (p_.splits - 1) + 1);
    lie(8, true, 8, true);
    draw_epilogue(random_, out_, abilities);
  }

  // ring_rows.sass: the long operand's rows begin anywhere, and the kernel's b is the long one.
  void rows_of_any_beginning(bool swapped) {
    out_.way = Way::rows;
    p_.k = 8 * pick(random_, 1, 90);
    const std::int64_t few = pick(random_, 1, 128);
    const double most = std::min(limits_.products / static_cast<double>(p_.k), limits_.elements) / 128;
    const std::int64_t many =
        few + length(random_, 120, std::clamp<std::int64_t>(static_cast<std::int64_t>(most), 8, 4000), 1);
    p_.m = swapped ? many : few;
    p_.n = swapped ? few : many;
    p_.a_transposed = swapped || one_in(random_, 2);
    p_.b_transposed = swapped && one_in(random_, 2);
    if (p_.splits == 1) p_.splits = 0;
    const Rows lng = rows(random_, many, 8, false, 2);
    const std::int64_t row = swapped ? (p_.b_transposed ? p_.k : few) : (p_.a_transposed ? few : p_.k);
    const Rows shrt = any_rows(random_, row, 2);
    p_.lda = (swapped ? lng : shrt).leading, out_.shift_a = (swapped ? lng : shrt).shift;
    p_.ldb = (swapped ? shrt : lng).leading, out_.shift_b = (swapped ? shrt : lng).shift;
    lie_result();
  }

  void rings() {
    types(Dtype::float32, Dtype::float32, Dtype::float32);
    const bool eight = kernel_.manifest().op == "sgemm_ring8";
    const bool team = eight && number("BM") == 128;
    const bool many = eight && !team && number("CTAS") == 2;  // CTAs than multiprocessors
    const bool swapped = !team && one_in(random_, 2);
    const bool ta = is("TA", "t");
    const bool tb = is("TB", "t");
    p_.a_transposed = swapped ? !tb : ta;
    p_.b_transposed = swapped ? !ta : tb;
    p_.splits = many ? 8 : pick(random_, 1, 8);
    int bm = number("BM"), bn = number("BN");
    out_.tile = "ring" + std::to_string(bm) + "x" + std::to_string(bn) + (swapped ? "t" : "");
    if (swapped) std::swap(bm, bn);
    const std::int64_t most_k = one_in(random_, 6) ? 64 * p_.splits + 600 : 70;
    lengths(bm, bn, most_k, 64 * p_.splits, {}, many ? 17 : 1);
    constexpr std::int64_t kProcessors = 132;
    const auto ctas = [&] { return ceil_div(p_.m, bm) * ceil_div(p_.n, bn) * p_.splits; };
    while (eight && !many && !team && ctas() > kProcessors) (p_.m > p_.n ? p_.m : p_.n) -= 64;
    const bool a_fits = number("VA") == 4;
    const bool b_fits = number("VB") == 4;
    // Both unaligned kernels take an aligned b; that of an unaligned b alone wants an a that fits.
    const bool a_may = a_fits;
    const bool b_may = b_fits || (!a_fits && one_in(random_, 2));
    lie(4, swapped ? b_may : a_may, 4, swapped ? a_may : b_may);
    draw_epilogue(random_, out_, {});
  }

  void small_chains(Dtype a, Dtype c, bool fours, std::int64_t least_k = 1) {
    types(a, a, c);
    p_.tensor_cores = false;
    p_.a_transposed = one_in(random_, 2), p_.b_transposed = one_in(random_, 2);
    lengths(64, 64, 200, 16, {1, fours ? 4 : 1, 1});
    p_.k = std::max(p_.k, least_k);
    lie(4, one_in(random_, 2), 4, one_in(random_, 2));
    if (fours) p_.ldc = round_up(p_.ldc, 4), out_.shift_c = 0;
  }

  void parts() {
    const Dtype y = type_of(word(kernel_, "YT"));
    const bool fours = number("V") == 4;
    const Dtype a = is("ST", "s32") ? (one_in(random_, 2) ? Dtype::int8 : Dtype::uint8) : y;
    if (number("AHEAD") == 4) {
      small_chains(a, y, fours, kPart + 1);
      p_.splits = pick(random_, 2, sgemm::byte(a) ? 6 : 4);
    } else {  // of more k than small chains have
      const int ahead = number("AHEAD");
      p_.splits = ahead == 16 ? pick(random_, 14, 16) : ahead == 48 ? pick(random_, 17, 48) : pick(random_, 49, 160);
      small_chains(a, y, fours, kPart * p_.splits - pick(random_, 0, kPart - 1));
    }
    if (!fours) p_.ldc += p_.ldc % 4 == 0 && p_.n % 4 == 0 ? 1 : 0;
    draw_epilogue(random_, out_, {});
  }

  void behind() {
    const std::string& op = kernel_.manifest().op;
    const Dtype t = op == "result_sums_end" ? Dtype::float32 : type_of(word(kernel_, "T"));
    small_chains(t, t, one_in(random_, 2));
    if (op == "relu_mask" && one_in(random_, 4)) p_.batch = 3, strides(1, 1);
    draw_epilogue(random_, out_, {false, true, false});
    p_.relu = false;
    p_.activation = GemmActivation::none;
    p_.mask = 0;
    if (op == "relu_mask") {
      p_.mask = 1;
      p_.activation = is("DO", "apply") ? GemmActivation::drelu : GemmActivation::relu;
      return;
    }
    p_.row_sum = one_in(random_, 2), p_.column_sum = one_in(random_, 2);
    p_.row_max_abs = one_in(random_, 2), p_.column_max_abs = 1;
  }

  void group() {
    constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16};
    const Dtype t = choose(random_, kFloats);
    p_.batch = one_in(random_, 8) ? pick(random_, 100, 200) : pick(random_, 16, 40);
    small_chains(t, t, one_in(random_, 2));
    constexpr std::int64_t kSmall = 1 << 18;  // larger results are launched one by one
    p_.n = std::min(p_.n, std::max<std::int64_t>(kSmall / p_.m, 1));
    p_.stride_a = p_.stride_b = p_.stride_c = 0;
    p_.splits = 1;
    out_.side_by_side = false;
    p_.ldc = p_.n + pick(random_, 0, 3);
    out_.way = Way::group;
    draw_epilogue(random_, out_, {true, false, true});
    p_.mask = 0;
    if (p_.activation == GemmActivation::drelu) p_.activation = GemmActivation::relu, p_.relu = false;
  }

  Random& random_;
  const Kernel& kernel_;
  const Limits& limits_;
  Product out_;
  GemmProblem& p_;
};

// One of lib/activation.sass.
GemmActivation function_of(Random& random) {
  std::vector<GemmActivation> all;
  for (const ActivationRow& row : kActivations) {
    GemmProblem p;
    p.activation = row.activation;
    if (sgemm::has_function(p)) all.push_back(row.activation);
  }
  return all[static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(all.size()) - 1))];
}

}  // namespace

void draw_epilogue(Random& random, Product& product, const Abilities& can) {
  GemmProblem& p = product.p;
  const bool integer = p.c_type == Dtype::int32;
  const bool floats = !integer && p.c_type != Dtype::int8;
  constexpr float kFactors[] = {1, 1, 1, 2, -1, 0};
  constexpr float kFractions[] = {1, 1, 0.5F, 2, -0.25F};
  p.alpha = integer ? choose(random, kFactors) : choose(random, kFractions);
  if (one_in(random, 2)) p.beta = integer ? choose(random, kFactors) : choose(random, kFractions);
  p.bias = one_in(random, 2) ? 1 : 0;
  p.bias_per_row = one_in(random, 2);
  if (sgemm::dequantizes(p) && one_in(random, 2)) p.scale = 1, p.scale_per_row = one_in(random, 2);
  if (sgemm::dequantizes(p)) p.alpha *= p.c_type == Dtype::int8 ? 0x1p-10F : 0x1p-4F;
  if (can.relu_first && one_in(random, 8)) p.relu_first = true;
  if (can.at_random && !integer && p.pointers == 0 && one_in(random, 4)) {
    const int most = p.c_type == Dtype::int8       ? 0
                     : p.c_type == Dtype::float16  ? 10
                     : p.c_type == Dtype::bfloat16 ? 7
                                                   : 15;
    p.rounding = {true, random(), random() % 100000, static_cast<int>(pick(random, 0, most))};
  }
  switch (pick(random, 0, integer ? 3 : can.functions ? 6 : 4)) {
    case 0:
    case 1: break;
    case 2: p.relu = true; break;
    case 3: p.activation = GemmActivation::relu; break;
    case 4:
      if (floats && p.pointers == 0 && !p.relu_first) p.activation = GemmActivation::drelu;
      break;
    default: {
      p.activation = function_of(random);
      p.alpha *= 0.0625F;
      p.clip_low = -20, p.clip_high = 7.5F;
    }
  }
  const bool relu = p.relu || p.activation == GemmActivation::relu;
  const bool one = p.batch <= 1 || p.sum_batch;
  if (p.activation == GemmActivation::drelu ||
      (relu && floats && p.pointers == 0 && !p.relu_first && one_in(random, 2))) {
    p.mask = 1;
  }
  if (floats && one && p.pointers == 0 && one_in(random, 4)) {
    p.row_sum = one_in(random, 2), p.column_sum = one_in(random, 2);
    p.row_max_abs = one_in(random, 2), p.column_max_abs = one_in(random, 2);
  }
}

bool draws_products(const Kernel& kernel) {
  constexpr std::string_view kOps[] = {"sgemm",       "gemm",      "hgemm",     "hgemm_cluster",    "sgemm_ring",
                                       "sgemm_ring8", "split_sum", "relu_mask", "result_sums",      "result_sums_end",
                                       "table",       "bf16x6",    "bf16x3",    "gemm_if",          "gemm64",
                                       "dgemm",       "f16x2",     "f16x3",     "split_sum_if",     "hgemm_resident",
                                       "f16x3_rs",    "bf16x6_rs", "bf16x6_32", "f16x3_compensated"};
  return std::ranges::find(kOps, kernel.manifest().op) != std::end(kOps);
}

Product draw_product(Random& random, const Kernel& kernel, const Limits& limits) {
  return Drawing(random, kernel, limits).run();
}

}  // namespace nervanagpu::variants
