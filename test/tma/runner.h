// Runs commands of the copy engine on one device, by test/data/tma/commands.cu.
#pragma once

#include <memory>
#include <vector>

#include "nervanagpu/module.hpp"
#include "src/device/device.h"
#include "test/tma/cases.h"

namespace nervanagpu::test {

class TmaRunner {
 public:
  explicit TmaRunner(Device& device);
  ~TmaRunner();
  TmaRunner(const TmaRunner&) = delete;
  TmaRunner& operator=(const TmaRunner&) = delete;

  // A load: shared memory; a store: the tensor's memory. Throws what the device throws.
  std::vector<std::byte> run(const TmaCase& c);

 private:
  Device& device_;
  std::unique_ptr<Module> kernels_;
  std::uint64_t tensor_ = 0, image_ = 0, out_ = 0;
};

}  // namespace nervanagpu::test
