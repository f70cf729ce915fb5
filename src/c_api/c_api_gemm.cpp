// nervanagpu.h: ng_gemm.
#include <cstddef>
#include <string>

#include "nervanagpu/gemm.hpp"
#include "nervanagpu/gemm_plan.hpp"
#include "nervanagpu/pieces.hpp"
#include "src/c_api/c_api.h"
#include "src/c_api/c_api_gemm.h"

namespace nervanagpu::c_api {
namespace {

constexpr const char* kGemm = "ng_gemm";

constexpr std::size_t kFirstSize = offsetof(ng_gemm_problem, splits);  // of its first publication

}  // namespace

ng_gemm_problem read_problem(const ng_gemm_problem* in, const char* function) {
  const ng_gemm_problem init = NG_GEMM_PROBLEM_INIT;
  return read(function, "problem", in, init, kFirstSize);
}

GemmProblem problem_of(const ng_gemm_problem& p) {
  GemmProblem out;
  out.a_transposed = flag_of(kGemm, "a_transposed", p.a_transposed);
  out.b_transposed = flag_of(kGemm, "b_transposed", p.b_transposed);
  out.a = p.a;
  out.b = p.b;
  out.c = p.c;
  out.bias = p.bias;
  out.m = p.m;
  out.n = p.n;
  out.k = p.k;
  out.lda = p.lda;
  out.ldb = p.ldb;
  out.ldc = p.ldc;
  out.alpha = p.alpha;
  out.beta = p.beta;
  out.bias_per_row = flag_of(kGemm, "bias_per_row", p.bias_per_row);
  if (p.relu < 0 || p.relu > 2) refuse(kGemm, "relu", std::to_string(p.relu), "0, 1 or 2");
  out.relu = p.relu == 1;
  out.relu_first = p.relu == 2;
  out.a_type = dtype_of(kGemm, "a_type", p.a_type);
  out.b_type = dtype_of(kGemm, "b_type", p.b_type);
  out.c_type = dtype_of(kGemm, "c_type", p.c_type);
  out.bias_type = dtype_of(kGemm, "bias_type", p.bias_type);
  out.rounding = rounding_of(kGemm, "rounding", p.rounding);
#define NG_ACTIVATION(name, c_name, reads, value, ulps, ...) \
  static_assert(c_name == static_cast<int>(GemmActivation::name));
#include "nervanagpu/activations.inc"
#undef NG_ACTIVATION
  const auto activation = activation_row(p.activation);
  if (!activation) {
    refuse(kGemm, "activation", std::to_string(p.activation),
           "an ng_gemm_activation (0 to " + std::to_string(std::size(kActivations) - 1) + ")");
  }
  out.activation = activation->activation;
  out.clip_low = p.clip_low;
  out.clip_high = p.clip_high;
  out.scale = p.scale;
  out.scale_per_row = flag_of(kGemm, "scale_per_row", p.scale_per_row);
  out.mask = p.mask;
  out.ld_mask = p.ld_mask;
  out.row_sum = p.row_sum, out.column_sum = p.column_sum;
  out.row_max_abs = p.row_max_abs, out.column_max_abs = p.column_max_abs;
  out.splits = p.splits;
  out.workspace = p.workspace;
  out.batch = p.batch;
  out.stride_a = p.stride_a, out.stride_b = p.stride_b, out.stride_c = p.stride_c;
  out.sum_batch = flag_of(kGemm, "sum_batch", p.sum_batch);
  out.pointers = p.pointers;
  out.tensor_cores = !flag_of(kGemm, "no_tensor_cores", p.no_tensor_cores);
  out.precision = precision_of(kGemm, p.precision);
  const auto pieces = [&](std::uint64_t address, std::int32_t count, bool k_inside, std::int64_t length) {
    if (address == 0) return PiecesAt{};
    return k_inside ? PiecesAt{address, count, length, p.k} : PiecesAt{address, count, p.k, length};
  };
  out.a_pieces = pieces(p.a_pieces, p.a_piece_count, !out.a_transposed, p.m);
  out.b_pieces = pieces(p.b_pieces, p.b_piece_count, out.b_transposed, p.n);
  return out;
}

void check_workspace(const char* function, std::uint64_t bytes, std::size_t needed, const char* query) {
  if (bytes >= needed) return;
  refuse(function, "workspace", "of " + std::to_string(bytes) + " bytes",
         std::to_string(needed) + " bytes (" + query + ")");
}

}  // namespace nervanagpu::c_api

