#include "layers/packed.h"

#include <algorithm>
#include <utility>

namespace nervanagpu::layers {
namespace {

constexpr std::int64_t kAlign = 128;  // elements: kernels find each parameter at a multiple of 256 bytes

bool has_master(const Parameter& p) {
  return p.master.size() == p.value.size();
}

}  // namespace

std::vector<Packed> Packed::of(const std::vector<Parameter*>& parameters) {
  std::vector<Packed> groups;
  for (Parameter* p : parameters) {
    const auto alike = [&](const Packed& g) {
      const Parameter& first = *g.members_[0];
      return first.value.dtype() == p->value.dtype() && first.decays == p->decays &&
             has_master(first) == has_master(*p);
    };
    auto group = std::ranges::find_if(groups, alike);
    if (group == groups.end()) {
      groups.emplace_back();
      group = groups.end() - 1;
      group->decays = p->decays;
    }
    group->members_.push_back(p);
  }
  for (Packed& g : groups) {
    std::int64_t size = 0;
    for (const Parameter* p : g.members_) {
      g.first_.push_back(size);
      size += (p->value.size() + kAlign - 1) / kAlign * kAlign;
    }
    g.value = Tensor::zeros({size}, g.members_[0]->value.dtype());
    if (has_master(*g.members_[0])) g.master = Tensor::zeros({size});
    for (std::size_t i = 0; i < g.members_.size(); ++i) {
      Parameter& p = *g.members_[i];
      for (const auto& [whole, own] : {std::pair{&g.value, &p.value}, std::pair{&g.master, &p.master}}) {
        if (own->size() == 0) continue;
        Tensor there = g.part(*whole, i);
        there.copy_from(*own);
        there.set_name(own->name());
        *own = there;
      }
    }
  }
  return groups;
}

Tensor Packed::part(const Tensor& whole, std::size_t i) const {
  const Shape& shape = members_[i]->value.shape();
  return whole.slice(0, first_[i], first_[i] + members_[i]->value.size()).reshape(shape);
}

void Packed::make_gradients() {
  if (velocity.size() == value.size() && gradient.size() == value.size()) return;
  Tensor gradients = Tensor::zeros(value.shape(), value.dtype());
  velocity = Tensor::zeros(value.shape());
  gradient = std::move(gradients);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i]->velocity = part(velocity, i);
    members_[i]->gradient = part(gradient, i);
  }
}

}  // namespace nervanagpu::layers
