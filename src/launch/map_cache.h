// An operand's tensor maps for each of the last few addresses that it had. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "src/device/device.h"

namespace nervanagpu {

class MapCache {
 public:
  // For an address that is a multiple of 16 bytes.
  explicit MapCache(std::vector<TensorMap> forms) : forms_(std::move(forms)) {}
  // 128 bytes a map. Returns the floats that the maps begin before the address, which they do for one that is not.
  std::uint32_t get(Device& device, std::uint64_t address, std::byte* to);

 private:
  static constexpr std::size_t kEntries = 8;
  struct Entry {
    std::uint64_t address = 0;
    std::vector<EncodedTensorMap> maps;
  };
  [[nodiscard]] std::vector<EncodedTensorMap> encoded(Device& device, std::uint64_t address) const;

  std::mutex mutex_;
  std::vector<TensorMap> forms_;
  std::array<Entry, kEntries> entries_;
  std::size_t oldest_ = 0;
};

}  // namespace nervanagpu
