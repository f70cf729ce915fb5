// Random convolutions, pools, copies and rows to sort, each drawn for one kernel of the registry, as product.h has products.
#pragma once

#include <cstdint>
#include <string>

#include "src/module/registry.h"
#include "test/variants/product.h"

namespace nervanagpu::variants {

struct Outcome {
  std::string problem;  // in words
  std::string wrong;    // "": all is right
  std::int64_t elements = 0;
  std::vector<std::string> features;
  double of_bound = 0;  // the largest error of random numbers, in units of the kernel's .bound
};

// A problem for the kernel, solved: one of those below, or a product.
Outcome solve(Random& random, const Kernel& kernel, const Limits& limits);

Outcome convolve(Random& random, const Kernel& kernel, const Limits& limits);
// The variant of narrow_swapped.sass that pools.
Outcome convolve_and_pool(Random& random, const Kernel& kernel, const Limits& limits);
Outcome channel_sums(Random& random, const Kernel& kernel, const Limits& limits);
Outcome strided(Random& random, const Kernel& kernel, const Limits& limits);  // pixels.sass, cell_filters.sass
Outcome pool(Random& random, const Kernel& kernel, const Limits& limits);
Outcome indices(Random& random, const Kernel& kernel, const Limits& limits);  // of pooling
Outcome copy(Random& random, const Kernel& kernel, const Limits& limits);     // convert.sass and transpose.sass
Outcome order(Random& random, const Kernel& kernel, const Limits& limits);

}  // namespace nervanagpu::variants
