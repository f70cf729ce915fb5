// Convolution in one, two and three dimensions, and its two gradients, as implicit GEMMs.
//
//   fprop   y  = act(alpha * (x * w) + beta * y + bias)                      x * w: cross-correlation, as everywhere
//   bprop   dx = alpha * (dy, w transposed) + beta * dx                      the data gradient; transposed convolution
//   update  dw = alpha * (dy, x) + beta * dw                                 the weight gradient
//
// Shapes        channels_last (NHWC, NDHWC)    batch_last (CHWN, CDHWN)    channels_first (NCHW, NCDHW)
//   x, dx       (N, D, H, W, C)                (C, D, H, W, N)             (N, C, D, H, W)
//   w, dw       (K, T, R, S, C/groups)         (C/groups, T, R, S, K)      (K, C/groups, T, R, S)
//   y, dy       (N, M, P, Q, K)                (K, M, P, Q, N)             (N, K, M, P, Q)
//
// with M = floor((D + 2 pad_d - dil_d (T - 1) - 1) / str_d) + 1, P and Q alike. Tensors of fewer axes leave out D, T and M
// (2D), or also H, R and P (1D). Every length is 1 or more. channels_first is computed through a copy in another layout.
//
// Types: x, w, y float32, float16 or bfloat16, all the same, with float32 sums; or x int8/uint8 with w, y (dy, dw) float32 or
// float16 (fprop and update: a first layer); or x int8/uint8 with w int8 (fprop), whose int32 sums are modulo 2^32. Of these, y
// int32 has integers for alpha, beta and bias. y float32 or int8 takes the sums as floats, times alpha and `scale`; int8 saturates,
// NaN as 0. bias: K elements, float32 or the type of y; of y int8 float32. 16-bit floats are multiplied by the tensor cores of
// sm_90a where the copy engine can gather them (docs/convolution.md says which are not): sums of 16 products at a time, else
// chains of multiply-adds (docs/numerics.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "nervanagpu/dtype.hpp"
#include "nervanagpu/export.hpp"
#include "nervanagpu/gemm_activation.hpp"
#include "nervanagpu/precision.hpp"
#include "nervanagpu/rounding.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

enum class Layout : std::uint8_t { channels_last, batch_last, channels_first };

// "NHWC", "NDHWC", "NWC", "CHWN", "CDHWN", "CWN", "NCHW", "NCDHW", "NCW". Throws InvalidArgument on anything else.
NG_API Layout layout_from_name(const std::string& name);

// Spatial triples are (depth, height, width).
struct ConvProblem {
  Layout layout = Layout::channels_last;
  std::int64_t n = 1, c = 1, k = 1;                // batch, channels of x, channels of y
  std::array<std::int64_t, 3> in = {1, 1, 1};      // D, H, W
  std::array<std::int64_t, 3> filter = {1, 1, 1};  // T, R, S
  std::array<std::int64_t, 3> pad = {0, 0, 0};
  std::array<std::int64_t, 3> stride = {1, 1, 1};
  std::array<std::int64_t, 3> dilation = {1, 1, 1};
  std::int64_t groups = 1;
  // Elements from pixel to pixel of x (dx) and of y (dy), which may be slices of the channels of wider tensors; 0: there is
  // nothing between. channels_last alone. What lies between is neither read nor written.
  std::int64_t x_pitch = 0, y_pitch = 0;
  Dtype x_type = Dtype::float32, w_type = Dtype::float32, y_type = Dtype::float32;
  Precision precision = Precision::strict;  // of float32 (precision.hpp); on tensors it is ConvOptions that says it

  [[nodiscard]] NG_API std::array<std::int64_t, 3> out()
      const;  // M, P, Q; throws InvalidArgument for a number out of range
  [[nodiscard]] NG_API std::int64_t x_elements() const;
  [[nodiscard]] NG_API std::int64_t w_elements() const;
  [[nodiscard]] NG_API std::int64_t y_elements() const;
  // Multiply-adds of one pass, padding counted, times 2.
  [[nodiscard]] NG_API double flops() const;
  bool operator==(const ConvProblem&) const = default;
};

