// What a problem asks for whatever its addresses, found once: a call needs it several times, and networks call again and again.
#pragma once

#include <cstddef>

#include "nervanagpu/conv.hpp"

namespace nervanagpu::conv_detail {

struct Known {
  bool depthwise = false;        // depthwise::takes()
  bool on_tensor_cores = false;  // where there are any: tensor_cores::takes()
  bool by_cells = false;         // by_cells::cells_of() has some
  // On tensor cores, with channels last, if no epilogue makes it a product: two_pieces::chosen().
  bool in_two_pieces = false;
  std::size_t workspace = 0;   // bytes, whatever the device
  std::int64_t sum_parts = 0;  // tensor_cores::most_parts(), or 0
};

// Throws as check() does.
Known known(ConvPass pass, const ConvProblem& p);

std::size_t hash_of(ConvPass pass, const ConvProblem& p);

}  // namespace nervanagpu::conv_detail
