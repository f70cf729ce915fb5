#include "src/fuse/program.h"

#include <algorithm>

#include "src/expr/pending.h"
#include "src/expr/promote.h"
#include "src/tensor/shape.h"

namespace nervanagpu::fuse {
namespace {

using expr::Node;
using expr::same_view;

class Lister {
 public:
  explicit Lister(Program& p) : p_(p) {}

  // dropped: seen in a shape without the reduced axes.
  std::int16_t add(const Node& n, bool dropped = false) {
    for (const Seen& s : seen_) {
      if (s.node == &n && s.dropped == dropped) return s.index;
    }
    Value v;
    v.op = n.op;
    v.dtype = v.from = n.dtype;
    if (n.op == ExprOp::tensor) {
      v.leaf = tensor(n.tensor, dropped);
    } else if (n.op == ExprOp::scalar) {
      v.leaf = number({n.bits, n.dtype});
    } else if (n.op == ExprOp::random) {
      const Shape& shape = n.open ? p_.shape : n.shape;
      const Tensor index =
          Tensor::wrap(kIndexBase + 4 * (n.offset % kMostCounter), shape, row_major_strides(shape), Dtype::uint8);
      Value seed;
      seed.op = ExprOp::scalar;
      seed.dtype = seed.from = Dtype::uint64;
      seed.leaf = number({n.bits, Dtype::uint64});
      v.in[0] = insert(seed);
      if (const std::uint64_t far = n.offset / kMostCounter; far != 0) {
        Value high = seed;
        high.dtype = high.from = Dtype::uint32;
        high.leaf = number({far * (kMostCounter >> 32), Dtype::uint32});
        v.in[1] = insert(high);
      }
      v.leaf = counter(index, v, dropped);
    } else if (n.op == ExprOp::index && n.shape[0] == 1) {
      v.op = ExprOp::scalar;
      v.leaf = number({0, n.dtype});
    } else if (n.op == ExprOp::index) {
      // Of another dtype than the counters of random numbers, which thereby are other leaves.
      v.leaf = tensor(Tensor::wrap(kIndexBase, n.shape, {1}, Dtype::int8), dropped);
    } else {
      for (std::size_t i = 0; i < n.inputs.size(); ++i) v.in[i] = add(*n.inputs[i], dropped && n.op != ExprOp::reduce);
      if (!n.inputs.empty()) v.from = n.inputs.back()->dtype;
      if (n.op == ExprOp::stochastic_round) v.from = n.inputs.front()->dtype;
    }
    if (n.op == ExprOp::gather) v.leaf = tensor(n.tensor, false);
    if (n.op == ExprOp::stochastic_round) v.extra = static_cast<std::int32_t>(n.bits);
    if (n.op == ExprOp::reduce) {
      v.reduction = n.reduction;
      v.extra = n.ddof;
    }
    const std::int16_t index = insert(v);
    seen_.push_back({&n, dropped, index});
    return index;
  }

 private:
  std::int16_t insert(const Value& v) {
    const auto same = std::find(p_.values.begin(), p_.values.end(), v);
    const auto index = static_cast<std::int16_t>(same - p_.values.begin());
    if (same == p_.values.end()) p_.values.push_back(v);
    return index;
  }
  std::int16_t tensor(const Tensor& t, bool dropped) {
    for (std::size_t i = 0; i < p_.tensors.size(); ++i) {
      if (same_view(p_.tensors[i], t) && p_.row_leaf[i] == dropped) return static_cast<std::int16_t>(i);
    }
    return append(t, dropped);
  }
  std::int16_t append(const Tensor& t, bool dropped) {
    p_.tensors.push_back(t);
    p_.row_leaf.push_back(dropped);
    return static_cast<std::int16_t>(p_.tensors.size() - 1);
  }
  // One leaf for each seed: what stands in it are the words.
  std::int16_t counter(const Tensor& index, const Value& random, bool dropped) {
    for (const Value& v : p_.values) {
      if (v.op != ExprOp::random || v.in[0] != random.in[0] || v.in[1] != random.in[1]) continue;
      const auto leaf = static_cast<std::size_t>(v.leaf);
      if (same_view(p_.tensors[leaf], index) && p_.row_leaf[leaf] == dropped) return v.leaf;
    }
    return append(index, dropped);
  }
  std::int16_t number(const Number& n) {
    const auto same = std::ranges::find(p_.numbers, n);
    const auto index = static_cast<std::int16_t>(same - p_.numbers.begin());
    if (same == p_.numbers.end()) p_.numbers.push_back(n);
    return index;
  }

