// Status codes, and how arguments are read.
#include "src/c_api/c_api.h"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>

namespace nervanagpu::c_api {
namespace {

// The text stays in memory of its own where there is none left for a string.
thread_local std::string last_error;
thread_local const char* last_text = "";

ng_status fail(ng_status status, const char* text) noexcept {
  try {
    last_error = text;
    last_text = last_error.c_str();
  } catch (...) {
    last_text = "out of host memory";
  }
  return status;
}

}  // namespace

ng_status caught() noexcept {
  try {
    throw;
  } catch (const Unsupported& e) {
    return fail(NG_UNSUPPORTED, e.what());
  } catch (const InvalidArgument& e) {
    return fail(NG_INVALID_ARGUMENT, e.what());
  } catch (const TypeError& e) {
    return fail(NG_TYPE_ERROR, e.what());
  } catch (const OutOfMemory& e) {
    return fail(NG_OUT_OF_MEMORY, e.what());
  } catch (const DeviceLost& e) {
    return fail(NG_DEVICE_LOST, e.what());
  } catch (const CheckError& e) {
    return fail(NG_CHECK_ERROR, e.what());
  } catch (const std::bad_alloc&) {
    last_text = "out of host memory";
    return NG_OUT_OF_MEMORY;
  } catch (const std::length_error&) {  // of a container
    last_text = "out of host memory";
    return NG_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    return fail(NG_ERROR, e.what());
  } catch (...) {
    return fail(NG_ERROR, "unknown error");
  }
}

void refuse(const char* function, const std::string& name, const std::string& got, const std::string& needs) {
  throw InvalidArgument(std::string(function) + ": " + name + " is " + got + "; needs " + needs);
}

void read_structure(const char* function, const char* name, const void* in, void* value, std::size_t size,
                    std::size_t smallest) {
  if (in == nullptr) refuse(function, name, "null", "a structure");
  std::size_t theirs = 0;
  std::memcpy(&theirs, in, sizeof theirs);
  // A structure that was not initialised says anything: beyond this it is not read.
  constexpr std::size_t kLargest = 4096;
  if (theirs < smallest || theirs > kLargest || theirs % 8 != 0) {
    refuse(function, std::string(name) + "->size", std::to_string(theirs),
           std::to_string(size) + ", the structure's size: begin with its _INIT value");
  }
  const auto* bytes = static_cast<const unsigned char*>(in);
  for (std::size_t i = size; i < theirs; ++i) {
    if (bytes[i] != 0) {
      throw Unsupported(std::string(function) + ": " + name + " has a field at byte " + std::to_string(i) +
                        " that this library does not know (it knows " + std::to_string(size) +
                        " bytes); needs zero there, or a newer library");
    }
  }
  std::memcpy(value, in, std::min(size, theirs));
}

bool flag_of(const char* function, const char* name, std::int32_t value) {
  if (value != 0 && value != 1) refuse(function, name, std::to_string(value), "0 or 1");
  return value == 1;
}

Dtype dtype_of(const char* function, const char* name, std::int32_t value) {
  switch (value) {
    case NG_FLOAT32: return Dtype::float32;
    case NG_FLOAT16: return Dtype::float16;
    case NG_INT8: return Dtype::int8;
    case NG_UINT8: return Dtype::uint8;
    case NG_INT32: return Dtype::int32;
    case NG_BFLOAT16: return Dtype::bfloat16;
    default: refuse(function, name, std::to_string(value), "an ng_dtype (0 to 5)");
  }
}

Layout layout_of(const char* function, const char* name, std::int32_t value) {
  switch (value) {
    case NG_CHANNELS_LAST: return Layout::channels_last;
    case NG_BATCH_LAST: return Layout::batch_last;
    case NG_CHANNELS_FIRST: return Layout::channels_first;
    default: refuse(function, name, std::to_string(value), "an ng_layout (0 to 2)");
  }
}

Precision precision_of(const char* function, std::int32_t value) {
  if (value != NG_STRICT && value != NG_TENSOR) {
    refuse(function, "precision", std::to_string(value), "NG_STRICT (0) or NG_TENSOR (1)");
  }
  return value == NG_TENSOR ? Precision::tensor : Precision::strict;
}

void zero_of(const char* function, const char* name, std::int32_t value) {
  if (value != 0) refuse(function, name, std::to_string(value), "0");
}

Rounding rounding_of(const char* function, const char* name, const ng_rounding& value) {
  Rounding r;
  r.stochastic = flag_of(function, (std::string(name) + ".stochastic").c_str(), value.stochastic);
  if (value.bits < 0 || value.bits > 15) {
    refuse(function, std::string(name) + ".bits", std::to_string(value.bits), "0 to 15");
  }
  r.bits = value.bits;
  r.seed = value.seed;
  r.offset = value.offset;
  return r;
}

}  // namespace nervanagpu::c_api

extern "C" {

const char* ng_last_error(void) {
  return nervanagpu::c_api::last_text;
}

const char* ng_status_name(ng_status status) {
  switch (status) {
    case NG_OK: return "NG_OK";
    case NG_INVALID_ARGUMENT: return "NG_INVALID_ARGUMENT";
    case NG_TYPE_ERROR: return "NG_TYPE_ERROR";
    case NG_OUT_OF_MEMORY: return "NG_OUT_OF_MEMORY";
    case NG_DEVICE_LOST: return "NG_DEVICE_LOST";
    case NG_CHECK_ERROR: return "NG_CHECK_ERROR";
    case NG_UNSUPPORTED: return "NG_UNSUPPORTED";
    case NG_ERROR: return "NG_ERROR";
  }
  return "unknown status";
}

}  // extern "C"
