// The families of engine/.
#pragma once

#include "sass/emulate/uop/binding.h"

namespace nervanagpu::sass::emulate {

bool bind_mbarrier(const Inst& inst, Binding& b);
bool bind_copy_engine(const Inst& inst, Binding& b);

}  // namespace nervanagpu::sass::emulate
