// Convolutions at random: lengths that are odd, equal to 1 or prime, filters larger than the input, strides larger than
// the filter, dilations, groups, in one to three dimensions.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "nervanagpu/conv.hpp"

namespace nervanagpu::test {

// No tensor has more than `most` elements. All layouts; float32.
ConvProblem random_problem(std::mt19937& random, std::int64_t most);

// A first layer in 2D: one to four channels, a stride of 1, 2 or 4 along the width, 16-bit floats, as `turn` says.
ConvProblem random_first_layer(std::mt19937& random, std::int64_t most, int turn);

// Pixels that lie apart, of x and of y, for channels last; odd distances, and such as the copy engine has.
void choose_pitches(std::mt19937& random, ConvProblem& p);

std::string text_of(ConvPass pass, const ConvProblem& p);

}  // namespace nervanagpu::test
