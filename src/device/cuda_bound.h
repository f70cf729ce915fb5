// Calls of the driver happen in the device's context.
#pragma once

#include "src/device/cuda_device.h"

namespace nervanagpu {

// Makes our context current while it lives. What was current is put back. Where there was none that of device 0 stays,
// but no other: the CUDA runtime of another library would take it for the device that it was told to use.
class CudaDevice::Bound {
 public:
  explicit Bound(const CudaDevice& device) : driver_(device.driver_) {
    if (driver_.context_get(&before_) == cuda::kSuccess && before_ == device.context_) return;
    static_cast<void>(driver_.context_set(device.context_));
    put_back_ = before_ != nullptr || device.info_.ordinal != 0;
  }
  ~Bound() {
    if (put_back_) static_cast<void>(driver_.context_set(before_));
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  const cuda::Driver& driver_;
  cuda::Context before_ = nullptr;
  bool put_back_ = false;
};

}  // namespace nervanagpu
