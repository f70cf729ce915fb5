//   item i = cta * kThreads / slices + tid % (kThreads / slices)    `lanes` neighbours of the innermost axis of rows
//   for a = slice; a < length; a += slices                          `unroll` loads, then accumulation, a lane each,
//                                                                   and results that need no sum
//   the slices' sums through shared memory, added by slice 0 in their order
//   results of the item
//
// Slices are what one CTA can do about few, long walks: more loads in flight, shorter loops.
#include "src/fuse/kernels/columns.h"

#include <algorithm>
#include <bit>

#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "src/fuse/kernel.h"
#include "src/fuse/kernels/column_walk.h"
#include "src/fuse/kernels/reduce.h"

namespace nervanagpu::fuse {
namespace {

using sass::kAlways;
using sass::kZero;
using sass::VLabel;

constexpr unsigned kThreads = 256;
constexpr unsigned kSlices = 8;
constexpr std::int64_t kManyItems = 1 << 18;   // from which on threads of their own suffice
constexpr std::int64_t kThreadsWanted = 1024;  // of a multiprocessor
constexpr std::int64_t kLong = 64;             // steps of a thread from which on a second kernel is worth it
constexpr std::int64_t kShortest = 16;         // steps of a piece

struct Plan {
  ColumnWalk walk;
  unsigned unroll = 4;
  unsigned slices = 1;  // threads of an item
};

class Maker {
 public:
  Maker(const Program& p, const Plan& f, sass::Arch arch) : p_(p), f_(f), b_(arch, "fused_columns") {}

  sass::Result<sass::KernelImage> make() {
    b_.threads(kThreads);
    b_.programmatic();
    in_ = declare_columns(b_, p_, f_.walk);
    operands_ = in_.operands;
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
    const VPred over = b_.pred();
    b_.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {over, kAlways, i, in_.count, kAlways});
    if (f_.slices == 1) {
      b_.emit(Op::EXIT, {}, {}, over);
    } else {
      // All threads come to the barrier: those without an item read the last one's.
      const VReg last = b_.reg();
      b_.emit(Op::MOV, {}, {last, in_.count});
      b_.emit(Op::IADD3, {}, {last, last, -1, kZero});
      b_.emit(Op::SEL, {}, {i, last, i, over});
    }
    values.compute_uniform();
    item(i, over);
    b_.emit(Op::EXIT, {}, {});
    return b_.finish();
  }

 private:
  [[nodiscard]] bool row_leaf(std::size_t k) const { return is_row_leaf(p_, k); }
  Lanes lanes_at(std::size_t k, VReg p) {
    const bool dense = operands_[k].access == Access::dense;
    return load(b_, operands_[k].dtype, dense ? f_.walk.lanes : 1, p, 0);
  }
  Lanes unpacked(std::size_t k, const Lanes& raw) {
    const bool dense = operands_[k].access == Access::dense;
    Lanes out = Emit(b_, dense ? f_.walk.lanes : 1).unpack(operands_[k].dtype, raw);
    for (unsigned j = 1; !dense && j < f_.walk.lanes; ++j) out[j] = out[0];
    return out;
  }

  void item(VReg i, VPred over) {
    std::vector<VReg> address = column_addresses(b_, in_, i);
    Evaluator::Table row(p_.values.size());
    std::vector<Lanes> row_leaves(p_.tensors.size());
    for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
      if (operands_[k].access != Access::uniform && row_leaf(k)) row_leaves[k] = unpacked(k, lanes_at(k, address[k]));
    }
    const auto row_values = [&](bool behind) {
      for (std::size_t v = 0; v < p_.values.size(); ++v) {
        if (!known(v) || p_.values[v].op == ExprOp::reduce || depends(v) != behind) continue;
        values_->compute_one(v, f_.walk.lanes, row_leaves, row);
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
      for (unsigned j = 0; j < f_.walk.lanes; ++j)
        row[v][j] = Reducer(b_, p_.values[v].reduction, p_.values[v].from).identity();
    }
    for (const Output& o : p_.outputs) {
      const auto v = static_cast<std::size_t>(o.value);
      if (!p_.values[v].reduced) wanted[v] = !known(v);
    }
    for (std::size_t v = p_.values.size(); v-- > 0;) {
      for (const std::int16_t in : p_.values[v].in) {
        if (wanted[v] && in >= 0 && !known(static_cast<std::size_t>(in))) wanted[static_cast<std::size_t>(in)] = true;
      }
    }
    // Threads without an item read the last one's, and write nothing.
    const VPred there = f_.slices > 1 ? !over : kAlways;
    // `left` counts down: unrolled steps while they suffice, then single ones.
    const VReg left = b_.reg();
    b_.emit(Op::MOV, {}, {left, in_.length});
    if (f_.slices > 1) {
      b_.emit(Op::IADD3, {}, {left, left, std::int64_t{f_.slices - 1}, -Arg(slice_)});
      b_.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {left, kZero, std::int64_t{std::countr_zero(f_.slices)}, left});
      for (std::size_t k = 0; k < operands_.size(); ++k) {
        if (!walks(k)) continue;
        const VReg p = b_.reg(2);
        b_.emit(Op::IMAD_WIDE, {}, {p, slice_, in_.walk[k], address[k]});
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
          step(k, address[k]);
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
            t[v] = values_->uniform_lanes(static_cast<std::int16_t>(v), f_.walk.lanes);
        }
        values_->compute(f_.walk.lanes, loaded, t, &wanted);
        for (const std::size_t r : reductions) {
          const Value& v = p_.values[r];
          for (unsigned j = 0; j < f_.walk.lanes; ++j)
            Reducer(b_, v.reduction, v.from).combine(row[r][j], t[static_cast<std::size_t>(v.in[0])][j]);
        }
        for (std::size_t k = p_.tensors.size(); k < operands_.size(); ++k) {
          if (!walks(k)) continue;
          const auto v = static_cast<std::size_t>(p_.outputs[k - p_.tensors.size()].value);
          store(b_, operands_[k].dtype, f_.walk.lanes, address[k], 0, t[v], there);
          step(k, address[k]);
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
      if (walks(k)) continue;
      store(b_, operands_[k].dtype, f_.walk.lanes, address[k], 0, row[static_cast<std::size_t>(p_.outputs[n].value)]);
    }
  }
  // Whether operand k has an element for each step of the walk.
  [[nodiscard]] bool walks(std::size_t k) const {
    if (k < p_.tensors.size()) return operands_[k].access != Access::uniform && !row_leaf(k);
    return !p_.values[static_cast<std::size_t>(p_.outputs[k - p_.tensors.size()].value)].reduced;
  }
  // To the next element of this slice.
  void step(std::size_t k, VReg address) {
    const VReg bytes = b_.reg();
    b_.emit(Op::MOV, {}, {bytes, in_.walk[k]});
    b_.emit(Op::IMAD_WIDE, {}, {address, bytes, std::int64_t{f_.slices}, address});
  }

