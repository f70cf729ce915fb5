// Runs a recorded launch with another kernel in its place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/device/driver.h"
#include "src/device/emulator_device.h"
#include "test/mutants/cases.h"

namespace nervanagpu::test {

struct Outcome {
  bool same = true;       // every byte of memory as the right kernel leaves it
  bool reported = false;  // emulator: a finding
  std::string text;       // the first finding
};

// On the emulator, in checked mode.
Outcome emulate(EmulatorDevice& device, const Subject& subject, const sass::KernelImage& kernel,
                const std::vector<Buffer>& right);

// On a GPU: a stream of its own, and a kernel that keeps the chip busy beside it.
class Chip {
 public:
  Chip(Device& device, const std::string& noise_template);

  // Functions of all kernels, in one module.
  std::vector<cuda::Function> load(const Subject& subject, std::vector<sass::KernelImage> kernels);
  // Empty: the launch failed, and with it the context.
  [[nodiscard]] std::vector<Buffer> run(const Subject& subject, cuda::Function function, bool noisy);
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  bool check(cuda::Status status, const char* call);
  void make_noise();

  Device& device_;
  const cuda::Driver& driver_;
  cuda::Stream stream_ = nullptr, noise_stream_ = nullptr;
  cuda::Event noise_end_ = nullptr;
  cuda::Function noise_ = nullptr;
  std::uint64_t noise_data_ = 0;
  unsigned noises_ = 0;
  std::string failure_;
};

bool equal(const std::vector<Buffer>& a, const std::vector<Buffer>& b);

}  // namespace nervanagpu::test
