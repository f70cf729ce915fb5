// Batches of products of tensors: which strides they have, NumPy's broadcasting, and copies where a kernel cannot read a batch
// as it lies.
#include <algorithm>
#include <optional>
#include <string>

#include "kernels/gemm/epilogue/result_sums.h"
#include "kernels/gemm/epilogue/results.h"
#include "kernels/gemm/tensors/dot.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/grouped_gemm.hpp"
#include "nervanagpu/nn.hpp"
#include "src/device/placement.h"
#include "src/tensor/shape.h"
#include "src/tensor/shares_memory.h"

namespace nervanagpu {
namespace {

constexpr std::int64_t kMostMatrices = 65532;  // of a launch: a multiple of 4, for stochastic rounding

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgument("batched_dot: " + what);
}

void check_axes(const char* name, const Tensor& t) {
  if (t.ndim() == 2 || t.ndim() == 3) return;
  refuse(std::string(name) + " has shape " + text_of(t.shape()) + "; needs 2 or 3 axes, has " +
         std::to_string(t.ndim()));
}

// Matrices of one batch: those of a tensor of three axes, or all the same one.
struct Batch {
  Tensor tensor;  // (n, rows, columns) or (rows, columns)
  std::int64_t stride = 0;
  std::optional<sgemm::Matrix> layout;

