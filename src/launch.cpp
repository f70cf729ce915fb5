// The one way to a kernel, on every device: its .needs are asked first.
#include <string>

#include "nervanagpu/error.hpp"
#include "src/device.h"

namespace nervanagpu {
namespace {

sass::LaunchSize size_of(const Grid& grid, const sass::Manifest& manifest) {
  return {grid.x, grid.y, grid.z, grid.cluster != 0 ? grid.cluster : manifest.cluster};
}

// The first condition that does not hold, or nullptr.
const sass::Condition* unmet(std::span<const sass::Condition> needs, std::span<const std::byte> params,
                             const sass::LaunchSize& size) {
  ++needs_asked;
  for (const sass::Condition& c : needs) {
    if (!c.holds(params, size)) return &c;
  }
  return nullptr;
}

std::string refusal(const sass::Manifest& manifest, const sass::Condition& c, std::span<const std::byte> params,
                    const sass::LaunchSize& size) {
  return "kernel " + manifest.name + " needs " + c.text() + "; " + c.found(manifest, params, size);
}

}  // namespace

LoadedModule::LoadedModule(const sass::CubinImage& image) {
  for (const sass::KernelImage& k : image.kernels) {
    auto compiled = sass::compile_needs(k.manifest);
    if (!compiled.ok()) throw InvalidArgument(compiled.error().text().substr(std::string_view("error: ").size()));
    needs_.push_back({compiled->empty() ? sass::Manifest{} : k.manifest, std::move(*compiled)});
  }
}

void Device::launch(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) {
  const sass::LaunchSize size = size_of(grid, kernel.manifest());
  if (const sass::Condition* c = unmet(kernel.needs, params, size)) {
    throw Error(refusal(kernel.manifest(), *c, params, size));
  }
  start(kernel, grid, params, stream);
}

void Device::launch(LoadedModule& module, const ModuleLaunch& what, StreamId stream) {
  const LoadedModule::Needs& needs = module.needs(what.kernel);
  const sass::LaunchSize size = size_of(what.grid, needs.manifest);
  if (const sass::Condition* c = unmet(needs.conditions, what.params, size)) {
    throw InvalidArgument(refusal(needs.manifest, *c, what.params, size));
  }
  start(module, what, stream);
}

}  // namespace nervanagpu
