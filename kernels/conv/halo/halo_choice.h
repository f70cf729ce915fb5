// Convolutions without strides whose taps share what is gathered, on halo.sass: which they are, and which variant computes them.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/conv/fitted_costs.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/launch.h"
#include "kernels/gemm/cost/hgemm_cost.h"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::halo {

constexpr std::int64_t kBlock = 64;    // channels of a patch
constexpr std::int64_t kStep = 16;     // of a product
constexpr std::int64_t kRowUnits = 8;  // of 16 bytes, of a row of a patch
constexpr std::int64_t kRowBytes = 16 * kRowUnits;

// What a launch has to do.
struct Work {
  char pass = 'f';                        // or 'b'
  Gather taps;                            // of the gathered tensor
  Inner size = {1, 1, 1};                 // of its images
  std::int64_t images = 1, channels = 1;  // of the group
  std::int64_t columns = 1;               // of the result
  double bytes = 0;                       // of operands and result
  std::int64_t stored = channels;         // that memory has, zeros among them
};

// Places around an image (halo.sass), and by how many rows the last tap lies further on.
struct Frame {
  std::int64_t width = 1, height = 1, reach = 0;
  [[nodiscard]] std::int64_t places(std::int64_t images) const { return width * height * images; }
};

// None: the kernels cannot do it.
std::optional<Frame> frame_of(const Work& w);

struct Choice {
  Frame frame;
  hgemm::Tile tile;
  double microseconds = 0;                                                   // by a model of an H200
  [[nodiscard]] std::int64_t rows() const { return tile.bm + frame.reach; }  // of a patch
};

// The cheapest variant; none: the kernel cannot do it. forced: as "_halo_128x64".
std::optional<Choice> choose(const Work& w, int multiprocessors, const Forced& forced = {});
bool is_forced(const Forced& forced);
double microseconds(const Work& w, const Choice& choice, const Costs& costs = kFitted);
// fprop or bprop of one group's channels; none: bytes, of which two are a channel, and an odd number.
std::optional<Work> work_of(ConvPass pass, const ConvProblem& p, const Gather& taps);
// All launches of a pass, which hconv.sass could compute, could be this variant's.
bool takes(ConvPass pass, const ConvProblem& p, const Forced& forced);

const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, const hgemm::Tile& tile);

// The kernel's maps: of a patch of x (bprop: dy), and of some rows of the filters w, whose `size` and `n` are taps and filters.
TensorMap patch_map(const Pixels& x, const Gather& taps, const Frame& frame, std::int64_t rows);
TensorMap filters_map(char pass, const Pixels& w, std::int64_t rows = 32);
// Taps and channels are one coordinate of the filters.
bool flat(char pass, std::int64_t channels);
// Sixteens of channels of the last patch.
std::int64_t last_steps(std::int64_t channels);
// Parameters of a frame, and of a patch of so many bytes.
void put_frame(Values& v, const Gather& taps, const Frame& frame, std::int64_t patch_bytes);
// All after those of tiles.sass. channels: of the group, gathered.
void put(Values& v, char pass, const Gather& taps, const Choice& choice, std::int64_t channels);

}  // namespace nervanagpu::conv_detail::halo
