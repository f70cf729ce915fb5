// Convolutions of small integers, whose results are exact: every bit is compared.
#include <algorithm>

#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/exact.h"
#include "test/gpu/reference.h"

namespace nervanagpu::gpu_test {
namespace {

void choose_types(Random& random, ConvPass pass, ConvProblem& p) {
  constexpr Dtype kBytes[] = {Dtype::int8, Dtype::uint8};
  constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float16};
  p.x_type = p.w_type = p.y_type = choose(random, kFloats);
  if (pass == ConvPass::bprop) return;
  if (pick(random, 0, 2) == 0) p.x_type = choose(random, kBytes);  // a first layer
  if (pass == ConvPass::fprop && pick(random, 0, 3) == 0) {
    p.x_type = choose(random, kBytes);
    p.w_type = Dtype::int8;
    p.y_type = Dtype::int32;
  }
}

// The channel of element i of y.
std::int64_t channel_of(const ConvProblem& p, std::int64_t i) {
  const auto out = p.out();
  const std::int64_t places = out[0] * out[1] * out[2];
  switch (p.layout) {
    case Layout::channels_last: return i % p.k;
    case Layout::batch_last: return i / (places * p.n);
    default: return i / places % p.k;
  }
}

}  // namespace

Verdict exact_conv(std::uint64_t number) {
  Random random(number * 2 + 1);
  constexpr ConvPass kPasses[] = {ConvPass::fprop, ConvPass::bprop, ConvPass::update};
  const ConvPass pass = kPasses[number % 3];
  ConvProblem p = random_conv(random, 4e5);
  choose_types(random, pass, p);
  const ConvTypes types = types_of(pass, p);
  const std::int64_t sizes[] = {p.x_elements(), p.w_elements(), p.y_elements()};
  const std::int64_t of_in1 = pass == ConvPass::fprop ? sizes[0] : sizes[2];
  const std::int64_t of_in2 = pass == ConvPass::update ? sizes[0] : sizes[1];
  const std::int64_t of_out = pass == ConvPass::fprop ? sizes[2] : (pass == ConvPass::bprop ? sizes[0] : sizes[1]);
  const auto range = [](Dtype t) { return t == Dtype::int8 || t == Dtype::uint8 ? 0 : 4; };
  const auto shift = [&](Dtype t) { return pick(random, 0, 3) == 0 ? size_of(t) : 0; };

  const Values in1 = integers(random, of_in1, range(types.in1), types.in1);
  const Values in2 = integers(random, of_in2, range(types.in2), types.in2);
  const Values old = integers(random, of_out, 9, types.out);
  ConvOptions options;
  constexpr float kScales[] = {1, 1, 1, 2, -1};
  options.alpha = choose(random, kScales);
  options.beta = pick(random, 0, 1) == 0 ? 0.0F : choose(random, kScales);
  options.relu = pass == ConvPass::fprop && pick(random, 0, 1) == 1;
  const bool has_bias = pass == ConvPass::fprop && pick(random, 0, 1) == 1;
  ConvPointers pointers;
  pointers.bias_type = types.out != Dtype::int32 && pick(random, 0, 1) == 1 ? Dtype::float32 : types.out;
  const Values bias = integers(random, p.k, 9, pointers.bias_type);

  Values want = convolution(pass, p, in1, in2);
  for (std::int64_t i = 0; i < of_out; ++i) {
    double& v = want[static_cast<std::size_t>(i)];
    v *= options.alpha;
    if (options.beta != 0) v += options.beta * old[static_cast<std::size_t>(i)];
    if (has_bias) v += bias[static_cast<std::size_t>(channel_of(p, i))];
    if (options.relu) v = std::max(v, 0.0);
  }

  const Buffer device_in1(in1, types.in1, shift(types.in1));
  const Buffer device_in2(in2, types.in2, shift(types.in2));
  const Buffer device_bias(bias, pointers.bias_type, shift(pointers.bias_type));
  const std::size_t out_shift = shift(types.out);
  const Buffer device_out = options.beta != 0
                                ? Buffer(old, types.out, out_shift)
                                : Buffer::poisoned(static_cast<std::size_t>(of_out) * size_of(types.out), out_shift);
  const Buffer workspace = Buffer::poisoned(conv_workspace(pass, p));
  pointers.in1 = device_in1.address();
  pointers.in2 = device_in2.address();
  pointers.out = device_out.address();
  pointers.bias = has_bias ? device_bias.address() : 0;
  pointers.workspace = workspace.address();
  conv(pass, p, pointers, options);

  Verdict out;
  out.key = {"conv", type_name(p), name_of(pass), "exact"};
  out.elements = of_out;
  out.wrong = difference(device_out, encode(want, types.out), types.out);
  static_cast<void>(workspace.get());
  if (out.wrong.empty() && !workspace.guards().empty()) out.wrong = "workspace " + workspace.guards();
  if (!out.wrong.empty()) {
    out.wrong = "problem " + std::to_string(number) + ", " + name_of(pass) + " of " + text_of(p) + " alpha " +
                std::to_string(options.alpha) + " beta " + std::to_string(options.beta) + (has_bias ? " bias " : " ") +
                (options.relu ? "relu: " : ": ") + out.wrong;
  }
  return out;
}

}  // namespace nervanagpu::gpu_test
