// Streams and events over the device's handles.
#include "nervanagpu/stream.hpp"

#include "src/select_device.h"

namespace nervanagpu {

struct Stream::Owner {
  Device& device;
  StreamId id;
  ~Owner() { device.destroy_stream(id); }
};

struct Event::Owner {
  Device& device;
  EventId id;
  ~Owner() { device.destroy_event(id); }
};

Stream Stream::create() {
  Device& device = current_device();
  Stream s;
  s.handle_ = device.create_stream();
  s.owner_.reset(new Owner{device, s.handle_});
  return s;
}

Stream Stream::from_handle(std::uint64_t h) {
  Stream s;
  s.handle_ = h;
  return s;
}

std::uint64_t Stream::handle() const noexcept {
  return handle_;
}
void Stream::synchronize() const {
  current_device().synchronize(handle_);
}

Event::Event() {
  Device& device = current_device();
  owner_.reset(new Owner{device, device.create_event()});
}

void Event::record(const Stream& stream) {
  owner_->device.record(owner_->id, stream.handle());
}
void Event::synchronize() const {
  owner_->device.wait(owner_->id);
}
double Event::ms_since(const Event& start) const {
  return owner_->device.elapsed_ms(start.owner_->id, owner_->id);
}
void Event::make_wait(const Stream& stream) const {
  owner_->device.stream_wait(stream.handle(), owner_->id);
}

}  // namespace nervanagpu
