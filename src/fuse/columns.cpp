//   for i = cta * threads + tid; i < count; i += step         an item: `lanes` neighbours of the innermost axis of rows
//     for a = 0; a < length; a += kUnroll                      loads of all, then accumulation, a lane each
//     results of the item
#include "src/fuse/columns.h"

#include <algorithm>
#include <cstdlib>

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

constexpr unsigned kThreads = 128;

struct Plan {
  unsigned lanes = 1;
  unsigned unroll = 4;
  std::size_t rank = 1;
  std::vector<Access> access;  // along the innermost axis of rows
};

class Maker {
 public:
  Maker(const Program& p, const Plan& f, sass::Arch arch) : p_(p), f_(f), b_(arch, "fused_columns") {}

  sass::Result<sass::KernelImage> make() {
    b_.threads(kThreads);
    declare();
    Evaluator values(b_, p_, operands_);
    values_ = &values;
    values.declare_numbers();
    const VReg tid = b_.reg(), i = b_.reg();
    b_.emit(Op::S2R, {}, {tid, sass::special(kTidX)});
    b_.emit(Op::S2R, {}, {i, sass::special(kCtaidX)});
    b_.emit(Op::IMAD, {}, {i, i, std::int64_t{kThreads}, tid});
    values.compute_uniform();
    const VLabel next = b_.label();
    const VPred over = b_.pred();
    b_.bind(next);
    b_.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {over, kAlways, i, count_, kAlways});
    b_.emit(Op::EXIT, {}, {}, over);
    item(i);
    b_.emit(Op::IADD3, {}, {i, i, step_, kZero});
    b_.emit(Op::BRA, {}, {next});
    return b_.finish();
  }

 private:
  void declare() {
    count_ = b_.param("count", ParamType::u32);
    step_ = b_.param("step", ParamType::u32);
    length_ = b_.param("length", ParamType::u32);
    division_ = declare_divisions(b_, f_.rank - 1);
    strides_.resize(f_.access.size());
    for (std::size_t k = 0; k < f_.access.size(); ++k) {
      if (f_.access[k] == Access::uniform) continue;
      strides_[k] = declare_strides(b_, k, f_.rank);
      walk_.push_back(b_.param("walk" + std::to_string(k), ParamType::u32));  // bytes
      walk_index_.push_back(k);
    }
    operands_ = declare_operands(b_, p_, f_.access);
  }

  [[nodiscard]] bool row_leaf(std::size_t k) const {
    return std::ranges::any_of(p_.values, [&](const Value& v) {
      return v.op == ExprOp::tensor && v.leaf == static_cast<int>(k) && v.reduced;
    });
  }
  Lanes lanes_at(std::size_t k, VReg p) {
    const bool dense = operands_[k].access == Access::dense;
    return load(b_, operands_[k].dtype, dense ? f_.lanes : 1, p, 0);
  }
  Lanes unpacked(std::size_t k, const Lanes& raw) {
    const bool dense = operands_[k].access == Access::dense;
    Lanes out = Emit(b_, dense ? f_.lanes : 1).unpack(operands_[k].dtype, raw);
    for (unsigned j = 1; !dense && j < f_.lanes; ++j) out[j] = out[0];
    return out;
  }

  void item(VReg i) {
    const std::vector<VReg> x = coordinates(b_, division_, i);
    std::vector<VReg> address(operands_.size());
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      if (operands_[k].access == Access::uniform) continue;
      const VReg offset = offset_of(b_, x, strides_[k]);
      const VReg size = b_.reg();
      b_.emit(Op::MOV, {}, {size, static_cast<std::int64_t>(size_of(operands_[k].dtype))});
      address[k] = b_.reg(2);
      b_.emit(Op::IMAD_WIDE, {}, {address[k], offset, size, operands_[k].pointer});
    }
    Evaluator::Table row(p_.values.size());
    std::vector<Lanes> row_leaves(p_.tensors.size());
    for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
      if (operands_[k].access != Access::uniform && row_leaf(k)) row_leaves[k] = unpacked(k, lanes_at(k, address[k]));
    }
    const auto row_values = [&](bool behind) {
      for (std::size_t v = 0; v < p_.values.size(); ++v) {
        if (!known(v) || p_.values[v].op == ExprOp::reduce || depends(v) != behind) continue;
        values_->compute_one(v, f_.lanes, row_leaves, row);
      }
    };
    row_values(false);

    std::vector<std::size_t> reductions;
    std::vector<bool> wanted(p_.values.size(), false);
    for (std::size_t v = 0; v < p_.values.size(); ++v) {
      if (p_.values[v].op != ExprOp::reduce) continue;
      reductions.push_back(v);
      const auto in = static_cast<std::size_t>(p_.values[v].in[0]);
      wanted[in] = !known(in);
      for (unsigned j = 0; j < f_.lanes; ++j)
        row[v][j] = Reducer(b_, p_.values[v].reduction, p_.values[v].from).identity();
    }
    for (std::size_t v = p_.values.size(); v-- > 0;) {
      for (const std::int16_t in : p_.values[v].in) {
        if (wanted[v] && in >= 0 && !known(static_cast<std::size_t>(in))) wanted[static_cast<std::size_t>(in)] = true;
      }
    }
    // `left` counts down: unrolled steps while they suffice, then single ones.
    const VReg left = b_.reg();
    b_.emit(Op::MOV, {}, {left, length_});
    for (const unsigned unroll : {f_.unroll, 1U}) {
      const VLabel again = b_.label(), out = b_.label();
      const VPred few = b_.pred();
      b_.bind(again);
      b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {few, kAlways, left, std::int64_t{unroll}, kAlways});
      b_.emit(Op::BRA, {}, {out}, few);
      std::vector<std::vector<Lanes>> raw(unroll, std::vector<Lanes>(p_.tensors.size()));
      for (unsigned u = 0; u < unroll; ++u) {
        for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
          if (operands_[k].access == Access::uniform || row_leaf(k)) continue;
          raw[u][k] = lanes_at(k, address[k]);
          const VReg bytes = b_.reg();
          b_.emit(Op::MOV, {}, {bytes, walk(k)});
          b_.emit(Op::IMAD_WIDE, {}, {address[k], bytes, 1, address[k]});
        }
      }
      for (unsigned u = 0; u < unroll; ++u) {
        std::vector<Lanes> loaded(p_.tensors.size());
        for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
          if (operands_[k].access != Access::uniform && !row_leaf(k)) loaded[k] = unpacked(k, raw[u][k]);
        }
        Evaluator::Table t = row;
        for (std::size_t v = 0; v < p_.values.size(); ++v) {
          if (values_->uniform(static_cast<std::int16_t>(v)))
            t[v] = values_->uniform_lanes(static_cast<std::int16_t>(v), f_.lanes);
        }
        values_->compute(f_.lanes, loaded, t, &wanted);
        for (const std::size_t r : reductions) {
          const Value& v = p_.values[r];
          for (unsigned j = 0; j < f_.lanes; ++j)
            Reducer(b_, v.reduction, v.from).combine(row[r][j], t[static_cast<std::size_t>(v.in[0])][j]);
        }
      }
      b_.emit(Op::IADD3, {}, {left, left, -std::int64_t{unroll}, kZero});
      b_.emit(Op::BRA, {}, {again});
      b_.bind(out);
    }
    row_values(true);
    for (std::size_t n = 0; n < p_.outputs.size(); ++n) {
      const std::size_t k = p_.tensors.size() + n;
      store(b_, operands_[k].dtype, f_.lanes, address[k], 0, row[static_cast<std::size_t>(p_.outputs[n].value)]);
    }
  }
  [[nodiscard]] bool known(std::size_t v) const {
    return p_.values[v].reduced || values_->uniform(static_cast<std::int16_t>(v));
  }
  // Stands behind a reduction.
  [[nodiscard]] bool depends(std::size_t v) const {
    return p_.values[v].op == ExprOp::reduce || std::ranges::any_of(p_.values[v].in, [&](std::int16_t in) {
             return in >= 0 && depends(static_cast<std::size_t>(in));
           });
  }
  [[nodiscard]] Arg walk(std::size_t k) const {
    return walk_[static_cast<std::size_t>(std::ranges::find(walk_index_, k) - walk_index_.begin())];
  }

  const Program& p_;
  const Plan& f_;
  Builder b_;
  Evaluator* values_ = nullptr;
  Arg count_, step_, length_;
  std::vector<Division> division_;
  std::vector<std::vector<Arg>> strides_;
  std::vector<Arg> walk_;
  std::vector<std::size_t> walk_index_;
  std::vector<Operand> operands_;
};

