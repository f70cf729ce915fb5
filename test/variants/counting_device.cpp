#include "test/variants/counting_device.h"

#include <algorithm>
#include <cstring>

#include "src/ceil_div.h"

namespace nervanagpu::variants {
namespace {

thread_local std::vector<const Kernel*> launched_here;
thread_local std::uint32_t most_ctas_here = 0;

std::uint32_t parameter(const Kernel& kernel, std::span<const std::byte> params, std::string_view name) {
  std::uint32_t out = 0;
  for (const sass::Param& p : kernel.manifest().params) {
    if (p.name == name && p.offset + sizeof out <= params.size()) {
      std::memcpy(&out, params.data() + p.offset, sizeof out);
    }
  }
  return out;
}

}  // namespace

bool takes_tiles_in_turn(const Kernel& kernel) {
  const std::string& op = kernel.manifest().op;
  return op == "hgemm" || op == "hgemm_resident" || op == "hconv" || op == "gconv" || op == "halo" ||
         op == "halo_swapped" || op == "resident" || op == "narrow" || op == "narrow_swapped" || op == "bf16x6" ||
         op == "bf16x6_32" || op == "bf16x6_rs" || op == "f16x3" || op == "f16x3_compensated" || op == "f16x3_rs" ||
         op == "conv_bf16x6" || op == "conv_f16x3";
}

void CountingDevice::watch(std::uint32_t most_ctas) {
  launched_here.clear();
  most_ctas_here = most_ctas;
}

const std::vector<const Kernel*>& CountingDevice::launched() {
  return launched_here;
}

void CountingDevice::start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) {
  Grid used = grid;
  std::int64_t tiles = 1;  // of a CTA
  if (takes_tiles_in_turn(kernel)) {
    if (most_ctas_here != 0) used.x = std::min(used.x, most_ctas_here);
    tiles = ceil_div(std::int64_t{parameter(kernel, params, "tiles")}, std::int64_t{used.x});
  }
  launched_here.push_back(&kernel);
  {
    const std::lock_guard lock(mutex_);
    Count& c = counts_[kernel.name()];
    ++c.launches;
    c.second_tile += tiles >= 2 ? 1 : 0;
    c.third_tile += tiles >= 3 ? 1 : 0;
    c.clusters += used.cluster > 1 ? 1 : 0;
  }
  inner().launch(kernel, used, params, stream);
}

std::map<std::string, Count> CountingDevice::counts() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, Count> out = counts_;
  for (const Kernel& k : registry().kernels()) out.try_emplace(k.name());
  return out;
}

}  // namespace nervanagpu::variants
