//   item i = cta * kThreads / slices + tid % (kThreads / slices)    `lanes` neighbours of the innermost axis of rows
//   for a = slice; a < length; a += slices                          `unroll` loads, then accumulation, a lane each
//   the slices' sums through shared memory, added by slice 0 in their order
//   results of the item
//
// Slices are what one CTA can do about few, long walks: more loads in flight, shorter loops.
#include "src/fuse/columns.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "src/ceil_div.h"
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

constexpr unsigned kThreads = 256;
constexpr unsigned kSlices = 8;
constexpr std::int64_t kManyItems = 1 << 18;   // from which on threads of their own suffice
constexpr std::int64_t kThreadsWanted = 1024;  // of a multiprocessor
constexpr std::int64_t kLong = 64;             // steps of a thread from which on a second kernel is worth it
constexpr std::int64_t kShortest = 16;         // steps of a piece

struct Plan {
  unsigned lanes = 1;
  unsigned unroll = 4;
  unsigned slices = 1;  // threads of an item
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
    const unsigned items = kThreads / f_.slices;  // of a CTA
    const VReg i = b_.reg(), cta = b_.reg();
    tid_ = b_.reg();
    slice_ = b_.reg();
    b_.emit(Op::S2R, {}, {tid_, sass::special(kTidX)});
    b_.emit(Op::S2R, {}, {cta, sass::special(kCtaidX)});
    b_.emit(Op::LOP3, {Tok::LUT}, {i, tid_, std::int64_t{items - 1}, kZero, 0xc0, !kAlways});
    b_.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {slice_, kZero, std::int64_t{std::countr_zero(items)}, tid_});
    b_.emit(Op::IMAD, {}, {i, cta, std::int64_t{items}, i});
    values.compute_uniform();
    const VPred over = b_.pred();
    b_.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {over, kAlways, i, count_, kAlways});
    if (f_.slices == 1) {
      b_.emit(Op::EXIT, {}, {}, over);
    } else {
      // All threads come to the barrier: those without an item read the last one's.
      const VReg last = b_.reg();
      b_.emit(Op::MOV, {}, {last, count_});
      b_.emit(Op::IADD3, {}, {last, last, -1, kZero});
      b_.emit(Op::SEL, {}, {i, last, i, over});
    }
    item(i, over);
    b_.emit(Op::EXIT, {}, {});
    return b_.finish();
  }

 private:
  void declare() {
    count_ = b_.param("count", ParamType::u32);
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

  void item(VReg i, VPred over) {
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
    if (f_.slices > 1) {
      b_.emit(Op::IADD3, {}, {left, left, std::int64_t{f_.slices - 1}, -Arg(slice_)});
      b_.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {left, kZero, std::int64_t{std::countr_zero(f_.slices)}, left});
      for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
        if (operands_[k].access == Access::uniform || row_leaf(k)) continue;
        const VReg p = b_.reg(2);
        b_.emit(Op::IMAD_WIDE, {}, {p, slice_, walk(k), address[k]});
        address[k] = p;
      }
    }
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
          b_.emit(Op::IMAD_WIDE, {}, {address[k], bytes, std::int64_t{f_.slices}, address[k]});
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
    if (f_.slices > 1) gather(reductions, row, over);
    row_values(true);
    for (std::size_t n = 0; n < p_.outputs.size(); ++n) {
      const std::size_t k = p_.tensors.size() + n;
      store(b_, operands_[k].dtype, f_.lanes, address[k], 0, row[static_cast<std::size_t>(p_.outputs[n].value)]);
    }
  }
  // Slice 0 gets the values of all slices; the other threads end, and those without an item.
  void gather(const std::vector<std::size_t>& reductions, Evaluator::Table& row, VPred over) {
    const std::int64_t base = sass::info(b_.arch()).shared_base;
    const VReg place = b_.reg();
    b_.emit(Op::SHF, {Tok::L, Tok::U32}, {place, tid_, 2, kZero});
    std::uint32_t word = 0;  // of each thread, one behind the other's for all threads
    const auto at = [&](std::uint32_t w, unsigned slice) {
      return sass::shared(place, base + 4 * std::int64_t{w * kThreads + slice * (kThreads / f_.slices)});
    };
    for (const std::size_t r : reductions) {
      const unsigned words = registers_of(p_.values[r].from);
      for (unsigned j = 0; j < f_.lanes; ++j) {
        for (unsigned k = 0; k < words; ++k) b_.emit(Op::STS, {}, {at(word++, 0), row[r][j][k]});
      }
    }
    b_.shared_bytes(4 * word * kThreads);
    b_.emit(Op::BAR, {Tok::SYNC, Tok::DEFER_BLOCKING}, {0});
    const VPred first = b_.pred();
    b_.emit(Op::ISETP, {Tok::EQ, Tok::U32, Tok::AND}, {first, kAlways, slice_, kZero, !over});
    b_.emit(Op::EXIT, {}, {}, !first);
    for (unsigned s = 1; s < f_.slices; ++s) {
      word = 0;
      for (const std::size_t r : reductions) {
        const unsigned words = registers_of(p_.values[r].from);
        for (unsigned j = 0; j < f_.lanes; ++j) {
          const VReg other = b_.reg(words);
          for (unsigned k = 0; k < words; ++k) b_.emit(Op::LDS, {}, {other[k], at(word++, s)});
          Reducer(b_, p_.values[r].reduction, p_.values[r].from).combine(row[r][j], other);
        }
      }
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
  Arg count_, length_;
  VReg tid_, slice_;
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
  const std::int64_t length = layout.axes.back().length;
  const auto reductions = std::ranges::count(p.values, ExprOp::reduce, &Value::op);  // each takes shared memory
  if (length >= 64 && reductions <= 4 && layout.size() / length / f.lanes < kManyItems) f.slices = kSlices;
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
  return is_one_pass(p);
}

std::int64_t column_pieces(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                           const std::vector<std::uint64_t>& address, std::int64_t multiprocessors) {
  const Plan f = plan_of(p, layout, dtypes, address);
  const std::int64_t length = layout.axes.back().length;
  const std::int64_t threads = layout.size() / length / f.lanes * f.slices;
  const std::int64_t steps = length / f.slices;
  return steps < kLong ? 1 : std::clamp<std::int64_t>(multiprocessors * kThreadsWanted / threads, 1, steps / kShortest);
}

void run_columns(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                 const std::vector<std::uint64_t>& address) {
  Device& device = current_device();
  const Plan f = plan_of(p, layout, dtypes, address);
  std::string key = "c";
  for (const std::size_t n : {std::size_t{f.lanes}, std::size_t{f.unroll}, std::size_t{f.slices}, f.rank})
    key.push_back(static_cast<char>(n));
  for (std::size_t k = 0; k < f.access.size(); ++k) {
    key.push_back(static_cast<char>(f.access[k]));
    key.push_back(static_cast<char>(dtypes[k]));
  }
  append_key(key, p);
  const Generated& kernel = generated(key, [&] { return Maker(p, f, device.registry().arch()).make(); });
  const std::int64_t length = layout.axes.back().length;
  const std::int64_t count = layout.size() / length / f.lanes;
  const auto ctas = static_cast<std::uint32_t>(ceil_div(count * f.slices, kThreads));
  Parameters params;
  params.u32(count).u32(length);
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
