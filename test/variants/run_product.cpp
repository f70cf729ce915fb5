// A drawn product in device memory, computed and compared.
//
// Rows of A and columns of B repeat themselves at primes, so that the host multiplies little however large the product is; no
// tile, warp or vector is as long.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "kernels/gemm/tensor_cores/hgemm_rows.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/grouped_gemm.hpp"
#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "test/gpu/bound.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/reference.h"
#include "test/variants/epilogue.h"
#include "test/variants/product.h"

namespace nervanagpu::variants {
namespace {

using gpu_test::Buffer;
using gpu_test::Bytes;
using gpu_test::pick;
using gpu_test::Values;

constexpr std::int64_t kRows = 61, kColumns = 67;  // of A and B that differ

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// An operand's matrices: `rows` stored rows of `length` elements of which so many differ.
struct Operand {
  std::int64_t rows = 0, length = 0, leading = 0;
  std::int64_t different_rows = 0, different_columns = 0;
  std::vector<std::int64_t> begin;  // of each matrix, in elements
  std::vector<Values> values;       // [different_rows][different_columns] of each; one for all of stride 0
  [[nodiscard]] const Values& of(std::int64_t matrix) const { return values[at(matrix) % values.size()]; }
  [[nodiscard]] std::int64_t end() const { return *std::ranges::max_element(begin) + (rows - 1) * leading + length; }
};

// Where `count` matrices of `extent` elements begin: `stride` apart or, if `scattered`, in some order with gaps.
std::vector<std::int64_t> places(Random& random, std::int64_t count, std::int64_t stride, bool scattered,
                                 std::int64_t extent, std::int64_t unit) {
  std::vector<std::int64_t> out(at(count));
  if (!scattered) {
    for (std::int64_t i = 0; i < count; ++i) out[at(i)] = i * stride;
    return out;
  }
  std::vector<std::int64_t> order(out.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::shuffle(order.begin(), order.end(), random);
  std::int64_t from = 0;
  for (const std::int64_t i : order) {
    out[at(i)] = from;
    from += ceil_div(extent, unit) * unit + unit * pick(random, 0, 3);
  }
  return out;
}

Bytes stored(const Operand& x, Dtype type) {
  const std::size_t size = size_of(type);
  Bytes out(at(x.end()) * size, 0xff);
  for (std::size_t b = 0; b < x.begin.size(); ++b) {
    const Bytes from = gpu_test::encode(x.of(static_cast<std::int64_t>(b)), type);
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const std::uint8_t* row = from.data() + at(i % x.different_rows * x.different_columns) * size;
      std::uint8_t* to = out.data() + at(x.begin[b] + i * x.leading) * size;
      for (std::int64_t j = 0; j < x.length; j += x.different_columns) {
        std::copy_n(row, at(std::min(x.different_columns, x.length - j)) * size, to + at(j) * size);
      }
    }
  }
  return out;
}

class Run {
 public:
  Run(const Product& product, Random& random) : product_(product), p_(product.p), random_(random) {}

  std::string operator()() {
    draw_operands();
    draw_extras();
    expect();
    launch();
    return compare();
  }
  [[nodiscard]] std::int64_t elements() const { return results_ * p_.m * p_.n; }

 private:
  [[nodiscard]] bool scattered() const { return p_.pointers != 0 || product_.way == Way::group; }

  Operand operand(bool transposed, std::int64_t outside, std::int64_t different, std::int64_t leading,
                  std::int64_t stride, Dtype type, bool across) {
    Operand x;
    const std::int64_t some = std::min(outside, different);
    // A is outside x k unless it is transposed, B is k x outside unless it is.
    const bool outside_is_row = across == transposed;
    x.rows = outside_is_row ? outside : p_.k;
    x.length = outside_is_row ? p_.k : outside;
    x.leading = leading;
    x.different_rows = outside_is_row ? some : p_.k;
    x.different_columns = outside_is_row ? p_.k : some;
    const std::int64_t unit = p_.pointers != 0 ? p_.pointers : static_cast<std::int64_t>(size_of(type));
    x.begin = places(random_, p_.batch, stride, scattered(), (x.rows - 1) * leading + x.length,
                     std::max<std::int64_t>(unit / static_cast<std::int64_t>(size_of(type)), 1));
    constexpr std::int64_t kFew = 300;  // products of whole bytes whose sum is exact as a float
    const bool bytes = sgemm::byte(type) && p_.k * p_.batch <= kFew;
    const std::size_t different_matrices = stride == 0 && !scattered() ? 1 : at(p_.batch);
    for (std::size_t b = 0; b < different_matrices; ++b) {
      x.values.push_back(gpu_test::integers(random_, x.different_rows * x.different_columns, bytes ? 0 : 4, type));
    }
    return x;
  }

