// A CTA takes one tile of threads * unroll items, all of which exist, and ends: loads of all, then item after item; an
// item is `lanes` elements side by side. The first CTAs take what no tile holds, one element (flat) or item (strided) a
// thread. CTAs that stayed for several tiles would wait for the slowest at the end, and occupancy would have to be known;
// new ones start as soon as old ones have ended.
//
//   if cta >= tail_ctas: item (cta - tail_ctas) * threads * unroll + tid, and so on every threads-th
//   else:                element tail + cta * threads + tid, if it exists
//
// flat     all operands are row-major without gaps or one element: an element's number is its place
// strided  numbers are decomposed into coordinates by multiplication (src/launch/magic.h). The real and the imaginary parts of one
//          complex tensor are a load of two, and a store
#include "src/fuse/kernels/elementwise.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "src/fuse/kernel.h"
#include "src/fuse/kernels/layout.h"
#include "src/fuse/kernels/values.h"
#include "src/launch/magic.h"

namespace nervanagpu::fuse {
namespace {

using sass::kAlways;
using sass::kZero;
using sass::ParamType;
using sass::VLabel;

std::atomic<std::int64_t> most{std::int64_t{1} << 30};  // elements of a launch
constexpr std::int64_t kMostOffset = (std::int64_t{1} << 31) - 1;

struct Plan {
  bool flat = true;
  unsigned lanes = 1;
  unsigned unroll = 1;
  unsigned threads = 128;
  std::size_t rank = 1;
  std::vector<Access> access;  // tensors, then outputs
  // Of each operand the one whose elements lie after (ahead) or before its own, element by element; -1: none.
  std::vector<int> behind, before;
};

class Maker {
 public:
  Maker(const Program& p, const Plan& f, sass::Arch arch) : p_(p), f_(f), b_(arch, "fused_elementwise") {}

