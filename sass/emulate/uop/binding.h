// What a decoded instruction becomes: a micro-operation with its Detail. The families of operations fill it in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sass/emulate/uop/uop.h"
#include "sass/isa/inst.h"

namespace nervanagpu::sass::emulate {

struct Binding {
  Uop uop;
  Detail detail;
  bool knows_cc = false;  // the handler writes CC where the instruction says so
  std::string refused;    // why a known operation cannot be run: "rounding .RM"
  void refuse(std::string why) {
    if (refused.empty()) refused = std::move(why);
  }
};

// A family: sets detail.body (and uop.run for a fast path) and returns true if it knows inst.op.
using Family = bool (*)(const Inst& inst, Binding& b);

// How a family reads the signs of its sources.
void signs_as_integer(Detail& x);                                  // -x is two's complement, ~x its complement
void signs_as_float(Detail& x, std::uint32_t sign = 0x80000000u);  // sign bit; |x| clears it
Round round_of(const Inst& inst);
// Whether the result also sets CC: R4.CC.
bool sets_cc(const Inst& inst);
// Whether a modifier of `inst` reads `text`, or has it as one of its words, whatever it chooses.
bool says(const Inst& inst, std::string_view text);

}  // namespace nervanagpu::sass::emulate
