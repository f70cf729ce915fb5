#include "src/launch/map_cache.h"

#include <cstring>

#include "src/launch/launch_tape.h"

namespace nervanagpu {
namespace {

constexpr std::uint64_t kEngine = 16;  // the copy engine's addresses are multiples of it

std::uint32_t floats_before(std::uint64_t address) {
  return static_cast<std::uint32_t>(address % kEngine / sizeof(float));
}

void put(const std::vector<EncodedTensorMap>& maps, std::byte* to) {
  for (const EncodedTensorMap& map : maps) {
    std::memcpy(to, map.bytes.data(), sizeof map.bytes);
    to += sizeof map.bytes;
  }
}

}  // namespace

std::vector<EncodedTensorMap> MapCache::encoded(Device& device, std::uint64_t address) const {
  std::vector<EncodedTensorMap> out;
  for (TensorMap form : forms_) {
    form.address = address - address % kEngine;
    form.sizes[0] += floats_before(address);
    out.push_back(device.encode_tensor_map(form));
  }
  return out;
}

std::uint32_t MapCache::get(Device& device, std::uint64_t address, std::byte* to) {
  if (LaunchTape::current() != nullptr) {  // these are the tape's own
    put(encoded(device, address), to);
    return floats_before(address);
  }
  const std::lock_guard lock(mutex_);
  const Entry* found = nullptr;
  for (const Entry& e : entries_) {
    if (e.address == address) found = &e;
  }
  if (found == nullptr) {
    entries_[oldest_] = {address, encoded(device, address)};
    found = &entries_[oldest_];
    oldest_ = (oldest_ + 1) % kEntries;
  }
  put(found->maps, to);
  return floats_before(address);
}

}  // namespace nervanagpu