  // Slice 0 gets the values of all slices; the other threads end, and those without an item.
  void gather(const std::vector<std::size_t>& reductions, Evaluator::Table& row, VPred over) {
    const std::int64_t base = sass::info(b_.arch()).shared_base;
    const VReg place = b_.reg();
    b_.emit(Op::SHF, {Tok::L, Tok::U32}, {place, tid_, 2, kZero});
    std::uint32_t word = 0;  // of each thread, one after the other's for all threads
    const auto at = [&](std::uint32_t w, unsigned slice) {
      return sass::shared(place, base + 4 * std::int64_t{w * kThreads + slice * (kThreads / f_.slices)});
    };
    for (const std::size_t r : reductions) {
      const unsigned words = registers_of(p_.values[r].from);
      for (unsigned j = 0; j < f_.walk.lanes; ++j) {
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
        for (unsigned j = 0; j < f_.walk.lanes; ++j) {
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
  // Stands after a reduction.
  [[nodiscard]] bool depends(std::size_t v) const {
    return p_.values[v].op == ExprOp::reduce || std::ranges::any_of(p_.values[v].in, [&](std::int16_t in) {
             return in >= 0 && depends(static_cast<std::size_t>(in));
           });
  }

  const Program& p_;
  const Plan& f_;
  Builder b_;
  Evaluator* values_ = nullptr;
  ColumnInputs in_;
  VReg tid_, slice_;
  std::vector<Operand> operands_;
};

Plan plan_of(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
             const std::vector<std::uint64_t>& address) {
  Plan f;
  f.walk = column_walk(p, layout, dtypes, address);
  f.unroll = p.tensors.size() <= 1 ? 8 : 4;
  const std::int64_t length = layout.axes.back().length;
  unsigned reductions = 0, words = 0;  // of a thread, in shared memory
  for (const Value& v : p.values) {
    if (v.op != ExprOp::reduce) continue;
    ++reductions;
    words += f.walk.lanes * registers_of(v.from);
  }
  const bool room =
      reductions <= 4 && 4 * words * kThreads <= sass::info(current_device().registry().arch()).max_shared;
  if (length >= 64 && room && layout.size() / length / f.walk.lanes < kManyItems) f.slices = kSlices;
  return f;
}

}  // namespace

bool is_columns(const Program& p, const Layout& layout) {
  return is_across(p, layout) && is_one_pass(p);
}

std::int64_t column_pieces(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                           const std::vector<std::uint64_t>& address, std::int64_t multiprocessors) {
  const Plan f = plan_of(p, layout, dtypes, address);
  const std::int64_t length = layout.axes.back().length;
  const std::int64_t threads = layout.size() / length / f.walk.lanes * f.slices;
  const std::int64_t steps = length / f.slices;
  return steps < kLong ? 1 : std::clamp<std::int64_t>(multiprocessors * kThreadsWanted / threads, 1, steps / kShortest);
}

void run_columns(const Program& p, const Layout& layout, const std::vector<Dtype>& dtypes,
                 const std::vector<std::uint64_t>& address) {
  Device& device = current_device();
  const Plan f = plan_of(p, layout, dtypes, address);
  std::string key = "c";
  for (const unsigned n : {f.unroll, f.slices}) key.push_back(static_cast<char>(n));
  append_key(key, f.walk, dtypes);
  append_key(key, p);
  const GeneratedPtr kernel = generated(key, [&] { return Maker(p, f, device.registry().arch()).make(); });
  const std::int64_t length = layout.axes.back().length;
  const std::int64_t count = layout.size() / length / f.walk.lanes;
  const auto ctas = static_cast<std::uint32_t>(ceil_div(count * f.slices, kThreads));
  const Parameters params = column_parameters(p, layout, f.walk, dtypes, address);
  kernel->launch(ctas, params);
}

}  // namespace nervanagpu::fuse
