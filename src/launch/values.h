// A kernel's parameters in order: as its `.needs` are checked for a plan, and as a launch is given them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "nervanagpu/dtype.hpp"
#include "nervanagpu/rounding.hpp"
#include "nervanagpu/tensor_map.hpp"
#include "src/device/device.h"
#include "src/launch/arguments.h"

namespace nervanagpu {

class Values {
 public:
  Values& u64(std::uint64_t v) { return put(Kind::u64, static_cast<std::int64_t>(v)); }
  Values& u32(std::int64_t v) { return put(Kind::u32, static_cast<std::int64_t>(static_cast<std::uint32_t>(v))); }
  Values& s32(std::int64_t v) { return put(Kind::s32, static_cast<std::int32_t>(v)); }
  Values& f32(float v);
  Values& map(const EncodedTensorMap& m);  // 0 to conditions
  // alpha or beta of a result of `type`: kernels with integer sums take them as integers.
  Values& scalar(float v, Dtype type);
  // How a result of `type` is rounded: its mantissa bits, the seed and the counter's offset.
  Values& rounding(const Rounding& how, Dtype type);
  // A divisor and its magic numbers.
  Values& divisor(std::int64_t v);
  Values& all(const Values& more);  // one after the other
  Values& each_s32(const std::array<std::int64_t, 3>& t) { return s32(t[0]).s32(t[1]).s32(t[2]); }

  [[nodiscard]] const std::vector<std::int64_t>& numbers() const { return numbers_; }

  // alpha or beta as a parameter's bits.
  static std::uint32_t scalar_bits(float v, Dtype type);

  void pack(Arguments& to) const;
  void launch(Device& device, const Kernel& kernel, const Grid& grid, StreamId stream) const;

 private:
  enum class Kind : std::uint8_t { u64, u32, s32, f32, map };
  Values& put(Kind kind, std::int64_t v) {
    kinds_.push_back(kind);
    numbers_.push_back(v);
    return *this;
  }

  std::vector<Kind> kinds_;
  std::vector<std::int64_t> numbers_;
  std::vector<EncodedTensorMap> maps_;
};

}  // namespace nervanagpu
