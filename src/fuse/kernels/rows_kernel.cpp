// A group of threads takes a row: a warp a short one, a CTA a long one. Thread t has the items t, t + group, ...; an item is
// `lanes` elements side by side.
//
//   for row = first; row < rows; row += step
//     load the row's items into registers                   (held > 0; else every pass reads them again)
//                      what long functions give for them stays in registers, too, if a later pass needs it
//     pass 1 .. depth: operands of the reductions that need no other ones of this depth, accumulated a lane each;
//                      then lanes, warp (butterfly), CTA (shared memory): every thread has the results
//     results along the row, item by item; results of the row by one thread
//
// Sums have an order that depends on the row's length only.
#include "src/fuse/kernels/rows_kernel.h"

#include <algorithm>

#include "src/fuse/kernels/reduce.h"

namespace nervanagpu::fuse {
namespace {

using sass::kAlways;
using sass::kZero;
using sass::ParamType;
using sass::VLabel;

constexpr unsigned kUnroll = 4;  // items of a thread in flight, where the row is not held

class Maker {
 public:
  Maker(const Program& p, const RowPlan& f, sass::Arch arch)
      : p_(p), f_(f), b_(arch, "fused_rows"), depth_(reductions_behind(p)) {}

  sass::Result<sass::KernelImage> make() {
    b_.threads(f_.threads);
    b_.programmatic();
    b_.most_registers(std::min(255U, 65536U / f_.threads));
    declare();
    Evaluator values(b_, p_, operands_);
    values_ = &values;
    values.declare_numbers();
    tid_ = b_.reg();
    const VReg cta = b_.reg(), row = b_.reg();
    b_.emit(Op::S2R, {}, {tid_, sass::special(kTidX)});
    b_.emit(Op::S2R, {}, {cta, sass::special(kCtaidX)});
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      if (operands_[k].access != Access::uniform) sizes_.of(static_cast<unsigned>(size_of(operands_[k].dtype)));
    }
    t_ = tid_;
    b_.emit(Op::MOV, {}, {row, cta});
    if (warp()) {
      const VReg w = b_.reg();
      t_ = b_.reg();
      b_.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {w, kZero, 5, tid_});
      b_.emit(Op::LOP3, {Tok::LUT}, {t_, tid_, 31, kZero, 0xc0, !kAlways});
      b_.emit(Op::IMAD, {}, {row, cta, std::int64_t{f_.threads / 32}, w});
    }
    // As in elementwise kernels: a warp without a row must not read the one element that may be the result as well.
    if (std::ranges::any_of(operands_, [](const Operand& o) { return o.access == Access::uniform; })) {
      const VPred none = b_.pred();
      b_.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {none, kAlways, row, rows_, kAlways});
      b_.emit(Op::EXIT, {}, {}, none);
    }
    values.compute_uniform();
    if (f_.ahead) ask_ahead(row);
    const VLabel next = b_.label();
    const VPred over = b_.pred();
    b_.bind(next);
    b_.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {over, kAlways, row, rows_, kAlways});
    b_.emit(Op::EXIT, {}, {}, over);
    one_row(row);
    if (shared_ > 0) b_.emit(Op::BAR, {Tok::SYNC, Tok::DEFER_BLOCKING}, {0});
    b_.emit(Op::IADD3, {}, {row, row, step_, kZero});
    b_.emit(Op::BRA, {}, {next});
    b_.shared_bytes(shared_);
    return b_.finish();
  }

 private:
  [[nodiscard]] bool warp() const { return f_.group == 32; }

  // In the order in which launch() gives them.
  void declare() {
    rows_ = b_.param("rows", ParamType::u32);
    step_ = b_.param("step", ParamType::u32);
    items_ = b_.param("items", ParamType::u32);
    if (f_.ahead) ahead_ = b_.param("ahead", ParamType::u32);
    division_ = declare_divisions(b_, f_.rank - 1);
    strides_.resize(f_.access.size());
    inner_.resize(f_.access.size());
    for (std::size_t k = 0; k < f_.access.size(); ++k) {
      if (f_.access[k] == Access::uniform) continue;
      strides_[k] = declare_strides(b_, k, f_.rank);
      if (f_.access[k] == Access::strided) inner_[k] = b_.param("inner" + std::to_string(k), ParamType::u32);
    }
    operands_ = declare_operands(b_, p_, f_.access);
  }

  // The address of this thread's first item, or of the row's element, in each operand.
  void find_addresses(VReg row) {
    const std::vector<VReg> x = coordinates(b_, division_, row);
    address_.assign(operands_.size(), {});
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const Operand& o = operands_[k];
      if (o.access == Access::uniform) continue;
      VReg offset = offset_of(b_, x, strides_[k]);
      if (o.access != Access::splat) {
        const VReg sum = b_.reg();
        if (o.access == Access::dense) {
          b_.emit(Op::IMAD, {}, {sum, t_, std::int64_t{f_.lanes}, offset});
        } else {
          b_.emit(Op::IMAD, {}, {sum, t_, inner_[k], offset});
        }
        offset = sum;
      }
      address_[k] = b_.reg(2);
      b_.emit(Op::IMAD_WIDE, {}, {address_[k], offset, sizes_.of(static_cast<unsigned>(size_of(o.dtype))), o.pointer});
    }
  }

  // The row so many rows after this one comes to the L2, a thread a line: the CTA that takes it is going to start soon.
  void ask_ahead(VReg row) {
    constexpr std::int64_t kLine = 128;
    const VReg wanted = b_.reg();
    const VPred there = b_.pred();
    b_.emit(Op::IADD3, {}, {wanted, row, ahead_, kZero});
    b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {there, kAlways, wanted, rows_, kAlways});
    const std::vector<VReg> x = coordinates(b_, division_, wanted);
    for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
      if (operands_[k].access != Access::dense || counts(p_.tensors[k])) continue;
      const auto size = static_cast<std::int64_t>(size_of(operands_[k].dtype));
      const std::int64_t items = kLine / (f_.lanes * size);  // of a line
      const VReg first = b_.reg(), p = b_.reg(2);
      b_.emit(Op::IMAD, {}, {first, t_, kLine / size, offset_of(b_, x, strides_[k])});
      b_.emit(Op::IMAD_WIDE, {}, {p, first, sizes_.of(static_cast<unsigned>(size)), operands_[k].pointer});
      for (std::int64_t u = 0; u * f_.threads * items < std::int64_t{f_.held} * f_.threads; ++u) {
        const VReg item = b_.reg();
        const VPred inside = b_.pred();
        b_.emit(Op::IADD3, {}, {item, t_, u * f_.threads, kZero});
        b_.emit(Op::IMAD, {}, {item, item, items, kZero});
        b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {inside, kAlways, item, items_, there});
        b_.prefetch(p, u * f_.threads * kLine, inside);
      }
    }
  }

  // Where item `u` (in groups of threads) of operand k stands: an address and a constant after it.
  struct Place {
    VReg p;
    std::int64_t offset = 0;
  };
  Place place(std::size_t k, unsigned u) {
    const auto size = static_cast<std::int64_t>(size_of(operands_[k].dtype));
    if (operands_[k].access == Access::dense) return {address_[k], std::int64_t{u} * f_.group * f_.lanes * size};
    if (u == 0) return {address_[k], 0};
    const VReg stride = b_.reg(), p = b_.reg(2);
    b_.emit(Op::MOV, {}, {stride, inner_[k]});
    b_.emit(Op::IMAD_WIDE, {}, {p, stride, std::int64_t{u} * f_.group * size, address_[k]});
    return {p, 0};
  }

  // Whether item u of those after `first` exists.
  VPred exists(VReg first, unsigned u) {
    if (f_.exact) return kAlways;
    const VReg i = b_.reg();
    const VPred p = b_.pred();
    b_.emit(Op::IADD3, {}, {i, first, std::int64_t{u * f_.group}, kZero});
    b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {p, kAlways, i, items_, kAlways});
    return p;
  }

  [[nodiscard]] bool along(std::size_t k) const {
    return operands_[k].access == Access::dense || operands_[k].access == Access::strided;
  }

  Lanes load_item(std::size_t k, unsigned u, VPred there) {
    const Place at = place(k, u);
    return load(b_, operands_[k].dtype, f_.lanes, at.p, at.offset, there);
  }

  // What values of `targets` need and is different along the row.
  [[nodiscard]] std::vector<bool> closure(const std::vector<std::size_t>& targets) const {
    return needed_for(p_, targets, [&](std::size_t i) { return known(i); });
  }
  // The same for all of the row, or kept from a pass before.
  [[nodiscard]] bool known(std::size_t i) const {
    return is_kept_[i] || p_.values[i].reduced || values_->uniform(static_cast<std::int16_t>(i));
  }

  // The lanes of an item, with what the row has for all of them.
  Evaluator::Table table() const {
    Evaluator::Table t(p_.values.size());
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      if (values_->uniform(static_cast<std::int16_t>(i))) {
        t[i] = values_->uniform_lanes(static_cast<std::int16_t>(i), f_.lanes);
      } else if (p_.values[i].reduced) {
        for (unsigned j = 0; j < f_.lanes; ++j) t[i][j] = row_value_[i][0];
      }
    }
    return t;
  }

  // Calls body(table, which item exists, place of an item of operand k) for the row's items, `wanted` computed.
  template <class F>
  void each_item(const std::vector<bool>& wanted, const F& body) {
    const auto do_item = [&](unsigned u, VPred there, const std::vector<Lanes>& raw) {
      std::vector<Lanes> loaded(p_.tensors.size());
      for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
        if (!along(k) || !uses(wanted, k)) continue;
        if (counts(p_.tensors[k])) {
          const Place at = place(k, u);
          loaded[k] = count_up(b_, f_.lanes, at.p, at.offset);
        } else {
          loaded[k] = Emit(b_, f_.lanes).unpack(operands_[k].dtype, raw[k]);
        }
      }
      Evaluator::Table t = table();
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (is_kept_[i]) t[i] = kept_[u][i];
      }
      values_->compute(f_.lanes, loaded, t, &wanted);
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (wanted[i] && keeps(i)) kept_[u][i] = t[i];
      }
      body(t, u, there);
    };
    if (f_.held > 0) {
      for (unsigned u = 0; u < f_.held; ++u) do_item(u, exists(t_, u), held_[u]);
      for (std::size_t i = 0; i < wanted.size(); ++i) is_kept_[i] = is_kept_[i] || (wanted[i] && keeps(i));
      return;
    }
    const std::vector<VReg> start = address_;
    const VReg done = b_.reg(), first = b_.reg();
    b_.emit(Op::MOV, {}, {done, kZero});
    b_.emit(Op::MOV, {}, {first, t_});
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      if (!along(k)) continue;
      address_[k] = b_.reg(2);
      for (unsigned w = 0; w < 2; ++w) b_.emit(Op::MOV, {}, {address_[k][w], start[k][w]});
    }
    const VLabel again = b_.label();
    b_.bind(again);
    std::vector<std::vector<Lanes>> raw(kUnroll, std::vector<Lanes>(p_.tensors.size()));
    std::vector<VPred> there;
    for (unsigned u = 0; u < kUnroll; ++u) {
      there.push_back(exists(first, u));
      for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
        if (along(k) && uses(wanted, k) && !counts(p_.tensors[k])) raw[u][k] = load_item(k, u, there[u]);
      }
    }
    for (unsigned u = 0; u < kUnroll; ++u) do_item(u, there[u], raw[u]);
    const std::int64_t step = std::int64_t{kUnroll} * f_.group;
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      if (!along(k)) continue;
      const VReg by = b_.reg();
      const auto size = static_cast<std::int64_t>(size_of(operands_[k].dtype));
      if (operands_[k].access == Access::dense) {
        b_.emit(Op::MOV, {}, {by, step * f_.lanes * size});
        b_.emit(Op::IMAD_WIDE, {}, {address_[k], by, 1, address_[k]});
      } else {
        b_.emit(Op::MOV, {}, {by, inner_[k]});
        b_.emit(Op::IMAD_WIDE, {}, {address_[k], by, step * size, address_[k]});
      }
    }
    const VPred more = b_.pred();
    b_.emit(Op::IADD3, {}, {first, first, step, kZero});
    b_.emit(Op::IADD3, {}, {done, done, step, kZero});
    b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {more, kAlways, done, items_, kAlways});
    b_.emit(Op::BRA, {}, {again}, more);
    address_ = start;
  }
  [[nodiscard]] bool uses(const std::vector<bool>& wanted, std::size_t tensor) const {
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      const Value& v = p_.values[i];
      const bool leaf = v.op == ExprOp::tensor || v.op == ExprOp::index;
      if (wanted[i] && leaf && v.leaf == static_cast<std::int16_t>(tensor)) return true;
    }
    return false;
  }

  // Values of the row that reductions of `depth` have made possible.
  void row_values(unsigned depth) {
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      const Value& v = p_.values[i];
      if (!v.reduced || depth_[i] != depth || v.op == ExprOp::reduce) continue;
      if (values_->uniform(static_cast<std::int16_t>(i))) {
        row_value_[i] = values_->uniform_lanes(static_cast<std::int16_t>(i), 1);
        continue;
      }
      values_->compute_one(i, 1, row_leaf_, row_value_);
      values_->found(i, row_value_[i][0]);
    }
  }

  void one_row(VReg row) {
    find_addresses(row);
    row_value_.assign(p_.values.size(), {});
    row_leaf_.assign(p_.tensors.size(), {});
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      if (values_->uniform(static_cast<std::int16_t>(i)))
        row_value_[i] = values_->uniform_lanes(static_cast<std::int16_t>(i), 1);
    }
    for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
      if (operands_[k].access != Access::splat) continue;
      row_leaf_[k] = counts(p_.tensors[k])
                         ? count_up(b_, 1, address_[k], 0)
                         : Emit(b_, 1).unpack(operands_[k].dtype, load(b_, operands_[k].dtype, 1, address_[k], 0));
    }
    held_.assign(f_.held, std::vector<Lanes>(p_.tensors.size()));
    for (unsigned u = 0; u < f_.held; ++u) {
      const VPred there = exists(t_, u);
      for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
        if (along(k) && !counts(p_.tensors[k])) held_[u][k] = load_item(k, u, there);
      }
    }
    kept_.assign(f_.held, Evaluator::Table(p_.values.size()));
    is_kept_.assign(p_.values.size(), false);
    find_last_uses();
    row_values(0);
    shared_ = 0;
    for (unsigned d = 1; d <= deepest_; ++d) {
      pass(d);
      row_values(d);
    }
    results();
  }

  // Whether a pass after the one of `pass_` needs what value i is for the row's items. Pass `deepest_` + 1: the results.
  [[nodiscard]] bool keeps(std::size_t i) const {
    return f_.keep && f_.held > 0 && is_long(p_.values[i].op) && last_use_[i] > pass_;
  }
  void find_last_uses() {
    last_use_.assign(p_.values.size(), 0);
    for (pass_ = 1; pass_ <= deepest_ + 1; ++pass_) {
      std::vector<std::size_t> targets;
      for (std::size_t i = 0; i < p_.values.size(); ++i) {
        if (p_.values[i].op == ExprOp::reduce && depth_[i] == pass_)
          targets.push_back(static_cast<std::size_t>(p_.values[i].in[0]));
      }
      for (const Output& o : p_.outputs) {
        if (pass_ > deepest_ && operands_[output(o)].access != Access::splat)
          targets.push_back(static_cast<std::size_t>(o.value));
      }
      const std::vector<bool> needed = closure(targets);
      for (std::size_t i = 0; i < needed.size(); ++i) {
        if (needed[i]) last_use_[i] = pass_;
      }
    }
  }

  void pass(unsigned depth) {
    pass_ = depth;
    std::vector<std::size_t> reductions, inputs;
    std::vector<Lanes> sums;
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      const Value& v = p_.values[i];
      if (v.op != ExprOp::reduce || depth_[i] != depth) continue;
      reductions.push_back(i);
      inputs.push_back(static_cast<std::size_t>(v.in[0]));
      Lanes l;
      for (unsigned j = 0; j < f_.lanes; ++j) l[j] = Reducer(b_, v.reduction, v.from).identity();
      sums.push_back(l);
    }
    each_item(closure(inputs), [&](const Evaluator::Table& t, unsigned, VPred there) {
      for (std::size_t r = 0; r < reductions.size(); ++r) {
        const Value& v = p_.values[reductions[r]];
        for (unsigned j = 0; j < f_.lanes; ++j)
          Reducer(b_, v.reduction, v.from).combine(sums[r][j], t[inputs[r]][j], there);
      }
    });
    for (std::size_t r = 0; r < reductions.size(); ++r) {
      const Value& v = p_.values[reductions[r]];
      Reducer reducer(b_, v.reduction, v.from);
      for (unsigned apart = f_.lanes / 2; apart > 0; apart /= 2) {
        for (unsigned j = 0; j < apart; ++j) reducer.combine(sums[r][j], sums[r][j + apart]);
      }
      reducer.over_lanes(sums[r][0]);
      if (!warp()) {
        const unsigned warps = f_.threads / 32;
        reducer.over_warps(sums[r][0], tid_, warps, sass::info(b_.arch()).shared_base + shared_);
        shared_ += 8 * warps;
      }
      row_value_[reductions[r]][0] = sums[r][0];
      values_->found(reductions[r], sums[r][0]);
    }
  }

  void results() {
    pass_ = deepest_ + 1;
    std::vector<std::size_t> full;
    for (const Output& o : p_.outputs) {
      const auto i = static_cast<std::size_t>(o.value);
      if (operands_[output(o)].access != Access::splat) full.push_back(i);
    }
    if (!full.empty()) {
      each_item(closure(full), [&](const Evaluator::Table& t, unsigned u, VPred there) {
        for (const Output& o : p_.outputs) {
          const std::size_t k = output(o);
          if (operands_[k].access == Access::splat) continue;
          const Place at = place(k, u);
          store(b_, operands_[k].dtype, f_.lanes, at.p, at.offset, t[static_cast<std::size_t>(o.value)], there);
        }
      });
    }
    for (const Output& o : p_.outputs) {
      const std::size_t k = output(o);
      if (operands_[k].access != Access::splat) continue;
      const VPred first = b_.pred();
      b_.emit(Op::ISETP, {Tok::EQ, Tok::U32, Tok::AND}, {first, kAlways, t_, kZero, kAlways});
      store(b_, operands_[k].dtype, 1, address_[k], 0, row_value_[static_cast<std::size_t>(o.value)], first);
    }
  }
  [[nodiscard]] std::size_t output(const Output& o) const {
    return p_.tensors.size() + static_cast<std::size_t>(&o - p_.outputs.data());
  }

  const Program& p_;
  const RowPlan& f_;
  Builder b_;
  Evaluator* values_ = nullptr;
  Arg rows_, step_, items_, ahead_;
  std::vector<Division> division_;
  std::vector<std::vector<Arg>> strides_;  // of each operand from row to row, innermost axis first
  std::vector<Arg> inner_;                 // and along the row
  std::vector<Operand> operands_;
  ItemSizes sizes_{b_};
  std::vector<unsigned> depth_;  // reductions after each value
  unsigned deepest_ = *std::ranges::max_element(depth_);
  VReg tid_, t_;
  std::vector<VReg> address_;
  std::vector<std::vector<Lanes>> held_;  // of item u, tensor k: as in memory
  std::vector<Evaluator::Table> kept_;    // of item u, value i
  std::vector<bool> is_kept_;
  unsigned pass_ = 0;
  std::vector<unsigned> last_use_;  // of each value for the row's items: a pass
  std::vector<Lanes> row_leaf_;
  Evaluator::Table row_value_;  // one lane
  std::uint32_t shared_ = 0;
};

}  // namespace

sass::Result<sass::KernelImage> make_rows(const Program& p, const RowPlan& plan, sass::Arch arch) {
  return Maker(p, plan, arch).make();
}

}  // namespace nervanagpu::fuse
