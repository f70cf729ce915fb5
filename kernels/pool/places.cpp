#include "kernels/pool/places.h"

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

constexpr std::size_t kPlace = sizeof(std::int64_t);

}  // namespace

void check_places(const PoolProblem& p, std::uint64_t argmax, std::uint64_t places) {
  check(p);
  check_argmax(p);
  const std::size_t multiple = kPlace * 8 / static_cast<std::size_t>(argmax_form(p).bits);
  if (argmax == 0) throw InvalidArgument("pool: argmax is 0; needs a device address");
  if (places == 0) throw InvalidArgument("pool: places is 0; needs a device address");
  if (places % multiple != 0) {
    throw InvalidArgument("pool: address of places is " + std::to_string(places) + "; needs a multiple of " +
                          std::to_string(multiple));
  }
}

void queue_places(Device& device, const PoolProblem& p, std::uint64_t argmax, std::uint64_t places, StreamId stream,
                  std::int64_t most) {
  check_places(p, argmax, places);
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
    throw InvalidArgument("pool: a plane of places has " + std::to_string(plane * codes) +
                          " elements; needs less than 2^31");
  }
  const Kernel* kernel = device.registry().find("pool_places_" + std::to_string(bits));
  if (kernel == nullptr) throw InvalidArgument("pool: no kernel pool_places for this device");
  for (std::int64_t at = 0; at < outer; at += most / plane) {
    const std::int64_t first = at * plane;
    const std::int64_t count = std::min(most / plane, outer - at) * plane;
    Values v;
    v.u64(argmax + static_cast<std::uint64_t>(first));
    v.u64(places + static_cast<std::uint64_t>(first * codes) * kPlace);
    v.u32(count).divisor(inner).divisor(out[3]).divisor(out[2]).divisor(out[1]);
    v.divisor(p.window[3]).divisor(p.window[2]);
    v.u32(p.stride[1]).u32(p.stride[2]).u32(p.stride[3]);
    v.s32(-p.pad[1]).s32(-p.pad[2]).s32(-p.pad[3]).u32(p.in[2]).u32(p.in[3]);
    const std::int64_t threads = kernel->manifest().threads;
    v.launch(device, *kernel, {static_cast<std::uint32_t>(ceil_div(count, threads))}, stream);
  }
}

}  // namespace pool_detail

void max_pool_places(const PoolProblem& p, std::uint64_t argmax, std::uint64_t places, const Stream& stream) {
  pool_detail::places_planned(current_device(), p, argmax, places, stream.handle());
}

void max_pool_places(const PoolProblem& p, const Tensor& argmax, Tensor& places, const Stream& stream) {
  const Placed placed("pool", {{"argmax", argmax}, {"places", places}, {"stream", stream}});
  const Shape bytes = {pool_argmax_bytes(p)};
  if (argmax.dtype() != Dtype::uint8 || argmax.shape() != bytes || !argmax.contiguous()) {
    throw InvalidArgument("pool: argmax is " + std::string(name_of(argmax.dtype())) + " " + text_of(argmax.shape()) +
                          "; needs contiguous uint8 " + text_of(bytes));
  }
  const std::int64_t count = p.n * pool_detail::volume(p.out());
  if (places.dtype() != Dtype::int64 || places.size() != count || !places.contiguous()) {
    throw InvalidArgument("pool: places is " + std::string(name_of(places.dtype())) + " " + text_of(places.shape()) +
                          "; needs contiguous int64, " + std::to_string(count) + " of them");
  }
  max_pool_places(p, argmax.address(), places.address(), stream);
  argmax.used_on(stream);
  places.used_on(stream);
}

}  // namespace nervanagpu
