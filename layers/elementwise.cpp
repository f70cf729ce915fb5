// Layers that map element to element: data, bias, activation, dropout.
#include <algorithm>
#include <string>
#include <utility>

#include "layers/fields.h"
#include "layers/impl.h"
#include "layers/random.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"

namespace nervanagpu::layers {
namespace {

void check_float(const Sample& in) {
  if (in.dtype != Dtype::float32 && in.dtype != Dtype::float16) {
    throw TypeError("input has dtype " + std::string(name_of(in.dtype)) + "; needs float32 or float16");
  }
}

// What a layer passes on as it is; a result of its own only where one is asked for.
Ref pass_on(Program& program, const Ref& x, const Ref& into) {
  if (!into.valid()) return x;
  const Ref from = x.flat();
  const Ref to = into.flat();
  program.add({from, to}, [=](Run& run) {
    Tensor out = run.tensor(to);
    convert(run.tensor(from), out, {}, run.stream);
  });
  return into.reshaped(x.shape);
}

class Data final : public Layer::Impl {
 public:
  Data(Shape shape, std::int64_t batch, Dtype dtype) : shape_(std::move(shape)), batch_(batch), dtype_(dtype) {
    if (!shape_.empty()) static_cast<void>(Sample::of(shape_));
    if (dtype != Dtype::float32 && dtype != Dtype::int8 && dtype != Dtype::uint8) {
      throw TypeError("Data: dtype is " + std::string(name_of(dtype)) +
                      "; needs float32 (that of the network), int8 or uint8");
    }
  }
  [[nodiscard]] const char* kind() const override { return "Data"; }
  [[nodiscard]] Config config() const override {
    return {{"layer", "DataLayer"}, {"shape", shape_}, {"N", batch_}, {"dtype", std::string(name_of(dtype_))}};
  }
  Sample shape(const Sample& in) override {
    if (!shape_.empty() && in.shape() != shape_) refuse("the shape", text_of(shape_), in.text() + ", which comes in");
    return in;
  }
  Ref fprop(Program& program, const Ref& x, const Ref& into) override { return pass_on(program, x, into); }
  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override { return deliver(program, dy, sink); }

 private:
  Shape shape_;
  std::int64_t batch_;
  Dtype dtype_;
};

class Bias final : public Layer::Impl {
 public:
  [[nodiscard]] const char* kind() const override { return "Bias"; }
  [[nodiscard]] Config config() const override { return {{"layer", "BiasLayer"}}; }
  Sample shape(const Sample& in) override {
    check_float(in);
    return in;
  }
  void declare(const Setup& s) override {
    static_cast<void>(s);
    parameters.clear();
    declare_parameter("bias", {in.channels}, {in.channels}, {0}, {}, true);
  }
  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    Ref y = result_like(program, x, into);
    const bool last = channel_last();
    program.add({x, y}, [=, this](Run& run) {
      Tensor out = run.tensor(y);
      bias_add(run.tensor(x), parameters[0].value, last, out, run.rounding(y.size()), run.stream);
    });
    y.disposable = true;
    return y;
  }
  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    bias_bprop(program, dy, parameters[0]);
    return deliver(program, dy, sink);
  }
};

class ActivationLayer final : public Layer::Impl {
 public:
  ActivationLayer(const std::string& f, double slope) : f_(activation_named(f)), slope_(static_cast<float>(slope)) {
    if (!(slope >= 0.0)) refuse("slope", std::to_string(slope), "0 or more");
  }
  [[nodiscard]] const char* kind() const override { return "Activation"; }
  [[nodiscard]] Config config() const override {
    return {{"layer", "ActivationLayer"},
            {"activation", std::string(kActivationNames[static_cast<std::size_t>(f_)])},
            {"slope", static_cast<double>(slope_)}};
  }
  Sample shape(const Sample& in) override {
    check_float(in);
    return in;
  }
  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    Ref y = result_like(program, x, into);
    program.add({x, y}, [=, this](Run& run) {
      Tensor out = run.tensor(y);
      activation_fprop(f_, run.tensor(x), out, slope_, run.rounding(y.size()), run.stream);
    });
    y.disposable = !program.training();
    y_ = y;
    return y;
  }
  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    if (!sink.wanted) return {};
    const Ref y = y_.flat();
    const Ref d = dy.flat();
    program.add({y, d}, [=, this](Run& run) {
      Tensor t = run.tensor(d);
      activation_bprop(f_, run.tensor(y), t, t, slope_, run.rounding(d.size()), run.stream);
    });
    return deliver(program, dy, sink);
  }

 private:
  Activation f_;
  float slope_;
  Ref y_;
};

