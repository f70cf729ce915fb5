// Sums in a fixed order: gradients of biases, and statistics.
#include <cmath>
#include <string>
#include <vector>

#include "kernels/nn/checks.h"
#include "kernels/nn/expressions.h"
#include "kernels/nn/launch.h"
#include "kernels/nn/nn.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/ceil_div.h"
#include "src/shape.h"

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

// Of x (rows, columns): over the rows, in chunks, then over the chunks in the same way.
Expr column_sums(const Tensor& x, const Stream& stream) {
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
  if (rows < 2 * kRows) return sum(values(x, x.shape()), 0);
  const std::int64_t whole = rows / kRows;
  const Tensor parts = Tensor::empty({ceil_div(rows, kRows), columns});
  nn::write(parts.slice(0, 0, whole), sum(values(x.slice(0, 0, whole * kRows), {whole, kRows, columns}), 1), {},
            stream);
  if (rows % kRows != 0) {
    const Tensor rest = x.slice(0, whole * kRows, rows);
    nn::write(parts.select(0, whole), sum(values(rest, rest.shape()), 0), {}, stream);
  }
  return column_sums(parts, stream);
}

// The same over the columns.
Expr row_sums(const Tensor& x, const Stream& stream) {
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
  if (columns < 2 * kElements) return sum(values(x, x.shape()), 1);
  const std::int64_t whole = columns / kElements;
  const std::int64_t chunks = ceil_div(columns, kElements);
  const Tensor parts = Tensor::empty({rows, chunks});
  const auto part = [&](std::int64_t first, std::int64_t count, std::int64_t length) {
    const Tensor from = Tensor::wrap(x.address() + static_cast<std::uint64_t>(first * kElements) * size_of(x.dtype()),
                                     {rows, count, length}, {columns, kElements, 1}, x.dtype());
    const Expr total = sum(cast(Expr(from), Dtype::float32), 2);
    const fuse::Write one = {parts.slice(1, first, first + count), total};
    fuse::run_now({&one, 1}, stream);
  };
  part(0, whole, kElements);
  if (whole < chunks) part(whole, 1, columns % kElements);
  x.used_on(stream);
  return row_sums(parts, stream);
}

void check_lengths(const Tensor& dy, std::int64_t rows, std::int64_t cols, bool channel_last) {
  constexpr std::int64_t kRows = (std::int64_t{1} << 31) - 64;
  const bool fits = channel_last ? rows < kRows && cols < nn::kMostElements
                                 : cols <= nn::kMostElements && rows < nn::kMostElements / 1024;
  if (fits) return;
  throw InvalidArgument("bias_grad: dy has shape " + text_of(dy.shape()) + "; needs " +
                        (channel_last ? "less than 2^30 channels and 2^31 - 64 others"
                                      : "less than 2^20 channels and at most 2^30 others"));
}

}  // namespace

void bias_grad(const Tensor& dy, bool channel_last, Tensor& db, float alpha, float beta, const Rounding& rounding,
               const Stream& stream) {
  const nn::Named ny = {"bias_grad", "dy", dy};
  const nn::Named nb = {"bias_grad", "db", db};
  nn::check_float(ny);
  nn::check_contiguous(ny);
  nn::check_float(nb);
  if (dy.ndim() == 0) throw InvalidArgument("bias_grad: dy has no axis; needs 1 or more");
  const std::int64_t channels = channel_last ? dy.shape().back() : dy.shape().front();
  nn::check_shape(nb, {channels}, channel_last ? "the length of the last axis" : "the length of the first axis");
  nn::check_contiguous(nb);
  nn::check_rounding("bias_grad", rounding, db.dtype());
  nn::check_apart(nb, ny);
  if (channels == 0) return;
  const std::int64_t others = dy.size() / channels;
  check_lengths(dy, channel_last ? others : channels, channel_last ? channels : others, channel_last);

  if (others == 0) {  // sums of nothing
    const Expr value = beta == 0.0F ? cast(0, Dtype::float32) : values(db) * beta;
    const fuse::Write one = nn::write_of(db, value, beta == 0.0F ? Rounding{} : rounding);
    fuse::run_now({&one, 1}, stream);
    return;
  }
  const Tensor from = aligned(dy, stream);
  const bool columns = channel_last && channels > 1;
  const Tensor x = from.reshape(columns ? Shape{others, channels} : Shape{channels, others});
  const Expr total = (columns ? column_sums(x, stream) : row_sums(x, stream)) * alpha;
  nn::write(db, beta == 0.0F ? total : fma(values(db), beta, total), rounding, stream);
}

Statistics statistics(const Tensor& x, const Stream& stream) {
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
