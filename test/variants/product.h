// Random products, each drawn for one kernel of the registry and called by a name that only this kernel has. Operands are small
// integers and factors powers of two, so that every sum is exact and the result is known to the bit (but for activations that
// are no polygons: within the errors that kernels/lib/activation.sass states).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nervanagpu/gemm.hpp"
#include "src/module/registry.h"
#include "test/gpu/numbers.h"

namespace nervanagpu::variants {

using gpu_test::Random;

// What one problem may cost.
struct Limits {
  double products = 0;   // multiply-adds of whole tiles
  double elements = 0;   // of results
  bool in_turn = false;  // a CTA gets three tiles or more, where CTAs take several
};

enum class Way : std::uint8_t {
  gemm,   // gemm()
  rows,   // hgemm::multiply_by_rows()
  group,  // grouped_gemm() of the products of a batch
};

struct Product {
  GemmProblem p;  // addresses are 0; of what is given beside a, b and c they are 1
  std::string tile;
  Way way = Way::gemm;
  std::uint32_t most_ctas = 0;  // of kernels that take tiles in turn; 0: what the library launches
  std::size_t shift_a = 0, shift_b = 0, shift_c = 0, shift_bias = 0;  // bytes after a multiple of 256
  double beyond = 0;          // not 0: an element of a that pieces do not hold, which is multiplied by zeros
  bool side_by_side = false;  // the rows of a batch's results
};

// What the kernels of an operation can do after a sum.
struct Abilities {
  bool functions = true, at_random = true, relu_first = true;
};
void draw_epilogue(Random& random, Product& product, const Abilities& abilities);

bool draws_products(const Kernel& kernel);
Product draw_product(Random& random, const Kernel& kernel, const Limits& limits);
std::string text_of(const Product& product);

// Words for what is asked for, for counting: "beta", "bias by row", "gelu", "float16 result".
std::vector<std::string> features_of(const Product& product);

// "": the result is right; else what is not. `elements`: of the result.
std::string run(const Product& product, Random& random, std::int64_t& elements);

}  // namespace nervanagpu::variants
