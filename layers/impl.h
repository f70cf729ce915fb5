// What a layer does, after layers::Layer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layers/program.h"
#include "nervanagpu/layers/layer.hpp"
#include "nervanagpu/pool.hpp"
#include "nervanagpu/precision.hpp"

namespace nervanagpu::layers {

// What a network decides for its layers.
struct Setup {
  Layout layout = Layout::channels_last;
  Dtype dtype = Dtype::float32;
  bool master = false;
  std::uint64_t seed = 0;
  float loss_scale = 1.0F;
  Precision precision = Precision::tensor;
};

// Initial values: uniform in +- sqrt(6 / fan). Zero: fan = 0.
struct Init {
  double fan = 0.0;
};

// Where a layer's data gradient goes.
struct Sink {
  bool wanted = false;
  Ref into;          // if valid: this tensor; else one of the layer's own
  bool add = false;  // to what `into` holds
};

// How a layer takes the gradient of the ReLU that made its x along with its own, if it can.
enum class TakesRelu : std::uint8_t {
  no,
  bits,   // of x > 0, one each, which the layer before leaves
  places  // of the maxima of x, which it keeps itself
};

class Layer::Impl {
 public:
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  virtual ~Impl() = default;

  [[nodiscard]] virtual const char* kind() const = 0;
  [[nodiscard]] virtual Config config() const = 0;
  // The output for `in`, and what follows from it. Throws without having changed anything.
  virtual Sample shape(const Sample& in) = 0;
  [[nodiscard]] virtual double flops() const { return 0.0; }
  [[nodiscard]] virtual const std::vector<std::vector<LayerPtr>>* branches() const { return nullptr; }
  // Makes the parameters; in_ and out_ are known.
  virtual void declare(const Setup& setup) { static_cast<void>(setup); }
  // The forward pass of x; the result, in `into` if that is valid. Its `disposable` says whether the backward pass needs
  // it. dy of the backward pass may be overwritten.
  virtual Ref fprop(Program& program, const Ref& x, const Ref& into) = 0;
  virtual Ref bprop(Program& program, const Ref& dy, const Sink& sink) = 0;
  // The forward pass of the layer before, of its x, and of this one together, if one kernel computes both: this one's result. Else
  // an invalid one, and nothing has been written down.
  virtual Ref fprop_behind(Program& program, Impl& before, const Ref& x, const Ref& into);
  // Whether one kernel computes this layer's fprop of x and the pool after it. If so, that as an operation: y = the pool's result,
  // with the codes of the largest if argmax is valid.
  [[nodiscard]] virtual bool pools_at_once(const Ref& x, const PoolProblem& pool) const;
  virtual void fprop_pooled(Program& program, const Ref& x, const PoolProblem& pool, const Ref& y, const Ref& argmax);

  [[nodiscard]] std::int64_t batch_of(const Ref& x) const;  // samples in a tensor of the network's layout
  // Whether its result is that of a ReLU, and it can leave its bits.
  [[nodiscard]] virtual bool ends_in_relu() const { return false; }
  [[nodiscard]] virtual bool leaves_bits() const { return ends_in_relu(); }
  [[nodiscard]] virtual TakesRelu takes_relu() const { return TakesRelu::no; }
  // Whether its result may be a part of the channels of a wider one, and dy of bprop such a part. If `closed`, the layer
  // that has the whole has done what end_bprop() does: the ReLU's gradient and that of the bias, which may be null.
  [[nodiscard]] virtual bool takes_slices() const { return false; }
  [[nodiscard]] virtual Parameter* end_bias() { return nullptr; }
  // Whether its bprop can make the sums of dx's channels.
  [[nodiscard]] virtual bool sums_dx() const { return false; }
  bool closed = false;
  // Whether bprop observes its deltas, in front of its ReLU; else they are dy.
  [[nodiscard]] virtual bool shows_deltas() const { return false; }

  // What chain_fprop() decides for a program: who takes the gradient of the ReLU between two layers, and that of the bias.
  struct Relus {
    bool passed = false;  // of its own ReLU: dy of bprop is the gradient in front of it
    Ref bits;             // of its own ReLU, to be written; invalid: nobody wants them
    bool of_x = false;    // of the ReLU that made x: dx of bprop is the gradient in front of it
    Ref x_bits;
    bool bias_made = false;       // the gradient of its own bias, with dy
    Parameter* x_bias = nullptr;  // of the layer that made x: its gradient is the sums of dx's channels
  };

  Sample in, out;
  Relus relus;
  bool configured = false;
  bool owned = false;  // by a network
  std::string name;
  std::uint64_t index = 0;  // among all layers of the network: tells their random numbers apart
  std::vector<Parameter> parameters;
  Setup setup;

 protected:
  // A parameter of `setup.dtype` (bias: float32) whose values come from the network's seed. axes, order: parameter's.
  Parameter& declare_parameter(const char* what, Shape shape, Shape axes, std::vector<int> order, const Init& init,
                               bool is_bias);
  [[nodiscard]] Shape batch_shape(const Sample& s, std::int64_t n) const;
  [[nodiscard]] bool channel_last() const { return setup.layout == Layout::channels_last; }

  // The result of a layer that maps element to element: `into`, x itself if that may be overwritten, or a new tensor.
  [[nodiscard]] Ref result_like(Program& program, const Ref& x, const Ref& into) const;
  // The data gradient of such a layer, which was computed in place as `dx`, delivered.
  static Ref deliver(Program& program, const Ref& dx, const Sink& sink);
  // Back through what follows a layer's sums, y = relu(sums + bias): dy *= relu'(y) if `relu` and nobody has done it, then the
  // gradient of the bias from dy unless that is null or made; both in one pass. dy is then the layer's `deltas`.
  void end_bprop(Program& program, bool relu, const Ref& y, const Ref& dy, Parameter* bias) const;
  // Whether the tensor cores compute it, whose kernels make and apply the bits of a ReLU on their way.
  [[nodiscard]] bool makes_bits() const;
  // The gradient of the bias from dy.
  void bias_bprop(Program& program, const Ref& dy, Parameter& bias) const;
};

// Layers one after another, as a network and a branch have them.
Sample chain_shape(const std::vector<LayerPtr>& chain, const Sample& in);
Ref chain_fprop(Program& program, const std::vector<LayerPtr>& chain, Ref x, const Ref& into);
Ref chain_bprop(Program& program, const std::vector<LayerPtr>& chain, Ref dy, const Sink& sink);

// An extent as (D, H, W): `fill` for axes there are not. Throws InvalidArgument naming `what`.
std::array<std::int64_t, 3> spatial(const std::string& what, const Extent& e, int axes, std::int64_t fill);

// Each layer from its table entry.
#define NG_LAYER(name, make) std::unique_ptr<Layer::Impl> make(const Config& c);
#include "layers/kinds.inc"
#undef NG_LAYER
bool is_softmax(const Layer& layer);

}  // namespace nervanagpu::layers
