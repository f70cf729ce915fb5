// Tensor maps for devices: the checks that both share.
#pragma once

#include "nervanagpu/tensor_map.hpp"
#include "sass/emulate/engine/tensor_map.h"

namespace nervanagpu {

// The emulator's own form. Throws InvalidArgument for what cannot be.
sass::emulate::TensorMap emulated(const TensorMap& map);

}  // namespace nervanagpu
