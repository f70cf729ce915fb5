// The devices: the GPUs, or emulated ones where there is none. Which kind is chosen once, at the first use:
//
//   NERVANAGPU_DEVICE     cuda: the GPU or an Error; emulator; unset: the GPU if it can be used, else the emulator with
//                         one line of notice on stderr
//   NERVANAGPU_EMULATOR   fast (default) or checked: findings become CheckError
//   NERVANAGPU_EMULATOR_ARCH  whose kernels the emulator runs: sm_90a (default), sm_52 ...; an Error if there are none
//   NERVANAGPU_EMULATOR_ORDER  a seed of the order in which its warps and CTAs run; unset: ascending
//   NERVANAGPU_EMULATOR_MEMORY  what the emulator's device memory holds: bytes, 64M, 2G; unset: most of the host's
//   NERVANAGPU_EMULATOR_DEVICES how many devices the emulator has, 1 (default) to 16
//
// A device's ordinal is the CUDA driver's. Each host thread has a current device, 0 at first: tensors, streams and events
// are made there. An operation runs on the device of its tensors, whatever the current one is; tensors of two devices
// in one operation are an InvalidArgument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "nervanagpu/export.hpp"

namespace nervanagpu {

enum class DeviceKind : std::uint8_t { cuda, emulator };

struct DeviceInfo {
  DeviceKind kind = DeviceKind::emulator;
  int ordinal = 0;
  std::string name;         // "NVIDIA H200", "emulator"
  std::string arch;         // what its kernels were assembled for: "sm_90a"
  int multiprocessors = 0;  // SMs; on the emulator those of the GPU it stands for
  std::size_t memory = 0;   // bytes
  int driver = 0;           // CUDA version the driver supports, 12040 for 12.4; 0 on the emulator
  bool checked = false;     // the emulator's checked mode
};

// Bytes of device memory.
struct MemoryStats {
  std::size_t in_use = 0;         // held by tensors
  std::size_t peak = 0;           // the most that was ever in use
  std::size_t reserved = 0;       // taken from the device: in use or cached for the next tensor
  std::uint64_t allocations = 0;  // asked for
  std::uint64_t reused = 0;       // of these, served from the cache
};

NG_API int device_count();
NG_API const DeviceInfo& device();  // this thread's current one
// InvalidArgument if there is none of that ordinal, Error if it cannot be used.
NG_API const DeviceInfo& device(int ordinal);
// The current device of this thread. To change it throws as device() does, and Error while the thread records a graph.
NG_API int get_device() noexcept;
NG_API void set_device(int ordinal);

// While one lives, `ordinal` is this thread's current device; -1: the one that it is.
class NG_API OnDevice {
 public:
  explicit OnDevice(int ordinal) : before_(get_device()) {
    if (ordinal >= 0 && ordinal != before_) set_device(ordinal);
  }
  ~OnDevice() { put_back(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  static void put_back(int ordinal) noexcept;
  int before_;
};

// While one lives, calls of other CUDA libraries in this thread (cuBLAS, cuFFT, the driver) reach device `ordinal`; -1: the
// current one. What was current in the driver is put back at the end. Nothing on the emulator.
class NG_API DriverContext {
 public:
  explicit DriverContext(int ordinal = -1);
  DriverContext(const DriverContext&) = delete;
  DriverContext& operator=(const DriverContext&) = delete;

 private:
  std::shared_ptr<void> held_;
};

// Whether a device other than 0 was ever used; and whether there may be one, asked without waking a driver.
NG_API bool other_devices_used() noexcept;
NG_API bool other_devices_possible() noexcept;

// The device whose memory an address is, or host memory that the emulator works in; -1: none's that is in use.
NG_API int device_of(std::uint64_t address) noexcept;

// What follows concerns the current device. Waits for all work of all streams; raises what went wrong in it.
NG_API void synchronize();
NG_API MemoryStats memory_stats();
// Gives cached memory back to the device.
NG_API void release_cached_memory();
// Temporary memory of work that was captured in a CUDA graph stays the graph's own. Once every such graph is destroyed,
// this gives it back to the pool.
NG_API void release_captured_memory();
// What was found on this machine, what was chosen and why; never raises for want of a GPU.
NG_API std::string doctor();

// Host memory that copies to and from a GPU reach at full speed (page-locked); plain memory on the emulator. Freed with
// its last copy. Throws OutOfMemory.
NG_API std::shared_ptr<void> pinned_memory(std::size_t bytes);

}  // namespace nervanagpu
