// Runs encoded cubins on the CPU, bit for bit as the chip does. Fast mode is functional; checked mode also reports
// every value read before its latency or scoreboard, uninitialised registers and shared memory, accesses outside
// allocations, races in shared and global memory and barrier misuse, by kernel, source line, CTA, warp and lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/cubin.h"
#include "sass/result.h"

namespace nervanagpu::sass::emulate {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

class TextureTable;

enum class Mode : std::uint8_t { kFast, kChecked };

// Device memory: one reserved address range; addresses are stable, non-zero and 256-byte aligned. Thread-safe. `device`, 0 to
// 63: memories of different numbers have no address in common; those from 1 on hold at most 2^40 bytes.
class Memory {
 public:
  explicit Memory(std::size_t capacity_bytes, unsigned device = 0);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // 0 when there is no room. In between allocations lies at least one guard page that belongs to nobody.
  std::uint64_t allocate(std::size_t bytes);
  bool free(std::uint64_t address);  // false: not the start of an allocation
  // Host pointer for [address, address + bytes), or nullptr when any byte of it is outside one live allocation.
  std::byte* host(std::uint64_t address, std::size_t bytes);
  // Host memory of the caller's: until it is given back, kernels and host() see it, at the address that it has on the host.
  // It may be lent several times. false: kernels have something else at that address.
  bool lend(const void* start, std::size_t bytes);
  void give_back(const void* start, std::size_t bytes);
  // Where kernels see the byte of this memory that host() gave; 0: it is not of this memory.
  [[nodiscard]] std::uint64_t address_of(const void* host) const;
  [[nodiscard]] bool holds(std::uint64_t address) const;  // whether it can be this memory's; not lent memory
  // Start and size of the allocation nearest to `address`, for messages.
  struct Range {
    std::uint64_t start = 0;
    std::size_t bytes = 0;
  };
  Range nearest(std::uint64_t address) const;
  std::size_t used() const;
  std::size_t capacity() const;
  // Textures and surfaces whose images lie here: texture.h.
  [[nodiscard]] TextureTable& textures();

 private:
  friend class Machine;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct Finding {
  std::string what;    // "read before ready", "out of bounds", "uninitialised register", "shared-memory race", ...
  std::string detail;  // one sentence: register, address, distance, needed cycles
  std::string kernel;
  Span at;                  // template line
  std::uint32_t pc = 0;     // byte address in the kernel
  std::uint32_t other = 0;  // of a race: that of the other access
  std::array<std::uint32_t, 3> cta{};
  std::uint32_t warp = 0;
  std::uint32_t lane = 0;
  std::uint64_t count = 1;  // how often the same (what, pc) occurred
  std::uint32_t order = 0;  // Launch::order

  [[nodiscard]] std::string text() const;
};

struct Report {
  std::vector<Finding> findings;  // empty in a clean run
  std::uint64_t warp_instructions = 0;
};

// A kernel decoded once and launched many times. This one stands alone: it has no variables and no c[0x3], c[0x4].
class Kernel;
Result<std::shared_ptr<const Kernel>> load(Arch arch, const KernelImage& image);

// What the kernels of one cubin share: its variables, which live in `memory` as long as the module does, and the constant
// banks with their addresses. Its kernels must not run when it is gone.
class Module {
 public:
  static Result<std::unique_ptr<Module>> load(const CubinImage& image, Memory& memory);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // `image`: one of the cubin's.
  [[nodiscard]] Result<std::shared_ptr<const Kernel>> kernel(const KernelImage& image) const;
  // The bytes of a variable, in global memory or in c[0x3]; empty where there is none of that name.
  std::span<std::byte> variable(std::string_view name);

 private:
  struct Impl;
  explicit Module(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct Launch {
  Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;
  std::span<const std::byte> params;
  Mode mode = Mode::kFast;
  unsigned threads = 0;                              // CTAs at a time, host threads but for an order; 0: some
  std::uint32_t order = 0;                           // a seed of the order of warps: warp_scheduler.h; 0: ascending
  bool last_cta_first = false;                       // CTAs are begun from the last one down
  std::uint32_t cluster = 0;                         // CTAs of a cluster along x; 0: what the kernel states
  std::uint64_t limit = 0;                           // warp instructions of the grid; 0: without end
  std::function<void(std::string_view)> print = {};  // gets what vprintf prints; empty: the standard output
  [[nodiscard]] bool in_clusters(const Kernel& kernel) const;  // else there is no cluster barrier
};

// Returns when the grid is done. A fault (out of bounds, illegal instruction, deadlock, the limit) ends the grid: the Diag
// names kernel, line, CTA, warp and lane. Findings of checked mode are returned, not faults, and the run goes on.
Result<Report> run(const Kernel& kernel, Memory& memory, const Launch& launch);

}  // namespace nervanagpu::sass::emulate
