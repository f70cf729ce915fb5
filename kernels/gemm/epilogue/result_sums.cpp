#include "kernels/gemm/epilogue/result_sums.h"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::sgemm {
namespace {

constexpr std::int64_t kColumns = 256;  // of a part
constexpr std::int64_t kLanes = 32;     // columns, or rows, of a CTA of result_sums_end

// Parts of a result: a function of m and n alone, as the bits of sums are.
struct Parts {
  std::int64_t chunk = 0;  // rows of a part
  std::int64_t of_rows = 0, of_columns = 0;
};
Parts parts_of(const GemmProblem& p) {
  constexpr std::int64_t kCtas = 1024;
  constexpr std::int64_t kMostParts = 512;
  constexpr std::int64_t kLeast = 64;
  if (p.m == 0 || p.n == 0) return {};
  const std::int64_t columns = ceil_div(p.n, kColumns);
  const std::int64_t wanted = std::clamp<std::int64_t>(kCtas / columns, 1, kMostParts);
  const std::int64_t chunk = std::max(kLeast, ceil_div(p.m, wanted));
  return {chunk, ceil_div(p.m, chunk), columns};
}

const Kernel& find(const Registry& registry, const std::string& name) {
  const Kernel* k = registry.find(name);
  if (k == nullptr) throw Error("there is no kernel " + name + " for this device's architecture");
  return *k;
}

}  // namespace

void check_sums(const GemmProblem& p) {
  if (!has_sums(p)) return;
  struct Vector {
    const char* name;
    std::uint64_t address;
  };
  const std::array all = {Vector{"row_sum", p.row_sum}, Vector{"column_sum", p.column_sum},
                          Vector{"row_max_abs", p.row_max_abs}, Vector{"column_max_abs", p.column_max_abs}};
  for (const Vector& v : all) {
    if (v.address % 4 == 0) continue;
    throw InvalidArgument(std::string("gemm: address of ") + v.name + " is " + std::to_string(v.address) +
                          "; needs a multiple of 4");
  }
  const char* name = std::ranges::find_if(all, [](const Vector& v) { return v.address != 0; })->name;
  if (p.c_type != Dtype::float32 && !half(p.c_type)) {
    throw TypeError(std::string("gemm: ") + name + " is given but c has dtype " + std::string(name_of(p.c_type)) +
                    "; needs float32, float16 or bfloat16");
  }
  if (p.batch > 1 && !p.sum_batch) {
    throw InvalidArgument(std::string("gemm: ") + name + " is given but batch is " + std::to_string(p.batch) +
                          "; needs one product, or a sum over the batch");
  }
}

std::size_t row_parts_at(const GemmProblem& p) {
  return static_cast<std::size_t>(2 * parts_of(p).of_rows * p.n) * 4;
}

std::size_t sums_workspace(const GemmProblem& p) {
  if (!has_sums(p)) return 0;
  return row_parts_at(p) + static_cast<std::size_t>(2 * parts_of(p).of_columns * p.m) * 4;
}

SumsPlan sums_plan(const Registry& registry, const GemmProblem& p, std::uint64_t workspace) {
  const Parts parts = parts_of(p);
  const bool of_columns = (p.column_sum | p.column_max_abs) != 0;
  const bool of_rows = (p.row_sum | p.row_max_abs) != 0;
  const std::uint64_t columns = of_columns ? workspace : 0;
  const std::uint64_t rows = of_rows ? workspace + row_parts_at(p) : 0;
  SumsPlan out;
  out.parts = &find(registry, "result_sums_" + std::string(word_of(p.c_type)));
  out.parts_values.u64(p.c).u64(columns).u64(rows).u32(p.m).u32(p.n).u32(p.ldc).u32(parts.chunk);
  out.parts_grid = {static_cast<std::uint32_t>(parts.of_columns), static_cast<std::uint32_t>(parts.of_rows), 1};
  const std::int64_t column_ctas = of_columns ? ceil_div(p.n, kLanes) : 0;
  const std::int64_t row_ctas = of_rows ? ceil_div(p.m, kLanes) : 0;
  out.end = &find(registry, "result_sums_end");
  out.end_values.u64(columns).u64(rows).u64(p.column_sum).u64(p.column_max_abs).u64(p.row_sum).u64(p.row_max_abs);
  out.end_values.u32(p.m).u32(p.n).u32(parts.of_rows).u32(parts.of_columns).u32(column_ctas);
  out.end_grid.x = static_cast<std::uint32_t>(column_ctas + row_ctas);
  return out;
}

void sums_of_nothing(Device& device, const GemmProblem& p, StreamId stream) {
  if (!has_sums(p)) return;
  const SumsPlan plan = sums_plan(device.registry(), p, 0);
  if (plan.end_grid.x != 0) plan.end_values.launch(device, *plan.end, plan.end_grid, stream);
}

}  // namespace nervanagpu::sgemm
