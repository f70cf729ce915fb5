// Updates of convolutions without strides and of few channels on halo_update.sass: which they are, and how they are cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/conv/halo/halo_choice.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/launch.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::halo_update {

// What a launch has to do.
struct Work {
  Gather taps;                            // of x
  Inner size = {1, 1, 1};                 // of its images
  std::int64_t images = 1, channels = 1;  // of the group
  std::int64_t filters = 1;               // of the group
  double bytes = 0;                       // of operands and result
};

struct Choice {
  halo::Frame frame;
  int taps = 0;                               // of the variant, along the width
  std::int64_t lines = 1, planes = 1;         // of a CTA
  std::int64_t tiles = 1, plane_tiles = 1;    // that share the places, but for filters
  std::int64_t circle = 1, ahead = 0;         // blocks of places
  std::int64_t blocks = 1, split_blocks = 1;  // of all places, and of a split
  std::int64_t depth = 16;                    // channels in the workspace
  double microseconds = 0;                    // by a model of an H200
  [[nodiscard]] std::int64_t splits() const { return (blocks + split_blocks - 1) / split_blocks; }
  [[nodiscard]] std::int64_t sums_bytes(const Work& w) const {
    return 4 * splits() * w.filters * w.taps.all_taps() * depth;
  }
};

// The cheapest way; none: the kernel cannot do it. A function of the problem alone. forced: as "_haloupdate_3", or with lines and
// planes as "_haloupdate_3_2x1"; splits.
std::optional<Choice> choose(const Work& w, const Forced& forced = {});
bool is_forced(const Forced& forced);
double microseconds(const Work& w, const Choice& choice, const Costs& costs = kFitted);

std::string name_of(const Choice& choice);  // "haloupdate_3_2x1"

const Kernel* find(const Registry& registry, Dtype operands, const Choice& choice);

// The kernel's maps: of 128 places of dy, and of x.
TensorMap dy_map(const Pixels& dy, const Gather& taps, const Choice& choice);
TensorMap x_map(const Pixels& x, const Gather& taps, const Choice& choice);
// Its parameters after these. sums: choice.sums_bytes() at a multiple of 8.
void put(Values& v, const Work& w, const Choice& choice, std::uint64_t sums, const Pixels& dy, const Pixels& x);
Grid grid(const Work& w, const Choice& choice);

}  // namespace nervanagpu::conv_detail::halo_update
