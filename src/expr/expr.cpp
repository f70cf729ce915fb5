// Expr: operands become nodes, with the shapes and dtypes that NumPy gives them.
#include "nervanagpu/expr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "nervanagpu/error.hpp"
#include "src/device/placement.h"
#include "src/expr/complex.h"
#include "src/expr/deferred.h"
#include "src/expr/node.h"
#include "src/expr/pending.h"
#include "src/expr/promote.h"
#include "src/numbers/scalar.h"
#include "src/tensor/shape.h"

namespace nervanagpu {

using expr::Kind;
using expr::Node;
using expr::NodePtr;
using expr::Rule;

namespace expr {

Node::~Node() {
  if (op == ExprOp::product) --open_products;
  if (listed) delist(*this);  // nobody else has it any more
}

NodePtr leaf_of(const Tensor& tensor) {
  auto n = std::make_shared<Node>();
  n->dtype = tensor.dtype();
  n->shape = tensor.shape();
  n->tensor = tensor;
  n->device = tensor.device();
  return n;
}

void become_product(Node& node) {
  node.op = ExprOp::product;
  node.made_as_product = true;
  node.thread = this_thread();
  ++open_products;
}

void settle(Node& node, const Tensor& value, bool borrowed) {
  std::vector<NodePtr> inputs;  // end after the lock
  const std::lock_guard lock(tree_mutex());
  if (node.op == ExprOp::product) --open_products;
  node.op = ExprOp::tensor;
  node.tensor = value;
  node.device = value.device();
  node.borrowed = borrowed;
  node.inputs.swap(inputs);
  node.weight = 1;
  if (borrowed) {
    enlist(node);
  } else {
    delist(node);
  }
  if (node.made_as_product) node.progress.store(Node::Progress::done, std::memory_order_release);
}

}  // namespace expr

namespace {

// A tree that has grown beyond this is computed in parts: parameters and registers of a kernel are not endless.
constexpr std::uint32_t kMostNodes = 96;
thread_local std::uint32_t most_nodes = kMostNodes;

NodePtr number(const Scalar& value) {
  auto n = std::make_shared<Node>();
  n->op = ExprOp::scalar;
  n->bits = value.bits();
  n->weak = true;
  n->beyond = value.kind() == Scalar::Kind::beyond;
  switch (value.kind()) {
    case Scalar::Kind::boolean: n->dtype = Dtype::boolean; break;
    case Scalar::Kind::integer:
      n->dtype = value.negative() || value.bits() >> 63 == 0 ? Dtype::int64 : Dtype::uint64;
      break;
    case Scalar::Kind::complex:
      n->op = ExprOp::complex;
      n->dtype = Dtype::complex128;
      n->inputs = {number(value.real()), number(value.imag())};
      break;
    default: n->dtype = Dtype::float64;
  }
  return n;
}
Scalar scalar_of(const Node& n) {
  const Scalar value = expr::scalar_of(n.bits, n.dtype);
  return n.beyond ? Scalar::beyond(value.real()) : value;
}
Kind kind_of(const Node& n) {
  return n.beyond ? Kind::integer : expr::kind_of(n.dtype);
}

// What enters a tree for `e`: here and nowhere else it is decided what an operand's value is. Memory, be it a tensor's or that
// of an expression that was computed, holds what the last write left there, also one that waits. A borrowed leaf is an
// expression yet: its value was fixed when it was written, and later writes of that memory do not concern it.
NodePtr operand(const Expr& e) {
  if (expr::writes_wait.load(std::memory_order_acquire) && e.evaluated()) {
    if (NodePtr value = expr::value_of(e.node()->tensor)) return value;
  }
  return e.node();
}

std::string operand_text(const Node& n) {
  return n.weak ? std::string("a number") : std::string(name_of(n.dtype)) + " " + text_of(n.shape);
}
std::string operands_text(std::span<const Expr> all) {
  std::string out;
  for (const Expr& e : all) out += (out.empty() ? "" : ", ") + operand_text(*e.node());
  return out;
}

void check_devices(ExprOp op, std::span<const Expr> all) {
  static constexpr const char* kNames[] = {"x", "y", "z"};
  int device = -1;
  for (const Expr& e : all) {
    if (device < 0) device = e.device();
    if (e.device() < 0 || e.device() == device) continue;
    std::vector<Placed::Operand> operands;
    for (const Expr& o : all) operands.emplace_back(kNames[operands.size()], o.device());
    static_cast<void>(Placed::agreed(std::string(name_of(op)).c_str(), operands));
  }
}

Shape broadcast(ExprOp op, std::span<const Expr> all) {
  Shape out = all.front().shape();
  for (const Expr& e : all.subspan(1)) {
    const Shape& s = e.shape();
    if (s == out) continue;
    if (s.size() > out.size()) out.insert(out.begin(), s.size() - out.size(), 1);
    for (std::size_t i = 0; i < s.size(); ++i) {
      std::int64_t& l = out[out.size() - s.size() + i];
      if (l == s[i] || s[i] == 1) continue;
      if (l != 1) throw InvalidArgument(std::string(name_of(op)) + ": shapes do not broadcast: " + operands_text(all));
      l = s[i];
    }
  }
  static_cast<void>(element_count(out));
  check_devices(op, all);
  return out;
}

// The dtype that all operands are computed in, by promotion; numbers alone are themselves.
Dtype common(std::span<const NodePtr> all) {
  bool any = false;
  Dtype out = Dtype::boolean;
  Kind weak = Kind::boolean;
  for (const NodePtr& n : all) {
    if (n->weak) {
      weak = std::max(weak, kind_of(*n));
    } else {
      out = any ? expr::promote(out, n->dtype) : n->dtype;
      any = true;
    }
  }
  return expr::beside(out, weak);
}

// The float that holds each of the operands, whose common dtype is no float: float16 of uint8 and int8, as NumPy's.
// Numbers count where there are but bools beside them.
Dtype real_for(std::span<const NodePtr> all, Dtype common_dtype) {
  bool any = false;
  Dtype out = expr::as_real(common_dtype);
  for (const NodePtr& n : all) {
    if (n->weak || expr::kind_of(n->dtype) != Kind::integer) continue;  // a bool fits into every float
    out = any ? expr::promote(out, expr::as_real(n->dtype)) : expr::as_real(n->dtype);
    any = true;
  }
  return out;
}

NodePtr make(ExprOp op, Dtype dtype, Shape shape, std::vector<NodePtr> inputs) {
  auto n = std::make_shared<Node>();
  n->op = op;
  n->dtype = dtype;
  n->shape = std::move(shape);
  n->inputs = std::move(inputs);
  for (const NodePtr& in : n->inputs) {
    n->weight = std::min(n->weight + in->weight, 1U << 20);
    if (n->device < 0) n->device = in->device;
  }
  expr::enlist(*n);
  return n;
}

NodePtr converted(const NodePtr& n, Dtype to) {
  if (n->dtype == to && !n->weak) return n;
  if (is_complex(n->dtype) || is_complex(to)) return expr::converted_complex(n, to);
  if (n->op != ExprOp::scalar) return make(ExprOp::cast, to, n->shape, {n});
  auto s = std::make_shared<Node>();
  s->op = ExprOp::scalar;
  s->dtype = to;
  s->bits = expr::bits_of(scalar_of(*n), to);
  return s;
}

using expr::finished;

// The same value, as a result that nobody else has: what is written to either is not seen in the other.
Expr own(const NodePtr& n) {
  if (is_complex(n->dtype)) return expr::apply_complex(ExprOp::positive, n->dtype, std::span(&n, 1));
  const Dtype d = n->beyond ? Dtype::int64 : n->dtype;
  return finished(make(ExprOp::cast, d, n->shape, {n->weak ? converted(n, d) : n}));
}

[[noreturn]] void wrong_dtype(ExprOp op, std::span<const Expr> all, const char* needed) {
  throw TypeError(std::string(name_of(op)) + ": operands are " + operands_text(all) + "; needs " + needed);
}

// What bool becomes a small integer for, as NumPy has it.
bool counts_bool(ExprOp op) {
  switch (op) {
    case ExprOp::floor_divide:
    case ExprOp::remainder:
    case ExprOp::fmod:
    case ExprOp::left_shift:
    case ExprOp::right_shift: return true;
    default: return false;
  }
}

// Integers that d does not hold are compared by value, as NumPy has it; nullptr: d holds them.
NodePtr compared_by_value(ExprOp op, Dtype d, const Shape& shape, NodePtr a, NodePtr b) {
  const auto fits_not = [&](const NodePtr& n) {
    return n->weak && kind_of(*n) == Kind::integer && expr::kind_of(d) == Kind::integer && !fits(scalar_of(*n), d);
  };
  const bool mixed = expr::kind_of(d) == Kind::real && kind_of(*a) == Kind::integer && kind_of(*b) == Kind::integer;
  if (fits_not(a) || (mixed && !expr::is_signed(a->dtype))) {  // b op a
    std::swap(a, b);
    op = op == ExprOp::less            ? ExprOp::greater
         : op == ExprOp::greater       ? ExprOp::less
         : op == ExprOp::less_equal    ? ExprOp::greater_equal
         : op == ExprOp::greater_equal ? ExprOp::less_equal
                                       : op;
  }
  const bool is_less = op == ExprOp::less || op == ExprOp::less_equal;
  const bool is_greater = op == ExprOp::greater || op == ExprOp::greater_equal;
  const auto constant = [](const Scalar& value, Dtype dtype) { return converted(number(value), dtype); };
  if (fits_not(b)) {  // the same for every element: all are at most the largest one, none is more
    const bool holds = op == ExprOp::not_equal || (scalar_of(*b).negative() ? is_greater : is_less);
    const std::uint64_t largest = ~std::uint64_t{0} >> (64 - 8 * size_of(d) + (expr::is_signed(d) ? 1 : 0));
    return make(holds ? ExprOp::less_equal : ExprOp::greater, Dtype::boolean, shape,
                {converted(a, d), constant(largest, d)});
  }
  if (!mixed) return nullptr;
  // int64 and uint64, a and b: a negative number is less than all others, the others are unsigned.
  const NodePtr unsigned_result =
      make(op, Dtype::boolean, shape, {converted(a, Dtype::uint64), converted(b, Dtype::uint64)});
  const bool holds = is_less || op == ExprOp::not_equal;
  const NodePtr sign = make(holds ? ExprOp::less : ExprOp::greater_equal, Dtype::boolean, a->shape,
                            {converted(a, Dtype::int64), constant(0, Dtype::int64)});
  return make(holds ? ExprOp::logical_or : ExprOp::logical_and, Dtype::boolean, shape, {sign, unsigned_result});
}

// x ** number, as NumPy shortens it.
const ExprOp* short_power(const NodePtr& exponent) {
  static constexpr ExprOp kSquare = ExprOp::square, kSqrt = ExprOp::sqrt, kReciprocal = ExprOp::reciprocal;
  if (exponent->op != ExprOp::scalar) return nullptr;
  const double v = expr::value_of(exponent->bits, exponent->dtype);
  if (v == 2.0) return &kSquare;
  if (v == 0.5) return &kSqrt;
  if (v == -1.0) return &kReciprocal;
  return nullptr;
}

}  // namespace

namespace expr {

Expr finished(NodePtr n) {
  Expr out(std::move(n));
  if (out.node()->weight > most_nodes) static_cast<void>(out.evaluate());
  return out;
}

Whole::Whole(std::uint32_t nodes) noexcept : before_(std::exchange(most_nodes, nodes)) {}
Whole::~Whole() {
  most_nodes = before_;
}

}  // namespace expr

std::string_view name_of(ExprOp op) noexcept {
  switch (op) {
#define NG_OP(name, operands, rule) \
  case ExprOp::name:                \
    return #name;
#include "nervanagpu/expr_ops.inc"
#undef NG_OP
    case ExprOp::fma: return "fma";
    case ExprOp::cast: return "cast";
    case ExprOp::tensor: return "tensor";
    case ExprOp::scalar: return "number";
    case ExprOp::reduce: return "reduce";
    case ExprOp::random: return "random";
    case ExprOp::unit: return "unit";
    case ExprOp::gather: return "gather";
    case ExprOp::stochastic_round: return "round";
    case ExprOp::index: return "indices";
    case ExprOp::product: return "product";
    case ExprOp::complex: return "complex";
  }
  return "";
}

std::string_view name_of(Reduction op) noexcept {
  static constexpr std::string_view kNames[] = {"sum", "max", "min", "mean", "var", "std", "prod"};
  const auto number = static_cast<std::size_t>(op);
  return number < std::size(kNames) ? kNames[number] : "";
}

Expr::Expr(const Tensor& tensor) : node_(expr::leaf_of(tensor)) {
  node_->handles.store(1, std::memory_order_relaxed);  // nobody else has it
}
Expr Expr::now(const Tensor& tensor) {
  if (expr::writes_wait.load(std::memory_order_acquire)) {
    if (NodePtr value = expr::value_of(tensor)) return own(value);
  }
  NodePtr n = expr::leaf_of(tensor);
  n->borrowed = true;
  expr::enlist(*n);
  return Expr(std::move(n));
}
Expr::Expr(const Scalar& value) : Expr(number(value)) {}
Expr::Expr(std::shared_ptr<Node> node) noexcept : node_(std::move(node)) {
  ++node_->handles;
}
Expr::Expr(const Expr& other) : node_(other.node_) {
  if (node_) ++node_->handles;
}
Expr::Expr(Expr&& other) noexcept : node_(std::move(other.node_)) {}
Expr& Expr::operator=(Expr other) noexcept {
  node_.swap(other.node_);
  return *this;
}
Expr::~Expr() {
  if (node_) --node_->handles;
}

const Shape& Expr::shape() const noexcept {
  return node_->shape;
}
int Expr::device() const noexcept {
  return node_->device;
}
Dtype Expr::dtype() const noexcept {
  return node_->dtype;
}
std::int64_t Expr::size() const noexcept {
  return node_->size();
}
bool Expr::evaluated() const noexcept {
  if (node_->made_as_product && node_->progress.load(std::memory_order_acquire) != Node::Progress::done) return false;
  const std::lock_guard lock(expr::tree_mutex());  // another thread may be about to settle it
  return node_->op == ExprOp::tensor && !node_->borrowed;
}

Expr apply(ExprOp op, std::span<const Expr> operands) {
  if (operands.size() != expr::operands_of(op) || op >= ExprOp::fma) {
    throw InvalidArgument(std::string(name_of(op)) + ": " + std::to_string(operands.size()) + " operands; needs " +
                          std::to_string(expr::operands_of(op)));
  }
  Shape shape = broadcast(op, operands);
  std::vector<NodePtr> in;
  in.reserve(operands.size());
  for (const Expr& e : operands) in.push_back(operand(e));
  const auto give = [&](Dtype compute, Dtype result) {
    for (NodePtr& n : in) {
      if (n->dtype != compute || n->weak) n = converted(n, compute);
    }
    return finished(make(op, result, std::move(shape), std::move(in)));
  };
  if (op == ExprOp::where) {
    const NodePtr condition = converted(in[0], Dtype::boolean);
    const Dtype d = common(std::span(in).subspan(1));
    if (is_complex(d)) {
      in[0] = condition;
      return expr::apply_complex(op, d, in);
    }
    in = {condition, converted(in[1], d), converted(in[2], d)};
    return finished(make(op, d, std::move(shape), std::move(in)));
  }
  Dtype d = common(in);
  if (is_complex(d)) return expr::apply_complex(op, d, in);
  if (d == Dtype::boolean && counts_bool(op)) d = Dtype::int8;
  const Kind kind = expr::kind_of(d);
  switch (expr::rule_of(op)) {
    case Rule::arith:
      if (kind == Kind::boolean) wrong_dtype(op, operands, "integers or floats");
      return op == ExprOp::positive ? own(in[0]) : give(d, d);
    case Rule::number: return give(d, d);
    case Rule::bits:
      if (kind == Kind::real) wrong_dtype(op, operands, "integers or bool");
      return give(d, d);
    case Rule::compare:
      if (NodePtr n = compared_by_value(op, d, shape, in[0], in[1])) return finished(std::move(n));
      return give(d, Dtype::boolean);
    case Rule::test: return give(d, Dtype::boolean);
    case Rule::logic: return give(Dtype::boolean, Dtype::boolean);
    case Rule::whole:
      if (kind != Kind::real) return own(in[0]);
      return give(d, d);
    case Rule::real: break;
  }
  if (op == ExprOp::power) {
    if (kind == Kind::integer && !in[1]->weak) wrong_dtype(op, operands, "a float among them, or a number as exponent");
    if (const ExprOp* shorter = short_power(in[1])) {
      if (kind == Kind::real || *shorter == ExprOp::square) {
        const Expr base(kind == Kind::real ? converted(in[0], d) : in[0]);
        return apply(*shorter, std::span(&base, 1));
      }
    }
    if (kind != Kind::real) wrong_dtype(op, operands, "floats, or 2 as the exponent of integers");
  }
  // Quotients of integers are float64 whatever their width; other functions take the float that fits each operand.
  if (kind != Kind::real) d = op == ExprOp::divide ? Dtype::float64 : real_for(in, d);
  return give(d, d);
}

namespace {

NodePtr words_of(const Shape& shape, bool open, std::uint64_t seed, std::uint64_t offset) {
  static_cast<void>(element_count(shape));
  NodePtr words = make(ExprOp::random, Dtype::uint32, shape, {});
  words->bits = seed;
  words->offset = offset;
  words->open = open;
  if (!open) words->device = current_ordinal;
  return words;
}
Expr random_numbers(const Shape& shape, bool open, std::uint64_t seed, std::uint64_t offset) {
  if (offset >> 61 != 0)
    throw InvalidArgument("random: offset is " + std::to_string(offset) + "; needs less than 2^61");
  return Expr(make(ExprOp::unit, Dtype::float32, shape, {words_of(shape, open, seed, offset)}));
}

}  // namespace

Expr random(const Shape& shape, std::uint64_t seed, std::uint64_t offset) {
  return random_numbers(shape, false, seed, offset);
}
Expr random(std::uint64_t seed, std::uint64_t offset) {
  return random_numbers({}, true, seed, offset);
}

Expr random_words(const Shape& shape, std::uint64_t seed, std::uint64_t offset) {
  return Expr(words_of(shape, false, seed, offset));
}
Expr indices(std::int64_t count) {
  if (count < 1 || count >> 31 != 0)
    throw InvalidArgument("indices: count is " + std::to_string(count) + "; needs 1 to 2^31 - 1");
  NodePtr n = make(ExprOp::index, Dtype::int32, {count}, {});
  n->device = current_ordinal;
  return Expr(std::move(n));
}

Expr fma(const Expr& x, const Expr& y, const Expr& z) {
  const Expr all[] = {x, y, z};
  for (const Expr& e : all) {
    if (is_complex(e.dtype())) wrong_dtype(ExprOp::fma, all, "real numbers");
  }
  Shape shape = broadcast(ExprOp::fma, all);
  std::vector<NodePtr> in;
  for (const Expr& e : all) in.push_back(converted(operand(e), Dtype::float32));
  return finished(make(ExprOp::fma, Dtype::float32, std::move(shape), std::move(in)));
}
Expr as_dtype(const Expr& x, Dtype dtype) {
  return Expr(converted(operand(x), dtype));
}
Expr cast(const Expr& x, Dtype dtype) {
  static_cast<void>(byte_count({}, dtype));  // that it is one
  const NodePtr n = operand(x);
  return n->dtype == dtype && !n->weak ? own(n) : Expr(converted(n, dtype));
}

Expr round(const Expr& x, Dtype dtype, const Rounding& how) {
  if (!how.stochastic) return cast(x, dtype);
  if (is_complex(x.dtype())) throw TypeError("round: x is " + operand_text(*x.node()) + "; needs real numbers");
  const bool real = expr::kind_of(dtype) == Kind::real;
  const int most = most_bits(dtype);
  if (dtype == Dtype::boolean || size_of(dtype) > 4) {
    throw TypeError("round: dtype is " + std::string(name_of(dtype)) +
                    "; needs float16, bfloat16, float32 or an integer of up to 32 bits");
  }
  if (how.bits < 0 || how.bits > most || (how.bits != 0 && !real)) {
    throw InvalidArgument("round: bits is " + std::to_string(how.bits) + "; needs " +
                          (real ? "1 to " + std::to_string(most) + ", or 0 for the most" : "0 for integers"));
  }
  const NodePtr words = make(ExprOp::random, Dtype::uint32, x.shape(), {});
  words->bits = how.seed;
  words->offset = how.offset;
  const NodePtr n = make(ExprOp::stochastic_round, dtype, x.shape(), {converted(operand(x), Dtype::float32), words});
  n->bits = static_cast<std::uint64_t>(how.bits == 0 && real ? most : how.bits);
  return Expr(n);
}

namespace {

// What sums of a dtype are computed in, and means.
Dtype sum_dtype(Dtype d) {
  if (expr::kind_of(d) == Kind::real) return d;
  return expr::kind_of(d) == Kind::integer && !expr::is_signed(d) ? Dtype::uint64 : Dtype::int64;
}
Dtype mean_dtype(Dtype d) {
  return expr::kind_of(d) == Kind::real ? d : Dtype::float64;
}
bool is_half(Dtype d) {
  return expr::kind_of(d) == Kind::real && size_of(d) == 2;
}

}  // namespace

Expr reduce_each(Reduction op, const Expr& x, int ddof) {
  const NodePtr n = operand(x);
  if (is_complex(n->dtype)) return expr::reduce_each_complex(op, n, ddof);
  if (op == Reduction::max || op == Reduction::min) return own(n);
  const bool folds = op == Reduction::sum || op == Reduction::prod;
  const Dtype result = folds ? sum_dtype(n->dtype) : mean_dtype(n->dtype);
  const Expr value = as_dtype(Expr(n), is_half(result) ? Dtype::float32 : result);
  // A sum starts from 0, which -0 does not survive.
  if (op == Reduction::sum || op == Reduction::mean) return cast(apply(ExprOp::add, {value, 0}), result);
  if (op == Reduction::prod) return cast(apply(ExprOp::multiply, {value, 1}), result);
  const Expr square = apply(ExprOp::square, {apply(ExprOp::subtract, {value, value})});
  const Expr variance = apply(ExprOp::divide, {square, std::max(1 - ddof, 0)});
  return cast(op == Reduction::var ? variance : apply(ExprOp::sqrt, {variance}), result);
}

Expr reduce(Reduction op, const Expr& x, const std::vector<int>& axes, bool keepdims, int ddof) {
  const NodePtr of = operand(x);
  const Node& n = *of;
  const auto rank = static_cast<int>(n.shape.size());
  const std::string name(name_of(op));
  if (name.empty()) {
    throw InvalidArgument("reduce: op is " + std::to_string(static_cast<int>(op)) + "; needs a Reduction");
  }
  std::vector<bool> reduced(n.shape.size(), axes.empty());
  for (const int a : axes) {
    const int at = a < 0 ? a + rank : a;
    if (at < 0 || at >= rank) {
      throw InvalidArgument(name + ": axis " + std::to_string(a) + " is out of range; the operand is " +
                            operand_text(n));
    }
    if (reduced[static_cast<std::size_t>(at)]) {
      throw InvalidArgument(name + ": axis " + std::to_string(a) + " is named twice");
    }
    reduced[static_cast<std::size_t>(at)] = true;
  }
  if (is_complex(n.dtype)) return expr::reduce_complex(op, of, axes, keepdims, ddof);
  Dtype result = n.dtype;
  NodePtr in = n.weak ? converted(of, n.dtype) : of;
  if (op == Reduction::sum || op == Reduction::prod) {
    result = sum_dtype(n.dtype);
    in = converted(in, result);
  } else if (op != Reduction::max && op != Reduction::min) {
    result = mean_dtype(n.dtype);
    // float16 cannot count beyond 65504, nor bfloat16 beyond 256.
    if (is_half(n.dtype)) return cast(reduce(op, cast(x, Dtype::float32), axes, keepdims, ddof), n.dtype);
    in = converted(in, result);
  }
  Shape shape;
  std::int64_t count = 1;
  auto out = std::make_shared<Node>();
  for (std::size_t i = 0; i < n.shape.size(); ++i) {
    if (reduced[i]) {
      count *= n.shape[i];
      out->axes.push_back(static_cast<int>(i));
      if (keepdims) shape.push_back(1);
    } else {
      shape.push_back(n.shape[i]);
    }
  }
  if (count == 0 && (op == Reduction::max || op == Reduction::min)) {
    throw InvalidArgument(name + ": of no elements; the operand is " + operand_text(n));
  }
  out->op = ExprOp::reduce;
  // Means are sums over counts; variances are means of squares of what lies off the mean.
  const bool counted = op == Reduction::mean || op == Reduction::var || op == Reduction::std;
  out->reduction = counted ? Reduction::sum : op;
  out->keepdims = keepdims;
  out->dtype = result;
  out->shape = std::move(shape);
  const auto over = [&](const Expr& sum, std::int64_t by) {
    return apply(ExprOp::divide, {sum, Expr(static_cast<double>(by))});
  };
  if (op == Reduction::var || op == Reduction::std) {
    const Expr centre = reduce(Reduction::mean, Expr(in), axes, true);
    in = apply(ExprOp::square, {apply(ExprOp::subtract, {Expr(in), centre})}).node();
  }
  out->weight = in->weight + 1;
  out->device = in->device;
  out->inputs = {std::move(in)};
  expr::enlist(*out);
  Expr sum(std::move(out));
  if (!counted) return sum;
  if (op == Reduction::mean) return over(sum, count);
  Expr variance = over(sum, std::max<std::int64_t>(count - ddof, 0));
  return op == Reduction::var ? variance : apply(ExprOp::sqrt, {variance});
}

void check_writable(const Tensor& tensor) {
  if (tensor.read_only()) {
    throw InvalidArgument("tensor " + text_of(tensor.shape()) +
                          " is read-only, as the memory that it shares is: copy() it");
  }
}
void before_write(const Tensor& tensor) {
  check_writable(tensor);
  before_sharing(tensor);
}

}  // namespace nervanagpu
