// Tensors over memory of others, and memory of tensors that others see.
#include "nervanagpu/error.hpp"
#include "nervanagpu/tensor.hpp"
#include "src/device/select_device.h"
#include "src/memory/storage.h"
#include "src/tensor/shape.h"

namespace nervanagpu {
namespace {

// Calls it at the end of the scope, unless somebody has taken it.
class Owed {
 public:
  explicit Owed(std::function<void()> call) : call_(std::move(call)) {}
  ~Owed() {
    if (call_) call_();
  }
  Owed(const Owed&) = delete;
  Owed& operator=(const Owed&) = delete;
  std::function<void()> take() { return std::exchange(call_, nullptr); }

 private:
  std::function<void()> call_;
};

// The lowest byte from element (0, 0, ...), and how many bytes the view spans.
struct Span {
  std::int64_t low = 0;
  std::size_t bytes = 0;
};
Span span_of(const Tensor& t) {
  if (t.size() == 0) return {};
  const Extent e = extent_of(t.shape(), t.strides());
  const auto width = static_cast<std::int64_t>(size_of(t.dtype()));
  return {e.low * width, static_cast<std::size_t>((e.high - e.low + 1) * width)};
}

}  // namespace

Tensor Tensor::adopt(std::uint64_t address, Shape shape, Shape strides, Dtype dtype, std::function<void()> give_back,
                     bool read_only) {
  Owed owed(std::move(give_back));
  Tensor t = wrap(address, std::move(shape), std::move(strides), dtype);
  if (t.size() == 0) return t;
  const Span s = span_of(t);
  t.storage_ = std::make_shared<Storage>(current_device(), address + static_cast<std::uint64_t>(s.low), s.bytes,
                                         owed.take(), read_only);
  return t;
}

Tensor Tensor::adopt_host(void* memory, Shape shape, Shape strides, Dtype dtype, std::function<void()> give_back,
                          bool read_only) {
  Owed owed(std::move(give_back));
  const auto place = reinterpret_cast<std::uint64_t>(memory);
  Tensor seen = wrap(place, std::move(shape), std::move(strides), dtype);  // checks everything
  if (seen.size() == 0) return seen;
  const Span s = span_of(seen);
  Device& device = current_device();
  const std::uint64_t start = device.map_host(static_cast<std::byte*>(memory) + s.low, s.bytes);
  if (start == 0) {
    throw InvalidArgument("host memory of " + std::to_string(s.bytes) + " bytes: the device " + device.info().name +
                          " cannot work there");
  }
  return adopt(
      start - static_cast<std::uint64_t>(s.low), seen.shape(), seen.strides(), dtype,
      [&device, start, bytes = s.bytes, give = owed.take()] {
        device.unmap_host(start, bytes);
        if (give) give();
      },
      read_only);
}

bool Tensor::read_only() const noexcept {
  return storage_ != nullptr && static_cast<const Storage*>(storage_.get())->read_only();
}

void* Tensor::host() const {
  if (size() == 0) return nullptr;
  const Span s = span_of(*this);
  auto* low =
      static_cast<std::byte*>(open_device(device_).host_view(address_ + static_cast<std::uint64_t>(s.low), s.bytes));
  return low == nullptr ? nullptr : low - s.low;
}

void Tensor::expose() const {
  if (storage_ != nullptr) static_cast<Storage*>(storage_.get())->expose();
}

bool Tensor::exposed() const noexcept {
  return storage_ != nullptr && static_cast<const Storage*>(storage_.get())->exposed();
}

}  // namespace nervanagpu
