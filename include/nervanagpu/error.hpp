// Every error the library raises. A refused call has written nothing.
//
//   Error                      Python: nervanagpu.Error (a RuntimeError)
//     InvalidArgument          ValueError    a value, shape, stride or range that cannot be
//       OutOfRange             OverflowError a number that the dtype it meets cannot hold
//     TypeError                TypeError     a dtype that does not fit
//     OutOfMemory              MemoryError   the pool is as before; free something and try again
//     DeviceLost               nervanagpu.DeviceLost   the GPU context is gone; every later call raises it again
//     CheckError               nervanagpu.CheckError   what the emulator found in a kernel
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "nervanagpu/export.hpp"

namespace nervanagpu {

class NG_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

class NG_API InvalidArgument : public Error {
 public:
  using Error::Error;
  ~InvalidArgument() override;
};

class NG_API OutOfRange : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
  ~OutOfRange() override;
};

class NG_API TypeError : public Error {
 public:
  using Error::Error;
  ~TypeError() override;
};

class NG_API OutOfMemory : public Error {
 public:
  using Error::Error;
  ~OutOfMemory() override;
};
// "out of memory: `bytes` bytes of host memory asked for, 1234 free": `bytes` is a number, or what stands for one.
NG_API OutOfMemory out_of_host_memory(const std::string& bytes);

class NG_API DeviceLost : public Error {
 public:
  using Error::Error;
  ~DeviceLost() override;
};

// One thing a kernel did wrong on the emulator, and where.
struct Finding {
  std::string what;    // "read before ready", "out of bounds", "fault", ...
  std::string detail;  // one sentence
  std::string kernel;
  std::string file;  // template; empty: unknown
  std::uint32_t line = 0;
  std::uint32_t pc = 0;  // byte address in the kernel
  std::array<std::uint32_t, 3> cta{};
  std::uint32_t warp = 0;
  std::uint32_t lane = 0;
  std::uint64_t count = 1;  // how often the same thing happened at the same pc
  std::string text;         // all of it in one line
};

class NG_API CheckError : public Error {
 public:
  CheckError(const std::string& message, std::vector<Finding> findings);
  ~CheckError() override;
  [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }

 private:
  std::vector<Finding> findings_;
};

}  // namespace nervanagpu
