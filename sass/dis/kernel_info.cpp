#include "sass/dis/kernel_info.h"

#include <optional>

#include "sass/dis/nv_info.h"

namespace nervanagpu::sass {
namespace {

std::string number(std::uint64_t v) {
  return std::to_string(v);
}

// KPARAM_INFO knows sizes, not types.
std::optional<ParamType> integer_of(std::uint32_t size) {
  switch (size) {
    case 1: return ParamType::u8;
    case 2: return ParamType::u16;
    case 4: return ParamType::u32;
    case 8: return ParamType::u64;
    case 128: return ParamType::map;
    default: return std::nullopt;
  }
}

// Parameters in order of their ordinals. A kernel that takes structures by value has no list that Param could hold: it
// keeps only param_bytes.
Status collect_params(KernelImage& k, const std::vector<InfoRecord>& records, const InfoReader& in) {
  std::vector<Param> params(records.size());
  std::vector<bool> seen(records.size());
  bool scalars = true;
  for (const InfoRecord& r : records) {
    const std::uint32_t ordinal = r.word(1) & 0xffff;
    const std::uint32_t offset = r.word(1) >> 16;
    const std::uint32_t size = r.word(2) >> 18;
    if (ordinal >= records.size() || seen[ordinal]) {
      return in.fail("KPARAM_INFO: ordinal " + number(ordinal) + " of " + number(records.size()) + " parameters");
    }
    seen[ordinal] = true;
    if (offset + size > k.param_bytes) {
      return in.fail("KPARAM_INFO: offset " + number(offset) + " and size " + number(size) +
                     " reach past the parameter block of " + number(k.param_bytes) + " bytes");
    }
    const auto type = integer_of(size);
    scalars = scalars && type.has_value();
    params[ordinal].type = type.value_or(ParamType::u8);
    params[ordinal].offset = static_cast<std::uint16_t>(offset);
  }
  if (scalars) k.params = std::move(params);
  return Done{};
}

Status read_threads(const InfoRecord& r, const InfoReader& in, std::uint32_t (&to)[3]) {
  if (auto ok = in.need_words(r, 3); !ok) return ok.error();
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    to[i] = r.word(i);
    if (to[i] == 0 || to[i] > kMaxThreads) return in.fail("a CTA dimension of " + number(to[i]) + ", need 1 to 1024");
    product *= to[i];
  }
  if (product > kMaxThreads) return in.fail("a CTA of " + number(product) + " threads, at most 1024 can be");
  return Done{};
}

Status read_cluster(const InfoRecord& r, const InfoReader& in, KernelImage& k) {
  if (auto ok = in.need_words(r, 3); !ok) return ok.error();
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t n = r.word(i);
    product *= n;
    if (n == 0 || n > kMaxCluster || product > kMaxCluster) {
      return in.fail("CTA_PER_CLUSTER: " + number(r.word(0)) + " x " + number(r.word(1)) + " x " + number(r.word(2)) +
                     " CTAs, need 1 to " + number(kMaxCluster));
    }
    k.cluster[i] = n;
  }
  return Done{};
}

Status read_cbank(Arch arch, const InfoRecord& r, const InfoReader& in, KernelImage& k) {
  if (auto ok = in.need_words(r, 2); !ok) return ok.error();
  const std::uint32_t base = r.word(1) & 0xffff;
  if (base != info(arch).param_base) {
    return in.fail("PARAM_CBANK: parameters at " + number(base) + ", need " + number(info(arch).param_base));
  }
  k.param_bytes = r.word(1) >> 16;
  return Done{};
}

// One record; parameters are gathered, because their block's size may come later.
Status read_record(Arch arch, const InfoRecord& r, const InfoReader& in, KernelImage& k,
                   std::vector<InfoRecord>& params) {
  if (r.is(Attr::kKparamInfo)) {
    params.push_back(r);
    return in.need_words(r, 3);
  }
  if (r.is(Attr::kParamCbank)) return read_cbank(arch, r, in, k);
  if (r.is(Attr::kCtaPerCluster)) return read_cluster(r, in, k);
  if (r.is(Attr::kReqntid)) return read_threads(r, in, k.reqntid);
  if (r.is(Attr::kMaxThreads)) {
    std::uint32_t cta[3] = {0, 0, 0};
    if (auto ok = read_threads(r, in, cta); !ok) return ok.error();
    k.max_threads = cta[0] * cta[1] * cta[2];
  }
  if (r.is(Attr::kCbankParamSize) && r.format == InfoFormat::kHalf) k.param_bytes = r.half;
  if (r.is(Attr::kNumBarriers) && r.format == InfoFormat::kByte) k.barriers = r.half & 0xff;
  return Done{};
}

}  // namespace

Status read_info_of_kernel(Arch arch, ByteView section, KernelImage& k) {
  InfoReader in(section, ".nv.info");
  std::vector<InfoRecord> params;
  InfoRecord r;
  for (;;) {
    const auto more = in.next(r);
    if (!more) return more.error();
    if (!*more) break;
    if (auto ok = read_record(arch, r, in, k, params); !ok) return ok.error();
  }
  return collect_params(k, params, in);
}

}  // namespace nervanagpu::sass
