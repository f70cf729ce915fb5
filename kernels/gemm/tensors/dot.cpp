// GEMM of tensors: what their shapes and strides mean, and copies where a kernel cannot read them as they lie.
#include <optional>
#include <string>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/epilogue/result_sums.h"
#include "kernels/gemm/epilogue/results.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/pieces/kept.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "kernels/gemm/tensor_cores/hgemm_rows.h"
#include "kernels/gemm/tensors/dot.h"
#include "kernels/gemm/tensors/refuse.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/device/placement.h"
#include "src/memory/workspace.h"
#include "src/tensor/shape.h"
#include "src/tensor/shares_memory.h"

namespace nervanagpu {
namespace {

using sgemm::byte;
using sgemm::half;
using sgemm::refuse_type;

constexpr std::int64_t kMaxLeading = std::int64_t{1} << 29;

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgument("dot: " + what);
}

void check_matrix(const char* name, const Tensor& t) {
  if (t.ndim() != 2) {
    refuse(std::string(name) + " has shape " + text_of(t.shape()) + "; needs 2 axes, has " + std::to_string(t.ndim()));
  }
}

// The dtype of a * b, if no other is asked for.
Dtype result_type(const Tensor& a, const Tensor& b) {
  const Dtype type = a.dtype();
  if (!sgemm::multiplies(type)) refuse_type("a", a, sgemm::kOperands);
  if (!sgemm::multiplies(type, b.dtype())) {
    refuse_type("b", b, byte(type) ? "int8 or uint8, as a" : std::string(name_of(type)) + ", as a");
  }
  return byte(type) ? Dtype::int32 : type;
}

void check_shapes(const Tensor& a, const Tensor& b) {
  (void)result_type(a, b);
  check_matrix("a", a);
  check_matrix("b", b);
  if (a.shape()[1] != b.shape()[0]) {
    refuse("a has shape " + text_of(a.shape()) + " and b " + text_of(b.shape()) + "; a's columns (" +
           std::to_string(a.shape()[1]) + ") must be as many as b's rows (" + std::to_string(b.shape()[0]) + ")");
  }
}

using Layout = sgemm::Matrix;

std::optional<Layout> layout_of(const Tensor& t) {
  const std::int64_t rows = t.shape()[0];
  const std::int64_t columns = t.shape()[1];
  // The stride of an axis of length 1 is never used.
  const std::int64_t down = rows > 1 ? t.strides()[0] : columns;
  const std::int64_t across = columns > 1 ? t.strides()[1] : 1;
  if (across == 1 && down >= columns && down < kMaxLeading) return Layout{false, down};
  const std::int64_t down_t = rows > 1 ? t.strides()[0] : 1;
  const std::int64_t across_t = columns > 1 ? t.strides()[1] : rows;
  if (down_t == 1 && across_t >= rows && across_t < kMaxLeading) return Layout{true, across_t};
  return std::nullopt;
}

// As a tensor of twice as many int32, for elements that `convert` does not know.
Tensor as_words(const Tensor& t) {
  Shape shape = t.shape();
  Shape strides = t.strides();
  for (std::int64_t& s : strides) s *= 2;
  shape.push_back(2);
  strides.push_back(1);
  return Tensor::wrap(t.address(), shape, strides, Dtype::int32);
}

// An operand as the kernels see it: the caller's tensor or a copy of it. The caller's is not even copied as a handle,
// which would take longer than to launch.
class Source {
 public:
  // `t` or, if no kernel can read it as it lies, a copy of what it is after the work queued in `stream`.
  Source(const Tensor& t, const Stream& stream) : tensor_(&t) {
    if (t.size() == 0) return;
    if (const auto found = layout_of(t)) {
      layout = *found;
      return;
    }
    Tensor copy = Tensor::empty(t.shape(), t.dtype());
    const auto found = layout_of(copy);
    if (!found) refuse("a matrix of shape " + text_of(t.shape()) + " has rows that are too long; needs less than 2^29");
    sgemm::copy_elements(t, copy, stream);
    take(std::move(copy), *found);
  }
  void take(Tensor copy, const Layout& lies) {
    copy_ = std::move(copy);
    layout = lies;
  }
  void swap_tensor(Source& other) {
    std::swap(tensor_, other.tensor_);
    std::swap(copy_, other.copy_);
  }
  [[nodiscard]] const Tensor& tensor() const { return copy_ ? *copy_ : *tensor_; }

  Layout layout{};

