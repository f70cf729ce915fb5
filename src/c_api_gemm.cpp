// nervanagpu.h: ng_gemm.
#include "nervanagpu/gemm.hpp"
#include "src/c_api.h"

namespace nervanagpu::c_api {
namespace {

constexpr const char* kGemm = "ng_gemm";

GemmProblem problem_of(const ng_gemm_problem* in) {
  const ng_gemm_problem init = NG_GEMM_PROBLEM_INIT;
  const ng_gemm_problem p = read(kGemm, "problem", in, init);
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
  return out;
}

}  // namespace
}  // namespace nervanagpu::c_api

extern "C" {

ng_status ng_gemm(const ng_gemm_problem* problem, uint64_t stream) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  return c_api::guarded([&] { gemm(c_api::problem_of(problem), Stream::from_handle(stream)); });
}

}  // extern "C"
