// How a thread asks for float32 products, and its names.
#include "nervanagpu/precision.hpp"

#include <string>

#include "nervanagpu/error.hpp"

namespace nervanagpu {
namespace {

thread_local Precision asked_for = Precision::strict;

}  // namespace

std::string_view name_of(Precision precision) {
  return precision == Precision::tensor ? "tensor" : "strict";
}

std::optional<Precision> precision_from_name(std::string_view name) {
  for (const Precision p : {Precision::strict, Precision::tensor}) {
    if (name == name_of(p)) return p;
  }
  return std::nullopt;
}

Precision precision() noexcept {
  return asked_for;
}

void set_precision(Precision precision) {
  if (precision != Precision::strict && precision != Precision::tensor) {
    throw InvalidArgument("precision is " + std::to_string(static_cast<int>(precision)) +
                          "; needs Precision::strict or Precision::tensor");
  }
  asked_for = precision;
}

}  // namespace nervanagpu
