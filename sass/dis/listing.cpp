#include "sass/dis/listing.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "sass/asm/parse.h"
#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/raw_word.h"

namespace nervanagpu::sass {
namespace {

template <class... T>
std::string format(const char* pattern, T... values) {
  char buffer[256];
  const int n = std::snprintf(buffer, sizeof buffer, pattern, values...);
  return std::string(buffer, static_cast<std::size_t>(std::min<int>(n < 0 ? 0 : n, sizeof buffer - 1)));
}

}  // namespace

std::string header_of(Arch arch, const KernelImage& k) {
  std::string out = "// kernel " + k.name + " for " + std::string(info(arch).name) + "\n";
  out += format("//   %zu instructions, %u registers, %u barriers, %u bytes of shared and %u of local memory\n",
                k.code.size(), k.registers, k.barriers, k.shared, k.local);
  if (k.reqntid[0] != 0) {
    out += format("//   exactly %u x %u x %u threads\n", k.reqntid[0], k.reqntid[1], k.reqntid[2]);
  } else if (k.max_threads != 0) {
    out += format("//   at most %u threads\n", k.max_threads);
  }
  out += format("//   %u bytes of parameters", k.param_bytes);
  for (std::size_t i = 0; i < k.params.size(); ++i) {
    const Param& p = k.params[i];
    out += (i == 0 ? ": " : ", ") + std::string(name_of(p.type)) + " " +
           (p.name.empty() ? "param" + std::to_string(i) : p.name) +
           format(" at 0x%x", info(arch).param_base + p.offset);
  }
  out += "\n";
  const Manifest& m = k.manifest;
  if (m.name.empty()) return out;
  if (!m.variant.empty()) {
    out += "//   variant";
    for (const auto& [name, value] : m.variant) out += " " + name + "=" + value;
    out += "\n";
  }
  for (const std::string& n : m.needs) out += "//   needs " + n + "\n";
  if (!m.accum.empty()) out += "//   accum " + m.accum + "\n";
  if (!m.bound.empty()) out += "//   bound " + m.bound + "\n";
  return out;
}

std::string code_of(Arch arch, const KernelImage& k, bool words) {
  const Encoding encoding = info(arch).encoding;
  std::string out;
  for (std::size_t i = 0; i < k.code.size(); ++i) {
    const std::uint64_t address = address_of(encoding, i);
    const Word& w = k.code[i];
    if (words && encoding == Encoding::k128) out += format("0x%016" PRIx64 " 0x%016" PRIx64 "  ", w.lo, w.hi);
    if (words && encoding == Encoding::k64) out += format("0x%016" PRIx64 "  ", w.lo);
    const Result<Inst> inst = decode(arch, w, address);
    out += format("/*%04" PRIx64 "*/  %-14s ", address, control_column(get_control(w)).c_str());
    if (inst.ok()) {
      out += print(*inst);
    } else if (const std::string* declared = declared_at(k.manifest, static_cast<std::uint32_t>(i));
               const std::optional<Inst> raw = raw_word(arch, w, declared == nullptr ? "" : *declared)) {
      out += print(*raw);
      if (declared == nullptr) out += "  // " + inst.error().message;
    } else {
      out += encoding == Encoding::k128 ? format(".word 0x%016" PRIx64 ", 0x%016" PRIx64, w.lo, w.hi)
                                        : format(".word 0x%016" PRIx64, w.lo);
      out += "  // " + inst.error().message;
    }
    out += "\n";
  }
  return out;
}

}  // namespace nervanagpu::sass
