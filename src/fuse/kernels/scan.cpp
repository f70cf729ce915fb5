// Running sums along an axis. Pieces of kPiece elements are summed, those sums are scanned in the same way, and each
// piece is scanned from where the one before it ends. A thread takes a piece: all its loads come first.
//
//   x as [outer][n][inner], thread g = (o * pieces + p) * inner + i
#include <string>

#include "nervanagpu/complex.hpp"
#include "nervanagpu/error.hpp"
#include "nervanagpu/indexing.hpp"
#include "src/ceil_div.h"
#include "src/device/placement.h"
#include "src/expr/promote.h"
#include "src/fuse/kernel.h"
#include "src/fuse/kernels/row_scan.h"
#include "src/fuse/kernels/values.h"
#include "src/launch/magic.h"
#include "src/tensor/shape.h"

namespace nervanagpu {

using fuse::Builder;
using fuse::Emit;
using fuse::Lanes;
using fuse::Op;
using fuse::Tok;
using fuse::VPred;
using fuse::VReg;
using sass::kAlways;
using sass::kZero;
using sass::ParamType;

namespace {

constexpr unsigned kPiece = 16, kThreads = 128;
constexpr std::int64_t kMostElements = std::int64_t{1} << 30;  // of a launch: indices have 32 bits

struct Form {
  Dtype in, sum, out;
  bool based = false;  // pieces go on from others' sums
  bool scans = false;  // writes running sums; else that of each piece
};

sass::Result<sass::KernelImage> make(const Form& f, sass::Arch arch) {
  Builder b(arch, "fused_scan");
  b.threads(kThreads);
  b.programmatic();
  const auto total = b.param("total", ParamType::u32);
  const auto n = b.param("n", ParamType::u32);
  const auto inner = b.param("inner", ParamType::u32);
  const auto divisions = fuse::declare_divisions(b, 2);
  const auto in = b.param("in", ParamType::ptr);
  const auto out = b.param("out", ParamType::ptr);
  const auto base = b.param("base", ParamType::ptr);
  Emit e(b, 1);
  const VReg cta = b.reg(), tid = b.reg(), g = b.reg();
  b.emit(Op::S2R, {}, {tid, sass::special(fuse::kTidX)});
  b.emit(Op::S2R, {}, {cta, sass::special(fuse::kCtaidX)});
  b.emit(Op::IMAD, {}, {g, cta, std::int64_t{kThreads}, tid});
  const VPred beyond = b.pred();
  b.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {beyond, kAlways, g, total, kAlways});
  b.emit(Op::EXIT, {}, {}, beyond);
  const std::vector<VReg> x = fuse::coordinates(b, divisions, g);  // i, p, o
  const VReg first = b.reg(), row = b.reg(), left = b.reg(), length = b.reg(), width = b.reg();
  b.emit(Op::MOV, {}, {length, n});
  b.emit(Op::MOV, {}, {width, inner});
  b.emit(Op::SHF, {Tok::L, Tok::U32}, {first, x[1], 4, kZero});
  b.emit(Op::IADD3, {}, {left, length, -fuse::Arg(first), kZero});
  b.emit(Op::IMAD, {}, {row, x[2], length, first});
  b.emit(Op::IMAD, {}, {row, row, width, x[0]});
  const auto walk = [&](Dtype d,
                        fuse::Arg pointer) {  // the address of the piece's first element, and bytes to the next
    const VReg size = b.reg(), address = b.reg(2), step = b.reg();
    b.emit(Op::MOV, {}, {size, static_cast<std::int64_t>(size_of(d))});
    b.emit(Op::IMAD_WIDE, {Tok::U32}, {address, row, size, pointer});
    b.emit(Op::IMAD, {}, {step, width, size, kZero});
    return std::pair(address, step);
  };
  const auto next = [&](VReg address, VReg step) {
    const VReg d = b.reg(2);
    b.emit(Op::IMAD_WIDE, {Tok::U32}, {d, step, 1, address});
    return d;
  };
  const auto exists = [&](unsigned k) {
    const VPred p = b.pred();
    b.emit(Op::ISETP, {Tok::GT, Tok::AND}, {p, kAlways, left, std::int64_t{k}, kAlways});
    return p;
  };
  auto [address, step] = walk(f.in, in);
  std::vector<Lanes> raw;
  for (unsigned k = 0; k < kPiece; ++k) {
    raw.push_back(fuse::load(b, f.in, 1, address, 0, exists(k)));
    if (k + 1 < kPiece) address = next(address, step);
  }
  Lanes sum;
  if (f.based) {  // the sum of all before the piece
    const VPred later = b.pred();
    const VReg before = b.reg(), size = b.reg(), p = b.reg(2);
    b.emit(Op::ISETP, {Tok::GT, Tok::AND}, {later, kAlways, x[1], kZero, kAlways});
    b.emit(Op::IADD3, {}, {before, g, -fuse::Arg(width), kZero});
    b.emit(Op::MOV, {}, {size, static_cast<std::int64_t>(size_of(f.sum))});
    b.emit(Op::IMAD_WIDE, {Tok::U32}, {p, before, size, base});
    sum = e.unpack(f.sum, fuse::load(b, f.sum, 1, p, 0, later));
  }
  const auto add = [&](unsigned k) {
    const Lanes value = e.cast(f.in, f.sum, e.unpack(f.in, raw[k]));
    const Lanes* both[3] = {&sum, &value, nullptr};
    sum = k == 0 && !f.based ? value : e.apply(ExprOp::add, f.sum, f.sum, both);
  };
  if (!f.scans) {
    for (unsigned k = 0; k < kPiece; ++k) add(k);
    const VReg size = b.reg(), p = b.reg(2);
    b.emit(Op::MOV, {}, {size, static_cast<std::int64_t>(size_of(f.sum))});
    b.emit(Op::IMAD_WIDE, {Tok::U32}, {p, g, size, out});
    fuse::store(b, f.sum, 1, p, 0, sum);
  } else {
    auto [to, stride] = walk(f.out, out);
    for (unsigned k = 0; k < kPiece; ++k) {
      add(k);
      fuse::store(b, f.out, 1, to, 0, e.cast(f.sum, f.out, sum), exists(k));
      if (k + 1 < kPiece) to = next(to, stride);
    }
  }
  b.emit(Op::EXIT, {}, {});
  return b.finish();
}

struct Walk {
  std::int64_t outer, n, inner;
};

void launch(const Form& f, const Walk& w, std::uint64_t in, std::uint64_t out, std::uint64_t base) {
  std::string key = "s";
  for (const int part :
       {static_cast<int>(f.in), static_cast<int>(f.sum), static_cast<int>(f.out), f.based ? 1 : 0, f.scans ? 1 : 0}) {
    key.push_back(static_cast<char>(part));
  }
  const auto kernel = fuse::generated(key, [&] { return make(f, current_device().registry().arch()); });
  const std::int64_t pieces = ceil_div(w.n, kPiece);
  const std::int64_t total = w.outer * pieces * w.inner;
  fuse::Parameters params;
  params.u32(total).u32(w.n).u32(w.inner);
  for (const std::int64_t length : {w.inner, pieces}) {
    const Magic m = magic(static_cast<std::uint32_t>(length));
    params.u32(-length).u32(m.mul).u32(m.shift);
  }
  params.u64(in).u64(out).u64(base);
  kernel->launch(static_cast<std::uint32_t>(ceil_div(total, kThreads)), params.bytes());
}

void scan(Dtype in, Dtype sum, Dtype out, const Walk& w, std::uint64_t from, std::uint64_t to) {
  if (w.inner == 1 && w.n > kPiece) return fuse::scan_rows(in, sum, out, w.outer, w.n, from, to);
  Form f{in, sum, out, false, true};
  const std::int64_t pieces = ceil_div(w.n, kPiece);
  if (pieces == 1) return launch(f, w, from, to, 0);
  const Tensor sums = Tensor::empty({w.outer, pieces, w.inner}, sum);
  launch({in, sum, sum, false, false}, w, from, sums.address(), 0);
  const Tensor scanned = Tensor::empty({w.outer, pieces, w.inner}, sum);
  scan(sum, sum, sum, {w.outer, pieces, w.inner}, sums.address(), scanned.address());
  f.based = true;
  launch(f, w, from, to, scanned.address());
}

}  // namespace