bool side_by_side(const Axis& a) {
  return std::ranges::all_of(a.strides, [](std::int64_t s) { return s == 0 || s == 1; });
}

Plan plan_of(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
             const std::vector<std::uint64_t>& address) {
  Plan f;
  const Axis& inner = layout.axes[layout.axes.size() - 2];
  f.rank = layout.axes.size() - 1;
  std::size_t widest = 1;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    const bool output = k >= p.tensors.size();
    const bool constant = std::ranges::all_of(layout.axes, [&](const Axis& a) { return a.strides[k] == 0; });
    f.access.push_back(constant && !output ? Access::uniform : inner.strides[k] == 1 ? Access::dense : Access::splat);
    if (f.access.back() == Access::dense) widest = std::max(widest, size_of(dtypes[k]));
  }
  const auto fits = [&](unsigned lanes) {
    if (inner.length % lanes != 0) return false;
    for (std::size_t k = 0; k < dtypes.size(); ++k) {
      if (f.access[k] == Access::uniform) continue;
      const std::uint64_t size = size_of(dtypes[k]);
      const std::uint64_t bytes = f.access[k] == Access::dense ? std::min<std::uint64_t>(16, lanes * size) : size;
      if (address[k] % bytes != 0) return false;
      for (const Axis& a : layout.axes) {
        const bool itself = &a == &inner;
        if (!itself && static_cast<std::uint64_t>(std::abs(a.strides[k])) * size % bytes != 0) return false;
      }
    }
    return true;
  };
  f.lanes = std::max<unsigned>(1, static_cast<unsigned>(std::min<std::size_t>(8, 16 / widest)));
  while (f.lanes > 1 && !fits(f.lanes)) f.lanes /= 2;
  f.unroll = p.tensors.size() <= 1 ? 8 : 4;
  return f;
}

}  // namespace

