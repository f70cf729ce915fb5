// Layers from table entries.
#include <array>
#include <string>
#include <utility>

#include "layers/fields.h"
#include "layers/impl.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/layers/layer.hpp"

namespace nervanagpu::layers {
namespace {

using Maker = std::unique_ptr<Layer::Impl> (*)(const Config&);
constexpr auto kMakers = std::to_array<std::pair<const char*, Maker>>({
#define NG_LAYER(name, make) {name, &make},
#include "layers/kinds.inc"
#undef NG_LAYER
});

}  // namespace

LayerPtr Layer::create(const Config& config) {
  const std::string layer = config.text("layer", "");
  for (const auto& [name, make] : kMakers) {
    const std::string full = name;
    // "ConvLayer" or "Conv".
    if (layer == full || (full.ends_with("Layer") && layer == full.substr(0, full.size() - 5))) {
      try {
        return std::make_shared<Layer>(make(config));
      } catch (const InvalidArgument& e) {
        const std::string text = e.what();
        throw InvalidArgument(text.starts_with(full) || full == "Inception" ? text : full + ": " + text);
      }
    }
  }
  std::string known;
  for (const auto& [name, make] : kMakers) known += (known.empty() ? "" : ", ") + std::string(name);
  refuse("layer", "'" + layer + "'", "one of " + known);
}

}  // namespace nervanagpu::layers
