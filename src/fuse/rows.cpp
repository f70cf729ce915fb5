// A group of threads takes a row: a warp a short one, a CTA a long one. Thread t has the items t, t + group, ...; an item is
// `lanes` elements side by side.
//
//   for row = first; row < rows; row += step
//     load the row's items into registers                   (held > 0; else every pass reads them again)
//     pass 1 .. depth: operands of the reductions that need no other ones of this depth, accumulated a lane each;
//                      then lanes, warp (butterfly), CTA (shared memory): every thread has the results
//     results along the row, item by item; results of the row by one thread
//
// Sums have an order that depends on the row's length only.
#include "src/fuse/rows.h"

#include <algorithm>

#include "nervanagpu/error.hpp"
#include "src/fuse/columns.h"
#include "src/fuse/kernel.h"
#include "src/fuse/reduce.h"
#include "src/fuse/values.h"
#include "src/magic.h"
#include "src/select_device.h"

namespace nervanagpu::fuse {
namespace {

using sass::kAlways;
using sass::kZero;
using sass::ParamType;
using sass::VLabel;

constexpr unsigned kUnroll = 4;  // items of a thread in flight, where the row is not held
constexpr std::int64_t kMostOffset = (std::int64_t{1} << 31) - 1;

struct Plan {
  unsigned threads = 256;
  unsigned group = 256;  // threads of a row: 32 or all
  unsigned lanes = 1;
  unsigned held = 0;           // items of a thread in registers
  bool exact = false;          // every thread has exactly `held` items
  std::size_t rank = 1;        // axes of rows
  std::vector<Access> access;  // splat: one element a row
};

class Maker {
 public:
  Maker(const Program& p, const Plan& f, sass::Arch arch)
      : p_(p), f_(f), b_(arch, "fused_rows"), depth_(p.values.size()) {}

  sass::Result<sass::KernelImage> make() {
    b_.threads(f_.threads);
    b_.most_registers(std::min(255U, 65536U / f_.threads));
    declare();
    find_depths();
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
    values.compute_uniform();
    t_ = tid_;
    b_.emit(Op::MOV, {}, {row, cta});
    if (warp()) {
      const VReg w = b_.reg();
      t_ = b_.reg();
      b_.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {w, kZero, 5, tid_});
      b_.emit(Op::LOP3, {Tok::LUT}, {t_, tid_, 31, kZero, 0xc0, !kAlways});
      b_.emit(Op::IMAD, {}, {row, cta, std::int64_t{f_.threads / 32}, w});
    }
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

  void find_depths() {
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      for (const std::int16_t in : p_.values[i].in) {
        if (in >= 0) depth_[i] = std::max(depth_[i], depth_[static_cast<std::size_t>(in)]);
      }
      if (p_.values[i].op == ExprOp::reduce) ++depth_[i];
      deepest_ = std::max(deepest_, depth_[i]);
    }
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

  // Where item `u` (in groups of threads) of operand k stands: an address and a constant behind it.
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

  // Whether item u of those behind `first` exists.
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
    std::vector<bool> out(p_.values.size(), false);
    for (const std::size_t t : targets) out[t] = !known(t);
    for (std::size_t i = p_.values.size(); i-- > 0;) {
      if (!out[i]) continue;
      for (const std::int16_t in : p_.values[i].in) {
        if (in >= 0 && !known(static_cast<std::size_t>(in))) out[static_cast<std::size_t>(in)] = true;
      }
    }
    return out;
  }
  [[nodiscard]] bool known(std::size_t i) const {
    return p_.values[i].reduced || values_->uniform(static_cast<std::int16_t>(i));
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
        if (along(k) && uses(wanted, k)) loaded[k] = Emit(b_, f_.lanes).unpack(operands_[k].dtype, raw[k]);
      }
      Evaluator::Table t = table();
      values_->compute(f_.lanes, loaded, t, &wanted);
      body(t, u, there);
    };
    if (f_.held > 0) {
      for (unsigned u = 0; u < f_.held; ++u) do_item(u, exists(t_, u), held_[u]);
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
        if (along(k) && uses(wanted, k)) raw[u][k] = load_item(k, u, there[u]);
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
      if (wanted[i] && v.op == ExprOp::tensor && v.leaf == static_cast<std::int16_t>(tensor)) return true;
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
      row_leaf_[k] = Emit(b_, 1).unpack(operands_[k].dtype, load(b_, operands_[k].dtype, 1, address_[k], 0));
    }
    held_.assign(f_.held, std::vector<Lanes>(p_.tensors.size()));
    for (unsigned u = 0; u < f_.held; ++u) {
      const VPred there = exists(t_, u);
      for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
        if (along(k)) held_[u][k] = load_item(k, u, there);
      }
    }
    row_values(0);
    shared_ = 0;
    for (unsigned d = 1; d <= deepest_; ++d) {
      pass(d);
      row_values(d);
    }
    results();
  }

  void pass(unsigned depth) {
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
    }
  }

  void results() {
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
  const Plan& f_;
  Builder b_;
  Evaluator* values_ = nullptr;
  Arg rows_, step_, items_;
  std::vector<Division> division_;
  std::vector<std::vector<Arg>> strides_;  // of each operand from row to row, innermost axis first
  std::vector<Arg> inner_;                 // and along the row
  std::vector<Operand> operands_;
  ItemSizes sizes_{b_};
  std::vector<unsigned> depth_;  // reductions behind each value
  unsigned deepest_ = 0;
  VReg tid_, t_;
  std::vector<VReg> address_;
  std::vector<std::vector<Lanes>> held_;  // of item u, tensor k: as in memory
  std::vector<Lanes> row_leaf_;
  Evaluator::Table row_value_;  // one lane
  std::uint32_t shared_ = 0;
};

