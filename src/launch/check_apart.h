// A result that would be written over an operand.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "nervanagpu/error.hpp"

namespace nervanagpu {

// Throws InvalidArgument, of the operation `op`, where the result begins where one of the operands does; 0: there is none.
inline void check_apart(const char* op, const char* result, std::uint64_t address,
                        std::initializer_list<std::pair<const char*, std::uint64_t>> operands) {
  for (const auto& [name, operand] : operands) {
    if (operand == 0 || operand != address) continue;
    throw InvalidArgument(std::string(op) + ": " + result + " is at the address of " + name +
                          "; needs memory of its own");
  }
}

}  // namespace nervanagpu
