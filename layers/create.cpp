// Layers from options and from table entries.
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "layers/fields.h"
#include "layers/impl.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/layers/layer.hpp"

namespace nervanagpu::layers {
namespace {

std::unique_ptr<Layer::Impl> inception_from(const Config& c) {
  Fields f(c, "Inception");
  f.ignore({"partitions"});
  f.done();
  const auto it = c.fields().find("partitions");
  if (it == c.fields().end() || !std::holds_alternative<Branches>(it->second)) {
    throw InvalidArgument("Inception: partitions is missing; needs lists of layers");
  }
  std::vector<std::vector<LayerPtr>> branches;
  for (const auto& partition : std::get<Branches>(it->second)) {
    branches.emplace_back();
    for (const Config& layer : partition) branches.back().push_back(Layer::create(layer));
  }
  return make_inception(std::move(branches));
}

std::unique_ptr<Layer::Impl> softmax_from(const Config& c) {
  Fields f(c, "SoftmaxLayer");
  f.done();
  return make_softmax();
}

using Maker = std::unique_ptr<Layer::Impl> (*)(const Config&);
constexpr std::array<std::pair<const char*, Maker>, 10> kMakers{{
    {"DataLayer", &make_data},
    {"ConvLayer", &make_conv},
    {"DeconvLayer", &make_deconv},
    {"PoolLayer", &make_pool},
    {"FullLayer", &make_full},
    {"BiasLayer", &make_bias},
    {"ActivationLayer", &make_activation},
    {"DropoutLayer", &make_dropout},
    {"Inception", &inception_from},
    {"SoftmaxLayer", &softmax_from},
}};

LayerPtr from(const Config& c) {
  return Layer::create(c);
}

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

LayerPtr data(const Shape& shape, const DataOptions& options) {
  return from(
      {{"layer", "DataLayer"}, {"shape", shape}, {"N", options.batch}, {"dtype", std::string(name_of(options.dtype))}});
}

LayerPtr conv(std::int64_t channels, const Extent& window, const ConvSpec& s) {
  return from({{"layer", "ConvLayer"},
               {"K", channels},
               {"window", window.values()},
               {"stride", s.stride.values()},
               {"padding", s.padding.values()},
               {"dilation", s.dilation.values()},
               {"groups", s.groups},
               {"bias", s.bias},
               {"relu", s.relu}});
}

LayerPtr deconv(std::int64_t channels, const Extent& window, const DeconvSpec& s) {
  return from({{"layer", "DeconvLayer"},
               {"K", channels},
               {"window", window.values()},
               {"stride", s.stride.values()},
               {"padding", s.padding.values()},
               {"dilation", s.dilation.values()},
               {"output_padding", s.output_padding.values()},
               {"groups", s.groups},
               {"bias", s.bias},
               {"relu", s.relu}});
}

LayerPtr pool(const Extent& window, const PoolSpec& s) {
  return from({{"layer", "PoolLayer"},
               {"op", s.op == PoolOp::max   ? "max"
                      : s.op == PoolOp::avg ? "avg"
                                            : "l2"},
               {"window", window.values()},
               {"stride", s.stride.values()},
               {"padding", s.padding.values()},
               {"J", s.maps},
               {"str_j", s.maps_stride},
               {"pad_j", s.maps_padding},
               {"count_padding", s.count_padding}});
}

LayerPtr full(std::int64_t outputs, const FullSpec& s) {
  return from({{"layer", "FullLayer"}, {"nOut", outputs}, {"bias", s.bias}, {"relu", s.relu}});
}

LayerPtr bias() {
  return from({{"layer", "BiasLayer"}});
}

LayerPtr activation(Activation f, float slope) {
  constexpr std::array<const char*, 5> kNames = {"identity", "relu", "leaky_relu", "tanh", "sigmoid"};
  return from({{"layer", "ActivationLayer"},
               {"activation", kNames[static_cast<std::size_t>(f)]},
               {"slope", static_cast<double>(slope)}});
}

LayerPtr dropout(double rate) {
  return from({{"layer", "DropoutLayer"}, {"rate", rate}});
}

LayerPtr inception(std::vector<std::vector<LayerPtr>> branches) {
  return std::make_shared<Layer>(make_inception(std::move(branches)));
}

LayerPtr softmax() {
  return from({{"layer", "SoftmaxLayer"}});
}

}  // namespace nervanagpu::layers