// Float16 pieces that Precision::tensor has made of a tensor, which passes share, so that it is split once a step: conv_fprop() leaves those of
// x here, conv_bprop() those of dy, and conv_update() takes them, in the same stream. Nobody writes the tensor in between; its memory stays its
// own as long as this has its pieces. Left are those of channels that are fours, where a pass makes two pieces and does not round
// stochastically; else update is as it would be. dw has the bits that it has without, but where single elements have no good pieces: their
// products may be added in another order, or dw come from three pieces (docs/numerics.md).
// Copies are handles of the same pieces. A graph that has recorded passes needs them as long as it is launched. Not thread-safe.
class NG_API SharedPieces {
 public:
  SharedPieces();
  SharedPieces(const SharedPieces&) = default;
  SharedPieces& operator=(const SharedPieces&) = default;
  ~SharedPieces() = default;
  // Whether there are some; and bytes of device memory.
  [[nodiscard]] bool made() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  friend struct SharedPiecesAccess;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

struct ConvOptions {
  float alpha = 1.0F;
  float beta = 0.0F;                                 // 0: the result's old content is not read
  const Tensor* bias = nullptr;                      // fprop: (K,)
  bool relu = false;                                 // fprop: act = max(x, 0), after beta and bias; NaN stays NaN
  GemmActivation activation = GemmActivation::none;  // fprop: act, instead of relu, of a float or int8 y; not drelu
  float clip_low = 0.0F, clip_high = 0.0F;           // of GemmActivation::clip
  const Tensor* scale = nullptr;                     // fprop of bytes to a float32 or int8 y: float32 (K,)
  // Bits of a float result, uint32 or int32, contiguous or a slice of the last axis of such, of the result's shape with ceil(last / 32) words for its last axis: bit
  // j % 32 of word j / 32 belongs to element j. fprop with relu writes there whether what it stored is above 0 (not for NaN; after
  // the last element 0); bprop, given those of x, stores 0 where the bit is 0: the gradient before the relu that made x.
  const Tensor* mask = nullptr;
  // fprop, bprop: float32, contiguous, one number for each channel of a float result (y's filters, dx's channels): the sum of its
  // elements over images and positions, as they are stored, and the sum of their squares.
  const Tensor* channel_sum = nullptr;
  const Tensor* channel_sum_squares = nullptr;
  SharedPieces* x_pieces = nullptr;               // fprop leaves those of x, update takes them
  SharedPieces* dy_pieces = nullptr;              // bprop leaves those of dy, update takes them
  Rounding rounding;                              // of float and int8 results
  Precision precision = nervanagpu::precision();  // of float32 operands
  bool tensor_cores = true;  // false: 16-bit floats have chains of multiply-adds, as on other GPUs than sm_90a
  Stream stream;
};

// On tensors, contiguous in the problem's layout; with channels last x, dx, y and dy may be slices of the last axis, whatever
// the problem says of pitches. The result is written in place; it must not share memory with the others.
NG_API void conv_fprop(const ConvProblem& p, const Tensor& x, const Tensor& w, Tensor& y,
                       const ConvOptions& options = {});
NG_API void conv_bprop(const ConvProblem& p, const Tensor& dy, const Tensor& w, Tensor& dx,
                       const ConvOptions& options = {});
NG_API void conv_update(const ConvProblem& p, const Tensor& dy, const Tensor& x, Tensor& dw,
                        const ConvOptions& options = {});

enum class ConvPass : std::uint8_t { fprop, bprop, update };

// Bytes of device memory that a pass wants besides its operands; 0: none. It depends on the problem alone, and on whether there
// are sums of channels.
NG_API std::size_t conv_workspace(ConvPass pass, const ConvProblem& p, bool channel_sums = false);

// The same on device addresses.
struct ConvPieces {
  std::uint64_t address = 0;  // a multiple of 16, of conv_pieces_bytes(); 0: none
  bool made = false;          // update: a pass with the same tensor has left them there (conv_makes_pieces())
};

// On device addresses: queues the kernels in `options.stream` and returns; nothing is allocated (workspace: at least
// conv_workspace() bytes, aligned to 16), copied or awaited. May be captured in a CUDA graph. The tensors of `options` are
// ignored: `bias` is the address of K elements of bias_type, or 0; `scale` of K float32, `mask` of the words of ConvOptions,
// `channel_sum` and `channel_sum_squares` of a float32 for each channel of the result, or 0.
struct ConvPointers {
  std::uint64_t in1 = 0;  // fprop: x; bprop: dy; update: dy
  std::uint64_t in2 = 0;  // fprop: w; bprop: w;  update: x
  std::uint64_t out = 0;  // fprop: y; bprop: dx; update: dw
  std::uint64_t bias = 0;
  Dtype bias_type = Dtype::float32;
  std::uint64_t workspace = 0;
  std::uint64_t mask = 0;
  std::int64_t mask_pitch = 0;  // words from row to row of the mask; 0: as many as a row has
  std::uint64_t scale = 0;
  std::uint64_t channel_sum = 0, channel_sum_squares = 0;
  ConvPieces x_pieces = {}, y_pieces = {};
};
NG_API void conv(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const ConvOptions& options = {});

// Bytes for the pieces of a tensor of so many pixels of so many channels.
NG_API std::size_t conv_pieces_bytes(std::int64_t pixels, std::int64_t channels);
// Whether conv() of fprop (bprop) leaves pieces of x (dy) where it is told to, and update takes what it has found made: a function of all but
// the addresses. Others ignore them.
NG_API bool conv_makes_pieces(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers,
                              const ConvOptions& options = {});

}  // namespace nervanagpu
