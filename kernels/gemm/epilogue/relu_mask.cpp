#include "kernels/gemm/epilogue/relu_mask.h"

#include <algorithm>
#include <string>
#include <string_view>

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

std::string_view doing(const GemmProblem& p) {
  return applies_mask(p) ? "apply" : "write";
}

const Kernel* named(const Registry& registry, const std::string& name) {
  const Kernel* kernel = registry.find(name);
  if (kernel == nullptr) throw Error("there is no kernel " + name + " for this device's architecture");
  return kernel;
}

// Of all rows.
std::int64_t all_words(const GemmProblem& p) {
  const std::int64_t total = matrices_of(p) * p.m * words_of_mask(p.n);
  if (total < kMaxRows) return total;
  throw InvalidArgument("gemm: m is " + std::to_string(p.m) + " and n " + std::to_string(p.n) +
                        "; a mask needs less than 2^31 words of 32 bits");
}

Values values_of(const GemmProblem& p) {
  Values v;
  v.u64(p.c).u64(p.mask).u64(static_cast<std::uint64_t>(p.stride_c));
  v.u32(all_words(p)).divisor(words_of_mask(p.n)).divisor(p.m).u32(p.n).u32(p.ldc).u32(4 * p.ld_mask);
  return v;
}
std::int64_t ctas_of(const GemmProblem& p) {
  constexpr std::int64_t kWords = 64;  // of a CTA
  return ceil_div(all_words(p), kWords);
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
  return {named(registry, "relu_mask_" + std::string(doing(p)) + "_" + std::string(word_of(p.c_type))),
          values_of(p),
          {static_cast<std::uint32_t>(ctas_of(p)), 1, 1}};
}

bool fits_mask_if(const GemmProblem& p) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;  // words
  return matrices_of(p) * p.m * words_of_mask(p.n) < kMost;
}

MaskPlan mask_if_plan(const Registry& registry, const GemmProblem& p, const Values& condition) {
  constexpr std::int64_t kMost = 4 * 132;  // CTAs: a few a multiprocessor, which mostly find nothing to do
  constexpr std::int64_t kWarps = 8;
  const std::int64_t ctas = std::min(ctas_of(p), kMost);
  MaskPlan out = {
      named(registry, "relu_mask_if_" + std::string(doing(p))), values_of(p), {static_cast<std::uint32_t>(ctas), 1, 1}};
  out.values.u32(kWarps * ctas).all(condition);
  return out;
}

}  // namespace nervanagpu::sgemm
