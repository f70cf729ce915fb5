// The types of errors.
#include "nervanagpu/error.hpp"

#include <unistd.h>

#include <cstdint>
#include <utility>

namespace nervanagpu {

// Here, so that each class has one type information, in this library.
Error::~Error() = default;
InvalidArgument::~InvalidArgument() = default;
OutOfRange::~OutOfRange() = default;
TypeError::~TypeError() = default;
OutOfMemory::~OutOfMemory() = default;
DeviceLost::~DeviceLost() = default;
CheckError::~CheckError() = default;

CheckError::CheckError(const std::string& message, std::vector<Finding> findings)
    : Error(message), findings_(std::move(findings)) {}

OutOfMemory out_of_host_memory(const std::string& bytes) {
  const long pages = sysconf(_SC_AVPHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const std::uint64_t free =
      pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
  return OutOfMemory("out of memory: " + bytes + " bytes of host memory asked for, " + std::to_string(free) + " free");
}

}  // namespace nervanagpu
