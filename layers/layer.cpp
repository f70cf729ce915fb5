// The public face of a layer over its Impl.
#include "nervanagpu/layers/layer.hpp"

#include "layers/impl.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {

Layer::Layer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  impl_->name = impl_->kind();
}

Layer::~Layer() = default;

Config Layer::config() const {
  return impl_->config();
}

std::string Layer::kind() const {
  return impl_->kind();
}

const std::string& Layer::name() const {
  return impl_->name;
}

Sample Layer::configure(const Sample& in) {
  if (impl_->configured && impl_->in == in) return impl_->out;
  if (impl_->owned) {
    throw InvalidArgument(name() + ": its input has shape " + impl_->in.text() +
                          " in the network that it belongs to; " + in.text() + " needs another layer");
  }
  Sample out;
  try {
    out = impl_->shape(in);
  } catch (const TypeError& e) {
    throw TypeError(name() + ": " + e.what());
  } catch (const InvalidArgument& e) {
    // Layers of branches have said who they are.
    throw InvalidArgument(impl_->branches() != nullptr ? e.what() : name() + ": " + e.what());
  }
  impl_->in = in;
  impl_->out = out;
  impl_->configured = true;
  return out;
}

bool Layer::configured() const {
  return impl_->configured;
}

const Sample& Layer::in() const {
  return impl_->in;
}

const Sample& Layer::out() const {
  return impl_->out;
}

double Layer::flops() const {
  return impl_->configured ? impl_->flops() : 0.0;
}

std::vector<Parameter*> Layer::parameters() const {
  std::vector<Parameter*> out;
  for (Parameter& p : impl_->parameters) out.push_back(&p);
  if (const auto* branches = impl_->branches()) {
    for (const auto& branch : *branches) {
      for (const LayerPtr& layer : branch) {
        const std::vector<Parameter*> more = layer->parameters();
        out.insert(out.end(), more.begin(), more.end());
      }
    }
  }
  return out;
}

}  // namespace nervanagpu::layers
