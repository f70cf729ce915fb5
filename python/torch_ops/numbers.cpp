#include "python/torch_ops/numbers.h"

#include <string>

#include "python/torch_ops/array.h"

namespace nervanagpu::python::torch {

Precision precision_of(std::int64_t number) {
  if (number == -1) return precision();
  if (number != 0 && number != 1) refuse("precision is " + std::to_string(number) + "; needs -1, 0 or 1");
  return number == 1 ? Precision::tensor : Precision::strict;
}

GemmActivation activation_of(std::int64_t number) {
  const auto row = activation_row(number);
  if (!row || row->reads != ActivationReads::sum) {
    refuse("activation is " + std::to_string(number) + "; needs the number of one that has neither bounds nor a mask");
  }
  return row->activation;
}

}  // namespace nervanagpu::python::torch
