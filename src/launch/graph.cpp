// Work recorded once, with the memory it holds on to.
#include "nervanagpu/graph.hpp"

#include <string>
#include <utility>

#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "src/device/device.h"
#include "src/device/placement.h"
#include "src/expr/deferred.h"
#include "src/expr/pending.h"

namespace nervanagpu {

struct Graph::Recorded {
  Device* device = nullptr;
  GraphId id = 0;  // 0: not recorded yet

  Recorded() = default;
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded() {
    if (id != 0) device->destroy_graph(id);
  }
};

namespace {

// What this thread writes while one lives is the graph's own.
class Recording {
 public:
  explicit Recording(const void* graph) : graph_(graph), outer_(std::exchange(expr::recorded_graph, graph)) {}
  ~Recording() {
    expr::drop_writes(graph_);  // those of a body that failed
    expr::end_recording(graph_);
    expr::recorded_graph = outer_;
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  const void* graph_;
  const void* outer_;
};

}  // namespace

Graph Graph::capture(const std::function<void()>& body) {
  return recorded_in(0, body);
}

Graph Graph::capture(const std::function<void()>& body, const Stream& stream) {
  const Placed placed("graph", {{"stream", stream}});
  if (stream.handle() == 0) throw InvalidArgument("graph: stream is the default one; needs a Stream of its own");
  return recorded_in(stream.handle(), body);
}

bool Graph::recording() noexcept {
  return expr::recorded_graph != nullptr;
}

Graph Graph::recorded_in(std::uint64_t stream, const std::function<void()>& body) {
  if (!body) throw InvalidArgument("graph: there is no body");
  auto recorded = std::make_shared<Recorded>();
  recorded->device = &current_device();
  expr::evaluate_own();  // it is no part of the graph
  recorded->device->begin_capture(stream);
  const Recording recording(recorded.get());
  try {
    body();
  } catch (...) {
    recorded->device->abandon_capture(stream);
    throw;
  }
  recorded->id = recorded->device->end_capture(stream);
  Graph out;
  out.recorded_ = std::move(recorded);
  return out;
}

void Graph::launch(const Stream& stream) const {
  if (recorded_ == nullptr) throw InvalidArgument("graph: nothing was captured");
  const Placed placed("graph", {{"the graph", recorded_->device->info().ordinal}, {"stream", stream}});
  expr::evaluate_own();  // nobody knows what a graph writes: it has the values of now
  recorded_->device->launch_graph(recorded_->id, stream.handle());
}

}  // namespace nervanagpu