bool is_columns(const Program& p, const Layout& layout) {
  if (layout.axes.size() < 2) return false;
  const Axis& inner = layout.axes[layout.axes.size() - 2];
  if (inner.length < 8 || !side_by_side(inner)) return false;
  bool across = false;  // a tensor that rows cross
  for (std::size_t k = 0; k < p.tensors.size(); ++k) {
    const std::int64_t along = layout.axes.back().strides[k];
    across = across || (inner.strides[k] == 1 && along != 0);
    if (inner.strides[k] == 0 && std::abs(along) == 1) return false;
  }
  if (!across) return false;
  for (std::size_t k = p.tensors.size(); k < inner.strides.size(); ++k) {
    if (inner.strides[k] != 1) return false;
  }
  std::vector<bool> behind(p.values.size(), false);
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    const Value& v = p.values[i];
    for (const std::int16_t in : v.in) behind[i] = behind[i] || (in >= 0 && behind[static_cast<std::size_t>(in)]);
    if (v.op == ExprOp::reduce && behind[i]) return false;
    behind[i] = behind[i] || v.op == ExprOp::reduce;
  }
  return std::ranges::all_of(p.outputs,
                             [&](const Output& o) { return p.values[static_cast<std::size_t>(o.value)].reduced; });
}

std::int64_t column_threads(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                            const std::vector<std::uint64_t>& address) {
  return layout.size() / layout.axes.back().length / plan_of(p, layout, dtypes, address).lanes;
}

void run_columns(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                 const std::vector<std::uint64_t>& address) {
  Device& device = current_device();
  const Plan f = plan_of(p, layout, dtypes, address);
  std::string key = "c";
  for (const std::size_t n : {std::size_t{f.lanes}, std::size_t{f.unroll}, f.rank}) key.push_back(static_cast<char>(n));
  for (std::size_t k = 0; k < f.access.size(); ++k) {
    key.push_back(static_cast<char>(f.access[k]));
    key.push_back(static_cast<char>(dtypes[k]));
  }
  append_key(key, p);
  const Generated& kernel = generated(key, [&] { return Maker(p, f, device.registry().arch()).make(); });
  const std::int64_t length = layout.axes.back().length;
  const std::int64_t count = layout.size() / length / f.lanes;
  const std::int64_t most = std::int64_t{device.info().multiprocessors} * 16;
  const auto ctas = static_cast<std::uint32_t>(std::clamp<std::int64_t>((count + kThreads - 1) / kThreads, 1, most));
  Parameters params;
  params.u32(count).u32(std::int64_t{ctas} * kThreads).u32(length);
  for (std::size_t d = layout.axes.size() - 1; d-- > 1;) {
    const std::int64_t n = layout.axes[d].length / (d + 2 == layout.axes.size() ? f.lanes : 1);
    const Magic m = magic(static_cast<std::uint32_t>(n));
    params.u32(-n).u32(m.mul).u32(m.shift);
  }
  for (std::size_t k = 0; k < f.access.size(); ++k) {
    if (f.access[k] == Access::uniform) continue;
    for (std::size_t d = layout.axes.size() - 1; d-- > 0;) {
      params.u32(layout.axes[d].strides[k] * (d + 2 == layout.axes.size() ? f.lanes : 1));
    }
    params.u32(layout.axes.back().strides[k] * static_cast<std::int64_t>(size_of(dtypes[k])));
  }
  for (const std::uint64_t a : address) params.u64(a);
  for (const Number& n : p.numbers) {
    registers_of(n.dtype) == 2 ? params.u64(number_bits(n)) : params.u32(static_cast<std::int64_t>(number_bits(n)));
  }
  kernel.launch(ctas, params.bytes());
}

}  // namespace nervanagpu::fuse
