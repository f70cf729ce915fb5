// Random commands of the copy engine: what the emulator and the chip are compared on. A case follows from its group and
// number alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nervanagpu/tensor_map.hpp"

namespace nervanagpu::test {

inline constexpr std::uint32_t kTensorBytes = 64 << 10;  // of global memory, of which a case's tensor is the beginning
inline constexpr std::uint32_t kImageBytes = 32 << 10;   // of shared memory

// What a store does, as the kernels number it.
inline constexpr std::array<const char*, 9> kTmaOps = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "copy"};
inline constexpr unsigned kTmaCopy = 8;

struct TmaCase {
  TensorMap map;  // without its address
  bool load = true;
  unsigned op = kTmaCopy;  // of a store
  std::array<std::int32_t, 5> at{};
  std::array<std::uint32_t, 3> offsets{};  // in the filter: W, H, D
  std::uint32_t shared = 0;                // offset of the box
  std::uint64_t seed = 0;                  // of all bytes
  bool numbers = false;                    // floats are ordinary numbers, not any bits
  bool halves = false;                     // many words lie halfway between two of tfloat32, or are infinite
};

struct TmaGroup {
  const char* name;
  unsigned count;
};
inline constexpr TmaGroup kTmaGroups[] = {
    {"load", 1500},
    {"load_strided", 700},
    {"load_narrow", 500},
    {"load_converted", 400},
    {"im2col", 1000},
    {"im2col_odd", 500},
    {"store", 800},
    {"store_strided", 400},
    {"store_im2col", 400},
    {"reduce", 1200},
    {"reduce_special", 600},
    {"store_converted", 200},
    {"store_im2col_upper", 100},
};

// From this number on a case is one that the chip takes: below, boxes may begin at any element, stores before the tensor, and
// pixels of store_im2col_upper lie beyond it.
inline constexpr unsigned kTmaLegal = 1000;
inline constexpr unsigned kTmaTogether = 20;  // of these, so many have one digest

TmaCase tma_case(std::string_view group, unsigned number);
// `bytes` of pseudo-random bits, of which each stream has its own; numbers: floats of the map's type between 1/16 and 16, of
// both signs.
std::vector<std::byte> tma_bytes(const TmaCase& c, std::size_t bytes, std::uint64_t stream);

}  // namespace nervanagpu::test
