#include "kernels/conv/pass/pass.h"

#include "kernels/conv/few_channels.h"

namespace nervanagpu::conv_detail::tensor_cores {
namespace {

constexpr std::string_view kHalfBlocks = "_h_";  // in front of the tile of a forced kernel

}  // namespace

void Pass::copy(std::uint64_t from, Dtype from_type, const Strided& from_layout, std::uint64_t to, Dtype to_type,
                const Strided& to_layout, const Rounding& rounding) {
  note([&] {
    double bytes = static_cast<double>(width_of(to_type));
    for (const std::int64_t length : to_layout.shape) bytes *= static_cast<double>(length);
    return Modelled{"copy", 1, [bytes](const Costs& costs) { return copy_microseconds(bytes, costs); }};
  });
  if (device_ == nullptr) return;
  Tensor target = Tensor::wrap(to, to_layout.shape, to_layout.strides, to_type);
  convert(Tensor::wrap(from, from_layout.shape, from_layout.strides, from_type), target, rounding, stream_);
}

Pixels Pass::as_it_lies(Role role, std::uint64_t address) const {
  const Shape s = shape(role);
  return {address, type_of(p_, role), s[4], pitch_of(p_, role), {s[3], s[2], s[1]}, s[0]};
}

// With channels last and pixels of multiples of `unit` elements: as it lies, or a copy.
Pixels Pass::operand(Role role, std::uint64_t address, std::int64_t unit) {
  Pixels t = as_it_lies(role, address);
  if (p_.layout == Layout::channels_last && t.pitch % unit == 0) return t;
  const Shape s = shape(role);
  t.pitch = ceil_div(s[4], unit) * unit;
  t.address = arena_.take(width_of(t.type) * t.count() * t.pitch);
  copy(address, t.type, laid_out(role), t.address, t.type, as_laid_out(Layout::channels_last, s, t.pitch));
  return t;
}

// The same, with the channels of each pack at a multiple of 16 bytes: zeros may lie between.
Pixels Pass::operand_in_packs(Role role, std::uint64_t address, const Packs& packs) {
  const Shape s = shape(role);
  const std::int64_t channels = s[4] / packs.count;
  const Dtype type = type_of(p_, role);
  if (packs.count == 1 || channels % unit_of(type) == 0) return operand(role, address);
  const std::int64_t pack = ceil_div(channels, unit_of(type)) * unit_of(type);
  Pixels t = {0, type, packs.count * pack, packs.count * pack, {s[3], s[2], s[1]}, s[0]};
  t.address = arena_.take(width_of(type) * t.count() * t.pitch);
  if (device_ == nullptr) return t;
  device_->fill(t.address, 0, static_cast<unsigned>(width_of(type)), static_cast<std::size_t>(t.count() * t.pitch),
                stream_.handle());
  Strided from = laid_out(role);
  Strided to = as_laid_out(Layout::channels_last, s, t.pitch);
  for (Strided* l : {&from, &to}) {
    l->shape = {s[0], s[1], s[2], s[3], packs.count, channels};
    l->strides.push_back(l->strides[4]);
  }
  from.strides[4] *= channels;
  to.strides[4] = pack;
  copy(address, type, from, t.address, type, to);
  return t;
}

Pixels Pass::group_of(Pixels t, std::int64_t g) const {
  t.channels /= p_.groups;
  t.address += static_cast<std::uint64_t>(width_of(t.type) * g * t.channels);
  return t;
}

// alpha, beta, bias, relu and rounding of a group's columns.
GemmProblem Pass::epilogue(std::int64_t group, std::int64_t columns) const {
  GemmProblem g;
  g.a_type = operands(roles_of(pass_).in1);
  g.b_type = operands(roles_of(pass_).in2);
  g.n = columns;
  g.alpha = e_.alpha;
  g.beta = e_.beta;
  g.relu = e_.relu;
  g.activation = e_.activation;
  g.clip_low = e_.clip_low;
  g.clip_high = e_.clip_high;
  g.scale = e_.scale == 0 ? 0 : e_.scale + static_cast<std::uint64_t>(group * columns) * sizeof(float);
  g.bias_type = at_.bias_type;
  g.bias = at_.bias == 0 ? 0 : at_.bias + static_cast<std::uint64_t>(group * columns) * size_of(at_.bias_type);
  g.rounding = e_.rounding;
  return g;
}

// Of a group's rows from `row` on; whole words alone.
void Pass::put_mask(GemmProblem& g, std::int64_t row, std::int64_t group) const {
  if (!masked_ || e_.mask == 0) return;
  g.ld_mask = e_.ld_mask;
  g.mask = e_.mask + static_cast<std::uint64_t>(4 * (row * g.ld_mask + group * g.n / kMaskWord));
  if (pass_ == ConvPass::bprop) g.activation = GemmActivation::drelu;
}

// Before the kernel is chosen: rows of tiles are the result's, or places of frames.
void Pass::expect_parts(const Launch& l) {
  constexpr std::int64_t kRows = 256, kPart = 64;
  if (!sums_ || device_ != nullptr || l.pass == 'u') return;
  std::int64_t rows = l.gemm.m;
  const bool few = l.gathered.channels != 0;
  if (few || !sgemm::byte(l.gemm.a_type)) {
    const auto frame = halo::frame_of(few ? resident_work(l) : halo_work(l));
    if (frame) rows = std::max(rows, frame->places(few ? l.gathered.n : l.x.n));
  }
  most_parts_ = std::max(most_parts_, ceil_div(rows, kRows) * kRows / kPart);
}

// After put_tiles(): where the tiles' sums of columns go, in parts of 64 rows.
void Pass::put_parts(Values& v, const GemmProblem& g, const hgemm::Tile& tile, std::int64_t first_column) {
  constexpr std::int64_t kPart = 64;
  const std::int64_t parts = ceil_div(g.m, tile.bm) * tile.bm / kPart;
  sums_ = sums_ && hgemm::stores_plainly(g) && parts <= e_.sums.most_parts && (parts_ == 0 || parts_ == parts);
  if (!sums_) {
    v.u64(0).u32(0).u32(0);
    return;
  }
  parts_ = parts;
  const std::int64_t channels = shape(roles_of(pass_).out)[4];
  const bool squares = e_.sums.squares != 0;
  v.u64(e_.sums.parts + static_cast<std::uint64_t>(first_column) * sizeof(float));
  v.u32(squares ? 2 * channels : channels).u32(squares ? channels : 0);
}

hconv::Work Pass::work_of(const Launch& l, const Packs& packs) const {
  const Dtype type = operands(Role::x);
  hconv::Work out = {l.pass, l.gemm, pairs(packs.c, type), pairs(packs.k, type), l.bytes, l.packs, l.channels != 0};
  for (const classes::Class& c : l.classes) out.taps.push_back(c.all_taps());
  return out;
}

// Without the epilogue: what tells kernels apart whose sums or workspaces differ must not depend on it.
hconv::Work Pass::plain_work(const Launch& l) const {
  hconv::Work out = work_of(l, packs_of(pass_, p_));
  out.product.beta = 0;
  out.product.rounding = {};
  out.product.activation = GemmActivation::none;
  return out;
}

void Pass::launch(const Launch& l) {
  if (in_pieces()) {
    launch_pieces(l, packs_of(pass_, p_));
    return;
  }
  expect_parts(l);
  if (const auto product = as_product(l)) {
    note([&] {
      return Modelled{"gemm", 1, [g = *product](const Costs& costs) { return product::microseconds(g, costs); }};
    });
    multiply(*product);
    return;
  }
  if (const auto products = shares_products(l)) {
    launch_halo_update(l, *products);
    return;
  }
  const bool few = l.gathered.channels != 0;
  const std::int64_t forced_run = few ? gconv::forced_run(forced_) : 0;
  const std::int64_t run = forced_run != 0 ? forced_run : few ? gconv::run_of(l.gathered) : 0;
  if (std::optional<Launch> one = few ? std::nullopt : in_channels_of_16_bits(l)) {
    if (const auto swaps = swaps_operands(*one)) {
      launch_swapped(*one, *swaps);
      return;
    }
    const std::optional<halo::Choice> shared = shares_taps(*one, multiprocessors());
    if (const auto keeps = keeps_filters(*one, shared, multiprocessors())) {
      launch_resident(*one, *keeps);
      return;
    }
    if (shared) {
      launch_halo(*one, *shared);
      return;
    }
  }
  if (few && l.pass == 'f') {
    // Their sums of channels have other orders: one for all GPUs.
    const std::optional<resident::Choice> choice = keeps_filters(l, sums_ ? hgemm::kProcessors : multiprocessors());
    if (choice) {
      launch_resident(l, *choice);
      return;
    }
  }
  const std::size_t mark = arena_.mark();
  if (const auto blocks = in_half_blocks(l)) {
    Forced tile = forced_;
    if (tile.kernel.starts_with(kHalfBlocks)) tile.kernel.erase(0, kHalfBlocks.size() - 1);
    launch_product(*blocks, hconv::choose(work_of(*blocks, packs_of(pass_, p_)), multiprocessors(), tile), 0);
    arena_.release(mark);
    return;
  }
  const hconv::Choice choice =
      few ? gconv::choose(l.pass, l.gemm, gconv::usual_run(l.gathered.channels), l.bytes, multiprocessors(), forced_)
          : hconv::choose(work_of(l, packs_of(pass_, p_)), multiprocessors(),
                          halo::is_forced(forced_) || swapped::is_forced(forced_)
                              ? Forced{}
                              : forced_);  // float32 results are not halo.sass's
  launch_product(l, choice, run);
}

Grid Pass::grid_of(const GemmProblem& g, const hgemm::Tile& tile, std::int64_t splits, std::int64_t packs) const {
  Grid grid = hgemm::tiles_grid(g, tile, splits, device_->info().multiprocessors, packs);
  if (forced_.early) grid.early = *forced_.early;
  return grid;
}

// A plain product, where that is faster: a function of the problem alone.
std::optional<GemmProblem> Pass::as_product(const Launch& l) const {
  const bool forced = product::is_forced(forced_);
  if (!forced && !product::possible(p_)) return std::nullopt;
  if (!forced && (!forced_.kernel.empty() || forced_.splits != 0)) return std::nullopt;
  const bool update = l.pass == 'u';
  const Pixels& a = update ? l.w : l.x;
  const Pixels& b = update ? l.x : l.w;
  GemmProblem g = l.gemm;
  g.a_transposed = update;
  g.b_transposed = l.pass == 'f';
  g.a = a.address, g.b = b.address;
  g.lda = a.pitch, g.ldb = b.pitch;
  if (update) g.n = l.x.channels;
  g.k = update ? l.w.count() : l.x.channels;
  if (!product::possible(p_) || l.packs != 1 || l.gathered.channels != 0 || !hgemm::takes(g)) {
    if (forced) throw InvalidArgument("conv: this is no product of matrices");
    return std::nullopt;
  }
  g.splits = product::splits_of(pass_);
  if (forced) return g;
  return product::microseconds(g) < hconv::microseconds(plain_work(l)) ? std::optional(g) : std::nullopt;
}

// In half blocks (hconv.sass's PASS h), where that is faster: a function of the problem alone.
std::optional<Pass::Launch> Pass::in_half_blocks(const Launch& l) {
  const bool forced = forced_.kernel.starts_with(kHalfBlocks);
  if (l.gathered.channels != 0 || (!forced && (!forced_.kernel.empty() || forced_.splits > 1))) return std::nullopt;
  const hconv::Work work = plain_work(l);
  const auto blocks = hconv::in_half_blocks(work);
  if (!blocks && forced) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  if (!blocks || (!forced && hconv::microseconds(work) <= blocks->microseconds)) return std::nullopt;
  const Pixels rows = filters(0, l.gemm.n, l.x.channels);
  Launch out = l;
  out.pass = blocks->work.pass;
  out.gemm.k = blocks->work.product.k;
  out.divisor = l.x.channels / (kBlock / 2);
  out.a = half_columns_map(l.x, l.gather, l.deep);
  out.b = filters_map({rows.address, rows.type, rows.channels, rows.pitch, {1, 1, 1}, l.gemm.n}, kBox);
  return out;
}

// hconv.sass's, gconv.sass's (a run of channels), conv_bf16x6.sass's or conv_f16x3.sass's.
void Pass::launch_product(const Launch& l, const hconv::Choice& choice, std::int64_t run) {
  const bool few = l.gathered.channels != 0;
  note([&] {
    const std::string tile = hgemm::shape_name(choice.tile);
    if (few) {
      return Modelled{std::string("gconv_") + l.pass + "_" + std::to_string(run) + "_" + tile, choice.splits,
                      [pass = l.pass, g = l.gemm, bytes = l.bytes, run, choice](const Costs& costs) {
                        return gconv::microseconds(pass, g, run, bytes, choice, costs);
                      }};
    }
    return Modelled{std::string("hconv_") + l.pass + "_" + hconv::name_of(choice.tile), choice.splits,
                    [work = work_of(l, packs_of(pass_, p_)), choice](const Costs& costs) {
                      return hconv::microseconds(work, choice, costs);
                    }};
  });
  GemmProblem g = l.gemm;
  const bool sums = choice.splits > 1 || l.channels != 0;  // are left in the workspace
  const std::size_t mark = arena_.mark();
  if (sums) {
    g.workspace = arena_.take(l.packs * choice.splits * g.m * g.n * 4);
    if (g.mask != 0) masked_ = false;  // split_sum knows none
    g.mask = 0;
    if (g.activation == GemmActivation::drelu) g.activation = GemmActivation::none;
  }
  arena_.release(mark);
  if (device_ == nullptr) return;
  split_sum::Sum sum = sgemm::sum_of(g, choice.splits);
  sum.groups = l.packs;
  sum.group_stride = g.stride_c;
  if (l.channels != 0) {
    const std::int64_t taps = l.gather.all_taps();
    sum.rows = g.m * taps;
    sum.cols = sum.ld = l.channels;
    sum.pitch = g.n / taps;
    sum.block = l.block * taps;
  }
  if (sums && choice.splits == 1) {
    g.c = g.workspace;
    g.c_type = Dtype::float32;
    g.ldc = g.n;
    g.stride_c = g.m * g.n;
    g.alpha = 1.0F;
    g.beta = 0.0F;
    g.rounding = {};
  }
  TensorMap a = l.a;
  TensorMap b = l.b;
  if (in_pieces()) {
    l.of_two_pieces ? two_pieces::with_pieces(l.pass, l.x, l.w, a, b)
                    : pieces::with_pieces(pieces::kThree, l.pass, l.x, l.w, a, b);
  }
  if (l.on_the_way) a = b;  // which nobody reads
  if (few && l.pass == 'f') b.box[1] = static_cast<std::uint32_t>(choice.tile.bn);
  if (!few && l.pass != 'u') a.im2col->pixels = static_cast<std::uint32_t>(choice.tile.bm);
  Values v;
  v.map(device_->encode_tensor_map(few && l.pass == 'f' ? b : a));
  v.map(device_->encode_tensor_map(few && l.pass == 'u' ? a : b));
  if (!few && !in_pieces() && (l.pass == 'f' || l.pass == 'h')) {  // boxes of half as many filters
    b.box[2] = static_cast<std::uint32_t>(kBox / 2);
    v.map(device_->encode_tensor_map(b));
  }
  const std::int64_t products = l.packs * std::max<std::int64_t>(static_cast<std::int64_t>(l.classes.size()), 1);
  hgemm::put_tiles(v, g, choice.tile, choice.splits, l.divisor, products);
  const Gather& f = l.gather;
  const Dtype result = sums ? sgemm::sums_of(g) : g.c_type;
  if (sgemm::half(result) && (l.pass == 'f' || l.pass == 'h' || l.pass == 'b')) {
    put_parts(v, g, choice.tile, l.first_column);
  } else {
    sums_ = false;
  }
  const Registry& registry = device_->registry();
  const Kernel* kernel =
      l.on_the_way  ? pieces::find_split(registry, choice.tile)
      : in_pieces() ? pieces::find(registry, l.pass, choice.tile, l.of_two_pieces ? pieces::kTwo : pieces::kThree)
      : few         ? gconv::find(registry, l.pass, g.a_type, result, run, choice.tile)
                    : hconv::find(registry, l.pass, g.a_type, result, choice.tile);
  if (few) {
    const std::int64_t tile = l.pass == 'f' ? kBlock : choice.tile.bn;
    gconv::put(v, f, l.gathered, volume(p_), run, ceil_div(f.all_taps() * l.gathered.channels, tile) * tile);
  } else {
    const std::int64_t shift = l.deep ? 5 : 8;  // of the offsets along height
    v.u32(l.deep ? 1 : 0).divisor(f.positions[0]).divisor(f.positions[1]).divisor(f.positions[2]);
    v.each_s32(f.step).each_s32(f.low).divisor(f.taps[0]).divisor(f.taps[1]);
    v.u32(f.move[0]).u32(f.move[1] << shift).u32(l.deep ? f.move[2] << 2 * shift : 0);
    v.s32(f.tap0).each_s32(f.tap_step);
    v.divisor(l.classes.empty() ? choice.splits : l.packs)
        .u32(l.group_channels)
        .u32(l.group_images)
        .u32(l.group_filters);
    if (l.pass == 'h') v.u32(f.all_taps() * l.divisor);
    if (l.pass == 'c') {
      v.u32(l.rows);
      for (std::size_t axis = 0; axis < 3; ++axis) v.u32(l.row_steps[axis] * f.stride[axis]);
      v.u32(l.row_n);
      classes::put(v, l.classes, ceil_div(l.x.channels, kBlock), l.deep, l.row_steps);
    }
  }
  if (l.on_the_way) {
    v.u32(l.x.n).u64(l.w.address).u64(ranges_).u32(l.w.count()).u32(width_of(l.w.type) * l.w.pitch);
  } else if (in_pieces()) {
    v.u32(l.x.n);
    if (!l.of_two_pieces) v.u64(ranges_).u32(most_exponents_);
    unless_.put(v);
  }
  v.launch(*device_, *kernel, grid_of(g, choice.tile, choice.splits, products), stream_.handle());
  if (!sums || l.of_two_pieces) return;
  const split_sum::Plan end = split_sum::plan(device_->registry(), sum);
  end.values.launch(*device_, *end.kernel, end.grid, stream_.handle());
}

// `count` packs from `first` on. Where the copy engine can tell their channels from those of the next ones, these are zeros
// to it; else w's zeros meet them.
Pass::Launch Pass::some_positions(const Gather& f, const Pixels& gathered, const Pixels& w, const Pixels& out,
                                  const Packs& packs, std::int64_t first, std::int64_t count) const {
  const std::int64_t width = width_of(out.type);
  const std::int64_t from = width_of(gathered.type);
  const std::int64_t block = block_of(gathered.type);
  const std::int64_t columns = out.channels / packs.count;
  Launch l;
  l.pass = pass_ == ConvPass::fprop ? 'f' : 'b';
  l.gather = f;
  l.deep = volume(p_);
  l.packs = count;
  l.x = gathered;
  l.x.channels /= packs.count;
  l.x.address += static_cast<std::uint64_t>(from * first * l.x.channels);
  l.w = w;  // filters of a pack, whose channels are the pack's alone
  l.w.n /= packs.count;
  l.w.address += static_cast<std::uint64_t>(from * first * l.w.count() * w.pitch);
  constexpr std::uint32_t kRows = 128;
  std::optional<Gather> over;
  if (count > 1 && l.x.channels % block != 0) over = over_images(f, p_, l.x.size);
  if (over) {
    l.gather = *over;
    l.deep = true;
    l.group_images = 1;
    l.a = groups_map(l.x, *over, count, kRows);
  } else {
    Pixels all = l.x;
    all.channels *= count;
    l.group_channels = l.x.channels;
    l.a = columns_map(all, f, l.deep, kRows);
  }
  l.b = filters_map(l.w, kBox, count);
  l.gemm = epilogue(first, columns);
  l.gemm.m = p_.n * f.count();
  l.gemm.k = ceil_div(l.x.channels, block) * f.all_taps() * block;
  l.gemm.c = out.address + static_cast<std::uint64_t>(first * columns * width);
  l.gemm.c_type = out.type;
  l.gemm.ldc = out.pitch;
  l.gemm.stride_c = columns;
  l.first_column = first * columns;
  put_mask(l.gemm, 0, first);
  l.gemm.rounding.offset += static_cast<std::uint64_t>(first * columns) / 4;
  l.divisor = f.all_taps();
  l.bytes = static_cast<double>(count) *
            static_cast<double>(from * l.x.n * f.pixels(l.x.size) * l.x.channels +
                                from * l.w.n * f.all_taps() * w.channels + width * l.gemm.m * columns);
  return l;
}

// Of classes of positions of a strided bprop: hconv.sass stores them in their places.
Pass::Launch Pass::of_classes(const classes::Launch& c, const Pixels& gathered, const Pixels& w, const Pixels& out,
                              const Packs& packs) const {
  Launch l = some_positions(c.gather, gathered, w, out, packs, 0, packs.count);
  l.pass = 'c';
  l.classes = c.each;
  l.row_n = out.size[0] * out.size[1] * out.size[2];
  l.rows = p_.n * l.row_n;
  l.row_steps = {1, out.size[0], out.size[0] * out.size[1]};
  if (l.group_images != 0) {  // the depth is that of the images
    l.row_steps[2] = l.row_n;
    for (classes::Class& each : l.classes) each.positions[2] = l.gather.positions[2];
  }
  std::int64_t taps = 0;
  for (const classes::Class& each : c.each) taps += each.all_taps();
  const auto width = static_cast<double>(width_of(out.type));
  l.bytes = width * static_cast<double>(packs.count * l.x.count() * l.x.channels + w.n * taps * w.channels +
                                        static_cast<std::int64_t>(c.each.size()) * l.gemm.m * out.channels);
  return l;
}

// By the model, in one part if it is of classes.
double Pass::microseconds_of(const Launch& l) const {
  const hconv::Work work = plain_work(l);
  if (!in_pieces()) return hconv::microseconds(work);
  return pieces::product_microseconds(work, unless_.statistics != 0 ? pieces::kTwo : pieces::kThree);
}

// All classes at once, if that is possible and faster than side by side with copies to their places: a function of the problem alone.
bool Pass::in_their_places(const std::vector<Gather>& all, const Pixels& gathered, const Pixels& w, const Pixels& out,
                           const Packs& packs) {
  if ((!in_pieces() && !sgemm::half(out.type)) || halo::is_forced(forced_) || forced_.splits > 1) return false;
  const auto these = classes::launches(all, gathered.size, volume(p_));
  if (!these) return false;
  std::vector<Launch> launches;
  double together = 0;
  for (const classes::Launch& c : *these) {
    launches.push_back(of_classes(c, gathered, w, out, packs));
    together += microseconds_of(launches.back());
  }
  // Maps over all images have shorter reach.
  if (launches.front().deep && !volume(p_) && !classes::launches(all, gathered.size, true)) return false;
  double apart = 0;
  for (const Gather& f : all) {
    const double bytes = static_cast<double>(width_of(out.type) * p_.n * f.count() * out.channels);
    apart +=
        microseconds_of(some_positions(f, gathered, w, out, packs, 0, packs.count)) + copy_microseconds(bytes, kFitted);
  }
  if (forced_.kernel.empty() && apart < together) return false;
  for (const Launch& l : launches) {
    if (in_pieces()) {
      launch_pieces(l, packs);
    } else {
      launch_product(l, hconv::choose(work_of(l, packs), multiprocessors(), forced_), 0);
    }
  }
  return true;
}

// halo.sass takes packs one by one.
bool Pass::apart_pays(const Gather& f, const Pixels& gathered, const Pixels& w, const Pixels& out,
                      const Packs& packs) const {
  constexpr std::int64_t kFour = 4;  // random words
  if (packs.count == 1 || packs.count > gconv::kMostGroups) return false;
  if (e_.rounding.stochastic && out.channels / packs.count % kFour != 0) return false;
  const std::optional<halo::Choice> one =
      shares_taps(some_positions(f, gathered, w, out, packs, 0, 1), hgemm::kProcessors);
  if (!one || halo::is_forced(forced_)) return one.has_value();
  const Launch all = some_positions(f, gathered, w, out, packs, 0, packs.count);
  return static_cast<double>(packs.count) * one->microseconds < hconv::microseconds(plain_work(all));
}

// The filters of packs, with zeros for the channels of their other groups.
Pixels Pass::block_diagonal(const Pixels& w, const Packs& packs) {
  Pixels out = w;
  out.channels *= packs.groups;
  out.pitch = ceil_div(out.channels, unit_of(w.type)) * unit_of(w.type);
  const std::int64_t elements = out.count() * out.pitch;
  out.address = arena_.take(width_of(w.type) * elements);
  if (device_ == nullptr) return out;
  device_->fill(out.address, 0, static_cast<unsigned>(width_of(w.type)), static_cast<std::size_t>(elements),
                stream_.handle());
  const std::int64_t rows = w.count() / p_.groups;  // of taps
  const Shape blocks = {packs.count, packs.groups, rows, w.channels};
  copy(w.address, w.type, {blocks, {packs.groups * rows * w.pitch, rows * w.pitch, w.pitch, 1}}, out.address, w.type,
       {blocks, {packs.groups * rows * out.pitch, rows * out.pitch + w.channels, out.pitch, 1}});
  return out;
}

// fprop and bprop: rows of the product are positions of the result.
void Pass::positions(const Pixels& gathered, const Pixels& w, const Pixels& out) {
  const bool forward = pass_ == ConvPass::fprop;
  const std::vector<Gather> all = *gathers(pass_, p_);
  const std::int64_t whole = out.size[0] * out.size[1] * out.size[2];
  const Packs packs = packs_of(pass_, p_);
  const Pixels filters = packs.groups > 1 ? block_diagonal(w, packs) : w;
  const std::int64_t width = width_of(out.type);
  const bool strided = !forward && p_.stride != decltype(p_.stride){1, 1, 1};
  // Positions that no tap reaches.
  std::int64_t reached = 0;
  for (const Gather& g : all) reached += g.count();
  const std::int64_t columns = out.channels / packs.count;
  if (strided || reached < whole || (packs.count > 1 && columns % kMaskWord != 0)) masked_ = false;
  if (strided || reached < whole || all.size() != 1) sums_ = false;
  if (device_ != nullptr && reached < whole && e_.beta == 0) {
    const float nothing = e_.alpha * 0.0F;  // minus zero, or NaN
    device_->fill(out.address, bits_of(nothing, out.type), static_cast<unsigned>(width),
                  static_cast<std::size_t>(out.count() * out.pitch), stream_.handle());
  }
  if (strided && !all.empty() && !apart_pays(all.front(), gathered, filters, out, packs) &&
      in_their_places(all, gathered, filters, out, packs)) {
    return;
  }
  for (const Gather& f : all) {
    const std::size_t mark = arena_.mark();
    const std::int64_t rows = p_.n * f.count();
    // The positions of a class lie apart, and are computed side by side.
    std::uint64_t to = out.address;
    const Shape some = {p_.n, f.positions[2], f.positions[1], f.positions[0], out.channels};
    const std::int64_t line = out.pitch * out.size[0];
    const std::int64_t plane = line * out.size[1];
    const Strided apart = {some,
                           {out.pitch * whole, plane * f.stride[2], line * f.stride[1], out.pitch * f.stride[0], 1}};
    const Strided beside = as_laid_out(Layout::channels_last, some, out.pitch);
    const std::uint64_t first =
        out.address +
        static_cast<std::uint64_t>((plane * f.first[2] + line * f.first[1] + out.pitch * f.first[0]) * width);
    Pixels target = out;
    if (strided) {
      to = arena_.take(rows * out.pitch * width);
      if (e_.beta != 0) copy(first, out.type, apart, to, out.type, beside);
    }
    target.address = to;
    const std::int64_t each = apart_pays(f, gathered, filters, target, packs) ? 1 : packs.count;
    for (std::int64_t pack = 0; pack < packs.count; pack += each)
      launch(some_positions(f, gathered, filters, target, packs, pack, each));
    if (strided) copy(to, out.type, beside, first, out.type, apart);
    arena_.release(mark);
  }
}

// Rows are filters, columns taps with channels in blocks of 64. Where those are not full the columns are put together afterwards;
// so are the blocks of a pack whose filters and channels are of one group.
void Pass::update(const Pixels& dy, const Pixels& x, const Pixels& out) {
  update(dy, x, out, gathers(pass_, p_)->front(), p_.c / p_.groups, packs_of(pass_, p_));
}

void Pass::update(const Pixels& dy, const Pixels& x, const Pixels& out, const Gather& f, std::int64_t channels,
                  const Packs& packs) {
  const std::int64_t taps = f.all_taps();
  const auto width = static_cast<std::int64_t>(size_of(out.type));
  const std::int64_t blocks = ceil_div(packs.c, kBlock);
  Launch l;
  l.pass = 'u';
  l.gather = f;
  l.deep = volume(p_);
  l.packs = packs.count;
  l.group_channels = x.channels / packs.count;
  l.group_filters = dy.channels / packs.count;
  l.x = x;
  l.w = dy;
  l.a = rows_map(dy);
  l.b = columns_map(x, f, l.deep, static_cast<std::uint32_t>(kBlock));
  l.gemm = epilogue(0, taps * blocks * kBlock);
  l.gemm.m = packs.k;
  l.gemm.k = ceil_div(dy.count(), kBlock) * kBlock;
  l.gemm.c = out.address;
  l.gemm.c_type = out.type;
  l.gemm.ldc = taps * channels;
  l.gemm.stride_c = packs.k * l.gemm.ldc;
  l.divisor = blocks;
  l.channels = packs.groups == 1 && channels % kBlock == 0 ? 0 : channels;
  l.block = p_.k / p_.groups;
  l.bytes = static_cast<double>(2 * dy.count() * dy.channels + 2 * x.n * f.pixels(x.size) * x.channels +
                                width * p_.k * l.gemm.ldc);
  if (in_pieces()) {
    launch_pieces(l, packs);
  } else {
    launch(l);
  }
}

// A float32 result has a float32 bias.
void Pass::widen_bias() {
  const std::uint64_t wide = arena_.take(4 * p_.k);
  if (at_.bias == 0 || !sgemm::half(at_.bias_type)) return;
  const Strided row = {{p_.k}, {1}};
  copy(at_.bias, at_.bias_type, row, wide, Dtype::float32, row);
  at_.bias = wide;
  at_.bias_type = Dtype::float32;
}

void Pass::run(std::vector<Modelled>* models) {
  models_ = models;
  if (in_pieces()) {
    run_pieces();
    return;
  }
  const Roles roles = roles_of(pass_);
  const std::optional<narrow::Choice> as_narrow = is_narrow();
  const std::optional<narrow_update::Choice> as_narrow_update = is_narrow_update();
  const bool as_it_is = as_narrow || as_narrow_update;  // x is read as it lies
  if (!as_it_is &&
      (narrow::is_forced(forced_) || narrow_swapped::is_forced(forced_) || narrow_update::is_forced(forced_))) {
    forced_ = {};
  }
  const std::optional<cells::Cells> as_cells = as_it_is ? std::nullopt : in_cells();
  const bool few = !as_it_is && !as_cells && !sgemm::byte(p_.x_type) &&
                   (forced_.kernel.empty() ? gconv::gathers_rows(pass_, p_)
                                           : gconv::forced_run(forced_) != 0 || resident::is_forced(forced_));
  if (few && !gconv::possible(pass_, p_))
    throw InvalidArgument("conv: gconv*" + forced_.kernel + " cannot gather this");
  const bool columns = !as_it_is && !few && !as_cells && in_columns(pass_, p_);
  const bool is_update = pass_ == ConvPass::update;
  Pixels in1;
  Pixels in2;
  if (!as_cells && cells::is_forced(forced_)) forced_ = {};
  if (as_cells) {
    forced_ = cells::behind(forced_);
    if (is_update) in1 = operand(roles.in1, at_.in1);
  } else if (as_it_is) {
    if (is_update) in1 = operand(roles.in1, at_.in1);  // dy
  } else if (few) {
    in1 = operand(roles.in1, at_.in1, is_update ? kEight : 1);
    if (is_update) in2 = operand(roles.in2, at_.in2, 1);
  } else {
    const Packs packs = packs_of(pass_, p_);
    if (!columns || is_update) in1 = operand_in_packs(roles.in1, at_.in1, packs);
    if (is_update && !columns) in2 = operand_in_packs(roles.in2, at_.in2, packs);
    if (!is_update && !columns) in2 = operand(roles.in2, at_.in2, packs.groups > 1 ? 1 : unit_of(p_.w_type));  // w
  }
  const Shape s = shape(roles.out);
  Pixels out = as_it_lies(roles.out, at_.out);
  const bool strided = pass_ == ConvPass::bprop && p_.stride != decltype(p_.stride){1, 1, 1};
  const Rounding rounding = e_.rounding;
  // Stochastic rounding counts the elements of the result as they lie: then it is the last copy's. So is what lies between
  // pixels, where all positions are filled.
  const bool between = apart(p_, roles.out);
  const bool through = p_.layout != Layout::channels_last || (strided && (rounding.stochastic || between)) ||
                       (between && rounding.stochastic);
  const Dtype type = out.type;
  sums_ = e_.sums.asked() && !through && sgemm::half(type) && pass_ != ConvPass::update;
  if (through) {
    masked_ = false;
    if (pass_ != ConvPass::update) out.pitch = eights(out.channels);
    if (rounding.stochastic) out.type = Dtype::float32;
    e_.rounding = {};
    out.address = arena_.take(out.count() * out.pitch * static_cast<std::int64_t>(size_of(out.type)));
    if (e_.beta != 0) {
      copy(at_.out, type, laid_out(roles.out), out.address, out.type, as_laid_out(Layout::channels_last, s, out.pitch));
    }
  }
  if (out.type == Dtype::float32 && pass_ == ConvPass::fprop) widen_bias();
  if (as_narrow) {
    narrow_fprop(*as_narrow, out);
  } else if (as_narrow_update) {
    narrow_gradient(*as_narrow_update, in1, out);
  } else if (as_cells && is_update) {
    cells_update(*as_cells, in1, out);
  } else if (as_cells) {
    cells_fprop(*as_cells, out);
  } else if (few && is_update) {
    few_update(in1, in2, out);
  } else if (few) {
    few_positions(in1, out);
  } else if (columns && pass_ == ConvPass::fprop) {
    columns_fprop(out);
  } else if (columns) {
    columns_update(in1, out);
  } else if (is_update) {
    update(in1, in2, out);
  } else {
    positions(in1, in2, out);
  }
  if (through) {
    copy(out.address, out.type, as_laid_out(Layout::channels_last, s, out.pitch), at_.out, type, laid_out(roles.out),
         rounding);
  }
}

}  // namespace nervanagpu::conv_detail::tensor_cores
