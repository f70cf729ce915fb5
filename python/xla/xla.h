// The structures by which XLA calls a handler of its foreign function interface (FFI), as XLA lays them out; names are ours.
// They are declared here so that neither a build nor an installation needs XLA's headers. test_jax.py compares the
// offsets with those of the header in jaxlib.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nervanagpu::python::xla {

// Within a major version XLA only appends to structures, so a handler of an earlier minor version goes on working.
inline constexpr int kMajor = 0;
inline constexpr int kMinor = 3;

// XLA's numbers of element types.
enum Type : std::int32_t { kInt64 = 5, kUint8 = 6, kFloat16 = 10, kFloat32 = 11, kBfloat16 = 16 };

// XLA's numbers of errors.
enum Code : std::int32_t {
  kInvalidArgument = 3,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kInternal = 13,
  kUnavailable = 14
};

struct Failure;  // made by Api::create_error; XLA destroys what a handler returns
struct Context;  // of one execution

struct Extension {
  std::size_t size;
  std::int32_t type;
  Extension* next;
  static constexpr std::int32_t kMetadata = 1;
};

struct Version {
  std::size_t size;
  Extension* extensions;
  int major;
  int minor;
};

struct CreateError {
  std::size_t size;
  Extension* extensions;
  const char* message;
  std::int32_t code;
};

struct DestroyError {
  std::size_t size;
  Extension* extensions;
  Failure* error;
};

struct GetStream {
  std::size_t size;
  Extension* extensions;
  Context* context;
  void* stream;  // written: a CUstream
};

struct GetOrdinal {
  std::size_t size;
  Extension* extensions;
  Context* context;
  std::int32_t ordinal;  // written
};

struct Api {
  std::size_t size;
  Extension* extensions;
  Version version;
  const void* internal;
  Failure* (*create_error)(CreateError*);
  void* get_message;
  void (*destroy_error)(DestroyError*);
  void* register_handler;
  Failure* (*get_stream)(GetStream*);
  void* others[12];
  Failure* (*get_ordinal)(GetOrdinal*);
};

struct Buffer {
  std::size_t size;
  Extension* extensions;
  std::int32_t type;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};

// Arguments, or results.
struct Buffers {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  std::int32_t* kinds;
  void** at;
  static constexpr std::int32_t kBuffer = 1;
};

struct Text {
  const char* start;
  std::size_t length;
};

struct Numbers {
  std::int32_t type;
  std::size_t count;
  void* data;
};

struct Number {
  std::int32_t type;
  void* data;
};

struct Attributes {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  std::int32_t* kinds;
  Text** names;
  void** at;
  static constexpr std::int32_t kArray = 1;
  static constexpr std::int32_t kScalar = 3;
};

struct Frame {
  std::size_t size;
  Extension* extensions;
  const Api* api;
  Context* context;
  std::int32_t stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
  static constexpr std::int32_t kExecute = 3;
};

// What XLA asks of a handler when it is registered.
struct Metadata {
  std::size_t size;
  Version version;
  std::uint32_t traits;
  std::int64_t state;                                 // the type of a handler's state; 0: none
  static constexpr std::uint32_t kMayBeCaptured = 1;  // in a CUDA graph
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

}  // namespace nervanagpu::python::xla
