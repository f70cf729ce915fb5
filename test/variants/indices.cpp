// pool_indices.sass: the elements that random codes of random poolings mean.
#include <algorithm>
#include <cstring>

#include "kernels/pool/argmax.h"
#include "kernels/pool/indices.h"
#include "src/device/select_device.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/variants/other.h"

namespace nervanagpu::variants {
namespace {

using gpu_test::Buffer;
using gpu_test::Bytes;
using gpu_test::pick;

PoolProblem draw(Random& random, int bits) {
  for (;;) {
    PoolProblem p = gpu_test::random_pool(random, 1e5, true);
    p.op = PoolOp::max;
    p.window[0] = p.stride[0] = 1, p.pad[0] = 0;
    if (bits == 4) {
      if (p.layout == Layout::batch_last) p.n = (p.n + 7) / 8 * 8;
      if (p.layout == Layout::channels_last) p.in[0] = (p.in[0] + 7) / 8 * 8;
    }
    if (pool_detail::positions(p) <= 255 && pool_detail::argmax_form(p).bits == bits) return p;
  }
}

}  // namespace

Outcome indices(Random& random, const Kernel& kernel, const Limits& /*limits*/) {
  const int bits = kernel.number("CODE");
  const PoolProblem p = draw(random, bits);
  const auto y = p.out();
  const std::int64_t inner = p.layout == Layout::channels_last ? y[0] : p.layout == Layout::batch_last ? p.n : 1;
  const std::int64_t count = p.n * pool_detail::volume(y);
  Bytes codes(static_cast<std::size_t>(count * bits / 8));
  std::vector<std::int64_t> want;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t code = pick(random, 0, pool_detail::positions(p) - 1);
    auto& byte = codes[static_cast<std::size_t>(i * bits / 8)];
    byte = static_cast<std::uint8_t>(byte | code << i * bits % 8);
    // In memory `inner` is nearest, then width, height and depth.
    const std::int64_t place = i / inner;
    const std::int64_t from_w = place % y[3] * p.stride[3] - p.pad[3] + code % p.window[3];
    const std::int64_t from_h = place / y[3] % y[2] * p.stride[2] - p.pad[2] + code / p.window[3] % p.window[2];
    const std::int64_t from_d = place / y[3] / y[2] % y[1] * p.stride[1] - p.pad[1] + code / p.window[3] / p.window[2];
    const auto at = [](std::int64_t from) { return std::max<std::int64_t>(from, 0); };
    want.push_back((at(from_d) * p.in[2] + at(from_h)) * p.in[3] + at(from_w));
  }
  const Buffer device_codes(codes);
  const Buffer device_indices = Buffer::poisoned(want.size() * sizeof want[0]);
  pool_detail::queue_indices(current_device(), p, device_codes.address(), device_indices.address(), 0);
  Outcome out;
  out.elements = count;
  out.problem = "indices of " + gpu_test::text_of(p);
  Bytes wanted(want.size() * sizeof want[0]);
  std::memcpy(wanted.data(), want.data(), wanted.size());
  const bool same = device_indices.get() == wanted;
  out.wrong = same ? device_indices.guards() : "other indices";
  return out;
}

}  // namespace nervanagpu::variants
