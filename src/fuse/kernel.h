// Generated kernels: made once for each structure, and kept (src/fuse/kernel_cache.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"
#include "sass/asm/builder/builder.h"
#include "src/device/device.h"
#include "src/fuse/kernel_cache.h"

namespace nervanagpu::fuse {

struct Program;
class Parameters;

class Generated : public Keepable, public std::enable_shared_from_this<Generated> {
 public:
  Generated(Device& device, sass::KernelImage kernel);
  void launch(std::uint32_t ctas, const Parameters& params) const;
  void launch(std::uint32_t ctas, std::span<const std::byte> params) const;
  [[nodiscard]] std::size_t bytes() const;  // that it takes, its module's among them

 private:
  void start(std::uint32_t ctas, std::span<const std::byte> params) const;

  Device& device_;
  std::string name_;
  std::uint32_t threads_, registers_;
  std::size_t instructions_;
  std::shared_ptr<LoadedModule> module_;
};
using GeneratedPtr = std::shared_ptr<const Generated>;

// The kernel of this key; `make` builds it when it is not there. Throws Error if it cannot be built.
GeneratedPtr generated(const std::string& key, const std::function<sass::Result<sass::KernelImage>()>& make);

// Parameter values, laid out as Builder::param() does.
class Parameters {
 public:
  Parameters& u32(std::int64_t v) { return put(static_cast<std::uint64_t>(v), 4); }
  Parameters& u64(std::uint64_t v) { return put(v, 8); }
  // What comes last: where the program's operands are, its tensors and then its results, and its numbers. All three must
  // outlive the launch.
  Parameters& operands(const Program& p, std::span<const std::uint64_t> address);
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const Program* program() const { return program_; }  // none: operands() was not called
  [[nodiscard]] std::size_t operands_at() const { return operands_at_; }
  [[nodiscard]] std::span<const std::uint64_t> addresses() const { return addresses_; }
  // Overwrites the parameter at byte `at`.
  void replace(std::size_t at, std::uint64_t v, std::size_t width);
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  Parameters& put(std::uint64_t v, std::size_t width);
  std::vector<std::byte> bytes_;
  const Program* program_ = nullptr;
  std::size_t operands_at_ = 0;
  std::span<const std::uint64_t> addresses_;
};

// While one lives, this thread's generated kernels go to `stream` instead of the default stream.
class OnStream {
 public:
  explicit OnStream(const Stream& stream) noexcept;
  ~OnStream();
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
  static const Stream& current() noexcept;

 private:
  const Stream* before_;
};

// Memory for what other kernels of the same work read.
Tensor temporary(const Shape& shape, Dtype dtype);

std::uint64_t launches() noexcept;
void count_launches(std::uint64_t more) noexcept;
// While one lives, launches are described into it and not run.
class DryRun {
 public:
  DryRun();
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;
  static DryRun* current() noexcept;
  void note(const std::string& line) { text_ += line + "\n"; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  DryRun* before_;
  std::string text_;
};

}  // namespace nervanagpu::fuse
