#include "src/device/placement.h"

#include <string>

#include "nervanagpu/error.hpp"

namespace nervanagpu {

void Placed::refuse(const char* operation, const Operand& a, const Operand& b) {
  throw InvalidArgument(std::string(operation) + ": " + a.name + " is on device " + std::to_string(a.device) + ", " +
                        b.name + " on device " + std::to_string(b.device) + "; needs one device");
}

}  // namespace nervanagpu