 private:
  const Tensor* tensor_;
  std::optional<Tensor> copy_;
};

// It becomes a copy whose rows, or columns if `transposed`, are contiguous and begin at multiples of 16 bytes.
void pack(Source& x, bool transposed, const Stream& stream) {
  const Tensor& t = x.tensor();
  const Tensor from = transposed ? t.transpose() : t;
  const std::int64_t unit = 16 / static_cast<std::int64_t>(size_of(t.dtype()));
  const std::int64_t leading = (from.shape()[1] + unit - 1) / unit * unit;
  const Tensor whole = Tensor::empty({from.shape()[0], leading}, t.dtype());
  Tensor to = whole.slice(1, 0, from.shape()[1]);
  convert(from, to, {}, stream);
  t.used_on(stream);
  x.take(transposed ? to.transpose() : to, {transposed, leading});
}

void put_operands(GemmProblem& p, const Tensor& a, const Layout& la, const Tensor& b, const Layout& lb) {
  p.a = a.address();
  p.b = b.address();
  p.a_transposed = la.transposed;
  p.b_transposed = lb.transposed;
  p.lda = la.leading;
  p.ldb = lb.leading;
}
void put_operands(GemmProblem& p, const Source& a, const Source& b) {
  put_operands(p, a.tensor(), a.layout, b.tensor(), b.layout);
}

// Those that are of an operand as it lies: a row or a column may be seen as either.
void put_pieces(GemmProblem& p, const sgemm::Kept& kept, bool swapped) {
  p.a_pieces = swapped ? kept.b : kept.a;
  p.b_pieces = swapped ? kept.a : kept.b;
  if (!kept::of_operand(p, true)) p.a_pieces = {};
  if (!kept::of_operand(p, false)) p.b_pieces = {};
}

// Copies of operands that the tensor cores would take if they lay otherwise, where that is worth it.
void bring_to_tensor_cores(GemmProblem& p, Source& a, Source& b, const Stream& stream) {
  if (!p.tensor_cores || current_device().registry().of_op("hgemm").empty()) return;
  const bool types = byte(p.a_type) || half(p.a_type);
  if (!types || p.k == 0 || hgemm::takes(p)) return;
  if (p.splits == 1 && !byte(p.a_type)) return;  // a row's bits must not depend on m, as `packing` does
  const hgemm::Packing copies = hgemm::packing(p);
  if (copies.a) pack(a, byte(p.a_type) ? false : a.layout.transposed, stream);
  if (copies.b) pack(b, byte(p.a_type) ? true : b.layout.transposed, stream);
  put_operands(p, a, b);
}

// The product, if its long operand is one that the tensor cores read in place.
bool multiplied_by_rows(const GemmProblem& p, const GemmOptions& options) {
  Device& device = current_device();
  if (!options.tile.empty() || p.mask != 0 || sgemm::has_sums(p) || device.registry().of_op("hgemm").empty() ||
      !hgemm::by_rows(p))
    return false;
  const Tensor copy = Tensor::empty({hgemm::copied_by_rows(p)}, p.a_type);
  hgemm::multiply_by_rows(device, p, copy.address(), options.stream.handle());
  copy.used_on(options.stream);
  return true;
}

// A vector along the columns or rows of the result, as contiguous memory.
Tensor read_vector(const char* name, const Tensor& bias, std::int64_t m, std::int64_t n, bool& per_row,
                   const Stream& stream) {
  const Shape& s = bias.shape();
  const bool columns = (s.size() == 1 && s[0] == n) || (s.size() == 2 && s[0] == 1 && s[1] == n);
  per_row = !columns && s.size() == 2 && s[0] == m && s[1] == 1;
  if (!columns && !per_row) {
    refuse(std::string(name) + " has shape " + text_of(s) + "; needs (" + std::to_string(n) + ",) or (1, " +
           std::to_string(n) + "), one for each column, or (" + std::to_string(m) + ", 1), one for each row");
  }
  if (bias.contiguous()) return bias;
  stream.synchronize();
  return bias.copy();
}

// A bias whose dtype goes with the result's.
Tensor read_bias(const Tensor& bias, Dtype result, std::int64_t m, std::int64_t n, bool& per_row,
                 const Stream& stream) {
  if (!sgemm::takes_bias(result, bias.dtype())) refuse_type("bias", bias, sgemm::biases_of(result));
  return read_vector("bias", bias, m, n, per_row, stream);
}

void check_out_type(const Tensor& a, const Tensor& b, const Tensor& c) {
  static_cast<void>(result_type(a, b));
  if (!sgemm::gives(a.dtype(), c.dtype())) {
    refuse_type("out", c,
                sgemm::results_of(a.dtype()) + ", what " + std::string(name_of(a.dtype())) + " operands give");
  }
}

void check_out(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options) {
  check_matrix("out", c);
  check_out_type(a, b, c);
  const Shape needed = {a.shape()[0], b.shape()[1]};
  if (c.shape() != needed) refuse("out has shape " + text_of(c.shape()) + "; needs " + text_of(needed));
  if (!distinct(c.shape(), c.strides())) {
    refuse("out has strides " + text_of(c.strides()) + ": several of its elements are the same memory");
  }
  sgemm::check_apart(a, b, c, options.bias);
  if (options.scale == nullptr) return;
  if (options.scale->dtype() != Dtype::float32) refuse_type("scale", *options.scale, "float32");
  if (shares_memory(c, *options.scale)) {
    refuse("out shares memory with scale; needs memory of its own");
  }
}

}  // namespace