  explicit Batch(Tensor t) : tensor(std::move(t)) {
    const Tensor first = matrix();
    layout = sgemm::matrix_of(first);
    const bool several = tensor.ndim() == 3 && tensor.shape()[0] > 1;
    stride = several ? tensor.strides()[0] : 0;
    if (stride < 0) layout.reset();
  }
  [[nodiscard]] std::int64_t count() const { return tensor.ndim() == 3 ? tensor.shape()[0] : 1; }
  // The first one, without elements if there is none.
  [[nodiscard]] Tensor matrix() const {
    if (tensor.ndim() == 2) return tensor;
    if (tensor.shape()[0] > 0) return tensor.select(0, 0);
    constexpr std::uint64_t kNowhere = 256;  // nobody reads there
    return Tensor::wrap(kNowhere, {tensor.shape()[1], tensor.shape()[2]}, {tensor.shape()[2], 1}, tensor.dtype());
  }
};

// `t` or, if no kernel can read it as it lies, a copy of what it is after the work queued in `stream`.
Batch readable(const Tensor& t, const Stream& stream) {
  Batch out(t);
  if (out.layout || t.size() == 0) return out;
  Tensor copy = Tensor::empty(t.shape(), t.dtype());
  sgemm::copy_elements(t, copy, stream);
  Batch copied(copy);
  if (!copied.layout) refuse("a batch of shape " + text_of(t.shape()) + " has rows of 2^29 elements or more");
  return copied;
}

constexpr std::int64_t kMostOfALaunch = 65535;  // products

// Of an operand of a batch; one that is the same for all stays so.
Tensor some_of(const Tensor& t, std::int64_t first, std::int64_t last) {
  return t.ndim() == 3 && t.shape()[0] > 1 ? t.slice(0, first, last) : t;
}

std::int64_t common(const Tensor& a, const Tensor& b) {
  const std::int64_t of_a = a.ndim() == 3 ? a.shape()[0] : 1;
  const std::int64_t of_b = b.ndim() == 3 ? b.shape()[0] : 1;
  if (of_a == of_b || of_b == 1) return of_a;
  if (of_a == 1) return of_b;
  refuse("a has shape " + text_of(a.shape()) + " and b " + text_of(b.shape()) +
         "; the numbers of matrices must be the same, or one of them 1");
}

void check(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options, std::int64_t batch) {
  const Tensor first_a = Batch(a).matrix();
  const Tensor first_b = Batch(b).matrix();
  const Tensor first_c = Batch(c).matrix();
  sgemm::check_types(first_a, first_b, first_c);
  Shape needed = {first_a.shape()[0], first_b.shape()[1]};
  if (first_a.shape()[1] != first_b.shape()[0]) {
    refuse("a has shape " + text_of(a.shape()) + " and b " + text_of(b.shape()) + "; a's columns (" +
           std::to_string(first_a.shape()[1]) + ") must be as many as b's rows (" + std::to_string(first_b.shape()[0]) +
           ")");
  }
  if (c.ndim() == 3) needed.insert(needed.begin(), batch);
  if (c.shape() != needed) refuse("out has shape " + text_of(c.shape()) + "; needs " + text_of(needed));
  if (!distinct(c.shape(), c.strides())) {
    refuse("out has strides " + text_of(c.strides()) + ": several of its elements are the same memory");
  }
  sgemm::check_apart(a, b, c, options.bias);
  if (options.scale != nullptr) refuse("scale is given; needs products that are not in a batch");
}

// Kernels write matrices that lie one after the other, or whose rows lie side by side.
bool writable(const Batch& c, bool masked) {
  if (!c.layout || (masked && c.layout->transposed)) return false;
  const bool t = c.layout->transposed;
  const Tensor first = c.matrix();
  return sgemm::apart({first.shape()[t ? 1 : 0], first.shape()[t ? 0 : 1], c.layout->leading, c.count(), c.stride});
}

// The problem of batches that lie as kernels take them; without a bias and a workspace.
sgemm::Described described(const Batch& left, const Batch& right, const Batch& result, const GemmOptions& options,
                           std::int64_t batch) {
  sgemm::Described out;
  GemmProblem& p = out.problem;
  p = sgemm::problem_of(left.matrix(), right.matrix(), result.matrix(), options);
  p.batch = batch;
  p.sum_batch = result.tensor.ndim() == 2 && batch != 1;
  const Batch* a = &left;
  const Batch* b = &right;
  sgemm::Matrix la = left.layout.value_or(sgemm::Matrix{});
  sgemm::Matrix lb = right.layout.value_or(sgemm::Matrix{});
  out.swapped = result.layout && result.layout->transposed;
  if (out.swapped) {
    std::swap(a, b);
    sgemm::swap_operands(p, la, lb);
  }
  p.a = a->tensor.address(), p.b = b->tensor.address(), p.c = result.tensor.address();
  p.a_transposed = la.transposed, p.b_transposed = lb.transposed;
  p.lda = la.leading, p.ldb = lb.leading;
  p.ldc = result.layout ? result.layout->leading : p.n;
  p.stride_a = a->stride, p.stride_b = b->stride, p.stride_c = result.stride;
  return out;
}

// Sets bias, bias_type and bias_per_row of what described() gave, and returns the bias as contiguous memory.
Tensor put_bias(GemmProblem& p, bool swapped, const Tensor* bias, const Stream& stream) {
  if (bias == nullptr) return {};
  GemmProblem plain = p;
  if (swapped) std::swap(plain.m, plain.n);
  Tensor out = sgemm::bias_of(*bias, plain, stream);
  p.bias = out.address();
  p.bias_type = out.dtype();
  p.bias_per_row = plain.bias_per_row != swapped;
  return out;
}

std::int64_t check_all(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options) {
  check_axes("a", a);
  check_axes("b", b);
  check_axes("out", c);
  const std::int64_t batch = common(a, b);
  check(a, b, c, options, batch);
  return batch;
}

}  // namespace

namespace sgemm {

Described describe_batch(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options) {
  const std::int64_t batch = check_all(a, b, c, options);
  const auto as_it_lies = [](const char* name, const Tensor& t, bool lies) {
    if (t.size() != 0 && !lies) {
      refuse(std::string(name) + " has strides " + text_of(t.strides()) +
             "; a plan needs matrices with rows or columns of contiguous elements, one after the other");
    }
  };
  const Batch left(a);
  const Batch right(b);
  const Batch result(c);
  as_it_lies("a", a, left.layout.has_value());
  as_it_lies("b", b, right.layout.has_value());
  as_it_lies("out", c, writable(result, sgemm::along_rows(options)));
  if (options.bias != nullptr && !options.bias->contiguous()) {
    refuse("bias has strides " + text_of(options.bias->strides()) + "; a plan needs it contiguous");
  }
  Described d = described(left, right, result, options, batch);
  put_bias(d.problem, d.swapped, options.bias, {});
  put_mask(d.problem, options.mask, a, b, c);
  put_sums(d.problem, options, a, b, c);
  return d;
}

}  // namespace sgemm

