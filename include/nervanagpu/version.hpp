#pragma once

#include "nervanagpu/export.hpp"

namespace nervanagpu {

// "0.1.0": the version of the library that is loaded.
NG_API const char* version() noexcept;

}  // namespace nervanagpu
