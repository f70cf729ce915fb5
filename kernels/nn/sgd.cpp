#include <algorithm>
#include <string>

#include "kernels/nn/checks.h"
#include "kernels/nn/launch.h"
#include "kernels/nn/nn.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/select_device.h"

namespace nervanagpu {
namespace {

using nn::Named;

constexpr std::int64_t kItems = 512;  // of a CTA
constexpr const char* kOp = "sgd_update";

std::uint64_t at(const Tensor& t, std::int64_t element) {
  return t.address() + static_cast<std::uint64_t>(element) * size_of(t.dtype());
}

void check(const Tensor& w, const Tensor* master, const Tensor& velocity, const Tensor& grad,
           const SgdOptions& options) {
  const Named nw = {kOp, "w", w};
  const Named nv = {kOp, "velocity", velocity};
  const Named ng = {kOp, "grad", grad};
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
  if (master == nullptr) return;
  const Named nm = {kOp, "master", *master};
  nn::check_dtype(nm, Dtype::float32);
  nn::check_shape(nm, w.shape(), "that of w");
  nn::check_contiguous(nm);
  for (const Named& n : {nw, nv, ng}) nn::check_apart(nm, n);
}

struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t v = 1;
};

void launch(const Part& p, const Tensor& w, const Tensor* master, const Tensor& velocity, const Tensor& grad,
            const SgdOptions& o) {
  const auto word = [](const Tensor& t) { return std::string(nn::type_word(kOp, "w", t.dtype())) + "_"; };
  nn::Call call(current_device(), "sgd_" + word(w) + word(grad) + word(velocity) + (master != nullptr ? "1_" : "0_") +
                                      std::to_string(p.v));
  const std::int64_t items = p.count / p.v;
  call.add(at(w, p.first)).add(master != nullptr ? at(*master, p.first) : 0);
  call.add(at(velocity, p.first)).add(at(grad, p.first)).add(static_cast<std::uint32_t>(items));
  call.add(o.lr).add(o.momentum).add(o.weight_decay);
  call.add(nn::RoundingArgs::of(o.rounding, w.dtype(), static_cast<std::uint64_t>(p.first)));
  call.launch({static_cast<std::uint32_t>((items + kItems - 1) / kItems)}, o.stream.handle());
}

}  // namespace

void sgd_update(Tensor& w, Tensor* master, Tensor& velocity, const Tensor& grad, const SgdOptions& options) {
  check(w, master, velocity, grad, options);
  const auto aligned = [](const Tensor* t) { return t == nullptr || t->address() % (4 * size_of(t->dtype())) == 0; };
  const bool four = aligned(&w) && aligned(master) && aligned(&velocity) && aligned(&grad);
  for (std::int64_t i = 0; i < w.size(); i += nn::kMostElements) {
    const std::int64_t count = std::min(nn::kMostElements, w.size() - i);
    const std::int64_t fours = four ? count / 4 * 4 : 0;
    if (fours > 0) launch({i, fours, 4}, w, master, velocity, grad, options);
    if (fours < count) launch({i + fours, count - fours, 1}, w, master, velocity, grad, options);
  }
  w.used_on(options.stream);
  velocity.used_on(options.stream);
  grad.used_on(options.stream);
  if (master != nullptr) master->used_on(options.stream);
}

}  // namespace nervanagpu
