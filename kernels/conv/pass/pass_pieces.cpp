// float32 by pieces: launches of bf16x3.sass, cells_bf16x3.sass, conv_bf16x6.sass, conv_if.sass and what belongs to these.
#include "kernels/conv/pass/pass.h"
#include "kernels/gemm/epilogue/relu_mask.h"
#include "kernels/gemm/pieces/bf16x6.h"

namespace nervanagpu::conv_detail::tensor_cores {
namespace {

constexpr std::int64_t kQuad = 4;  // elements of 16 bytes

}  // namespace

// Through copies with channels last. Stochastic rounding counts the elements of the result as they lie: the last copy's.
void Pass::run_pieces_copied() {
  const Roles roles = roles_of(pass_);
  ConvProblem inner = p_;
  inner.layout = Layout::channels_last;
  ConvPointers at = at_;
  Epilogue exact = e_;
  exact.rounding = {};
  exact.mask = 0;  // of the result as it lies in the end
  const auto last = [&](Role role) { return as_laid_out(Layout::channels_last, shape(role)); };
  const auto take = [&](Role role, std::uint64_t from, bool filled) {
    const std::uint64_t to = arena_.take(width_of(Dtype::float32) * elements_of(p_, role));
    if (filled) copy(from, Dtype::float32, laid_out(role), to, Dtype::float32, last(role));
    return to;
  };
  at.in1 = take(roles.in1, at_.in1, true);
  at.in2 = take(roles.in2, at_.in2, true);
  at.out = take(roles.out, at_.out, e_.beta != 0);
  at.workspace = arena_.take(0);
  Pass pass(device_, pass_, inner, at, exact, stream_, forced_);
  pass.run();
  arena_.take(static_cast<std::int64_t>(pass.workspace()));
  copy(at.out, Dtype::float32, last(roles.out), at_.out, Dtype::float32, laid_out(roles.out), e_.rounding);
  masked_ = false;
}

// By gemm(), which takes operands apart itself, or multiplies them as they are.
void Pass::run_as_product() {
  const Roles roles = roles_of(pass_);
  const Pixels in1 = as_it_lies(roles.in1, at_.in1);
  const Pixels in2 = as_it_lies(roles.in2, at_.in2);
  const GemmProblem shape = product::shape_of(pass_, p_);
  GemmProblem g = epilogue(0, shape.n);
  g.a_type = shape.a_type, g.b_type = shape.b_type, g.c_type = shape.c_type;
  g.precision = shape.precision;
  g.a_transposed = shape.a_transposed, g.b_transposed = shape.b_transposed;
  g.m = shape.m, g.k = shape.k;
  g.a = in1.address, g.b = in2.address, g.c = at_.out;
  g.lda = in1.pitch, g.ldb = in2.pitch, g.ldc = as_it_lies(roles.out, at_.out).pitch;
  put_mask(g, 0, 0);
  g.workspace = arena_.take(static_cast<std::int64_t>(product::workspace(g)));
  if (device_ != nullptr) gemm(g, stream_);
}

// Both operands' pieces, their products, and the pass once more if the device wants it: then everything that was stored is
// stored anew, or nothing was: with beta every launch stores its own results (tensor_cores::fits).
void Pass::run_pieces() {
  if (p_.layout != Layout::channels_last) {
    run_pieces_copied();
    return;
  }
  const bool by_name = product::is_forced(forced_);
  if (by_name && !product::is_one(p_)) throw InvalidArgument("conv: this is no product of matrices");
  if (by_name || (forced_.kernel.empty() && forced_.splits == 0 && product::of_float32(pass_, p_, e_))) {
    run_as_product();
    return;
  }
  const two_pieces::Way way = two_pieces::way_of(pass_, p_, forced_);
  if (way.windows && way.windows->apart) {
    run_pieces_apart();
    return;
  }
  const Roles roles = roles_of(pass_);
  const std::int64_t products = pieces::products_of(pass_, p_);
  ranges_ = arena_.take(bf16x6::kRangeBytes);
  most_exponents_ = bf16x6::most_exponents(products);
  const Pixels out = as_it_lies(roles.out, at_.out);
  if (way.two) {
    in_two_pieces(way.windows, products, out);
  } else if (way.cells) {
    forced_ = piece_cells::behind(forced_);
    pass_ == ConvPass::update ? cells_in_pieces_update(*way.cells, out) : cells_in_pieces_fprop(*way.cells, out);
  } else if (way.windows) {
    forced_ = windows::behind(forced_);
    windows_in_three_pieces(*way.windows, out);
  } else {
    in_three_pieces(out);
  }
  if (device_ == nullptr) return;
  queue_if(*device_, pass_, p_, at_, e_, stream_.handle(), ranges_, most_exponents_, unless_);
  if (masked_ && e_.mask != 0) mask_if();
}

// Pixels of the result side by side, as windows want them, and a copy to their places. Stochastic rounding is refused where they lie apart.
void Pass::run_pieces_apart() {
  const Role role = roles_of(pass_).out;
  ConvProblem inner = p_;
  (role == Role::x ? inner.x_pitch : inner.y_pitch) = 0;
  ConvPointers at = at_;
  const Strided beside = as_laid_out(Layout::channels_last, shape(role));
  at.out = arena_.take(width_of(Dtype::float32) * elements_of(p_, role));
  if (e_.beta != 0) copy(at_.out, Dtype::float32, laid_out(role), at.out, Dtype::float32, beside);
  at.workspace = arena_.take(0);
  Pass pass(device_, pass_, inner, at, e_, stream_, forced_);
  pass.run();
  arena_.take(static_cast<std::int64_t>(pass.workspace()));
  copy(at.out, Dtype::float32, beside, at_.out, Dtype::float32, laid_out(role));
  masked_ = pass.masked();
}

// Of operands as they lie.
void Pass::in_three_pieces(const Pixels& out) {
  const Roles roles = roles_of(pass_);
  const Pixels from1 = as_it_lies(roles.in1, at_.in1);
  const Pixels from2 = as_it_lies(roles.in2, at_.in2);
  Pixels in1 = pieces::of(from1);
  Pixels in2 = pieces::of(from2);
  in1.address = arena_.take(pieces::bytes(in1));  // of dy: which is not known to be aligned when this is counted
  in2.address = arena_.take(pieces::bytes(in2));
  // Of whole blocks of channels by name alone: what that takes has not been measured.
  if (pieces::splits_on_the_way(forced_)) split_on_the_way(pieces::work_of(pass_, p_), from1);
  if (device_ != nullptr && split_) {
    pieces::split_one(*device_, pieces::rows_of(from2, in2.address), ranges_ + bf16x6::kRangeBytes / 2,
                      stream_.handle());
  } else if (device_ != nullptr) {
    pieces::split(*device_, pieces::rows_of(from1, in1.address), pieces::rows_of(from2, in2.address), ranges_,
                  stream_.handle());
  }
  pass_ == ConvPass::update ? update(in1, in2, out) : positions(in1, in2, out);
}

// Two pieces, and three or multiply-adds where the device finds that two do not tell an operand exactly enough; then what they have lost.
void Pass::in_two_pieces(const std::optional<windows::Windows>& in_windows, std::int64_t products, const Pixels& out) {
  const Roles roles = roles_of(pass_);
  const bool is_update = pass_ == ConvPass::update;
  const Forced given = forced_;
  const Forced named = two_pieces::behind(given);
  two_pieces::Operands both;
  both.in1 = as_it_lies(roles.in1, at_.in1);
  both.in2 = as_it_lies(roles.in2, at_.in2);
  both.windows = in_windows;
  forced_ = both.windows ? windows::behind(named) : named;
  const bool in_lines = both.windows && !is_update;  // of in1; of an update's in2:
  const bool lines = both.windows && is_update;
  const bool at_once = in_lines && two_pieces::strict_at_once(pass_, p_, given);
  // Three of each lie where two do, but where those are elsewhere: shared ones, and lines of in1.
  Pixels in1 = pieces::of(both.in1);
  Pixels in2 = lines ? both.windows->images(p_.n, 0) : pieces::of(both.in2);
  in1.address = both.in1_pieces = arena_.take(at_once ? 0 : pieces::bytes(in1));
  in2.address = both.in2_pieces =
      arena_.take(lines ? both.windows->images_bytes(p_.n, pieces::kThree) : pieces::bytes(in2));
  if (!both.windows) {
    both.in1_shared = shared(roles.in1);
    both.in2_shared = shared(roles.in2);
  }
  if (both.in1_shared.address != 0) moved1_ = two_pieces::shared_at(both.in1_shared) - in1.address;
  if (both.in2_shared.address != 0) moved2_ = two_pieces::shared_at(both.in2_shared) - in2.address;
  if (in_lines) both.in1_pieces = arena_.take(both.windows->images_bytes(p_.n, pieces::kTwo));
  const std::uint64_t statistics = arena_.take(bf16x6::kStatisticsBytes);
  const bool add_lost = two_pieces::can_add_lost(pass_, e_);
  unless_ = two_pieces::unless(pass_, both, statistics, products);
  if (device_ != nullptr) two_pieces::split(*device_, pass_, both, statistics, add_lost, stream_.handle());
  if (in_lines) {
    launch_windows(*both.windows, pieces::kTwo, both.in1_pieces, both.in2_pieces, out);
    forced_.kernel.clear();
    forced_.splits = 1;  // three pieces leave no parts either
    done_in_windows_ = true;
  }
  if (at_once) {
    ranges_ = 0;
  } else {
    const bf16x6::Split first = pieces::rows_of(both.in1, in1.address);
    const bf16x6::Split second =
        lines ? both.windows->split(both.in2, in2.address) : pieces::rows_of(both.in2, in2.address);
    if (device_ != nullptr) pieces::split(*device_, first, second, ranges_, stream_.handle(), unless_);
    if (lines) {
      const std::int64_t window = both.windows->span * both.windows->depth;
      update(in1, in2, out, both.windows->taps, window, {1, 1, window, p_.k});
    } else {
      is_update ? update(in1, in2, out) : positions(in1, in2, out);
    }
  }
  if (device_ == nullptr || !add_lost) return;
  Epilogue own = e_;
  if (!masked_) own.mask = 0;
  two_pieces::add_lost(*device_, pass_, p_, both, out, own, unless_, stream_.handle());
}

// What passes share of an operand: two pieces of fours of channels, which update does not leave, but take.
ConvPieces Pass::shared(Role role) const {
  if (role == Role::w || !two_pieces::can_share(pass_, p_, role, e_)) return {};
  const ConvPieces out = role == Role::x ? at_.x_pieces : at_.y_pieces;
  return out.made == (pass_ == ConvPass::update) ? out : ConvPieces{};
}

// conv_if.sass knows no bits.
void Pass::mask_if() {
  Values condition;
  unless_.put(condition.u64(ranges_).u32(most_exponents_));
  sgemm::mask_if_plan(device_->registry(), masked_matrix(pass_, p_, at_), condition).launch(*device_, stream_.handle());
}

// Whether conv_split.sass computes this update, whose dy lies so. It stores what it finds before anything is known of dy, so not with beta.
void Pass::split_on_the_way(const hconv::Work& work, const Pixels& dy) {
  const bool named = pieces::splits_on_the_way(forced_);
  Forced of_parts = forced_;
  if (named) of_parts.kernel.clear();
  const std::int64_t splits = pieces::choose(work, hgemm::kProcessors, e_.beta != 0, of_parts).splits;
  if (e_.beta == 0 && p_.k % kQuad == 0 && dy.pitch % kQuad == 0 && dy.address % 16 == 0) {
    split_ = pieces::on_the_way(work, p_.y_elements(), splits, hgemm::kProcessors, forced_);
  }
  if (named && !split_) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  if (named) forced_ = of_parts;
  if (split_) dy_ = dy;
}

// The product of pieces in one launch, or, where two pieces may do, in the first of two that cut sums alike.
void Pass::launch_pieces(const Launch& l, const Packs& packs) {
  const hconv::Work work = work_of(l, packs);
  const bool uncut = e_.beta != 0 || !l.classes.empty();
  Forced forced = forced_;
  if (unless_.statistics != 0 && !done_in_windows_) {
    Launch first = l;
    first.of_two_pieces = true;
    first.a.address += moved1_;
    first.b.address += moved2_;
    const hconv::Choice two = pieces::choose(work, multiprocessors(), uncut, forced, pieces::kTwo);
    launch_product(first, two, 0);
    forced.splits = two.splits;
  }
  hconv::Choice choice = pieces::choose(work, multiprocessors(), uncut, forced);
  if (!split_) {
    launch_product(l, choice, 0);
    return;
  }
  Launch own = l;
  own.w = dy_;
  own.on_the_way = true;
  choice.tile = split_->tile;
  launch_product(own, choice, 0);
}

// fprop of few channels.
void Pass::cells_in_pieces_fprop(const piece_cells::Cells& c, const Pixels& out) {
  Pixels x = c.images(p_.n);
  Pixels w = c.filters(p_.k);
  x.address = arena_.take(c.images_bytes(p_.n));
  w.address = arena_.take(c.filters_bytes(p_.k));
  if (device_ != nullptr) {
    piece_cells::split_images(*device_, c, p_, at_.in1, x.address, ranges_, stream_.handle());
    piece_cells::split_filters(*device_, c, p_, at_.in2, w.address, ranges_ + bf16x6::kRangeBytes / 2,
                               stream_.handle());
  }
  const Packs one = {1, 1, kBlock, p_.k};
  launch_pieces(some_positions(c.taps, x, w, out, one, 0, 1), one);
}

// Three pieces of lines.
void Pass::windows_in_three_pieces(const windows::Windows& w, const Pixels& out) {
  const Roles roles = roles_of(pass_);
  const Pixels from = as_it_lies(roles.in2, at_.in2);
  const std::uint64_t images = arena_.take(w.images_bytes(p_.n, pieces::kThree));
  const std::uint64_t filters = arena_.take(pieces::bytes(pieces::of(from)));
  if (device_ != nullptr) {
    pieces::split(*device_, w.split(as_it_lies(roles.in1, at_.in1), images), pieces::rows_of(from, filters), ranges_,
                  stream_.handle());
  }
  launch_windows(w, pieces::kThree, images, filters, out);
}

// The product of windows, in one part. Results that share a window are columns side by side, as they lie.
void Pass::launch_windows(const windows::Windows& w, const pieces::Kind& kind, std::uint64_t images,
                          std::uint64_t filters, const Pixels& out) {
  const std::size_t mark = arena_.mark();
  const std::uint64_t columns = arena_.take(w.filters_bytes(kind));
  const std::int64_t vector = static_cast<std::int64_t>(sizeof(float)) * w.columns();
  const windows::Repeated bias = {at_.bias, arena_.take(vector)};
  const windows::Repeated scale = {e_.scale, arena_.take(vector)};
  arena_.release(mark);
  if (device_ != nullptr)
    windows::move_filters(*device_, pass_, p_, w, kind, filters, columns, bias, scale, stream_.handle());
  Pixels wide = out;
  wide.channels = w.columns();
  wide.pitch *= w.results;
  wide.size[0] /= w.results;
  // Bits of several pixels are those of a row where each has whole words.
  if (w.results > 1 && (out.channels % kMaskWord != 0 || e_.ld_mask * kMaskWord != out.channels)) masked_ = false;
  const Packs one = {1, 1, w.span * w.depth, w.columns()};
  Launch l = some_positions(w.taps, w.images(p_.n, images), w.columns_of(columns), wide, one, 0, 1);
  l.pass = 'f';
  l.of_two_pieces = kind.pieces == pieces::kTwo.pieces;
  l.gemm.ld_mask *= w.results;
  if (at_.bias != 0) l.gemm.bias = bias.wide;
  if (e_.scale != 0) l.gemm.scale = scale.wide;
  launch_product(l, pieces::choose(work_of(l, one), multiprocessors(), true, forced_, kind), 0);
}

// update of few channels: the gradient of the filters of cells, from which that of the filters is copied.
void Pass::cells_in_pieces_update(const piece_cells::Cells& c, const Pixels& out) {
  const Pixels from = as_it_lies(Role::y, at_.in1);
  Pixels dy = pieces::of(from);
  Pixels x = c.images(p_.n);
  dy.address = arena_.take(pieces::bytes(dy));
  x.address = arena_.take(c.images_bytes(p_.n));
  const std::int64_t taps = c.taps.all_taps();
  Launch l;
  l.pass = 'u';
  l.gather = c.taps;
  l.x = x;
  l.w = dy;
  l.gemm = epilogue(0, taps * kBlock);
  l.gemm.m = p_.k;
  l.gemm.k = ceil_div(dy.count(), kBlock) * kBlock;
  l.gemm.c = arena_.take(4 * p_.k * taps * kBlock);
  l.gemm.c_type = Dtype::float32;
  l.gemm.ldc = taps * kBlock;
  l.bytes = static_cast<double>(c.images_bytes(p_.n) + pieces::bytes(dy));
  const Packs one = {1, 1, kBlock, p_.k};
  split_on_the_way(work_of(l, one), from);
  if (device_ != nullptr) {
    if (!split_) pieces::split_one(*device_, pieces::rows_of(from, dy.address), ranges_, stream_.handle());
    piece_cells::split_images(*device_, c, p_, at_.in2, x.address, ranges_ + bf16x6::kRangeBytes / 2, stream_.handle());
  }
  l.a = rows_map(dy);
  l.b = columns_map(x, c.taps, false, static_cast<std::uint32_t>(kBlock));
  launch_pieces(l, one);
  // Rows in whole cells, and those of the last one that the filter does not fill; columns likewise.
  const std::int64_t line = p_.filter[2] * p_.c;
  const std::int64_t run = c.size[1] * p_.c;
  const Shape in_cells = {taps * kBlock, c.taps.taps[0] * kBlock, run, c.channels, 1};
  const Shape in_filter = {p_.filter[1] * line, c.size[0] * line, line, run, 1};
  for (std::int64_t r = 0; r < p_.filter[1];) {
    const std::int64_t rows = std::min(c.size[0], p_.filter[1] - r);
    const std::int64_t high = rows == c.size[0] ? p_.filter[1] / rows : 1;
    for (std::int64_t s = 0; s < line;) {
      const std::int64_t width = std::min(run, line - s);
      const std::int64_t wide = width == run ? line / width : 1;
      const Shape some = {p_.k, high, rows, wide, width};
      copy(l.gemm.c + static_cast<std::uint64_t>(4 * (r / c.size[0] * in_cells[1] + s / run * c.channels)),
           Dtype::float32, {some, in_cells}, out.address + static_cast<std::uint64_t>(4 * (r * line + s)), out.type,
           {some, in_filter});
      s += wide * width;
    }
    r += high * rows;
  }
}

}  // namespace nervanagpu::conv_detail::tensor_cores
