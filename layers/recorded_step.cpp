#include "layers/recorded_step.h"

#include <utility>

#include "nervanagpu/error.hpp"

namespace nervanagpu {

Network::Impl::~Impl() = default;

Network::Impl::RecordedStep::Form Network::Impl::RecordedStep::form_of(const Impl& net, const SgdStep& step) {
  Form form = {step.momentum, step.weight_decay, {net.run.arena, net.rate.address()}};
  for (const layers::Packed& g : net.packed) {
    for (const Tensor* t : {&g.value, &g.master, &g.velocity, &g.gradient}) form.addresses.push_back(t->address());
  }
  return form;
}

bool Network::Impl::RecordedStep::record(Impl& net, const layers::Program& p, const SgdStep& step) {
  if (no_room_) return false;
  // A graph is recorded in the default stream, whichever one replays it.
  const Stream own = std::exchange(net.run.stream, Stream{});
  try {
    graph_ = Graph::capture([&] {
      p.run_forward(net.run);
      p.run_backward(net.run);
      net.update(step);
    });
  } catch (const OutOfMemory&) {
    no_room_ = true;  // of the temporary memory that a graph keeps; without one the step may have room
  } catch (...) {
    net.run.stream = own;
    throw;
  }
  net.run.stream = own;
  return graph_.has_value();
}

void Network::Impl::RecordedStep::replay(Impl& net) const {
  if (net.run.interrupt) net.run.interrupt();
  graph_->launch(net.run.stream);
}

void Network::Impl::whole_step(const layers::Program& p, const SgdStep& step) {
  const bool again = std::exchange(last_step, &p) == &p;
  if (options.graphs && !options.stochastic) {
    RecordedStep::Form form = RecordedStep::form_of(*this, step);
    std::unique_ptr<RecordedStep>& known = recorded[&p];
    if (known == nullptr || known->form() != form) {
      known = std::make_unique<RecordedStep>(std::move(form));
    } else if (known->recorded() || (again && known->record(*this, p, step))) {
      return known->replay(*this);
    }
  }
  p.run_forward(run);
  p.run_backward(run);
  update(step);
}

}  // namespace nervanagpu
