// Sums in a fixed order: gradients of biases, and statistics.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "kernels/nn/checks.h"
#include "kernels/nn/expressions.h"
#include "kernels/nn/launch.h"
#include "kernels/nn/nn.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/ceil_div.h"
#include "src/device/placement.h"
#include "src/tensor/shape.h"

namespace nervanagpu {
namespace {

using nn::values;

constexpr std::int64_t kRows = 256,
                       kElements = 4096;  // of a chunk: few enough that kernels of sums do not cut it again

// Where a tensor lies does not show in the order of sums: vectors begin at multiples of 16 bytes.
Tensor aligned(const Tensor& t, const Stream& stream) {
  if (t.address() % 16 == 0) return t;
  Tensor copy = Tensor::empty(t.shape(), t.dtype());
  nn::write(copy, values(t), {}, stream);
  return copy;
}

Expr sum(const Expr& x, int axis) {
  return reduce(Reduction::sum, x, {axis});
}

// What is to be summed: x, or, where there is a y, x * relu'(y), which is stored in x by the kernels that read it.
struct Summand {
  Tensor x;
  std::optional<Tensor> y;

  template <class View>
  [[nodiscard]] Summand view(const View& f) const {
    return {f(x), y ? std::optional(f(*y)) : std::nullopt};
  }
  // to = sums over `axis`.
  void sum_into(const Tensor& to, int axis, const Stream& stream) const {
    const Expr value = nn::as_float(x);
    if (!y) {
      const fuse::Write one = nn::write_of(to, sum(value, axis));
      return fuse::run_now({&one, 1}, stream);
    }
    const Expr kept = apply(ExprOp::where, {apply(ExprOp::greater, {nn::as_float(*y), 0}), value, 0});
    const fuse::Write both[] = {nn::write_of(to.insert_axis(axis), reduce(Reduction::sum, kept, {axis}, true)),
                                nn::write_of(x, kept)};
    fuse::run_now(both, stream);
  }
};

// Sums over the rows of (rows, columns), in chunks; then the chunks' are to be added in the same way.
Tensor sums_of_rows(const Summand& s, const Stream& stream) {
  const std::int64_t rows = s.x.shape()[0], columns = s.x.shape()[1];
  const std::int64_t whole = rows / kRows;
  Tensor parts = Tensor::empty({ceil_div(rows, kRows), columns});
  const auto part = [&](std::int64_t first, std::int64_t count, std::int64_t length) {
    const auto view = [&](const Tensor& t) {
      return t.slice(0, first * kRows, first * kRows + count * length).reshape({count, length, columns});
    };
    s.view(view).sum_into(parts.slice(0, first, first + count), 1, stream);
  };
  if (whole > 0) part(0, whole, kRows);
  if (rows % kRows != 0) part(whole, 1, rows % kRows);
  return parts;
}

// The same over the columns.
Tensor sums_of_columns(const Summand& s, const Stream& stream) {
  const std::int64_t rows = s.x.shape()[0], columns = s.x.shape()[1];
  const std::int64_t whole = columns / kElements;
  Tensor parts = Tensor::empty({rows, ceil_div(columns, kElements)});
  const auto part = [&](std::int64_t first, std::int64_t count, std::int64_t length) {
    const auto view = [&](const Tensor& t) {
      return Tensor::wrap(t.address() + static_cast<std::uint64_t>(first * kElements) * size_of(t.dtype()),
                          {rows, count, length}, {columns, kElements, 1}, t.dtype());
    };
    s.view(view).sum_into(parts.slice(1, first, first + count), 2, stream);
  };
  if (whole > 0) part(0, whole, kElements);
  if (columns % kElements != 0) part(whole, 1, columns % kElements);
  s.x.used_on(stream);
  if (s.y) s.y->used_on(stream);
  return parts;
}

constexpr std::int64_t most_of(bool columns) {  // elements of a sum that are one chunk
  return 2 * (columns ? kRows : kElements) - 1;
}
// Of s (rows, columns): the sums of its columns, or of its rows. If there is a y, there are several chunks.
Expr total(Summand s, bool columns, const Stream& stream) {
  const int axis = columns ? 0 : 1;
  while (s.x.shape()[static_cast<std::size_t>(axis)] > most_of(columns)) {
    s = {columns ? sums_of_rows(s, stream) : sums_of_columns(s, stream), std::nullopt};
  }
  return sum(nn::as_float(s.x), axis);
}

// dy and db = its sums over all axes but the last or the first; the length of that one.
std::int64_t check_sums(const char* op, const Tensor& dy, bool channel_last, const Tensor& db) {
  const nn::Named ny = {op, "dy", dy};
  const nn::Named nb = {op, "db", db};
  nn::check_float(ny);
  nn::check_contiguous(ny);
  nn::check_float(nb);
  if (dy.ndim() == 0) throw InvalidArgument(std::string(op) + ": dy has no axis; needs 1 or more");
  const std::int64_t channels = channel_last ? dy.shape().back() : dy.shape().front();
  nn::check_shape(nb, {channels}, channel_last ? "the length of the last axis" : "the length of the first axis");
  nn::check_contiguous(nb);
  nn::check_apart(nb, ny);
  return channels;
}

void check_lengths(const char* op, const Tensor& dy, std::int64_t rows, std::int64_t cols, bool channel_last) {
  constexpr std::int64_t kRows = (std::int64_t{1} << 31) - 64;
  const bool fits = channel_last ? rows < kRows && cols < nn::kMostElements
                                 : cols <= nn::kMostElements && rows < nn::kMostElements / 1024;
  if (fits) return;
  throw InvalidArgument(std::string(op) + ": dy has shape " + text_of(dy.shape()) + "; needs " +
                        (channel_last ? "less than 2^30 channels and 2^31 - 64 others"
                                      : "less than 2^20 channels and at most 2^30 others"));
}

}  // namespace

void bias_grad(const Tensor& dy, bool channel_last, Tensor& db, float alpha, float beta, const Rounding& rounding,
               const Stream& stream) {
  const Placed placed("bias_grad", {{"dy", dy}, {"db", db}, {"stream", stream}});
  const std::int64_t channels = check_sums("bias_grad", dy, channel_last, db);
  nn::check_rounding("bias_grad", rounding, db.dtype());
  if (channels == 0) return;
  const std::int64_t others = dy.size() / channels;
  check_lengths("bias_grad", dy, channel_last ? others : channels, channel_last ? channels : others, channel_last);
  if (others == 0) {  // sums of nothing
    const Expr value = beta == 0.0F ? cast(0, Dtype::float32) : values(db) * beta;
    const fuse::Write one = nn::write_of(db, value, beta == 0.0F ? Rounding{} : rounding);
    fuse::run_now({&one, 1}, stream);
    return;
  }
  const Tensor from = aligned(dy, stream);
  const bool columns = channel_last && channels > 1;
  const Tensor x = from.reshape(columns ? Shape{others, channels} : Shape{channels, others});
  const Expr sums = total({x, std::nullopt}, columns, stream) * alpha;
  nn::write(db, beta == 0.0F ? sums : fma(values(db), beta, sums), rounding, stream);
}

void relu_bias_bprop(const Tensor& y, Tensor& dy, bool channel_last, Tensor& db, const Stream& stream) {
  constexpr const char* kOp = "relu_bias_bprop";
  const Placed placed(kOp, {{"y", y}, {"dy", dy}, {"db", db}, {"stream", stream}});
  const nn::Named ny = {kOp, "y", y};
  const std::int64_t channels = check_sums(kOp, dy, channel_last, db);
  nn::check_like(ny, {kOp, "dy", dy});
  nn::check_contiguous(ny);
  nn::check_apart({kOp, "dy", dy}, ny);
  nn::check_apart({kOp, "db", db}, ny);
  const std::int64_t others = channels == 0 ? 0 : dy.size() / channels;
  if (channels != 0) {
    check_lengths(kOp, dy, channel_last ? others : channels, channel_last ? channels : others, channel_last);
  }
  // Sums whose order would show where the tensors lie are made of copies.
  if (others == 0 || dy.address() % 16 != 0 || y.address() % 16 != 0) {
    activation_bprop(Activation::relu, y, dy, dy, 0.0F, {}, stream);
    return bias_grad(dy, channel_last, db, 1.0F, 0.0F, {}, stream);
  }
  const bool columns = channel_last && channels > 1;
  const Shape shape = columns ? Shape{others, channels} : Shape{channels, others};
  const Summand both = {dy.reshape(shape), y.reshape(shape)};
  if (others <= most_of(columns)) return both.sum_into(db, columns ? 0 : 1, stream);
  nn::write(db, total(both, columns, stream), {}, stream);
}

Statistics statistics(const Tensor& x, const Stream& stream) {
  const Placed placed("statistics", {{"x", x}, {"stream", stream}});
  const nn::Named nx = {"statistics", "x", x};
  nn::check_float(nx);
  nn::check_contiguous(nx);
  if (x.size() == 0) return {};
  const Tensor all = aligned(x, stream).reshape({x.size()});
  const std::int64_t chunks = ceil_div(x.size(), kElements);
  const Tensor parts = Tensor::empty({2, chunks});
  const auto part = [&](std::int64_t first, std::int64_t count, std::int64_t length) {
    const std::int64_t begin = first * kElements;
    const Expr size = apply(ExprOp::absolute, {values(all.slice(0, begin, begin + count * length), {count, length})});
    const Tensor to = parts.slice(1, first, first + count);
    const fuse::Write both[] = {{to.select(0, 0), sum(size, 1)}, {to.select(0, 1), reduce(Reduction::max, size, {1})}};
    fuse::run_now(both, stream);
  };
  const std::int64_t whole = x.size() / kElements;
  if (whole > 0) part(0, whole, kElements);
  if (whole < chunks) part(whole, 1, x.size() % kElements);
  stream.synchronize();
  const std::vector<float> host = parts.to_host<float>();
  const auto count = static_cast<std::size_t>(chunks);
  Statistics s;
  for (std::size_t k = 0; k < count; ++k) {
    s.mean_abs += static_cast<double>(host[k]);
    const auto most = static_cast<double>(host[count + k]);
    if (!(most <= s.max_abs)) s.max_abs = std::isnan(s.max_abs) ? s.max_abs : most;
  }
  s.mean_abs /= static_cast<double>(x.size());
  return s;
}

}  // namespace nervanagpu
