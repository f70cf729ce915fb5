// nervanagpu.h: many products at once, ng_gemm_grouped and ng_matmul.
#include <algorithm>
#include <string>
#include <vector>

#include "nervanagpu/autotune.hpp"
#include "nervanagpu/grouped_gemm.hpp"
#include "src/c_api/c_api.h"
#include "src/c_api/c_api_gemm.h"

namespace nervanagpu::c_api {
namespace {

std::vector<GemmProblem> group_of(const char* function, const ng_gemm_problem* const* problems, std::size_t count) {
  std::vector<GemmProblem> out;
  if (count == 0) return out;
  if (problems == nullptr) refuse(function, "problems", "null", std::to_string(count) + " pointers to problems");
  constexpr std::size_t kMost = std::size_t{1} << 31;
  if (count >= kMost) refuse(function, "count", std::to_string(count), "less than 2^31");
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ng_gemm_problem p = read_problem(problems[i], function);
    GemmProblem call = problem_of(p);
    if (call.splits == 0) call.splits = 1;
    if (p.workspace != 0) check_workspace(function, p.workspace_bytes, gemm_workspace(call), "ng_gemm_workspace");
    out.push_back(call);
  }
  return out;
}

void check_query(const char* function, const std::size_t* bytes) {
  if (bytes == nullptr) refuse(function, "bytes", "null", "where to put the number");
}

Tensor tensor_of(const char* function, const char* name, const ng_tensor* in) {
  const ng_tensor init = NG_TENSOR_INIT;
  const ng_tensor t = read(function, name, in, init);
  constexpr int kMost = 8;
  if (t.ndim < 2 || t.ndim > kMost) {
    refuse(function, std::string(name) + ".ndim", std::to_string(t.ndim), "2 to 8");
  }
  const auto axes = static_cast<std::ptrdiff_t>(t.ndim);
  return Tensor::wrap(t.address, Shape(t.shape, t.shape + axes), Shape(t.strides, t.strides + axes),
                      dtype_of(function, name, t.dtype));
}

std::vector<GemmProblem> matmul_of(const char* function, const ng_tensor* a, const ng_tensor* b, const ng_tensor* c) {
  return matmul_problems(tensor_of(function, "a", a), tensor_of(function, "b", b), tensor_of(function, "c", c));
}

std::size_t workspace_of(const std::vector<GemmProblem>& problems) {
  std::size_t most = 0;
  for (const GemmProblem& p : problems) most = std::max(most, gemm_workspace(p));
  return most;
}

}  // namespace
}  // namespace nervanagpu::c_api

extern "C" {

ng_status ng_gemm_autotune(int32_t on) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  return c_api::guarded([&] { set_autotune(c_api::flag_of("ng_gemm_autotune", "on", on)); });
}

ng_status ng_set_precision(int32_t precision) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  return c_api::guarded([&] { set_precision(c_api::precision_of("ng_set_precision", precision)); });
}

ng_status ng_get_precision(int32_t* precision) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  return c_api::guarded([&] {
    if (precision == nullptr) c_api::refuse("ng_get_precision", "precision", "null", "where to put it");
    *precision = static_cast<int32_t>(nervanagpu::precision());
  });
}

ng_status ng_gemm_grouped_workspace(const ng_gemm_problem* const* problems, size_t count, size_t* bytes) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_gemm_grouped_workspace";
  return c_api::guarded([&] {
    c_api::check_query(kName, bytes);
    *bytes = grouped_gemm_workspace(c_api::group_of(kName, problems, count));
  });
}

ng_status ng_gemm_grouped(const ng_gemm_problem* const* problems, size_t count, uint64_t workspace,
                          uint64_t workspace_bytes, uint64_t stream) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_gemm_grouped";
  return c_api::guarded([&] {
    const std::vector<GemmProblem> all = c_api::group_of(kName, problems, count);
    if (workspace != 0) {
      c_api::check_workspace(kName, workspace_bytes, grouped_gemm_workspace(all), "ng_gemm_grouped_workspace");
    }
    grouped_gemm(all, workspace, Stream::from_handle(stream));
  });
}

ng_status ng_matmul_workspace(const ng_tensor* a, const ng_tensor* b, const ng_tensor* c, size_t* bytes) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_matmul_workspace";
  return c_api::guarded([&] {
    c_api::check_query(kName, bytes);
    *bytes = c_api::workspace_of(c_api::matmul_of(kName, a, b, c));
  });
}

ng_status ng_matmul(const ng_tensor* a, const ng_tensor* b, const ng_tensor* c, uint64_t workspace,
                    uint64_t workspace_bytes, uint64_t stream) {
  using namespace nervanagpu;  // NOLINT(google-build-using-namespace)
  constexpr const char* kName = "ng_matmul";
  return c_api::guarded([&] {
    std::vector<GemmProblem> all = c_api::matmul_of(kName, a, b, c);
    if (workspace != 0) c_api::check_workspace(kName, workspace_bytes, c_api::workspace_of(all), "ng_matmul_workspace");
    for (GemmProblem& p : all) {
      p.workspace = workspace;
      gemm(p, Stream::from_handle(stream));
    }
  });
}

}  // extern "C"
