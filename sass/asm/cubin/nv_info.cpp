#include "sass/asm/cubin/nv_info.h"

#include <algorithm>
#include <initializer_list>
#include <span>

#include "sass/cubin_abi.h"

namespace nervanagpu::sass {
namespace {

class InfoWriter {
 public:
  explicit InfoWriter(Bytes& out) : out_(out) {}

  void none(Attr attr) { head(InfoFormat::kNone, attr, 0); }
  void byte(Attr attr, std::uint32_t value) { head(InfoFormat::kByte, attr, value); }
  void half(Attr attr, std::uint32_t value) { head(InfoFormat::kHalf, attr, value); }
  void words(Attr attr, std::span<const std::uint32_t> values) {
    head(InfoFormat::kSized, attr, static_cast<std::uint32_t>(values.size() * 4));
    for (const std::uint32_t v : values) append_le(out_, v);
  }
  void words(Attr attr, std::initializer_list<std::uint32_t> values) {
    words(attr, std::span(values.begin(), values.size()));
  }

 private:
  void head(InfoFormat format, Attr attr, std::uint32_t half) {
    out_.push_back(static_cast<std::uint8_t>(format));
    out_.push_back(static_cast<std::uint8_t>(attr));
    append_le(out_, static_cast<std::uint16_t>(half));
  }

  Bytes& out_;
};

constexpr std::uint32_t pair(std::uint32_t low, std::uint32_t high) {
  return low | high << 16;
}

void cbank(InfoWriter& info, const KernelImage& k, std::uint32_t base, std::uint32_t symbol) {
  if (k.param_bytes != 0) info.words(Attr::kParamCbank, {symbol, pair(base, k.param_bytes)});
}

void cbank_size(InfoWriter& info, const KernelImage& k) {
  if (k.param_bytes != 0) info.half(Attr::kCbankParamSize, k.param_bytes);
}

// Last parameter first, as ptxas has it.
void params(InfoWriter& info, const KernelImage& k) {
  for (std::size_t i = k.params.size(); i-- > 0;) {
    const Param& p = k.params[i];
    info.words(Attr::kKparamInfo,
               {0, pair(static_cast<std::uint32_t>(i), p.offset), size_of(p.type) << 18 | 0x1fu << 12});
  }
}

void maxreg(InfoWriter& info, Arch arch, const KernelImage& k) {
  const std::uint32_t threads = thread_limit(k);
  const std::uint32_t fit = threads == 0 ? kMaxRegisters : register_file(arch) / threads / 8 * 8;
  info.half(Attr::kMaxregCount, std::min(fit, kMaxRegisters));
}

// A list longer than a record can hold is left out: these only help tools to patch the code.
void offsets(InfoWriter& info, Attr attr, const std::vector<std::uint32_t>& list) {
  if (!list.empty() && list.size() < 0x4000) info.words(attr, list);
}

void mbarriers(InfoWriter& info, const std::vector<MbarrierUse>& uses) {
  std::vector<std::uint32_t> words;
  std::uint32_t made = 0;
  for (const MbarrierUse& u : uses) {
    words.insert(words.end(),
                 {u.address, u.reg, u.offset, static_cast<std::uint32_t>(u.kind) | 1U << 8 | u.ureg << 16});
    made += u.kind == MbarrierUse::Kind::kInit ? 1 : 0;
  }
  offsets(info, Attr::kMbarrierOffsets, words);
  if (!words.empty()) info.half(Attr::kNumMbarriers, made);
}

void threads(InfoWriter& info, const KernelImage& k) {
  if (k.max_threads != 0) info.words(Attr::kMaxThreads, {k.max_threads, 1, 1});
  if (k.reqntid[0] != 0) info.words(Attr::kReqntid, k.reqntid);
}

// ABI 7 keeps the number of barriers in the flags of .text.
void barriers(InfoWriter& info, Arch arch, const KernelImage& k, CubinAbi abi) {
  if (abi == CubinAbi::k7) return;
  if (k.barriers != 0) info.byte(Attr::kNumBarriers, k.barriers);
  info.half(Attr::kCuda13, arch == Arch::sm_90a ? 0x101 : 0);
}

}  // namespace

std::uint32_t register_file(Arch arch) {
  return arch == Arch::sm_53 || arch == Arch::sm_62 ? 32768 : 65536;
}

std::uint32_t thread_limit(const KernelImage& k) {
  return k.reqntid[0] != 0 ? k.reqntid[0] * k.reqntid[1] * k.reqntid[2] : k.max_threads;
}

void append_global_info(Bytes& out, const KernelImage& kernel, std::uint32_t symbol) {
  InfoWriter info(out);
  info.words(Attr::kRegcount, {symbol, kernel.registers});
  info.words(Attr::kMinStackSize, {symbol, kernel.local});
  info.words(Attr::kFrameSize, {symbol, kernel.local});
}

Bytes kernel_info(Arch arch, const KernelImage& k, const CodeFacts& facts, std::uint32_t constant_symbol,
                  CubinAbi abi) {
  Bytes out;
  InfoWriter info(out);
  const std::uint32_t base = sass::info(arch).param_base;
  const bool volta = arch == Arch::sm_70 || arch == Arch::sm_75;
  const bool maxwell = arch <= Arch::sm_62;
  if (volta) info.words(Attr::kSwWar, {1});
  info.words(Attr::kCudaApiVersion, {abi == CubinAbi::k7 ? kToolkit : kToolkit8});
  if (maxwell) info.none(Attr::kSw2393858War);
  if (maxwell) info.none(Attr::kSw1850030War);
  if (arch == Arch::sm_80 || arch == Arch::sm_86) info.none(Attr::kSw2861232War);
  if (arch == Arch::sm_90a) {
    if (k.manifest.cluster > 1) {
      info.none(Attr::kExplicitCluster);
      info.words(Attr::kCtaPerCluster, {k.manifest.cluster, 1, 1});
    }
    params(info, k);
    info.half(Attr::kSparseMmaMask, 0);
    maxreg(info, arch, k);
    barriers(info, arch, k, abi);
    mbarriers(info, facts.mbarriers);
    offsets(info, Attr::kExitInstrOffsets, facts.exits);
    threads(info, k);
    cbank_size(info, k);
    cbank(info, k, base, constant_symbol);
    info.words(Attr::kSwWar, {8});
    return out;
  }
  cbank(info, k, base, constant_symbol);
  cbank_size(info, k);
  params(info, k);
  maxreg(info, arch, k);
  barriers(info, arch, k, abi);
  if (maxwell) offsets(info, Attr::kS2rctaidInstrOffsets, facts.ctaids);
  offsets(info, Attr::kExitInstrOffsets, facts.exits);
  if (facts.ctaid_z) info.none(Attr::kCtaidzUsed);
  threads(info, k);
  if (facts.crs_bytes != 0) info.words(Attr::kCrsStackSize, {facts.crs_bytes});
  return out;
}

}  // namespace nervanagpu::sass