  void draw_operands() {
    a_ = operand(p_.a_transposed, p_.m, kRows, p_.lda, p_.stride_a, p_.a_type, false);
    b_ = operand(p_.b_transposed, p_.n, kColumns, p_.ldb, p_.stride_b, p_.b_type, true);
    if (product_.beyond != 0) go_beyond();
    results_ = p_.sum_batch ? 1 : p_.batch;
    const std::int64_t unit = p_.pointers != 0 ? p_.pointers / static_cast<std::int64_t>(size_of(p_.c_type)) : 1;
    c_begin_ = places(random_, results_, p_.stride_c, scattered(), (p_.m - 1) * p_.ldc + p_.n,
                      std::max<std::int64_t>(unit, 1));
    c_end_ = *std::ranges::max_element(c_begin_) + (p_.m - 1) * p_.ldc + p_.n;
  }

  // An element of the first row of each A, and the zeros of B that it meets.
  void go_beyond() {
    for (Values& x : a_.values) x[at(p_.a_transposed ? (p_.k - 1) * a_.different_columns : p_.k - 1)] = product_.beyond;
    for (Values& x : b_.values) {
      const std::int64_t outside = p_.b_transposed ? b_.different_rows : b_.different_columns;
      for (std::int64_t j = 0; j < outside; ++j) {
        x[at(p_.b_transposed ? j * p_.k + p_.k - 1 : (p_.k - 1) * outside + j)] = 0;
      }
    }
  }

  void draw_extras() {
    bias_ = gpu_test::integers(random_, p_.bias_per_row ? p_.m : p_.n, 9, p_.bias_type);
    scale_ = Values(at(p_.scale_per_row ? p_.m : p_.n));
    for (double& v : scale_) v = std::ldexp(1.0, static_cast<int>(pick(random_, -2, 1)));
    if (p_.mask == 0) return;
    p_.ld_mask = ceil_div(p_.n, 32) + pick(random_, 0, 2);
    mask_.resize(at(results_ * p_.m * p_.ld_mask));
    for (std::uint32_t& w : mask_) w = static_cast<std::uint32_t>(random_());
  }

  [[nodiscard]] bool bit(std::int64_t matrix, std::int64_t i, std::int64_t j) const {
    return (mask_[at((matrix * p_.m + i) * p_.ld_mask + j / 32)] >> (j % 32) & 1) != 0;
  }

  // The sums of matrix `r`, of the rows and columns that differ.
  [[nodiscard]] Values sums(std::int64_t r) const {
    GemmProblem small = p_;
    small.m = std::min(p_.m, kRows), small.n = std::min(p_.n, kColumns);
    small.lda = a_.different_columns, small.ldb = b_.different_columns;
    Values out = gpu_test::product(small, a_.of(r), b_.of(r));
    for (std::int64_t b = 1; p_.sum_batch && b < p_.batch; ++b) {
      const Values more = gpu_test::product(small, a_.of(b), b_.of(b));
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += more[i];
    }
    return out;
  }

