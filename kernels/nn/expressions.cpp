#include "kernels/nn/expressions.h"

#include "src/expr/deferred.h"

namespace nervanagpu::nn {

Expr as_float(const Tensor& t) {
  return as_dtype(Expr(expr::stored_leaf(t)), Dtype::float32);
}
Expr values(const Tensor& t) {
  return values(t, {t.size()});
}
Expr values(const Tensor& t, const Shape& shape) {
  return as_float(t.reshape(shape));
}

fuse::Write write_of(const Tensor& out, const Expr& x, const Rounding& rounding) {
  return {out, round(x, out.dtype(), rounding)};
}

void write(const Tensor& out, const Expr& x, const Rounding& rounding, const Stream& stream) {
  const fuse::Write one = write_of(out.reshape(x.shape()), x, rounding);
  fuse::run_now({&one, 1}, stream);
}

}  // namespace nervanagpu::nn
