// The families of tensor/.
#pragma once

#include "sass/emulate/uop/binding.h"

namespace nervanagpu::sass::emulate {

bool bind_mma(const Inst& inst, Binding& b);   // HMMA, IMMA, DMMA
bool bind_gmma(const Inst& inst, Binding& b);  // HGMMA, IGMMA, QGMMA, WARPGROUP, FENCE

}  // namespace nervanagpu::sass::emulate
