// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): 128 random bits for each (key, counter), the same bits as
// kernels/lib/philox.sass.
#pragma once

#include <array>
#include <cstdint>

namespace nervanagpu {

using PhiloxWords = std::array<std::uint32_t, 4>;

constexpr PhiloxWords philox4x32(PhiloxWords counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMul0 = 0xd2511f53, kMul1 = 0xcd9e8d57;
  constexpr std::uint32_t kStep0 = 0x9e3779b9, kStep1 = 0xbb67ae85;  // the golden ratio, the square root of 3 less 1
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = kMul0 * counter[0];
    const std::uint64_t q = kMul1 * counter[2];
    counter = {static_cast<std::uint32_t>(q >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(q),
               static_cast<std::uint32_t>(p >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p)};
    key = {key[0] + kStep0, key[1] + kStep1};
  }
  return counter;
}

// As kernels call it: a 64-bit key (the seed), a 64-bit counter.
constexpr PhiloxWords philox(std::uint64_t key, std::uint64_t counter) {
  return philox4x32({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0},
                    {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
}

}  // namespace nervanagpu