  sass::Result<sass::KernelImage> make() {
    b_.threads(f_.threads);
    b_.programmatic();
    declare();
    Evaluator values(b_, p_, operands_);
    values.declare_numbers();
    values_ = &values;
    const VReg cta = b_.reg(), tid = b_.reg();
    b_.emit(Op::S2R, {}, {tid, sass::special(kTidX)});
    b_.emit(Op::S2R, {}, {cta, sass::special(kCtaidX)});
    for (const unsigned size : {1U, 2U, 4U, 8U}) {
      for (const unsigned lanes : {1U, f_.lanes}) {
        if (needs_size(size, lanes)) sizes_.of(size * lanes);
      }
    }
    const VLabel tail = b_.label();
    const VPred left = b_.pred();
    b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {left, kAlways, cta, tail_ctas_, kAlways});
    // The one element of a tensor may be the result as well: a thread that has no element must not read it.
    if (std::ranges::any_of(operands_, [](const Operand& o) { return o.access == Access::uniform; })) {
      const VReg place = b_.reg();
      const VPred none = b_.pred();
      b_.emit(Op::IMAD, {}, {place, cta, std::int64_t{f_.threads}, tid});
      b_.emit(Op::IADD3, {}, {place, place, tail_, kZero});
      b_.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {none, kAlways, place, count_, left});
      b_.emit(Op::EXIT, {}, {}, none);
    }
    values.compute_uniform();
    find_keys();
    b_.emit(Op::BRA, {}, {tail}, left);
    const VReg first = b_.reg();
    b_.emit(Op::IADD3, {}, {first, cta, -tail_ctas_, kZero});
    b_.emit(Op::IMAD, {}, {first, first, std::int64_t{f_.threads} * f_.unroll, tid});
    items(first, f_.unroll, f_.lanes);
    b_.emit(Op::EXIT, {}, {});
    b_.bind(tail);
    const VReg i = b_.reg();
    b_.emit(Op::IMAD, {}, {i, cta, std::int64_t{f_.threads}, tid});
    b_.emit(Op::IADD3, {}, {i, i, tail_, kZero});
    const VPred end = b_.pred();
    b_.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {end, kAlways, i, count_, kAlways});
    b_.emit(Op::EXIT, {}, {}, end);
    items(i, 1, f_.flat ? 1 : f_.lanes);
    b_.emit(Op::EXIT, {}, {});
    return b_.finish();
  }

 private:
  // In the order in which launch() gives them.
  void declare() {
    tail_ctas_ = b_.param("tail_ctas", ParamType::u32);
    tail_ = b_.param("tail", ParamType::u32);
    count_ = b_.param("count", ParamType::u32);
    if (!f_.flat) {
      division_ = declare_divisions(b_, f_.rank - 1);
      strides_.resize(f_.access.size());
      for (std::size_t k = 0; k < f_.access.size(); ++k) {
        if (f_.access[k] != Access::uniform) strides_[k] = declare_strides(b_, k, f_.rank);
      }
    }
    operands_ = declare_operands(b_, p_, f_.access);
  }

  [[nodiscard]] bool needs_size(unsigned size, unsigned lanes) const {
    return std::ranges::any_of(operands_, [&](const Operand& o) {
      return o.access != Access::uniform && size_of(o.dtype) == size && (lanes == 1 || f_.flat);
    });
  }
  // Addresses of an item in every operand that is not uniform.
  std::vector<VReg> addresses(VReg i, unsigned lanes) {
    std::vector<VReg> out(operands_.size());
    std::vector<VReg> x;
    if (!f_.flat) x = coordinates(b_, division_, i);
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const Operand& o = operands_[k];
      if (o.access == Access::uniform || f_.before[k] >= 0) continue;
      out[k] = b_.reg(2);
      const auto size = static_cast<unsigned>(size_of(o.dtype));
      if (f_.flat) {
        b_.emit(Op::IMAD_WIDE, {Tok::U32}, {out[k], i, sizes_.of(size * lanes), o.pointer});
        continue;
      }
      const VReg offset = offset_of(b_, x, strides_[k]);
      b_.emit(Op::IMAD_WIDE, {}, {out[k], offset, sizes_.of(size), o.pointer});
    }
    return out;
  }

  void items(VReg first, unsigned unroll, unsigned lanes) {
    std::vector<std::vector<VReg>> address;
    std::vector<std::vector<Lanes>> raw(unroll);
    for (unsigned u = 0; u < unroll; ++u) {
      if (f_.flat && u > 0) {
        address.push_back(address[0]);
      } else {
        VReg i = first;
        if (u > 0) {
          i = b_.reg();
          b_.emit(Op::IADD3, {}, {i, first, std::int64_t{u} * f_.threads, kZero});
        }
        address.push_back(addresses(i, lanes));
      }
      raw[u].resize(p_.tensors.size());
      for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
        const Operand& o = operands_[k];
        if (o.access == Access::uniform || counts(p_.tensors[k]) || f_.before[k] >= 0) continue;
        if (f_.behind[k] >= 0) {
          const Lanes both = load(b_, o.dtype, 2, address[u][k], 0);
          raw[u][k][0] = both[0];
          raw[u][static_cast<std::size_t>(f_.behind[k])][0] = both[1];
          continue;
        }
        const unsigned count = o.access == Access::dense ? lanes : 1;
        raw[u][k] = load(b_, o.dtype, count, address[u][k], offset(o, u, lanes));
      }
    }
    for (unsigned u = 0; u < unroll; ++u) {
      std::vector<Lanes> loaded(p_.tensors.size());
      for (std::size_t k = 0; k < p_.tensors.size(); ++k) {
        const Operand& o = operands_[k];
        if (o.access == Access::uniform) continue;
        const unsigned count = o.access == Access::dense ? lanes : 1;
        loaded[k] = counts(p_.tensors[k]) ? counted(k, address[u][k], offset(o, u, lanes), count)
                                          : Emit(b_, count).unpack(o.dtype, raw[u][k]);
        if (o.access == Access::splat) {
          for (unsigned j = 1; j < lanes; ++j) loaded[k][j] = loaded[k][0];
        }
      }
      Evaluator::Table table(p_.values.size());
      values_->compute(lanes, loaded, table);
      for (std::size_t n = 0; n < p_.outputs.size(); ++n) {
        const std::size_t k = p_.tensors.size() + n;
        if (p_.outputs[n].at >= 0) {
          store_at(p_.outputs[n], operands_[k], lanes, table);
          continue;
        }
        if (f_.before[k] >= 0) continue;
        if (f_.behind[k] >= 0) {
          const std::size_t other = static_cast<std::size_t>(f_.behind[k]) - p_.tensors.size();
          Lanes both;
          both[0] = table[static_cast<std::size_t>(p_.outputs[n].value)][0];
          both[1] = table[static_cast<std::size_t>(p_.outputs[other].value)][0];
          store(b_, operands_[k].dtype, 2, address[u][k], 0, both);
          continue;
        }
        store(b_, operands_[k].dtype, lanes, address[u][k], offset(operands_[k], u, lanes),
              table[static_cast<std::size_t>(p_.outputs[n].value)]);
      }
    }
  }
  void store_at(const Output& o, const Operand& to, unsigned lanes, const Evaluator::Table& table) {
    const Lanes& value = table[static_cast<std::size_t>(o.value)];
    const Lanes& at = table[static_cast<std::size_t>(o.at)];
    const bool wide = size_of(to.dtype) == 8;
    for (unsigned i = 0; i < lanes; ++i) {
      const VPred there = b_.pred();
      const VReg address = address_at(b_, to.dtype, to.pointer, at[i]);
      b_.emit(Op::ISETP, {Tok::GT, Tok::AND}, {there, kAlways, at[i][1], kNowhere >> 32, kAlways});
      Lanes one;
      one[0] = value[i];
      const VReg whole = wide ? value[i].pair(0) : value[i];
      switch (o.how) {
        case Store::set: store_strong(b_, to.dtype, address, one, there); break;
        case Store::add:
          if (wide) {
            b_.emit(Op::REDG, {Tok::E, Tok::ADD, Tok::k64}, {sass::at(address), whole}, there);
          } else {
            b_.emit(Op::REDG, {Tok::E, Tok::ADD}, {sass::at(address), whole}, there);
          }
          break;
        case Store::most: b_.emit(Op::REDG, {Tok::E, Tok::MAX, Tok::S32}, {sass::at(address), whole}, there); break;
      }
    }
  }
  // The words of an item, or its indices: `address` + offset is the index of its first element.
  Lanes counted(std::size_t tensor, VReg address, std::int64_t offset, unsigned lanes) {
    const bool plain = std::ranges::any_of(
        p_.values, [&](const Value& v) { return v.op == ExprOp::index && v.leaf == static_cast<int>(tensor); });
    if (plain) return count_up(b_, lanes, address, offset);
    VReg index = address;
    if (offset != 0) {
      const VReg by = b_.reg();
      index = b_.reg(2);
      b_.emit(Op::MOV, {}, {by, offset});
      b_.emit(Op::IMAD_WIDE, {Tok::U32}, {index, by, 1, address});
    }
    for (const Value& v : p_.values) {
      if (v.op != ExprOp::random || v.leaf != static_cast<int>(tensor)) continue;
      const auto keys = keys_.find(v.in[0]);
      const VReg far = v.in[1] >= 0 ? values_->uniform_lanes(v.in[1], 1)[0] : kZero;
      return Emit(b_, lanes).random(keys != keys_.end() ? keys->second : keys_of(v), index, far);
    }
    return {};
  }
  RoundKeys keys_of(const Value& random) { return Emit(b_, 1).round_keys(values_->uniform_lanes(random.in[0], 1)[0]); }
  // The keys of few seeds stay in registers for all items.
  void find_keys() {
    for (const Value& v : p_.values) {
      if (v.op == ExprOp::random && keys_.size() < 3 && !keys_.contains(v.in[0])) keys_.emplace(v.in[0], keys_of(v));
    }
  }

  [[nodiscard]] std::int64_t offset(const Operand& o, unsigned u, unsigned lanes) const {
    return f_.flat ? std::int64_t{u} * f_.threads * lanes * static_cast<std::int64_t>(size_of(o.dtype)) : 0;
  }

  const Program& p_;
  const Plan& f_;
  Builder b_;
  Evaluator* values_ = nullptr;
  std::map<std::int16_t, RoundKeys> keys_;  // by the seed's value
  Arg tail_ctas_, tail_, count_;
  std::vector<Division> division_;
  std::vector<std::vector<Arg>> strides_;  // of each operand, innermost axis first
  std::vector<Operand> operands_;
  ItemSizes sizes_{b_};
};

