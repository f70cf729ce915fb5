// nervanagpu.h: ng_gemm.
#include <cstddef>
#include <string>

#include "nervanagpu/gemm.hpp"
#include "src/c_api.h"

namespace nervanagpu::c_api {
namespace {

constexpr const char* kGemm = "ng_gemm";

constexpr std::size_t kFirstSize = offsetof(ng_gemm_problem, splits);  // of its first publication

ng_gemm_problem read_problem(const ng_gemm_problem* in) {
  const ng_gemm_problem init = NG_GEMM_PROBLEM_INIT;
  return read(kGemm, "problem", in, init, kFirstSize);
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
  out.splits = p.splits;
  out.workspace = p.workspace;
  return out;
}

}  // namespace
}  // namespace nervanagpu::c_api

extern "C" {

ng_status ng_gemm_workspace(const ng_gemm_problem* problem, size_t* bytes) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_gemm_workspace";
  return c_api::guarded([&] {
    if (bytes == nullptr) c_api::refuse(kName, "bytes", "null", "where to put the number");
    *bytes = gemm_workspace(c_api::problem_of(c_api::read_problem(problem)));
  });
}

ng_status ng_gemm(const ng_gemm_problem* problem, uint64_t stream) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  return c_api::guarded([&] {
    const ng_gemm_problem p = c_api::read_problem(problem);
    const GemmProblem call = c_api::problem_of(p);
    const std::size_t needed = p.workspace != 0 ? gemm_workspace(call) : 0;
    if (p.workspace_bytes < needed) {
      c_api::refuse(c_api::kGemm, "workspace", "of " + std::to_string(p.workspace_bytes) + " bytes",
                    std::to_string(needed) + " bytes (ng_gemm_workspace)");
    }
    gemm(call, Stream::from_handle(stream));
  });
}

}  // extern "C"