  Program& p_;
  struct Seen {
    const Node* node;
    bool dropped;
    std::int16_t index;
  };
  std::vector<Seen> seen_;
};

}  // namespace

bool is_long(ExprOp op) {
  switch (op) {
    case ExprOp::floor_divide:
    case ExprOp::remainder:
    case ExprOp::fmod: return true;
    case ExprOp::copysign: return false;
    default: return expr::rule_of(op) == expr::Rule::real;
  }
}

bool is_one_pass(const Program& p) {
  std::vector<bool> behind(p.values.size(), false);
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    const Value& v = p.values[i];
    for (const std::int16_t in : v.in) behind[i] = behind[i] || (in >= 0 && behind[static_cast<std::size_t>(in)]);
    if (v.op == ExprOp::reduce && behind[i]) return false;
    behind[i] = behind[i] || v.op == ExprOp::reduce;
  }
  return std::ranges::all_of(p.outputs, [&](const Output& o) {
    const auto v = static_cast<std::size_t>(o.value);
    return p.values[v].reduced || !behind[v];
  });
}

Program program_of(const std::vector<Target>& targets, const Shape& shape) {
  Program p;
  p.shape = shape;
  Lister lister(p);
  for (const Target& t : targets) {
    const std::int16_t value = lister.add(*t.node);
    p.outputs.push_back({value, t.to, t.at == nullptr ? std::int16_t{-1} : lister.add(*t.at), t.how});
  }
  return p;
}

Program row_program_of(const std::vector<Target>& targets, const Shape& shape, const std::vector<int>& axes,
                       bool dropped) {
  Program p;
  p.shape = shape;
  p.axes = axes;
  Lister lister(p);
  for (const Target& t : targets) p.outputs.push_back({lister.add(*t.node, dropped), t.to});
  for (Value& v : p.values) {
    if (v.op == ExprOp::tensor || v.op == ExprOp::index) {
      const Tensor& t = p.tensors[static_cast<std::size_t>(v.leaf)];
      const std::size_t skip = shape.size() - t.shape().size();
      v.reduced = p.row_leaf[static_cast<std::size_t>(v.leaf)] || std::ranges::all_of(axes, [&](int a) {
                    const auto i = static_cast<std::size_t>(a);
                    return i < skip || t.shape()[i - skip] == 1;
                  });
    } else {
      v.reduced = v.op == ExprOp::reduce || std::ranges::all_of(v.in, [&](std::int16_t in) {
                    return in < 0 || p.values[static_cast<std::size_t>(in)].reduced;
                  });
    }
  }
  return p;
}

void append_key(std::string& key, const Program& p) {
  const auto put = [&](std::int64_t n) { key.push_back(static_cast<char>(n)); };
  for (const Value& v : p.values) {
    put(static_cast<int>(v.op));
    put(static_cast<int>(v.dtype));
    put(static_cast<int>(v.from));
    put(static_cast<int>(v.reduction));
    for (const std::int16_t in : v.in) {
      put(in);
      put(in >> 8);
    }
    put(v.leaf);
    put(v.reduced ? 1 : 0);
    put(v.extra);
  }
  put(-1);
  for (const Number& n : p.numbers) put(static_cast<int>(n.dtype));
  put(-1);
  for (const Output& o : p.outputs) {
    put(o.value);
    put(o.value >> 8);
    put(o.at);
    put(static_cast<int>(o.how));
  }
}

}  // namespace nervanagpu::fuse
