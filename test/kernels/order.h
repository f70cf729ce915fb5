// The order classes of `.accum`: the model of each gives a kernel's very bits from the terms of one sum.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sass/emulate/tensor/tensor.h"

namespace nervanagpu::test {

// "tensor step=16": a word and numbers.
struct Order {
  std::string kind;
  std::map<std::string, std::int64_t, std::less<>> numbers;
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise) const;
};
// None: it is no class that docs/numerics.md has.
std::optional<Order> order_of(std::string_view accum);

// The factors of the products of one sum, in ascending order of the reduction index.
struct Terms {
  std::vector<float> a, b;
};

// How a launch cuts the sum.
struct Cut {
  std::int64_t part = 0;    // terms of each part; the last one may have fewer
  std::int64_t splits = 1;  // added in ascending order
  sass::emulate::tensor::Type type = sass::emulate::tensor::Type::kF16;
  std::vector<std::int64_t> remainders = {};  // rows=8: the remainders of 8 in their order
  int e_a = 138, e_b = 138;                   // halves: operands are scaled by 2^(138 - e)
};

// e of f16x2.sass: the exponent of the largest of the 1,024 fours of elements that it looks at.
int scale_of(const std::vector<float>& x, std::int64_t rows, std::int64_t length, std::int64_t leading);

// The bits of the float32 sum, or of the int32 one (kind "integer").
std::uint32_t modelled(const Order& order, const Terms& terms, const Cut& cut);

// Chains as `strided=8` and `butterfly=32` add up numbers.
float strided(const std::vector<float>& x, std::size_t chains);
float butterfly(std::vector<float> lanes);

}  // namespace nervanagpu::test
