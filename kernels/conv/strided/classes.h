// The classes of positions of a bprop with strides, as one launch of hconv.sass: tiles of all of them, through one map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/conv/implicit/implicit_gemm.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::classes {

inline constexpr std::size_t kMost = 8;  // of a launch: hconv.sass's MOST_CLASSES

// What a class has of its own.
struct Class {
  Inner taps = {1, 1, 1};
  Inner further = {0, 0, 0};    // its first tap's pixel, from the one that all begin at
  std::int64_t tap0 = 0;        // that tap in w
  Inner positions = {1, 1, 1};  // of the launch's
  Inner first = {0, 0, 0};      // pixel of the result
  [[nodiscard]] std::int64_t all_taps() const { return taps[0] * taps[1] * taps[2]; }
};

struct Launch {
  Gather gather;            // of all classes; taps: those of the first
  std::vector<Class> each;  // the one of most taps first
};

// All classes in launches of at most kMost. size: of dy. None: one map cannot say them.
std::optional<std::vector<Launch>> launches(const std::vector<Gather>& all, const Inner& size, bool volume);

// The parameters after `classes`. blocks: of channels. deep: maps of rank 5. row_steps: rows of the result from pixel to pixel.
void put(Values& v, const std::vector<Class>& each, std::int64_t blocks, bool deep, const Inner& row_steps);

}  // namespace nervanagpu::conv_detail::classes
