// Parameters whose updates are alike, one after the other in common memory: one launch updates them all.
#pragma once

#include <vector>

#include "nervanagpu/layers/layer.hpp"

namespace nervanagpu::layers {

class Packed {
 public:
  // Groups of parameters, whose values and masters become parts of the groups'.
  static std::vector<Packed> of(const std::vector<Parameter*>& parameters);

  // Makes velocities of 0 and gradients, where there are none.
  void make_gradients();

  // Between the parameters lie elements that are 0 and stay it.
  Tensor value, master, velocity, gradient;  // (elements,); master: none, or float32
  bool decays = true;

 private:
  [[nodiscard]] Tensor part(const Tensor& whole, std::size_t i) const;
  std::vector<Parameter*> members_;
  std::vector<std::int64_t> first_;  // element of each
};

}  // namespace nervanagpu::layers
