// The families of texture/.
#pragma once

#include "sass/emulate/uop/binding.h"

namespace nervanagpu::sass::emulate {

bool bind_texture(const Inst& inst, Binding& b);  // TEX, TLD, TLD4, TXD, TXQ
bool bind_surface(const Inst& inst, Binding& b);  // SULD, SUST, SURED

}  // namespace nervanagpu::sass::emulate
