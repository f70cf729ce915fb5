// Convolutions of 16-bit floats, and fprop of bytes, on the tensor cores of sm_90a: launches of hconv.sass, of gconv.sass where few channels are
// gathered, and of products of windows where it cannot. Every sum has the order "tensor" of docs/numerics.md; its parts are a
// function of the problem alone.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "kernels/conv/costs.h"
#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "nervanagpu/stream.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::tensor_cores {

// The device has the kernels.
bool there(const Registry& registry);

// Types, channels and what the copy engine's maps can say. Other problems are left to conv.sass.
bool takes(ConvPass pass, const ConvProblem& p);
// Of a problem that takes() accepts: the operands begin where the copy engine can read, and this epilogue is possible.
bool fits(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
          const Forced& forced = {});

// By the models, of tensor cores where those take it, else of multiply-adds.
double microseconds(ConvPass pass, const ConvProblem& p);

// Bytes of copies and partial sums.
std::size_t workspace(ConvPass pass, const ConvProblem& p, const Forced& forced = {});

// Parts of sums of channels that its kernels may leave, at most.
std::int64_t most_parts(ConvPass pass, const ConvProblem& p, const Forced& forced = {});

// What a pass launches, in how many parts of its sums, and its microseconds by the model with any constants: benchmarks/conv_model/conv_fit.cpp.
struct Modelled {
  std::string kernel;  // but for types: "hconv_f_128x256x1"
  std::int64_t splits = 1;
  std::function<double(const Costs&)> microseconds;
};
std::vector<Modelled> modelled(ConvPass pass, const ConvProblem& p, const Forced& forced = {});

// What the kernels of a pass have done beside the result.
struct Made {
  bool masked = true;      // false: the epilogue's mask is left to relu_mask.sass
  std::int64_t parts = 0;  // of the sums of channels; 0: those are left to channel_sums.sass
};
// The whole pass, of any layout. The workspace is aligned to 16.
Made queue(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
           const Stream& stream, const Forced& forced = {});

}  // namespace nervanagpu::conv_detail::tensor_cores
