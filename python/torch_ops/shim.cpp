#include "python/torch_ops/shim.h"

#include <dlfcn.h>

namespace nervanagpu::python::torch {
namespace {

Shim found;

// Of a library that is loaded already: torch's own, whichever that is.
void* loaded(const char* name) {
  return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

const Shim& shim() noexcept {
  return found;
}

const char* open_shim() {
  void* library = loaded("libtorch_cpu.so");
  if (library == nullptr) return "libtorch_cpu.so, which `import torch` loads";
#define NG_TORCH_LOOK_UP(name, type) \
  if (!look_up(library, "aoti_torch_" #name, found.name)) return "aoti_torch_" #name;
  NG_TORCH_SHIM(NG_TORCH_LOOK_UP)
#undef NG_TORCH_LOOK_UP
  found.python = true;
#define NG_TORCH_LOOK_UP(name, type, symbol) found.python &= look_up(library, symbol, found.name);
  NG_TORCH_PYTHON(NG_TORCH_LOOK_UP)
#undef NG_TORCH_LOOK_UP
  found.direct = true;
#define NG_TORCH_LOOK_UP(name, type, symbol) found.direct &= look_up(library, symbol, found.name);
  NG_TORCH_LISTS(NG_TORCH_LOOK_UP)
#undef NG_TORCH_LOOK_UP
  if (void* cuda = loaded("libtorch_cuda.so"); cuda != nullptr) {
    look_up(cuda, "aoti_torch_get_current_cuda_stream", found.get_current_cuda_stream);
  }
  found.cpu = found.device_type_cpu();
  found.cuda = found.device_type_cuda();
  found.float32 = found.dtype_float32();
  found.float16 = found.dtype_float16();
  found.bfloat16 = found.dtype_bfloat16();
  found.uint8 = found.dtype_uint8();
  found.int64 = found.dtype_int64();
  found.strided = found.layout_strided();
  return nullptr;
}

}  // namespace nervanagpu::python::torch
