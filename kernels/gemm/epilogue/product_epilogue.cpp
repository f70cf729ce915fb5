#include "kernels/gemm/epilogue/product_epilogue.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm/epilogue/results.h"
#include "kernels/gemm/types.h"
#include "src/expr/pending.h"
#include "src/expr/promote.h"

namespace nervanagpu::sgemm {

using expr::Node;
using expr::NodePtr;

namespace {

// What the kernels do, in their order: act(alpha sum (scale) + beta C + bias), rounded. A tree is read from its root down to
// the product; on the way back each operation must come after those that are there.
enum class Stage : std::uint8_t { product, alpha, scale, before, bias, activation, rounding };

bool is_product(const Node& n) {
  return n.op == ExprOp::product || std::ranges::any_of(n.inputs, [](const NodePtr& in) { return is_product(*in); });
}

std::optional<float> number(const Node& n) {
  if (n.op != ExprOp::scalar) return std::nullopt;
  const double v = expr::value_of(n.bits, n.dtype);
  const auto f = static_cast<float>(v);
  return static_cast<double>(f) == v ? std::optional(f) : std::nullopt;
}

class Reader {
 public:
  explicit Reader(const Tensor* to) : to_(to) {}

  // An operand, of which the operation is the only owner.
  bool read(const NodePtr& n) { return n.use_count() == 1 && read(*n); }

  bool read(const Node& n) {
    switch (n.op) {
      case ExprOp::product:
        e = {};
        e.product = &n;
        e.dtype = n.dtype;
        stage_ = Stage::product;
        return true;
      case ExprOp::cast: return read(n.inputs[0]) && converts(n.dtype);
      case ExprOp::negative: return read(n.inputs[0]) && times(-1.0F);
      case ExprOp::multiply: return multiplies(n);
      case ExprOp::divide: return divides(n);
      case ExprOp::add: return adds(n.inputs[0], n.inputs[1]) || adds(n.inputs[1], n.inputs[0]);
      case ExprOp::subtract: return subtracts(n);
      case ExprOp::maximum: return either(n, &Reader::at_least);
      case ExprOp::minimum: return either(n, &Reader::clips);
      case ExprOp::stochastic_round: return rounds(n);
      default: return is_function(n);
    }
  }

  Epilogue e;

 private:
  // The next step is `s`, which comes after those that were.
  bool steps(Stage s) {
    if (stage_ >= s) return false;
    stage_ = s;
    return true;
  }
  [[nodiscard]] bool real() const { return expr::kind_of(e.dtype) == expr::Kind::real; }

  bool converts(Dtype to) {
    const bool wider = half(e.dtype) && to == Dtype::float32 && stage_ != Stage::rounding;
    const bool from_sums = e.dtype == Dtype::int32 && to == Dtype::float32 && stage_ == Stage::product;
    const bool narrower = e.dtype == Dtype::float32 && half(to) && steps(Stage::rounding);
    if (!wider && !from_sums && !narrower) return false;
    e.dtype = to;
    return true;
  }

  bool times(float by) {
    e.alpha = by;
    return real() && steps(Stage::alpha);
  }

  bool multiplies(const Node& n) {
    const NodePtr& a = n.inputs[0];
    const NodePtr& b = n.inputs[1];
    if (const auto by = number(*b)) return read(a) && times(*by);
    if (const auto by = number(*a)) return read(b) && times(*by);
    return scales(a, b) || scales(b, a);
  }
  bool scales(const NodePtr& x, const NodePtr& factors) {
    if (!read(x) || !byte(e.product->inputs[0]->dtype) || !real() || !is_vector(*factors)) return false;
    e.scale = &factors;
    return steps(Stage::scale);
  }

  // By a power of two, whose inverse is exact.
  bool divides(const Node& n) {
    const auto by = number(*n.inputs[1]);
    int exponent = 0;
    return by && std::frexp(std::fabs(*by), &exponent) == 0.5F && std::abs(exponent) < 120 && read(n.inputs[0]) &&
           times(1.0F / *by);
  }

  [[nodiscard]] bool is_vector(const Node& n) const {
    return is_along_columns(n.shape, e.product->shape) || is_along_rows(n.shape, e.product->shape);
  }
  [[nodiscard]] bool stands_there(const Node& n) const {
    return to_ != nullptr && n.op == ExprOp::tensor && expr::same_view(n.tensor, *to_);
  }

