#include "src/launch/values.h"

#include <bit>

#include "src/launch/magic.h"

namespace nervanagpu {

Values& Values::f32(float v) {
  return put(Kind::f32, std::bit_cast<std::int32_t>(v));
}

Values& Values::map(const EncodedTensorMap& m) {
  maps_.push_back(m);
  return put(Kind::map, 0);
}

std::uint32_t Values::scalar_bits(float v, Dtype type) {
  return type == Dtype::int32 || type == Dtype::int64 ? static_cast<std::uint32_t>(static_cast<std::int32_t>(v))
                                                      : std::bit_cast<std::uint32_t>(v);
}

Values& Values::scalar(float v, Dtype type) {
  return f32(std::bit_cast<float>(scalar_bits(v, type)));
}

Values& Values::rounding(const Rounding& how, Dtype type) {
  return u32(kept_bits(how, type)).u64(how.seed).u64(how.offset);
}

Values& Values::divisor(std::int64_t v) {
  const Magic m = magic(static_cast<std::uint32_t>(v));
  return u32(v).u32(m.mul).u32(m.shift);
}

Values& Values::all(const Values& more) {
  kinds_.insert(kinds_.end(), more.kinds_.begin(), more.kinds_.end());
  numbers_.insert(numbers_.end(), more.numbers_.begin(), more.numbers_.end());
  maps_.insert(maps_.end(), more.maps_.begin(), more.maps_.end());
  return *this;
}

void Values::pack(Arguments& to) const {
  auto map = maps_.begin();
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const std::int64_t v = numbers_[i];
    switch (kinds_[i]) {
      case Kind::u64: to.add(static_cast<std::uint64_t>(v)); break;
      case Kind::u32: to.add(static_cast<std::uint32_t>(v)); break;
      case Kind::s32: to.add(static_cast<std::int32_t>(v)); break;
      case Kind::map: to.add(*map++); break;
      case Kind::f32: to.add(std::bit_cast<float>(static_cast<std::int32_t>(v))); break;
    }
  }
}

void Values::launch(Device& device, const Kernel& kernel, const Grid& grid, StreamId stream) const {
  Arguments args(kernel.manifest());
  pack(args);
  device.launch(kernel, grid, args.block(), stream);
}

}  // namespace nervanagpu
