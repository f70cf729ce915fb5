// fprop of at most four channels and 64 filters in 2D, on narrow_swapped.sass: which problems these are, and how they are launched.
#pragma once

#include <optional>
#include <string>

#include "kernels/conv/narrow/narrow_choice.h"

namespace nervanagpu::conv_detail::narrow_swapped {

bool is_forced(const Forced& forced);
// Of the filters' copy; narrow.sass's has no more.
std::int64_t filter_bytes(const narrow::Choice& choice);

// None: narrow_swapped.sass cannot compute it. A function of the problem alone. forced: as "_narrowswapped_16_64x128".
std::optional<narrow::Choice> choose(const ConvProblem& p, const Forced& forced = {});
double microseconds(const ConvProblem& p, const narrow::Choice& choice, const Costs& costs = kFitted);
// The same of a layer whose result is a relu's, and pooled in windows of 2 x 2: what the variant for that computes.
std::optional<narrow::Choice> choose_pooled(const ConvProblem& p);
// As a model names it.
std::string launched(const narrow::Choice& choice);
// Results are only packed, but for a bias and a relu, and lie as copies of 16 bytes need it.
bool stores(const GemmProblem& c);
// Its variant for these operands; null: pixels that come so are narrow.sass's.
const Kernel* find(const Registry& registry, Dtype operands, narrow::Load load, const narrow::Choice& choice,
                   bool pooled = false);
// Where the operands lie, and what comes after the sums.
struct Operands {
  std::uint64_t x = 0, w = 0, y = 0, bias = 0;
  Dtype bias_type = Dtype::float32;
  bool relu = false;
  std::int64_t pitch = 0;     // elements from position to position of y
  bool pooled = false;        // y has the largest of windows of 2 x 2
  std::uint64_t codes = 0;    // where theirs go; 0: nowhere
  std::uint64_t filters = 0;  // filter_bytes(), which it fills
};
// The copy of the filters, and `kernel`, which find() has given for these pixels of x.
void launch(Device& device, const Kernel& kernel, const ConvProblem& p, const narrow::Choice& choice,
            const Operands& operands, narrow::Load load, const Stream& stream);

}  // namespace nervanagpu::conv_detail::narrow_swapped
