#include <string>

#include "kernels/nn/checks.h"
#include "kernels/nn/launch.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/select_device.h"
#include "src/shape.h"

namespace nervanagpu {
namespace {

using nn::Named;

constexpr const char* kOp = "softmax";
constexpr std::int64_t kWarpColumns = 2048;  // up to here a warp takes a row

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
  check(logits, labels, probs, loss);
  const std::int64_t rows = logits.shape()[0];
  const std::int64_t cols = logits.shape()[1];
  if (rows == 0) return;
  const bool warp = cols <= kWarpColumns;
  nn::Call call(current_device(),
                std::string("softmax_") + nn::type_word(kOp, "logits", logits.dtype()) + (warp ? "_warp" : "_cta"));
  call.add(logits.address()).add(probs.address());
  call.add(labels != nullptr ? labels->address() : 0).add(loss != nullptr ? loss->address() : 0);
  call.add(static_cast<std::uint32_t>(rows)).add(static_cast<std::uint32_t>(cols)).add(labels != nullptr ? 1U : 0U);
  call.launch({static_cast<std::uint32_t>(warp ? (rows + 3) / 4 : rows)}, stream.handle());
  logits.used_on(stream);
  probs.used_on(stream);
  if (labels != nullptr) labels->used_on(stream);
  if (loss != nullptr) loss->used_on(stream);
}

}  // namespace nervanagpu