class Run {
 public:
  Run(const Program& p, const Layout& layout, std::vector<Dtype> dtypes, std::vector<std::uint64_t> address)
      : p_(p), layout_(layout), dtypes_(std::move(dtypes)), address_(std::move(address)) {}

  void launch() {
    Device& device = current_device();
    const Axis& inner = layout_.axes.back();
    Plan f = plan();
    const Generated* kernel = nullptr;
    while (kernel == nullptr) {
      try {
        kernel = &generated(key(f), [&] { return Maker(p_, f, device.registry().arch()).make(); });
      } catch (const Error&) {
        if (f.held == 0 && f.threads == 256) throw;  // a row that is not held takes fewer registers
        f.held = 0;
        f.exact = false;
        f.threads = f.group = 256;
      }
    }
    const std::int64_t rows = layout_.size() / inner.length;
    const std::int64_t at_once = f.group == 32 ? f.threads / 32 : 1;
    const std::int64_t most = std::int64_t{device.info().multiprocessors} * (2048 / f.threads);
    const auto ctas = static_cast<std::uint32_t>(std::clamp<std::int64_t>((rows + at_once - 1) / at_once, 1, most));
    Parameters params;
    params.u32(rows).u32(ctas * at_once).u32(inner.length / f.lanes);
    for (std::size_t d = layout_.axes.size() - 1; d-- > 1;) {
      const Magic m = magic(static_cast<std::uint32_t>(layout_.axes[d].length));
      params.u32(-layout_.axes[d].length).u32(m.mul).u32(m.shift);
    }
    for (std::size_t k = 0; k < f.access.size(); ++k) {
      if (f.access[k] == Access::uniform) continue;
      if (layout_.axes.size() == 1) params.u32(0);
      for (std::size_t d = layout_.axes.size() - 1; d-- > 0;) params.u32(layout_.axes[d].strides[k]);
      if (f.access[k] == Access::strided) params.u32(inner.strides[k]);
    }
    for (const std::uint64_t a : address_) params.u64(a);
    for (const Number& n : p_.numbers) {
      registers_of(n.dtype) == 2 ? params.u64(number_bits(n)) : params.u32(static_cast<std::int64_t>(number_bits(n)));
    }
    kernel->launch(ctas, params.bytes());
  }

 private:
  [[nodiscard]] Plan plan() const {
    Plan f;
    const Axis& inner = layout_.axes.back();
    f.rank = std::max<std::size_t>(1, layout_.axes.size() - 1);
    std::size_t widest = 1;
    unsigned along = 0;
    bool side_by_side = true;
    for (std::size_t k = 0; k < dtypes_.size(); ++k) {
      const bool output = k >= p_.tensors.size();
      const bool constant = std::ranges::all_of(layout_.axes, [&](const Axis& a) { return a.strides[k] == 0; });
      const bool of_row = output ? p_.values[static_cast<std::size_t>(p_.outputs[k - p_.tensors.size()].value)].reduced
                                 : std::ranges::any_of(p_.values, [&](const Value& v) {
                                     return v.op == ExprOp::tensor && v.leaf == static_cast<int>(k) && v.reduced;
                                   });
      f.access.push_back(constant && !output     ? Access::uniform
                         : of_row                ? Access::splat
                         : inner.strides[k] == 1 ? Access::dense
                                                 : Access::strided);
      if (f.access.back() == Access::uniform || f.access.back() == Access::splat) continue;
      widest = std::max(widest, size_of(dtypes_[k]));
      side_by_side = side_by_side && f.access.back() == Access::dense;
      if (!output) ++along;
    }
    f.lanes = side_by_side ? static_cast<unsigned>(16 / widest) : 1;
    while (f.lanes > 1 && !aligned(f)) f.lanes /= 2;
    if (!side_by_side) {
      for (Access& a : f.access) {
        if (a == Access::dense) a = Access::strided;
      }
    }
    const std::int64_t items = inner.length / f.lanes;
    const unsigned words =
        std::max<unsigned>(1, along) * std::max<unsigned>(1, static_cast<unsigned>(f.lanes * widest / 4));
    const auto most_held = static_cast<std::int64_t>(std::max(1U, std::min(16U, 32U / words)));
    const auto hold = [&](unsigned threads, unsigned group) {
      f.threads = threads;
      f.group = group;
      f.held = static_cast<unsigned>((items + group - 1) / group);
      f.exact = items % group == 0;
      // Few kernels: held rows of any length up to the next power of two share one.
      if (!f.exact) {
        unsigned up = 1;
        while (up < f.held) up *= 2;
        f.held = up;
      }
    };
    if (items <= 32 * std::min<std::int64_t>(4, most_held)) {
      hold(256, 32);
      return f;
    }
    for (const unsigned threads : {128U, 256U, 512U, 1024U}) {
      const std::int64_t most = threads == 1024 ? most_held : std::min<std::int64_t>(4, most_held);
      if (items > threads * most) continue;
      hold(threads, threads);
      return f;
    }
    f.threads = f.group = 512;
    return f;
  }

