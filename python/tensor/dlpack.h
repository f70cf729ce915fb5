// The structures of DLPack 1 (dmlc.github.io/dlpack/latest), as every library lays them out.
#pragma once

#include <cstdint>

namespace nervanagpu::python::dlpack {

inline constexpr std::uint32_t kMajor = 1;  // of the version that is understood and made here
inline constexpr std::uint32_t kMinor = 0;

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum TypeCode : std::uint8_t { kSigned = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };
inline constexpr std::uint64_t kReadOnly = 1, kCopied = 2;  // of ManagedVersioned::flags

struct Place {
  std::int32_t type = kCpu;
  std::int32_t id = 0;
};
struct Type {
  std::uint8_t code = kFloat;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;
};
struct Array {
  void* data = nullptr;
  Place device;
  std::int32_t ndim = 0;
  Type dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // in elements; none: row-major
  std::uint64_t byte_offset = 0;
};

// What a capsule "dltensor" holds: from before version 1, without flags.
struct Managed {
  Array array;
  void* context = nullptr;
  void (*deleter)(Managed*) = nullptr;
  static constexpr const char* kFresh = "dltensor";
  static constexpr const char* kUsed = "used_dltensor";
};

// "dltensor_versioned". Of another major version, only what stands before `flags` can be relied on.
struct ManagedVersioned {
  std::uint32_t major = kMajor;
  std::uint32_t minor = kMinor;
  void* context = nullptr;
  void (*deleter)(ManagedVersioned*) = nullptr;
  std::uint64_t flags = 0;
  Array array;
  static constexpr const char* kFresh = "dltensor_versioned";
  static constexpr const char* kUsed = "used_dltensor_versioned";
};

}  // namespace nervanagpu::python::dlpack
