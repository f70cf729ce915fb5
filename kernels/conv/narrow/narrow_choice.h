// fprop of at most four channels in 2D, on narrow.sass: which problems these are, and which variant computes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/conv/costs.h"
#include "kernels/conv/fitted_costs.h"
#include "kernels/conv/launch.h"
#include "kernels/conv/problem.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "nervanagpu/conv.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::narrow {

struct Choice {
  std::int64_t row = 16;     // bytes from a row of A to the next
  bool pairs = false;        // rows are two positions each
  hgemm::Tile tile;          // 64 rows, and columns
  std::int64_t columns = 0;  // of C
  std::int64_t groups = 0;   // of four pixels of a filter's line
  std::int64_t steps = 0;    // of 16 products
  std::int64_t units = 0;    // of 16 bytes of a patch's line at least, and lines
  std::int64_t lines = 0;
  std::int64_t tile_lines = 8;  // a tile is 8 neighbours of each
  std::int64_t out_w = 0;       // rows of C in a line
  std::int64_t tiles_w = 0, tiles_h = 0;
  std::int64_t tiles = 0;               // of all images
  std::int64_t room = 0, raw_room = 0;  // bytes of a patch, and of its lines of x as they lie
  double microseconds = 0;              // by a model of an H200, with the copy of the filters
  [[nodiscard]] std::int64_t depth() const { return 16 * steps; }  // elements of a row of the filters' copy
};

// Rows, tiles and patches for these taps; none: strides, channels or extents are others'. No variant's: `lines` are those that
// the taps meet, `units` the fewest.
std::optional<Choice> rows_of(const ConvProblem& p);
// The same with tiles of so many lines.
void set_tiles(const ConvProblem& p, Choice& choice, std::int64_t lines);
// Bytes of its patches, however they are loaded, are no more than their room.
bool fits_room(const Choice& choice);
// Of a warp over a patch that it loads by words or elements.
std::int64_t passes_of(const Choice& choice);

// The cheapest variant; none: narrow.sass cannot compute it. A function of the problem alone. forced: as "_narrow_16_64".
std::optional<Choice> choose(const ConvProblem& p, const Forced& forced = {});
bool is_forced(const Forced& forced);
double microseconds(const ConvProblem& p, const Choice& choice, const Costs& costs = kFitted);
// It is faster than all others.
bool pays(const ConvProblem& p, const Choice& choice);

// How the pixels of x can be loaded, which shows in no bit: lines by the copy engine, pairs by words, or element by element.
enum class Load : std::uint8_t { boxes, words, any };
Load load_of(const ConvProblem& p, const Choice& choice, std::uint64_t x);
std::string_view name_of(Load load);
const Kernel* find(const Registry& registry, Dtype operands, Load load, const Choice& choice);

// fragments: as narrow_swapped.sass multiplies them, of 64 filters.
void copy_filters(Device& device, const ConvProblem& p, const Choice& choice, std::uint64_t w, std::uint64_t to,
                  bool fragments, const Stream& stream);
// C's rows begin at multiples of 16 bytes.
bool has_rows_of_units(const GemmProblem& c);
// y's rows, `pitch` elements apart: 64 columns of 8 neighbours of `lines` lines.
TensorMap rows_map(const ConvProblem& p, const Choice& choice, std::uint64_t y, std::int64_t pitch,
                   std::uint32_t lines);
// Load::boxes: lines of x.
TensorMap lines_map(const ConvProblem& p, const Choice& choice, std::uint64_t x);
// Of narrow/patch.sass: where patches lie, and how they are loaded.
void put_patches(Values& v, const ConvProblem& p, const Choice& choice, std::uint64_t x, Load load);
// The high word of the descriptors of x.
std::int64_t descriptor_of(const ConvProblem& p, const Choice& choice, Load load);
// The kernel's parameters after those of tiles.sass.
void put(Values& v, const GemmProblem& c, const ConvProblem& p, const Choice& choice, std::uint64_t x, Load load);

}  // namespace nervanagpu::conv_detail::narrow
