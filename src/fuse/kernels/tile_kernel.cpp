// A tile is `across` threads of `lanes` neighbouring columns each, along the whole walk. The CTAs of a cluster share it, one
// after the other; a CTA's threads form slots of `across`, and slot s has the items first + s, first + s + slots, ...
//
//   load the thread's items into registers
//   pass 1 .. depth: operands of the reductions that need no other ones of this depth, accumulated a lane each; then over
//                    the slots of a warp (butterfly), of the CTA (one warp adds up what all have left in shared memory),
//                    and of the cluster (every thread reads the CTAs' sums in their order): every thread has the results
//   results along the walk, item by item; results of columns by one slot
//
// Sums have an order that depends on shapes only.
#include <algorithm>
#include <bit>

#include "src/fuse/kernels/reduce.h"
#include "src/fuse/kernels/tiles.h"

namespace nervanagpu::fuse {
namespace {

using sass::kAlways;
using sass::kZero;
using sass::VLabel;

constexpr unsigned kFewParts = 4;              // that every thread adds up itself
constexpr unsigned kWindow = 47, kRank = 136;  // SR_SWINHI, SR_CgaCtaId

class Maker {
 public:
  Maker(const Program& p, const TilePlan& f, sass::Arch arch)
      : p_(p), f_(f), b_(arch, "fused_tiles"), lanes_(f.walk.lanes), depth_(reductions_behind(p)) {}

  sass::Result<sass::KernelImage> make() {
    b_.threads(f_.threads);
    b_.programmatic();
    b_.cluster(f_.cluster);
    b_.most_registers(std::min(255U, 65536 / f_.threads));
    in_ = declare_columns(b_, p_, f_.walk);
    Evaluator values(b_, p_, in_.operands);
    values_ = &values;
    values.declare_numbers();
    find_place();
    values.compute_uniform();
    hold();
    row_values(0);
    for (pass_ = 1; pass_ <= deepest_; ++pass_) {
      pass();
      row_values(pass_);
    }
    results();
    if (f_.cluster > 1) b_.emit(Op::UCGABAR_WAIT, {}, {});  // nobody reads this CTA's sums any more
    b_.emit(Op::EXIT, {}, {});
    b_.shared_bytes(shared_);
    return b_.finish();
  }

 private:
  void bits_of(VReg d, VReg from, unsigned below) {
    b_.emit(Op::LOP3, {Tok::LUT}, {d, from, std::int64_t{below - 1}, kZero, 0xc0, !kAlways});
  }
  void shifted(VReg d, VReg from, unsigned by) {
    b_.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {d, kZero, std::int64_t{std::countr_zero(by)}, from});
  }

  // The thread's column item, its first step, and the addresses there.
  void find_place() {
    const VReg tid = b_.reg(), cta = b_.reg(), item = b_.reg(), tile = b_.reg(), slot = b_.reg();
    slot_ = slot;
    b_.emit(Op::S2R, {}, {tid, sass::special(kTidX)});
    b_.emit(Op::S2R, {}, {cta, sass::special(kCtaidX)});
    lane_ = b_.reg();
    warp_ = b_.reg();
    column_ = b_.reg();
    first_ = b_.reg();
    bits_of(lane_, tid, 32);
    shifted(warp_, tid, 32);
    bits_of(column_, tid, f_.across);
    shifted(slot, tid, f_.across);
    own_ = kZero;
    if (f_.cluster > 1) {
      const VReg rank = b_.reg();
      b_.emit(Op::S2R, {}, {rank, sass::special(kRank)});
      shifted(tile, cta, f_.cluster);
      b_.emit(Op::IMAD, {}, {first_, rank, std::int64_t{slots() * f_.held}, slot});
      // Shared memory of this CTA as its own accesses name it, and of all as generic addresses.
      own_ = b_.reg();
      b_.emit(Op::SHF, {Tok::L, Tok::U32}, {own_, rank, 24, kZero});
      window_ = b_.reg();
      b_.emit(Op::S2R, {}, {window_, sass::special(kWindow)});
    } else {
      b_.emit(Op::MOV, {}, {tile, cta});
      b_.emit(Op::MOV, {}, {first_, slot});
    }
    b_.emit(Op::IMAD, {}, {item, tile, std::int64_t{f_.across}, column_});
    if (!f_.whole) {
      // All threads come to the barriers: those without an item read the last one's.
      const VReg last = b_.reg();
      over_ = b_.pred();
      b_.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {over_, kAlways, item, in_.count, kAlways});
      b_.emit(Op::MOV, {}, {last, in_.count});
      b_.emit(Op::IADD3, {}, {last, last, -1, kZero});
      b_.emit(Op::SEL, {}, {item, last, item, over_});
    }
    address_ = column_addresses(b_, in_, item);
  }
  [[nodiscard]] unsigned warps() const { return f_.threads / 32; }
  [[nodiscard]] unsigned slots() const { return f_.threads / f_.across; }

