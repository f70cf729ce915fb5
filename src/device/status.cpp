#include "src/device/status.h"

namespace nervanagpu::cuda {

std::string describe(const Driver& driver, const char* call, Status status) {
  const char* name = nullptr;
  const char* text = nullptr;
  std::string out = std::string(call) + ": ";
  if (driver.error_name != nullptr && driver.error_name(status, &name) == kSuccess && name != nullptr) {
    out += std::string(name) + " (" + std::to_string(status) + ")";
  } else {
    out += "status " + std::to_string(status);
  }
  if (driver.error_text != nullptr && driver.error_text(status, &text) == kSuccess && text != nullptr) {
    out += ": " + std::string(text);
  }
  return out;
}

bool ends_context(Status status) {
  switch (status) {
    case 226:  // CUDA_ERROR_CONTAINED
    case 700:  // ILLEGAL_ADDRESS
    case 702:  // LAUNCH_TIMEOUT
    case 709:  // CONTEXT_IS_DESTROYED
    case 710:  // ASSERT
    case 714:  // HARDWARE_STACK_ERROR
    case 715:  // ILLEGAL_INSTRUCTION
    case 716:  // MISALIGNED_ADDRESS
    case 717:  // INVALID_ADDRESS_SPACE
    case 718:  // INVALID_PC
    case 719:  // LAUNCH_FAILED
    case 721:  // TENSOR_MEMORY_LEAK
    case 911:  // EXTERNAL_DEVICE
      return true;
    default: return false;
  }
}

}  // namespace nervanagpu::cuda
