// The parts of a Network that its files share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layers/impl.h"
#include "layers/program.h"
#include "nervanagpu/device.hpp"
#include "nervanagpu/layers/network.hpp"

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

  enum class Mode : std::uint8_t { inference, training, input_gradient };

  Impl(std::vector<layers::LayerPtr> chain, const Shape& input_shape, const NetworkOptions& opts);

  std::vector<layers::LayerPtr> layers;
  layers::Sample in, out;
  NetworkOptions options;
  std::vector<layers::Parameter*> parameters;
  bool classifies = false;  // a softmax is at the end
  bool share = true;

  int device = get_device();  // where its tensors are
  Tensor arena;               // bytes
  std::map<std::pair<std::int64_t, Mode>, std::unique_ptr<layers::Program>> programs;
  layers::Run run;
  const layers::Program* pending = nullptr;  // its forward pass is done and the backward pass can follow
  std::vector<std::byte> host;               // a batch on its way to the device
  std::vector<StatisticsRow> rows;

  // --- programs (build.cpp)
  [[nodiscard]] Dtype upload_dtype() const;  // what samples are sent as: float32, or the bytes of a byte network
  [[nodiscard]] std::unique_ptr<layers::Program> build(std::int64_t n, Mode mode) const;
  const layers::Program& prepare(std::int64_t n, Mode mode);
  void prepare_gradients();

  // --- host data (steps.cpp)
  [[nodiscard]] std::int64_t count_of(const Samples& x, const char* name) const;
  void check_labels(Labels y, std::int64_t count, const char* name) const;
  // Samples `which` (all from `first` on if empty) into the arena, and their labels (none: zeros).
  void load(const layers::Program& p, const Samples& x, std::int64_t first, const std::int64_t* which);
  void load_labels(const layers::Program& p, Labels y, std::int64_t first, const std::int64_t* which);
  [[nodiscard]] std::vector<float> read(const layers::Ref& r) const;
  [[nodiscard]] Evaluation judge(const layers::Program& p, Labels y, std::int64_t first,
                                 const std::int64_t* which) const;

  // --- steps (steps.cpp)
  std::vector<float> forward(const Samples& x, bool input_gradient);
  std::vector<float> backward_of(const layers::Program& p);
  void update(const SgdStep& step);
  // Sums over the batch, not means.
  Evaluation train(const layers::Program& p, const Samples& x, Labels y, std::int64_t first, const std::int64_t* which,
                   const SgdStep& step, bool observe);
  Evaluation evaluate(const Samples& x, Labels y, std::int64_t batch);
  void parameter_rows(std::vector<StatisticsRow>& rows_out) const;
};

}  // namespace nervanagpu
