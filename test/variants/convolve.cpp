// Every kernel of conv.sass, depthwise*.sass, hconv.sass, gconv.sass, halo*.sass, resident.sass, narrow*.sass, cells.sass and cells_bf16x3.sass. conv.sass: its order is that of a pass in a layout, its tile is
// named, and its vectors ask for multiples of 4. The others: a pass with channels last; a float32 result is one of parts
// of the sums.
#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kernels/conv/bytes.h"
#include "kernels/conv/depthwise/depthwise.h"
#include "kernels/conv/gather/columns.h"
#include "kernels/conv/gather/gconv_choice.h"
#include "kernels/conv/halo/cells.h"
#include "kernels/conv/halo/halo_choice.h"
#include "kernels/conv/halo/halo_update_choice.h"
#include "kernels/conv/halo/resident_choice.h"
#include "kernels/conv/halo/swapped_choice.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/launch.h"
#include "kernels/conv/narrow/narrow_choice.h"
#include "kernels/conv/narrow/narrow_swapped_choice.h"
#include "kernels/conv/narrow/narrow_update_choice.h"
#include "kernels/conv/pieces/piece_cells.h"
#include "kernels/conv/pieces/windows.h"
#include "kernels/conv/sums/channel_sums.h"
#include "kernels/conv/tensor_cores.h"
#include "kernels/gemm/epilogue/relu_mask.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/reference.h"
#include "test/variants/convolution.h"
#include "test/variants/convolution_kinds.h"
#include "test/variants/epilogue.h"
#include "test/variants/other.h"

