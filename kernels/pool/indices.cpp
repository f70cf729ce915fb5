#include "kernels/pool/indices.h"

#include <algorithm>
#include <string>

#include "kernels/pool/argmax.h"
#include "kernels/pool/plan_cache.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/device/placement.h"
#include "src/device/select_device.h"
#include "src/launch/values.h"
#include "src/tensor/shape.h"

namespace nervanagpu {
namespace pool_detail {
namespace {

constexpr std::size_t kIndex = sizeof(std::int64_t);

}  // namespace

void check_indices(const PoolProblem& p, std::uint64_t argmax, std::uint64_t indices) {
  check(p);
  check_argmax(p);
  const std::size_t multiple = kIndex * 8 / static_cast<std::size_t>(argmax_form(p).bits);
  if (argmax == 0) throw InvalidArgument("pool: argmax is 0; needs a device address");
  if (indices == 0) throw InvalidArgument("pool: indices is 0; needs a device address");
  if (indices % multiple != 0) {
    throw InvalidArgument("pool: address of indices is " + std::to_string(indices) + "; needs a multiple of " +
                          std::to_string(multiple));
  }
}

void queue_indices(Device& device, const PoolProblem& p, std::uint64_t argmax, std::uint64_t indices, StreamId stream,
                   std::int64_t most) {
  check_indices(p, argmax, indices);
  const std::int64_t bits = argmax_form(p).bits;
  const std::int64_t codes = 8 / bits;  // of a byte, which a thread takes
  const Quad out = p.out();
  const std::int64_t inner = (p.layout == Layout::channels_last ? out[0]
                              : p.layout == Layout::batch_last  ? p.n
                                                                : 1) /
                             codes;
  const std::int64_t plane = inner * out[1] * out[2] * out[3];
  const std::int64_t outer = p.n * volume(out) / codes / plane;
  if (plane > most) {
    throw InvalidArgument("pool: a plane of indices has " + std::to_string(plane * codes) +
                          " elements; needs less than 2^31");
  }
  const Kernel* kernel = device.registry().find("pool_indices_" + std::to_string(bits));
  if (kernel == nullptr) throw InvalidArgument("pool: no kernel pool_indices for this device");
  for (std::int64_t at = 0; at < outer; at += most / plane) {
    const std::int64_t first = at * plane;
    const std::int64_t count = std::min(most / plane, outer - at) * plane;
    Values v;
    v.u64(argmax + static_cast<std::uint64_t>(first));
    v.u64(indices + static_cast<std::uint64_t>(first * codes) * kIndex);
    v.u32(count).divisor(inner).divisor(out[3]).divisor(out[2]).divisor(out[1]);
    v.divisor(p.window[3]).divisor(p.window[2]);
    v.u32(p.stride[1]).u32(p.stride[2]).u32(p.stride[3]);
    v.s32(-p.pad[1]).s32(-p.pad[2]).s32(-p.pad[3]).u32(p.in[2]).u32(p.in[3]);
    const std::int64_t threads = kernel->manifest().threads;
    v.launch(device, *kernel, {static_cast<std::uint32_t>(ceil_div(count, threads))}, stream);
  }
}

}  // namespace pool_detail

void max_pool_indices(const PoolProblem& p, std::uint64_t argmax, std::uint64_t indices, const Stream& stream) {
  pool_detail::indices_planned(current_device(), p, argmax, indices, stream.handle());
}

void max_pool_indices(const PoolProblem& p, const Tensor& argmax, Tensor& indices, const Stream& stream) {
  const Placed placed("pool", {{"argmax", argmax}, {"indices", indices}, {"stream", stream}});
  const Shape bytes = {pool_argmax_bytes(p)};
  if (argmax.dtype() != Dtype::uint8 || argmax.shape() != bytes || !argmax.contiguous()) {
    throw InvalidArgument("pool: argmax is " + std::string(name_of(argmax.dtype())) + " " + text_of(argmax.shape()) +
                          "; needs contiguous uint8 " + text_of(bytes));
  }
  const std::int64_t count = p.n * pool_detail::volume(p.out());
  if (indices.dtype() != Dtype::int64 || indices.size() != count || !indices.contiguous()) {
    throw InvalidArgument("pool: indices is " + std::string(name_of(indices.dtype())) + " " + text_of(indices.shape()) +
                          "; needs contiguous int64, " + std::to_string(count) + " of them");
  }
  max_pool_indices(p, argmax.address(), indices.address(), stream);
  argmax.used_on(stream);
  indices.used_on(stream);
}

}  // namespace nervanagpu
