// nervanagpu.h: ng_expr_*.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nervanagpu/expr.hpp"
#include "nervanagpu/tensor.hpp"
#include "src/c_api/c_api.h"

struct ng_expr {
  nervanagpu::Expr expr;
};

namespace nervanagpu::c_api {
namespace {

constexpr int kMostAxes = 8;

constexpr std::array kDtypes = {Dtype::float32,  Dtype::float16, Dtype::int8,   Dtype::uint8,     Dtype::int32,
                                Dtype::bfloat16, Dtype::float64, Dtype::int64,  Dtype::boolean,   Dtype::int16,
                                Dtype::uint16,   Dtype::uint32,  Dtype::uint64, Dtype::complex64, Dtype::complex128};
static_assert(kDtypes[NG_BFLOAT16] == Dtype::bfloat16 && kDtypes[NG_INT32] == Dtype::int32 &&
              kDtypes[NG_BOOL] == Dtype::boolean && kDtypes[NG_UINT64] == Dtype::uint64 &&
              kDtypes.size() == NG_COMPLEX128 + 1);

Dtype any_dtype_of(const char* function, const std::string& name, std::int32_t value) {
  const std::string most = std::to_string(kDtypes.size() - 1);
  if (value < 0 || static_cast<std::size_t>(value) >= kDtypes.size()) {
    refuse(function, name, std::to_string(value), "an ng_dtype (0 to " + most + ")");
  }
  return kDtypes[static_cast<std::size_t>(value)];
}

Tensor view_of(const char* function, const std::string& name, const ng_tensor* in) {
  const ng_tensor init = NG_TENSOR_INIT;
  const ng_tensor t = read(function, name.c_str(), in, init);
  if (t.ndim < 0 || t.ndim > kMostAxes) refuse(function, name + ".ndim", std::to_string(t.ndim), "0 to 8");
  const auto axes = static_cast<std::ptrdiff_t>(t.ndim);
  return Tensor::wrap(t.address, Shape(t.shape, t.shape + axes), Shape(t.strides, t.strides + axes),
                      any_dtype_of(function, name + ".dtype", t.dtype));
}

struct Operation {
  ExprOp op;
  std::size_t operands;
};

std::optional<Operation> operation_named(std::string_view name) {
  static constexpr Operation kAll[] = {
#define NG_OP(name, operands, rule) {ExprOp::name, operands},
#include "nervanagpu/expr_ops.inc"
#undef NG_OP
  };
  const auto* const it = std::ranges::find(kAll, name, [](const Operation& o) { return name_of(o.op); });
  if (it == std::end(kAll)) return std::nullopt;
  return *it;
}

Reduction reduction_named(const char* function, const char* name) {
  if (name == nullptr) refuse(function, "name", "null", "the name of a reduction");
  for (const Reduction r : {Reduction::sum, Reduction::max, Reduction::min, Reduction::mean, Reduction::var,
                            Reduction::std, Reduction::prod}) {
    if (name_of(r) == name) return r;
  }
  refuse(function, "name", "\"" + std::string(name) + "\"", "sum, prod, max, min, mean, var or std");
}

const Expr& existing(const char* function, const std::string& name, const ng_expr* x) {
  if (x == nullptr) refuse(function, name, "null", "an expression");
  return x->expr;
}

Expr applied(const char* function, const char* name, const ng_expr* const* operands, std::size_t count) {
  if (name == nullptr) refuse(function, "name", "null", "the name of an operation");
  const bool is_fma = std::string_view(name) == "fma";
  const std::optional<Operation> found = operation_named(name);
  if (!found && !is_fma)
    refuse(function, "name", "\"" + std::string(name) + "\"", "an operation of expr_ops.inc, or fma");
  const std::size_t needed = is_fma ? 3 : found->operands;
  if (count != needed) {
    refuse(function, "count", std::to_string(count), std::to_string(needed) + ", the operands of " + name);
  }
  if (operands == nullptr) refuse(function, "operands", "null", std::to_string(count) + " expressions");
  std::vector<Expr> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(existing(function, "operands[" + std::to_string(i) + "]", operands[i]));
  }
  return is_fma ? fma(all[0], all[1], all[2]) : nervanagpu::apply(found->op, all);
}

std::vector<int> axes_of(const char* function, const std::int32_t* axes, std::size_t count) {
  if (count > kMostAxes) refuse(function, "count", std::to_string(count), "0 to 8 axes");
  if (count != 0 && axes == nullptr) refuse(function, "axes", "null", std::to_string(count) + " axes");
  return {axes, axes + count};
}

// What every function that makes an expression does.
template <class F>
ng_status make(const char* function, ng_expr** expr, const F& f) {
  return guarded([&] {
    if (expr == nullptr) refuse(function, "expr", "null", "where to put the expression");
    *expr = nullptr;
    *expr = new ng_expr{f()};
  });
}

}  // namespace
}  // namespace nervanagpu::c_api

