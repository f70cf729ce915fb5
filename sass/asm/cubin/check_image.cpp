// What no cubin, or no chip of the architecture, can hold.
#include <algorithm>

#include "sass/asm/cubin/link.h"
#include "sass/asm/cubin/nv_info.h"
#include "sass/cubin_abi.h"
#include "sass/isa/occupancy.h"

namespace nervanagpu::sass {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.';
}

constexpr std::size_t kMaxNameBytes = 1024;

std::string number(std::uint64_t v) {
  return std::to_string(v);
}

// "" or what is wrong.
std::string check_name(const std::string& name) {
  if (name.empty()) return "the name is empty";
  if (name.size() > kMaxNameBytes) return "the name is longer than " + number(kMaxNameBytes) + " bytes";
  if (!std::all_of(name.begin(), name.end(), is_name_char)) return "the name may have letters, digits, '_', '$', '.'";
  return "";
}

std::string check_at_most(const char* what, std::uint64_t got, std::uint64_t most) {
  return got <= most ? "" : std::string(what) + " is " + number(got) + ", at most " + number(most) + " can be";
}

std::string check_threads(Arch arch, const KernelImage& k) {
  const bool any = k.reqntid[0] != 0 || k.reqntid[1] != 0 || k.reqntid[2] != 0;
  const bool all = k.reqntid[0] != 0 && k.reqntid[1] != 0 && k.reqntid[2] != 0;
  if (any && !all) return "reqntid has a zero dimension";
  for (const std::uint32_t n : k.reqntid) {
    if (n > kMaxThreads) return check_at_most("reqntid", n, kMaxThreads);
  }
  const std::uint32_t threads = thread_limit(k);
  if (threads > kMaxThreads) return check_at_most("the CTA size", threads, kMaxThreads);
  if (k.max_threads > kMaxThreads) return check_at_most("the CTA size", k.max_threads, kMaxThreads);
  const std::uint32_t of_file = register_file(arch) / std::max(1U, (threads + 31) / 32 * 32) / 8 * 8;
  const std::uint32_t most = std::min(most_registers(threads), of_file);
  if (k.registers <= most) return "";
  return number(k.registers) + " registers for each of " + number(threads) + " threads; a multiprocessor has " +
         number(most) + " for each";
}

std::string check_params(Arch arch, const KernelImage& k) {
  if (k.param_bytes > kMaxParamBytes) return check_at_most("the parameter block", k.param_bytes, kMaxParamBytes);
  if (k.params.empty() && k.param_bytes != 0) {
    return "the parameter block has " + number(k.param_bytes) + " bytes but no parameters";
  }
  for (const Param& p : k.params) {
    const unsigned size = size_of(p.type);
    if (p.type == ParamType::map && info(arch).number < 90)
      return "parameter '" + p.name + "': tensor maps need sm_90a";
    if (p.offset != aligned_offset(p.type, p.offset) || p.offset + size > k.param_bytes) {
      return "parameter '" + p.name + "' at offset " + number(p.offset) + " is unaligned or past the block of " +
             number(k.param_bytes) + " bytes";
    }
  }
  const std::size_t least = info(arch).param_base + std::size_t{k.param_bytes};
  if (!k.constant0.empty() && (k.constant0.size() < least || k.constant0.size() > kMaxConstantBytes)) {
    return "constant0 has " + number(k.constant0.size()) + " bytes, need 0 or " + number(least) + " to " +
           number(kMaxConstantBytes);
  }
  return "";
}

std::string check_descriptions(Arch arch, const KernelImage& k) {
  if (!k.lines.empty() && k.lines.size() != k.code.size()) {
    return number(k.lines.size()) + " source lines for " + number(k.code.size()) + " instructions";
  }
  if (k.manifest.name.empty()) return "";
  if (k.manifest.name != k.name) return "the manifest is of kernel '" + k.manifest.name + "'";
  if (k.manifest.arch != arch) return "the manifest is for " + std::string(info(k.manifest.arch).name);
  if (k.manifest.params != k.params) return "the manifest has other parameters than the image";
  return "";
}

std::string what_is_wrong(Arch arch, const KernelImage& k) {
  const ArchInfo& chip = info(arch);
  if (std::string e = check_name(k.name); !e.empty()) return e;
  if (k.code.empty()) return "it has no code";
  if (k.code.size() > (std::size_t{1} << 27)) return "its code is larger than 2 GiB";
  if (k.registers == 0) return "the register count is 0, need 1 to 255";
  if (std::string e = check_at_most("the register count", k.registers, kMaxRegisters); !e.empty()) return e;
  if (std::string e = check_at_most("shared memory", k.shared, chip.max_shared); !e.empty()) return e;
  if (std::string e = check_at_most("local memory", k.local, kMaxLocalBytes); !e.empty()) return e;
  if (std::string e = check_at_most("the barrier count", k.barriers, kMaxBarriers); !e.empty()) return e;
  if (std::string e = check_threads(arch, k); !e.empty()) return e;
  if (std::string e = check_params(arch, k); !e.empty()) return e;
  return check_descriptions(arch, k);
}

}  // namespace

Status check_kernel_image(Arch arch, const KernelImage& kernel) {
  std::string wrong = what_is_wrong(arch, kernel);
  if (wrong.empty()) return Done{};
  return error("kernel '" + kernel.name + "': " + std::move(wrong));
}

}  // namespace nervanagpu::sass