Tensor cumsum(const Expr& x, int axis) {
  const OnDevice there(x.device());
  const auto rank = static_cast<int>(x.shape().size());
  if (axis < -rank || axis >= rank) {
    throw InvalidArgument("cumsum: axis " + std::to_string(axis) + " is out of range; the operand has " +
                          std::to_string(rank) + " axes");
  }
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const Dtype in = x.dtype();
  const bool real = expr::kind_of(in) == expr::Kind::real;
  const Dtype out = real                                                               ? in
                    : expr::kind_of(in) == expr::Kind::integer && !expr::is_signed(in) ? Dtype::uint64
                                                                                       : Dtype::int64;
  const Dtype sum = real && size_of(in) == 2 ? Dtype::float32 : out;
  if (is_complex(in)) {
    const Tensor parts[] = {cumsum(nervanagpu::real(x), axis), cumsum(nervanagpu::imag(x), axis)};
    return complex_from(parts[0], parts[1]).evaluate();
  }
  Walk w{1, x.shape()[at], 1};
  for (std::size_t i = 0; i < x.shape().size(); ++i) {
    if (i != at) (i < at ? w.outer : w.inner) *= x.shape()[i];
  }
  if (w.n * w.inner > kMostElements) {
    throw InvalidArgument("cumsum: " + std::to_string(w.n * w.inner) +
                          " elements from the axis on; needs 2^30 or fewer");
  }
  Tensor from = x.evaluate();
  if (!from.contiguous()) {
    const Tensor copy = Tensor::empty(from.shape(), in);
    assign(copy, from);
    from = copy;
  }
  Tensor result = Tensor::empty(x.shape(), out);
  if (result.size() == 0) return result;
  const std::int64_t slab = w.n * w.inner;
  const std::int64_t most = kMostElements / slab;
  for (std::int64_t o = 0; o < w.outer; o += most) {
    const Walk part{std::min(most, w.outer - o), w.n, w.inner};
    scan(in, sum, out, part, from.address() + static_cast<std::uint64_t>(o * slab) * size_of(in),
         result.address() + static_cast<std::uint64_t>(o * slab) * size_of(out));
  }
  return result;
}

}  // namespace nervanagpu
