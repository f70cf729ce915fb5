#include "kernels/conv/pieces/two_pieces.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "kernels/conv/pieces/pieces.h"
#include "kernels/conv/pieces/windows.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::two_pieces {
namespace {

constexpr std::string_view kForced = "_f16";
constexpr std::string_view kThenThree = "+three";
constexpr std::int64_t kRow = 128;  // columns of f16x2.sass's blocks

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

std::int64_t taps_of(const Pixels& w) {
  return w.size[0] * w.size[1] * w.size[2];
}

// The same, without regard to where pixels begin, if rows can be whole blocks so.
bf16x6::Split merged(const bf16x6::Split& rows) {
  const std::int64_t elements = rows.inner * rows.outer;
  if (rows.inner % kRow == 0 || rows.leading != rows.inner || elements % kRow != 0) return rows;
  if (bf16x6::pitch_of(rows.inner) != rows.inner) return rows;
  bf16x6::Split out = rows;
  out.inner = out.leading = kRow;
  out.outer = elements / kRow;
  return out;
}

struct Sources {
  f16x3::Source in1, in2;
};
// Channels are contiguous. A sum of fprop goes along those of x and w; one of bprop along those of dy, and along filters, of which a
// tap's are a matrix; one of update along pixels.
Sources sources_of(ConvPass pass, const Operands& o) {
  Sources s = {{pieces::rows_of(o.in1, o.in1_pieces), true}, {pieces::rows_of(o.in2, o.in2_pieces), true}};
  if (o.windows && pass != ConvPass::update) s.in1.rows = o.windows->split(o.in1, o.in1_pieces);
  if (pass == ConvPass::update) {
    s.in1 = {merged(s.in1.rows), false};
    s.in2 = {merged(s.in2.rows), false};
    if (o.windows) s.in2.rows = o.windows->split(o.in2, o.in2_pieces);
  } else if (pass == ConvPass::bprop) {
    const Pixels& w = o.in2;
    s.in2 = {{w.address, o.in2_pieces, w.channels, w.n, taps_of(w), taps_of(w) * w.pitch, w.pitch}, false};
  }
  return s;
}
// Of columns nobody knows the share. Where up to 40 of 64 elements are small, dy's lost ones stay. They may be many, and w's groups mostly
// have fewer than 24 small ones.
void leave_out(ConvPass pass, Sources& s) {
  constexpr int kBeside = 40;  // of 64
  s.in1.drop = pass == ConvPass::bprop ? kBeside : f16x3::Source::kAlways;
  s.in2.drop = f16x3::Source::kAlways;
}

void share(f16x3::Source& s, const ConvPieces& shared) {
  if (shared.address == 0) return;
  s.rows.to = shared_at(shared);
  s.without_lost = shared.address;
  if (!shared.made) return;
  s.rows.kept = shared.address;
  s.drop = f16x3::Source::kNever;
}

}  // namespace

double microseconds(ConvPass pass, const ConvProblem& p) {
  constexpr double kLaunchesBehind = 7;  // of kernels that find nothing to do
  const auto of_windows = windows::choose(pass, p, pieces::kTwo);
  return kLaunchesBehind + (of_windows ? windows::microseconds(pass, p, *of_windows, pieces::kTwo)
                                       : pieces::microseconds(pass, p, pieces::kTwo));
}

bool chosen(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  if (is_forced(forced)) return true;
  if (!forced.kernel.empty() || forced.splits != 0) return false;
  constexpr std::int64_t kLeast = 512;  // products of a sum, as of gemm()'s
  if (pieces::products_of(pass, p) < kLeast) return false;
  const double others = std::min(windows::three_pieces(pass, p).microseconds, pieces::rival_microseconds(pass, p));
  return microseconds(pass, p) < others;
}

Forced behind(const Forced& forced) {
  Forced out = forced;
  if (is_forced(forced)) out.kernel = forced.kernel.substr(kForced.size());
  if (out.kernel.ends_with(kThenThree)) out.kernel.resize(out.kernel.size() - kThenThree.size());
  return out;
}

bool strict_at_once(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  constexpr double kLittle = 400;  // microseconds
  if (forced.kernel.ends_with(kThenThree)) return false;
  return pieces::strict_microseconds(pass, p) <= kLittle || !pieces::possible(pass, p);
}