  // A product that has been computed for this tree alone.
  [[nodiscard]] static bool is_spare(const NodePtr& n) {
    return n->op == ExprOp::tensor && !n->borrowed && n.use_count() == 1 && (n->tensor.alone() || n->sole) &&
           n->tensor.contiguous();
  }

  bool adds(const NodePtr& x, const NodePtr& what) {
    if (!is_product(*x) || !read(x)) return false;
    if (is_vector(*what)) {
      e.bias = &what;
      return steps(Stage::bias);
    }
    if (what->shape != e.product->shape || !real()) return false;
    e.beta = 1.0F;
    if (to_ == nullptr && is_spare(what)) {
      e.over = &what;
    } else if (!stands_there(*what)) {
      return false;
    }
    return steps(Stage::before);
  }

  bool subtracts(const Node& n) {
    const NodePtr& a = n.inputs[0];
    const NodePtr& b = n.inputs[1];
    const bool below = stands_there(*b);
    if (!below && !stands_there(*a)) return false;
    if (!read(below ? a : b) || !real() || stage_ > Stage::alpha) return false;
    if (!below) e.alpha = -e.alpha;
    e.beta = below ? -1.0F : 1.0F;
    return steps(Stage::before);
  }

  bool acts(GemmActivation a) {
    e.activation = a;
    return (real() || a == GemmActivation::relu) && steps(Stage::activation);
  }
  bool is_function(const Node& n) {
    for (const ActivationRow& row : kActivations) {
      if (operation_of(row.activation).op == n.op) return read(n.inputs[0]) && acts(row.activation);
    }
    return false;
  }
  bool either(const Node& n, bool (Reader::*then)(const NodePtr&, float)) {
    for (int i = 0; i < 2; ++i) {
      const auto limit = number(*n.inputs[static_cast<std::size_t>(1 - i)]);
      if (limit && (this->*then)(n.inputs[static_cast<std::size_t>(i)], *limit)) return true;
    }
    return false;
  }
  bool at_least(const NodePtr& x, float low) {
    return low == 0.0F && !std::signbit(low) && read(x) && acts(GemmActivation::relu);
  }
  bool clips(const NodePtr& x, float high) {
    if (x->op != ExprOp::maximum || x.use_count() != 1) return false;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto low = number(*x->inputs[1 - i]);
      if (!low || !(*low < high)) continue;
      if (!read(x->inputs[i]) || !real()) return false;
      e.clip_low = *low;
      e.clip_high = high;
      return acts(GemmActivation::clip);
    }
    return false;
  }

  bool rounds(const Node& n) {
    if (!read(n.inputs[0]) || !real() || stage_ == Stage::rounding) return false;
    const bool known = half(n.dtype) || n.dtype == Dtype::float32;
    const Node& words = *n.inputs[1];
    if (!known || words.op != ExprOp::random || words.open) return false;
    e.rounding = {true, words.bits, words.offset, static_cast<int>(n.bits)};
    e.dtype = n.dtype;
    return steps(Stage::rounding);
  }

  const Tensor* to_;
  Stage stage_ = Stage::product;
};

}  // namespace

const Operation& operation_of(GemmActivation a) {
  using enum ExprOp;
  constexpr bool in_16_bits = true;
  static constexpr Operation kOperations[] = {
#define NG_ACTIVATION(name, c_name, reads, value, ulps, ...) {__VA_ARGS__},
#include "nervanagpu/activations.inc"
#undef NG_ACTIVATION
  };
  return kOperations[static_cast<std::size_t>(a)];
}

bool is_along_columns(const Shape& vector, const Shape& product) {
  return !vector.empty() && vector.size() <= product.size() && vector.back() == product.back() &&
         std::all_of(vector.begin(), vector.end() - 1, [](std::int64_t l) { return l == 1; });
}
bool is_along_rows(const Shape& vector, const Shape& product) {
  return vector.size() == product.size() && vector.back() == 1 &&
         std::equal(vector.begin(), vector.end() - 1, product.begin());
}

std::optional<Epilogue> epilogue_of(const Node& n, const Tensor* to) {
  Reader reader(to);
  if (!is_product(n) || !reader.read(n)) return std::nullopt;
  const Epilogue& e = reader.e;
  if (operation_of(e.activation).in_16_bits && !half(e.dtype)) return std::nullopt;
  if (e.over != nullptr && (*e.over)->dtype != e.dtype) return std::nullopt;
  if (!gives(e.product->inputs[0]->dtype, e.dtype)) return std::nullopt;
  return e;
}

}  // namespace nervanagpu::sgemm
