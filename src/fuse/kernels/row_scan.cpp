// A CTA takes a row, or a part of `threads * held * lanes` elements of a longer one; thread t has the items t,
// t + threads, ..., each of them `lanes` elements side by side.
//
//   running sums of an item's lanes; of the items' totals over the lanes of each warp (five shuffles)
//   the warps' totals of all items to shared memory; each warp makes running sums of all of them
//   element = what is before the row's part + before the warp's item + before the thread's item + its own
//
// Parts of long rows are summed first, these sums are scanned in the same way, and the parts go on from them.
#include "src/fuse/kernels/row_scan.h"

#include <algorithm>
#include <bit>
#include <string>

#include "nervanagpu/error.hpp"
#include "nervanagpu/tensor.hpp"
#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "src/fuse/kernel.h"
#include "src/fuse/kernels/reduce.h"
#include "src/fuse/kernels/values.h"
#include "src/launch/magic.h"

namespace nervanagpu::fuse {
namespace {

using sass::kAlways;
using sass::kZero;
using sass::ParamType;

constexpr unsigned kMostThreads = 256;
constexpr unsigned kMostHeld = 8;

struct Plan {
  Dtype in, sum, out;
  unsigned lanes = 1, threads = 32, held = 1;
  bool exact = false;  // parts have no end inside a CTA
  bool based = false;  // parts go on from others' sums
  bool scans = true;   // writes running sums; else that of each part
  [[nodiscard]] std::int64_t part() const { return std::int64_t{threads} * held * lanes; }
};

class Maker {
 public:
  Maker(const Plan& f, sass::Arch arch)
      : f_(f), b_(arch, "fused_row_scan"), words_(registers_of(f.sum)), add_(b_, Reduction::sum, f.sum) {}

  sass::Result<sass::KernelImage> make() {
    b_.threads(f_.threads);
    b_.programmatic();
    const Arg n = b_.param("n", ParamType::u32);
    const std::vector<Division> division = declare_divisions(b_, 1);
    const Arg in = b_.param("in", ParamType::ptr), out = b_.param("out", ParamType::ptr);
    const Arg base = b_.param("base", ParamType::ptr);
    const VReg tid = b_.reg(), cta = b_.reg();
    b_.emit(Op::S2R, {}, {tid, sass::special(kTidX)});
    b_.emit(Op::S2R, {}, {cta, sass::special(kCtaidX)});
    lane_ = b_.reg();
    warp_ = b_.reg();
    b_.emit(Op::LOP3, {Tok::LUT}, {lane_, tid, 31, kZero, 0xc0, !kAlways});
    b_.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {warp_, kZero, 5, tid});
    const std::vector<VReg> x = coordinates(b_, division, cta);  // part, row
    const VReg mine = b_.reg(), first = b_.reg(), element = b_.reg(), length = b_.reg();
    b_.emit(Op::IMAD, {}, {mine, tid, std::int64_t{f_.lanes}, kZero});
    b_.emit(Op::IMAD, {}, {first, x[0], f_.part(), mine});
    b_.emit(Op::MOV, {}, {length, n});
    b_.emit(Op::IMAD, {}, {element, x[1], length, first});
    const auto address = [&](Dtype d, VReg index, Arg pointer) {
      const VReg size = b_.reg(), p = b_.reg(2);
      b_.emit(Op::MOV, {}, {size, static_cast<std::int64_t>(size_of(d))});
      b_.emit(Op::IMAD_WIDE, {Tok::U32}, {p, index, size, pointer});
      return p;
    };
    const auto exists = [&](unsigned u) {
      if (f_.exact) return kAlways;
      const VReg i = b_.reg();
      const VPred p = b_.pred();
      b_.emit(Op::IADD3, {}, {i, first, std::int64_t{u} * f_.threads * f_.lanes, kZero});
      b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {p, kAlways, i, n, kAlways});
      return p;
    };
    const auto offset = [&](Dtype d, unsigned u) {
      return static_cast<std::int64_t>(u) * f_.threads * f_.lanes * static_cast<std::int64_t>(size_of(d));
    };
    const VReg from = address(f_.in, element, in);
    std::vector<Lanes> items;
    for (unsigned u = 0; u < f_.held; ++u)
      items.push_back(load(b_, f_.in, f_.lanes, from, offset(f_.in, u), exists(u)));
    VReg before;
    VPred later = kAlways;
    if (f_.based) {  // the sum of the parts before this one
      const VReg index = b_.reg();
      later = b_.pred();
      b_.emit(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {later, kAlways, x[0], kZero, kAlways});
      b_.emit(Op::IADD3, {}, {index, cta, -1, kZero});
      before = load(b_, f_.sum, 1, address(f_.sum, index, base), 0, later)[0];
    }
    Emit e(b_, f_.lanes);
    for (Lanes& item : items) {
      item = e.cast(f_.in, f_.sum, e.unpack(f_.in, item));
      for (unsigned j = 1; j < f_.lanes; ++j) item[j] = sum_of(item[j - 1], item[j]);
    }
    meet(items);
    if (!f_.scans) {
      const VReg p = address(f_.sum, cta, out);
      const VPred last = b_.pred();
      b_.emit(Op::ISETP, {Tok::EQ, Tok::U32, Tok::AND}, {last, kAlways, tid, 31, kAlways});
      Lanes all;
      all[0] = all_;
      store(b_, f_.sum, 1, p, 0, all, last);
    } else {
      const VReg to = address(f_.out, element, out);
      for (unsigned u = 0; u < f_.held; ++u) {
        const VReg start = sum_of(of_warp_[u], of_thread_[u]);
        if (f_.based) add_.combine(start, before, later);
        for (unsigned j = 0; j < f_.lanes; ++j) items[u][j] = sum_of(start, items[u][j]);
        store(b_, f_.out, f_.lanes, to, offset(f_.out, u), e.cast(f_.sum, f_.out, items[u]), exists(u));
      }
    }
    b_.emit(Op::EXIT, {}, {});
    return b_.finish();
  }