using namespace nervanagpu;         // NOLINT(google-build-using-namespace)
using namespace nervanagpu::c_api;  // NOLINT(google-build-using-namespace)

extern "C" {

ng_status ng_expr_tensor(const ng_tensor* tensor, ng_expr** expr) {
  constexpr const char* kName = "ng_expr_tensor";
  return make(kName, expr, [&] { return Expr(view_of(kName, "tensor", tensor)); });
}

ng_status ng_expr_real(double value, ng_expr** expr) {
  return make("ng_expr_real", expr, [&] { return Expr(value); });
}

ng_status ng_expr_integer(int64_t value, ng_expr** expr) {
  return make("ng_expr_integer", expr, [&] { return Expr(value); });
}

ng_status ng_expr_random(uint64_t seed, uint64_t offset, ng_expr** expr) {
  return make("ng_expr_random", expr, [&] { return nervanagpu::random(seed, offset); });
}

ng_status ng_expr_apply(const char* name, const ng_expr* const* operands, size_t count, ng_expr** expr) {
  constexpr const char* kName = "ng_expr_apply";
  return make(kName, expr, [&] { return applied(kName, name, operands, count); });
}

ng_status ng_expr_cast(const ng_expr* x, int32_t dtype, ng_expr** expr) {
  constexpr const char* kName = "ng_expr_cast";
  return make(kName, expr, [&] { return cast(existing(kName, "x", x), any_dtype_of(kName, "dtype", dtype)); });
}

ng_status ng_expr_reduce(const char* name, const ng_expr* x, const int32_t* axes, size_t count, int32_t keepdims,
                         int32_t ddof, ng_expr** expr) {
  constexpr const char* kName = "ng_expr_reduce";
  return make(kName, expr, [&] {
    return reduce(reduction_named(kName, name), existing(kName, "x", x), axes_of(kName, axes, count),
                  flag_of(kName, "keepdims", keepdims), ddof);
  });
}

ng_status ng_expr_product(const ng_tensor* a, const ng_tensor* b, ng_expr** expr) {
  constexpr const char* kName = "ng_expr_product";
  return make(kName, expr, [&] { return product(view_of(kName, "a", a), view_of(kName, "b", b)); });
}

ng_status ng_expr_describe(const ng_expr* x, ng_tensor* tensor) {
  constexpr const char* kName = "ng_expr_describe";
  return guarded([&] {
    const Expr& e = existing(kName, "x", x);
    const ng_tensor init = NG_TENSOR_INIT;
    ng_tensor out = read<ng_tensor>(kName, "tensor", tensor, init);
    const Shape& shape = e.shape();
    if (shape.size() > kMostAxes) {
      refuse(kName, "x", "of " + std::to_string(shape.size()) + " axes", "at most 8, as an ng_tensor has them");
    }
    out.ndim = static_cast<std::int32_t>(shape.size());
    out.dtype = static_cast<std::int32_t>(std::ranges::find(kDtypes, e.dtype()) - kDtypes.begin());
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      out.shape[i] = shape[i];
      out.strides[i] = stride;
      stride *= std::max<std::int64_t>(shape[i], 1);
    }
    std::memcpy(tensor, &out, sizeof out);
  });
}

ng_status ng_expr_assign(const ng_tensor* out, const ng_expr* x) {
  constexpr const char* kName = "ng_expr_assign";
  return guarded([&] {
    const Tensor to = view_of(kName, "out", out);
    assign(to, existing(kName, "x", x));
  });
}

void ng_expr_destroy(ng_expr* expr) {
  delete expr;
}

}  // extern "C"
