// mm, bmm, addmm and linear.
#include "python/torch_ops/products.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "python/torch_ops/numbers.h"
#include "python/torch_ops/operators.h"

namespace nervanagpu::python::torch {

void check_product(const Array& a, const Array& b, std::int64_t axes) {
  if (a.axes() != axes || b.axes() != axes) {
    refuse("operands of " + std::to_string(a.axes()) + " and " + std::to_string(b.axes()) + " axes; needs " +
           std::to_string(axes));
  }
  const auto both = [&] { return shown(a.sizes()) + " and " + shown(b.sizes()); };
  if (a.size(axes - 1) != b.size(axes - 2)) refuse(both() + " cannot be multiplied");
  if (axes == 3 && a.size(0) != b.size(0)) refuse("batches of " + both() + " differ");
}

namespace {

GemmOptions options_of(const Call& call, std::int64_t precision) {
  GemmOptions options;
  options.precision = precision_of(precision);
  options.stream = call.stream();
  return options;
}

}  // namespace

Array mm(const Array& a, const Array& b, std::int64_t precision) {
  const Call call{&a, &b};
  check_product(a, b, 2);
  const GemmOptions options = options_of(call, precision);
  Array out = empty(a, {a.size(0), b.size(1)});
  if (out.elements() == 0 || a.size(1) == 0) return zeroed(std::move(out));
  Tensor c = Call::ours(out);
  gemm(Call::ours(a), Call::ours(b), c, options);
  return out;
}

Array bmm(const Array& a, const Array& b, std::int64_t precision) {
  const Call call{&a, &b};
  check_product(a, b, 3);
  const GemmOptions options = options_of(call, precision);
  Array out = empty(a, {a.size(0), a.size(1), b.size(2)});
  if (out.elements() == 0 || a.size(2) == 0) return zeroed(std::move(out));
  Tensor c = Call::ours(out);
  batched_dot(Call::ours(a), Call::ours(b), c, options);
  return out;
}

namespace {

// As float32. Throws what is too large for it, which is no infinity yet.
float in_float32(const char* name, double value) {
  if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) {
    refuse(std::string(name) + " is " + std::to_string(value) + "; needs a number that float32 holds");
  }
  return static_cast<float>(value);
}

bool spreads_to(const Array& bias, std::int64_t m, std::int64_t n) {
  if (bias.axes() > 2) return false;
  const auto fits = [&](std::int64_t from_end, std::int64_t length) {
    if (bias.axes() < from_end) return true;
    const std::int64_t own = bias.size(bias.axes() - from_end);
    return own == length || own == 1;
  };
  return fits(1, n) && fits(2, m);
}

}  // namespace

Array addmm(const Array& bias, const Array& a, const Array& b, double beta, double alpha, std::int64_t precision) {
  const Call call{&bias, &a, &b};
  check_product(a, b, 2);
  GemmOptions options = options_of(call, precision);
  options.alpha = in_float32("alpha", alpha);
  const float scale = in_float32("beta", beta);
  const std::int64_t m = a.size(0), n = b.size(1);
  if (!spreads_to(bias, m, n)) {
    refuse("bias " + shown(bias.sizes()) + "; needs what can be broadcast to " + shown({m, n}));
  }
  Array out = empty(a, {m, n});
  if (out.elements() == 0) return out;
  Array kept;
  Tensor row;
  if (beta == 1 && bias.axes() == 1 && bias.size(0) == n) {
    row = Call::ours(contiguous(bias, kept));
    options.bias = &row;
  } else if (beta != 0) {
    copy(out, bias);
    options.beta = scale;
  }
  Tensor c = Call::ours(out);
  const std::int64_t k = alpha == 0 ? 0 : a.size(1);  // as BLAS has it: then no element of a and b is read
  gemm(Call::ours(a, {m, k}, a.strides()), Call::ours(b, {k, n}, b.strides()), c, options);
  return out;
}

namespace {

// All axes of x but the last as one, where its strides allow it.
std::optional<std::int64_t> row_stride(const Array& x) {
  std::int64_t stride = 0, rows = 1;  // from row to row, of the axes so far
  for (std::int64_t i = x.axes() - 1; i-- > 0;) {
    if (x.size(i) == 1) continue;
    if (rows == 1) {
      stride = x.stride(i);
    } else if (x.stride(i) != stride * rows) {
      return std::nullopt;
    }
    rows *= x.size(i);
  }
  return stride;
}

}  // namespace

Array linear(const Array& x, const Array& weight, const std::optional<Array>& bias, std::int64_t activation,
             std::int64_t precision) {
  const Call call{&x, &weight, bias ? &*bias : nullptr};
  const GemmActivation act = activation_of(activation);
  const std::int64_t last = x.axes() - 1;
  if (weight.axes() != 2 || last < 0 || x.size(last) != weight.size(1)) {
    refuse("x " + shown(x.sizes()) + " does not fit weight " + shown(weight.sizes()));
  }
  const std::int64_t n = weight.size(0), k = weight.size(1);
  if (bias && (bias->axes() != 1 || bias->size(0) != n)) {
    refuse("bias " + shown(bias->sizes()) + "; needs " + shown({n}));
  }
  GemmOptions options = options_of(call, precision);
  options.activation = act;
  PerAxis sizes = x.sizes();
  sizes[sizes.size() - 1] = n;
  Array out = empty(x, sizes);
  if (out.elements() == 0) return out;
  const std::int64_t m = out.elements() / n;
  Array kept_rows, kept_bias;
  std::optional<std::int64_t> stride = row_stride(x);
  const Array& rows = stride ? x : contiguous(x, kept_rows);
  Tensor shift;
  if (bias) {
    shift = Call::ours(contiguous(*bias, kept_bias));
    options.bias = &shift;
  }
  Tensor c = Call::ours(out, {m, n}, {n, 1});
  const Tensor a = Call::ours(rows, {m, k}, {stride.value_or(k), stride ? x.stride(last) : 1});
  gemm(a, Call::ours(weight, {k, n}, {weight.stride(1), weight.stride(0)}), c, options);
  return out;
}

namespace {

constexpr std::array kProducts{
    Operator{"mm(Tensor a, Tensor b, int precision) -> Tensor", boxed<mm>},
    Operator{"bmm(Tensor a, Tensor b, int precision) -> Tensor", boxed<bmm>},
    Operator{"addmm(Tensor bias, Tensor a, Tensor b, float beta, float alpha, int precision) -> Tensor", boxed<addmm>},
    Operator{"linear(Tensor x, Tensor weight, Tensor? bias, int activation, int precision) -> Tensor", boxed<linear>}};

}  // namespace

std::span<const Operator> products() {
  return kProducts;
}

}  // namespace nervanagpu::python::torch
