#include "src/values.h"

#include <bit>

#include "src/arguments.h"
#include "src/magic.h"

namespace nervanagpu {

Values& Values::f32(float v) {
  return put(Kind::f32, std::bit_cast<std::int32_t>(v));
}

Values& Values::map(const EncodedTensorMap& m) {
  maps_.push_back(m);
  return put(Kind::map, 0);
}

Values& Values::scalar(float v, Dtype type) {
  return f32(type == Dtype::int32 ? std::bit_cast<float>(static_cast<std::int32_t>(v)) : v);
}

Values& Values::divisor(std::int64_t v) {
  const Magic m = magic(static_cast<std::uint32_t>(v));
  return u32(v).u32(m.mul).u32(m.shift);
}

void Values::launch(Device& device, const Kernel& kernel, const Grid& grid, StreamId stream) const {
  Arguments args(kernel.manifest());
  auto map = maps_.begin();
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const std::int64_t v = numbers_[i];
    switch (kinds_[i]) {
      case Kind::u64: args.add(static_cast<std::uint64_t>(v)); break;
      case Kind::u32: args.add(static_cast<std::uint32_t>(v)); break;
      case Kind::s32: args.add(static_cast<std::int32_t>(v)); break;
      case Kind::map: args.add(*map++); break;
      case Kind::f32: args.add(std::bit_cast<float>(static_cast<std::int32_t>(v))); break;
    }
  }
  device.launch(kernel, grid, args.block(), stream);
}

}  // namespace nervanagpu