Way way_of(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  if (chosen(pass, p, forced)) return {true, std::nullopt, windows::choose(pass, p, pieces::kTwo, behind(forced))};
  const windows::Three three = windows::three_pieces(pass, p, forced);
  return {false, three.cells, three.windows};
}

bool can_share(ConvPass pass, const ConvProblem& p, Role role, const Epilogue& e) {
  constexpr std::int64_t kUnit = 4;  // of f16x2.sass
  const std::int64_t channels = role == Role::x ? p.c : p.k;
  return channels % kUnit == 0 && (pass == ConvPass::fprop || can_add_lost(pass, e));
}

bool can_add_lost(ConvPass pass, const Epilogue& e) {
  return pass != ConvPass::fprop && !e.rounding.stochastic;
}

std::uint64_t shared_at(const ConvPieces& shared) {
  return shared.address + f16x3::Source::kWithoutBytes;
}

std::int64_t shared_bytes(std::int64_t pixels, std::int64_t channels) {
  return f16x3::Source::kWithoutBytes + 2 * f16x3::kPieces * pixels * bf16x6::pitch_of(channels);
}

void split(Device& device, ConvPass pass, const Operands& operands, std::uint64_t statistics, bool add_lost_next,
           StreamId stream) {
  Sources s = sources_of(pass, operands);
  if (add_lost_next) leave_out(pass, s);
  share(s.in1, operands.in1_shared);
  share(s.in2, operands.in2_shared);
  const bf16x6::Launch l = f16x3::split(device.registry(), s.in1, s.in2, statistics);
  l.values.launch(device, *l.kernel, l.grid, stream);
}

// Pixels of x that meet those of dy are no groups of neighbours, as strides and edges have it, and both may be zero for the most part: update
// needs good precision of all elements that are not left out.
bf16x6::Unless unless(ConvPass pass, const Operands& operands, std::uint64_t statistics, std::int64_t products) {
  const Sources s = sources_of(pass, operands);
  bf16x6::Unless out = f16x3::unless(statistics, s.in1, s.in2, operands.in1.channels, products);
  if (pass == ConvPass::update) {
    out.most_small = 0;
  } else {
    out.most_lossy = f16x3::most_lossy(s.in1, s.in2, operands.in1.channels);
  }
  return out;
}

void add_lost(Device& device, ConvPass pass, const ConvProblem& p, const Operands& o, const Pixels& out,
              const Epilogue& e, const bf16x6::Unless& unless, StreamId stream) {
  constexpr std::int64_t kSize = 4;
  const bool update = pass == ConvPass::update;
  Values v;
  v.u64(out.address);
  if (!update) v.u32(kSize * out.pitch).u32(out.count()).u64(e.mask).u32(4 * e.ld_mask);
  v.u64(o.in1.address).u64(o.in2.address).u32(kSize * o.in1.pitch).u32(kSize * o.in2.pitch).f32(e.alpha);
  v.divisor(p.k).divisor(p.c).u32(p.filter[0] * p.filter[1] * p.filter[2]);
  v.divisor(p.filter[2]).divisor(p.filter[1]);
  const auto y = p.out();
  for (const std::size_t axis : {2U, 1U, 0U}) {
    v.divisor(p.in[axis]).divisor(y[axis]).divisor(p.stride[axis]).u32(p.pad[axis]).u32(p.dilation[axis]);
  }
  const std::string name = update ? "conv_lost_u" : "conv_lost_b";
  const Kernel* kernel = device.registry().find(name);
  if (kernel == nullptr) throw Error("there is no kernel " + name + " for this device's architecture");
  constexpr std::int64_t kFilters = 8, kCtas = 128;  // of a CTA; of dx
  const Grid grid = {static_cast<std::uint32_t>(update ? ceil_div(p.k, kFilters) : kCtas), 1, 1};
  unless.put(v).launch(device, *kernel, grid, stream);
}

void with_pieces(char pass, const Pixels& gathered, const Pixels& other, TensorMap& a, TensorMap& b) {
  pieces::with_pieces(pieces::kTwo, pass, gathered, other, a, b);
  if (pass == 'b' || pass == 'c') {  // pieces of w lie tap by tap
    const auto filter = static_cast<std::uint64_t>(2 * other.pitch);
    b.strides[0] = filter * static_cast<std::uint64_t>(pieces::kTwo.pieces * other.n);
    b.strides[1] = filter;
    b.strides[2] = filter * static_cast<std::uint64_t>(other.n);
  }
}

}  // namespace nervanagpu::conv_detail::two_pieces