struct ng_gemm_plan {
  nervanagpu::GemmPlan plan;
};

extern "C" {

ng_status ng_gemm_workspace(const ng_gemm_problem* problem, size_t* bytes) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_gemm_workspace";
  return c_api::guarded([&] {
    if (bytes == nullptr) c_api::refuse(kName, "bytes", "null", "where to put the number");
    *bytes = gemm_workspace(c_api::problem_of(c_api::read_problem(problem, c_api::kGemm)));
  });
}

ng_status ng_gemm(const ng_gemm_problem* problem, uint64_t stream) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  return c_api::guarded([&] {
    const ng_gemm_problem p = c_api::read_problem(problem, c_api::kGemm);
    const GemmProblem call = c_api::problem_of(p);
    const std::size_t needed = p.workspace != 0 ? gemm_workspace(call) : 0;
    c_api::check_workspace(c_api::kGemm, p.workspace_bytes, needed, "ng_gemm_workspace");
    gemm(call, Stream::from_handle(stream));
  });
}

ng_status ng_gemm_pieces(const ng_gemm_problem* problem, int32_t* count) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_gemm_pieces";
  return c_api::guarded([&] {
    if (count == nullptr) c_api::refuse(kName, "count", "null", "where to put the number");
    *count = gemm_pieces(c_api::problem_of(c_api::read_problem(problem, kName)));
  });
}

ng_status ng_gemm_pieces_bytes(int64_t rows, int64_t columns, int32_t count, size_t* bytes) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_gemm_pieces_bytes";
  return c_api::guarded([&] {
    if (bytes == nullptr) c_api::refuse(kName, "bytes", "null", "where to put the number");
    *bytes = gemm_pieces_bytes(rows, columns, count);
  });
}

ng_status ng_gemm_split(uint64_t matrix, int64_t rows, int64_t columns, int64_t leading, int32_t count, uint64_t pieces,
                        uint64_t stream) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  return c_api::guarded([&] {
    gemm_split(matrix, leading, {pieces, count, rows, columns}, Stream::from_handle(stream));
  });
}

ng_status ng_gemm_plan_create(const ng_gemm_problem* problem, ng_gemm_plan** plan) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_gemm_plan_create";
  return c_api::guarded([&] {
    if (plan == nullptr) c_api::refuse(kName, "plan", "null", "where to put the plan");
    *plan = nullptr;
    *plan = new ng_gemm_plan{GemmPlan(c_api::problem_of(c_api::read_problem(problem, kName)))};
  });
}

ng_status ng_gemm_plan_workspace(const ng_gemm_plan* plan, size_t* bytes) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_gemm_plan_workspace";
  return c_api::guarded([&] {
    if (bytes == nullptr) c_api::refuse(kName, "bytes", "null", "where to put the number");
    *bytes = c_api::existing(kName, "plan", plan, "ng_gemm_plan_create").plan.workspace();
  });
}

ng_status ng_gemm_plan_launch(const ng_gemm_plan* plan, const ng_gemm_addresses* addresses, uint64_t stream) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_gemm_plan_launch";
  return c_api::guarded([&] {
    const GemmPlan& p = c_api::existing(kName, "plan", plan, "ng_gemm_plan_create").plan;
    const ng_gemm_addresses init = NG_GEMM_ADDRESSES_INIT;
    const ng_gemm_addresses at = c_api::read(kName, "addresses", addresses, init, offsetof(ng_gemm_addresses, scale));
    if (at.workspace != 0) {
      c_api::check_workspace(kName, at.workspace_bytes, p.workspace(), "ng_gemm_plan_workspace");
    }
    p.launch({at.a, at.b, at.c, at.bias, at.workspace, at.rounding_offset, at.scale, at.mask, at.row_sum, at.column_sum,
              at.row_max_abs, at.column_max_abs, at.a_pieces, at.b_pieces},
             Stream::from_handle(stream));
  });
}

void ng_gemm_plan_destroy(ng_gemm_plan* plan) {
  delete plan;
}

}  // extern "C"
