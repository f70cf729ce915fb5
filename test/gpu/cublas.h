// cuBLAS as a peer: the few calls that are needed, declared here, found at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "nervanagpu/dtype.hpp"
#include "nervanagpu/gemm.hpp"

namespace nervanagpu::gpu_test {

namespace cublas {

using Handle = void*;
using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kNotSupported = 15;
inline constexpr Status kInvalidValue = 7;
// cublasOperation_t
inline constexpr int kPlain = 0;
inline constexpr int kTransposed = 1;
// cudaDataType_t
inline constexpr int kReal32 = 0;
inline constexpr int kReal16 = 2;
inline constexpr int kInt8 = 3;
inline constexpr int kBfloat16 = 14;
inline constexpr int kInt32 = 10;
// cublasComputeType_t; pedantic: no tensor cores, no splitting
inline constexpr int kCompute32 = 68;
inline constexpr int kCompute32Pedantic = 69;
inline constexpr int kComputeInt32 = 72;
// cublasGemmAlgo_t
inline constexpr int kAnyAlgorithm = -1;

// X(member, symbol, parameters)
// clang-format off
#define NG_CUBLAS_CALLS(X)                                            \
  X(create,      "cublasCreate_v2",     (Handle* handle))             \
  X(destroy,     "cublasDestroy_v2",    (Handle handle))              \
  X(get_version, "cublasGetVersion_v2", (Handle handle, int* version)) \
  X(gemm,        "cublasGemmEx",        (Handle handle, int op_a, int op_b, int m, int n, int k, const void* alpha, \
                                         const void* a, int a_type, int lda, const void* b, int b_type, int ldb,    \
                                         const void* beta, void* c, int c_type, int ldc, int compute, int algorithm))
// clang-format on

struct Calls {
#define NG_CUBLAS_MEMBER(member, symbol, parameters) Status(*member) parameters = nullptr;
  NG_CUBLAS_CALLS(NG_CUBLAS_MEMBER)
#undef NG_CUBLAS_MEMBER
};

}  // namespace cublas

class Cublas {
 public:
  // The library and a handle in the current context; null, and why, if there is none.
  static std::unique_ptr<Cublas> open(std::string& why);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  [[nodiscard]] int version() const { return version_; }
  // C = A B of the problem, A and B of one type: float32, float16 or bfloat16 (C too), or int8 with an int32 C. alpha, beta, bias and
  // relu are not read. The unit of its arithmetic's error; nothing: it refused. Throws std::runtime_error if it failed.
  std::optional<double> gemm(const GemmProblem& p, Dtype type);

 private:
  explicit Cublas(const cublas::Calls& calls) : calls_(calls) {}

  cublas::Calls calls_;
  cublas::Handle handle_ = nullptr;
  int version_ = 0;
};

}  // namespace nervanagpu::gpu_test
