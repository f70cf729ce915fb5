// A step of gradient descent with momentum, one launch.
#include <string>
#include <vector>

#include "kernels/nn/checks.h"
#include "kernels/nn/expressions.h"
#include "kernels/nn/launch.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "nervanagpu/sgd_options.hpp"
#include "src/device/placement.h"

namespace nervanagpu {
namespace {

using nn::Named;

constexpr const char* kOp = "sgd_update";

void check(const Tensor& w, const Tensor* master, const Tensor& velocity, const Tensor& grad,
           const SgdOptions& options) {
  const Named nw = {kOp, "w", w};
  const Named nv = {kOp, "velocity", velocity};
  const Named ng = {kOp, "grad", grad};
  check_sgd_options(std::string(kOp) + ": ", options.lr, options.momentum, options.weight_decay);
  nn::check_float(nw);
  nn::check_contiguous(nw);
  nn::check_rounding(kOp, options.rounding, w.dtype());
  for (const Named& n : {nv, ng}) {
    nn::check_float(n);
    nn::check_shape(n, w.shape(), "that of w");
    nn::check_contiguous(n);
  }
  const auto any = [&](Dtype d) { return w.dtype() == d || velocity.dtype() == d || grad.dtype() == d; };
  if (any(Dtype::float16) && any(Dtype::bfloat16)) {
    throw TypeError("sgd_update: w, grad and velocity have dtypes " + std::string(name_of(w.dtype())) + ", " +
                    std::string(name_of(grad.dtype())) + " and " + std::string(name_of(velocity.dtype())) +
                    "; needs float16 or bfloat16, not both");
  }
  nn::check_apart(nv, nw);
  nn::check_apart(nw, ng);
  nn::check_apart(nv, ng);
  if (options.rate != nullptr) {
    const Named nr = {kOp, "rate", *options.rate};
    nn::check_dtype(nr, Dtype::float32);
    nn::check_shape(nr, {1}, "one element");
    for (const Named& n : {nw, nv}) nn::check_apart(n, nr);
    if (master != nullptr) nn::check_apart({kOp, "master", *master}, nr);
  }
  if (master == nullptr) return;
  const Named nm = {kOp, "master", *master};
  nn::check_dtype(nm, Dtype::float32);
  nn::check_shape(nm, w.shape(), "that of w");
  nn::check_contiguous(nm);
  for (const Named& n : {nw, nv, ng}) nn::check_apart(nm, n);
}

}  // namespace

void sgd_update(Tensor& w, Tensor* master, Tensor& velocity, const Tensor& grad, const SgdOptions& options) {
  const Placed placed("sgd_update", {{"w", w},
                                     {"master", master},
                                     {"velocity", velocity},
                                     {"grad", grad},
                                     {"rate", options.rate},
                                     {"stream", options.stream}});
  check(w, master, velocity, grad, options);
  if (w.size() == 0) return;
  const Expr weight = nn::values(master != nullptr ? *master : w);
  const Expr gradient = fma(weight, options.weight_decay, nn::values(grad));
  const Expr v = options.momentum == 0.0F ? gradient : fma(nn::values(velocity), options.momentum, gradient);
  const Expr down = options.rate != nullptr ? -nn::values(*options.rate) : Expr(-options.lr);
  const Expr next = fma(v, down, weight);
  const Shape flat = {w.size()};
  std::vector<fuse::Write> writes = {nn::write_of(w.reshape(flat), next, options.rounding),
                                     nn::write_of(velocity.reshape(flat), v)};
  if (master != nullptr) writes.push_back(nn::write_of(master->reshape(flat), next));
  fuse::run_now(writes, options.stream);
}

}  // namespace nervanagpu
