#include "src/feed.h"

#include "nervanagpu/device.hpp"
#include "src/device/select_device.h"

namespace nervanagpu {

Feed::Feed(std::size_t bytes)
    : device_(current_device()), bytes_(bytes), room_(Tensor::empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8)) {
  try {
    stream_ = device_.create_side_stream();
    read_ = device_.create_event();
    for (Slot& slot : slots_) slot.sent = device_.create_event();
    device_.record(read_, 0);  // by whoever had the room before
  } catch (...) {
    release();
    throw;
  }
}

Feed::~Feed() {
  try {
    device_.synchronize(stream_);  // the memory goes
  } catch (...) {                  // a device that is lost copies nothing
  }
  release();
}

void Feed::release() noexcept {
  for (Slot& slot : slots_) {
    if (slot.sent != 0) device_.destroy_event(slot.sent);
  }
  if (read_ != 0) device_.destroy_event(read_);
  if (stream_ != 0) device_.destroy_stream(stream_);
}

std::byte* Feed::fill() {
  Slot& slot = slots_[1 - at_];
  if (slot.under_way) device_.wait(slot.sent);
  slot.under_way = false;
  if (slot.memory == nullptr) slot.memory = pinned_memory(bytes_);
  at_ = 1 - at_;
  return static_cast<std::byte*>(slot.memory.get());
}

void Feed::send(std::size_t bytes) {
  if (arrived_) device_.synchronize();  // who was to read the batch before has failed
  arrived_ = false;
  Slot& slot = slots_[at_];
  device_.stream_wait(stream_, read_);
  device_.upload(room_.address(), slot.memory.get(), bytes, stream_);
  slot.under_way = true;
  device_.record(slot.sent, stream_);
}

void Feed::arrive(const Stream& stream) {
  room_.used_on(stream);
  device_.stream_wait(stream.handle(), slots_[at_].sent);
  arrived_ = true;
}

void Feed::taken(const Stream& stream) {
  device_.record(read_, stream.handle());
  arrived_ = false;
}

}  // namespace nervanagpu
