// Cells of 1 x 2 to 8 x 8 pixels, of a bprop of few channels without strides: an fprop over dy whose strides are the cell's sides.
//
// Pixel i of dx meets at tap r the position i + pad - r of dy. In the cell that begins at i - u it is tap u + filter - 1 - r of a
// longer filter, filter - 1 - pad positions in front of the cell. So all pixels of a cell are columns of one product.
#pragma once

#include <optional>
#include <vector>

#include "kernels/conv/strided/by_cells.h"

namespace nervanagpu::conv_detail::by_cells {

// None: strides, 8 channels or more, dilations along a cell's side, or other types than 16-bit floats.
std::optional<Cells> of_pixels(const ConvProblem& p, const Flat& step);
// Of all sides that are tried.
std::vector<Cells> of_pixels(const ConvProblem& p);

// By cell_filters.sass, from any layout.
void move_filters(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t w, std::uint64_t to,
                  const Stream& stream);

}  // namespace nervanagpu::conv_detail::by_cells
