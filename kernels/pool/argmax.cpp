#include "kernels/pool/argmax.h"

#include <string>

#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"

namespace nervanagpu {
namespace pool_detail {
namespace {

constexpr std::int64_t kMostOf4Bits = 15;  // the sixteenth code is "none"
constexpr std::int64_t kMostOf8Bits = 255;

}  // namespace

void check_argmax(const PoolProblem& p) {
  if (p.op != PoolOp::max) throw InvalidArgument("pool: argmax is given; needs op max");
  if (p.window[0] != 1 || p.stride[0] != 1) {
    throw InvalidArgument("pool: argmax is given with a window of " + std::to_string(p.window[0]) +
                          " feature maps and a stride of " + std::to_string(p.stride[0]) + "; needs 1 and 1");
  }
  if (positions(p) > kMostOf8Bits) {
    throw InvalidArgument("pool: argmax is given with a window of " + std::to_string(positions(p)) +
                          " positions; needs at most " + std::to_string(kMostOf8Bits));
  }
}

ArgmaxForm argmax_form(const PoolProblem& p) {
  const int v = size_of(p.dtype) == 2 ? 8 : 4;
  const std::int64_t inner = p.layout == Layout::channels_last ? p.in[0] : p.n;
  if (p.layout == Layout::channels_first || inner % v != 0 || positions(p) > kMostOf4Bits) return {};
  return {v, 4};
}

Alignments alignments_of(const PoolProblem& p, bool argmax) {
  Alignments out = {size_of(p.dtype), 1};
  if (!argmax) return out;
  check_argmax(p);
  const ArgmaxForm form = argmax_form(p);
  if (apart(p) && p.x_pitch % form.elements != 0) {
    throw InvalidArgument("pool: x_pitch is " + std::to_string(p.x_pitch) + " and argmax has " +
                          std::to_string(form.bits) + " bits a window; needs a multiple of " +
                          std::to_string(form.elements));
  }
  out.tensors *= static_cast<std::size_t>(form.elements);
  out.argmax = static_cast<std::size_t>(form.elements * form.bits / 8);
  return out;
}

}  // namespace pool_detail

std::int64_t pool_argmax_bytes(const PoolProblem& p) {
  pool_detail::check(p);
  pool_detail::check_argmax(p);
  return p.n * pool_detail::volume(p.out()) * pool_detail::argmax_form(p).bits / 8;
}

}  // namespace nervanagpu
