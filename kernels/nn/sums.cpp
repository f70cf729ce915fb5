// Sums in a fixed order: gradients of biases, and statistics.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/nn/checks.h"
#include "kernels/nn/launch.h"
#include "kernels/nn/nn.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/ceil_div.h"
#include "src/select_device.h"
#include "src/shape.h"

namespace nervanagpu {
namespace {

using nn::Call;

std::uint32_t u32(std::int64_t v) {
  return static_cast<std::uint32_t>(v);
}

bool fours(std::uint64_t address, Dtype dtype, std::int64_t length) {
  return length % 4 == 0 && address % (4 * size_of(dtype)) == 0;
}

// Where column_sum writes, and how it ends.
struct Result {
  std::uint64_t out = 0;
  bool partial = true;  // float32, one row a chunk
  Dtype dtype = Dtype::float32;
  float alpha = 1.0F;
  float beta = 0.0F;
  Rounding rounding;
};

void column_sum(Device& device, std::uint64_t x, Dtype dtype, std::int64_t rows, std::int64_t cols, std::int64_t chunk,
                const Result& r, StreamId stream) {
  const std::int64_t v = fours(x, dtype, cols) ? 4 : 1;
  const std::uint32_t kind = r.partial ? 0U : r.dtype == Dtype::float32 ? 1U : r.dtype == Dtype::float16 ? 2U : 3U;
  Call call(device, std::string("column_sum_") + nn::type_word("column_sum", "x", dtype) + (v == 4 ? "_4" : "_1"));
  call.add(x).add(r.out).add(u32(rows)).add(u32(cols)).add(u32(chunk)).add(kind).add(r.alpha).add(r.beta);
  call.add(nn::RoundingArgs::of(r.rounding, r.dtype));
  call.launch({u32(ceil_div(cols, 32 * v)), u32(std::max<std::int64_t>(1, ceil_div(rows, chunk)))}, stream);
}

// Parts of a sum by columns: enough for every SM, few enough that adding them up is nothing.
std::int64_t rows_of_a_chunk(std::int64_t rows) {
  return std::max<std::int64_t>(256, ceil_div(rows, 512));
}

struct RowParts {
  std::int64_t chunk = 0;  // elements
  std::int64_t chunks = 0;
};
RowParts parts_of_rows(std::int64_t rows, std::int64_t inner) {
  const std::int64_t most = std::clamp<std::int64_t>(2048 / rows, 1, 1024);
  const std::int64_t chunk = std::max<std::int64_t>(4096, ceil_div(ceil_div(inner, most), 4) * 4);
  return {chunk, ceil_div(inner, chunk)};
}

void row_sum(Device& device, const char* op, std::uint64_t x, Dtype dtype, std::int64_t rows, std::int64_t inner,
             const RowParts& parts, std::uint64_t out, std::uint64_t largest, StreamId stream) {
  const bool four = fours(x, dtype, inner);
  Call call(device, std::string("row_sum_") + op + "_" + nn::type_word("row_sum", "x", dtype) + (four ? "_4" : "_1"));
  call.add(x).add(out).add(largest).add(u32(rows)).add(u32(inner)).add(u32(parts.chunk));
  call.add(u32(parts.chunks)).add(magic(u32(parts.chunks)));
  call.launch({u32(rows * parts.chunks)}, stream);
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

  Device& device = current_device();
  const StreamId id = stream.handle();
  const Result result = {db.address(), false, db.dtype(), alpha, beta, rounding};
  if (channel_last || others == 0) {
    const std::int64_t chunk = rows_of_a_chunk(others);
    const std::int64_t chunks = ceil_div(others, chunk);
    if (chunks <= 1) {
      column_sum(device, dy.address(), dy.dtype(), others, channels, chunk, result, id);
    } else {
      const Tensor partial = Tensor::empty({chunks, channels});
      Result first;
      first.out = partial.address();
      column_sum(device, dy.address(), dy.dtype(), others, channels, chunk, first, id);
      column_sum(device, partial.address(), Dtype::float32, chunks, channels, chunks, result, id);
      partial.used_on(stream);
    }
  } else {
    const RowParts parts = parts_of_rows(channels, others);
    const Tensor partial = Tensor::empty({parts.chunks, channels});
    row_sum(device, "sum", dy.address(), dy.dtype(), channels, others, parts, partial.address(), 0, id);
    column_sum(device, partial.address(), Dtype::float32, parts.chunks, channels, parts.chunks, result, id);
    partial.used_on(stream);
  }
  dy.used_on(stream);
  db.used_on(stream);
}

Statistics statistics(const Tensor& x, const Stream& stream) {
  const nn::Named nx = {"statistics", "x", x};
  nn::check_float(nx);
  nn::check_contiguous(nx);
  if (x.size() == 0) return {};
  Statistics s;
  double sum = 0.0;
  for (std::int64_t i = 0; i < x.size(); i += nn::kMostElements) {
    const std::int64_t count = std::min(nn::kMostElements, x.size() - i);
    const RowParts parts = parts_of_rows(1, count);
    const Tensor partial = Tensor::empty({2, parts.chunks});
    row_sum(current_device(), "abs", x.address() + static_cast<std::uint64_t>(i) * size_of(x.dtype()), x.dtype(), 1,
            count, parts, partial.address(), partial.address() + static_cast<std::uint64_t>(parts.chunks) * 4,
            stream.handle());
    x.used_on(stream);
    partial.used_on(stream);
    stream.synchronize();
    const std::vector<float> host = partial.to_host<float>();
    for (std::size_t k = 0; k < host.size() / 2; ++k) {
      sum += static_cast<double>(host[k]);
      const auto most = static_cast<double>(host[host.size() / 2 + k]);
      if (!(most <= s.max_abs)) s.max_abs = std::isnan(s.max_abs) ? s.max_abs : most;
    }
  }
  s.mean_abs = sum / static_cast<double>(x.size());
  return s;
}

}  // namespace nervanagpu
