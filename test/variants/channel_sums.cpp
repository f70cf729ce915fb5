// Every kernel of sums of channels: of integers, in a result that nobody has computed.
#include "kernels/conv/sums/channel_sums.h"

#include <string>

#include "kernels/conv/problem.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "src/device/select_device.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/variants/other.h"

namespace nervanagpu::variants {

using gpu_test::Buffer;
using gpu_test::pick;
using gpu_test::Values;

namespace {

// A result that the kernel is for. channel_sums_end: any.
ConvProblem draw_result(Random& random, const Kernel& kernel) {
  const std::string& op = kernel.manifest().op;
  const auto& variant = kernel.manifest().variant;
  ConvProblem p;
  const bool last = op == "channel_sums" || (op == "channel_sums_end" && pick(random, 0, 1) == 0);
  p.layout = last ? Layout::channels_last : pick(random, 0, 1) == 0 ? Layout::batch_last : Layout::channels_first;
  const std::string type = variant.contains("T") ? variant.at("T") : "f32";
  p.x_type = p.w_type = p.y_type = type == "f32" ? Dtype::float32 : type == "f16" ? Dtype::float16 : Dtype::bfloat16;
  p.n = pick(random, 1, 9);
  p.in = {1, pick(random, 1, 40), pick(random, 1, 40)};
  p.k = pick(random, 1, 90);
  if (op != "channel_sums") return p;
  const auto unit = static_cast<std::int64_t>(16 / size_of(p.y_type));
  const bool wide = variant.at("WIDE") == "1";
  p.k = p.k / unit * unit + (wide ? unit : pick(random, 1, unit - 1));
  if (pick(random, 0, 1) == 1) p.y_pitch = p.k + (wide ? unit : 1) * pick(random, 1, 5);
  return p;
}

}  // namespace

Outcome channel_sums(Random& random, const Kernel& kernel, const Limits& /*limits*/) {
  const ConvProblem p = draw_result(random, kernel);
  const auto y = conv_detail::laid_out(p, conv_detail::Role::y);  // (n, depth, height, width, channels)
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < y.shape.size(); ++i) elements += (y.shape[i] - 1) * y.strides[i];
  const Values content = gpu_test::integers(random, elements, 5, p.y_type);
  Values sum(static_cast<std::size_t>(p.k)), squares(static_cast<std::size_t>(p.k));
  for (std::int64_t n = 0; n < p.n; ++n) {
    for (std::int64_t h = 0; h < p.in[1]; ++h) {
      for (std::int64_t w = 0; w < p.in[2]; ++w) {
        for (std::int64_t k = 0; k < p.k; ++k) {
          const double v = content[static_cast<std::size_t>(n * y.strides[0] + h * y.strides[2] + w * y.strides[3] +
                                                            k * y.strides[4])];
          sum[static_cast<std::size_t>(k)] += v;
          squares[static_cast<std::size_t>(k)] += v * v;
        }
      }
    }
  }
  const Buffer result(content, p.y_type);
  const std::size_t bytes = static_cast<std::size_t>(p.k) * sizeof(float);
  const Buffer to = Buffer::poisoned(bytes), to_squares = Buffer::poisoned(bytes);
  const Buffer parts = Buffer::poisoned(conv_detail::channel_sums::workspace(ConvPass::fprop, p, 0));
  const int which = static_cast<int>(pick(random, 1, 3));
  conv_detail::Epilogue e;
  e.sums = {(which & 1) != 0 ? to.address() : 0, (which & 2) != 0 ? to_squares.address() : 0, parts.address()};
  conv_detail::channel_sums::queue(current_device(), ConvPass::fprop, p, result.address(), e, 0, 0);
  Outcome out;
  out.elements = elements;
  out.problem = "sums of channels of y of " + gpu_test::text_of(p) + ", " + std::to_string(which);
  out.features = {std::string(nervanagpu::name_of(p.y_type)) + " result"};
  if ((which & 1) != 0) out.wrong = gpu_test::difference(to, gpu_test::encode(sum, Dtype::float32), Dtype::float32);
  if ((which & 2) != 0 && out.wrong.empty()) {
    out.wrong = gpu_test::difference(to_squares, gpu_test::encode(squares, Dtype::float32), Dtype::float32);
    out.features.emplace_back("squares");
  }
  static_cast<void>(parts.get());
  if (out.wrong.empty() && !parts.guards().empty()) out.wrong = "the parts " + parts.guards();
  return out;
}

}  // namespace nervanagpu::variants
