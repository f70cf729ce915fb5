// One launch: what all CTAs share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sass/emulate/state/spin.h"
#include "sass/emulate/state/warp.h"
#include "sass/emulate/uop/kernel.h"

namespace nervanagpu::sass::emulate {

class GlobalShadow;  // checked/global_shadow.h

struct Grid {
  explicit Grid(std::uint64_t threads) : spins(threads) {}

  const Kernel* kernel = nullptr;
  Machine::Impl* memory = nullptr;
  const Memory* owner = nullptr;
  Launch launch;
  std::vector<std::byte> constants;        // c[0]
  std::atomic<std::uint64_t> next{0};      // the next CTA that nobody runs
  std::atomic<bool> stopped{false};        // a fault was found
  std::atomic<std::uint64_t> executed{0};  // warp instructions so far, where there is a limit
  Spins spins;                             // of the host threads at work
  std::mutex mutex;                        // of what follows
  bool printed = false;                    // to the standard output
  std::optional<Diag> fault;
  Report report;
  std::shared_ptr<GlobalShadow> global;  // checked mode only
  bool has_membar = false;               // the kernel has one: flags in global memory may order its CTAs
  bool has_cas = false;                  // and compares and swaps: what it reads before may be without an order
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // CTAs of one

  // A CTA, by its cluster's number and its rank there.
  [[nodiscard]] std::array<std::uint32_t, 3> cta_at(std::uint64_t number, std::uint32_t rank) const;
};

std::string triple(const std::array<std::uint32_t, 3>& v);  // "(x,y,z)"
// "kernel K, FILE:LINE, CTA (x,y,z), warp w, lane l"; lane 32: without the lane.
std::string place(const Kernel& kernel, std::uint32_t index, const Cta& cta, std::uint32_t warp, unsigned lane);

}  // namespace nervanagpu::sass::emulate
