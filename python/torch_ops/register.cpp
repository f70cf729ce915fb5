// What nervanagpu.torch calls: makes torch know the operators.
#include <array>
#include <string>

#include "python/torch_ops/operators.h"

namespace nervanagpu::python::torch {
namespace {

constexpr const char* kNamespace = "nervanagpu_native";

std::string name_of(const Operator& o) {
  const std::string schema = o.schema;
  return schema.substr(0, schema.find('('));
}

// Null, or what torch does not take. The libraries stay for as long as the process does.
const char* enter() {
  const Shim& s = shim();
  const std::array all{products(), groups(), convolutions(), pools(), roundings()};
  LibraryObject* definitions = nullptr;
  if (s.library_init_def(kNamespace, __FILE__, __LINE__, &definitions) != 0) return kNamespace;
  for (const auto& some : all) {
    for (const Operator& o : some) {
      if (s.library_def(definitions, o.schema) != 0) return o.schema;
    }
  }
  for (const char* key : {"CPU", "CUDA"}) {
    LibraryObject* kernels = nullptr;
    if (s.library_init_impl(kNamespace, key, __FILE__, __LINE__, &kernels) != 0) return key;
    for (const auto& some : all) {
      for (const Operator& o : some) {
        if (s.library_impl(kernels, name_of(o).c_str(), o.kernel) != 0) return o.schema;
      }
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace nervanagpu::python::torch

// Null once the operators are torch.ops.nervanagpu_native's; else what this torch lacks, or does not take. To be called once.
extern "C" __attribute__((visibility("default"))) const char* ng_torch_register() {
  using namespace nervanagpu::python::torch;  // NOLINT(google-build-using-namespace)
  if (const char* missing = open_shim(); missing != nullptr) return missing;
  return enter();
}
