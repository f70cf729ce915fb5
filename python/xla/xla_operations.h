// The operations that XLA calls, over the C interface where it has them: what each is asked for, the workspace it wants, and its launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace nervanagpu::python::xla {

// Row-major elements of one ng_dtype.
struct Operand {
  std::uint64_t address = 0;
  std::int32_t dtype = 0;
  std::vector<std::int64_t> shape;
};

struct Request {
  std::map<std::string, std::vector<std::int64_t>, std::less<>> numbers;  // attributes, by name
  std::vector<Operand> in, out;
  std::uint64_t workspace = 0;
  std::size_t workspace_bytes = 0;
  std::uint64_t stream = 0;
};

struct Operation {
  const char* name;                               // "nervanagpu_" and this is the target's
  std::size_t (*workspace)(const Request& call);  // bytes; null: it wants none, ever, and has no such result
  void (*run)(const Request& call);
};

inline constexpr std::size_t kOperations = 6;
// Their functions throw the library's errors.
std::span<const Operation, kOperations> operations();

}  // namespace nervanagpu::python::xla