  // Whether item u exists (and is to be stored).
  VPred exists(unsigned u, bool stored) {
    const VPred wanted = stored && !f_.whole ? !over_ : kAlways;
    if (f_.exact) return wanted;
    const VReg a = b_.reg();
    const VPred p = b_.pred();
    b_.emit(Op::IADD3, {}, {a, first_, std::int64_t{u * slots()}, kZero});
    b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {p, kAlways, a, in_.length, wanted});
    return p;
  }
  VReg place(std::size_t k, unsigned u) {
    const VReg a = b_.reg(), p = b_.reg(2);
    b_.emit(Op::IADD3, {}, {a, first_, std::int64_t{u * slots()}, kZero});
    b_.emit(Op::IMAD_WIDE, {}, {p, a, in_.walk[k], address_[k]});
    return p;
  }
  [[nodiscard]] bool along(std::size_t k) const {
    return in_.operands[k].access != Access::uniform && !is_row_leaf(p_, k);
  }
  [[nodiscard]] unsigned lanes_of(std::size_t k) const { return in_.operands[k].access == Access::dense ? lanes_ : 1; }
  Lanes unpacked(std::size_t k, const Lanes& raw) {
    Lanes out = Emit(b_, lanes_of(k)).unpack(in_.operands[k].dtype, raw);
    for (unsigned j = lanes_of(k); j < lanes_; ++j) out[j] = out[0];
    return out;
  }

  void hold() {
    row_.assign(p_.values.size(), {});
    row_leaf_.assign(p_.tensors.size(), {});
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      if (values_->uniform(static_cast<std::int16_t>(i)))
        row_[i] = values_->uniform_lanes(static_cast<std::int16_t>(i), lanes_);
    }
    held_.assign(f_.held, std::vector<Lanes>(p_.tensors.size()));
    for (unsigned u = 0; u < f_.held; ++u) {
      const VPred there = exists(u, false);
      for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
        if (along(k)) held_[u][k] = load(b_, in_.operands[k].dtype, lanes_of(k), place(k, u), 0, there);
      }
    }
    for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
      if (in_.operands[k].access == Access::uniform || along(k)) continue;
      row_leaf_[k] = unpacked(k, load(b_, in_.operands[k].dtype, lanes_of(k), address_[k], 0));
    }
    kept_.assign(f_.held, Evaluator::Table(p_.values.size()));
    is_kept_.assign(p_.values.size(), false);
    find_last_uses();
  }

  // Values of columns that reductions of `depth` have made possible.
  void row_values(unsigned depth) {
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      const Value& v = p_.values[i];
      const bool uniform = values_->uniform(static_cast<std::int16_t>(i));
      if (!v.reduced || depth_[i] != depth || v.op == ExprOp::reduce || uniform) continue;
      values_->compute_one(i, lanes_, row_leaf_, row_);
      values_->found(i, row_[i], lanes_);
    }
  }

  [[nodiscard]] bool known(std::size_t i) const {
    return is_kept_[i] || p_.values[i].reduced || values_->uniform(static_cast<std::int16_t>(i));
  }
  [[nodiscard]] std::vector<bool> closure(const std::vector<std::size_t>& targets) const {
    return needed_for(p_, targets, [&](std::size_t i) { return known(i); });
  }
  [[nodiscard]] std::vector<std::size_t> targets_of(unsigned pass) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      if (p_.values[i].op == ExprOp::reduce && depth_[i] == pass)
        out.push_back(static_cast<std::size_t>(p_.values[i].in[0]));
    }
    for (const Output& o : p_.outputs) {
      if (pass > deepest_ && !of_column(o)) out.push_back(static_cast<std::size_t>(o.value));
    }
    return out;
  }
  [[nodiscard]] bool of_column(const Output& o) const { return p_.values[static_cast<std::size_t>(o.value)].reduced; }
  // Whether a pass after this one needs what value i is for the items.
  [[nodiscard]] bool keeps(std::size_t i) const { return f_.keep && is_long(p_.values[i].op) && last_use_[i] > pass_; }
  void find_last_uses() {
    last_use_.assign(p_.values.size(), 0);
    for (pass_ = 1; pass_ <= deepest_ + 1; ++pass_) {
      const std::vector<bool> needed = closure(targets_of(pass_));
      for (std::size_t i = 0; i < needed.size(); ++i) {
        if (needed[i]) last_use_[i] = pass_;
      }
    }
  }

  // Calls body(table, item) for the thread's items, `wanted` computed.
  template <class F>
  void each_item(const std::vector<bool>& wanted, const F& body) {
    for (unsigned u = 0; u < f_.held; ++u) {
      std::vector<Lanes> loaded(p_.tensors.size());
      for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
        if (along(k)) loaded[k] = unpacked(k, held_[u][k]);
      }
      Evaluator::Table t = row_;
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (is_kept_[i]) t[i] = kept_[u][i];
      }
      values_->compute(lanes_, loaded, t, &wanted);
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (wanted[i] && keeps(i)) kept_[u][i] = t[i];
      }
      body(t, u);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) is_kept_[i] = is_kept_[i] || (wanted[i] && keeps(i));
  }

  void pass() {
    std::vector<std::size_t> reductions;
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      const Value& v = p_.values[i];
      if (v.op != ExprOp::reduce || depth_[i] != pass_) continue;
      reductions.push_back(i);
      for (unsigned j = 0; j < lanes_; ++j) row_[i][j] = Reducer(b_, v.reduction, v.from).identity();
    }
    each_item(closure(targets_of(pass_)), [&](const Evaluator::Table& t, unsigned u) {
      const VPred there = exists(u, false);
      for (const std::size_t r : reductions) {
        const Value& v = p_.values[r];
        for (unsigned j = 0; j < lanes_; ++j)
          Reducer(b_, v.reduction, v.from).combine(row_[r][j], t[static_cast<std::size_t>(v.in[0])][j], there);
      }
    });
    meet(reductions);
    for (const std::size_t r : reductions) values_->found(r, row_[r], lanes_);
  }

  // ---- Over the slots of a tile --------------------------------------------------------------------------------------
  [[nodiscard]] unsigned columns() const { return f_.across * lanes_; }
  // What shared memory adds up: warps, where their slots have met; else slots.
  [[nodiscard]] unsigned parts() const { return f_.across <= 32 ? warps() : slots(); }
  Arg shared_at(VReg place, std::uint32_t offset) const {
    return sass::shared(place, sass::info(b_.arch()).shared_base + std::int64_t{offset});
  }

  struct Area {
    std::size_t value;
    unsigned words;
    std::uint32_t parts, sums;  // of each part's columns; of the CTA's columns
  };

  void meet(const std::vector<std::size_t>& reductions) {
    if (parts() == 1 && f_.cluster == 1) return;
    std::vector<Area> areas;
    const VReg place = b_.reg(), row = b_.reg();
    VPred one = kAlways;
    if (f_.across < 32) {
      one = b_.pred();
      b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {one, kAlways, lane_, std::int64_t{f_.across}, kAlways});
    }
    b_.emit(Op::IMAD, {}, {row, f_.across <= 32 ? warp_ : slot_, std::int64_t{f_.across}, column_});
    for (const std::size_t r : reductions) {
      const Value& v = p_.values[r];
      Reducer reducer(b_, v.reduction, v.from);
      const unsigned words = registers_of(v.from);
      const std::uint32_t bytes = columns() * words * 4;
      areas.push_back({r, words, shared_, shared_ + parts() * bytes});
      shared_ += (parts() + 1) * bytes;
      for (unsigned apart = 16; apart >= f_.across; apart /= 2) {
        for (unsigned j = 0; j < lanes_; ++j) reducer.across(row_[r][j], apart);
      }
      b_.emit(Op::IMAD, {}, {place, row, std::int64_t{lanes_ * words * 4}, own_});
      for (unsigned j = 0; j < lanes_; ++j) {
        for (unsigned k = 0; k < words; ++k)
          b_.emit(Op::STS, {}, {shared_at(place, areas.back().parts + 4 * (j * words + k)), row_[r][j][k]}, one);
      }
    }
    b_.emit(Op::BAR, {Tok::SYNC, Tok::DEFER_BLOCKING}, {0});
    if (f_.cluster == 1 && parts() <= kFewParts) {
      for (const Area& a : areas) read_sums(a, a.parts, parts(), columns() * a.words * 4);
      return;
    }
    unsigned turn = 0;  // warps take turns
    for (const Area& a : areas) {
      for (unsigned from = 0; from < columns(); from += 32) add_up(a, from, turn++);
    }
    if (f_.cluster == 1) {
      b_.emit(Op::BAR, {Tok::SYNC, Tok::DEFER_BLOCKING}, {0});
    } else {
      if (pass_ > 1) b_.emit(Op::UCGABAR_WAIT, {}, {});
      // What is in shared memory is there for all of the cluster: the fence stands for the wait for MEMBAR.
      b_.emit(Op::MEMBAR, {Tok::ALL_CTA}, {});
      b_.emit(Op::FENCE, {Tok::VIEW_ASYNC, Tok::S}, {});
      b_.emit(Op::UCGABAR_ARV, {}, {});
      b_.emit(Op::UCGABAR_WAIT, {}, {});
    }
    for (const Area& a : areas) read_sums(a, a.sums, f_.cluster, 1U << 24);
    if (f_.cluster > 1) b_.emit(Op::UCGABAR_ARV, {}, {});  // the others' sums have been read
  }

  // Columns from `from` on, one for each lane of a warp: the parts in their order.
  void add_up(const Area& a, unsigned from, unsigned turn) {
    const Value& v = p_.values[a.value];
    const unsigned words = a.words;
    const VLabel out = b_.label();
    const VPred other = b_.pred();
    const VReg place = b_.reg();
    b_.emit(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {other, kAlways, warp_, std::int64_t{turn % warps()}, kAlways});
    b_.emit(Op::BRA, {}, {out}, other);
    VPred there = kAlways;
    if (columns() < 32) {
      there = b_.pred();
      b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {there, kAlways, lane_, std::int64_t{columns()}, kAlways});
    }
    b_.emit(Op::IMAD, {}, {place, lane_, std::int64_t{4 * words}, own_});
    std::vector<VReg> part;
    for (unsigned w = 0; w < parts(); ++w) {
      part.push_back(b_.reg(words));
      for (unsigned k = 0; k < words; ++k) {
        const std::uint32_t at = a.parts + 4 * ((w * columns() + from) * words + k);
        if (columns() < 32) b_.emit(Op::MOV, {}, {part[w][k], kZero});
        b_.emit(Op::LDS, {}, {part[w][k], shared_at(place, at)}, there);
      }
    }
    for (unsigned w = 1; w < parts(); ++w) Reducer(b_, v.reduction, v.from).combine(part[0], part[w]);
    for (unsigned k = 0; k < words; ++k)
      b_.emit(Op::STS, {}, {shared_at(place, a.sums + 4 * (from * words + k)), part[0][k]}, there);
    b_.bind(out);
  }

  // The sums of this thread's columns at `from` in shared memory and `count` - 1 times `step` further on, in their order;
  // in a cluster these are the CTAs'.
  void read_sums(const Area& a, std::uint32_t from, unsigned count, std::uint32_t step) {
    const Value& v = p_.values[a.value];
    const unsigned total = lanes_ * a.words;
    const unsigned wide = std::min(4U, total);
    const bool far = f_.cluster > 1;
    const VReg place = b_.reg();
    b_.emit(Op::IMAD, {}, {place, column_, std::int64_t{4 * total}, kZero});
    std::vector<Lanes> part(count);
    for (unsigned q = 0; q < count; ++q) {
      const VReg at = b_.reg(2);
      const std::uint32_t offset = from + q * step;
      if (far) {
        const std::int64_t base = sass::info(b_.arch()).shared_base + std::int64_t{offset};
        b_.emit(Op::IADD3, {}, {at[0], place, base, kZero});
        b_.emit(Op::MOV, {}, {at[1], window_});
      }
      for (unsigned w = 0; w < total; w += wide) {
        const VReg group = b_.reg(wide);
        const Arg source = far ? sass::shared(at, 4 * w) : shared_at(place, offset + 4 * w);
        const Tok size = wide == 4 ? Tok::k128 : Tok::k64;
        if (far) {
          wide == 1 ? b_.emit(Op::LD, {Tok::E}, {group, source}) : b_.emit(Op::LD, {Tok::E, size}, {group, source});
        } else {
          wide == 1 ? b_.emit(Op::LDS, {}, {group, source}) : b_.emit(Op::LDS, {size}, {group, source});
        }
        for (unsigned k = 0; k < wide; k += a.words)
          part[q][(w + k) / a.words] = a.words == 2 ? group.pair(k) : group[k];
      }
    }
    for (unsigned j = 0; j < lanes_; ++j) {
      const VReg to = row_[a.value][j];
      for (unsigned k = 0; k < a.words; ++k) b_.emit(Op::MOV, {}, {to[k], part[0][j][k]});
      for (unsigned q = 1; q < count; ++q) Reducer(b_, v.reduction, v.from).combine(to, part[q][j]);
    }
  }

  // ---- Results ---------------------------------------------------------------------------------------------------------
  void results() {
    each_item(closure(targets_of(deepest_ + 1)), [&](const Evaluator::Table& t, unsigned u) {
      for (std::size_t n = 0; n < p_.outputs.size(); ++n) {
        if (of_column(p_.outputs[n])) continue;
        const std::size_t k = p_.tensors.size() + n;
        store(b_, in_.operands[k].dtype, lanes_, place(k, u), 0, t[static_cast<std::size_t>(p_.outputs[n].value)],
              exists(u, true));
      }
    });
    for (std::size_t n = 0; n < p_.outputs.size(); ++n) {
      if (!of_column(p_.outputs[n])) continue;
      const std::size_t k = p_.tensors.size() + n;
      const VPred first = b_.pred();
      b_.emit(Op::ISETP, {Tok::EQ, Tok::U32, Tok::AND}, {first, kAlways, first_, kZero, f_.whole ? kAlways : !over_});
      store(b_, in_.operands[k].dtype, lanes_, address_[k], 0, row_[static_cast<std::size_t>(p_.outputs[n].value)],
            first);
    }
  }

  const Program& p_;
  const TilePlan& f_;
  Builder b_;
  const unsigned lanes_;
  Evaluator* values_ = nullptr;
  ColumnInputs in_;
  std::vector<unsigned> depth_;  // reductions after each value
  unsigned deepest_ = *std::ranges::max_element(depth_);
  unsigned pass_ = 0;
  VReg lane_, warp_, slot_, column_, first_, own_, window_;
  VPred over_;
  std::vector<VReg> address_;
  std::vector<std::vector<Lanes>> held_;  // of item u, tensor k: as in memory
  std::vector<Evaluator::Table> kept_;    // of item u, value i
  std::vector<bool> is_kept_;
  std::vector<unsigned> last_use_;  // of each value for the items: a pass
  std::vector<Lanes> row_leaf_;
  Evaluator::Table row_;  // what columns have, and what is the same for all
  std::uint32_t shared_ = 0;
};

}  // namespace

sass::Result<sass::KernelImage> make_tiles(const Program& p, const TilePlan& f, sass::Arch arch) {
  return Maker(p, f, arch).make();
}

}  // namespace nervanagpu::fuse
