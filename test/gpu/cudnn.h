// cuDNN as a peer: the few calls that are needed, declared here, found at run time. All of its tensors are NCHW (NCDHW);
// a caller in another layout rearranges on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/pool.hpp"

namespace nervanagpu::gpu_test {

namespace cudnn {

using Handle = void*;
using Descriptor = void*;  // of a tensor, a filter, a convolution or a pooling
using Status = int;
inline constexpr Status kSuccess = 0;
// cudnnDataType_t
inline constexpr int kFloat = 0;
inline constexpr int kHalf = 2;
// cudnnTensorFormat_t
inline constexpr int kChannelsFirst = 0;
// cudnnConvolutionMode_t
inline constexpr int kCrossCorrelation = 1;
// cudnnMathType_t
inline constexpr int kDefaultMath = 0;
inline constexpr int kFmaMath = 3;
// cudnnPoolingMode_t
inline constexpr int kAverageWithPadding = 1;
inline constexpr int kAverageWithoutPadding = 2;
inline constexpr int kMaxDeterministic = 3;
// cudnnNanPropagation_t
inline constexpr int kPropagateNan = 1;

// X(member, symbol, parameters)
// clang-format off
#define NG_CUDNN_CALLS(X)                                                                                        \
  X(create,             "cudnnCreate",                       (Handle* handle))                                  \
  X(destroy,            "cudnnDestroy",                      (Handle handle))                                   \
  X(create_tensor,      "cudnnCreateTensorDescriptor",       (Descriptor* out))                                 \
  X(set_tensor,         "cudnnSetTensorNdDescriptor",        (Descriptor d, int type, int axes, const int* lengths, \
                                                              const int* strides))                              \
  X(destroy_tensor,     "cudnnDestroyTensorDescriptor",      (Descriptor d))                                    \
  X(create_filter,      "cudnnCreateFilterDescriptor",       (Descriptor* out))                                 \
  X(set_filter,         "cudnnSetFilterNdDescriptor",        (Descriptor d, int type, int format, int axes,     \
                                                              const int* lengths))                              \
  X(destroy_filter,     "cudnnDestroyFilterDescriptor",      (Descriptor d))                                    \
  X(create_conv,        "cudnnCreateConvolutionDescriptor",  (Descriptor* out))                                 \
  X(set_conv,           "cudnnSetConvolutionNdDescriptor",   (Descriptor d, int axes, const int* pad, const int* stride, \
                                                              const int* dilation, int mode, int compute_type)) \
  X(set_groups,         "cudnnSetConvolutionGroupCount",     (Descriptor d, int groups))                        \
  X(set_math,           "cudnnSetConvolutionMathType",       (Descriptor d, int math))                          \
  X(destroy_conv,       "cudnnDestroyConvolutionDescriptor", (Descriptor d))                                    \
  X(create_pool,        "cudnnCreatePoolingDescriptor",      (Descriptor* out))                                 \
  X(set_pool,           "cudnnSetPoolingNdDescriptor",       (Descriptor d, int mode, int nan, int axes, const int* window, \
                                                              const int* pad, const int* stride))               \
  X(destroy_pool,       "cudnnDestroyPoolingDescriptor",     (Descriptor d))                                    \
  X(fprop_workspace,    "cudnnGetConvolutionForwardWorkspaceSize", (Handle h, Descriptor x, Descriptor w, Descriptor conv, \
                                                              Descriptor y, int algorithm, std::size_t* bytes)) \
  X(bprop_workspace,    "cudnnGetConvolutionBackwardDataWorkspaceSize", (Handle h, Descriptor w, Descriptor dy, \
                                                              Descriptor conv, Descriptor dx, int algorithm, std::size_t* bytes)) \
  X(update_workspace,   "cudnnGetConvolutionBackwardFilterWorkspaceSize", (Handle h, Descriptor x, Descriptor dy, \
                                                              Descriptor conv, Descriptor dw, int algorithm, std::size_t* bytes)) \
  X(fprop,              "cudnnConvolutionForward",           (Handle h, const void* alpha, Descriptor xd, const void* x, \
                                                              Descriptor wd, const void* w, Descriptor conv, int algorithm, \
                                                              void* workspace, std::size_t bytes, const void* beta, \
                                                              Descriptor yd, void* y))                          \
  X(bprop,              "cudnnConvolutionBackwardData",      (Handle h, const void* alpha, Descriptor wd, const void* w, \
                                                              Descriptor dyd, const void* dy, Descriptor conv, int algorithm, \
                                                              void* workspace, std::size_t bytes, const void* beta, \
                                                              Descriptor dxd, void* dx))                        \
  X(update,             "cudnnConvolutionBackwardFilter",    (Handle h, const void* alpha, Descriptor xd, const void* x, \
                                                              Descriptor dyd, const void* dy, Descriptor conv, int algorithm, \
                                                              void* workspace, std::size_t bytes, const void* beta, \
                                                              Descriptor dwd, void* dw))                        \
  X(pool_fprop,         "cudnnPoolingForward",               (Handle h, Descriptor pool, const void* alpha, Descriptor xd, \
                                                              const void* x, const void* beta, Descriptor yd, void* y)) \
  X(pool_bprop,         "cudnnPoolingBackward",              (Handle h, Descriptor pool, const void* alpha, Descriptor yd, \
                                                              const void* y, Descriptor dyd, const void* dy, Descriptor xd, \
                                                              const void* x, const void* beta, Descriptor dxd, void* dx))
// clang-format on

struct Calls {
#define NG_CUDNN_MEMBER(member, symbol, parameters) Status(*member) parameters = nullptr;
  NG_CUDNN_CALLS(NG_CUDNN_MEMBER)
#undef NG_CUDNN_MEMBER
  std::size_t (*version)() = nullptr;
  const char* (*error_text)(Status status) = nullptr;
};

}  // namespace cudnn

class Cudnn {
 public:
  // The library and a handle in the current context; null, and why, if there is none.
  static std::unique_ptr<Cudnn> open(std::string& why);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  [[nodiscard]] std::int64_t version() const { return version_; }

  // One pass of the problem's shape in `type` (float32 or float16) with fp32 sums, on NCHW tensors; the layout and the
  // types of the problem are not read. The unit of its arithmetic's error; nothing: no algorithm takes the problem.
  std::optional<double> conv(ConvPass pass, const ConvProblem& p, Dtype type, std::uint64_t in1, std::uint64_t in2,
                             std::uint64_t out);
  // max and avg over windows of one feature map. y is written by fprop and read by bprop. False: it refused.
  bool pool_fprop(const PoolProblem& p, Dtype type, std::uint64_t x, std::uint64_t y);
  bool pool_bprop(const PoolProblem& p, Dtype type, std::uint64_t y, std::uint64_t dy, std::uint64_t x,
                  std::uint64_t dx);

 private:
  explicit Cudnn(const cudnn::Calls& calls) : calls_(calls) {}

  cudnn::Calls calls_;
  cudnn::Handle handle_ = nullptr;
  std::int64_t version_ = 0;
};

}  // namespace nervanagpu::gpu_test
