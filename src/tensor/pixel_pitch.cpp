#include "src/tensor/pixel_pitch.h"

#include <cstddef>

namespace nervanagpu {

std::int64_t pixel_pitch(const Tensor& t) {
  std::size_t axis = t.shape().size() - 1;
  const std::int64_t channels = t.shape()[axis];
  if (channels != 1 && t.strides()[axis] != 1) return 0;
  std::int64_t pitch = 0;
  std::int64_t next = 0;
  while (axis-- > 0) {
    if (t.shape()[axis] == 1) continue;
    const std::int64_t stride = t.strides()[axis];
    if (pitch == 0 ? stride < channels : stride != next) return 0;
    if (pitch == 0) pitch = stride;
    next = stride * t.shape()[axis];
  }
  return pitch;
}

}  // namespace nervanagpu