class Dropout final : public Layer::Impl {
 public:
  explicit Dropout(double rate) : rate_(rate) {
    if (!(rate >= 0.0 && rate < 1.0)) refuse("rate", std::to_string(rate), "0 or more and less than 1");
  }
  [[nodiscard]] const char* kind() const override { return "Dropout"; }
  [[nodiscard]] Config config() const override { return {{"layer", "DropoutLayer"}, {"rate", rate_}}; }
  Sample shape(const Sample& in) override {
    check_float(in);
    return in;
  }
  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    if (!program.training() || rate_ == 0.0) return pass_on(program, x, into);
    Ref y = result_like(program, x, into);
    mask_ = program.make(x.shape, Dtype::uint8);
    program.ahead({mask_}, [this, mask = mask_](Run& run) {
      Tensor to = run.tensor(mask);
      dropout_mask(to, keep(), mix(setup.seed, index), run.step << 40, run.stream);
    });
    add_masked(program, x, y);
    y.disposable = true;
    return y;
  }
  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    if (!sink.wanted) return {};
    if (rate_ > 0.0) add_masked(program, dy, dy);
    return deliver(program, dy, sink);
  }

 private:
  [[nodiscard]] float keep() const { return static_cast<float>(1.0 - rate_); }
  // The same mask in both passes of a step, another one in the next step.
  void add_masked(Program& program, const Ref& from, const Ref& to) {
    const Ref mask = mask_.reshaped(from.shape);
    program.add({from, mask, to}, [=, this](Run& run) {
      Tensor out = run.tensor(to);
      dropout(run.tensor(from), run.tensor(mask), out, keep(), run.rounding(to.size()), run.stream);
    });
  }
  double rate_;
  Ref mask_;
};

}  // namespace

std::unique_ptr<Layer::Impl> make_data(const Config& c) {
  Fields f(c, "DataLayer");
  Shape shape = c.integers("shape", {});
  f.ignore({"shape"});
  if (f.has("C")) {
    if (f.has("shape")) throw InvalidArgument("DataLayer: shape is given, and C too; needs one of them");
    if (f.has("D")) shape.push_back(f.integer("D", 1));
    if (f.has("D") || f.has("H")) shape.push_back(f.integer("H", 1));
    if (f.has("D") || f.has("H") || f.has("W")) shape.push_back(f.integer("W", 1));
    shape.push_back(f.integer("C", 1));
  }
  f.ignore({"C", "D", "H", "W"});
  const std::int64_t batch = f.integer("N", 0);
  const std::string name = f.text("dtype", "float32");
  const auto dtype = dtype_from_name(name);
  if (!dtype) refuse("dtype", "'" + name + "'", "float32, int8 or uint8");
  f.done();
  return std::make_unique<Data>(shape, batch, *dtype);
}

std::unique_ptr<Layer::Impl> make_bias(const Config& c) {
  Fields f(c, "BiasLayer");
  f.done();
  return std::make_unique<Bias>();
}

std::unique_ptr<Layer::Impl> make_activation(const Config& c) {
  Fields f(c, "ActivationLayer");
  const std::string name = f.text("activation", "relu");
  const double slope = f.number("slope", 0.01);
  f.done();
  return std::make_unique<ActivationLayer>(name, slope);
}

std::unique_ptr<Layer::Impl> make_dropout(const Config& c) {
  Fields f(c, "DropoutLayer");
  const double rate = f.number("rate", 0.5);
  f.done();
  return std::make_unique<Dropout>(rate);
}

LayerPtr data(const Shape& shape, const DataOptions& options) {
  return Layer::create(
      {{"layer", "DataLayer"}, {"shape", shape}, {"N", options.batch}, {"dtype", std::string(name_of(options.dtype))}});
}

LayerPtr bias() {
  return Layer::create({{"layer", "BiasLayer"}});
}

LayerPtr activation(Activation f, float slope) {
  return Layer::create({{"layer", "ActivationLayer"},
                        {"activation", std::string(kActivationNames[static_cast<std::size_t>(f)])},
                        {"slope", static_cast<double>(slope)}});
}

LayerPtr dropout(double rate) {
  return Layer::create({{"layer", "DropoutLayer"}, {"rate", rate}});
}

}  // namespace nervanagpu::layers
