#include "test/gpu/buffer.h"

#include <algorithm>

namespace nervanagpu::gpu_test {
namespace {

constexpr std::size_t kGuard = 256;
constexpr std::uint8_t kGuardByte = 0xa5;

}  // namespace

Buffer::Buffer(const Bytes& content, std::size_t shift) : before_(kGuard + shift), bytes_(content.size()) {
  Bytes all(before_ + bytes_ + kGuard, kGuardByte);
  std::copy(content.begin(), content.end(), all.begin() + static_cast<std::ptrdiff_t>(before_));
  all_ = Tensor::from_host<std::uint8_t>(all, {static_cast<std::int64_t>(all.size())});
}

Bytes Buffer::get() const {
  const Bytes all = all_.to_host<std::uint8_t>();
  guards_.clear();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool guard = i < before_ || i >= before_ + bytes_;
    if (guard && all[i] != kGuardByte) {
      guards_ = "written outside: at byte " +
                std::to_string(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(before_)) + " of " +
                std::to_string(bytes_);
      break;
    }
  }
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(before_);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes_)};
}

std::string difference(const Buffer& got, const Bytes& wanted, Dtype dtype) {
  const Bytes bytes = got.get();
  if (!got.guards().empty()) return got.guards();
  if (bytes.size() != wanted.size()) return "another size than wanted";
  if (bytes == wanted) return {};
  const Values a = decode(bytes, dtype);
  const Values b = decode(wanted, dtype);
  const std::size_t width = size_of(dtype);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(i * width),
                                 bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * width),
                                 wanted.begin() + static_cast<std::ptrdiff_t>(i * width));
    if (same || (a[i] == 0 && b[i] == 0)) continue;
    return "element " + std::to_string(i) + " of " + std::to_string(a.size()) + ": got " + std::to_string(a[i]) +
           ", needs " + std::to_string(b[i]);
  }
  return {};
}

}  // namespace nervanagpu::gpu_test
