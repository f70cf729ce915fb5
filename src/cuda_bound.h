// Calls of the driver happen in the device's context.
#pragma once

#include "src/cuda_device.h"

namespace nervanagpu {

// Makes our context current for one call. Another library's context is put back; where there was none, ours stays.
class CudaDevice::Bound {
 public:
  explicit Bound(const CudaDevice& device) : driver_(device.driver_) {
    if (driver_.context_get(&before_) == cuda::kSuccess && before_ == device.context_) {
      before_ = nullptr;
      return;
    }
    static_cast<void>(driver_.context_set(device.context_));
  }
  ~Bound() {
    if (before_ != nullptr) static_cast<void>(driver_.context_set(before_));
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  const cuda::Driver& driver_;
  cuda::Context before_ = nullptr;
};

}  // namespace nervanagpu
