#include "src/fuse/program.h"

#include <algorithm>

namespace nervanagpu::fuse {
namespace {

using expr::Node;

class Lister {
 public:
  explicit Lister(Program& p) : p_(p) {}

  std::int16_t add(const Node& n) {
    for (const auto& [node, index] : seen_) {
      if (node == &n) return index;
    }
    Value v;
    v.op = n.op;
    v.dtype = v.from = n.dtype;
    if (n.op == ExprOp::tensor) {
      v.leaf = tensor(n.tensor);
    } else if (n.op == ExprOp::scalar) {
      v.leaf = number({n.bits, n.dtype});
    } else {
      for (std::size_t i = 0; i < n.inputs.size(); ++i) v.in[i] = add(*n.inputs[i]);
      v.from = n.inputs.back()->dtype;
    }
    if (n.op == ExprOp::reduce) {
      v.reduction = n.reduction;
      v.extra = n.ddof;
    }
    const auto same = std::find(p_.values.begin(), p_.values.end(), v);
    const auto index = static_cast<std::int16_t>(same - p_.values.begin());
    if (same == p_.values.end()) p_.values.push_back(v);
    seen_.emplace_back(&n, index);
    return index;
  }

 private:
  std::int16_t tensor(const Tensor& t) {
    const auto same = std::ranges::find_if(p_.tensors, [&](const Tensor& o) {
      return o.address() == t.address() && o.dtype() == t.dtype() && o.shape() == t.shape() &&
             o.strides() == t.strides();
    });
    const auto index = static_cast<std::int16_t>(same - p_.tensors.begin());
    if (same == p_.tensors.end()) p_.tensors.push_back(t);
    return index;
  }
  std::int16_t number(const Number& n) {
    const auto same = std::ranges::find(p_.numbers, n);
    const auto index = static_cast<std::int16_t>(same - p_.numbers.begin());
    if (same == p_.numbers.end()) p_.numbers.push_back(n);
    return index;
  }

  Program& p_;
  std::vector<std::pair<const Node*, std::int16_t>> seen_;
};

}  // namespace

Program program_of(const std::vector<Target>& targets, const Shape& shape) {
  Program p;
  p.shape = shape;
  Lister lister(p);
  for (const Target& t : targets) p.outputs.push_back({lister.add(*t.node), t.to});
  return p;
}

void append_key(std::string& key, const Program& p) {
  const auto put = [&](std::int64_t n) { key.push_back(static_cast<char>(n)); };
  for (const Value& v : p.values) {
    put(static_cast<int>(v.op));
    put(static_cast<int>(v.dtype));
    put(static_cast<int>(v.from));
    put(static_cast<int>(v.reduction));
    for (const std::int16_t in : v.in) put(in);
    put(v.leaf);
    put(v.reduced ? 1 : 0);
    put(v.extra);
  }
  put(-1);
  for (const Number& n : p.numbers) put(static_cast<int>(n.dtype));
  put(-1);
  for (const Output& o : p.outputs) put(o.value);
}

}  // namespace nervanagpu::fuse
