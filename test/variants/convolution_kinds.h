// What a kernel of convolutions is for, by its manifest.
#pragma once

#include "src/module/registry.h"

namespace nervanagpu::variants {

inline bool gathers(const Kernel& kernel) {
  return kernel.manifest().op == "gconv";
}
inline bool shares_taps(const Kernel& kernel) {
  return kernel.manifest().op == "halo";
}
inline bool shares_products(const Kernel& kernel) {
  return kernel.manifest().op == "halo_update";
}
inline bool makes_cells(const Kernel& kernel) {
  return kernel.manifest().op == "cells";
}
inline bool keeps_filters(const Kernel& kernel) {
  return kernel.manifest().op == "resident";
}
inline bool swaps_operands(const Kernel& kernel) {
  return kernel.manifest().op == "halo_swapped";
}
inline bool is_narrow(const Kernel& kernel) {
  return kernel.manifest().op == "narrow" || kernel.manifest().op == "narrow_filters";
}
// Results are only packed, after a bias and a relu.
inline bool swaps_narrow(const Kernel& kernel) {
  return kernel.manifest().op == "narrow_swapped";
}
inline bool updates_narrow(const Kernel& kernel) {
  return kernel.manifest().op == "narrow_update";
}
inline bool is_depthwise(const Kernel& kernel) {
  return kernel.manifest().op.starts_with("depthwise");
}
inline bool goes_anywhere(const Kernel& kernel) {
  return kernel.manifest().op == "depthwise_any";
}
inline bool goes_back(const Kernel& kernel) {
  return kernel.manifest().op == "depthwise_back";
}
inline bool makes_piece_cells(const Kernel& kernel) {
  return kernel.manifest().op == "cells_bf16x3";
}
inline bool moves_filters(const Kernel& kernel) {
  return kernel.manifest().op == "window_filters";
}
// dy of few columns, split by the product's own warps.
inline bool splits_on_the_way(const Kernel& kernel) {
  return kernel.manifest().op == "conv_split";
}
// Two pieces, and after a gradient what these have lost: nothing of integers, which it looks for.
inline bool from_two_pieces(const Kernel& kernel) {
  return kernel.manifest().op == "conv_f16x3";
}
inline bool adds_lost(const Kernel& kernel) {
  return kernel.manifest().op.starts_with("conv_lost");
}
// fprop in half blocks.
inline bool in_half_blocks(const Kernel& kernel) {
  return kernel.manifest().op == "hconv" && kernel.manifest().variant.at("PASS") == "h";
}
// bprop with strides, all classes of positions in one launch.
inline bool in_classes(const Kernel& kernel) {
  const auto& variant = kernel.manifest().variant;
  return variant.contains("PASS") && variant.at("PASS") == "c";
}
// Of float32: what computes a pass whose operands have no pieces, and its bits after it; what makes cells of pieces, what multiplies them.
inline bool masks_behind(const Kernel& kernel) {
  return kernel.manifest().op == "relu_mask_if";
}
inline bool beyond_pieces(const Kernel& kernel) {
  return kernel.manifest().op == "conv_if" || masks_behind(kernel);
}
inline bool in_pieces(const Kernel& kernel) {
  return kernel.manifest().op == "conv_bf16x6" || beyond_pieces(kernel) || makes_piece_cells(kernel) ||
         moves_filters(kernel) || splits_on_the_way(kernel) || from_two_pieces(kernel) || adds_lost(kernel);
}
inline bool on_tensor_cores(const Kernel& kernel) {
  return in_pieces(kernel) || kernel.manifest().op == "hconv" || gathers(kernel) || shares_taps(kernel) ||
         makes_cells(kernel) || keeps_filters(kernel) || swaps_operands(kernel) || shares_products(kernel) ||
         is_narrow(kernel) || swaps_narrow(kernel) || updates_narrow(kernel);
}

}  // namespace nervanagpu::variants