  void expect() {
    const std::int64_t columns = std::min(p_.n, kColumns);
    const bool drelu = p_.activation == GemmActivation::drelu;
    old_ = gpu_test::integers(random_, p_.beta != 0 ? kRows * kColumns : 1, 9, p_.c_type);
    before_.assign(at(c_end_) * size_of(p_.c_type), 0xff);
    wanted_ = before_;
    values_.resize(at(results_ * p_.m * p_.n));
    Values slacks(
        p_.activation > GemmActivation::relu && !drelu && p_.activation != GemmActivation::clip ? values_.size() : 0);
    for (std::int64_t r = 0; r < results_; ++r) {
      const Values all = sums(r);
      for (std::int64_t i = 0; i < p_.m; ++i) {
        const std::int64_t first = (r * p_.m + i) * p_.n;
        Values row(at(p_.n)), olds(at(p_.n));
        for (std::int64_t j = 0; j < p_.n; ++j) {
          const double sum = all[at(i % kRows * columns + j % kColumns)];
          const double old = p_.beta != 0 ? old_[at((r + i) % kRows * kColumns + j % kColumns)] : 0;
          const double bias = p_.bias != 0 ? bias_[at(p_.bias_per_row ? i : j)] : 0;
          const double scale = p_.scale != 0 ? scale_[at(p_.scale_per_row ? i : j)] : 1;
          const Expected e = finish(p_, sum, scale, old, bias, drelu && bit(r, i, j));
          olds[at(j)] = old;
          row[at(j)] = slacks.empty() ? round_result(p_.c_type, p_.rounding, e.value, c_begin_[at(r)] + i * p_.ldc + j)
                                      : e.value;
          if (!slacks.empty()) slacks[at(first + j)] = allowed(p_, e);
          values_[at(first + j)] = row[at(j)];
        }
        put_row(wanted_, r, i, row);
        if (p_.beta != 0) put_row(before_, r, i, olds);
      }
    }
    slacks_ = std::move(slacks);
  }

  void put_row(Bytes& to, std::int64_t r, std::int64_t i, const Values& row) const {
    Values whole = row;
    if (p_.c_type == Dtype::int8) {
      for (double& v : whole) v = std::clamp(std::nearbyint(v), -128.0, 127.0);
    }
    const Bytes bytes = gpu_test::encode(whole, p_.c_type);
    const std::int64_t first = c_begin_[at(r)] + i * p_.ldc;
    std::ranges::copy(bytes, to.begin() + static_cast<std::ptrdiff_t>(at(first) * size_of(p_.c_type)));
  }

  void launch() {
    const Buffer a(stored(a_, p_.a_type), product_.shift_a);
    const Buffer b(stored(b_, p_.b_type), product_.shift_b);
    const Buffer bias(bias_, p_.bias_type, product_.shift_bias);
    const Buffer scale(scale_, Dtype::float32);
    c_.emplace(before_, product_.shift_c);
    GemmProblem q = p_;
    q.a = a.address(), q.b = b.address(), q.c = c_->address();
    if (q.bias != 0) q.bias = bias.address();
    if (q.scale != 0) q.scale = scale.address();
    if (q.mask != 0) {
      Bytes words(mask_.size() * 4);
      for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint8_t>(mask_[i / 4] >> 8 * (i % 4));
      mask_memory_.emplace(words);
      q.mask = mask_memory_->address();
    }
    for (auto& [address, side, memory] : vectors(q)) {
      if (*address == 0) continue;
      memory->emplace(Buffer::poisoned(at(side) * 4));
      *address = (*memory)->address();
    }
    std::vector<Buffer> tables;
    if (q.pointers != 0) {
      for (const auto& [address, begin, type] :
           {std::tuple(&q.a, &a_.begin, q.a_type), std::tuple(&q.b, &b_.begin, q.b_type),
            std::tuple(&q.c, &c_begin_, q.c_type)}) {
        Bytes table;
        for (const std::int64_t first : *begin) {
          const std::uint64_t v = *address + static_cast<std::uint64_t>(first) * size_of(type);
          for (int byte = 0; byte < 8; ++byte) table.push_back(static_cast<std::uint8_t>(v >> 8 * byte));
        }
        tables.emplace_back(table);
        *address = tables.back().address();
      }
    }
    call(q, a, b);
    wrong_ = guards_of(tables);
  }

  static std::string guards_of(const std::vector<Buffer>& all) {
    for (const Buffer& b : all) {
      static_cast<void>(b.get());  // waits
      if (!b.guards().empty()) return "a table " + b.guards();
    }
    return {};
  }

