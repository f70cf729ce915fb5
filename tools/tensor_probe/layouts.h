// Shared-memory matrix descriptors of the experiment: drawn at random from a seed. layout_probe.cu finds out on the chip which
// byte each element of the operand comes from; the tests compare the emulator's addresses with those.
#pragma once

#include <cstdint>

#include "cases.h"

namespace nervanagpu::tensor_probe {

struct LayoutCase {
  const char* name;
  Format format;
  bool transposed;  // the rows of A, the columns of B run along memory
  bool is_a;
  unsigned rows, k;  // m of A or n of B
};

constexpr LayoutCase kLayouts[] = {
    {"b.f16", Format::kF16, false, false, 128, 16},  {"b.f16.transposed", Format::kF16, true, false, 128, 16},
    {"b.tf32", Format::kTf32, false, false, 128, 8}, {"b.e4m3", Format::kE4m3, false, false, 128, 32},
    {"a.f16", Format::kF16, false, true, 64, 16},    {"a.f16.transposed", Format::kF16, true, true, 64, 16},
    {"a.tf32", Format::kTf32, false, true, 64, 8},   {"a.e4m3", Format::kE4m3, false, true, 64, 32},
};
constexpr unsigned kLayoutCount = sizeof kLayouts / sizeof kLayouts[0];
constexpr std::uint32_t kRegion = 128 * 1024;  // bytes of shared memory that the operands may lie in
constexpr std::uint32_t kRegionAt = 0x800;     // its shared address

// The 64-bit descriptor number `i` of a case.
NG_BOTH inline std::uint64_t layout_descriptor(std::uint64_t seed, unsigned layout, unsigned i) {
  const std::uint64_t h = mix(mix(seed + layout) + i);
  const std::uint64_t swizzle = h & 3;
  const std::uint64_t grain = mix(h) >> 8;
  const auto units = [&](unsigned shift, std::uint64_t limit) {  // of 16 bytes, often a round number
    const std::uint64_t v = mix(h + shift) % limit;
    const unsigned round = grain >> shift & 3;
    return round == 0   ? v
           : round == 1 ? v & ~std::uint64_t{7}
           : round == 2 ? v & ~std::uint64_t{15}
                        : v & ~std::uint64_t{63};
  };
  const std::uint64_t start = kRegionAt / 16 + units(2, 2048);
  const std::uint64_t leading = units(4, 256);
  const std::uint64_t stride = units(6, 256);
  const std::uint64_t base = (h >> 60 & 1) != 0 ? mix(h + 99) & 7 : 0;
  return start | leading << 16 | stride << 32 | base << 49 | swizzle << 62;
}

}  // namespace nervanagpu::tensor_probe