void batched_dot(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options) {
  const Placed here = sgemm::placed("batched_dot", a, b, c, options);
  const std::int64_t batch = check_all(a, b, c, options);
  // A mask and random numbers are counted through the whole batch.
  if (batch > kMostOfALaunch && c.ndim() == 3 && options.mask == nullptr && !options.rounding.stochastic) {
    for (std::int64_t first = 0; first < batch; first += kMostOfALaunch) {
      const std::int64_t last = std::min(first + kMostOfALaunch, batch);
      Tensor some = c.slice(0, first, last);
      batched_dot(some_of(a, first, last), some_of(b, first, last), some, options);
    }
    return;
  }
  const Stream& stream = options.stream;
  const Batch left = readable(a, stream);
  const Batch right = readable(b, stream);
  Batch result(c);
  const bool copied = c.size() != 0 && !writable(result, sgemm::along_rows(options));
  if (copied) {
    stream.synchronize();
    result = Batch(options.beta != 0.0F ? c.copy() : Tensor::empty(c.shape(), c.dtype()));
    if (!result.layout) refuse("out has rows that are too long: " + text_of(c.shape()) + "; needs less than 2^29");
  }
  sgemm::Described d = described(left, right, result, options, batch);
  const Tensor bias = put_bias(d.problem, d.swapped, options.bias, stream);
  sgemm::put_mask(d.problem, options.mask, a, b, c);
  sgemm::put_sums(d.problem, options, a, b, c);
  if (c.size() == 0) return sgemm::sums_of_nothing(current_device(), d.problem, stream.handle());
  sgemm::run(d.problem, options);
  for (const Tensor* t : {&left.tensor, &right.tensor, static_cast<const Tensor*>(&result.tensor), &bias}) {
    t->used_on(stream);
  }
  sgemm::used_by_stream(options);
  if (copied) {
    stream.synchronize();
    c.copy_from(result.tensor);
  }
}

namespace {

// Batch axes of a, b and the result, outermost first; stride 0: broadcast.
struct Axis {
  std::int64_t length, a, b, c;
};

std::vector<Axis> batch_axes(const Tensor& a, const Tensor& b) {
  const std::size_t axes = static_cast<std::size_t>(std::max(a.ndim(), b.ndim())) - 2;
  std::vector<Axis> out(axes);
  const auto put = [&](const Tensor& t, std::int64_t Axis::*stride) {
    const std::size_t own = t.shape().size() - 2;
    for (std::size_t i = 0; i < own; ++i) {
      Axis& axis = out[axes - own + i];
      const std::int64_t length = t.shape()[i];
      if (length != 1 && axis.length != 1 && axis.length != length) {
        throw InvalidArgument("matmul: a has shape " + text_of(a.shape()) + " and b " + text_of(b.shape()) +
                              "; batch axes must have the same lengths, or 1");
      }
      if (length == 1) continue;
      axis.length = length;
      axis.*stride = t.strides()[i];
    }
  };
  for (Axis& axis : out) axis = {1, 0, 0, 0};
  put(a, &Axis::a);
  put(b, &Axis::b);
  return out;
}

// Axes that all three tensors walk through as if they were one become one.
std::vector<Axis> merged(const std::vector<Axis>& axes) {
  std::vector<Axis> out;
  for (const Axis& axis : axes) {
    if (axis.length == 1) continue;
    const auto goes_on = [&](std::int64_t Axis::*stride) { return out.back().*stride == axis.*stride * axis.length; };
    if (!out.empty() && goes_on(&Axis::a) && goes_on(&Axis::b) && goes_on(&Axis::c)) {
      out.back() = {out.back().length * axis.length, axis.a, axis.b, axis.c};
    } else {
      out.push_back(axis);
    }
  }
  return out;
}

// The matrices from `offset` elements after the first one on, along one axis.
Tensor along(const Tensor& t, std::int64_t offset, std::int64_t length, std::int64_t stride) {
  const std::size_t last = t.shape().size() - 1;
  const auto bytes = static_cast<std::uint64_t>(offset * static_cast<std::int64_t>(size_of(t.dtype())));
  return Tensor::wrap(t.address() + bytes, {length, t.shape()[last - 1], t.shape()[last]},
                      {stride, t.strides()[last - 1], t.strides()[last]}, t.dtype());
}

// Of operands of 2 axes or more.
Shape result_shape(const Tensor& a, const Tensor& b) {
  Shape shape;
  for (const Axis& axis : batch_axes(a, b)) shape.push_back(axis.length);
  shape.insert(shape.end(), {a.shape()[a.shape().size() - 2], b.shape().back()});
  if (a.shape().back() != b.shape()[b.shape().size() - 2]) {
    throw InvalidArgument("matmul: a has shape " + text_of(a.shape()) + " and b " + text_of(b.shape()) +
                          "; a's columns (" + std::to_string(a.shape().back()) + ") must be as many as b's rows (" +
                          std::to_string(b.shape()[b.shape().size() - 2]) + ")");
  }
  return shape;
}

// Calls f(a, b, out) with tensors of three axes, which together are all matrices.
template <class F>
void for_each_batch(const Tensor& a, const Tensor& b, const Tensor& out, const F& f) {
  std::vector<Axis> axes = batch_axes(a, b);
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i].c = out.strides()[i];
  axes = merged(axes);
  if (axes.empty()) axes.push_back({1, 0, 0, 0});
  const Axis inner = axes.back();
  axes.pop_back();
  std::vector<std::int64_t> at(axes.size());
  for (;;) {
    std::int64_t of_a = 0;
    std::int64_t of_b = 0;
    std::int64_t of_c = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      of_a += at[i] * axes[i].a, of_b += at[i] * axes[i].b, of_c += at[i] * axes[i].c;
    }
    // More than a launch has go in several.
    for (std::int64_t from = 0; from < inner.length; from += kMostMatrices) {
      const std::int64_t count = std::min(inner.length - from, kMostMatrices);
      f(along(a, of_a + from * inner.a, count, inner.a), along(b, of_b + from * inner.b, count, inner.b),
        along(out, of_c + from * inner.c, count, inner.c));
    }
    std::size_t i = axes.size();
    while (i > 0 && ++at[i - 1] == axes[i - 1].length) at[--i] = 0;
    if (i == 0) break;
  }
}

}  // namespace