namespace nervanagpu::variants {
namespace {

using gpu_test::Buffer;
using gpu_test::choose;
using gpu_test::pick;
using gpu_test::Values;

struct Pass {
  ConvPass pass;
  Layout layout;
};

Pass pass_of(Random& random, const std::string& order) {
  const bool first = pick(random, 0, 1) == 0;
  if (order == "llj")
    return first ? Pass{ConvPass::fprop, Layout::channels_last} : Pass{ConvPass::update, Layout::batch_last};
  if (order == "iji")
    return first ? Pass{ConvPass::update, Layout::channels_last} : Pass{ConvPass::fprop, Layout::batch_last};
  return {ConvPass::bprop, order == "ljj" ? Layout::channels_last : Layout::batch_last};
}

Dtype type_of(const std::string& word) {
  for (const Dtype t : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int8, Dtype::uint8, Dtype::int32}) {
    if (sgemm::word_of(t) == word) return t;
  }
  throw std::logic_error("no type is called " + word);
}

// fprop of bytes that cells.sass has made float16.
bool of_bytes_as_float16(const Kernel& kernel) {
  if (makes_cells(kernel)) return kernel.manifest().variant.at("FROM") != "b16";
  const auto& variant = kernel.manifest().variant;
  return (shares_taps(kernel) || keeps_filters(kernel)) && variant.at("XT") == "f16" && variant.at("YT") == "s32";
}

// As conv_detail names it, to have it taken.
std::string end_of(const Kernel& kernel) {
  if (kernel.manifest().op == "narrow_filters") return "_narrow_16_64";
  if (makes_cells(kernel)) return "_cells_128x64";
  if (makes_piece_cells(kernel)) return "_cells_128x128";
  if (moves_filters(kernel)) return "_f16_windows_128x64";
  if (splits_on_the_way(kernel)) return "_cells_split" + kernel.name().substr(kernel.name().rfind('_'));
  if (of_bytes_as_float16(kernel)) {
    const std::string& name = kernel.name();
    return keeps_filters(kernel)
               ? "_cells_resident_" + kernel.manifest().variant.at("ROW") + name.substr(name.rfind('_'))
               : "_cells" + name.substr(name.rfind('_'));
  }
  if (goes_anywhere(kernel)) return conv_detail::depthwise::kAny;
  if (beyond_pieces(kernel)) return "";
  if (adds_lost(kernel)) return "_f16_128x128";
  if (is_depthwise(kernel)) return "";  // the problem says which
  const auto& variant = kernel.manifest().variant;
  const std::string tile = kernel.name().substr(kernel.name().rfind('_'));
  if (from_two_pieces(kernel)) return "_f16" + tile;
  if (gathers(kernel)) return "_" + variant.at("V") + tile;
  if (shares_taps(kernel)) return "_halo" + tile;
  if (swaps_operands(kernel)) return "_swapped" + tile;
  if (shares_products(kernel)) return "_haloupdate" + tile;
  if (keeps_filters(kernel)) return "_resident_" + variant.at("ROW") + tile;
  if (is_narrow(kernel)) return "_narrow_" + variant.at("ROW") + tile;
  if (swaps_narrow(kernel)) return "_narrowswapped_" + variant.at("ROW") + tile;
  if (updates_narrow(kernel)) return "_narrowupdate_" + variant.at("ROW") + tile;
  if (in_half_blocks(kernel)) return "_h" + tile;
  return on_tensor_cores(kernel) ? tile : "_" + variant.at("BM") + "x" + variant.at("BN") + "_" + variant.at("V");
}

// Its variant takes all launches of the pass.
bool takes_all_launches(const Kernel& kernel, const ConvProblem& p, ConvPass pass) {
  conv_detail::Forced forced;
  forced.kernel = end_of(kernel);
  return conv_detail::halo::takes(pass, p, forced);
}

Pass pass_of(Random& random, const Kernel& kernel) {
  if (of_bytes_as_float16(kernel) || is_narrow(kernel) || swaps_narrow(kernel))
    return {ConvPass::fprop, Layout::channels_last};
  if (adds_lost(kernel))
    return {kernel.manifest().op == "conv_lost_b" ? ConvPass::bprop : ConvPass::update, Layout::channels_last};
  if (splits_on_the_way(kernel)) return {ConvPass::update, Layout::channels_last};
  if (makes_cells(kernel) || makes_piece_cells(kernel))
    return {pick(random, 0, 1) == 0 ? ConvPass::fprop : ConvPass::update, Layout::channels_last};
  if (moves_filters(kernel))
    return {pick(random, 0, 1) == 0 ? ConvPass::fprop : ConvPass::bprop, Layout::channels_last};
  if (shares_products(kernel) || updates_narrow(kernel)) return {ConvPass::update, Layout::channels_last};
  if (keeps_filters(kernel) && sgemm::byte(type_of(kernel.manifest().variant.at("XT"))))
    return {ConvPass::fprop, Layout::channels_last};
  if (keeps_filters(kernel) || swaps_operands(kernel))
    return {pick(random, 0, 1) == 0 ? ConvPass::fprop : ConvPass::bprop, Layout::channels_last};
  const auto& variant = kernel.manifest().variant;
  if (is_depthwise(kernel)) {
    if (goes_anywhere(kernel)) {
      const bool update = variant.at("PASS") == "u";
      const ConvPass positions = pick(random, 0, 1) == 0 ? ConvPass::fprop : ConvPass::bprop;
      return {update ? ConvPass::update : positions, Layout::channels_last};
    }
    if (goes_back(kernel)) return {ConvPass::bprop, Layout::channels_last};
    if (kernel.manifest().op == "depthwise_update") return {ConvPass::update, Layout::channels_last};
    const bool turned = kernel.number("STR") == 1 && pick(random, 0, 1) == 0;
    return {turned ? ConvPass::bprop : ConvPass::fprop, Layout::channels_last};
  }
  if (masks_behind(kernel)) {
    return {variant.at("DO") == "write" ? ConvPass::fprop : ConvPass::bprop, Layout::channels_last};
  }
  if (beyond_pieces(kernel)) {
    const std::string& order = variant.at("ORDER");
    return {order == "llj"   ? ConvPass::fprop
            : order == "ljj" ? ConvPass::bprop
                             : ConvPass::update,
            Layout::channels_last};
  }
  if (on_tensor_cores(kernel)) {
    const std::string& pass = variant.at("PASS");
    if (in_half_blocks(kernel))
      return {pick(random, 0, 1) == 0 ? ConvPass::fprop : ConvPass::bprop, Layout::channels_last};
    const bool forward = pass == "f" && (!gathers(kernel) || pick(random, 0, 2) != 0);
    return {forward ? ConvPass::fprop : pass == "u" ? ConvPass::update : ConvPass::bprop, Layout::channels_last};
  }
  if (variant.at("YT") == "s32") {  // of fprop alone
    return {ConvPass::fprop, variant.at("ORDER") == "llj" ? Layout::channels_last : Layout::batch_last};
  }
  return pass_of(random, variant.at("ORDER"));
}

// Tiles of a group of a pass without strides of the result, at least.
std::int64_t tiles(const Kernel& kernel, const ConvProblem& p, ConvPass pass) {
  constexpr std::int64_t kBlock = 64;
  const bool backward = pass == ConvPass::bprop;
  const auto space = backward ? p.in : p.out();
  const std::int64_t taps = p.filter[0] * p.filter[1] * p.filter[2];
  const std::int64_t channels = p.c / p.groups;
  const std::int64_t filters = p.k / p.groups;
  const bool update = pass == ConvPass::update;
  const std::int64_t rows = update ? filters : p.n * space[0] * space[1] * space[2];
  const std::int64_t columns = update ? taps * ceil_div(channels, kBlock) * kBlock : backward ? channels : filters;
  return ceil_div(rows, kernel.number("BM")) * ceil_div(columns, kernel.number("BN"));
}

// Positions of a strided bprop's smallest class.
std::array<std::int64_t, 3> smallest_class(const ConvProblem& p) {
  auto out = p.in;
  for (std::size_t axis = 0; axis < 3; ++axis) out[axis] /= std::min(p.stride[axis], p.in[axis]);
  return out;
}

// Something that hconv.sass takes; whole blocks of channels where an update is to write the result itself.
ConvProblem draw_for_tensor_cores(Random& random, const Kernel& kernel, const Pass& what, const Limits& limits) {
  constexpr std::int64_t kGroups[] = {1, 1, 1, 2, 2, 3, 4, 5, 8, 16, 32};
  const auto& variant = kernel.manifest().variant;
  const bool bytes = sgemm::byte(type_of(variant.at("XT")));
  const std::int64_t unit = what.pass == ConvPass::update && variant.at("YT") != "f32" ? 64 : 1;
  for (;;) {
    ConvProblem p = gpu_test::random_conv(random, std::min(limits.products, 4e5));
    p.layout = what.layout;
    const std::int64_t c = p.c / p.groups;
    const std::int64_t k = p.k / p.groups;
    p.groups = choose(random, kGroups);
    if (shares_taps(kernel)) p.groups = std::min<std::int64_t>(p.groups, 2);
    if (unit > 1) p.groups = std::min<std::int64_t>(p.groups, 3);
    p.c = p.groups * std::max<std::int64_t>(ceil_div(c, unit) * unit, p.groups > 4 ? 2 : 1);
    p.k = p.groups * ceil_div(k, unit) * unit;
    if (bytes && p.groups == 1) p.c += 8;  // else chains take it
    if (bytes && shares_taps(kernel)) p.groups = 1, p.c = 8 * ceil_div(p.c, 8);
    if (in_half_blocks(kernel))
      p.groups = 1, (what.pass == ConvPass::fprop ? p.c : p.k) = 32 * choose(random, {1, 1, 3, 5});
    if (in_half_blocks(kernel) && p.filter == decltype(p.filter){1, 1, 1}) continue;
    if (shares_taps(kernel)) p.in[0] = p.filter[0] = p.stride[0] = p.dilation[0] = 1, p.pad[0] = 0;
    p.x_type = p.w_type = p.y_type = type_of(variant.at("XT"));
    if (bytes) p.w_type = Dtype::int8, p.y_type = type_of(variant.at("YT"));
    if (variant.at("YT") == "f32" && !bytes) {  // parts: two blocks of k at least, in every launch
      constexpr std::int64_t kBlock = 64;
      const auto out = p.out();
      const std::int64_t taps = p.filter[0] * p.filter[1] * p.filter[2];
      const std::int64_t channels = (what.pass == ConvPass::fprop ? p.c : p.k) / p.groups;
      if (what.pass == ConvPass::bprop) p.stride = {1, 1, 1};
      if (what.pass == ConvPass::update ? p.n * out[0] * out[1] * out[2] <= kBlock
                                        : taps * ceil_div(channels, kBlock) < 2) {
        continue;
      }
    }
    if (in_half_blocks(kernel) && what.pass == ConvPass::bprop) p.stride = {1, 1, 1};
    if (kernel.manifest().op == "hconv" && what.pass == ConvPass::bprop) {
      const bool strided = p.stride != decltype(p.stride){1, 1, 1};
      if (in_classes(kernel) && !strided) p.stride[2] = 2;
      if (!in_classes(kernel)) p.stride = {1, 1, 1};
    }
    if (conv_detail::in_columns(what.pass, p) || !conv_detail::tensor_cores::takes(what.pass, p)) continue;
    if (limits.in_turn && what.pass == ConvPass::bprop && !in_classes(kernel)) p.stride = {1, 1, 1};
    if (shares_taps(kernel) && !takes_all_launches(kernel, p, what.pass)) continue;
    ConvProblem least = p;
    if (in_classes(kernel)) least.in = smallest_class(p);
    if (limits.in_turn && tiles(kernel, least, what.pass) < 3) continue;  // of a CTA
    const auto all = conv_detail::gathers(what.pass, p);
    if (all && !all->empty()) return p;  // else no tap meets a position, and nothing is launched
  }
}

// Something that gconv.sass takes, with multiples of V channels to gather.
ConvProblem draw_for_gathering(Random& random, const Kernel& kernel, const Pass& what, const Limits& limits) {
  constexpr std::int64_t kBlock = 64;
  const auto& variant = kernel.manifest().variant;
  for (;;) {
    ConvProblem p = gpu_test::random_conv(random, std::min(limits.products, 4e5));
    p.layout = what.layout;
    p.x_type = p.w_type = p.y_type = type_of(variant.at("XT"));
    if (p.groups > 2) p.groups = 1;
    const bool backward = what.pass == ConvPass::bprop;
    if (backward) p.stride = {1, 1, 1};
    const auto whole = [&](std::int64_t v, std::int64_t unit) {
      return ceil_div(ceil_div(v, p.groups), unit) * unit * p.groups;
    };
    const std::int64_t of_copies = p.groups > 1 && what.pass == ConvPass::update ? 8 : 1;
    p.c = whole(p.c, backward ? 1 : kernel.number("V"));
    p.k = whole(p.k, backward ? kernel.number("V") : of_copies);
    const auto out = p.out();
    const std::int64_t columns = p.filter[0] * p.filter[1] * p.filter[2] * (backward ? p.k : p.c) / p.groups;
    const std::int64_t sum = what.pass == ConvPass::update ? p.n * out[0] * out[1] * out[2] : columns;
    if (variant.at("YT") == "f32" && sum <= kBlock) continue;  // parts: two blocks at least
    if (!conv_detail::gconv::has_room(columns, kernel.number("V"))) continue;
    if (limits.in_turn) {  // three tiles of a CTA
      const bool update = what.pass == ConvPass::update;
      const std::int64_t rows =
          update ? p.k / p.groups
                 : p.n * (backward ? p.in : out)[0] * (backward ? p.in : out)[1] * (backward ? p.in : out)[2];
      const std::int64_t width = update ? columns : (backward ? p.c : p.k) / p.groups;
      const std::int64_t parts = variant.at("YT") == "f32" ? 2 : 1;
      if (ceil_div(rows, 128) * ceil_div(width, kernel.number("BN")) * parts < 3) continue;
    }
    if (conv_detail::gconv::possible(what.pass, p) && conv_detail::tensor_cores::takes(what.pass, p)) return p;
  }
}

// Of float32, in one group; three tiles of a CTA if they are to be taken in turn.
ConvProblem draw_for_pieces(Random& random, const Kernel& kernel, const Pass& what, const Limits& limits) {
  constexpr std::int64_t kFour = 4;
  for (;;) {
    ConvProblem p = gpu_test::random_conv(random, std::min(limits.products, 4e5));
    p.layout = what.layout;
    p.groups = 1;
    p.precision = Precision::tensor;
    p.x_type = p.w_type = p.y_type = Dtype::float32;
    if (makes_piece_cells(kernel) || splits_on_the_way(kernel)) {
      if (splits_on_the_way(kernel))
        p.k = kFour * pick(random, 16, 40);  // many results, of which some come near the bound
      p.c = pick(random, 1, pick(random, 0, 3) == 0 ? 40 : 5);
      p.in[0] = p.filter[0] = p.stride[0] = p.dilation[0] = 1, p.pad[0] = 0;
      if (p.flops() < 4 * limits.products && !conv_detail::piece_cells::all(what.pass, p).empty()) return p;
      continue;
    }
    if (moves_filters(kernel)) {
      constexpr std::int64_t kEight = 8;
      p.c = kEight * pick(random, 1, 12), p.k = kEight * pick(random, 1, 12);
      p.in[0] = p.filter[0] = p.stride[0] = p.dilation[0] = 1, p.pad[0] = 0;
      if (p.flops() < 4 * limits.products && !conv_detail::windows::all(what.pass, p).empty()) return p;
      continue;
    }
    if (what.pass == ConvPass::bprop && (masks_behind(kernel) || !beyond_pieces(kernel))) {
      const bool strided = p.stride != decltype(p.stride){1, 1, 1};
      if (in_classes(kernel) && !strided) p.stride[2] = 2;
      if (!in_classes(kernel)) p.stride = {1, 1, 1};
    }
    if (masks_behind(kernel)) {  // whatever kernel is before it; no position is left out
      p.dilation = {1, 1, 1};
    } else if (beyond_pieces(kernel)) {  // vectors, or none
      const std::int64_t odd = kernel.number("V") == kFour ? 0 : 1;
      p.c = ceil_div(p.c, kFour) * kFour + odd;
      p.k = ceil_div(p.k, kFour) * kFour + odd;
    } else if (limits.in_turn && !adds_lost(kernel)) {
      const auto out = p.out();
      const bool update = what.pass == ConvPass::update;
      auto space = what.pass == ConvPass::bprop ? p.in : out;
      if (in_classes(kernel)) space = smallest_class(p);
      const std::int64_t rows = update ? p.k : p.n * space[0] * space[1] * space[2];
      constexpr std::int64_t kBlock = 64;
      const std::int64_t columns = update ? p.filter[0] * p.filter[1] * p.filter[2] * ceil_div(p.c, kBlock) * kBlock
                                   : what.pass == ConvPass::fprop ? p.k
                                                                  : p.c;
      const std::int64_t wide = std::stol(kernel.name().substr(kernel.name().rfind('x') + 1));
      if (ceil_div(rows, kernel.number("BM")) * ceil_div(columns, wide) < 3) continue;
    }
    const auto all = conv_detail::gathers(what.pass, p);
    if (all && !all->empty()) return p;
  }
}

// Few channels, whose strides copies take; in any layout.
ConvProblem draw_for_cells(Random& random, const Kernel& kernel, const Pass& what, const Limits& limits) {
  const bool bytes = of_bytes_as_float16(kernel);
  for (;;) {
    ConvProblem p = gpu_test::random_conv(random, std::min(limits.products, 4e5));
    p.layout = what.layout;
    p.groups = 1;
    p.c = pick(random, 1, 7);
    p.in[0] = p.filter[0] = p.stride[0] = p.dilation[0] = 1, p.pad[0] = 0;
    p.x_type = p.w_type = p.y_type = pick(random, 0, 1) == 0 ? Dtype::float16 : Dtype::bfloat16;
    if (bytes) {
      p.c = pick(random, 1, shares_taps(kernel) ? 64 : keeps_filters(kernel) ? kernel.number("ROW") / 2 : 7);
      p.x_type = makes_cells(kernel)       ? type_of(kernel.manifest().variant.at("FROM"))
                 : pick(random, 0, 1) == 0 ? Dtype::int8
                                           : Dtype::uint8;
      p.w_type = Dtype::int8, p.y_type = Dtype::int32;
      if (!conv_detail::bytes::exact_in_float16(p)) continue;
    }
    const auto c = conv_detail::cells::cells_of(what.pass, p);
    if (!c || (!bytes && !conv_detail::tensor_cores::takes(what.pass, p))) continue;
    if (what.pass == ConvPass::update) {
      if (conv_detail::halo_update::choose(conv_detail::cells::update_of(*c, p))) return p;
      continue;
    }
    conv_detail::Forced forced;
    forced.kernel = end_of(kernel);
    forced = conv_detail::cells::behind(forced);
    const conv_detail::halo::Work w = {'f', c->taps, {c->pixels[1], c->pixels[0], 1}, p.n, c->wide, p.k, 1.0};
    if (limits.in_turn && bytes && !makes_cells(kernel)) {  // three tiles of a CTA
      const auto frame = conv_detail::halo::frame_of(w);
      if (!frame || frame->places(p.n) <= 2 * kernel.number("BM")) continue;
    }
    if (keeps_filters(kernel) ? conv_detail::resident::choose(w, 1, forced).has_value()
                              : conv_detail::halo::choose(w, 1, forced).has_value())
      return p;
  }
}

// In 2D, one group, without strides.
ConvProblem draw_without_strides(Random& random, const Pass& what, const Limits& limits) {
  ConvProblem p = gpu_test::random_conv(random, std::min(limits.products, 4e5));
  p.layout = what.layout;
  p.groups = 1;
  p.in[0] = p.filter[0] = p.dilation[0] = 1, p.pad[0] = 0;
  p.stride = {1, 1, 1};
  return p;
}

// Few filters.
ConvProblem draw_for_swapped(Random& random, const Kernel& kernel, const Pass& what, const Limits& limits) {
  constexpr std::int64_t kEight = 8;
  constexpr std::int64_t kRows = 64;
  conv_detail::Forced forced;
  forced.kernel = end_of(kernel);
  for (;;) {
    ConvProblem p = draw_without_strides(random, what, limits);
    const bool backward = what.pass == ConvPass::bprop;
    std::int64_t& gathered = backward ? p.k : p.c;
    std::int64_t& columns = backward ? p.c : p.k;
    if (backward || pick(random, 0, 1) == 0) gathered = (gathered + kEight - 1) / kEight * kEight;
    columns = pick(random, 1, kRows / kernel.number("TAPS"));
    p.x_type = p.w_type = p.y_type = type_of(kernel.manifest().variant.at("XT"));
    const auto all = conv_detail::gathers(what.pass, p);
    if (!all || all->size() != 1 || p.flops() > 8e6 || conv_detail::in_columns(what.pass, p)) continue;
    if (!conv_detail::tensor_cores::takes(what.pass, p)) continue;
    const auto size = backward ? p.out() : p.in;
    const auto choice = conv_detail::swapped::choose(
        {'f', all->front(), {size[2], size[1], size[0]}, p.n, gathered, columns, 1.0}, 1, 0, forced);
    if (!choice) continue;
    if (limits.in_turn && choice->frame.places(p.n) <= 2 * choice->tile.bm) continue;  // three tiles of a CTA
    return p;
  }
}

// Few channels and filters.
ConvProblem draw_for_resident(Random& random, const Kernel& kernel, const Pass& what, const Limits& limits) {
  constexpr std::int64_t kSixteen = 16;
  conv_detail::Forced forced;
  forced.kernel = end_of(kernel);
  for (;;) {
    ConvProblem p = draw_without_strides(random, what, limits);
    const bool backward = what.pass == ConvPass::bprop;
    std::int64_t& gathered = backward ? p.k : p.c;
    gathered = pick(random, 1, kernel.number("ROW") / (2 * kSixteen)) * kSixteen;
    const auto& variant = kernel.manifest().variant;
    p.x_type = p.w_type = p.y_type = type_of(variant.at("XT"));
    const bool bytes = sgemm::byte(p.x_type);
    if (bytes) p.c *= 2, p.w_type = Dtype::int8, p.y_type = type_of(variant.at("YT"));
    const auto all = conv_detail::gathers_of(what.pass, p);
    if (all.size() != 1 || (!bytes && !conv_detail::gconv::possible(what.pass, p))) continue;
    if (!bytes && !conv_detail::tensor_cores::takes(what.pass, p)) continue;
    const auto size = backward ? p.out() : p.in;
    const std::int64_t columns = backward ? p.c : p.k;
    const auto choice = conv_detail::resident::choose(
        {'f', all.front(), {size[2], size[1], 1}, p.n, bytes ? gathered / 2 : gathered, columns, 1.0}, 1, forced);
    if (!choice) continue;
    if (limits.in_turn && choice->frame.places(p.n) <= 256) continue;  // three tiles of a CTA
    return p;
  }
}

// At most four channels in 2D, which lie so that the kernel's way of loading them is taken.
ConvProblem draw_for_narrow(Random& random, const Kernel& kernel, const Limits& limits) {
  constexpr std::uint64_t kAligned = 256;
  constexpr std::string_view kLoads[] = {"boxes", "words", "any"};
  conv_detail::Forced forced;
  forced.kernel = end_of(kernel);
  const auto& variant = kernel.manifest().variant;
  for (;;) {
    ConvProblem p = gpu_test::random_conv(random, std::min(limits.products, 4e5));
    p.layout = Layout::channels_last;
    p.groups = 1;
    p.in[0] = p.filter[0] = p.stride[0] = 1, p.pad[0] = 0;
    p.dilation = {1, 1, 1};
    p.c = pick(random, 0, 2) == 0 ? pick(random, 1, 4) : 3;
    if (pick(random, 0, 1) == 0) p.in[2] = 8 * pick(random, 1, 6);
    p.stride[2] = std::int64_t{1} << pick(random, 0, 2);
    p.x_type = p.w_type = p.y_type = variant.contains("XT")    ? type_of(variant.at("XT"))
                                     : pick(random, 0, 1) == 0 ? Dtype::float16
                                                               : Dtype::bfloat16;
    if (p.in[1] + 2 * p.pad[1] < p.filter[1] || p.in[2] + 2 * p.pad[2] < p.filter[2]) continue;
    if (updates_narrow(kernel)) {
      p.filter[1] = std::min<std::int64_t>(p.filter[1], kernel.number("TR"));
      if (p.stride[2] == 1) p.k = 8 * ceil_div(p.k, 8);  // pairs are rows of 16 bytes
    }
    if (swaps_narrow(kernel)) p.k = 8 * ceil_div(p.k, 8);
    const ConvPass pass = updates_narrow(kernel) ? ConvPass::update : ConvPass::fprop;
    if (p.flops() > 4 * limits.products || !conv_detail::tensor_cores::takes(pass, p)) continue;
    std::optional<conv_detail::narrow::Choice> choice;
    if (updates_narrow(kernel)) {
      const auto update = conv_detail::narrow_update::choose(p, forced);
      if (update) choice = update->patch;
    } else if (swaps_narrow(kernel)) {
      choice = conv_detail::narrow_swapped::choose(p, forced);
    } else {
      choice = conv_detail::narrow::choose(p, forced);
    }
    if (!choice || (limits.in_turn && choice->tiles < 3)) continue;
    const auto load = static_cast<std::size_t>(conv_detail::narrow::load_of(p, *choice, kAligned));
    if (!variant.contains("LOAD") || variant.at("LOAD") == kLoads[load]) return p;
  }
}

// Filters with no more taps along the width than the kernel's products, without strides; now and then with many lines of taps, or
// planes, which are several CTAs'.
ConvProblem draw_for_products(Random& random, const Kernel& kernel, const Pass& what, const Limits& limits) {
  conv_detail::Forced forced;
  forced.kernel = end_of(kernel);
  for (;;) {
    ConvProblem p = gpu_test::random_conv(random, std::min(limits.products, 4e5));
    p.layout = what.layout;
    p.groups = 1;
    p.in[0] = p.filter[0] = p.dilation[0] = 1, p.pad[0] = 0;
    p.stride = {1, 1, 1};
    p.filter[2] = pick(random, 1, kernel.number("TS"));
    if (pick(random, 0, 3) == 0) p.filter[1] = pick(random, 1, 15);
    if (pick(random, 0, 3) == 0) p.c = pick(random, 1, 100), p.n = 1;
    if (pick(random, 0, 3) == 0) p.dilation = {1, pick(random, 1, 3), pick(random, 1, 9)};
    const bool around = pick(random, 0, 5) == 0;  // the circle of x
    if (around) p.c = pick(random, 1, 64), p.k = pick(random, 1, 2);
    p.x_type = p.w_type = p.y_type = type_of(kernel.manifest().variant.at("XT"));
    const auto possible = [&](std::size_t axis) {
      return p.in[axis] + 2 * p.pad[axis] >= p.dilation[axis] * (p.filter[axis] - 1) + 1;
    };
    if (!possible(1) || !possible(2)) continue;
    constexpr std::int64_t kAround = 4400;  // places
    if (around) p.n = ceil_div(kAround, p.in[1] * p.in[2]);
    if (p.flops() > (around ? 1e7 : 4 * limits.products)) continue;
    if (!conv_detail::gathers(what.pass, p) || conv_detail::in_columns(what.pass, p)) continue;
    if (!conv_detail::tensor_cores::takes(what.pass, p)) continue;
    const auto taps = conv_detail::gathers(what.pass, p)->front();
    if (conv_detail::halo_update::choose({taps, {p.in[2], p.in[1], 1}, p.n, p.c, p.k, 1.0}, forced)) return p;
  }
}

// A filter of the kernel's for each channel.
ConvProblem draw_for_depthwise(Random& random, const Kernel& kernel, const Pass& what, const Limits& limits) {
  for (;;) {
    ConvProblem p = gpu_test::random_conv(random, std::min(limits.products, 4e5));
    p.layout = what.layout;
    p.x_type = p.w_type = p.y_type = type_of(kernel.manifest().variant.at("T"));
    if (goes_anywhere(kernel)) {
      p.c = p.k = p.groups = pick(random, 2, 40);
      if (p.flops() <= 8e5 && conv_detail::depthwise::takes(what.pass, p)) return p;
      continue;
    }
    p.c = p.k = p.groups = kernel.number("V") * pick(random, 1, pick(random, 0, 3) == 0 ? 70 : 9);
    p.filter = {1, kernel.number("R"), kernel.number("R")};
    const std::int64_t stride = goes_back(kernel) ? 2 : kernel.number("STR");
    p.stride = {1, stride, stride};
    p.dilation = {1, 1, 1};
    p.pad[0] = 0;
    for (const std::size_t axis : {1U, 2U}) p.pad[axis] = pick(random, 0, p.filter[axis]);
    const auto possible = [&](std::size_t axis) { return p.in[axis] + 2 * p.pad[axis] >= p.filter[axis]; };
    if (!possible(1) || !possible(2) || p.flops() > 8e5) continue;
    if (conv_detail::depthwise::takes_strips(what.pass, p)) return p;
  }
}

ConvProblem draw(Random& random, const Kernel& kernel, const Pass& what, const Limits& limits) {
  if (makes_cells(kernel) || of_bytes_as_float16(kernel)) return draw_for_cells(random, kernel, what, limits);
  if (keeps_filters(kernel)) return draw_for_resident(random, kernel, what, limits);
  if (swaps_operands(kernel)) return draw_for_swapped(random, kernel, what, limits);
  if (is_narrow(kernel) || swaps_narrow(kernel) || updates_narrow(kernel))
    return draw_for_narrow(random, kernel, limits);
  if (shares_products(kernel)) return draw_for_products(random, kernel, what, limits);
  if (is_depthwise(kernel)) return draw_for_depthwise(random, kernel, what, limits);
  if (in_pieces(kernel)) return draw_for_pieces(random, kernel, what, limits);
  if (gathers(kernel)) return draw_for_gathering(random, kernel, what, limits);
  if (on_tensor_cores(kernel)) return draw_for_tensor_cores(random, kernel, what, limits);
  const bool fours = kernel.number("V") == 4;
  ConvProblem p = gpu_test::random_conv(random, std::min(limits.products, 4e5));
  p.layout = what.layout;
  if (fours) {
    const auto four = [](std::int64_t v) { return (v + 3) / 4 * 4; };
    p.c = p.groups * four(p.c / p.groups);
    p.k = p.groups * four(p.k / p.groups);
    if (what.layout == Layout::batch_last) p.n = four(p.n);
    // Positions of x that no tap reaches are a launch of their own, whose sums of nothing have no vectors.
    for (std::size_t axis = 0; what.pass == ConvPass::bprop && axis < 3; ++axis) {
      p.stride[axis] = std::min(p.stride[axis], p.filter[axis]);
      if (p.stride[axis] > 1) p.dilation[axis] = 1;
    }
  }
  const auto& variant = kernel.manifest().variant;
  // A is what is gathered: x, or in bprop dy; B the other operand.
  const Dtype a = type_of(variant.at("XT"));
  const Dtype b = type_of(variant.at("WT"));
  const Dtype c = type_of(variant.at("YT"));
  if (what.pass == ConvPass::fprop) p.x_type = a, p.w_type = b, p.y_type = c;
  if (what.pass == ConvPass::bprop) p.y_type = a, p.w_type = b, p.x_type = c;
  if (what.pass == ConvPass::update) p.x_type = a, p.y_type = b, p.w_type = c;
  return p;
}

std::int64_t channel_of(const ConvProblem& p, std::int64_t i) {
  const auto out = p.out();
  return p.layout == Layout::channels_last ? i % p.k : i / (out[0] * out[1] * out[2] * p.n);
}

// Sums of a result's channels, or of their squares: not of fractions, whose sums are not exact.
struct ChannelSums {
  ChannelSums(const ConvProblem& p, ConvPass pass, const Values& result) {
    const std::int64_t channels = pass == ConvPass::bprop ? p.c : p.k;
    const auto run = static_cast<std::int64_t>(result.size()) / channels;
    sum.resize(static_cast<std::size_t>(channels)), squares.resize(sum.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const std::int64_t k = p.layout == Layout::channels_last ? at % channels : at / run;
      sum[static_cast<std::size_t>(k)] += result[i];
      squares[static_cast<std::size_t>(k)] += result[i] * result[i];
    }
  }
  // Of numbers that are multiples of `unit`.
  [[nodiscard]] bool exact(double unit) const {
    const double most = 0x1p23 * unit * unit;
    return std::ranges::all_of(squares, [most](double v) { return v < most; });
  }
  Values sum, squares;
};

}  // namespace

