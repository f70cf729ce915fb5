// Convolution on device addresses: what is checked, and the way of channels_first through another layout.
#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/conv/arena.h"
#include "kernels/conv/depthwise/depthwise.h"
#include "kernels/conv/implicit/byte_results.h"
#include "kernels/conv/launch.h"
#include "kernels/conv/pieces/two_pieces.h"
#include "kernels/conv/plan_cache.h"
#include "kernels/conv/problem.h"
#include "kernels/conv/problem_facts.h"
#include "kernels/conv/product.h"
#include "kernels/conv/strided/by_cells.h"
#include "kernels/conv/sums/channel_sums.h"
#include "kernels/conv/tensor_cores.h"
#include "kernels/gemm/epilogue/activation.h"
#include "kernels/gemm/epilogue/relu_mask.h"
#include "kernels/gemm/epilogue/results.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/autotune.hpp"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/device/select_device.h"
#include "src/launch/check_apart.h"
#include "src/launch/launch_tape.h"

namespace nervanagpu {
namespace conv_detail {
namespace {

void check_address(const std::string& name, std::uint64_t address, std::size_t multiple) {
  if (address == 0) throw InvalidArgument("conv: " + name + " is 0; needs a device address");
  if (address % multiple != 0) {
    throw InvalidArgument("conv: address of " + name + " is " + std::to_string(address) + "; needs a multiple of " +
                          std::to_string(multiple));
  }
}

void check_integer(const char* name, float v) {
  if (!(std::floor(v) == v && v >= -2147483648.0F && v < 2147483648.0F)) {
    throw InvalidArgument(std::string("conv: ") + name + " is " + std::to_string(v) +
                          "; an int32 result needs an integer of 32 bits");
  }
}

// conv.sass has no kernels for it as it is.
bool needs_copies(const ConvProblem& p) {
  return p.layout == Layout::channels_first || p.w_type == Dtype::bfloat16;
}

// Stochastic rounding counts the elements of a result, not what lies between its pixels: the last copy's work.
bool needs_copies(ConvPass pass, const ConvProblem& p, const Rounding& rounding) {
  return needs_copies(p) || (rounding.stochastic && apart(p, roles_of(pass).out));
}

// The problem in the layout and types that the kernels have; float32 throughout if `wide`.
ConvProblem relayout(const ConvProblem& p, bool wide) {
  ConvProblem q = p;
  q.layout = Layout::channels_last;
  q.x_pitch = q.y_pitch = 0;
  for (Dtype* t : {&q.x_type, &q.w_type, &q.y_type}) {
    if (*t == Dtype::bfloat16 || (wide && *t == Dtype::float16)) *t = Dtype::float32;
  }
  return q;
}

std::size_t copy_bytes(const ConvProblem& p, Role role) {
  const Dtype type = type_of(p, role);
  const std::size_t width = sgemm::half(type) ? 4 : size_of(type);
  return aligned(static_cast<std::size_t>(elements_of(p, role)) * width);
}

// Of a bfloat16 bias as float32.
std::size_t bias_bytes(const ConvProblem& p) {
  return p.y_type == Dtype::bfloat16 ? aligned(static_cast<std::size_t>(p.k) * sizeof(float)) : 0;
}

// A tensor as it is, and with channels last in the types that the kernels have.
struct Views {
  Tensor outer, inner;
};

Views views(const ConvProblem& p, const ConvProblem& inner, Role role, std::uint64_t outside, std::uint64_t inside) {
  const Shape shape = shape_of(p, role);
  return {Tensor::wrap(outside, shape, laid_out(p, role).strides, type_of(p, role)),
          Tensor::wrap(inside, shape, as_laid_out(Layout::channels_last, shape).strides, type_of(inner, role))};
}

// Through copies in the workspace. Stochastic rounding is left to the last copy: it counts the elements of the result as
// they lie there.
void queue_copied(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers,
                  const Epilogue& epilogue, const Stream& stream) {
  const bool wide = epilogue.rounding.stochastic;
  const ConvProblem inner = relayout(p, wide);
  const Roles roles = roles_of(pass);
  ConvPointers q = pointers;
  q.in1 = pointers.workspace;
  q.in2 = q.in1 + copy_bytes(p, roles.in1);
  q.out = q.in2 + copy_bytes(p, roles.in2);
  q.workspace = q.out + copy_bytes(p, roles.out);
  if (pointers.bias != 0 && pointers.bias_type == Dtype::bfloat16) {
    q.bias = q.workspace;
    q.bias_type = Dtype::float32;
    q.workspace += bias_bytes(p);
    Tensor wide_bias = Tensor::wrap(q.bias, {p.k}, {1}, q.bias_type);
    convert(Tensor::wrap(pointers.bias, {p.k}, {1}, pointers.bias_type), wide_bias, {}, stream);
  }
  Views in1 = views(p, inner, roles.in1, pointers.in1, q.in1);
  Views in2 = views(p, inner, roles.in2, pointers.in2, q.in2);
  Views out = views(p, inner, roles.out, pointers.out, q.out);
  convert(in1.outer, in1.inner, {}, stream);
  convert(in2.outer, in2.inner, {}, stream);
  if (epilogue.beta != 0.0F) convert(out.outer, out.inner, {}, stream);
  Epilogue exact = epilogue;
  exact.rounding = {};
  if (depthwise::takes(pass, inner)) {
    depthwise::queue(device, pass, inner, q, exact, stream.handle());
  } else {
    queue(device, pass, inner, q, exact, stream.handle());
  }
  convert(out.inner, out.outer, epilogue.rounding, stream);
}

void check_mask(ConvPass pass, Dtype out, const ConvPointers& pointers, const ConvOptions& options) {
  const bool relu = options.relu || options.activation == GemmActivation::relu;
  if (pass == ConvPass::update || (pass == ConvPass::fprop && !relu)) {
    throw InvalidArgument("conv: mask is given; needs fprop with relu, which writes it, or bprop, which applies it");
  }
  if (out != Dtype::float32 && !sgemm::half(out)) {
    throw TypeError("conv: mask is given but the result has dtype " + std::string(nervanagpu::name_of(out)) +
                    "; needs float32, float16 or bfloat16");
  }
  check_address("mask", pointers.mask, 4);
}

void check_function(ConvPass pass, const ConvProblem& p, const ConvOptions& options) {
  if (options.activation == GemmActivation::none) return;
  if (options.activation == GemmActivation::drelu) {
    throw InvalidArgument("conv: activation is drelu; needs one of a forward pass (a bprop takes a mask)");
  }
  if (pass != ConvPass::fprop) throw InvalidArgument("conv: activation is for fprop alone");
  sgemm::check_activation("conv", {options.activation, options.relu, p.y_type, options.clip_low, options.clip_high});
}

}  // namespace

GemmProblem masked_matrix(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers) {
  const Role role = roles_of(pass).out;
  GemmProblem g;
  g.c = pointers.out;
  g.c_type = type_of(p, role);
  g.n = last_length(p, role);
  g.ldc = p.layout == Layout::channels_last ? pitch_of(p, role) : g.n;
  g.m = elements_of(p, role) / g.n;
  g.mask = pointers.mask;
  g.ld_mask = pointers.mask_pitch != 0 ? pointers.mask_pitch : sgemm::words_of_mask(g.n);
  if (g.ld_mask < sgemm::words_of_mask(g.n)) {
    throw InvalidArgument("conv: mask_pitch is " + std::to_string(g.ld_mask) + "; needs 0, or the words of a row, " +
                          std::to_string(sgemm::words_of_mask(g.n)) + ", or more");
  }
  g.relu = pass == ConvPass::fprop;
  if (!g.relu) g.activation = GemmActivation::drelu;
  sgemm::check_mask(g);
  return g;
}

void check_operands(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers) {
  const Roles roles = roles_of(pass);
  check_address(name_of(pass, roles.in1), pointers.in1, size_of(type_of(p, roles.in1)));
  check_address(name_of(pass, roles.in2), pointers.in2, size_of(type_of(p, roles.in2)));
  check_address(name_of(pass, roles.out), pointers.out, size_of(type_of(p, roles.out)));
  check_apart("conv", name_of(pass, roles.out), pointers.out,
              {{name_of(pass, roles.in1), pointers.in1}, {name_of(pass, roles.in2), pointers.in2}});
}

Epilogue epilogue_of(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const ConvOptions& options) {
  const Dtype out_type = type_of(p, roles_of(pass).out);
  const bool integer = out_type == Dtype::int32;
  if (pass != ConvPass::fprop && (pointers.bias != 0 || options.relu)) {
    throw InvalidArgument(std::string("conv: ") + (options.relu ? "relu" : "bias") + " is for fprop alone");
  }
  if (pointers.bias != 0) {
    if (!sgemm::takes_bias(out_type, pointers.bias_type)) {
      throw TypeError("conv: bias is " + std::string(nervanagpu::name_of(pointers.bias_type)) + "; needs " +
                      sgemm::biases_of(out_type));
    }
    check_address("bias", pointers.bias, size_of(pointers.bias_type));
  }
  check_function(pass, p, options);
  if (pointers.scale != 0) {
    if (!byte_results::asked(p)) {
      throw InvalidArgument("conv: scale is given but y is " + std::string(nervanagpu::name_of(p.y_type)) + " of x " +
                            std::string(nervanagpu::name_of(p.x_type)) +
                            "; needs fprop of bytes with a float32 or int8 y");
    }
    check_address("scale", pointers.scale, sizeof(float));
  }
  Epilogue e;
  e.alpha = options.alpha;
  e.beta = options.beta;
  e.relu = options.relu || options.activation == GemmActivation::relu;
  if (options.activation != GemmActivation::relu) e.activation = options.activation;
  e.clip_low = options.clip_low, e.clip_high = options.clip_high;
  e.scale = pointers.scale;
  e.bias_f16 = pointers.bias_type == Dtype::float16;
  e.rounding = options.rounding;
  if (integer) {
    check_integer("alpha", e.alpha);
    check_integer("beta", e.beta);
    e.rounding = {};
  }
  const int most = most_bits(out_type);
  if (e.rounding.stochastic && (e.rounding.bits < 0 || e.rounding.bits > most)) {
    throw InvalidArgument("conv: rounding bits is " + std::to_string(e.rounding.bits) + "; needs 1 to " +
                          std::to_string(most) + ", or 0 for " + std::to_string(most));
  }
  channel_sums::check(pass, p, pointers);
  if ((pointers.channel_sum | pointers.channel_sum_squares) != 0) {
    const Known what = known(pass, p);
    e.sums = {pointers.channel_sum, pointers.channel_sum_squares, pointers.workspace + aligned(what.workspace),
              what.sum_parts};
  }
  if (pointers.mask != 0) {
    check_mask(pass, out_type, pointers, options);
    e.mask = pointers.mask;
    e.ld_mask = masked_matrix(pass, p, pointers).ld_mask;
  }
  return e;
}

namespace {

bool makes_pieces(const Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers,
                  const Epilogue& e, bool on_tensor_cores) {
  if (!on_tensor_cores || !known(pass, p).in_two_pieces || !tensor_cores::there(device.registry())) return false;
  if (!tensor_cores::fits(pass, p, pointers, e) || product::of_float32(pass, p, e)) return false;
  const auto shares = [&](Role role) { return two_pieces::can_share(pass, p, role, e); };
  return pass == ConvPass::fprop   ? shares(Role::x)
         : pass == ConvPass::bprop ? shares(Role::y)
                                   : shares(Role::x) || shares(Role::y);
}

// The kernels for a call that was checked.
void queue_pass(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& given, const Epilogue& e,
                bool on_tensor_cores, const Stream& stream) {
  const Known what = known(pass, p);
  ConvPointers pointers = given;
  const bool pieces = (given.x_pieces.address | given.y_pieces.address) != 0;
  if (pieces && !makes_pieces(device, pass, p, given, e, on_tensor_cores)) pointers.x_pieces = pointers.y_pieces = {};
  sgemm::MaskPlan mask;  // where no kernel makes or applies the bits
  if (pointers.mask != 0) mask = sgemm::mask_plan(device.registry(), masked_matrix(pass, p, pointers));
  const bool there = on_tensor_cores && tensor_cores::there(device.registry());
  const auto cells = what.by_cells ? by_cells::cells_of(pass, p) : std::nullopt;
  tensor_cores::Made made = {false, 0};
  if (cells && by_cells::fits(*cells, p, pointers, e, there)) {
    const auto inner = [&](ConvPass of_pass, const ConvProblem& of_cells, const ConvPointers& at) {
      Epilogue own = e;
      own.mask = 0;  // after the copy
      own.sums = {};
      queue_pass(device, of_pass, of_cells, at, own, on_tensor_cores, stream);
    };
    by_cells::queue(device, *cells, p, pointers, e, inner, stream);
  } else if (what.depthwise && depthwise::fits(pass, p, e)) {
    depthwise::queue(device, pass, p, pointers, e, stream.handle());
  } else if (there && what.on_tensor_cores && tensor_cores::fits(pass, p, pointers, e)) {
    made = tensor_cores::queue(device, pass, p, pointers, e, stream);
  } else if (byte_results::asked(p)) {
    const auto inner = [&](const ConvProblem& sums, const ConvPointers& at) {
      queue_pass(device, pass, sums, at, {}, on_tensor_cores, stream);
    };
    byte_results::queue(device, p, pointers, e, inner, stream);
  } else if (needs_copies(pass, p, e.rounding)) {
    queue_copied(device, pass, p, pointers, e, stream);
  } else {
    queue(device, pass, p, pointers, e, stream.handle());
  }
  if (!made.masked && pointers.mask != 0) mask.launch(device, stream.handle());
  if (e.sums.asked()) channel_sums::queue(device, pass, p, pointers.out, e, stream.handle(), made.parts);
}

}  // namespace

std::size_t plain_workspace(ConvPass pass, const ConvProblem& p) {
  const std::size_t plain = needs_copies(p) ? 0 : partial_bytes(pass, p);
  if (!needs_copies(pass, p, {.stochastic = true})) return plain;
  std::size_t sums = 0;
  for (const bool wide : {false, true}) {
    const ConvProblem inner = relayout(p, wide);
    sums = std::max(sums, partial_bytes(pass, inner));
    if (depthwise::takes(pass, inner)) sums = std::max(sums, depthwise::workspace(pass, inner));
  }
  std::size_t bytes = sums + bias_bytes(p);
  for (const Role role : {Role::x, Role::w, Role::y}) bytes += copy_bytes(p, role);
  return std::max(plain, bytes);
}

}  // namespace conv_detail

std::size_t conv_workspace(ConvPass pass, const ConvProblem& p, bool channel_sums) {
  using namespace conv_detail;
  const Known what = known(pass, p);
  if (!channel_sums || pass == ConvPass::update) return what.workspace;
  return aligned(what.workspace) + channel_sums::workspace(pass, p, what.sum_parts);
}

std::size_t conv_pieces_bytes(std::int64_t pixels, std::int64_t channels) {
  return conv_detail::aligned(static_cast<std::size_t>(conv_detail::two_pieces::shared_bytes(pixels, channels)));
}

bool conv_makes_pieces(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const ConvOptions& options) {
  using namespace conv_detail;
  if (!known(pass, p).in_two_pieces) return false;
  return makes_pieces(current_device(), pass, p, pointers, epilogue_of(pass, p, pointers, options),
                      options.tensor_cores);
}

void conv(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const ConvOptions& options) {
  using namespace conv_detail;
  const std::size_t workspace = conv_workspace(pass, p, (pointers.channel_sum | pointers.channel_sum_squares) != 0);
  check_operands(pass, p, pointers);
  if (workspace > 0) check_address("workspace", pointers.workspace, 16);
  if (pointers.x_pieces.address != 0) check_address("x_pieces", pointers.x_pieces.address, 16);
  if (pointers.y_pieces.address != 0) check_address("y_pieces", pointers.y_pieces.address, 16);
  const Epilogue e = epilogue_of(pass, p, pointers, options);
  Device& device = current_device();
  // Products of windows may be measured, but not where launches are recorded.
  if (LaunchTape::current() != nullptr || autotune()) {
    return queue_pass(device, pass, p, pointers, e, options.tensor_cores, options.stream);
  }
  const auto plan =
      kept(device, form_of(device, pass, p, pointers, e, options.tensor_cores), [&](std::span<const std::uint64_t> at) {
        ConvPointers moved = pointers;
        Epilogue own = e;
        moved.in1 = at[kIn1], moved.in2 = at[kIn2], moved.out = at[kOut];
        moved.bias = at[kBias], moved.mask = own.mask = at[kMask], moved.scale = own.scale = at[kScale];
        moved.workspace = at[kWorkspace];
        moved.x_pieces.address = at[kXPieces], moved.y_pieces.address = at[kYPieces];
        own.sums = {at[kSum], at[kSquares], at[kWorkspace] + (e.sums.parts - pointers.workspace), e.sums.most_parts};
        own.rounding.seed = at[kSeed], own.rounding.offset = at[kOffset];
        queue_pass(device, pass, p, moved, own, options.tensor_cores, {});
      });
  if (plan == nullptr) return queue_pass(device, pass, p, pointers, e, options.tensor_cores, options.stream);
  plan->launch(operands_of(pointers, e.rounding), options.stream.handle());
}

}  // namespace nervanagpu
