// One launch of a kernel of this folder, found by its name.
#pragma once

#include <cstdint>
#include <string>

#include "nervanagpu/rounding.hpp"
#include "nervanagpu/tensor.hpp"
#include "src/device/device.h"
#include "src/launch/arguments.h"
#include "src/launch/magic.h"

namespace nervanagpu::nn {

// What kernels/lib/elements.sass reads: seed, counter, phase, round_bits.
struct RoundingArgs {
  std::uint64_t seed = 0;
  std::uint64_t counter = 0;
  std::uint32_t phase = 0;
  std::uint32_t bits = 0;  // 0: to nearest

  // For a launch that begins at element number `first` of the result. `rounding` has been checked.
  static RoundingArgs of(const Rounding& rounding, Dtype to, std::uint64_t first = 0);
};

// Throws InvalidArgument, with the operation's name, for bits that `to` does not have or a result that is no float.
void check_rounding(const char* op, const Rounding& rounding, Dtype to);

class Call {
 public:
  Call(Device& device, const std::string& kernel);

  Call& add(std::uint64_t v) { return put(v); }
  Call& add(std::uint32_t v) { return put(v); }
  Call& add(std::int32_t v) { return put(v); }
  Call& add(float v) { return put(v); }
  Call& add(Magic v) { return add(v.mul).add(v.shift); }
  Call& add(const RoundingArgs& r) { return add(r.seed).add(r.counter).add(r.phase).add(r.bits); }
  void launch(const Grid& grid, StreamId stream);

 private:
  template <class T>
  Call& put(T v) {
    args_.add(v);
    return *this;
  }

  Device& device_;
  const Kernel& kernel_;
  Arguments args_;
};

// "f32", "f16", "s32", "s8", "u8" as kernels' names say it. Throws TypeError for others: "OP: NAME has dtype ...".
const char* type_word(const char* op, const char* name, Dtype dtype);

}  // namespace nervanagpu::nn
