// Every kernel of sort/: its keys' type is in its name; how long rows are, and whether indices are wanted, makes the rest.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "kernels/sort/launch.h"
#include "nervanagpu/sorting.hpp"
#include "src/numbers/half.h"
#include "test/gpu/buffer.h"
#include "test/variants/other.h"

namespace nervanagpu::variants {
namespace {

using gpu_test::Buffer;
using gpu_test::Bytes;
using gpu_test::pick;

Dtype type_of(Random& random, const std::string& key) {
  const bool odd = pick(random, 0, 1) == 1;
  if (key == "i8")
    return std::array{Dtype::int8, Dtype::uint8, Dtype::boolean}[static_cast<std::size_t>(pick(random, 0, 2))];
  if (key == "i16") return odd ? Dtype::int16 : Dtype::uint16;
  if (key == "i32") return odd ? Dtype::int32 : Dtype::uint32;
  if (key == "i64") return odd ? Dtype::int64 : Dtype::uint64;
  if (key == "f16") return odd ? Dtype::float16 : Dtype::bfloat16;
  return key == "f32" ? Dtype::float32 : Dtype::float64;
}

template <class T>
T read(const Bytes& content, std::size_t i) {
  T v;
  std::memcpy(&v, content.data() + i * sizeof v, sizeof v);
  return v;
}

// Exact: 64 bits of mantissa. NaN as it is.
long double number(const Bytes& content, std::size_t i, Dtype type) {
  switch (type) {
    case Dtype::int8: return read<std::int8_t>(content, i);
    case Dtype::uint8:
    case Dtype::boolean: return read<std::uint8_t>(content, i);
    case Dtype::int16: return read<std::int16_t>(content, i);
    case Dtype::uint16: return read<std::uint16_t>(content, i);
    case Dtype::int32: return read<std::int32_t>(content, i);
    case Dtype::uint32: return read<std::uint32_t>(content, i);
    case Dtype::int64: return static_cast<long double>(read<std::int64_t>(content, i));
    case Dtype::uint64: return static_cast<long double>(read<std::uint64_t>(content, i));
    case Dtype::float16: return static_cast<long double>(half_value(read<std::uint16_t>(content, i)));
    case Dtype::bfloat16: return static_cast<long double>(bfloat_value(read<std::uint16_t>(content, i)));
    case Dtype::float32: return read<float>(content, i);
    default: return read<double>(content, i);
  }
}

// Any bits; or few different ones.
Bytes content(Random& random, std::size_t count, Dtype type) {
  const std::size_t width = size_of(type);
  Bytes out(count * width);
  for (auto& b : out) b = static_cast<Bytes::value_type>(random());
  if (type == Dtype::boolean) {
    for (auto& b : out) b &= 1;
  } else if (pick(random, 0, 2) == 0) {
    const std::size_t few = static_cast<std::size_t>(pick(random, 1, 5));
    for (std::size_t i = few; i < count; ++i) {
      std::memcpy(out.data() + i * width, out.data() + (random() % few) * width, width);
    }
  }
  return out;
}

std::int64_t length(Random& random, const Kernel& kernel, std::size_t width, bool indices) {
  const std::int64_t most = sorting::most_of_row(width);
  if (kernel.manifest().op == "sort_row") {
    const std::int64_t keys = kernel.number("I");
    return keys == 1 ? pick(random, 1, 256) : keys == 4 ? pick(random, 257, 1024) : pick(random, 1025, most);
  }
  const std::int64_t tile = sorting::tile_of(width, indices);
  return pick(random, 0, 2) == 0 ? std::max(most + 1, tile + pick(random, -1, 1)) : pick(random, most + 1, 3 * tile);
}

std::string difference(const char* what, const Tensor& got, const Bytes& wanted) {
  Bytes bytes(wanted.size());
  got.get(bytes.data(), bytes.size());
  const auto [at, other] = std::ranges::mismatch(bytes, wanted);
  if (at == bytes.end()) return "";
  return std::string(what) + ": element " +
         std::to_string(static_cast<std::size_t>(at - bytes.begin()) / size_of(got.dtype())) + " is wrong";
}

}  // namespace

Outcome order(Random& random, const Kernel& kernel, const Limits& /*limits*/) {
  const Dtype type = type_of(random, kernel.manifest().variant.at("KEY"));
  const std::size_t width = size_of(type);
  const bool pass = kernel.manifest().op == "sort_pass";
  const bool indices = pass ? kernel.manifest().variant.at("WITH") == "indices" : pick(random, 0, 2) != 0;
  const bool values = !indices || pick(random, 0, 1) == 1;
  const bool descending = pick(random, 0, 1) == 1;
  const std::int64_t n = length(random, kernel, width, indices);
  const std::int64_t rows = pick(random, 1, 3);

  const Bytes source = content(random, static_cast<std::size_t>(rows * n), type);
  Bytes in_order, stood(static_cast<std::size_t>(rows * n) * 8);
  std::vector<std::int64_t> row(static_cast<std::size_t>(n));
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(r * n + i); };
    std::iota(row.begin(), row.end(), 0);
    std::ranges::stable_sort(row, [&](std::int64_t i, std::int64_t j) {
      const long double a = number(source, at(descending ? j : i), type);
      const long double b = number(source, at(descending ? i : j), type);
      return a < b || (std::isnan(b) && !std::isnan(a));
    });
    std::memcpy(stood.data() + at(0) * 8, row.data(), row.size() * 8);
    for (const std::int64_t i : row) {
      const auto first = source.begin() + static_cast<std::ptrdiff_t>(at(i) * width);
      in_order.insert(in_order.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
  }

  Outcome out;
  out.elements = rows * n;
  out.problem = std::to_string(rows) + " rows of " + std::to_string(n) + " " + std::string(name_of(type)) +
                (descending ? " descending" : "") + (values ? ", values" : "") + (indices ? ", indices" : "");
  const Buffer memory(source);
  const Tensor x = Tensor::wrap(memory.address(), {rows, n}, {n, 1}, type);
  Sorted got;
  if (values && indices) {
    got = sort_with_indices(x, descending);
  } else {
    (values ? got.values : got.indices) = values ? sort(x, descending) : argsort(x, descending);
  }
  if (values) out.wrong = difference("values", got.values, in_order);
  if (indices && out.wrong.empty()) out.wrong = difference("indices", got.indices, stood);
  if (out.wrong.empty() && memory.get() != source) out.wrong = "the source was written to";
  if (out.wrong.empty()) out.wrong = memory.guards();
  return out;
}

}  // namespace nervanagpu::variants
