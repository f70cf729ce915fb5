#include "src/device/driver.h"

#include <dlfcn.h>

namespace nervanagpu::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

DriverLoad open_driver() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* text = dlerror();
    return {nullptr, text != nullptr ? text : std::string(kLibrary) + " cannot be opened"};
  }
  static Driver driver;
  const char* missing = nullptr;
  const auto find = [&](const char* symbol) {
    void* entry = dlsym(library, symbol);
    if (entry == nullptr && missing == nullptr) missing = symbol;
    return entry;
  };
#define NG_DRIVER_FIND(member, symbol, parameters) \
  driver.member = reinterpret_cast<decltype(driver.member)>(find(symbol));
  NG_DRIVER_CALLS(NG_DRIVER_FIND)
#undef NG_DRIVER_FIND
#define NG_DRIVER_FIND(member, symbol, parameters) \
  driver.member = reinterpret_cast<decltype(driver.member)>(dlsym(library, symbol));
  NG_DRIVER_OPTIONAL_CALLS(NG_DRIVER_FIND)
#undef NG_DRIVER_FIND
  if (missing != nullptr) return {nullptr, std::string(kLibrary) + " has no " + missing + ": the driver is too old"};
  return {&driver, {}};
}

}  // namespace

const DriverLoad& load_driver() {
  static const auto& load = *new DriverLoad(open_driver());  // never destroyed: a thread may ask at exit
  return load;
}

}  // namespace nervanagpu::cuda
