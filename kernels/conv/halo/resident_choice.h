// Convolutions without strides of few channels and filters, on resident.sass: which they are, and which variant computes them.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/conv/halo/halo_choice.h"

namespace nervanagpu::conv_detail::resident {

struct Choice {
  halo::Frame frame;
  hgemm::Tile tile;
  int row = 128;                                                             // bytes of a patch's rows
  double microseconds = 0;                                                   // by a model of an H200
  [[nodiscard]] std::int64_t rows() const { return tile.bm + frame.reach; }  // of a patch
};

// The cheapest variant; none: the kernel cannot do it. work.channels: a multiple of 16. forced: as "_resident_128_128x64".
std::optional<Choice> choose(const halo::Work& work, int multiprocessors, const Forced& forced = {});
bool is_forced(const Forced& forced);
double microseconds(const halo::Work& work, const Choice& choice, const Costs& costs = kFitted);

const Kernel* find(const Registry& registry, Dtype operands, Dtype result, const Choice& choice);

TensorMap patch_map(const Pixels& x, const Gather& taps, const Choice& choice);
// The kernel's parameters after those of tiles.sass.
void put(Values& v, const Gather& taps, const Choice& choice, std::int64_t channels);

}  // namespace nervanagpu::conv_detail::resident
