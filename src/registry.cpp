#include "src/registry.h"

#include <algorithm>
#include <optional>

#include "nervanagpu/error.hpp"

namespace nervanagpu {
namespace {

// "sgemm.sm_90a" -> sm_90a
std::optional<sass::Arch> arch_of(const EmbeddedCubin& cubin) {
  const std::string_view name = cubin.name;
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::nullopt : sass::arch_from_name(name.substr(dot + 1));
}

}  // namespace

std::uint32_t Kernel::dynamic_shared() const {
  return manifest().shared > image->shared ? manifest().shared - image->shared : 0;
}

int Kernel::number(const std::string& definition) const {
  const auto it = manifest().variant.find(definition);
  if (it == manifest().variant.end()) return 0;
  int n = 0;
  for (const char c : it->second) {
    if (c < '0' || c > '9' || n > 100'000'000) return 0;
    n = n * 10 + (c - '0');
  }
  return n;
}

const sass::Condition* Kernel::unmet(std::span<const std::int64_t> params) const {
  for (const sass::Condition& c : needs) {
    if (!c.may_hold(params)) return &c;
  }
  return nullptr;
}

Registry::Registry(std::span<const EmbeddedCubin> cubins, sass::Arch arch) : arch_(arch) {
  for (const EmbeddedCubin& cubin : cubins) {
    if (arch_of(cubin) == arch) cubins_.push_back(cubin);
  }
  for (const EmbeddedCubin& cubin : cubins_) {
    sass::Result<sass::CubinImage> image = sass::read_cubin(cubin.begin, cubin.size);
    if (!image.ok()) throw Error("embedded cubin " + std::string(cubin.name) + ": " + image.error().text());
    images_.push_back(std::move(*image));
  }
  for (std::size_t i = 0; i < images_.size(); ++i) {
    for (const sass::KernelImage& image : images_[i].kernels) {
      auto needs = sass::compile_needs(image.manifest);
      if (!needs.ok()) throw Error(needs.error().text());
      kernels_.push_back({&image, i, kernels_.size(), std::move(*needs)});
    }
  }
  for (const Kernel& k : kernels_) {
    if (!by_name_.emplace(k.name(), &k).second) throw Error("two embedded kernels are named " + k.name());
    by_op_[k.manifest().op].push_back(&k);
  }
}

const Kernel* Registry::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

std::span<const Kernel* const> Registry::of_op(std::string_view op) const {
  const auto it = by_op_.find(op);
  if (it == by_op_.end()) return {};
  return it->second;
}

std::vector<sass::Arch> archs_of(std::span<const EmbeddedCubin> cubins) {
  std::vector<sass::Arch> out;
  for (const EmbeddedCubin& cubin : cubins) {
    const std::optional<sass::Arch> arch = arch_of(cubin);
    if (arch && std::find(out.begin(), out.end(), *arch) == out.end()) out.push_back(*arch);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace nervanagpu
