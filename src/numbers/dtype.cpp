// Sizes and names of element types, one row each.
#include "nervanagpu/dtype.hpp"

#include <array>

namespace nervanagpu {
namespace {

struct Row {
  Dtype dtype;
  std::string_view name;
  std::size_t bytes;
};

// clang-format off
constexpr std::array<Row, 15> kRows = {{  // in the order of Dtype
    {Dtype::float16, "float16", 2}, {Dtype::float32, "float32", 4}, {Dtype::float64, "float64", 8},
    {Dtype::int8,    "int8",    1}, {Dtype::int16,   "int16",   2}, {Dtype::int32,   "int32",   4}, {Dtype::int64,  "int64",  8},
    {Dtype::uint8,   "uint8",   1}, {Dtype::uint16,  "uint16",  2}, {Dtype::uint32,  "uint32",  4}, {Dtype::uint64, "uint64", 8},
    {Dtype::boolean, "bool",    1}, {Dtype::bfloat16, "bfloat16", 2}, {Dtype::complex64, "complex64", 8},
    {Dtype::complex128, "complex128", 16},
}};
// clang-format on

// Of a number that is no Dtype, so that a refusal can be written.
constexpr Row kNone = {Dtype{}, "no dtype", 1};

const Row& row(Dtype dtype) {
  const auto number = static_cast<std::size_t>(dtype);
  return number < kRows.size() ? kRows[number] : kNone;
}

}  // namespace

std::size_t size_of(Dtype dtype) noexcept {
  return row(dtype).bytes;
}
std::size_t alignment_of(Dtype dtype) noexcept {
  return size_of(part_of(dtype));
}
std::string_view name_of(Dtype dtype) noexcept {
  return row(dtype).name;
}

std::optional<Dtype> dtype_from_name(std::string_view name) noexcept {
  for (const Row& r : kRows) {
    if (r.name == name) return r.dtype;
  }
  return std::nullopt;
}

}  // namespace nervanagpu