// The lanes and items a thread that suit the registers, of plans that asked for more.
struct Fit : Keepable {
  Fit(unsigned l, unsigned u) : lanes(l), unroll(u) {}
  unsigned lanes, unroll;
};
Kept<Fit>& fitting() {
  static auto* k = new Kept<Fit>;
  return *k;
}

class Run {
 public:
  explicit Run(const Program& p) : p_(p), operands_(p.tensors) {
    for (const Output& o : p.outputs) operands_.push_back(o.to);
    for (const Tensor& t : operands_) address_.push_back(t.address());
  }

  void all() { part(layout_of(p_.shape, operands_, p_.tensors.size())); }

  [[nodiscard]] std::shared_ptr<const FlatKernel> flat() const {
    const Layout layout = layout_of(p_.shape, operands_, p_.tensors.size());
    if (layout.axes.size() != 1 || layout.size() > most_elements()) return nullptr;
    if (!std::ranges::all_of(layout.axes[0].strides, [](std::int64_t s) { return s == 1; })) return nullptr;
    Plan f = form(layout);
    GeneratedPtr kernel = kernel_of(f);
    return std::make_shared<const FlatKernel>(FlatKernel{{}, std::move(kernel), f.lanes, f.unroll, f.threads});
  }

 private:
  // Halves what is too large for 32-bit indices, along the outermost axis.
  void part(const Layout& layout) {
    if (layout.size() == 0) return;
    if (layout.size() <= most_elements() && fits(layout)) return launch(layout);
    Layout half = layout;
    const auto longest = std::ranges::max_element(half.axes, {}, &Axis::length);
    const std::int64_t length = longest->length;
    longest->length = (length / 2 + 63) / 64 * 64 < length ? (length / 2 + 63) / 64 * 64 : length / 2;
    const std::int64_t done = longest->length;
    part(half);
    longest->length = length - done;
    const std::vector<std::uint64_t> before = address_;
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      address_[k] += static_cast<std::uint64_t>(longest->strides[k] * done) * size_of(operands_[k].dtype());
    }
    part(half);
    address_ = before;
  }

  [[nodiscard]] bool fits(const Layout& layout) const {
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      std::int64_t low = 0, high = 0;
      for (const Axis& a : layout.axes) (a.strides[k] < 0 ? low : high) += a.strides[k] * (a.length - 1);
      if (low < -kMostOffset || high > kMostOffset) return false;
    }
    return true;
  }

  [[nodiscard]] bool aligned(const Layout& layout, unsigned lanes) const {
    const Axis& inner = layout.axes.back();
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      if (inner.strides[k] == 0) continue;
      const std::uint64_t bytes = std::min<std::uint64_t>(16, lanes * size_of(operands_[k].dtype()));
      if (address_[k] % bytes != 0) return false;
      for (std::size_t a = 0; a + 1 < layout.axes.size(); ++a) {
        if (static_cast<std::uint64_t>(std::abs(layout.axes[a].strides[k])) * size_of(operands_[k].dtype()) % bytes !=
            0)
          return false;
      }
    }
    return true;
  }

  [[nodiscard]] Plan form(const Layout& layout) const {
    Plan f;
    const Axis& inner = layout.axes.back();
    const bool side_by_side = std::ranges::all_of(inner.strides, [](std::int64_t s) { return s == 0 || s == 1; });
    f.rank = layout.axes.size();
    // A flat kernel's operands are dense or uniform: one random number for all elements is neither.
    bool one_word = false;
    std::size_t widest = 1;
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const bool constant = std::ranges::all_of(layout.axes, [&](const Axis& a) { return a.strides[k] == 0; });
      const bool output = k >= p_.tensors.size();
      const bool indexed = !output && counts(operands_[k]);
      f.access.push_back(constant && !output && !indexed         ? Access::uniform
                         : side_by_side && inner.strides[k] == 1 ? Access::dense
                         : side_by_side                          ? Access::splat
                                                                 : Access::strided);
      one_word = one_word || (constant && indexed);
      if (f.access.back() != Access::uniform) widest = std::max(widest, size_of(operands_[k].dtype()));
    }
    f.flat = f.rank == 1 && side_by_side && !one_word;
    // A result of one element, or of a lone axis without elements side by side, takes one lane.
    const bool wide =
        side_by_side && std::ranges::none_of(f.access, [&](const Access& a) {
          return a == Access::splat && static_cast<std::size_t>(&a - f.access.data()) >= p_.tensors.size();
        });
    f.lanes = wide ? std::max<unsigned>(1, static_cast<unsigned>(16 / widest)) : 1;
    // Long functions keep much of every lane in registers.
    if (std::ranges::any_of(p_.values, [](const Value& v) { return is_long(v.op); })) f.lanes = std::min(f.lanes, 8U);
    while (f.lanes > 1 && !(aligned(layout, f.lanes) && (f.flat || inner.length % f.lanes == 0))) f.lanes /= 2;
    // 16 bytes a thread are in flight, which is enough; long functions take two items to hide their latencies.
    // Four items share the keys of random numbers.
    unsigned least = 1;
    for (const Value& v : p_.values) {
      if (v.op == ExprOp::random && least == 1) least = 4;
      if (is_long(v.op) && v.op != ExprOp::power) least = 2;
    }
    f.unroll = std::max(least, std::min(4U, static_cast<unsigned>(16 / (f.lanes * widest))));
    f.threads = f.unroll == 1 ? 256 : 128;  // CTAs of 2 KB come and go more slowly than memory takes them
    if (!wide) {
      for (Access& a : f.access) {
        if (a != Access::uniform) a = Access::strided;
      }
      f.flat = false;
    }
    pair_up(f, layout);
    return f;
  }

  // Operands whose elements are those of another one and `size` bytes further on, at addresses that allow for loads of both.
  void pair_up(Plan& f, const Layout& layout) const {
    f.behind.assign(operands_.size(), -1);
    f.before.assign(operands_.size(), -1);
    if (f.flat || f.lanes != 1) return;
    const auto paired = [&](std::size_t a, std::size_t b) {
      const std::size_t size = size_of(operands_[a].dtype());
      return size >= 4 && operands_[a].dtype() == operands_[b].dtype() && address_[a] % (2 * size) == 0 &&
             address_[b] == address_[a] + size && std::ranges::all_of(layout.axes, [&](const Axis& x) {
               return x.strides[a] == x.strides[b] && x.strides[a] % 2 == 0;
             });
    };
    const auto single = [&](std::size_t k) {
      const bool output = k >= p_.tensors.size();
      return f.access[k] == Access::strided && f.behind[k] < 0 && f.before[k] < 0 &&
             (output ? p_.outputs[k - p_.tensors.size()].at < 0 : !counts(operands_[k]));
    };
    for (std::size_t a = 0; a < operands_.size(); ++a) {
      const std::size_t from = a < p_.tensors.size() ? 0 : p_.tensors.size();
      const std::size_t end = a < p_.tensors.size() ? p_.tensors.size() : operands_.size();
      for (std::size_t b = from; b < end && single(a); ++b) {
        if (a == b || !single(b) || !paired(a, b)) continue;
        f.behind[a] = static_cast<int>(b);
        f.before[b] = static_cast<int>(a);
      }
    }
  }

  // The kernel of plan `f`, which may get fewer items a thread.
  GeneratedPtr kernel_of(Plan& f) const {
    const std::string wanted = key_of(f);
    if (const auto smaller = fitting().find(wanted)) f.lanes = smaller->lanes, f.unroll = smaller->unroll;
    for (;;) {
      const std::string key = key_of(f);
      try {
        GeneratedPtr kernel = generated(key, [&] { return Maker(p_, f, current_device().registry().arch()).make(); });
        if (key != wanted) fitting().keep(wanted, std::make_shared<const Fit>(f.lanes, f.unroll), sizeof(Fit));
        return kernel;
      } catch (const Error&) {  // with fewer elements side by side the registers may suffice
        if (f.unroll > 1) {
          f.unroll /= 2;
        } else if (f.lanes > 1) {
          f.lanes /= 2;
        } else {
          throw;
        }
      }
    }
  }

  [[nodiscard]] std::string key_of(const Plan& f) const {
    std::string key = "e";
    key.push_back(static_cast<char>(f.flat ? 1 : 0));
    key.push_back(static_cast<char>(f.lanes));
    key.push_back(static_cast<char>(f.unroll));
    key.push_back(static_cast<char>(f.threads / 32));
    key.push_back(static_cast<char>(f.rank));
    for (std::size_t k = 0; k < f.access.size(); ++k) {
      key.push_back(static_cast<char>(f.access[k]));
      key.push_back(static_cast<char>(operands_[k].dtype()));
      key.push_back(static_cast<char>(f.behind[k]));
    }
    append_key(key, p_);
    return key;
  }

  void launch(const Layout& layout) {
    Plan f = form(layout);
    const GeneratedPtr kernel = kernel_of(f);
    const Axis& inner = layout.axes.back();
    const std::int64_t unit = f.flat ? 1 : f.lanes;  // elements that the tail counts by
    const std::int64_t items = layout.size() / f.lanes;
    const std::int64_t tile = std::int64_t{f.threads} * f.unroll;
    const std::int64_t tiles = items / tile;
    const std::int64_t tail = tiles * tile * (f.flat ? f.lanes : 1);
    const std::int64_t count = layout.size() / unit;
    const std::int64_t tail_ctas = ceil_div(count - tail, std::int64_t{f.threads});
    const auto ctas = static_cast<std::uint32_t>(tail_ctas + tiles);
    Parameters params;
    params.u32(tail_ctas).u32(tail).u32(count);
    if (!f.flat) {
      for (std::size_t d = layout.axes.size(); d-- > 1;) {
        const std::int64_t length = layout.axes[d].length / (d + 1 == layout.axes.size() ? f.lanes : 1);
        const Magic m = magic(static_cast<std::uint32_t>(length));
        params.u32(-length).u32(m.mul).u32(m.shift);
      }
      for (std::size_t k = 0; k < operands_.size(); ++k) {
        if (f.access[k] == Access::uniform) continue;
        params.u32(inner.strides[k] * f.lanes);
        for (std::size_t d = layout.axes.size() - 1; d-- > 0;) params.u32(layout.axes[d].strides[k]);
      }
    }
    params.operands(p_, address_);
    kernel->launch(ctas, params);
  }

  const Program& p_;
  std::vector<Tensor> operands_;        // tensors, then outputs
  std::vector<std::uint64_t> address_;  // of each one's first element in the part at hand
};

}  // namespace

std::int64_t most_elements() noexcept {
  return most.load(std::memory_order_relaxed);
}
std::int64_t exchange_most_elements(std::int64_t n) noexcept {
  return most.exchange(n);
}

void run_elementwise(const Program& p) {
  Run(p).all();
}

std::shared_ptr<const FlatKernel> flat_kernel(const Program& p) {
  return Run(p).flat();
}

void FlatKernel::touch(std::uint64_t now) const {
  used = now;
  kernel->touch(now);
}

FlatGrid FlatKernel::grid(std::int64_t size) const {
  const std::int64_t tile = std::int64_t{threads} * unroll * lanes;
  const std::int64_t tiles = size / tile;
  const std::int64_t tail_ctas = ceil_div(size - tiles * tile, std::int64_t{threads});
  return {static_cast<std::uint64_t>(tail_ctas), static_cast<std::uint64_t>(tiles * tile),
          static_cast<std::uint64_t>(tail_ctas + tiles)};
}

}  // namespace nervanagpu::fuse
