// What operations of memory have in common: their sizes, and the functions of reductions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sass/emulate/uop/binding.h"

namespace nervanagpu::sass::emulate {

void bind_described(const Inst& inst, Binding& b);  // an operand cx[UR], of whatever operation
void bind_size(const Inst& inst, Binding& b);       // bytes and is_signed of a memory access
void bind_reduction(const Inst& inst, Binding& b);  // kind and kind2 of REDAS, for reduce()
void reduce(const Detail& x, std::byte* at, std::uint64_t value);

}  // namespace nervanagpu::sass::emulate
