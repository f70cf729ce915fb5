// Cells of stride x stride pixels: a bprop with strides becomes one without.
#pragma once

#include <optional>

#include "kernels/conv/strided/by_cells.h"

namespace nervanagpu::conv_detail::by_cells {

// None: no strides along height and width, or dilations with them.
std::optional<Cells> of_strides(const ConvProblem& p);

// The filters' cells, to where zeros are needed after them too. w: with channels last.
void copy_strided_filters(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t w, std::uint64_t to,
                          const Stream& stream);

}  // namespace nervanagpu::conv_detail::by_cells
