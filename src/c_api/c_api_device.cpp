// nervanagpu.h: device, memory, streams.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "nervanagpu/device.hpp"
#include "nervanagpu/version.hpp"
#include "src/c_api/c_api.h"
#include "src/device/select_device.h"

namespace nervanagpu::c_api {
namespace {

// What was given out and not yet taken back. A device is named too: tests exchange it.
class Given {
 public:
  void add(std::uint64_t handle, Device& device) {
    const std::lock_guard lock(mutex_);
    owners_.insert_or_assign(handle, &device);
  }
  // The device it came from; null: it is not one of ours.
  Device* take(std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    const auto it = owners_.find(handle);
    if (it == owners_.end()) return nullptr;
    Device* device = it->second;
    owners_.erase(it);
    return device;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Device*> owners_;
};

// Never destroyed: a program may free at exit.
Given& memory() {
  static auto* const given = new Given;
  return *given;
}
Given& streams() {
  static auto* const given = new Given;
  return *given;
}

template <std::size_t N>
void put_text(char (&to)[N], const std::string& text) {
  const std::size_t n = std::min(text.size(), N - 1);
  std::memset(to, 0, N);
  std::memcpy(to, text.data(), n);
}

void copy_arguments(const char* function, std::uint64_t address, const char* address_name, const void* host,
                    const char* host_name) {
  if (address == 0) refuse(function, address_name, "0", "a device address");
  if (host == nullptr) refuse(function, host_name, "null", "host memory");
}

}  // namespace
}  // namespace nervanagpu::c_api

using namespace nervanagpu;         // NOLINT(google-build-using-namespace)
using namespace nervanagpu::c_api;  // NOLINT(google-build-using-namespace)

extern "C" {

const char* ng_version(void) {
  return version();
}

ng_status ng_device_count(int32_t* count) {
  return guarded([&] {
    if (count == nullptr) refuse("ng_device_count", "count", "null", "where to put the number");
    *count = device_count();
  });
}

ng_status ng_device_set(int32_t ordinal) {
  return guarded([&] { set_device(ordinal); });
}

ng_status ng_device_get(int32_t* ordinal) {
  return guarded([&] {
    if (ordinal == nullptr) refuse("ng_device_get", "ordinal", "null", "where to put the ordinal");
    *ordinal = get_device();
  });
}

ng_status ng_device_info(ng_device* info) {
  return guarded([&] {
    const ng_device init = NG_DEVICE_INIT;
    ng_device out = read<ng_device>("ng_device_info", "info", info, init);
    const DeviceInfo& d = device();
    out.size = info->size;
    out.memory = d.memory;
    out.kind = d.kind == DeviceKind::cuda ? NG_CUDA : NG_EMULATOR;
    out.multiprocessors = d.multiprocessors;
    out.driver = d.driver;
    out.checked = d.checked ? 1 : 0;
    put_text(out.arch, d.arch);
    put_text(out.name, d.name);
    std::memcpy(info, &out, std::min(info->size, sizeof out));
  });
}

ng_status ng_malloc(uint64_t* address, size_t bytes) {
  return guarded([&] {
    if (address == nullptr) refuse("ng_malloc", "address", "null", "where to put the address");
    *address = 0;
    if (bytes == 0) refuse("ng_malloc", "bytes", "0", "1 or more");
    Device& device = current_device();
    const std::uint64_t given = device.allocate(bytes);
    try {
      memory().add(given, device);
    } catch (...) {
      device.free(given, {});
      throw;
    }
    *address = given;
  });
}

ng_status ng_free(uint64_t address) {
  return guarded([&] {
    if (address == 0) return;
    Device* device = memory().take(address);
    if (device == nullptr) {
      refuse("ng_free", "address", std::to_string(address), "an address from ng_malloc that was not freed yet");
    }
    // Streams are not told which memory they use: the block must not be handed out again before all are done.
    const ng_status done = guarded([&] { device->synchronize(); });
    device->free(address, {});
    if (done == NG_DEVICE_LOST) throw DeviceLost(ng_last_error());
    if (done != NG_OK) throw Error(ng_last_error());
  });
}

ng_status ng_upload(uint64_t to, const void* from, size_t bytes) {
  return guarded([&] {
    if (bytes == 0) return;
    copy_arguments("ng_upload", to, "to", from, "from");
    current_device().upload(to, from, bytes);
  });
}

ng_status ng_download(void* to, uint64_t from, size_t bytes) {
  return guarded([&] {
    if (bytes == 0) return;
    copy_arguments("ng_download", from, "from", to, "to");
    current_device().download(to, from, bytes);
  });
}

ng_status ng_copy(uint64_t to, uint64_t from, size_t bytes, uint64_t stream) {
  return guarded([&] {
    if (bytes == 0) return;
    if (to == 0) refuse("ng_copy", "to", "0", "a device address");
    if (from == 0) refuse("ng_copy", "from", "0", "a device address");
    current_device().copy(to, from, bytes, stream);
  });
}

ng_status ng_fill(uint64_t to, uint32_t value, size_t width, size_t count, uint64_t stream) {
  return guarded([&] {
    if (width != 1 && width != 2 && width != 4) refuse("ng_fill", "width", std::to_string(width), "1, 2 or 4");
    if (count == 0) return;
    if (to == 0) refuse("ng_fill", "to", "0", "a device address");
    if (to % width != 0) refuse("ng_fill", "to", std::to_string(to), "a multiple of width, " + std::to_string(width));
    if (count > SIZE_MAX / width) refuse("ng_fill", "count", std::to_string(count), "fewer bytes than 2^64");
    current_device().fill(to, value, static_cast<unsigned>(width), count, stream);
  });
}

ng_status ng_copy_from_device(uint64_t to, int32_t device, uint64_t from, size_t bytes) {
  return guarded([&] {
    if (bytes == 0) return;
    if (to == 0) refuse("ng_copy_from_device", "to", "0", "a device address");
    if (from == 0) refuse("ng_copy_from_device", "from", "0", "a device address");
    static_cast<void>(nervanagpu::device(device));  // that there is one
    if (device == get_device()) return current_device().copy(to, from, bytes, 0);
    current_device().copy_from(open_device(device), to, from, bytes);
  });
}

ng_status ng_synchronize(void) {
  return guarded([] { synchronize(); });
}

ng_status ng_stream_create(uint64_t* stream) {
  return guarded([&] {
    if (stream == nullptr) refuse("ng_stream_create", "stream", "null", "where to put the stream");
    *stream = 0;
    Device& device = current_device();
    const StreamId given = device.create_stream();
    try {
      streams().add(given, device);
    } catch (...) {
      device.destroy_stream(given);
      throw;
    }
    *stream = given;
  });
}

ng_status ng_stream_destroy(uint64_t stream) {
  return guarded([&] {
    if (stream == 0) return;
    Device* device = streams().take(stream);
    if (device == nullptr) {
      refuse("ng_stream_destroy", "stream", std::to_string(stream),
             "a stream from ng_stream_create that was not destroyed yet");
    }
    device->destroy_stream(stream);
  });
}

ng_status ng_stream_synchronize(uint64_t stream) {
  return guarded([&] { current_device().synchronize(stream); });
}

}  // extern "C"
