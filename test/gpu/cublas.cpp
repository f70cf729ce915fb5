#include "test/gpu/cublas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "test/gpu/bound.h"
#include "test/gpu/peer_library.h"

namespace nervanagpu::gpu_test {
namespace {

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

[[noreturn]] void failed(const char* call, int status) {
  throw std::runtime_error(std::string(call) + ": cuBLAS status " + std::to_string(status));
}

}  // namespace

std::unique_ptr<Cublas> Cublas::open(std::string& why) {
  const auto folders = library_folders(std::getenv("NG_CUDA_LIBS"));
  preload(folders);
  const PeerLibrary library = open_library({"libcublas.so.13", "libcublas.so.12", "libcublas.so"}, folders);
  if (library.handle == nullptr) {
    why = library.why;
    return nullptr;
  }
  cublas::Calls calls;
#define NG_CUBLAS_FIND(member, symbol, parameters)                                        \
  calls.member = reinterpret_cast<decltype(calls.member)>(dlsym(library.handle, symbol)); \
  if (calls.member == nullptr) why = library.path + " has no " + symbol;
  NG_CUBLAS_CALLS(NG_CUBLAS_FIND)
#undef NG_CUBLAS_FIND
  if (!why.empty()) return nullptr;
  std::unique_ptr<Cublas> out(new Cublas(calls));
  int status = calls.create(&out->handle_);
  if (status == cublas::kSuccess) status = calls.get_version(out->handle_, &out->version_);
  if (status == cublas::kSuccess) return out;
  why = library.path + ": no handle, cuBLAS status " + std::to_string(status);
  return nullptr;
}

Cublas::~Cublas() {
  if (handle_ != nullptr) static_cast<void>(calls_.destroy(handle_));
}

// cuBLAS is column-major: it is asked for the transposed product, with A and B swapped.
std::optional<double> Cublas::gemm(const GemmProblem& p, Dtype type) {
  const float one = 1.0F;
  const float zero = 0.0F;
  const std::int32_t int_one = 1;
  const std::int32_t int_zero = 0;
  const bool whole = type == Dtype::int8;
  const int in = whole                     ? cublas::kInt8
                 : type == Dtype::float16  ? cublas::kReal16
                 : type == Dtype::bfloat16 ? cublas::kBfloat16
                                           : cublas::kReal32;
  const int out = whole ? cublas::kInt32 : in;
  const auto call = [&](int compute) {
    return calls_.gemm(handle_, p.b_transposed ? cublas::kTransposed : cublas::kPlain,
                       p.a_transposed ? cublas::kTransposed : cublas::kPlain, static_cast<int>(p.n),
                       static_cast<int>(p.m), static_cast<int>(p.k), whole ? static_cast<const void*>(&int_one) : &one,
                       pointer(p.b), in, static_cast<int>(p.ldb), pointer(p.a), in, static_cast<int>(p.lda),
                       whole ? static_cast<const void*>(&int_zero) : &zero, pointer(p.c), out, static_cast<int>(p.ldc),
                       compute, cublas::kAnyAlgorithm);
  };
  const auto refused = [](int status) { return status == cublas::kNotSupported || status == cublas::kInvalidValue; };
  int status = call(whole ? cublas::kComputeInt32 : cublas::kCompute32Pedantic);
  if (status == cublas::kSuccess) return whole ? 0.0 : kUnitFloat;
  if (!refused(status)) failed("cublasGemmEx", status);
  if (whole) return std::nullopt;
  status = call(cublas::kCompute32);
  if (status == cublas::kSuccess) return kUnitTensor;
  if (!refused(status)) failed("cublasGemmEx", status);
  return std::nullopt;
}

}  // namespace nervanagpu::gpu_test
