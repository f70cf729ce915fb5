#include "kernels/gemm/epilogue/relu_mask.h"

#include <string>

#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::sgemm {
namespace {

constexpr std::int64_t kMaxRows = std::int64_t{1} << 31;
constexpr std::int64_t kMaxWords = std::int64_t{1} << 29;  // of a row: in bytes they are 32 bits

std::int64_t matrices_of(const GemmProblem& p) {
  return p.sum_batch ? 1 : p.batch;
}

}  // namespace

void check_mask(const GemmProblem& p) {
  if (p.mask == 0) {
    if (applies_mask(p)) throw InvalidArgument("gemm: activation is drelu but mask is 0; needs a device address");
    return;
  }
  const bool relu = p.relu || p.activation == GemmActivation::relu;
  if (p.relu_first || !(relu || applies_mask(p))) {
    throw InvalidArgument(
        "gemm: mask is given; needs relu, which writes it, or the activation drelu, which is "
        "told by it");
  }
  if (p.c_type != Dtype::float32 && !half(p.c_type)) {
    throw TypeError("gemm: mask is given but c has dtype " + std::string(name_of(p.c_type)) +
                    "; needs float32, float16 or bfloat16");
  }
  if (p.mask % 4 != 0) {
    throw InvalidArgument("gemm: address of mask is " + std::to_string(p.mask) + "; needs a multiple of 4");
  }
  if (p.ld_mask < words_of_mask(p.n) || p.ld_mask >= kMaxWords) {
    throw InvalidArgument("gemm: ld_mask is " + std::to_string(p.ld_mask) + "; needs at least " +
                          std::to_string(words_of_mask(p.n)) + ", the words of a row, and less than 2^29");
  }
  if (matrices_of(p) * p.m >= kMaxRows) {
    throw InvalidArgument("gemm: m is " + std::to_string(p.m) + " and batch " + std::to_string(p.batch) +
                          "; a mask needs less than 2^31 rows");
  }
}

MaskPlan mask_plan(const Registry& registry, const GemmProblem& p) {
  constexpr std::int64_t kColumns = 256;  // of a warp
  constexpr std::int64_t kWarps = 8;
  MaskPlan out;
  const std::string name =
      std::string("relu_mask_") + (applies_mask(p) ? "apply_" : "write_") + std::string(word_of(p.c_type));
  out.kernel = registry.find(name);
  if (out.kernel == nullptr) throw Error("there is no kernel " + name + " for this device's architecture");
  const std::int64_t parts = ceil_div(p.n, kColumns);
  const std::int64_t total = matrices_of(p) * p.m * parts;
  if (total >= kMaxRows) {
    throw InvalidArgument("gemm: m is " + std::to_string(p.m) + " and n " + std::to_string(p.n) +
                          "; a mask needs less than 2^31 rows of 256 elements");
  }
  out.values.u64(p.c).u64(p.mask).u64(static_cast<std::uint64_t>(p.stride_c));
  out.values.u32(total).divisor(parts).divisor(p.m).u32(p.n).u32(p.ldc).u32(4 * p.ld_mask);
  out.grid.x = static_cast<std::uint32_t>(ceil_div(total, kWarps));
  return out;
}

}  // namespace nervanagpu::sgemm