namespace sgemm {

std::optional<Matrix> matrix_of(const Tensor& t) {
  return layout_of(t);
}

void copy_elements(const Tensor& from, Tensor& to, const Stream& stream) {
  if (!wide(from.dtype())) return convert(from, to, {}, stream);
  Tensor words = as_words(to);
  convert(as_words(from), words, {}, stream);
  from.used_on(stream);
  to.used_on(stream);
}

void check_operands(const Tensor& a, const Tensor& b) {
  check_shapes(a, b);
}

Dtype product_type(const Tensor& a, const Tensor& b) {
  return result_type(a, b);
}

void check_types(const Tensor& a, const Tensor& b, const Tensor& c) {
  check_out_type(a, b, c);
}

GemmProblem problem_of(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options) {
  GemmProblem p;
  p.m = c.shape()[0];
  p.n = c.shape()[1];
  p.k = a.shape()[1];
  p.alpha = options.alpha;
  p.beta = options.beta;
  p.relu = options.relu;
  p.relu_first = options.relu_first;
  p.activation = options.activation;
  p.clip_low = options.clip_low;
  p.clip_high = options.clip_high;
  p.rounding = options.rounding;
  p.a_type = a.dtype();
  p.b_type = b.dtype();
  p.c_type = c.dtype();
  p.splits = options.splits;
  p.tensor_cores = options.tensor_cores;
  p.precision = options.precision;
  return p;
}

void swap_operands(GemmProblem& p, Matrix& la, Matrix& lb) {
  std::swap(la, lb);
  la.transposed = !la.transposed;
  lb.transposed = !lb.transposed;
  std::swap(p.m, p.n);
  std::swap(p.a_type, p.b_type);
  p.bias_per_row = !p.bias_per_row;
  p.scale_per_row = !p.scale_per_row;
}

Placed placed(const char* operation, const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& o) {
  return {operation,
          {{"a", a},
           {"b", b},
           {"out", c},
           {"bias", o.bias},
           {"scale", o.scale},
           {"mask", o.mask},
           {"row_sum", o.row_sum},
           {"column_sum", o.column_sum},
           {"row_max_abs", o.row_max_abs},
           {"column_max_abs", o.column_max_abs},
           {"stream", o.stream}}};
}

Tensor bias_of(const Tensor& bias, GemmProblem& p, const Stream& stream) {
  return read_bias(bias, p.c_type, p.m, p.n, p.bias_per_row, stream);
}

}  // namespace sgemm

void gemm(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options) {
  sgemm::multiply(a, b, c, options, {});
}