  void call(GemmProblem& q, const Buffer& a, const Buffer& b) {
    std::optional<Buffer> workspace;
    const auto give = [&](std::size_t bytes) {
      if (bytes == 0) return std::uint64_t{0};
      workspace.emplace(Buffer::poisoned(bytes));
      return workspace->address();
    };
    if (product_.way == Way::rows) {
      hgemm::multiply_by_rows(current_device(), q, give(at(hgemm::copied_by_rows(q)) * 2), 0);
    } else if (product_.way == Way::group) {
      std::vector<GemmProblem> all;
      for (std::size_t i = 0; i < c_begin_.size(); ++i) {
        GemmProblem one = q;
        one.batch = 1;
        one.a = a.address() + at(a_.begin[i]) * size_of(q.a_type);
        one.b = b.address() + at(b_.begin[i]) * size_of(q.b_type);
        one.c = c_->address() + at(c_begin_[i]) * size_of(q.c_type);
        all.push_back(one);
      }
      grouped_gemm(all, give(grouped_gemm_workspace(all)));
    } else {
      q.workspace = give(gemm_workspace(q, product_.tile));
      gemm(q, {}, product_.tile);
    }
    if (!workspace) return;
    static_cast<void>(workspace->get());
    if (!workspace->guards().empty()) wrong_ = "the workspace " + workspace->guards();
  }

  std::string compare() {
    if (!wrong_.empty()) return wrong_;
    got_ = c_->get();
    if (!c_->guards().empty()) return c_->guards();
    if (std::string text = inexact(); !text.empty()) return text;
    if (std::string text = gpu_test::difference(*c_, wanted_, p_.c_type); !text.empty()) return text;
    if (std::string text = compare_mask(); !text.empty()) return text;
    return compare_sums();
  }

  // Elements within their bounds are what is wanted; the rest of the memory is compared as it is.
  std::string inexact() {
    if (slacks_.empty()) return {};
    const std::size_t size = size_of(p_.c_type);
    for (std::int64_t r = 0; r < results_; ++r) {
      for (std::int64_t i = 0; i < p_.m; ++i) {
        const std::size_t first = at(c_begin_[at(r)] + i * p_.ldc) * size;
        const auto from = got_.begin() + static_cast<std::ptrdiff_t>(first);
        const Bytes bytes(from, from + static_cast<std::ptrdiff_t>(at(p_.n) * size));
        const Values row = gpu_test::decode(bytes, p_.c_type);
        for (std::int64_t j = 0; j < p_.n; ++j) {
          const std::size_t e = at((r * p_.m + i) * p_.n + j);
          double want = values_[e];
          if (p_.c_type == Dtype::int8) want = std::clamp(want, -128.0, 127.0);
          if (!(std::fabs(row[at(j)] - want) <= slacks_[e])) {
            return "row " + std::to_string(i) + ", column " + std::to_string(j) + " of matrix " + std::to_string(r) +
                   ": got " + std::to_string(row[at(j)]) + ", needs " + std::to_string(want) + " within " +
                   std::to_string(slacks_[e]);
          }
          values_[e] = row[at(j)];
        }
        std::ranges::copy(bytes, wanted_.begin() + static_cast<std::ptrdiff_t>(first));
      }
    }
    return {};
  }

  std::string compare_mask() {
    if (p_.mask == 0) return {};
    const Bytes bytes = mask_memory_->get();
    if (!mask_memory_->guards().empty()) return "the mask " + mask_memory_->guards();
    const bool writes = p_.activation != GemmActivation::drelu;
    for (std::int64_t row = 0; row < results_ * p_.m; ++row) {
      for (std::int64_t w = 0; w < p_.ld_mask; ++w) {
        const std::size_t i = at(row * p_.ld_mask + w);
        std::uint32_t want = mask_[i];
        if (writes && w < ceil_div(p_.n, 32)) {
          want = 0;
          for (std::int64_t j = 32 * w; j < std::min(p_.n, 32 * w + 32); ++j) {
            if (values_[at(row * p_.n + j)] > 0) want |= 1U << (j % 32);
          }
        }
        std::uint32_t got = 0;
        for (std::size_t byte = 0; byte < 4; ++byte) got |= std::uint32_t{bytes[4 * i + byte]} << 8 * byte;
        if (got != want) {
          return "word " + std::to_string(w) + " of row " + std::to_string(row) + " of the mask: got " +
                 std::to_string(got) + ", needs " + std::to_string(want);
        }
      }
    }
    return {};
  }

  struct Vector {
    std::uint64_t* address;
    std::int64_t length;
    std::optional<Buffer>* memory;
  };
  std::array<Vector, 4> vectors(GemmProblem& q) {
    return {Vector{&q.row_sum, q.m, &vectors_[0]}, Vector{&q.row_max_abs, q.m, &vectors_[1]},
            Vector{&q.column_sum, q.n, &vectors_[2]}, Vector{&q.column_max_abs, q.n, &vectors_[3]}};
  }

