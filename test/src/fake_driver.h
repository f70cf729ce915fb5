// A CUDA driver made of host memory, whose every call can be made to fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/device/driver.h"

namespace nervanagpu::test {

// One at a time: the table's functions are plain functions and find it through a global.
class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  [[nodiscard]] const cuda::Driver& table() const { return table_; }
  // The calls of `symbol` return `status` from the n-th (from 1) on, counted from now, until mended.
  void fail(const std::string& symbol, cuda::Status status, int nth = 1);
  void mend(const std::string& symbol) { failures_.erase(symbol); }
  [[nodiscard]] int calls(const std::string& symbol) const;

  struct Launch {
    std::string kernel;
    unsigned grid[3];
    unsigned block;
    unsigned shared;
    std::uint64_t stream;
    std::vector<std::byte> params;
    std::map<int, std::vector<std::uint32_t>> attributes;  // of cuLaunchKernelEx, by their number: three words of each
    cuda::Module module = nullptr;
  };

  void forget_launch_ex() { table_.launch_ex = nullptr; }                                       // an old driver
  void forget_graphs() { table_.capture_begin = nullptr; }                                      // an old driver
  void forget_tensor_maps() { table_.encode_tiled = nullptr, table_.encode_im2col = nullptr; }  // an old driver

  int devices = 1;
  int major = 9;
  int minor = 0;
  std::size_t capacity = 64 << 20;  // bytes
  bool events_pending = false;      // cuEventQuery answers "not ready"
  // The graph that is being captured, and in which stream; while it is one that the default stream waits for, the default
  // stream takes no work, and waiting for the context is refused in any case.
  std::uint64_t capturing = 0;
  cuda::Stream captured = nullptr;
  std::set<cuda::Stream> apart;  // streams that the default one does not wait for
  std::vector<Launch> launches;
  std::vector<Launch> graph;                  // of the last capture
  std::map<std::uint64_t, std::size_t> live;  // allocations
  struct ArrayMemory {
    cuda::ArrayDescription description;
    std::vector<std::byte> bytes;  // of what was copied there
  };
  std::map<cuda::Array, ArrayMemory> arrays;
  struct Object {
    cuda::ResourceDescription resource;
    cuda::TextureDescription texture;  // of a surface nothing
  };
  std::map<std::uint64_t, Object> objects;  // textures and surfaces
  std::size_t used = 0;
  int pinned = 0;  // allocations of page-locked host memory

  bool peers = true;               // devices reach each other's memory
  std::vector<std::string> order;  // of events recorded and waited for, and of copies between devices, by context

  // For the table's functions.
  std::map<void*, cuda::Context> made_in;                     // events, streams, modules, memory: whose they are
  std::set<std::pair<cuda::Context, cuda::Context>> enabled;  // who reaches whose memory
  cuda::Status enter(const char* symbol);                     // counts the call
  cuda::Context current = nullptr;
  std::vector<std::string> functions;   // names; a CUfunction is an index + 1
  std::vector<cuda::Module> module_of;  // each
  std::set<cuda::Module> modules;       // that are loaded; launching from another fails
  std::uint64_t next_handle = 0x100;

 private:
  struct Failure {
    cuda::Status status;
    int nth;
  };
  cuda::Driver table_;
  std::map<std::string, Failure> failures_;
  std::map<std::string, int> counts_;
};

}  // namespace nervanagpu::test