 private:
  VReg copy_of(VReg v) {
    const VReg d = b_.reg(words_);
    for (unsigned k = 0; k < words_; ++k) b_.emit(Op::MOV, {}, {d[k], v[k]});
    return d;
  }
  VReg sum_of(VReg x, VReg y) {
    const VReg d = copy_of(x);
    add_.combine(d, y);
    return d;
  }
  // What changes nothing: 0 for integers, and for floats -0, which leaves the sign of 0.
  VReg nothing() {
    const bool real = f_.sum == Dtype::float32 || f_.sum == Dtype::float64;
    Emit e(b_, 1);
    if (words_ == 1) return e.constant(0x80000000);
    return e.constant64(real ? std::uint64_t{1} << 63 : 0);
  }
  // Running sums over the lanes of a warp; the lanes' own go in.
  VReg over_lanes(VReg v) {
    const VReg sum = copy_of(v);
    for (unsigned by = 1; by < 32; by *= 2) {
      const VReg other = b_.reg(words_);
      const VPred there = b_.pred();
      for (unsigned k = 0; k < words_; ++k)
        b_.emit(Op::SHFL, {Tok::UP}, {there, other[k], sum[k], std::int64_t{by}, 0});
      add_.combine(sum, other, there);
    }
    return sum;
  }
  // Those of the lane before.
  VReg lane_before(VReg v) {
    const VReg other = b_.reg(words_), none = nothing();
    const VPred there = b_.pred();
    for (unsigned k = 0; k < words_; ++k) b_.emit(Op::SHFL, {Tok::UP}, {there, other[k], v[k], 1, 0});
    for (unsigned k = 0; k < words_; ++k) b_.emit(Op::SEL, {}, {other[k], other[k], none[k], there});
    return other;
  }

