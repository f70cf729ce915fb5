// The parts of a Network that its files share.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "layers/impl.h"
#include "layers/packed.h"
#include "layers/program.h"
#include "nervanagpu/device.hpp"
#include "nervanagpu/layers/network.hpp"
#include "src/feed.h"

namespace nervanagpu {

struct Network::Impl {
  // While it lives, passes add to the rows.
  class Observing {
   public:
    Observing(Impl& net, std::vector<StatisticsRow>& rows_out);
    ~Observing() { run_.observer = nullptr; }
    Observing(const Observing&) = delete;
    Observing& operator=(const Observing&) = delete;

   private:
    layers::Run& run_;
  };

  // The last steps of training, if they were like each other: layers/recorded_step.cpp.
  class RecordedStep;

  enum class Mode : std::uint8_t { inference, training, input_gradient };

  Impl(std::vector<layers::LayerPtr> chain, const Shape& input_shape, const NetworkOptions& opts);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::vector<layers::LayerPtr> layers;
  layers::Sample in, out;
  NetworkOptions options;
  std::vector<layers::Parameter*> parameters;
  std::vector<layers::Packed> packed;  // the same ones
  bool classifies = false;             // a softmax is at the end
  bool share = true;

  int device = get_device();  // where its tensors are
  Tensor arena;               // bytes
  std::map<std::pair<std::int64_t, Mode>, std::unique_ptr<layers::Program>> programs;
  std::map<const layers::Program*, std::unique_ptr<RecordedStep>> recorded;  // by the steps' program
  const layers::Program* last_step = nullptr;                                // the program of the step before
  Tensor rate;  // the learning rate, float32: what a graph replays reads it
  float rate_now = NAN;
  layers::Run run;
  const layers::Program* pending = nullptr;  // its forward pass is done and the backward pass can follow
  std::unique_ptr<Feed> feed;                // of batches to the device
  std::vector<StatisticsRow> rows;

  // --- programs (build.cpp)
  [[nodiscard]] std::unique_ptr<layers::Program> build(std::int64_t n, Mode mode) const;
  const layers::Program& prepare(std::int64_t n, Mode mode);
  void forget_programs();
  void prepare_gradients();

  // --- host data (steps.cpp)
  [[nodiscard]] std::int64_t count_of(const Samples& x, const char* name) const;
  void check_labels(Labels y, std::int64_t count, const char* name) const;
  // n samples, number which[0 .. n) (nullptr: from `first` on), and their labels (none: zeros) are sent to the device.
  struct Batch {
    const Samples& x;
    Labels y{};
    std::int64_t n = 0, first = 0;
    const std::int64_t* which = nullptr;
  };
  void send(const Batch& batch);
  // What was sent is there: what is done ahead of the forward pass.
  void arrive(const layers::Program& p);
  void infer(const layers::Program& p);  // arrive, and the forward pass
  [[nodiscard]] std::vector<float> read(const layers::Ref& r) const;
  // Of losses and hits (2, n), sums.
  [[nodiscard]] static Evaluation judge(std::span<const float> judged);

  // --- steps (steps.cpp)
  std::vector<float> forward(const Samples& x, bool input_gradient);
  std::vector<float> backward_of(const layers::Program& p);
  void update(const SgdStep& step);
  void set_rate(float lr);
  // Forward, backward and update, of a graph if there is one.
  void whole_step(const layers::Program& p, const SgdStep& step);
  // Of the batch that was sent. Whoever reads `judged` waits for it.
  void train(const layers::Program& p, const SgdStep& step, bool observe);
  Evaluation evaluate(const Samples& x, Labels y, std::int64_t batch);
  void parameter_rows(std::vector<StatisticsRow>& rows_out) const;
};

}  // namespace nervanagpu
