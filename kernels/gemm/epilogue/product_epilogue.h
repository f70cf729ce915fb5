// What follows a product of matrices, as the epilogue of its kernel.
#pragma once

#include <optional>

#include "nervanagpu/gemm.hpp"
#include "src/expr/node.h"

namespace nervanagpu::sgemm {

struct Epilogue {
  const expr::Node* product = nullptr;  // of more than two axes: of all rows
  Dtype dtype = Dtype::float32;         // of the result
  float alpha = 1.0F;
  float beta = 0.0F;                                 // of what stands where the result will
  const expr::NodePtr* over = nullptr;               // which then is here, and nobody else's; none: it is `to`
  const expr::NodePtr* scale = nullptr;              // factors of bytes' sums, along rows or columns
  const expr::NodePtr* bias = nullptr;               // along rows or columns
  GemmActivation activation = GemmActivation::none;  // of the sum
  float clip_low = 0.0F, clip_high = 0.0F;           // of GemmActivation::clip
  Rounding rounding;                                 // of the result
};

// The operation of expressions that becomes an activation, if there is one; in_16_bits: only where the result has 16 bits.
struct Operation {
  std::optional<ExprOp> op;
  bool in_16_bits = false;
};
const Operation& operation_of(GemmActivation a);

// Whether a vector with these axes has an element for each column of a product (its last axis), or for each row.
bool is_along_columns(const Shape& vector, const Shape& product);
bool is_along_rows(const Shape& vector, const Shape& product);

// The tree as a product with an epilogue that gives its value: the same bits, but for 16-bit floats, which are rounded once,
// after the epilogue. Nodes that others have, too, do not become part of it. `to`: what the result will be written over, if
// that may be an operand (c += a b).
std::optional<Epilogue> epilogue_of(const expr::Node& n, const Tensor* to);

}  // namespace nervanagpu::sgemm
