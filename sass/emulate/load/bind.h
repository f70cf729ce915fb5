// From decoded instruction to micro-operation. bind() fills the parts of a Detail that all instructions share, then
// asks the families in turn; the one that knows the operation sets the handler and its own parameters.
#pragma once

#include <cstdint>

#include "sass/emulate/uop/binding.h"
#include "sass/isa/arch.h"
#include "sass/isa/inst.h"

namespace nervanagpu::sass::emulate {

// `index` is the position of the instruction, `encoding` gives labels their meaning. On failure b.refused says why.
bool bind(Arch arch, const Inst& inst, std::uint32_t index, Binding& b);

}  // namespace nervanagpu::sass::emulate