  [[nodiscard]] bool aligned(const Plan& f) const {
    if (layout_.axes.back().length % f.lanes != 0) return false;
    for (std::size_t k = 0; k < dtypes_.size(); ++k) {
      if (f.access[k] != Access::dense) continue;
      const std::uint64_t size = size_of(dtypes_[k]);
      const std::uint64_t bytes = std::min<std::uint64_t>(16, f.lanes * size);
      if (address_[k] % bytes != 0) return false;
      for (std::size_t a = 0; a + 1 < layout_.axes.size(); ++a) {
        if (static_cast<std::uint64_t>(std::abs(layout_.axes[a].strides[k])) * size % bytes != 0) return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::string key(const Plan& f) const {
    std::string out = "r";
    for (const std::size_t n : {std::size_t{f.threads / 32}, std::size_t{f.group / 32}, std::size_t{f.lanes},
                                std::size_t{f.held}, std::size_t{f.exact}, f.rank}) {
      out.push_back(static_cast<char>(n));
    }
    for (std::size_t k = 0; k < f.access.size(); ++k) {
      out.push_back(static_cast<char>(f.access[k]));
      out.push_back(static_cast<char>(dtypes_[k]));
    }
    append_key(out, p_);
    return out;
  }

  const Program& p_;
  const Layout& layout_;
  std::vector<Dtype> dtypes_;
  std::vector<std::uint64_t> address_;
};

// Halves the rows until indices and offsets have 31 bits.
void run_part(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
              const std::vector<std::uint64_t>& address) {
  bool fits = layout.size() / layout.axes.back().length <= kMostOffset / 2;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    std::int64_t low = 0, high = 0;
    for (const Axis& a : layout.axes) (a.strides[k] < 0 ? low : high) += a.strides[k] * (a.length - 1);
    fits = fits && low >= -kMostOffset && high <= kMostOffset;
  }
  const auto longest = std::ranges::max_element(layout.axes.begin(), layout.axes.end() - 1, {}, &Axis::length);
  if (fits || layout.axes.size() < 2 || longest->length == 1) {
    if (is_columns(p, layout)) return run_columns(p, layout, dtypes, address);
    return Run(p, layout, dtypes, address).launch();
  }
  Layout half = layout;
  Axis& axis = half.axes[static_cast<std::size_t>(longest - layout.axes.begin())];
  const std::int64_t done = axis.length / 2;
  axis.length = done;
  run_part(p, half, dtypes, address);
  axis.length = longest->length - done;
  std::vector<std::uint64_t> behind = address;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    behind[k] += static_cast<std::uint64_t>(axis.strides[k] * done) * size_of(dtypes[k]);
  }
  run_part(p, half, dtypes, behind);
}

}  // namespace

Walk::Walk(const Program& p) : program(p) {
  std::vector<std::vector<std::int64_t>> strides;
  const auto add = [&](const Tensor& t, bool dropped) {
    strides.push_back(row_strides(t, p.shape, p.axes, dropped));
    dtypes.push_back(t.dtype());
    address.push_back(t.address());
  };
  for (std::size_t i = 0; i < p.tensors.size(); ++i) add(p.tensors[i], p.row_leaf[i]);
  for (const Output& o : p.outputs) add(o.to, o.to.shape().size() < p.shape.size());
  layout = row_layout(p.shape, p.axes, strides, p.tensors.size());
}

std::int64_t Walk::threads() const {
  if (is_columns(program, layout)) return column_threads(program, layout, dtypes, address);
  return rows() * std::min<std::int64_t>(1024, length());
}

void Walk::run() const {
  if (layout.size() == 0) return;
  run_part(program, layout, dtypes, address);
}

Walk Walk::chunks(std::int64_t first, std::int64_t count, std::int64_t chunk, std::int64_t step) const {
  Walk out = *this;
  Axis& row = out.layout.axes.back();
  Axis many = row;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    const bool output = k >= program.tensors.size();
    many.strides[k] = output ? step : row.strides[k] * chunk;
    out.address[k] += static_cast<std::uint64_t>(many.strides[k] * first) * size_of(dtypes[k]);
  }
  many.length = count;
  row.length = std::min(chunk, length() - first * chunk);
  if (count > 1) out.layout.axes.insert(out.layout.axes.begin(), many);
  return out;
}

}  // namespace nervanagpu::fuse