  std::string compare_sums() {
    constexpr const char* kNames[] = {"row_sum", "row_max_abs", "column_sum", "column_max_abs"};
    for (std::size_t which = 0; which < vectors_.size(); ++which) {
      if (!vectors_[which]) continue;
      const bool of_rows = which < 2;
      const bool largest = which % 2 == 1;
      const std::int64_t count = of_rows ? p_.m : p_.n;
      Values want(at(count)), size(at(count));
      for (std::int64_t i = 0; i < p_.m; ++i) {
        for (std::int64_t j = 0; j < p_.n; ++j) {
          const double v = values_[at(i * p_.n + j)];
          const std::size_t to = at(of_rows ? i : j);
          want[to] = largest ? std::max(want[to], std::fabs(v)) : want[to] + v;
          size[to] += std::fabs(v);
        }
      }
      const Values got = vectors_[which]->get(Dtype::float32);
      if (!vectors_[which]->guards().empty()) return std::string(kNames[which]) + " " + vectors_[which]->guards();
      const double part = largest ? 0 : gpu_test::gamma(of_rows ? p_.n : p_.m, gpu_test::kUnitFloat);
      for (std::size_t i = 0; i < want.size(); ++i) {
        if (!(std::fabs(got[i] - want[i]) <= part * size[i])) {
          return std::string(kNames[which]) + " " + std::to_string(i) + ": got " + std::to_string(got[i]) + ", needs " +
                 std::to_string(want[i]);
        }
      }
    }
    return {};
  }

  const Product& product_;
  GemmProblem p_;
  Random& random_;
  Operand a_, b_;
  std::vector<std::int64_t> c_begin_;
  std::int64_t c_end_ = 0, results_ = 1;
  Values bias_, scale_, old_;
  std::vector<std::uint32_t> mask_;
  Bytes before_, wanted_, got_;
  Values values_;  // of the results without gaps: as wanted, then as stored
  Values slacks_;  // empty: every element is exact
  std::optional<Buffer> c_, mask_memory_;
  std::array<std::optional<Buffer>, 4> vectors_;
  std::string wrong_;
};

}  // namespace

std::vector<std::string> features_of(const Product& x) {
  const GemmProblem& p = x.p;
  std::vector<std::string> out;
  const auto add = [&](bool there, const std::string& name) {
    if (there) out.push_back(name);
  };
  out.push_back(std::string(nervanagpu::name_of(p.c_type)) + " result");
  add(p.beta != 0, "beta");
  add(p.bias != 0, p.bias_per_row ? "bias by row" : "bias by column");
  add(p.scale != 0, p.scale_per_row ? "scale by row" : "scale by column");
  add(p.relu, "relu");
  add(p.relu_first, "relu first");
  add(p.activation != GemmActivation::none, std::string(activation_row(p.activation)->name));
  add(p.mask != 0 && p.activation != GemmActivation::drelu, "mask");
  add((p.row_sum | p.row_max_abs) != 0, "sums of rows");
  add((p.column_sum | p.column_max_abs) != 0, "sums of columns");
  add(p.rounding.stochastic, "rounding at random");
  add(p.splits > 1, "parts of k");
  add(p.pointers != 0, "tables");
  add(x.way == Way::group, "group");
  add(p.batch > 1 && p.pointers == 0 && x.way != Way::group, p.sum_batch ? "sum over a batch" : "batch");
  add(x.side_by_side, "results side by side");
  return out;
}

std::string text_of(const Product& x) {
  const GemmProblem& p = x.p;
  std::string out = gpu_test::text_of(p) + " tile " + x.tile + " splits " + std::to_string(p.splits) + " batch " +
                    std::to_string(p.batch) + " shifts " + std::to_string(x.shift_a) + " " + std::to_string(x.shift_b) +
                    " " + std::to_string(x.shift_c) + " CTAs " + std::to_string(x.most_ctas) + ":";
  for (const std::string& f : features_of(x)) out += " " + f + ",";
  out.back() = ' ';
  return out;
}

std::string run(const Product& product, Random& random, std::int64_t& elements) {
  Run it(product, random);
  std::string wrong = it();
  elements = it.elements();
  return wrong;
}

}  // namespace nervanagpu::variants
