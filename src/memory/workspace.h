// Memory that the kernels of one call use between themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "src/device/select_device.h"
#include "src/memory/storage.h"

namespace nervanagpu {

class Workspace {
 public:
  // For work in `stream`; nothing if bytes is 0.
  Workspace(std::size_t bytes, const Stream& stream) {
    if (bytes == 0) return;
    storage_.emplace(current_device(), bytes, stream.handle());
    storage_->used_on(stream);
  }

  [[nodiscard]] std::uint64_t address() const { return storage_ ? storage_->address() : 0; }

 private:
  std::optional<Storage> storage_;
};

}  // namespace nervanagpu
