// What a tensor exchanges with the host: through one copy of the memory that the view covers, rearranged on the host.
#include <cstring>
#include <vector>

#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "src/device/select_device.h"
#include "src/numbers/scalar.h"
#include "src/tensor/shape.h"
#include "src/tensor/strided.h"

namespace nervanagpu {
namespace {

struct Cover {
  std::uint64_t address = 0;  // of the lowest element
  std::size_t bytes = 0;
  std::size_t origin = 0;  // bytes from there to element (0, 0, ...)
};

Cover cover_of(const Tensor& t) {
  const Extent e = extent_of(t.shape(), t.strides());
  const auto width = static_cast<std::int64_t>(size_of(t.dtype()));
  return {t.address() + static_cast<std::uint64_t>(e.low * width),
          static_cast<std::size_t>((e.high - e.low + 1) * width), static_cast<std::size_t>(-e.low * width)};
}

void check_bytes(const Tensor& t, std::size_t bytes) {
  if (bytes != t.nbytes()) {
    throw InvalidArgument("bytes is " + std::to_string(bytes) + "; a tensor " + text_of(t.shape()) + " of " +
                          std::string(name_of(t.dtype())) + " needs " + std::to_string(t.nbytes()));
  }
}

void check_host(const void* host, std::size_t bytes) {
  if (host == nullptr) throw InvalidArgument("host is null; needs " + std::to_string(bytes) + " bytes of host memory");
}

void check_distinct(const Tensor& t) {
  if (!distinct(t.shape(), t.strides())) {
    throw InvalidArgument("a tensor " + text_of(t.shape()) + " with strides " + text_of(t.strides()) +
                          " has elements in the same memory and cannot be written");
  }
}

}  // namespace

void Tensor::get(void* host, std::size_t bytes) const {
  check_bytes(*this, bytes);
  if (bytes == 0) return;
  check_host(host, bytes);
  if (contiguous()) {
    open_device(device_).download(host, address_, bytes);
    return;
  }
  const Cover cover = cover_of(*this);
  std::vector<std::byte> whole(cover.bytes);
  open_device(device_).download(whole.data(), cover.address, cover.bytes);
  gather(static_cast<std::byte*>(host), whole.data() + cover.origin, shape_, strides_, size_of(dtype_));
}

void Tensor::set(const void* host, std::size_t bytes) {
  check_bytes(*this, bytes);
  check_writable(*this);
  if (bytes == 0) return;
  check_host(host, bytes);
  if (contiguous()) {
    open_device(device_).upload(address_, host, bytes);
    return;
  }
  check_distinct(*this);
  // What lies between the elements is read and written back unchanged.
  const Cover cover = cover_of(*this);
  std::vector<std::byte> whole(cover.bytes);
  open_device(device_).download(whole.data(), cover.address, cover.bytes);
  scatter(whole.data() + cover.origin, static_cast<const std::byte*>(host), shape_, strides_, size_of(dtype_));
  open_device(device_).upload(cover.address, whole.data(), cover.bytes);
}

void Tensor::fill(const Scalar& value) {
  check_writable(*this);
  const ScalarBits bits = scalar_bits(value, dtype_);
  const std::size_t width = size_of(dtype_);
  const auto count = static_cast<std::size_t>(size());
  if (count == 0) return;
  std::uint32_t low = 0;
  std::memcpy(&low, bits.data(), 4);
  bool words_equal = true;
  for (std::size_t i = 4; i < width; i += 4) words_equal = words_equal && std::memcmp(bits.data() + i, &low, 4) == 0;
  if (contiguous() && width <= 4) {
    open_device(device_).fill(address_, low, static_cast<unsigned>(width), count, 0);
  } else if (contiguous() && words_equal) {
    open_device(device_).fill(address_, low, 4, count * (width / 4), 0);
  } else {
    std::vector<std::byte> packed(count * width);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(packed.data() + i * width, bits.data(), width);
    set(packed.data(), packed.size());
  }
}

void Tensor::copy_from(const Tensor& source) {
  if (source.shape() != shape_) {
    throw InvalidArgument("source has shape " + text_of(source.shape()) + "; needs " + text_of(shape_));
  }
  if (source.dtype() != dtype_) {
    throw TypeError("source has dtype " + std::string(name_of(source.dtype())) + "; needs " +
                    std::string(name_of(dtype_)));
  }
  check_writable(*this);
  if (size() == 0) return;
  if (source.device() >= 0 && source.device() != device_) return copy_from(source.to(device_));
  const OnDevice here(device_);
  const std::uint64_t apart = address_ > source.address() ? address_ - source.address() : source.address() - address_;
  if (contiguous() && source.contiguous() && (apart >= nbytes() || apart == 0)) {
    if (apart != 0) open_device(device_).copy(address_, source.address(), nbytes(), 0);
    return;
  }
  if (can_evaluate()) return assign(*this, Expr(source));
  std::vector<std::byte> packed(nbytes());
  source.get(packed.data(), packed.size());
  set(packed.data(), packed.size());
}

Tensor Tensor::copy() const {
  const OnDevice here(device_);
  Tensor t = empty(shape_, dtype_);
  t.copy_from(*this);
  return t;
}

Tensor Tensor::to(int device) const {
  static_cast<void>(nervanagpu::device(device));  // that there is one
  if (device_ == device) return *this;
  const Tensor from = contiguous() ? *this : copy();
  const OnDevice there(device);
  Tensor out = empty(shape_, dtype_);
  if (size() > 0) current_device().copy_from(open_device(device_), out.address(), from.address(), nbytes());
  return out;
}

}  // namespace nervanagpu
