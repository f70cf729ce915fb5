// What printf makes of a format and of arguments that lie one after the other in memory, as CUDA's vprintf gets them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nervanagpu::sass::emulate {

class PrintMemory {
 public:
  virtual ~PrintMemory() = default;
  // `bytes` (4 or 8) at `address`; false: there is no such memory.
  virtual bool number(std::uint64_t address, unsigned bytes, std::uint64_t& value) = 0;
  // Appends the string that begins at `address`; false: it leaves the memory.
  virtual bool text(std::uint64_t address, std::string& out) = 0;
};

struct Printed {
  std::string text;
  std::uint32_t arguments = 0;  // how many were taken
};

// Conversions d i o u x X c s p e E f F g G a A %, flags, width and precision (also *), sizes hh h l ll z j t. What is no
// conversion is printed as it stands; %n takes its argument and does nothing. Printing ends where an argument is missing.
Printed print_format(std::string_view format, std::uint64_t arguments, PrintMemory& memory);

}  // namespace nervanagpu::sass::emulate
