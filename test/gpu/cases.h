// Random problems: small, with the lengths that break kernels (1, primes, one more and one less than a tile's side).
#pragma once

#include <string>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/pool.hpp"
#include "test/gpu/numbers.h"

namespace nervanagpu::gpu_test {

// Lengths and transpositions; leading dimensions have up to 5 elements of gap. At most `products` multiply-adds.
GemmProblem random_gemm(Random& random, double products);
std::string text_of(const GemmProblem& p);
std::string type_name(const GemmProblem& p);  // "float32", "int8 x uint8 -> int32"

// Everything but the types. Sometimes a window larger than the input, a stride larger than the window, padding beyond
// the window (not if `modest`), depthwise groups. At most `products` multiply-adds.
ConvProblem random_conv(Random& random, double products, bool modest = false);
std::string text_of(const ConvProblem& p);

// Everything but the type. modest: windows of one feature map, as cuDNN has them.
PoolProblem random_pool(Random& random, double products, bool modest = false);
std::string text_of(const PoolProblem& p);

const char* name_of(ConvPass pass);
// Of a pass: its operands and its result.
struct ConvTypes {
  Dtype in1, in2, out;
};
ConvTypes types_of(ConvPass pass, const ConvProblem& p);
std::string type_name(const ConvProblem& p);  // "float32", "int8 x float16", "uint8 x int8 -> int32"

}  // namespace nervanagpu::gpu_test
