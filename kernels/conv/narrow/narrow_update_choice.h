// update of at most four channels in 2D, on narrow_update.sass: which problems these are, and how they are cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/conv/narrow/narrow_choice.h"

namespace nervanagpu::conv_detail::narrow_update {

struct Choice {
  narrow::Choice patch;     // rows of dy, tiles and patches, whose lines are as many as the variant's products meet
  std::int64_t taps = 0;    // along the height, of the variant
  std::int64_t groups = 0;  // of pixels that a product has
  std::int64_t ctas = 1;    // that share all tiles,
  std::int64_t column_ctas = 1;  // and columns of dy
  double microseconds = 0;       // by a model of an H200
  // Of each sum. A pair's second position has its own where one CTA has not all columns.
  [[nodiscard]] bool folds() const { return patch.pairs && column_ctas == 1; }
  [[nodiscard]] std::int64_t parts() const { return ctas * (patch.pairs && !folds() ? 2 : 1); }
  [[nodiscard]] std::int64_t sums_bytes(const ConvProblem& p) const {
    return 4 * parts() * p.k * p.filter[1] * p.filter[2] * p.c;
  }
};

// The cheapest variant; none: the kernel cannot compute it. A function of the problem alone. forced: as "_narrowupdate_16_7"; splits.
std::optional<Choice> choose(const ConvProblem& p, const Forced& forced = {});
bool is_forced(const Forced& forced);
double microseconds(const ConvProblem& p, const Choice& choice, const Costs& costs = kFitted);
// It is faster than all others.
bool pays(const ConvProblem& p, const Choice& choice);

std::string name_of(const Choice& choice);  // "narrowupdate_16_7"
const Kernel* find(const Registry& registry, Dtype operands, narrow::Load load, const Choice& choice);

// The kernel's parameters after its maps. sums: choice.sums_bytes(); dy: its address, and elements from row to row.
void put(Values& v, const ConvProblem& p, const Choice& choice, std::uint64_t sums, std::uint64_t dy,
         std::int64_t pitch, std::uint64_t x, narrow::Load load);
Grid grid(const Choice& choice);

}  // namespace nervanagpu::conv_detail::narrow_update
