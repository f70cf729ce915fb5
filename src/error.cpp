// The types of errors.
#include "nervanagpu/error.hpp"

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

}  // namespace nervanagpu