void sgemm::multiply(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options, const Kept& kept) {
  const Placed here = sgemm::placed("gemm", a, b, c, options);
  check_shapes(a, b);
  check_out(a, b, c, options);
  Tensor bias{Tensor::Later{}};
  Tensor scale{Tensor::Later{}};
  GemmProblem p = sgemm::problem_of(a, b, c, options);
  if (options.bias != nullptr) bias = read_bias(*options.bias, p.c_type, p.m, p.n, p.bias_per_row, options.stream);
  if (options.scale != nullptr) {
    scale = read_vector("scale", *options.scale, p.m, p.n, p.scale_per_row, options.stream);
  }
  p.bias_type = bias.dtype();
  sgemm::put_mask(p, options.mask, a, b, c);
  sgemm::put_sums(p, options, a, b, c);
  if (p.m == 0 || p.n == 0) {
    return sgemm::sums_of_nothing(current_device(), p, options.stream.handle());
  }

  Source left(a, options.stream);
  Source right(b, options.stream);
  std::optional<Layout> lc = layout_of(c);
  if (lc && lc->transposed && sgemm::along_rows(options)) lc.reset();
  std::optional<Tensor> apart;
  if (!lc) {  // into a copy, and from there to where it belongs
    options.stream.synchronize();
    apart = options.beta != 0.0F ? c.copy() : Tensor::empty(c.shape(), c.dtype());
    lc = layout_of(*apart);
    if (!lc) refuse("out has rows that are too long: " + text_of(c.shape()) + "; needs less than 2^29");
  }
  const Tensor& result = apart ? *apart : c;
  p.bias = bias.address();
  p.scale = scale.address();
  p.c = result.address();
  p.ldc = lc->leading;
  if (lc->transposed) {  // C^T = B^T A^T, and C^T lies row-major
    sgemm::swap_operands(p, left.layout, right.layout);
    left.swap_tensor(right);
  }
  put_operands(p, left, right);
  put_pieces(p, kept, lc->transposed);
  if (!multiplied_by_rows(p, options)) {
    bring_to_tensor_cores(p, left, right, options.stream);
    sgemm::run(p, options);
  }
  for (const Tensor* t : std::initializer_list<const Tensor*>{&left.tensor(), &right.tensor(), &result, &bias, &scale})
    t->used_on(options.stream);
  sgemm::used_by_stream(options);
  if (apart) {
    options.stream.synchronize();
    c.copy_from(*apart);
  }
}

namespace sgemm {

void run(GemmProblem p, const GemmOptions& options) {
  const Workspace workspace(gemm_workspace(p, options.tile), options.stream);
  p.workspace = workspace.address();
  gemm(p, options.stream, options.tile);
}

void check_apart(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor* bias) {
  const auto check = [&](const char* name, const Tensor& t) {
    if (shares_memory(c, t)) refuse(std::string("out shares memory with ") + name + "; needs memory of its own");
  };
  check("a", a);
  check("b", b);
  if (bias != nullptr) check("bias", *bias);
}

void check_product(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options) {
  check_shapes(a, b);
  check_out(a, b, c, options);
}

Described describe(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options, const Kept& kept) {
  check_product(a, b, c, options);
  Described out;
  GemmProblem& p = out.problem;
  p = problem_of(a, b, c, options);
  const auto as_it_lies = [](const char* name, const Tensor& t) {
    if (t.size() == 0) return Layout{};
    if (const auto layout = layout_of(t)) return *layout;
    refuse(std::string(name) + " has strides " + text_of(t.strides()) +
           "; a plan needs rows or columns of contiguous " + "elements, less than 2^29 apart");
  };
  if (options.bias != nullptr) {
    if (!options.bias->contiguous())
      refuse("bias has strides " + text_of(options.bias->strides()) + "; a plan needs it contiguous");
    p.bias = read_vector("bias", *options.bias, p.m, p.n, p.bias_per_row, {}).address();
    p.bias_type = options.bias->dtype();
  }
  if (options.scale != nullptr) {
    if (!options.scale->contiguous())
      refuse("scale has strides " + text_of(options.scale->strides()) + "; a plan needs it contiguous");
    p.scale = read_vector("scale", *options.scale, p.m, p.n, p.scale_per_row, {}).address();
  }
  Layout la = as_it_lies("a", a);
  Layout lb = as_it_lies("b", b);
  const Layout lc = as_it_lies("out", c);
  out.swapped = lc.transposed;
  put_mask(p, options.mask, a, b, c);
  put_sums(p, options, a, b, c);
  if (out.swapped && along_rows(options)) {
    refuse("out has strides " + text_of(c.strides()) +
           " and there is a mask, or sums; a plan needs rows of contiguous elements");
  }
  if (out.swapped) swap_operands(p, la, lb);
  put_operands(p, out.swapped ? b : a, la, out.swapped ? a : b, lb);
  put_pieces(p, kept, out.swapped);
  p.c = c.address();
  p.ldc = lc.leading;
  return out;
}

}  // namespace sgemm

Tensor dot(const Tensor& a, const Tensor& b, const GemmOptions& options) {
  const Placed here = sgemm::placed("dot", a, b, a, options);
  check_shapes(a, b);
  if (options.beta != 0.0F) refuse("beta is " + std::to_string(options.beta) + " but there is no out to read");
  const Dtype type = options.scale != nullptr ? Dtype::float32 : result_type(a, b);
  Tensor c = Tensor::empty({a.shape()[0], b.shape()[1]}, type);
  gemm(a, b, c, options);
  return c;
}

}  // namespace nervanagpu
