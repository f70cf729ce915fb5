// Launches of halo.sass, halo_swapped.sass, halo_update.sass, resident.sass and cells.sass: taps that share what is gathered.
#include "kernels/conv/bytes.h"
#include "kernels/conv/pass/pass.h"

namespace nervanagpu::conv_detail::tensor_cores {

halo::Work Pass::halo_work(const Launch& l) {
  halo::Work w = {l.pass, l.gather, l.x.size, l.x.n, l.x.channels, l.gemm.n, l.bytes};
  if (l.pass == 'f') w.channels = l.w.channels, w.stored = l.x.channels;  // cells' filters have whole products
  return w;
}

halo::Work Pass::resident_work(const Launch& l) {
  const Pixels& x = l.gathered;
  return {'f', l.gather, x.size, x.n, l.gemm.k / l.gather.all_taps(), l.gemm.n, l.bytes, x.channels};
}

// As halo.sass and resident.sass count channels: two bytes are one. None: their number is odd.
std::optional<Pass::Launch> Pass::in_channels_of_16_bits(const Launch& l) {
  if (!sgemm::byte(l.gemm.a_type)) return l;
  Launch out = l;
  for (Pixels* t : {&out.x, &out.w}) {
    if (t->channels % 2 != 0 || t->pitch % 2 != 0) return std::nullopt;
    t->type = Dtype::float16;  // as the copy engine is told
    t->channels /= 2;
    t->pitch /= 2;
  }
  return out;
}

// halo.sass's variant, where that is faster: a function of the problem alone.
std::optional<halo::Choice> Pass::shares_taps(const Launch& l, int multiprocessors) const {
  if (l.pass == 'u' || l.packs > 1 || forced_.splits > 1) return std::nullopt;
  if (!sgemm::half(l.gemm.c_type) && !sgemm::byte(l.gemm.a_type)) return std::nullopt;
  if (!forced_.kernel.empty() && !halo::is_forced(forced_)) return std::nullopt;
  const halo::Work work = halo_work(l);
  std::optional<halo::Choice> out = halo::choose(work, hgemm::kProcessors, forced_);
  if (halo::is_forced(forced_)) {
    if (!out) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
    return out;
  }
  if (!out || out->microseconds >= hconv::least_microseconds(plain_work(l))) return std::nullopt;
  return multiprocessors == hgemm::kProcessors ? out : halo::choose(work, multiprocessors);
}

void Pass::launch_halo(const Launch& l, const halo::Choice& choice) {
  note([&] {
    return Modelled{
        std::string("halo_") + l.pass + "_" + hgemm::shape_name(choice.tile), 1,
        [work = halo_work(l), choice](const Costs& costs) { return halo::microseconds(work, choice, costs); }};
  });
  if (device_ == nullptr) return;
  GemmProblem g = l.gemm;
  g.m = choice.frame.places(l.x.n);
  const std::int64_t channels = l.pass == 'f' ? l.w.channels : l.x.channels;  // cells' filters have whole products
  g.k = ceil_div(channels, kBlock) * block_of(g.a_type);
  Values v;
  v.map(device_->encode_tensor_map(halo::patch_map(l.x, l.gather, choice.frame, choice.rows())));
  v.map(device_->encode_tensor_map(halo::filters_map(l.pass, l.w)));
  hgemm::put_tiles(v, g, choice.tile, 1, 1);
  if (sgemm::half(g.c_type)) put_parts(v, g, choice.tile, l.first_column);
  halo::put(v, l.pass, l.gather, choice, channels);
  const Kernel* kernel = halo::find(device_->registry(), l.pass, g.a_type, g.c_type, choice.tile);
  v.launch(*device_, *kernel, grid_of(g, choice.tile), stream_.handle());
}

// What a launch takes on an H200 by halo.sass, resident.sass or hconv.sass.
double Pass::without_swapping(const Launch& l) const {
  double least = hconv::least_microseconds(plain_work(l));
  const std::optional<halo::Choice> streams = halo::choose(halo_work(l), hgemm::kProcessors);
  if (streams) least = std::min(least, streams->microseconds);
  Launch kept = l;
  if (const auto keeps = keeps_filters(kept, streams, hgemm::kProcessors)) least = std::min(least, keeps->microseconds);
  return least;
}

// halo_swapped.sass's variant, where that is faster. How many taps a product has is a function of the problem alone: sums
// depend on it.
std::optional<swapped::Choice> Pass::swaps_operands(const Launch& l) const {
  const bool forced = swapped::is_forced(forced_);
  if (!forced && (!forced_.kernel.empty() || forced_.splits > 1)) return std::nullopt;
  const bool strided = p_.stride != decltype(p_.stride){1, 1, 1};
  if (l.pass == 'u' || l.packs > 1 || p_.groups > 1 || strided || !sgemm::half(l.gemm.c_type)) return std::nullopt;
  if (l.pass == 'b' && l.x.channels % kEight != 0) return std::nullopt;  // taps of the filters' copy
  const halo::Work work = halo_work(l);
  std::optional<swapped::Choice> out = swapped::choose(work, hgemm::kProcessors, 0, forced_);
  if (forced && !out) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  if (forced || !out) return out;
  constexpr double kClearly = 0.97;  // the model is 8 % off
  if (out->microseconds >= kClearly * without_swapping(l)) return std::nullopt;
  const int here = multiprocessors();
  return here == hgemm::kProcessors ? out : swapped::choose(work, here, out->taps);
}

void Pass::launch_swapped(const Launch& l, const swapped::Choice& choice) {
  const std::size_t mark = arena_.mark();
  Pixels w = l.w;
  if (l.pass == 'b') {
    w = filters(0, l.gemm.n, l.x.channels);  // copied
    w.size = l.gather.taps;
    w.n = l.gemm.n;
    w.channels = w.pitch = l.x.channels;
  }
  arena_.release(mark);
  note([&] {
    return Modelled{"swapped_" + hgemm::shape_name(choice.tile), 1, [work = halo_work(l), choice](const Costs& costs) {
                      return swapped::microseconds(work, choice, costs);
                    }};
  });
  if (device_ == nullptr) return;
  GemmProblem g = l.gemm;
  g.m = choice.frame.places(l.x.n);
  g.k = ceil_div(w.channels, kBlock) * block_of(g.a_type);
  Values v;
  v.map(device_->encode_tensor_map(swapped::patch_map(l.x, l.gather, choice)));
  v.map(device_->encode_tensor_map(swapped::filters_map(w, choice)));
  hgemm::put_tiles(v, g, choice.tile, 1, 1);
  sums_ = false;
  swapped::put(v, l.gather, choice, l.x, w);
  const Kernel* kernel = swapped::find(device_->registry(), g.a_type, g.c_type, choice.tile);
  v.launch(*device_, *kernel, grid_of(g, choice.tile), stream_.handle());
}

// resident.sass's variant instead of gconv.sass's, where that is faster. The sums are the same, product for product: so it may
// depend on where x lies, and on the GPU.
std::optional<resident::Choice> Pass::keeps_filters(const Launch& l, int multiprocessors) const {
  const bool forced = resident::is_forced(forced_);
  if (!forced && (!forced_.kernel.empty() || forced_.splits > 1)) return std::nullopt;
  const Pixels& x = l.gathered;
  if (!sgemm::half(l.gemm.c_type) || x.pitch % kEight != 0 || x.address % 16 != 0) return std::nullopt;
  const halo::Work work = resident_work(l);
  const std::optional<resident::Choice> out = resident::choose(work, multiprocessors, forced_);
  if (forced && !out) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  if (forced || !out) return out;
  const std::int64_t run = gconv::usual_run(x.channels);
  const hconv::Choice gathers = gconv::choose(l.pass, l.gemm, run, l.bytes, multiprocessors, {});
  if (gathers.splits > 1) return std::nullopt;
  return out->microseconds < gconv::microseconds(l.pass, l.gemm, run, l.bytes, gathers) ? out : std::nullopt;
}

// resident.sass's variant instead of halo.sass's, of a single block of channels: the sums are the same again.
std::optional<resident::Choice> Pass::keeps_filters(Launch& l, const std::optional<halo::Choice>& streams,
                                                    int multiprocessors) const {
  using halo::kStep;
  const std::int64_t channels = l.w.channels;
  const bool forced = resident::is_forced(forced_) && sgemm::byte(l.gemm.a_type);  // else gathered
  if (!streams && !forced) return std::nullopt;
  if (l.pass != 'f' || halo::is_forced(forced_) || channels > kBlock || channels % kStep != 0 ||
      l.x.channels != channels || l.w.pitch != channels || l.x.pitch % kEight != 0 || l.x.address % 16 != 0)
    return std::nullopt;
  l.gathered = l.x;
  l.gemm.k = l.gather.all_taps() * channels;
  const std::optional<resident::Choice> out =
      resident::choose(resident_work(l), multiprocessors, forced ? forced_ : Forced{});
  if (!out || (!forced && out->microseconds >= streams->microseconds)) return std::nullopt;
  l.b = rows_map({l.w.address, l.w.type, l.gemm.k, l.gemm.k, {l.w.n, 1, 1}, 1});
  return out;
}

void Pass::launch_resident(const Launch& l, const resident::Choice& choice) {
  note([&] {
    return Modelled{
        "resident_" + std::to_string(choice.row) + "_" + hgemm::shape_name(choice.tile), 1,
        [work = resident_work(l), choice](const Costs& costs) { return resident::microseconds(work, choice, costs); }};
  });
  if (device_ == nullptr) return;
  GemmProblem g = l.gemm;
  g.m = choice.frame.places(l.gathered.n);
  g.k = block_of(g.a_type);
  TensorMap b = l.b;
  b.box[1] = static_cast<std::uint32_t>(choice.tile.bn);
  Values v;
  v.map(device_->encode_tensor_map(resident::patch_map(l.gathered, l.gather, choice)));
  v.map(device_->encode_tensor_map(b));
  hgemm::put_tiles(v, g, choice.tile, 1, 1);
  if (sgemm::half(g.c_type)) put_parts(v, g, choice.tile, l.first_column);
  resident::put(v, l.gather, choice, l.gemm.k / l.gather.all_taps());
  const Kernel* kernel = resident::find(device_->registry(), g.a_type, g.c_type, choice);
  v.launch(*device_, *kernel, grid_of(g, choice.tile), stream_.handle());
}

halo_update::Work Pass::shared_work(const Launch& l) {
  return {l.gather, l.x.size, l.x.n, l.x.channels, l.gemm.m, l.bytes};
}

// halo_update.sass's cut, where that is faster: a function of the problem alone.
std::optional<halo_update::Choice> Pass::shares_products(const Launch& l) const {
  const bool forced = halo_update::is_forced(forced_);
  if (l.pass != 'u' || p_.groups > 1 || l.gathered.channels != 0) return std::nullopt;
  if (!forced && (!forced_.kernel.empty() || forced_.splits != 0)) return std::nullopt;
  std::optional<halo_update::Choice> out = halo_update::choose(shared_work(l), forced_);
  if (forced && !out) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  if (forced || (out && out->microseconds < hconv::microseconds(plain_work(l)))) return out;
  return std::nullopt;
}

// Sums of all splits in the workspace, and their sum.
void Pass::launch_halo_update(const Launch& l, const halo_update::Choice& choice) {
  const halo_update::Work work = shared_work(l);
  const std::size_t mark = arena_.mark();
  GemmProblem g = l.gemm;
  g.workspace = arena_.take(choice.sums_bytes(work));
  arena_.release(mark);
  note([&] {
    return Modelled{halo_update::name_of(choice), choice.splits(),
                    [work, choice](const Costs& costs) { return halo_update::microseconds(work, choice, costs); }};
  });
  if (device_ == nullptr) return;
  Values v;
  v.map(device_->encode_tensor_map(halo_update::dy_map(l.w, l.gather, choice)));
  v.map(device_->encode_tensor_map(halo_update::x_map(l.x, l.gather, choice)));
  halo_update::put(v, work, choice, g.workspace, l.w, l.x);
  const Kernel* kernel = halo_update::find(device_->registry(), g.a_type, choice);
  v.launch(*device_, *kernel, halo_update::grid(work, choice), stream_.handle());
  split_sum::Sum sum = sgemm::sum_of(g, choice.splits());
  sum.rows = work.filters * work.taps.all_taps();
  sum.cols = sum.ld = work.channels;
  sum.pitch = choice.depth;
  const split_sum::Plan end = split_sum::plan(device_->registry(), sum);
  end.values.launch(*device_, *end.kernel, end.grid, stream_.handle());
}

// halo.sass stores 16-bit results: what is rounded stochastically by a copy after it is gathered.
std::optional<cells::Cells> Pass::in_cells() const {
  const bool forced = cells::is_forced(forced_);
  if (!forced && (!forced_.kernel.empty() || forced_.splits > 1)) return std::nullopt;
  if (pass_ == ConvPass::update) {  // the last copies know neither
    if (e_.beta != 0 || e_.rounding.stochastic) return std::nullopt;
    const std::optional<cells::Cells> c = cells::cells_of(pass_, p_);
    return c && (forced ? halo_update::choose(cells::update_of(*c, p_)).has_value() : cells::update_pays(*c, p_))
               ? c
               : std::nullopt;
  }
  if (pass_ != ConvPass::fprop) return std::nullopt;
  if (rounded_by_copy() || byte_results::asked(p_)) return std::nullopt;
  std::optional<cells::Cells> c = cells::cells_of(pass_, p_);
  if (c && (forced ? !sgemm::byte(p_.x_type) || bytes::exact_in_float16(p_) : cells::pays(*c, p_))) return c;
  return std::nullopt;
}

// update of few channels: the gradient of the filters of cells, from which those of the filters are copied.
void Pass::cells_update(const cells::Cells& c, const Pixels& dy, const Pixels& out) {
  const std::size_t mark = arena_.mark();
  Launch l;
  l.pass = 'u';
  l.gather = c.taps;
  l.x = {arena_.take(c.images_bytes(p_.n)), p_.x_type, c.channels, c.channels, {c.pixels[1], c.pixels[0], 1}, p_.n};
  l.w = dy;
  const std::int64_t taps = c.taps.all_taps();
  const std::uint64_t gradient = arena_.take(4 * p_.k * taps * c.channels);
  note([&] {
    return Modelled{"cells", 1, [c, p = p_](const Costs& costs) { return cells::microseconds(c, p, costs); }};
  });
  if (device_ != nullptr) cells::copy_images(*device_, c, p_, at_.in2, l.x.address, stream_);
  l.gemm = epilogue(0, taps * c.channels);
  l.gemm.m = p_.k;
  l.gemm.k = ceil_div(dy.count(), kBlock) * kBlock;
  l.gemm.c = gradient;
  l.gemm.c_type = Dtype::float32;
  l.gemm.ldc = taps * c.channels;
  const halo_update::Work work = cells::update_of(c, p_);
  l.bytes = work.bytes;
  const auto choice = halo_update::choose(work, halo_update::is_forced(forced_) ? forced_ : Forced{});
  if (!choice) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  launch_halo_update(l, *choice);
  // Rows of the filters that lie in the same rows of their cells; whole cells of a row, and the last one's rest.
  const auto width = width_of(out.type);
  const std::int64_t line = p_.filter[2] * p_.c;
  const std::int64_t run = c.step[1] * p_.c;
  const std::int64_t in_cells = c.taps.taps[0];
  for (std::int64_t r = 0; r < std::min(c.step[0], p_.filter[1]); ++r) {
    const std::int64_t rows = ceil_div(p_.filter[1] - r, c.step[0]);
    for (std::int64_t from = 0; from < line;) {
      const std::int64_t whole = from == 0 ? line / run : 0;
      const Shape some = {p_.k, rows, whole > 0 ? whole : 1, whole > 0 ? run : line - from};
      copy(gradient + static_cast<std::uint64_t>(4 * (from / run * c.channels + r * run)), Dtype::float32,
           {some, {taps * c.channels, in_cells * c.channels, c.channels, 1}},
           out.address + static_cast<std::uint64_t>(width * (r * line + from)), out.type,
           {some, {p_.filter[1] * line, c.step[0] * line, run, 1}});
      from += some[2] * some[3];
    }
  }
  arena_.release(mark);
}

// fprop of few channels, whose strides are in the copies.
void Pass::cells_fprop(const cells::Cells& c, const Pixels& out) {
  const std::size_t mark = arena_.mark();
  Launch l;
  l.pass = 'f';
  l.gather = c.taps;
  const Dtype type = sgemm::byte(p_.x_type) ? Dtype::float16 : p_.x_type;
  l.x = {arena_.take(c.images_bytes(p_.n)), type, c.channels, c.channels, {c.pixels[1], c.pixels[0], 1}, p_.n};
  l.w = {arena_.take(c.filters_bytes(p_.k)), type, c.wide, c.wide, c.taps.taps, p_.k};
  note([&] {
    return Modelled{"cells", 1, [c, p = p_](const Costs& costs) { return cells::microseconds(c, p, costs); }};
  });
  if (device_ != nullptr) {
    cells::copy_images(*device_, c, p_, at_.in1, l.x.address, stream_);
    cells::copy_filters(*device_, c, p_, at_.in2, l.w.address, stream_);
  }
  l.gemm = epilogue(0, out.channels);
  l.gemm.a_type = l.gemm.b_type = type;
  l.gemm.m = p_.n * c.taps.count();
  l.gemm.c = out.address;
  l.gemm.c_type = out.type;
  l.gemm.ldc = out.pitch;
  put_mask(l.gemm, 0, 0);
  expect_parts(l);
  l.bytes = static_cast<double>(c.images_bytes(p_.n)) + static_cast<double>(c.filters_bytes(p_.k)) +
            static_cast<double>(size_of(p_.y_type)) * static_cast<double>(p_.y_elements());
  arena_.release(mark);
  const halo::Work work = halo_work(l);
  // Both add the same products in the same order: of at most 64 channels.
  const std::optional<halo::Choice> streams =
      resident::is_forced(forced_) ? std::nullopt : halo::choose(work, multiprocessors(), forced_);
  const std::optional<resident::Choice> keeps =
      halo::is_forced(forced_) ? std::nullopt : resident::choose(work, multiprocessors(), forced_);
  if (keeps && (!streams || keeps->microseconds < streams->microseconds)) {
    l.gathered = l.x;
    l.gemm.k = c.taps.all_taps() * c.wide;  // whole products
    l.b = rows_map({l.w.address, l.w.type, l.gemm.k, l.gemm.k, {p_.k, 1, 1}, 1});
    launch_resident(l, *keeps);
  } else if (streams) {
    launch_halo(l, *streams);
  } else {
    throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  }
}

}  // namespace nervanagpu::conv_detail::tensor_cores
