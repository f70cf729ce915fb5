// Convolutions of images with few channels that gconv.sass cannot gather, whose filters are long: each window becomes a row in
// memory, and the pass a product. A pixel of 3 channels is not what the copy engine can gather, and padded to 64 it would be 20
// times the work.
#pragma once

#include "nervanagpu/conv.hpp"

namespace nervanagpu::conv_detail {

// The windows of some images, as a matrix.
struct Columns {
  std::int64_t rows = 0;                        // positions of an image
  std::int64_t columns = 0;                     // taps times channels
  std::int64_t pitch = 0;                       // elements from row to row: multiples of 16 bytes
  std::int64_t images = 0;                      // at a time: their rows take some tens of megabytes
  std::array<std::int64_t, 2> padded = {1, 1};  // height and width of an image with what the windows reach around it
};

// fprop and update of 2D convolutions with few channels and no dilation along the width, whose windows take a gigabyte at most.
bool in_columns(ConvPass pass, const ConvProblem& p);
Columns columns_of(const ConvProblem& p);

}  // namespace nervanagpu::conv_detail
