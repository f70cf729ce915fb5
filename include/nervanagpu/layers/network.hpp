// A chain of layers that learns: forward, backward and update, and training with all three.
//
// Everything between the layers lives in one arena, planned from the first to the last use of each tensor; a step after
// the first of its batch size takes no memory from the device. The same seed and data give the same bits, on every
// device of an architecture; with Precision::strict on every device. After an exception (out of memory, one thrown by a callback) the parameters are those of the last whole step
// and the network can be used on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nervanagpu/export.hpp"
#include "nervanagpu/layers/layer.hpp"
#include "nervanagpu/nn.hpp"
#include "nervanagpu/precision.hpp"
#include "nervanagpu/stream.hpp"

namespace nervanagpu {

struct NetworkOptions {
  Layout layout = Layout::channels_last;    // or batch_last, of what lies between the layers
  Dtype dtype = Dtype::float32;             // or float16, bfloat16: of weights and what lies between layers
  std::uint64_t seed = 1;                   // of initial weights, dropout, shuffling and stochastic rounding
  bool stochastic = false;                  // results and weights are rounded stochastically in training
  int bits = 0;                             // mantissa bits that stochastic rounding keeps; 0: all of the dtype's
  bool master = true;                       // 16-bit floats: updates are done on float32 copies of weights
  float loss_scale = 0.0F;                  // gradients are multiplied by it on their way; 0: 1, for float16 128
  Precision precision = Precision::tensor;  // of float32 products and convolutions, whatever precision() says
  Stream stream{};
  // A step of training that is like the one before (as many samples, momentum and weight decay) is recorded in a graph,
  // which the steps after it replay: the same bits, one launch from the host. Not with stochastic rounding.
  bool graphs = true;
};

// Samples in host memory, row-major (count, D, H, W, C) or (count, features), whatever the network's layout.
struct Samples {
  Samples(std::span<const float> v) : data(v.data()), elements(v.size()), dtype(Dtype::float32) {}       // NOLINT
  Samples(const std::vector<float>& v) : Samples(std::span<const float>(v)) {}                           // NOLINT
  Samples(std::span<const std::uint8_t> v) : data(v.data()), elements(v.size()), dtype(Dtype::uint8) {}  // NOLINT
  Samples(std::span<const std::int8_t> v) : data(v.data()), elements(v.size()), dtype(Dtype::int8) {}    // NOLINT
  const void* data;
  std::size_t elements;
  Dtype dtype;
};
using Labels = std::span<const std::int32_t>;  // 0 .. classes - 1

struct SgdStep {
  float lr = 0.01F, momentum = 0.0F, weight_decay = 0.0F;
};

struct Evaluation {
  double loss = 0.0;      // mean cross-entropy
  double accuracy = 0.0;  // part of the samples whose largest output is the label's
};

// One list entry an epoch.
struct History {
  std::vector<double> loss, accuracy;          // means over the epoch's steps, as they were trained
  std::vector<double> val_loss, val_accuracy;  // empty without validation
};

struct Progress {
  int epoch = 0, epochs = 0;             // from 0
  std::int64_t sample = 0, samples = 0;  // of this epoch, done
  Evaluation so_far;                     // of this epoch
  bool epoch_done = false;               // `history` has this epoch
  const History* history = nullptr;
};

struct FitOptions {
  int epochs = 1;
  std::int64_t batch = 0;  // 0: that of a Data layer, else 64
  float lr = 0.01F, momentum = 0.9F, weight_decay = 0.0F;
  bool shuffle = true;                    // another order in each epoch
  bool statistics = false;                // the last step of each epoch leaves statistics()
  const Samples* validation_x = nullptr;  // both or none
  Labels validation_y{};
  std::function<void(const Progress&)> callback{};  // after each step and each epoch; an exception ends the fit
  bool each_step = true;  // false: the callback is called after epochs alone, and nobody waits for the steps between
};

// Mean and largest absolute value of a tensor of a step. what: "activations" (a layer's result), "deltas" (its
// gradient), "weights", "updates" (the weights' gradient). Gradients without the loss scale.
struct StatisticsRow {
  std::string layer, what;
  double mean_abs = 0.0, max_abs = 0.0;
};

struct MemoryPlan {
  std::size_t arena = 0;     // bytes, as planned
  std::size_t unshared = 0;  // bytes if no two tensors shared memory
};

class NG_API Network {
 public:
  // input_shape: (features,), (W, C), (H, W, C) or (D, H, W, C); empty: that of the Data layer at the front. All of its
  // work is on the device that is current here.
  // Throws InvalidArgument or TypeError, naming the layer, if shapes or dtypes do not fit.
  explicit Network(std::vector<layers::LayerPtr> layers, const Shape& input_shape = {},
                   const NetworkOptions& options = {});
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  [[nodiscard]] const std::vector<layers::LayerPtr>& layers() const;
  [[nodiscard]] const layers::Sample& in() const;
  [[nodiscard]] const layers::Sample& out() const;  // of a softmax: (classes,)
  [[nodiscard]] const NetworkOptions& options() const;
  [[nodiscard]] std::vector<layers::Parameter*> parameters() const;

  History fit(const Samples& x, Labels y, const FitOptions& options = {});
  // The results, row-major (count, ...) without the loss scale; of a softmax the probabilities.
  [[nodiscard]] std::vector<float> predict(const Samples& x, std::int64_t batch = 256);
  [[nodiscard]] Evaluation evaluate(const Samples& x, Labels y, std::int64_t batch = 256);

  // One step in parts. forward: of all samples as one batch, in training mode; returns the results as predict does.
  // backward: the gradients of the mean cross-entropy of `y` (a network with a softmax at its end), or of
  // sum(results * dy) (one without); returns d/dx like x if `forward` was told to keep what that takes, else nothing.
  std::vector<float> forward(const Samples& x, bool input_gradient = false);
  std::vector<float> backward(Labels y);
  std::vector<float> backward(std::span<const float> dy);
  // v = momentum v + gradient + weight_decay w (not of biases); w -= lr v.
  void update(const SgdStep& step);
  // forward, backward and update; the loss and accuracy before the update.
  Evaluation train_step(const Samples& x, Labels y, const SgdStep& step);

  // Of one more forward and backward pass over these samples, without an update; or what the last `fit` left.
  std::vector<StatisticsRow> statistics(const Samples& x, Labels y);
  [[nodiscard]] const std::vector<StatisticsRow>& statistics() const;

  // A table: shapes, parameters, FLOPs, memory.
  [[nodiscard]] std::string summary(std::int64_t batch = 64) const;
  [[nodiscard]] double flops() const;  // of the forward pass of one sample
  [[nodiscard]] MemoryPlan memory(std::int64_t batch, bool training) const;
  // Called between the operations of every pass; what it throws ends the call, a fit between two updates. {}: nothing is.
  void set_interrupt(std::function<void()> check);
  // Whether tensors share memory; results are the same. For finding out what a plan does.
  void share_memory(bool share);

  // safetensors: parameters in the layout-independent form, the network itself as JSON in the metadata. optimizer:
  // also the velocities. The file is replaced as a whole or not at all. Throws Error if it cannot be written or read.
  void save(const std::string& path, bool optimizer = false) const;
  static Network load(const std::string& path);
  // Parameters from a file of a network of the same layers; its layout may differ. Nothing changes if one is missing
  // or of another shape or dtype.
  void load_parameters(const std::string& path);

 private:
  struct Impl;
  explicit Network(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nervanagpu
