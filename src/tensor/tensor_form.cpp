#include "src/tensor/tensor_form.h"

#include <string>

#include "nervanagpu/error.hpp"
#include "src/tensor/shape.h"

namespace nervanagpu {

void check_like(const char* plan, const char* name, const Tensor& t, const TensorForm& planned) {
  if (t.dtype() != planned.dtype) {
    throw TypeError(std::string(plan) + ": " + name + " has dtype " + std::string(name_of(t.dtype())) + "; needs " +
                    std::string(name_of(planned.dtype)) + ", as planned");
  }
  if (t.shape() != planned.shape || t.strides() != planned.strides) {
    throw InvalidArgument(std::string(plan) + ": " + name + " has shape " + text_of(t.shape()) + " and strides " +
                          text_of(t.strides()) + "; needs " + text_of(planned.shape) + " and " +
                          text_of(planned.strides) + ", as planned");
  }
}

void check_planned_address(const char* plan, const char* name, std::uint64_t got, std::uint64_t planned) {
  if (got == 0) throw InvalidArgument(std::string(plan) + ": " + name + " is 0; needs a device address");
  if (got % planned != 0) {
    throw InvalidArgument(std::string(plan) + ": address of " + name + " is " + std::to_string(got) +
                          "; needs a multiple of " + std::to_string(planned) + ", as planned");
  }
}

}  // namespace nervanagpu
