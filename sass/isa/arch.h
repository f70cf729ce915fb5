// The architectures we know, and the facts of each that stages need. Data only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace nervanagpu::sass {

enum class Arch : std::uint8_t { sm_50, sm_52, sm_53, sm_60, sm_61, sm_62, sm_70, sm_75, sm_80, sm_86, sm_89, sm_90a };

// A set of architectures; rows and table entries carry one.
using ArchMask = std::uint32_t;
constexpr ArchMask mask_of(Arch a) {
  return ArchMask{1} << static_cast<unsigned>(a);
}
constexpr ArchMask mask_from(Arch first, Arch last) {
  return (mask_of(last) << 1) - mask_of(first);
}

enum class Encoding : std::uint8_t { k64, k128 };  // 64-bit words in bundles of three, or 128-bit words

struct ArchInfo {
  Arch arch;
  std::string_view name;      // "sm_90a"
  std::string_view nvdisasm;  // "SM90a", nvdisasm's -b spelling
  std::uint16_t number;       // 90
  bool accelerated;           // the "a" targets
  Encoding encoding;
  std::uint16_t param_base;   // byte offset of kernel parameters in c[0x0]
  std::uint16_t descriptor;   // byte offset in c[0x0] of the 64-bit memory descriptor; 0: none
  std::uint16_t shared_base;  // first shared-memory address that belongs to the kernel
  std::uint8_t register_banks;
  std::uint32_t max_shared;  // bytes of shared memory a CTA may use (opt-in maximum)
};

// Of the registers that a warp has, code may name all but these: the chip keeps its program counters in them, also where
// USETMAXREG says how many there are.
constexpr std::uint32_t chips_registers(Encoding encoding) {
  return encoding == Encoding::k128 ? 2 : 0;
}

const ArchInfo& info(Arch a);
std::span<const ArchInfo> all_archs();
// "sm_90a", "SM90a", "90a" -> Arch.
std::optional<Arch> arch_from_name(std::string_view name);

constexpr unsigned code_bytes(Encoding e) {
  return e == Encoding::k64 ? 8 : 16;
}

// Byte address in the kernel of instruction `index`: sm_50 .. sm_62 put one control word before every three.
constexpr std::uint64_t address_of(Encoding e, std::uint64_t index) {
  return e == Encoding::k128 ? index * 16 : index / 3 * 32 + 8 + index % 3 * 8;
}

// Byte address by which a branch names instruction `index`: the first of a bundle is reached through its control word.
constexpr std::uint64_t target_of(Encoding e, std::uint64_t index) {
  return e == Encoding::k64 && index % 3 == 0 ? index / 3 * 32 : address_of(e, index);
}

// The instruction that a jump to `address` goes to; -1: none.
constexpr std::int64_t index_at(Encoding e, std::uint64_t address) {
  if (e == Encoding::k128) return address % 16 == 0 ? static_cast<std::int64_t>(address / 16) : -1;
  if (address % 8 != 0) return -1;
  const std::uint64_t slot = address % 32 / 8;  // the control word, or one of the three
  return static_cast<std::int64_t>(address / 32 * 3 + (slot == 0 ? 0 : slot - 1));
}

}  // namespace nervanagpu::sass
