// gather and scatter: elementwise kernels over the offsets, which load or store at the places that these name.
#include <string>

#include "nervanagpu/error.hpp"
#include "nervanagpu/indexing.hpp"
#include "src/device/placement.h"
#include "src/expr/complex.h"
#include "src/expr/deferred.h"
#include "src/expr/pending.h"
#include "src/expr/promote.h"
#include "src/fuse/kernels/elementwise.h"
#include "src/fuse/products.h"
#include "src/fuse/program.h"
#include "src/tensor/shape.h"

namespace nervanagpu {

using expr::Node;
using expr::NodePtr;

namespace {

// The tensor as an address: what is read or written is said by offsets.
Tensor anchor(const Tensor& t) {
  return Tensor::wrap(t.address(), {}, {}, t.dtype());
}

// As it counts the parts of complex elements, each of which is two.
Expr doubled(const Expr& offset) {
  const Expr at = as_dtype(offset, Dtype::int64);
  return apply(ExprOp::where, {apply(ExprOp::equal, {at, fuse::kNowhere}), at, at * 2});
}

NodePtr gather_of(const Tensor& from, const NodePtr& offset) {
  auto node = std::make_shared<Node>();
  node->op = ExprOp::gather;
  node->dtype = from.dtype();
  node->shape = offset->shape;
  node->tensor = anchor(from);
  node->inputs = {offset};
  return node;
}

}  // namespace

Tensor gather(const Tensor& from, const Expr& offset) {
  const Placed placed("gather", {{"x", from}, {"indices", offset.device()}});
  const expr::Entry entry;
  const expr::Computing here;
  Tensor out = Tensor::empty(offset.shape(), from.dtype());
  if (out.size() == 0) return out;
  const NodePtr at = (is_complex(from.dtype()) ? doubled(offset) : as_dtype(offset, Dtype::int64)).node();
  fuse::settle_for_elementwise(at);
  if (is_complex(from.dtype())) {
    const std::vector<fuse::Target> parts{{gather_of(from.real(), at), out.real()},
                                          {gather_of(from.imag(), at), out.imag()}};
    fuse::run_elementwise(fuse::program_of(parts, out.shape()));
  } else {
    fuse::run_elementwise(fuse::program_of({{gather_of(from, at), out}}, out.shape()));
  }
  return out;
}

void scatter(const Tensor& to, const Expr& offset, const Expr& value, Scatter how) {
  const Placed placed("scatter", {{"x", to}, {"indices", offset.device()}, {"value", value.device()}});
  const expr::Entry entry;
  const expr::Computing here;
  const Dtype d = to.dtype();
  const bool sums = d == Dtype::int32 || d == Dtype::uint32 || d == Dtype::int64 || d == Dtype::uint64;
  if ((how == Scatter::add && !sums) || (how == Scatter::most && d != Dtype::int32)) {
    throw TypeError("scatter: dtype is " + std::string(name_of(d)) + "; needs " +
                    (how == Scatter::add ? "int32, uint32, int64 or uint64" : "int32"));
  }
  expr::check_assignable(Tensor::wrap(to.address(), offset.shape(), row_major_strides(offset.shape()), d), value);
  if (element_count(offset.shape()) == 0) return;
  before_write(to);
  Expr source = as_dtype(value, d);
  if (expr::reads(*source.node(), to)) {
    const Tensor copy = Tensor::empty(source.shape(), d);
    assign(copy, source);
    source = copy;
  }
  if (is_complex(d)) {
    const NodePtr at = doubled(offset).node();
    const auto [re, im] = expr::parts_of(source.node());
    for (const NodePtr& n : {re, im, at}) fuse::settle_for_elementwise(n);
    const std::vector<fuse::Target> parts{{re, anchor(to.real()), at}, {im, anchor(to.imag()), at}};
    return fuse::run_elementwise(fuse::program_of(parts, offset.shape()));
  }
  const fuse::Target target{source.node(), anchor(to), as_dtype(offset, Dtype::int64).node(),
                            static_cast<fuse::Store>(how)};
  fuse::settle_for_elementwise(target.node);
  fuse::settle_for_elementwise(target.at);
  fuse::run_elementwise(fuse::program_of({target}, offset.shape()));
}

}  // namespace nervanagpu
