#include "kernels/gemm/tensors/run_products.h"

#include <algorithm>
#include <string>
#include <thread>

#include "kernels/gemm/epilogue/product_epilogue.h"
#include "kernels/gemm/epilogue/results.h"
#include "kernels/gemm/tensors/dot.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "nervanagpu/gemm_plan.hpp"
#include "src/expr/pending.h"
#include "src/fuse/kernel.h"
#include "src/tensor/shape.h"
#include "src/tensor/shares_memory.h"

namespace nervanagpu::fuse {
namespace {

using expr::Node;
using expr::NodePtr;

// A cast of 16 bits to float32, which whoever reads the 16 bits can do.
bool widens(const Node& n) {
  return n.op == ExprOp::cast && n.dtype == Dtype::float32 && sgemm::half(n.inputs[0]->dtype);
}

// A result, whose rows lie below each other, as a matrix.
Tensor matrix_of(const Tensor& t, const Node& product) {
  if (t.ndim() == 2) return t;
  return t.reshape({product.inputs[0]->shape[0], product.shape.back()});
}

// A vector along rows or columns as gemm() takes it for a result of this dtype: as it lies, or computed.
Tensor vector_of(const NodePtr& node, const Node& product, Dtype result, const Run& run) {
  const auto shaped = [&](const Tensor& t) {
    if (product.shape.size() == 2) return t;
    return sgemm::is_along_columns(t.shape(), product.shape) ? t.reshape({t.size()}) : t.reshape({t.size(), 1});
  };
  const auto fits = [&](const Node& n) {
    return n.op == ExprOp::tensor && n.tensor.contiguous() && sgemm::takes_bias(result, n.dtype);
  };
  if (fits(*node)) return shaped(node->tensor);
  if (widens(*node) && fits(*node->inputs[0])) return shaped(node->inputs[0]->tensor);  // which the kernel does, too
  const Dtype dtype = sgemm::takes_bias(result, node->dtype) ? node->dtype : Dtype::float32;
  const Tensor to = temporary(node->shape, dtype);
  run(as_dtype(Expr(node), dtype).node(), to);
  return shaped(to);
}

// As expressions call it.
std::string text_of(GemmActivation a) {
  if (a == GemmActivation::none) return "";
  const sgemm::Operation& same = sgemm::operation_of(a);
  return ", " + std::string(same.op ? name_of(*same.op) : activation_row(a)->name);
}

// A line of explain().
std::string line_of(const sgemm::Epilogue& e, const Tensor& a, const Tensor& b, const Tensor& to,
                    const GemmOptions& options) {
  std::string kernel = "a copy and a product";  // operands that no kernel reads as they lie
  try {
    kernel = GemmPlan(a, b, to, options).kernel();
  } catch (const InvalidArgument&) {  // NOLINT(bugprone-empty-catch)
  }
  return "kernel " + kernel + ": " + std::to_string(a.shape()[0]) + " x " + std::to_string(b.shape()[1]) + " x " +
         std::to_string(a.shape()[1]) + (e.alpha != 1.0F ? ", times a number" : "") + (e.scale ? ", scale" : "") +
         (e.beta != 0.0F ? ", added to what is there" : "") + (e.bias ? ", bias" : "") + text_of(e.activation) +
         (e.rounding.stochastic ? ", stochastic rounding" : "");
}

// The kernel writes there as it is told to.
bool is_target(const Tensor& to, const Node& n, const sgemm::Epilogue& e) {
  const auto apart = [&](const NodePtr& in) { return !shares_memory(to, in->tensor); };
  const bool lies = to.ndim() == 2 && !e.rounding.stochastic ? sgemm::matrix_of(to).has_value() : to.contiguous();
  return lies && to.shape() == n.shape && to.dtype() == n.dtype && std::ranges::all_of(e.product->inputs, apart) &&
         (!e.bias || !expr::reads(**e.bias, to)) && (!e.scale || !expr::reads(**e.scale, to));
}

void compute(const sgemm::Epilogue& e, const Tensor& to, const Run& run) {
  const Tensor& a = e.product->inputs[0]->tensor;
  const Tensor& b = e.product->inputs[1]->tensor;
  GemmOptions options;
  options.alpha = e.alpha;
  options.beta = e.beta;
  options.activation = e.activation;
  options.clip_low = e.clip_low;
  options.clip_high = e.clip_high;
  options.rounding = e.rounding;
  options.precision = e.product->precision;
  options.stream = OnStream::current();
  if (e.product->shape.size() > 2) options.splits = 1;  // a row's bits do not depend on how many matrices there are
  Tensor bias{Tensor::Later{}};
  Tensor scale{Tensor::Later{}};
  if (e.bias != nullptr) {
    bias = vector_of(*e.bias, *e.product, e.dtype, run);
    options.bias = &bias;
  }
  if (e.scale != nullptr) {
    scale = vector_of(*e.scale, *e.product, Dtype::float32, run);
    options.scale = &scale;
  }
  Tensor out = matrix_of(to, *e.product);
  if (DryRun* r = DryRun::current()) return r->note(line_of(e, a, b, out, options));
  const std::uint64_t before = kernels_launched;
  gemm(a, b, out, options);
  count_launches(kernels_launched - before);
}

// A product that two threads have come to, its own and one that evaluates what it is part of, is one's to compute.
class Claim {
 public:
  explicit Claim(Node& node) : node_(node) {
    auto was = Node::Progress::open;
    mine_ = node.progress.compare_exchange_strong(was, Node::Progress::running, std::memory_order_acquire);
    while (!mine_ && was == Node::Progress::running) {
      std::this_thread::yield();
      was = Node::Progress::open;
      mine_ = node.progress.compare_exchange_strong(was, Node::Progress::running, std::memory_order_acquire);
    }
  }
  ~Claim() {  // where it is done, settle() has said so
    auto mine = Node::Progress::running;
    if (mine_) node_.progress.compare_exchange_strong(mine, Node::Progress::open, std::memory_order_release);
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  [[nodiscard]] bool mine() const { return mine_; }

 private:
  Node& node_;
  bool mine_ = false;
};

bool compute_products(const NodePtr& node, const Tensor* to, const Run& run) {
  if (to != nullptr) {
    if (const auto direct = sgemm::epilogue_of(*node, to); direct && is_target(*to, *node, *direct)) {
      compute(*direct, *to, run);
      return true;
    }
  }
  if (const auto e = sgemm::epilogue_of(*node, nullptr)) {
    const Tensor stands = e->over != nullptr ? (*e->over)->tensor : temporary(node->shape, node->dtype);
    compute(*e, stands, run);
    expr::settle(*node, stands);
    return to == nullptr;
  }
  for (const NodePtr& in : std::vector(node->inputs)) {
    sgemm::run_products(widens(*in) ? in->inputs[0] : in, nullptr, run);
  }
  return false;
}

}  // namespace
}  // namespace nervanagpu::fuse

bool nervanagpu::sgemm::run_products(const expr::NodePtr& node, const Tensor* to, const fuse::Run& run) {
  if (!node->made_as_product) return !node->leaf() && fuse::compute_products(node, to, run);
  const fuse::Claim claim(*node);
  if (!claim.mine()) return to == nullptr && !node->borrowed;
  return fuse::compute_products(node, to, run);
}
