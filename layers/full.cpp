// The fully connected layer: one product a pass, in the layout that comes.
//
//   channels_last   y (n, out) = x (n, in) w'        dw = dy' x        dx = dy w
//   batch_last      y (out, n) = w x (in, n)         dw = dy x'        dx = w' dy
#include "layers/fields.h"
#include "layers/impl.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/gemm.hpp"

namespace nervanagpu::layers {
namespace {

class Full final : public Layer::Impl {
 public:
  Full(std::int64_t outputs, bool bias, bool relu, const Expected& e)
      : outputs_(outputs), bias_(bias), relu_(relu), expected_(e) {}
  [[nodiscard]] const char* kind() const override { return "Full"; }
  [[nodiscard]] Config config() const override {
    return {{"layer", "FullLayer"}, {"nOut", outputs_}, {"bias", bias_}, {"relu", relu_}};
  }

  Sample shape(const Sample& in) override {
    expected_.check(in);
    if (in.dtype != Dtype::float32 && in.dtype != Dtype::float16) {
      throw TypeError("input has dtype " + std::string(name_of(in.dtype)) + "; needs float32 or float16");
    }
    Sample s;
    s.channels = outputs_;
    s.dtype = in.dtype;
    return s;
  }

  [[nodiscard]] double flops() const override {
    return 2.0 * static_cast<double>(in.size()) * static_cast<double>(outputs_);
  }

  void declare(const Setup& s) override {
    static_cast<void>(s);
    parameters.clear();
    parameters.reserve(2);
    const auto inputs = static_cast<double>(in.size());
    const bool last = channel_last();
    const auto& d = in.space;
    Init init;
    init.fan = relu_ ? inputs : inputs + static_cast<double>(outputs_);
    declare_parameter(
        "weight", {outputs_, in.size()},
        last ? Shape{outputs_, d[0], d[1], d[2], in.channels} : Shape{outputs_, in.channels, d[0], d[1], d[2]},
        last ? std::vector<int>{0, 1, 2, 3, 4} : std::vector<int>{0, 2, 3, 4, 1}, init, false);
    if (bias_) declare_parameter("bias", {outputs_}, {outputs_}, {0}, {}, true);
  }

  [[nodiscard]] bool ends_in_relu() const override { return relu_; }
  [[nodiscard]] TakesRelu takes_relu() const override { return makes_bits() ? TakesRelu::bits : TakesRelu::no; }
  [[nodiscard]] bool shows_deltas() const override { return true; }

  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    const std::int64_t n = batch_of(x);
    const bool last = channel_last();
    x_ = x.reshaped(last ? Shape{n, in.size()} : Shape{in.size(), n});
    Ref y = into.valid() ? into.reshaped(batch_shape(out, n)) : program.make(batch_shape(out, n), x.dtype);
    program.add({x_, y, relus.bits}, [=, this, from = x_, bits = relus.bits](Run& run) {
      Tensor to = run.tensor(y);
      const Tensor& w = parameters[0].value;
      Tensor b, mask;
      GemmOptions o;
      if (bias_) {
        b = last ? parameters[1].value : parameters[1].value.reshape({outputs_, 1});
        o.bias = &b;
      }
      o.relu = relu_;
      if (bits.valid()) {
        mask = run.tensor(bits);
        o.mask = &mask;
      }
      o.rounding = run.rounding(y.size());
      o.stream = run.stream;
      o.precision = setup.precision;
      if (last) {
        gemm(run.tensor(from), w.transpose(), to, o);
      } else {
        gemm(w, run.tensor(from), to, o);
      }
    });
    y.disposable = !program.training() || !relu_ || relus.passed;
    y_ = y;
    return y;
  }

  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    end_bprop(program, relu_, y_, dy, bias_ ? &parameters[1] : nullptr);
    const bool last = channel_last();
    program.add({dy, x_}, [=, this, x = x_](Run& run) {
      Tensor& to = parameters[0].gradient;
      GemmOptions o;
      o.rounding = run.rounding(to.size());
      o.stream = run.stream;
      o.precision = setup.precision;
      const Tensor d = run.tensor(dy);
      const Tensor from = run.tensor(x);
      if (last) {
        gemm(d.transpose(), from, to, o);
      } else {
        gemm(d, from.transpose(), to, o);
      }
    });
    if (!sink.wanted) return {};
    Ref dx = sink.into.valid() ? sink.into : program.make(batch_shape(in, batch_of(x_)), dy.dtype);
    const Ref flat = dx.reshaped(x_.shape);
    const float beta = sink.add ? 1.0F : 0.0F;
    // Those of positions lie as those of as many features.
    const Ref bits =
        relus.x_bits.valid() ? relus.x_bits.reshaped({x_.shape[0], relus.x_bits.size() / x_.shape[0]}) : Ref{};
    program.add({dy, flat, bits}, [=, this](Run& run) {
      Tensor to = run.tensor(flat), mask;
      GemmOptions o;
      o.beta = beta;
      if (bits.valid()) {
        mask = run.tensor(bits);
        o.mask = &mask;
        o.activation = GemmActivation::drelu;
      }
      o.rounding = run.rounding(flat.size());
      o.stream = run.stream;
      o.precision = setup.precision;
      const Tensor& w = parameters[0].value;
      const Tensor d = run.tensor(dy);
      if (last) {
        gemm(d, w, to, o);
      } else {
        gemm(w.transpose(), d, to, o);
      }
    });
    return dx;
  }

 private:
  std::int64_t outputs_;
  bool bias_, relu_;
  Expected expected_;
  Ref x_, y_;
};

}  // namespace

std::unique_ptr<Layer::Impl> make_full(const Config& c) {
  Fields f(c, "FullLayer");
  const std::int64_t outputs = f.required("nOut");
  const bool bias = f.flag("bias", false);
  const bool relu = f.flag("relu", true);
  Expected e = f.expected();
  f.ignore({"fprop_size", "bprop_size"});
  f.done();
  return std::make_unique<Full>(outputs, bias, relu, e);
}

LayerPtr full(std::int64_t outputs, const FullSpec& s) {
  return Layer::create({{"layer", "FullLayer"}, {"nOut", outputs}, {"bias", s.bias}, {"relu", s.relu}});
}

}  // namespace nervanagpu::layers
