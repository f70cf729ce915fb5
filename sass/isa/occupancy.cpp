#include "sass/isa/occupancy.h"

#include <algorithm>
#include <array>

namespace nervanagpu::sass {
namespace {

struct SmLimits {
  Arch arch;
  std::uint8_t warps;
  std::uint8_t ctas;
  std::uint32_t shared;       // bytes of an SM
  std::uint16_t reserved;     // of them, for each CTA
  std::uint16_t granularity;  // of a CTA's shared memory
};
// CUDA C++ Programming Guide, "Technical specifications per compute capability".
// clang-format off
constexpr std::array kLimits = {
    //       arch          warps CTAs  shared     reserved  granularity
    SmLimits{Arch::sm_50,  64,   32,    64u << 10,    0,    256},
    SmLimits{Arch::sm_52,  64,   32,    96u << 10,    0,    256},
    SmLimits{Arch::sm_53,  64,   32,    64u << 10,    0,    256},
    SmLimits{Arch::sm_60,  64,   32,    64u << 10,    0,    256},
    SmLimits{Arch::sm_61,  64,   32,    96u << 10,    0,    256},
    SmLimits{Arch::sm_62,  64,   32,    64u << 10,    0,    256},
    SmLimits{Arch::sm_70,  64,   32,    96u << 10,    0,    256},
    SmLimits{Arch::sm_75,  32,   16,    64u << 10,    0,    256},
    SmLimits{Arch::sm_80,  64,   32,   164u << 10, 1024,    128},
    SmLimits{Arch::sm_86,  48,   16,   100u << 10, 1024,    128},
    SmLimits{Arch::sm_89,  48,   24,   100u << 10, 1024,    128},
    SmLimits{Arch::sm_90a, 64,   32,   228u << 10, 1024,    128},
};
// clang-format on
constexpr std::uint32_t kSchedulers = 4;
constexpr std::uint32_t kNoLimit = ~std::uint32_t{0};
constexpr std::uint32_t kRegistersOfScheduler = 16384;
constexpr std::uint32_t kRegisterUnit = 256;  // a warp gets whole units
constexpr std::uint32_t kWarp = 32;

std::uint32_t warps_of(std::uint32_t threads) {
  return std::max(1U, (threads + kWarp - 1) / kWarp);
}

std::uint32_t rounded_up(std::uint32_t value, std::uint32_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

std::uint32_t most_registers(std::uint32_t threads) {
  constexpr std::uint32_t kMost = 256;  // RZ among them
  const std::uint32_t of_scheduler = (warps_of(threads) + kSchedulers - 1) / kSchedulers;
  return std::min(kMost, kRegistersOfScheduler / of_scheduler / kRegisterUnit * kRegisterUnit / kWarp);
}

Occupancy occupancy(Arch arch, std::uint32_t registers, std::uint32_t shared, std::uint32_t threads) {
  const SmLimits& sm = kLimits[static_cast<std::size_t>(arch)];
  const std::uint32_t warps = warps_of(threads);
  const std::uint32_t of_warp = rounded_up(std::max(1U, registers) * kWarp, kRegisterUnit);
  const std::uint32_t of_cta = rounded_up(shared + sm.reserved, sm.granularity);
  struct Limit {
    std::uint32_t ctas;
    std::string_view name;
  };
  const std::array limits = {
      Limit{kRegistersOfScheduler / of_warp * kSchedulers / warps, "registers"},
      Limit{of_cta == 0 ? kNoLimit : sm.shared / of_cta, "shared memory"},
      Limit{sm.warps / warps, "warps"},
      Limit{sm.ctas, "CTAs"},
  };
  const Limit& least = *std::ranges::min_element(limits, {}, &Limit::ctas);
  return {least.ctas, least.ctas * warps, sm.warps, least.name};
}

}  // namespace nervanagpu::sass