  // of_thread_[u]: what is before this thread's item u in its warp; of_warp_[u]: what is before the warp's; all_ of lane 31
  // of each warp: everything.
  void meet(const std::vector<Lanes>& items) {
    const unsigned warps = f_.threads / 32, totals = warps * f_.held;
    const unsigned each = std::max(1U, totals / 32);  // of a lane, 1 or 2
    const std::int64_t base = sass::info(b_.arch()).shared_base;
    const VReg place = b_.reg();
    const VPred last = b_.pred();
    b_.shared_bytes(8 * totals);
    b_.emit(Op::SHF, {Tok::L, Tok::U32}, {place, warp_, 3, kZero});
    b_.emit(Op::ISETP, {Tok::EQ, Tok::U32, Tok::AND}, {last, kAlways, lane_, 31, kAlways});
    for (unsigned u = 0; u < f_.held; ++u) {
      const VReg sum = over_lanes(items[u][f_.lanes - 1]);
      of_thread_.push_back(lane_before(sum));
      for (unsigned k = 0; k < words_; ++k)
        b_.emit(Op::STS, {}, {sass::shared(place, base + 8 * std::int64_t{u * warps} + 4 * k), sum[k]}, last);
    }
    b_.emit(Op::BAR, {Tok::SYNC, Tok::DEFER_BLOCKING}, {0});
    // Lane l has the totals each * l, each * l + 1: item by item, warp by warp.
    const VReg own = b_.reg();
    const VPred there = b_.pred();
    b_.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {there, kAlways, lane_, std::int64_t{totals / each}, kAlways});
    b_.emit(Op::SHF, {Tok::L, Tok::U32}, {own, lane_, std::int64_t{each == 2 ? 4 : 3}, kZero});
    std::vector<VReg> total;
    for (unsigned i = 0; i < each; ++i) {
      total.push_back(copy_of(nothing()));
      for (unsigned k = 0; k < words_; ++k)
        b_.emit(Op::LDS, {}, {total[i][k], sass::shared(own, base + 8 * std::int64_t{i} + 4 * k)}, there);
    }
    all_ = over_lanes(each == 2 ? sum_of(total[0], total[1]) : total[0]);
    VReg start = lane_before(all_);
    if (each == 2) {  // which of a lane's two a warp asks for is the same for all its items
      const VReg odd_start = sum_of(start, total[0]), bit = b_.reg();
      const VPred odd = b_.pred();
      b_.emit(Op::LOP3, {Tok::LUT}, {bit, warp_, 1, kZero, 0xc0, !kAlways});
      b_.emit(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {odd, kAlways, bit, kZero, kAlways});
      for (unsigned k = 0; k < words_; ++k) b_.emit(Op::SEL, {}, {start[k], odd_start[k], start[k], odd});
    }
    const VReg at = b_.reg();
    b_.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {at, kZero, std::int64_t{each - 1}, warp_});
    for (unsigned u = 0; u < f_.held; ++u) {
      const VReg from = b_.reg(), v = b_.reg(words_);
      b_.emit(Op::IADD3, {}, {from, at, std::int64_t{u * warps / each}, kZero});
      for (unsigned k = 0; k < words_; ++k) b_.emit(Op::SHFL, {Tok::IDX}, {kAlways, v[k], start[k], from, 0x1f});
      of_warp_.push_back(v);
    }
  }

  const Plan& f_;
  Builder b_;
  const unsigned words_;
  Reducer add_;
  VReg lane_, warp_, all_;
  std::vector<VReg> of_thread_, of_warp_;
};

void launch(const Plan& f, std::int64_t rows, std::int64_t n, std::uint64_t in, std::uint64_t out, std::uint64_t base) {
  std::string key = "w";
  for (const unsigned part :
       {static_cast<unsigned>(f.in), static_cast<unsigned>(f.sum), static_cast<unsigned>(f.out), f.lanes,
        f.threads / 32, f.held, unsigned{f.exact}, unsigned{f.based}, unsigned{f.scans}}) {
    key.push_back(static_cast<char>(part));
  }
  const auto kernel = generated(key, [&] { return Maker(f, current_device().registry().arch()).make(); });
  const std::int64_t parts = ceil_div(n, f.part());
  const Magic m = magic(static_cast<std::uint32_t>(parts));
  Parameters params;
  params.u32(n).u32(-parts).u32(m.mul).u32(m.shift).u64(in).u64(out).u64(base);
  kernel->launch(static_cast<std::uint32_t>(rows * parts), params.bytes());
}

}  // namespace

void scan_rows(Dtype in, Dtype sum, Dtype out, std::int64_t rows, std::int64_t n, std::uint64_t from,
               std::uint64_t to) {
  Plan f{.in = in, .sum = sum, .out = out};
  const std::size_t widest = std::max({size_of(in), size_of(sum), size_of(out)});
  f.lanes = static_cast<unsigned>(16 / widest);
  if (n % f.lanes != 0 || from % 16 != 0 || to % 16 != 0) f.lanes = 1;
  const auto items = static_cast<std::uint64_t>(ceil_div(n, std::int64_t{f.lanes}));
  f.threads = static_cast<unsigned>(std::clamp<std::uint64_t>(std::bit_ceil(items), 32, kMostThreads));
  f.held = static_cast<unsigned>(std::clamp<std::uint64_t>(std::bit_ceil(items) / f.threads, 1, kMostHeld));
  f.exact = n % f.part() == 0;
  const std::int64_t parts = ceil_div(n, f.part());
  if (parts == 1) return launch(f, rows, n, from, to, 0);
  const Tensor sums = Tensor::empty({rows, parts}, sum);
  const Tensor scanned = Tensor::empty({rows, parts}, sum);
  Plan add_up = f;
  add_up.scans = false;
  launch(add_up, rows, n, from, sums.address(), 0);
  scan_rows(sum, sum, sum, rows, parts, sums.address(), scanned.address());
  f.based = true;
  launch(f, rows, n, from, to, scanned.address());
}

}  // namespace nervanagpu::fuse
