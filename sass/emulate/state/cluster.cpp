#include "sass/emulate/state/cluster.h"

namespace nervanagpu::sass::emulate {

Cta* cta_of(const Warp& w, std::uint32_t address) {
  auto& ctas = w.cta->cluster->ctas;
  const std::uint32_t rank = address >> kRankShift;
  return rank < ctas.size() ? &ctas[rank] : nullptr;
}

bool names_another(const Warp& w, std::uint32_t address) {
  return address >> kRankShift != w.cta->rank;
}

std::string no_such_cta(const Warp& w, std::uint32_t address) {
  return "CTA rank " + std::to_string(address >> kRankShift) + " of a cluster of " +
         std::to_string(w.cta->cluster->ctas.size());
}

}  // namespace nervanagpu::sass::emulate
