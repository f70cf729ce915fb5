// Driver statuses in words, and which of them end a context.
#pragma once

#include <string>

#include "src/device/driver.h"

namespace nervanagpu::cuda {

// "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
std::string describe(const Driver& driver, const char* call, Status status);

// After such a status every later call of the context fails too.
bool ends_context(Status status);

}  // namespace nervanagpu::cuda
