// Launches of narrow.sass, narrow_swapped.sass and narrow_update.sass: fprop and update of at most four channels.
#include "kernels/conv/pass/pass.h"

namespace nervanagpu::conv_detail::tensor_cores {

std::optional<narrow::Choice> Pass::is_narrow() const {
  const bool forced = narrow::is_forced(forced_) || narrow_swapped::is_forced(forced_);
  if (pass_ != ConvPass::fprop || (!forced && (!forced_.kernel.empty() || forced_.splits > 1))) return std::nullopt;
  // It stores 16-bit results: what a copy after it rounds stochastically is computed otherwise.
  if (rounded_by_copy()) return std::nullopt;
  std::optional<narrow::Choice> c = narrow::choose(p_, forced_);
  const std::optional<narrow::Choice> swapped = narrow_swapped::choose(p_, forced_);
  if (forced && (!c || (narrow_swapped::is_forced(forced_) && !swapped)))
    throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  if (!c || forced) return c;
  narrow::Choice sooner = *c;
  if (swapped) sooner.microseconds = std::min(c->microseconds, swapped->microseconds);
  return narrow::pays(p_, sooner) ? c : std::nullopt;
}

// What narrow.sass, by `c`, would compute with this result; none: it does.
std::optional<narrow::Choice> Pass::is_narrow_swapped(const narrow::Choice& c, const GemmProblem& g) const {
  if (narrow::is_forced(forced_) || !narrow_swapped::stores(g)) return std::nullopt;
  const std::optional<narrow::Choice> swapped = narrow_swapped::choose(p_, forced_);
  if (!swapped || narrow_swapped::is_forced(forced_)) return swapped;
  constexpr double kClearly = 0.97;  // of the other's time
  return swapped->microseconds < kClearly * c.microseconds ? swapped : std::nullopt;
}

void Pass::narrow_fprop(const narrow::Choice& c, const Pixels& out) {
  GemmProblem g = epilogue(0, c.columns);
  g.m = c.tile.bm * c.tiles;
  g.k = kBlock;
  g.c = out.address;
  g.c_type = out.type;
  g.ldc = c.pairs ? c.columns : out.pitch;
  put_mask(g, 0, 0);
  if (c.pairs && g.mask != 0) {
    masked_ = p_.k % kMaskWord == 0 && g.ld_mask * kMaskWord == p_.k;  // a pair's words lie side by side
    g.ld_mask *= 2;
    if (!masked_) g.mask = 0, g.ld_mask = 0;
  }
  const std::uint64_t filters = arena_.take(std::max(2 * c.columns * c.depth(), narrow_swapped::filter_bytes(c)));
  const std::int64_t width = width_of(g.bias_type);
  const std::uint64_t biases = c.pairs ? arena_.take(width * c.columns) : 0;
  if (const std::optional<narrow::Choice> swapped = is_narrow_swapped(c, g)) {
    note([&] {
      return Modelled{narrow_swapped::launched(*swapped), 1,
                      [p = p_, s = *swapped](const Costs& costs) { return narrow_swapped::microseconds(p, s, costs); }};
    });
    if (device_ == nullptr) return;
    const narrow::Load load = narrow::load_of(p_, *swapped, at_.in1);
    if (const Kernel* kernel = narrow_swapped::find(device_->registry(), g.a_type, load, *swapped)) {
      const std::int64_t pitch = c.pairs ? g.ldc / 2 : g.ldc;
      const narrow_swapped::Operands operands = {.x = at_.in1,
                                                 .w = at_.in2,
                                                 .y = g.c,
                                                 .bias = g.bias,
                                                 .bias_type = g.bias_type,
                                                 .relu = g.relu,
                                                 .pitch = pitch,
                                                 .filters = filters};
      return narrow_swapped::launch(*device_, *kernel, p_, *swapped, operands, load, stream_);
    }
  } else {
    note([&] {
      return Modelled{"narrow_" + std::to_string(c.row) + "_" + std::to_string(c.tile.bn), 1,
                      [p = p_, c](const Costs& costs) { return narrow::microseconds(p, c, costs); }};
    });
  }
  if (c.pairs && g.bias != 0) {
    copy(g.bias, g.bias_type, {{2, p_.k}, {0, 1}}, biases, g.bias_type, {{2, p_.k}, {p_.k, 1}});
    g.bias = biases;
  }
  if (device_ == nullptr) return;
  narrow::copy_filters(*device_, p_, c, at_.in2, filters, false, stream_);
  TensorMap b = rows_map({filters, p_.w_type, c.depth(), c.depth(), {c.columns, 1, 1}, 1});
  b.box[1] = static_cast<std::uint32_t>(c.tile.bn);
  const narrow::Load load = narrow::load_of(p_, c, at_.in1);
  const EncodedTensorMap map = device_->encode_tensor_map(b);
  Values v;
  v.map(narrow::has_rows_of_units(g) ? device_->encode_tensor_map(narrow::rows_map(p_, c, g.c, g.ldc, 2)) : map)
      .map(map);
  if (load == narrow::Load::boxes) v.map(device_->encode_tensor_map(narrow::lines_map(p_, c, at_.in1)));
  hgemm::put_tiles(v, g, c.tile, 1, 1);
  narrow::put(v, g, p_, c, at_.in1, load);
  const Kernel* kernel = narrow::find(device_->registry(), g.a_type, load, c);
  v.launch(*device_, *kernel, grid_of(g, c.tile), stream_.handle());
}

std::optional<narrow_update::Choice> Pass::is_narrow_update() const {
  const bool forced = narrow_update::is_forced(forced_);
  if (pass_ != ConvPass::update || (!forced && (!forced_.kernel.empty() || forced_.splits > 0))) return std::nullopt;
  const std::optional<narrow_update::Choice> c = narrow_update::choose(p_, forced_);
  if (forced && !c) throw InvalidArgument("conv: no kernel " + forced_.kernel + " for this");
  return c && (forced || narrow_update::pays(p_, *c)) ? c : std::nullopt;
}

// Sums of all parts in the workspace, and their sum.
void Pass::narrow_gradient(const narrow_update::Choice& c, const Pixels& dy, const Pixels& out) {
  const std::int64_t columns = p_.filter[1] * p_.filter[2] * p_.c;
  GemmProblem g = epilogue(0, columns);
  g.m = p_.k;
  g.c = out.address;
  g.c_type = out.type;
  g.ldc = columns;
  g.workspace = arena_.take(c.sums_bytes(p_));
  note([&] {
    return Modelled{narrow_update::name_of(c), c.parts(),
                    [p = p_, c](const Costs& costs) { return narrow_update::microseconds(p, c, costs); }};
  });
  if (device_ == nullptr) return;
  const narrow::Load load = narrow::load_of(p_, c.patch, at_.in2);
  const std::int64_t pitch = c.patch.pairs ? c.patch.columns : dy.pitch;
  const EncodedTensorMap rows = device_->encode_tensor_map(narrow::rows_map(p_, c.patch, dy.address, pitch, 8));
  Values v;
  v.map(rows).map(load == narrow::Load::boxes ? device_->encode_tensor_map(narrow::lines_map(p_, c.patch, at_.in2))
                                              : rows);
  narrow_update::put(v, p_, c, g.workspace, dy.address, pitch, at_.in2, load);
  const Kernel* kernel = narrow_update::find(device_->registry(), g.a_type, load, c);
  v.launch(*device_, *kernel, narrow_update::grid(c), stream_.handle());
  split_sum::Sum sum = sgemm::sum_of(g, c.parts());
  sum.rows = 1;  // no bias: all elements are one row
  sum.cols = sum.ld = p_.k * columns;
  const split_sum::Plan end = split_sum::plan(device_->registry(), sum);
  end.values.launch(*device_, *end.kernel, end.grid, stream_.handle());
}

}  // namespace nervanagpu::conv_detail::tensor_cores
