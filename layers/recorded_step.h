// Steps of training that are like each other: the second is recorded in a graph, which the ones after it replay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layers/network_impl.h"
#include "nervanagpu/graph.hpp"

namespace nervanagpu {

class Network::Impl::RecordedStep {
 public:
  // What a graph has for good: where everything lies, and the numbers of a step but for its learning rate.
  struct Form {
    float momentum = 0.0F, weight_decay = 0.0F;
    std::vector<std::uint64_t> addresses;
    bool operator==(const Form&) const = default;
  };
  static Form form_of(const Impl& net, const SgdStep& step);

  explicit RecordedStep(Form form) : form_(std::move(form)) {}
  [[nodiscard]] const Form& form() const { return form_; }

  [[nodiscard]] bool recorded() const { return graph_.has_value(); }
  // Computes nothing. False for want of memory.
  bool record(Impl& net, const layers::Program& p, const SgdStep& step);
  void replay(Impl& net) const;

 private:
  Form form_;
  std::optional<Graph> graph_;
  bool no_room_ = false;
};

}  // namespace nervanagpu
