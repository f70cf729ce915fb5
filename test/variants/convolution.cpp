// A convolution drawn for one kernel: how it is launched, and random numbers through it beside the bound that the kernel states.
#include "test/variants/convolution.h"

#include <algorithm>
#include <map>

#include "kernels/conv/depthwise/depthwise.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/mapping.h"
#include "kernels/conv/sums/channel_sums.h"
#include "kernels/conv/tensor_cores.h"
#include "kernels/gemm/epilogue/relu_mask.h"
#include "src/ceil_div.h"
#include "src/device/select_device.h"
#include "test/gpu/bound.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/reference.h"
#include "test/kernels/bound.h"

namespace nervanagpu::variants {

using gpu_test::Buffer;
using gpu_test::Values;

std::size_t Convolution::workspace() const {
  switch (family) {
    case Family::depthwise: return conv_detail::depthwise::workspace(pass, p);
    case Family::tensor_cores: return conv_detail::tensor_cores::workspace(pass, p, forced);
    case Family::chains: break;
  }
  return conv_detail::partial_bytes(pass, p, forced);
}

std::int64_t Convolution::most_parts() const {
  return family == Family::tensor_cores ? conv_detail::tensor_cores::most_parts(pass, p, forced) : 0;
}

bool Convolution::queue(const ConvPointers& at, const conv_detail::Epilogue& e, std::int64_t* parts) const {
  conv_detail::tensor_cores::Made made = {false, 0};
  if (family == Family::depthwise) {
    conv_detail::depthwise::queue(current_device(), pass, p, at, e, 0, forced);
  } else if (family == Family::chains) {
    conv_detail::queue(current_device(), pass, p, at, e, 0, forced);
  } else if (conv_detail::tensor_cores::fits(pass, p, anywhere ? ConvPointers{} : at, e, forced)) {
    made = conv_detail::tensor_cores::queue(current_device(), pass, p, at, e, {}, forced);
  } else {
    return false;
  }
  if (e.mask != 0 && !made.masked) {
    Device& device = current_device();
    sgemm::mask_plan(device.registry(), conv_detail::masked_matrix(pass, p, at)).launch(device, 0);
  }
  if (e.sums.asked()) conv_detail::channel_sums::queue(current_device(), pass, p, at.out, e, 0, made.parts);
  if (parts != nullptr) *parts = made.parts;
  return true;
}

namespace {

// How a kernel cuts a sum: splits, and at most so many terms of each.
struct Cut {
  std::int64_t splits = 1, part = 1;
};

Cut cut_of(const Kernel& kernel, const Convolution& c) {
  constexpr std::int64_t kBlock = 64;
  const ConvProblem& p = c.p;
  if (c.family == Family::chains || kernel.manifest().op == "conv_if") {  // which has one part
    const std::int64_t forced = c.family == Family::chains ? c.forced.splits : 1;
    const conv_detail::Mapping mapping = conv_detail::map(c.pass, p, c.forced.limits, forced);
    Cut cut = {mapping.sum.splits, 1};
    for (const conv_detail::Launch& l : mapping.launches) cut.part = std::max(cut.part, std::min(l.k, l.kchunk));
    return cut;
  }
  // Block by block, with the zeros that fill blocks of channels, or of positions.
  const std::int64_t taps = p.filter[0] * p.filter[1] * p.filter[2];
  const std::int64_t channels = (c.pass == ConvPass::fprop ? p.c : p.k) / p.groups;
  const std::int64_t blocks =
      c.pass == ConvPass::update ? ceil_div(gpu_test::terms(c.pass, p), kBlock) : taps * ceil_div(channels, kBlock);
  const std::int64_t splits = std::max<std::int64_t>(c.forced.splits, 1);
  return {splits, ceil_div(blocks, splits) * kBlock};
}

}  // namespace

std::string beyond_bound(gpu_test::Random& random, const Kernel& kernel, const Convolution& c, double& of_bound) {
  constexpr double kLeast = 0x1p-149;        // a product of small numbers is rounded to a multiple of it
  constexpr std::int64_t kMostTerms = 4096;  // of sums whose bound is to be less than the mean of a term
  const gpu_test::ConvTypes types = gpu_test::types_of(c.pass, c.p);
  const std::string& text = kernel.manifest().bound;
  const std::int64_t terms = gpu_test::terms(c.pass, c.p);
  const Cut cut = cut_of(kernel, c);
  const auto bound = test::bound_of(text, {{"k", static_cast<double>(terms)},
                                           {"splits", static_cast<double>(cut.splits)},
                                           {"part", static_cast<double>(cut.part)},
                                           {"S", 1.0}});
  if (!bound) return "its .bound cannot be read: " + text;
  if (*bound == 0) return {};  // exact: integers have said so
  if (terms <= kMostTerms && !(*bound * static_cast<double>(terms) < 1)) {
    return "its .bound hides one of " + std::to_string(terms) + " terms";
  }

  const auto elements = [&](std::int64_t x, std::int64_t w, std::int64_t y) {
    return std::array{c.pass == ConvPass::fprop ? x : y, c.pass == ConvPass::update ? x : w,
                      c.pass == ConvPass::fprop   ? y
                      : c.pass == ConvPass::bprop ? x
                                                  : w};
  };
  const auto [of_in1, of_in2, of_out] = elements(c.p.x_elements(), c.p.w_elements(), c.p.y_elements());
  Values in1 = gpu_test::reals(random, of_in1, types.in1);
  const Values in2 = gpu_test::reals(random, of_in2, types.in2);
  const Values want = gpu_test::convolution(c.pass, c.p, in1, in2);
  Values most = gpu_test::convolution(c.pass, c.p, gpu_test::absolute(in1), gpu_test::absolute(in2));
  const double underflow = c.small == 1 ? 0 : static_cast<double>(terms) * kLeast / c.small;
  for (std::size_t i = 0; i < most.size(); ++i) {
    const double sum = *bound * most[i] + underflow;
    most[i] = sum + gpu_test::rounding_error(std::abs(want[i]) + sum, types.out);
  }

  for (double& v : in1) v *= c.small;
  const Buffer device_in1(in1, types.in1, c.shift1);
  const Buffer device_in2(in2, types.in2, c.shift2);
  const Buffer device_out = Buffer::poisoned(static_cast<std::size_t>(of_out) * size_of(types.out));
  const Buffer workspace = Buffer::poisoned(std::max<std::size_t>(c.workspace(), 16));
  ConvPointers at;
  at.in1 = device_in1.address(), at.in2 = device_in2.address(), at.out = device_out.address();
  at.workspace = workspace.address();
  conv_detail::Epilogue e;
  e.alpha = static_cast<float>(1 / c.small);
  if (!c.queue(at, e)) return {};
  const gpu_test::Distance d = gpu_test::distance(device_out.get(types.out), want, most);
  if (types.out == Dtype::float32) of_bound = d.worst;  // others are as far away as their rounding
  return d.out == 0 ? "" : "beyond .bound " + text + ": " + d.first;
}

}  // namespace nervanagpu::variants
