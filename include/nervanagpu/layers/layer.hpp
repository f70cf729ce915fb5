// The layers a network is made of. Each is an option list until a network takes it; then it also has parameters.
//
//   auto net = ng::Network({layers::conv(16, 3, {.padding = 1, .relu = true}), layers::pool(2), layers::full(10),
//                           layers::softmax()}, {8, 8, 1});
//
// Shapes are those of one sample (sample.hpp); formulas, options and gradients of each layer: docs/layers.md.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "nervanagpu/export.hpp"
#include "nervanagpu/layers/config.hpp"
#include "nervanagpu/layers/sample.hpp"
#include "nervanagpu/nn.hpp"
#include "nervanagpu/pool.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu::layers {

// What training changes. The tensors are parts of the network's memory: what is written into them counts, another tensor in
// their place does not.
struct Parameter {
  std::string name;        // "conv1.weight"
  Tensor value;            // in the network's layout and dtype (biases: float32)
  Tensor gradient;         // of the last backward pass, times the loss scale; no elements before the first one
  Tensor velocity;         // float32; no elements before the first one
  Tensor master;           // float32, if the network keeps master weights; else no elements
  bool decays = true;      // weight decay applies: to weights, not to biases
  Shape axes;              // value split into the axes that `order` permutes
  std::vector<int> order;  // axes of the layout-independent form, as files hold it

  // A view of `t` (value, gradient, ...) in the form that does not depend on the layout: weights of convolutions
  // (K, T, R, S, C/groups), of full layers (outputs, D, H, W, C). get() and set() of it copy in row-major order.
  [[nodiscard]] NG_API Tensor canonical(const Tensor& t) const;
};

// A length for each spatial axis: one number for all of them, or a list.
class Extent {
 public:
  Extent(std::int64_t all) : values_{all} {}  // NOLINT: a number is an extent
  Extent(int all) : values_{all} {}           // NOLINT
  Extent(std::initializer_list<std::int64_t> list) : values_(list) {}
  explicit Extent(Ints list) : values_(std::move(list)) {}
  [[nodiscard]] const Ints& values() const { return values_; }

 private:
  Ints values_;
};

class Layer;
using LayerPtr = std::shared_ptr<Layer>;

class NG_API Layer {
 public:
  class Impl;
  explicit Layer(std::unique_ptr<Impl> impl);
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  ~Layer();

  // From a table entry: {"layer", "ConvLayer"} and the fields that docs/layers.md lists. Throws InvalidArgument on
  // unknown layers and fields. Convolution and full layers have relu and no bias unless the entry says otherwise.
  static LayerPtr create(const Config& config);
  // The entry that makes this layer again.
  [[nodiscard]] Config config() const;

  [[nodiscard]] std::string kind() const;         // "Conv"
  [[nodiscard]] const std::string& name() const;  // "conv1" in a network

  // The shape of what comes out for samples of shape `in`, which is remembered. Throws InvalidArgument or TypeError if
  // they do not fit, and changes nothing then; a layer of a network takes no other shape than it has.
  Sample configure(const Sample& in);
  [[nodiscard]] bool configured() const;
  [[nodiscard]] const Sample& in() const;
  [[nodiscard]] const Sample& out() const;
  // Multiplications and additions of the forward pass of one sample in matrix products and convolutions.
  [[nodiscard]] double flops() const;
  // Empty until a network takes the layer; those of an inception's branches are listed with it.
  [[nodiscard]] std::vector<Parameter*> parameters() const;

  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Passes its input on and says what it is: the shape, where the network is not told it, and the dtype (float32: that of
// the network; int8, uint8: bytes that the first convolution reads as they are). batch: what `fit` takes by default.
struct DataOptions {
  std::int64_t batch = 0;
  Dtype dtype = Dtype::float32;
};
NG_API LayerPtr data(const Shape& shape = {}, const DataOptions& options = {});

// y = act(x * w + bias)
struct ConvSpec {
  Extent stride = 1, padding = 0, dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  bool relu = false;
};
NG_API LayerPtr conv(std::int64_t channels, const Extent& window, const ConvSpec& spec = {});

// The data gradient of a convolution as a forward pass: lengths (P - 1) stride - 2 padding + dilation (R - 1) + 1 + extra.
struct DeconvSpec {
  Extent stride = 1, padding = 0, dilation = 1, output_padding = 0;
  std::int64_t groups = 1;
  bool bias = true;
  bool relu = false;
};
NG_API LayerPtr deconv(std::int64_t channels, const Extent& window, const DeconvSpec& spec = {});

// Windows of space and, with `maps`, of channels. stride: 0 is the window's.
struct PoolSpec {
  Extent stride = 0, padding = 0;
  PoolOp op = PoolOp::max;
  std::int64_t maps = 1, maps_stride = 0, maps_padding = 0;
  bool count_padding = false;  // of avg
};
NG_API LayerPtr pool(const Extent& window, const PoolSpec& spec = {});

// y = act(w x + bias) over all elements of a sample.
struct FullSpec {
  bool bias = true;
  bool relu = false;
};
NG_API LayerPtr full(std::int64_t outputs, const FullSpec& spec = {});

NG_API LayerPtr bias();                                                  // one number for each channel
NG_API LayerPtr activation(Activation f, float slope = 0.01F);           // slope: of leaky_relu
NG_API LayerPtr dropout(double rate = 0.5);                              // the part that is set to 0 in training
NG_API LayerPtr inception(std::vector<std::vector<LayerPtr>> branches);  // side by side; results joined along channels
NG_API LayerPtr softmax();  // the last layer; with cross-entropy in training

}  // namespace nervanagpu::layers
