// The fastest multiply() that this processor runs.
#pragma once

#include "sass/emulate/tensor/tensor.h"

namespace nervanagpu::sass::emulate::tensor {

Multiply fastest();

}  // namespace nervanagpu::sass::emulate::tensor
