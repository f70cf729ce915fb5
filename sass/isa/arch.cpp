#include "sass/isa/arch.h"

#include <array>

namespace nervanagpu::sass {
namespace {
// clang-format off
constexpr std::array kArchs = {
    //       arch          name      nvdisasm  num  acc    encoding       param  desc   shbase banks max shared
    ArchInfo{Arch::sm_50,  "sm_50",  "SM50",   50,  false, Encoding::k64,  0x140, 0,     0,     4,    48u << 10},
    ArchInfo{Arch::sm_52,  "sm_52",  "SM52",   52,  false, Encoding::k64,  0x140, 0,     0,     4,    48u << 10},
    ArchInfo{Arch::sm_53,  "sm_53",  "SM53",   53,  false, Encoding::k64,  0x140, 0,     0,     4,    48u << 10},
    ArchInfo{Arch::sm_60,  "sm_60",  "SM60",   60,  false, Encoding::k64,  0x140, 0,     0,     4,    48u << 10},
    ArchInfo{Arch::sm_61,  "sm_61",  "SM61",   61,  false, Encoding::k64,  0x140, 0,     0,     4,    48u << 10},
    ArchInfo{Arch::sm_62,  "sm_62",  "SM62",   62,  false, Encoding::k64,  0x140, 0,     0,     4,    48u << 10},
    ArchInfo{Arch::sm_70,  "sm_70",  "SM70",   70,  false, Encoding::k128, 0x160, 0,     0,     2,    96u << 10},
    ArchInfo{Arch::sm_75,  "sm_75",  "SM75",   75,  false, Encoding::k128, 0x160, 0,     0,     2,    64u << 10},
    ArchInfo{Arch::sm_80,  "sm_80",  "SM80",   80,  false, Encoding::k128, 0x160, 0x118, 0,     2,   163u << 10},
    ArchInfo{Arch::sm_86,  "sm_86",  "SM86",   86,  false, Encoding::k128, 0x160, 0x118, 0,     2,    99u << 10},
    ArchInfo{Arch::sm_89,  "sm_89",  "SM89",   89,  false, Encoding::k128, 0x160, 0x118, 0,     2,    99u << 10},
    ArchInfo{Arch::sm_90a, "sm_90a", "SM90a",  90,  true,  Encoding::k128, 0x210, 0x208, 0x400, 2,   227u << 10},
};
// clang-format on
}  // namespace

const ArchInfo& info(Arch a) {
  return kArchs[static_cast<std::size_t>(a)];
}

std::span<const ArchInfo> all_archs() {
  return kArchs;
}

std::optional<Arch> arch_from_name(std::string_view name) {
  for (const ArchInfo& i : kArchs) {
    if (name == i.name || name == i.nvdisasm || name == i.name.substr(3)) return i.arch;
  }
  return std::nullopt;
}

}  // namespace nervanagpu::sass
