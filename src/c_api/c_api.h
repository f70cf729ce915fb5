// What the functions of nervanagpu.h are made of: no exception leaves them, and their arguments are judged in one way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/dtype.hpp"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/precision.hpp"
#include "nervanagpu/rounding.hpp"

namespace nervanagpu::c_api {

// The structure comes from a newer header than this library: NG_UNSUPPORTED.
class Unsupported : public Error {
 public:
  using Error::Error;
};

// Inside a catch block: keeps the text for ng_last_error() and gives the code of the exception.
ng_status caught() noexcept;

template <class F>
ng_status guarded(const F& f) noexcept {
  try {
    f();
    return NG_OK;
  } catch (...) {
    return caught();
  }
}

[[noreturn]] void refuse(const char* function, const std::string& name, const std::string& got,
                         const std::string& needs);

// What `maker` made, not null.
template <class T>
T& existing(const char* function, const char* name, T* handle, const char* maker) {
  if (handle == nullptr) refuse(function, name, "null", std::string("what ") + maker + " made");
  return *handle;
}

// `in` as this library knows the structure: what an older program's lacks keeps its value in `value`, and what a newer
// one has besides must be zero. `smallest`: its size when it was first published.
void read_structure(const char* function, const char* name, const void* in, void* value, std::size_t size,
                    std::size_t smallest);

template <class T>
T read(const char* function, const char* name, const T* in, const T& init, std::size_t smallest = sizeof(T)) {
  T value = init;
  read_structure(function, name, in, &value, sizeof value, smallest);
  return value;
}

bool flag_of(const char* function, const char* name, std::int32_t value);
Dtype dtype_of(const char* function, const char* name, std::int32_t value);
Layout layout_of(const char* function, const char* name, std::int32_t value);
Precision precision_of(const char* function, std::int32_t value);
void zero_of(const char* function, const char* name, std::int32_t value);  // of a field that is reserved
Rounding rounding_of(const char* function, const char* name, const ng_rounding& value);

}  // namespace nervanagpu::c_api
