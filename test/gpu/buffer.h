// Device memory with guard zones before and after it.
#pragma once

#include <cstdint>
#include <string>

#include "nervanagpu/tensor.hpp"
#include "test/gpu/numbers.h"

namespace nervanagpu::gpu_test {

class Buffer {
 public:
  // `shift`: bytes that the address is beyond a multiple of 256.
  explicit Buffer(const Bytes& content, std::size_t shift = 0);
  Buffer(const Values& content, Dtype dtype, std::size_t shift = 0) : Buffer(encode(content, dtype), shift) {}
  // What nobody has written: NaN as a float, -1 as an integer.
  static Buffer poisoned(std::size_t bytes, std::size_t shift = 0) { return Buffer(Bytes(bytes, 0xff), shift); }

  [[nodiscard]] std::uint64_t address() const { return all_.address() + before_; }
  // Waits for the work that was queued.
  [[nodiscard]] Bytes get() const;
  [[nodiscard]] Values get(Dtype dtype) const { return decode(get(), dtype); }
  // "": the guards are as they were; else which byte is not. Of the last get().
  [[nodiscard]] const std::string& guards() const { return guards_; }

 private:
  std::size_t before_;
  std::size_t bytes_;
  Tensor all_;
  mutable std::string guards_;
};

// "": the memory holds `wanted` and the guards are whole; else the first difference, in words. Zeros of both signs are one:
// which one a sum of zeros gives is not compared.
std::string difference(const Buffer& got, const Bytes& wanted, Dtype dtype);

}  // namespace nervanagpu::gpu_test