Outcome convolve(Random& random, const Kernel& kernel, const Limits& limits) {
  const auto& variant = kernel.manifest().variant;
  const Pass what = pass_of(random, kernel);
  const bool tensor_cores = on_tensor_cores(kernel);
  const bool depthwise = is_depthwise(kernel);
  const ConvProblem p = draw(random, kernel, what, limits);
  const ConvPass pass = what.pass;
  const gpu_test::ConvTypes types = gpu_test::types_of(pass, p);
  const std::int64_t sizes[] = {p.x_elements(), p.w_elements(), p.y_elements()};
  const std::int64_t of_in1 = pass == ConvPass::fprop ? sizes[0] : sizes[2];
  const std::int64_t of_in2 = pass == ConvPass::update ? sizes[0] : sizes[1];
  const std::int64_t of_out = pass == ConvPass::fprop ? sizes[2] : pass == ConvPass::bprop ? sizes[0] : sizes[1];
  const bool fours = kernel.number("V") == 4;
  // Where there is a kernel for what fits, another one gets an operand that does not begin at a vector.
  const auto shift = [&](Dtype t) {
    return fours || tensor_cores || (depthwise && !goes_anywhere(kernel)) ? 0 : size_of(t);
  };
  const bool anywhere = gathers(kernel) && kernel.number("V") == 1;  // what is gathered may begin there, and w
  const bool dequantized = p.w_type == Dtype::int8 && types.out != Dtype::int32;
  const auto range = [dequantized](Dtype t) { return dequantized ? 12 : sgemm::byte(t) ? 0 : 4; };
  Values in1 = gpu_test::integers(random, of_in1, range(types.in1), types.in1);
  const Values in2 = gpu_test::integers(random, of_in2, range(types.in2), types.in2);
  const Values old = gpu_test::integers(random, of_out, 9, types.out);

  conv_detail::Epilogue e;
  constexpr float kFactors[] = {1, 1, 2, -1};
  e.alpha = choose(random, kFactors) * (types.out == Dtype::int8 ? 0x1p-6F : dequantized ? 0x1p-4F : 1.0F);
  const bool gradients_of_cells =  // are copied as they are
      (makes_cells(kernel) || makes_piece_cells(kernel) || splits_on_the_way(kernel)) && pass == ConvPass::update;
  e.beta = gradients_of_cells || pick(random, 0, 1) == 0 ? 0.0F : choose(random, kFactors);
  e.relu = pass == ConvPass::fprop && (masks_behind(kernel) || pick(random, 0, 1) == 1);
  if (pass == ConvPass::fprop && !e.relu && types.out != Dtype::int32 && pick(random, 0, 3) == 0 &&
      (!depthwise || goes_anywhere(kernel)))
    e.activation = GemmActivation::clip, e.clip_low = -20, e.clip_high = 33;
  // A strided bprop on the tensor cores is rounded stochastically by its last copy, from float32.
  const bool copied = tensor_cores && pass == ConvPass::bprop && p.stride != decltype(p.stride){1, 1, 1};
  if (types.out != Dtype::int32 && !copied && !gradients_of_cells && !adds_lost(kernel) &&
      (!depthwise || goes_anywhere(kernel)) && pick(random, 0, 3) == 0) {
    e.rounding = {true, random(), random() % 1000, static_cast<int>(pick(random, 0, most_bits(types.out)))};
  }
  if (swaps_narrow(kernel)) e.alpha = 1, e.beta = 0, e.activation = GemmActivation::none, e.rounding = {};
  const bool clips = e.activation == GemmActivation::clip;
  const bool has_bias = pass == ConvPass::fprop && pick(random, 0, 1) == 1;
  ConvPointers at;
  at.bias_type =
      types.out == Dtype::int8 || (sgemm::half(types.out) && pick(random, 0, 1) == 1) ? Dtype::float32 : types.out;
  const bool scaled = dequantized && pick(random, 0, 1) == 1;
  const Values scale = gpu_test::integers(random, p.k, 4, Dtype::float32);
  e.bias_f16 = at.bias_type == Dtype::float16;
  const Values bias = gpu_test::integers(random, p.k, 9, at.bias_type);
  const bool masked = (pass == ConvPass::bprop || e.relu) && (types.out == Dtype::float32 || sgemm::half(types.out)) &&
                      p.layout == Layout::channels_last && (masks_behind(kernel) || pick(random, 0, 2) == 0);
  const std::int64_t row = pass == ConvPass::bprop ? p.c : p.k;
  e.ld_mask = masked ? sgemm::words_of_mask(row) : 0;
  std::vector<std::uint32_t> bits(static_cast<std::size_t>(of_out / row * e.ld_mask));
  if (pass == ConvPass::bprop) std::ranges::generate(bits, [&] { return static_cast<std::uint32_t>(random()); });
  const auto bit_of = [&](std::int64_t i) {
    return std::pair(&bits[static_cast<std::size_t>(i / row * e.ld_mask + i % row / 32)], 1U << i % row % 32);
  };
  Values want = gpu_test::convolution(pass, p, in1, in2);
  for (std::int64_t i = 0; i < of_out; ++i) {
    double& v = want[static_cast<std::size_t>(i)];
    v *= e.alpha;
    if (scaled) v *= scale[static_cast<std::size_t>(channel_of(p, i))];
    v += e.beta * old[static_cast<std::size_t>(i)];
    if (has_bias) v += bias[static_cast<std::size_t>(channel_of(p, i))];
    if (e.relu) v = std::max(v, 0.0);
    if (clips) v = std::clamp(v, static_cast<double>(e.clip_low), static_cast<double>(e.clip_high));
    v = round_result(types.out, e.rounding, v, i);
    if (!masked) continue;
    const auto [word, bit] = bit_of(i);
    if (pass == ConvPass::fprop && v > 0) *word |= bit;
    if (pass == ConvPass::bprop && (*word & bit) == 0) v = 0;
  }

  Convolution c;
  c.pass = pass, c.p = p, c.anywhere = anywhere;
  c.family = depthwise ? Family::depthwise : tensor_cores ? Family::tensor_cores : Family::chains;
  if (beyond_pieces(kernel)) {  // elements of which bfloat16 has no three pieces
    c.small = 0x1p-120;
    for (double& v : in1) v *= c.small;
    e.alpha /= static_cast<float>(c.small);
  }
  const bool odd_in1 = anywhere && pass != ConvPass::update;
  c.shift1 = odd_in1 ? size_of(types.in1) : shift(types.in1);
  c.shift2 = anywhere ? size_of(types.in2) : shift(types.in2);
  const Buffer device_in1(in1, types.in1, c.shift1);
  const Buffer device_in2(in2, types.in2, c.shift2);
  const Buffer device_bias(bias, at.bias_type);
  const Buffer device_scale(scale, Dtype::float32);
  if (scaled) e.scale = device_scale.address();
  const Buffer device_out =
      e.beta != 0 ? Buffer(old, types.out) : Buffer::poisoned(static_cast<std::size_t>(of_out) * size_of(types.out));
  conv_detail::Forced& forced = c.forced;
  forced.kernel = end_of(kernel);
  if (depthwise) {
    forced.splits = 0;
  } else if (shares_products(kernel)) {
    forced.splits = std::max<std::int64_t>(pick(random, -5, 5), 1);  // often one, which goes around the circle
  } else if (updates_narrow(kernel)) {
    forced.splits = pick(random, 1, 4);  // CTAs
  } else if (tensor_cores) {
    const bool of_parts = !makes_cells(kernel) && !is_narrow(kernel) && !swaps_narrow(kernel) && !in_pieces(kernel) &&
                          !dequantized && variant.at("YT") == "f32";
    forced.splits = masks_behind(kernel)                       ? 1
                    : in_pieces(kernel) && !in_classes(kernel) ? pick(random, 1, 3)
                    : of_parts                                 ? pick(random, 2, 5)
                                                               : 1;
  } else if (pass == ConvPass::update && pick(random, 0, 2) == 0) {
    forced.splits = pick(random, 1, 4);
  }
  std::optional<ChannelSums> sums;
  if (pass != ConvPass::update && (types.out == Dtype::float32 || sgemm::half(types.out)) && !beyond_pieces(kernel) &&
      pick(random, 0, 2) == 0) {
    sums.emplace(p, pass, want);
    if (!sums->exact(dequantized ? 0x1p-4 : 1)) sums.reset();
  }
  const std::size_t of_sums = sums ? sums->sum.size() * sizeof(float) : 0;
  const Buffer device_sum = Buffer::poisoned(of_sums), device_squares = Buffer::poisoned(of_sums);
  const Buffer parts = Buffer::poisoned(sums ? conv_detail::channel_sums::workspace(pass, p, c.most_parts()) : 0);
  const bool of_squares = pick(random, 0, 1) == 1;
  if (sums) e.sums = {device_sum.address(), of_squares ? device_squares.address() : 0, parts.address(), c.most_parts()};
  gpu_test::Bytes mask(4 * bits.size(), 0xff);  // fprop: nobody has written it
  if (pass == ConvPass::bprop && masked) std::memcpy(mask.data(), bits.data(), mask.size());
  const Buffer device_mask(mask);
  if (masked) at.mask = e.mask = device_mask.address();
  const Buffer workspace = Buffer::poisoned(std::max<std::size_t>(c.workspace(), 16));
  at.in1 = device_in1.address();
  at.in2 = device_in2.address();
  at.out = device_out.address();
  at.bias = has_bias ? device_bias.address() : 0;
  at.workspace = workspace.address();

  Outcome out;
  out.elements = of_out;
  out.problem = std::string(gpu_test::name_of(pass)) + " of " + gpu_test::text_of(p) + " alpha " +
                std::to_string(e.alpha) + " beta " + std::to_string(e.beta) + (has_bias ? " bias" : "") +
                (e.relu ? " relu" : "") + (clips ? " clip" : "") + (scaled ? " scale" : "") +
                (e.rounding.stochastic ? " at random" : "") + " splits " + std::to_string(forced.splits);
  out.features = {gpu_test::name_of(pass), std::string(nervanagpu::name_of(types.out)) + " result"};
  if (e.beta != 0) out.features.emplace_back("beta");
  if (has_bias) out.features.emplace_back("bias");
  if (e.relu) out.features.emplace_back("relu");
  if (clips) out.features.emplace_back("clip");
  if (scaled) out.features.emplace_back("scale by column");
  if (e.rounding.stochastic) out.features.emplace_back("rounding at random");
  if (p.groups > 1) out.features.emplace_back("groups");
  if (masked) out.features.emplace_back("mask");
  if (sums) out.features.emplace_back("sums of channels");
  std::int64_t left = 0;
  if (!c.queue(at, e, &left)) return convolve(random, kernel, limits);
  if (sums && left > 0) out.features.emplace_back("sums of channels in the kernel");
  out.wrong = gpu_test::difference(device_out, gpu_test::encode(want, types.out), types.out);
  if (masked && pass == ConvPass::fprop && out.wrong.empty()) {
    gpu_test::Bytes wanted(mask.size());
    std::memcpy(wanted.data(), bits.data(), wanted.size());
    out.wrong = gpu_test::difference(device_mask, wanted, Dtype::uint32);
    if (!out.wrong.empty()) out.wrong = "mask: " + out.wrong;
  }
  static_cast<void>(workspace.get());
  if (out.wrong.empty() && !workspace.guards().empty()) out.wrong = "the workspace " + workspace.guards();
  if (sums && out.wrong.empty()) {
    const auto compare = [&](const char* name, const Buffer& got, const Values& wanted) {
      const std::string wrong = gpu_test::difference(got, gpu_test::encode(wanted, Dtype::float32), Dtype::float32);
      if (out.wrong.empty() && !wrong.empty()) out.wrong = std::string(name) + ": " + wrong;
    };
    compare("channel_sum", device_sum, sums->sum);
    if (of_squares) compare("channel_sum_squares", device_squares, sums->squares);
    static_cast<void>(parts.get());
    if (out.wrong.empty() && !parts.guards().empty()) out.wrong = "the parts of sums " + parts.guards();
  }
  if (out.wrong.empty()) out.wrong = beyond_bound(random, kernel, c, out.of_bound);
  return out;
}

}  // namespace nervanagpu::variants
