// Convolutions without strides of few filters, on halo_swapped.sass: which they are, and which variant computes them.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/conv/halo/halo_choice.h"

namespace nervanagpu::conv_detail::swapped {

struct Choice {
  halo::Frame frame;
  hgemm::Tile tile;
  std::int64_t taps = 1;  // of a product
  std::int64_t patch_rows = 0;
  double microseconds = 0;  // by a model of an H200, with a copy of filters
};

// The cheapest variant that adds `taps` taps of a product, or of any number; none: the kernel cannot do it. Sums depend on the
// number, so that must be a function of the problem alone. forced: as "_swapped_254x32".
std::optional<Choice> choose(const halo::Work& work, int multiprocessors, std::int64_t taps = 0,
                             const Forced& forced = {});
bool is_forced(const Forced& forced);
// Of the launch alone.
double microseconds(const halo::Work& work, const Choice& choice, const Costs& costs = kFitted);

const Kernel* find(const Registry& registry, Dtype operands, Dtype result, const hgemm::Tile& tile);

TensorMap patch_map(const Pixels& x, const Gather& taps, const Choice& choice);
// w: its taps in the order in which they are met.
TensorMap filters_map(const Pixels& w, const Choice& choice);
// The kernel's parameters after those of tiles.sass.
void put(Values& v, const Gather& taps, const Choice& choice, const Pixels& x, const Pixels& w);

}  // namespace nervanagpu::conv_detail::swapped
