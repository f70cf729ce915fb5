// Streams and events over the device's handles.
#include "nervanagpu/stream.hpp"

#include <string>

#include "nervanagpu/error.hpp"
#include "src/device/select_device.h"

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

namespace {

void check_stream(const char* call, const Device& device, const Stream& stream) {
  const int own = device.info().ordinal;
  if (stream.device() >= 0 && stream.device() != own) {
    throw InvalidArgument(std::string(call) + ": the event is on device " + std::to_string(own) +
                          ", stream on device " + std::to_string(stream.device()) + "; needs one device");
  }
}
template <class Owner>
Owner& existing(const std::shared_ptr<Owner>& owner) {
  if (owner == nullptr) throw InvalidArgument("event: it was moved from; needs an Event of its own");
  return *owner;
}
void check_same(const Device& end, const Device& start) {
  if (&end == &start) return;
  throw InvalidArgument("ms_since: the event is on device " + std::to_string(end.info().ordinal) +
                        ", start on device " + std::to_string(start.info().ordinal) + "; needs one device");
}

}  // namespace

Stream Stream::create() {
  Device& device = current_device();
  Stream s;
  s.handle_ = device.create_stream();
  s.device_ = device.info().ordinal;
  s.owner_.reset(new Owner{device, s.handle_});
  return s;
}

Stream Stream::from_handle(std::uint64_t h) {
  Stream s;
  s.handle_ = h;
  if (h != 0) s.device_ = current_ordinal;
  return s;
}

std::uint64_t Stream::handle() const noexcept {
  return handle_;
}
void Stream::synchronize() const {
  (device_ < 0 ? current_device() : open_device(device_)).synchronize(handle_);
}

Event::Event() {
  Device& device = current_device();
  owner_.reset(new Owner{device, device.create_event()});
}

void Event::record(const Stream& stream) {
  const auto& own = existing(owner_);
  check_stream("record", own.device, stream);
  own.device.record(own.id, stream.handle());
}
void Event::synchronize() const {
  const auto& own = existing(owner_);
  own.device.wait(own.id);
}
double Event::ms_since(const Event& start) const {
  const auto& end = existing(owner_);
  const auto& begin = existing(start.owner_);
  check_same(end.device, begin.device);
  return end.device.elapsed_ms(begin.id, end.id);
}
void Event::make_wait(const Stream& stream) const {
  // A stream of one GPU may wait for an event of another; emulated streams are always done, and events known to their own.
  Device& of_stream = stream.device() < 0 ? current_device() : open_device(stream.device());
  const auto& own = existing(owner_);
  Device& device = of_stream.info().kind == DeviceKind::cuda ? of_stream : own.device;
  device.stream_wait(&device == &of_stream ? stream.handle() : 0, own.id);
}

}  // namespace nervanagpu