std::vector<GemmProblem> matmul_problems(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Shape needed = result_shape(a, b);
  if (c.shape() != needed) {
    throw InvalidArgument("matmul: out has shape " + text_of(c.shape()) + "; needs " + text_of(needed));
  }
  if (!distinct(c.shape(), c.strides())) {
    throw InvalidArgument("matmul: out has strides " + text_of(c.strides()) +
                          ": several of its elements are the same memory");
  }
  sgemm::check_types(a, b, c);
  sgemm::check_apart(a, b, c, nullptr);
  std::vector<GemmProblem> out;
  if (c.size() == 0) return out;
  if (c.ndim() == 2) return {sgemm::describe(a, b, c, {}).problem};
  for_each_batch(a, b, c, [&](const Tensor& x, const Tensor& y, const Tensor& z) {
    out.push_back(sgemm::describe_batch(x, y, z, {}).problem);
  });
  return out;
}

Tensor matmul(const Tensor& a, const Tensor& b, const GemmOptions& options) {
  if (a.ndim() == 2 && b.ndim() == 2) return dot(a, b, options);
  const Placed here = sgemm::placed("matmul", a, b, a, options);
  if (a.ndim() == 0 || b.ndim() == 0) throw InvalidArgument("matmul: a number has no axes; needs 1 or more");
  if (a.ndim() == 1) {
    const Tensor row = matmul(a.insert_axis(0), b, options);
    return row.select(row.ndim() - (b.ndim() == 1 ? 1 : 2), 0);
  }
  if (b.ndim() == 1) {
    const Tensor column = matmul(a, b.insert_axis(1), options);
    return column.select(column.ndim() - 1, 0);
  }
  if (options.beta != 0.0F) {
    throw InvalidArgument("matmul: beta is " + std::to_string(options.beta) + " but there is no out to read");
  }
  const Dtype type = sgemm::product_type(a, b);
  Tensor out = Tensor::empty(result_shape(a, b), type);
  if (out.size() == 0) return out;
  for_each_batch(a, b, out, [&](const Tensor& x, const Tensor& y, Tensor z) { batched_dot(x, y, z, options); });
  for (const Tensor* t : {&a, &b, static_cast<const Tensor*>(&out)}) t->used_on(options.stream);
  return out;
}

}  // namespace nervanagpu
