// Softmax with cross-entropy, forward and backward, one launch each.
#include <cmath>
#include <string>
#include <vector>

#include "kernels/nn/checks.h"
#include "kernels/nn/expressions.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/device/placement.h"
#include "src/tensor/shape.h"

namespace nervanagpu {
namespace {

using nn::Named;

constexpr const char* kOp = "softmax";

void check(const Tensor& logits, const Tensor* labels, const Tensor& probs, const Tensor* loss) {
  const Named nx = {kOp, "logits", logits};
  const Named np = {kOp, "probs", probs};
  nn::check_float(nx);
  if (logits.ndim() != 2 || logits.shape()[1] == 0 || logits.shape()[1] >= std::int64_t{1} << 30 ||
      logits.shape()[0] >= (std::int64_t{1} << 31) - 4) {
    throw InvalidArgument("softmax: logits has shape " + text_of(logits.shape()) +
                          "; needs (rows, classes), 1 to 2^30 - 1 classes and less than 2^31 - 4 rows");
  }
  nn::check_contiguous(nx);
  nn::check_like(np, nx);
  nn::check_contiguous(np);
  nn::check_apart_or_same(np, nx);
  if ((labels == nullptr) != (loss == nullptr)) {
    throw InvalidArgument(std::string("softmax: there are ") + (labels == nullptr ? "no labels" : "labels") + " but " +
                          (loss == nullptr ? "no loss" : "a loss") + "; needs both or neither");
  }
  if (labels == nullptr) return;
  const Named nl = {kOp, "labels", *labels};
  const Named no = {kOp, "loss", *loss};
  nn::check_dtype(nl, Dtype::int32);
  nn::check_shape(nl, {logits.shape()[0]}, "one for each row of logits");
  nn::check_contiguous(nl);
  nn::check_dtype(no, Dtype::float32);
  nn::check_shape(no, {logits.shape()[0]}, "one for each row of logits");
  nn::check_contiguous(no);
  nn::check_apart(np, nl);
  for (const Named& n : {nx, np, nl}) nn::check_apart(no, n);
}

}  // namespace

void softmax_fprop(const Tensor& logits, const Tensor* labels, Tensor& probs, Tensor* loss, const Stream& stream) {
  const Placed placed("softmax",
                      {{"logits", logits}, {"labels", labels}, {"probs", probs}, {"loss", loss}, {"stream", stream}});
  check(logits, labels, probs, loss);
  const std::int64_t rows = logits.shape()[0];
  const std::int64_t cols = logits.shape()[1];
  if (rows == 0) return;
  const Shape column = {rows, 1};
  const Expr x = nn::values(logits, logits.shape());
  const Expr off = x - reduce(Reduction::max, x, {1}, true);
  const Expr e = apply(ExprOp::exp, {off});
  const Expr sum = reduce(Reduction::sum, e, {1}, true);
  std::vector<fuse::Write> writes;
  if (labels != nullptr) {
    const Expr label(labels->reshape(column));
    const Expr hit = apply(ExprOp::equal, {label, indices(cols)});
    const Expr picked = reduce(Reduction::sum, apply(ExprOp::where, {hit, off, 0}), {1}, true);
    const Expr inside = apply(ExprOp::less, {cast(label, Dtype::uint32), cols});
    const Expr entropy = apply(ExprOp::log, {sum}) - picked;
    writes.push_back(nn::write_of(loss->reshape(column), apply(ExprOp::where, {inside, entropy, std::nan("")})));
  }
  writes.push_back(nn::write_of(probs, e / sum));
  fuse::run_now(writes, stream);
}

void count_hits(const Tensor& probs, const Tensor& labels, Tensor& hits, const Stream& stream) {
  constexpr const char* kHits = "count_hits";
  const Placed placed(kHits, {{"probs", probs}, {"labels", labels}, {"hits", hits}, {"stream", stream}});
  const Named np = {kHits, "probs", probs};
  const Named nl = {kHits, "labels", labels};
  const Named nh = {kHits, "hits", hits};
  nn::check_float(np);
  if (probs.ndim() != 2 || probs.shape()[1] == 0 || probs.shape()[1] >= std::int64_t{1} << 30) {
    throw InvalidArgument("count_hits: probs has shape " + text_of(probs.shape()) +
                          "; needs (rows, classes) and 1 to 2^30 - 1 classes");
  }
  nn::check_contiguous(np);
  nn::check_dtype(nl, Dtype::int32);
  nn::check_dtype(nh, Dtype::float32);
  for (const Named& n : {nl, nh}) {
    nn::check_shape(n, {probs.shape()[0]}, "one for each row of probs");
    nn::check_contiguous(n);
  }
  for (const Named& n : {np, nl}) nn::check_apart(nh, n);
  const std::int64_t rows = probs.shape()[0], cols = probs.shape()[1];
  if (rows == 0) return;
  const Expr p = nn::values(probs, probs.shape());
  const Expr is_largest = apply(ExprOp::equal, {p, reduce(Reduction::max, p, {1}, true)});
  const Expr first = reduce(Reduction::min, apply(ExprOp::where, {is_largest, indices(cols), cols}), {1}, true);
  const Expr hit = apply(ExprOp::equal, {first, Expr(labels.reshape({rows, 1}))});
  const fuse::Write one = nn::write_of(hits.reshape({rows, 1}), cast(hit, Dtype::float32));
  fuse::run_now({&one, 1}, stream);
}

}  // namespace nervanagpu
