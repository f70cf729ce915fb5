// Which kind of problem is drawn for the kernels of an operation.
#include <stdexcept>

#include "test/variants/counting_device.h"
#include "test/variants/other.h"

namespace nervanagpu::variants {
namespace {

Outcome multiply(Random& random, const Kernel& kernel, const Limits& limits) {
  const Product product = draw_product(random, kernel, limits);
  Outcome out;
  out.problem = text_of(product);
  out.features = features_of(product);
  CountingDevice::watch(product.most_ctas);
  out.wrong = run(product, random, out.elements);
  return out;
}

}  // namespace

Outcome solve(Random& random, const Kernel& kernel, const Limits& limits) {
  const std::string& op = kernel.manifest().op;
  const bool convolves = op == "hconv" || op == "gconv" || op == "halo" || op == "halo_swapped" || op == "resident" ||
                         op == "narrow" || op == "narrow_swapped" || op == "conv_bf16x6" || op == "conv_f16x3";
  CountingDevice::watch(convolves && limits.in_turn ? 1 : 0);
  if (draws_products(kernel)) return multiply(random, kernel, limits);
  const auto& variant = kernel.manifest().variant;
  if (variant.contains("RESULT") && variant.at("RESULT") == "pool") return convolve_and_pool(random, kernel, limits);
  if (op == "conv" || op == "hconv" || op == "gconv" || op == "halo" || op == "halo_swapped" || op == "halo_update" ||
      op == "resident" || op.starts_with("narrow") || op == "cells" || op == "cells_bf16x3" || op == "window_filters" ||
      op == "conv_split" || op == "conv_bf16x6" || op == "conv_f16x3" || op.starts_with("conv_lost") ||
      op == "relu_mask_if" || op == "conv_if" || op.starts_with("depthwise")) {
    return convolve(random, kernel, limits);
  }
  if (op.starts_with("channel_sums")) return channel_sums(random, kernel, limits);
  if (op == "pool_indices") return indices(random, kernel, limits);
  if (op == "pixels" || op == "cell_filters") return strided(random, kernel, limits);
  if (op.starts_with("pool_")) return pool(random, kernel, limits);
  if (op == "convert" || op == "transpose") return copy(random, kernel, limits);
  if (op.starts_with("sort_")) return order(random, kernel, limits);
  throw std::logic_error("nothing is drawn for kernels of " + op);
}

}  // namespace nervanagpu::variants
