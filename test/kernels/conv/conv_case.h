// One pass of a convolution with exact answers: integers so small that every sum is exact, so that each element must be
// equal to the bit. Result and workspace start as poison and lie between guard zones.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"

namespace nervanagpu::test {

struct ConvCase {
  ConvPass pass = ConvPass::fprop;
  ConvProblem p;
  ConvOptions options;  // of them, not bias, scale and mask; no activation but clip
  bool bias = false;
  bool scale = false;                                     // a factor for each filter
  bool mask = false;                                      // bits of relu: fprop with it writes them, bprop applies them
  std::int64_t mask_gap = 0;                              // words between rows of them
  bool channel_sum = false, channel_sum_squares = false;  // of what is stored, beside sums of these bits
  bool kernels_sums = false;                              // forced: the kernel leaves their parts
  Dtype bias_type = Dtype::float32;
  std::int64_t shift = 0;      // elements by which every tensor is moved from an aligned place
  conv_detail::Forced forced;  // not for channels_first
  int size = 3;                // of the integers
};

// What the pass gives for data chosen by `random`: empty if every bit is right and nothing else was written, otherwise
// what is wrong, and where. `bits`: what was computed.
std::string judge(Device& device, std::mt19937& random, const ConvCase& c, std::vector<std::uint32_t>* bits = nullptr);

// The pass on given data (elements as bits), with nothing expected of it but of a mask that it writes. A mask that it applies has this word.
std::vector<std::uint32_t> run(Device& device, const ConvCase& c, const std::vector<std::uint32_t>& in1,
                               const std::vector<std::uint32_t>& in2, std::uint32_t mask_word = 0x5b3f6c97);

// For the pass and the problem: floats; x bytes in a first layer; or x and w bytes in an fprop, with any result.
void choose_types(std::mt19937& random, ConvCase& c);
// Of bytes an int32 result alone, which conv.sass stores.
void keep_sums(ConvCase& c);
// alpha, beta, bias, relu, rounding, sums and shift at random, as far as the pass has them.
void choose_epilogue(std::mt19937& random, ConvCase& c);

}  // namespace nervanagpu::test
