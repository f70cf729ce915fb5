// Convolution and its transpose.
#include "nervanagpu/conv_pool.hpp"

#include <type_traits>

#include "layers/fields.h"
#include "layers/impl.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {
namespace {

struct Geometry {
  std::int64_t channels = 0;  // of the result
  Extent window = 1, stride = 1, padding = 0, dilation = 1, output_padding = 0;
  std::int64_t groups = 1;
  bool bias = true, relu = false;
};

// Pieces of x and of dy, which one pass leaves and update takes; none: they are not shared.
struct Pieces {
  Ref x, dy;
};

// Whether a pass of a training step leaves or takes pieces. Where operands begin does not matter.
bool makes_pieces(ConvPass pass, const ConvProblem& p, ConvOptions options, bool masked) {
  constexpr std::uint64_t kSomewhere = 256;
  ConvPointers at;
  at.in1 = at.in2 = at.out = at.workspace = kSomewhere;
  if (masked) at.mask = kSomewhere;
  options.rounding = {};
  return conv_makes_pieces(pass, p, at, options);
}

// Whether update takes what the pass, fprop or bprop, leaves.
bool shares_pieces(ConvPass pass, const ConvProblem& p, const ConvOptions& options, bool masked) {
  return makes_pieces(pass, p, options, masked) && makes_pieces(ConvPass::update, p, {}, false);
}

// One pass as an operation of the program; its workspace lives as long as it runs.
void add_pass(Program& program, ConvPass pass, const ConvProblem& p, const Ref& in1, const Ref& in2, const Ref& out,
              Parameter* in2_weight, Parameter* out_gradient, const ConvOptions& options, const Parameter* bias,
              const Ref& mask = {}, const Parameter* out_bias = nullptr, const Pieces& pieces = {}) {
  const std::size_t bytes = conv_workspace(pass, p, out_bias != nullptr);
  const Ref work = bytes > 0 ? program.make({static_cast<std::int64_t>(bytes)}, Dtype::uint8) : Ref{};
  program.add({in1, in2, out, work, mask, pieces.x, pieces.dy}, [=](Run& run) {
    ConvPointers at;
    at.in1 = run.address(in1);
    at.in2 = in2_weight != nullptr ? in2_weight->value.address() : run.address(in2);
    at.out = out_gradient != nullptr ? out_gradient->gradient.address() : run.address(out);
    at.bias = bias != nullptr ? bias->value.address() : 0;
    at.workspace = work.valid() ? run.address(work) : 0;
    at.mask = mask.valid() ? run.address(mask) : 0;
    at.channel_sum = out_bias != nullptr ? out_bias->gradient.address() : 0;
    const bool made = pass == ConvPass::update;
    if (pieces.x.valid()) at.x_pieces = {run.address(pieces.x), made};
    if (pieces.dy.valid()) at.y_pieces = {run.address(pieces.dy), made};
    ConvOptions o = options;
    o.rounding = run.rounding(out_gradient != nullptr ? out_gradient->gradient.size() : out.size());
    o.stream = run.stream;
    conv(pass, p, at, o);
  });
}

class ConvBase : public Layer::Impl {
 public:
  ConvBase(Geometry g, const Expected& e) : geometry_(std::move(g)), expected_(e) {}

  [[nodiscard]] double flops() const override {
    ConvProblem p = shapes_;
    p.n = 1;
    return p.flops();
  }

 protected:
  void common(const Sample& in) const {
    expected_.check(in);
    if (in.axes == 0) refuse("input shape", in.text(), "spatial axes, as (H, W, C)");
  }

  [[nodiscard]] Config config_of(const char* layer) const {
    Config c = {{"layer", layer},
                {"K", geometry_.channels},
                {"window", geometry_.window.values()},
                {"stride", geometry_.stride.values()},
                {"padding", geometry_.padding.values()},
                {"dilation", geometry_.dilation.values()},
                {"groups", geometry_.groups},
                {"bias", geometry_.bias},
                {"relu", geometry_.relu}};
    return c;
  }

  void declare(const Setup& s) override {
    static_cast<void>(s);
    parameters.clear();
    parameters.reserve(2);
    const ConvProblem& p = shapes_;
    const Shape krsc = {p.k, p.filter[0], p.filter[1], p.filter[2], p.c / p.groups};
    const bool last = channel_last();
    const Shape stored = last ? krsc : Shape{krsc[4], krsc[1], krsc[2], krsc[3], krsc[0]};
    const std::int64_t taps = p.filter[0] * p.filter[1] * p.filter[2];
    const std::int64_t from = in.channels / p.groups;  // both divide
    const std::int64_t to = out.channels / p.groups;
    const auto fan_in = static_cast<double>(from * taps);
    const auto fan_out = static_cast<double>(to * taps);
    Init init;
    init.fan = geometry_.relu ? fan_in : fan_in + fan_out;  // He, or Glorot
    declare_parameter("weight", stored, stored,
                      last ? std::vector<int>{0, 1, 2, 3, 4} : std::vector<int>{4, 1, 2, 3, 0}, init, false);
    if (geometry_.bias) declare_parameter("bias", {out.channels}, {out.channels}, {0}, {}, true);
  }

  [[nodiscard]] ConvProblem problem(std::int64_t n, bool integers) const {
    ConvProblem p = shapes_;
    p.layout = setup.layout;
    p.n = n;
    p.x_type = integers ? in.dtype : setup.dtype;
    p.w_type = p.y_type = setup.dtype;
    if (p.x_type == Dtype::float32) p.precision = setup.precision;
    return p;
  }

  [[nodiscard]] Parameter* weight() { return parameters.data(); }
  [[nodiscard]] Parameter* bias() { return geometry_.bias ? &parameters[1] : nullptr; }

  [[nodiscard]] bool shows_deltas() const override { return true; }

  // What both do with dy before it goes through the filters.
  void close(Program& program, const Ref& dy) {
    if (closed) return;
    end_bprop(program, geometry_.relu, y_kept_, dy, geometry_.bias ? &parameters[1] : nullptr);
  }

  Geometry geometry_;
  Expected expected_;
  ConvProblem shapes_;
  Ref x_kept_, y_kept_;
};

class Conv final : public ConvBase {
 public:
  using ConvBase::ConvBase;
  [[nodiscard]] const char* kind() const override { return "Conv"; }
  [[nodiscard]] Config config() const override { return config_of("ConvLayer"); }

  Sample shape(const Sample& in) override {
    common(in);
    ConvProblem p;
    p.c = in.channels;
    p.k = geometry_.channels;
    p.groups = geometry_.groups;
    p.in = in.space;
    p.filter = spatial("window", geometry_.window, in.axes, 1);
    p.stride = spatial("stride", geometry_.stride, in.axes, 1);
    p.pad = spatial("padding", geometry_.padding, in.axes, 0);
    p.dilation = spatial("dilation", geometry_.dilation, in.axes, 1);
    if (p.c % p.groups != 0 || p.k % p.groups != 0) {
      refuse("groups", std::to_string(p.groups),
             "a divisor of " + std::to_string(p.c) + " and " + std::to_string(p.k) + ", the channels that come and go");
    }
    Sample out = in;
    out.space = p.out();
    out.channels = p.k;
    if (in.dtype == Dtype::int8 || in.dtype == Dtype::uint8) out.dtype = Dtype::float32;
    shapes_ = p;
    return out;
  }

  [[nodiscard]] bool ends_in_relu() const override { return geometry_.relu; }
  [[nodiscard]] bool takes_slices() const override { return channel_last(); }
  [[nodiscard]] Parameter* end_bias() override { return bias(); }
  [[nodiscard]] bool sums_dx() const override { return true; }
  [[nodiscard]] TakesRelu takes_relu() const override { return makes_bits() ? TakesRelu::bits : TakesRelu::no; }

  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    const std::int64_t n = batch_of(x);
    ConvProblem p = problem(n, x.dtype == Dtype::int8 || x.dtype == Dtype::uint8);
    Ref y = into.valid() ? into.reshaped(batch_shape(out, n)) : program.make(batch_shape(out, n), setup.dtype);
    p.y_pitch = y.pitch;
    ConvOptions o;
    o.relu = geometry_.relu;
    pieces_ = {};
    if (program.training() && shares_pieces(ConvPass::fprop, p, o, relus.bits.valid())) {
      pieces_.x = pieces_of(program, x, p.c);
    }
    add_pass(program, ConvPass::fprop, p, x, {}, y, weight(), nullptr, o, bias(), relus.bits, nullptr, pieces_);
    y.disposable = !program.training() || !geometry_.relu || relus.passed;
    x_kept_ = x;
    y_kept_ = y;
    return y;
  }

  [[nodiscard]] bool pools_at_once(const Ref& x, const PoolProblem& pool) const override {
    if (relus.bits.valid() || x.pitch != 0) return false;
    const ConvProblem p = problem(batch_of(x), x.dtype == Dtype::int8 || x.dtype == Dtype::uint8);
    ConvOptions o;
    o.relu = geometry_.relu;
    return conv_max_pool_is_one_kernel(p, pool, o);
  }

  void fprop_pooled(Program& program, const Ref& x, const PoolProblem& pool, const Ref& y, const Ref& argmax) override {
    const ConvProblem p = problem(batch_of(x), x.dtype == Dtype::int8 || x.dtype == Dtype::uint8);
    ConvOptions o;
    o.relu = geometry_.relu;
    program.add({x, y, argmax}, [=, this, weight = weight(), bias = bias()](Run& run) {
      ConvOptions options = o;
      options.stream = run.stream;
      ConvPointers at;
      at.in1 = run.address(x);
      at.in2 = weight->value.address();
      at.out = run.address(y);
      at.bias = bias != nullptr ? bias->value.address() : 0;
      conv_max_pool_fprop(p, pool, at, argmax.valid() ? run.address(argmax) : 0, options);
      if (run.observer) {  // somebody listens to what was not stored
        Tensor all = Tensor::empty(batch_shape(out, p.n), setup.dtype);
        options.bias = bias != nullptr ? &bias->value : nullptr;
        conv_fprop(p, run.tensor(x), weight->value, all, options);
        run.observer(name, "activations", all);
      }
    });
    x_kept_ = x;
    y_kept_ = {};  // its relu's gradient is the pool's
    pieces_ = {};
  }

  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    close(program, dy);
    ConvProblem p = problem(batch_of(x_kept_), x_kept_.dtype == Dtype::int8 || x_kept_.dtype == Dtype::uint8);
    p.y_pitch = dy.pitch;
    ConvOptions o;
    o.beta = sink.add ? 1.0F : 0.0F;
    const auto update = [&] {
      add_pass(program, ConvPass::update, p, dy, x_kept_, {}, nullptr, weight(), {}, nullptr, {}, nullptr, pieces_);
    };
    // First update, whose x ends there, but where it takes what bprop leaves.
    const bool left = sink.wanted && shares_pieces(ConvPass::bprop, p, o, relus.x_bits.valid());
    if (left) pieces_.dy = pieces_of(program, dy, p.k);
    if (!left) update();
    if (!sink.wanted) return {};
    Ref dx = sink.into.valid() ? sink.into : program.make(x_kept_.shape, setup.dtype);
    add_pass(program, ConvPass::bprop, p, dy, {}, dx, weight(), nullptr, o, nullptr, relus.x_bits, relus.x_bias,
             {{}, pieces_.dy});
    if (left) update();
    return dx;
  }

 private:
  static Ref pieces_of(Program& program, const Ref& t, std::int64_t channels) {
    return program.make({static_cast<std::int64_t>(conv_pieces_bytes(t.size() / channels, channels))}, Dtype::uint8);
  }

  Pieces pieces_;
};

// The roles are turned around: what comes in is the convolution's dy, what goes out its dx.
class Deconv final : public ConvBase {
 public:
  using ConvBase::ConvBase;
  [[nodiscard]] const char* kind() const override { return "Deconv"; }
  [[nodiscard]] Config config() const override {
    return config_of("DeconvLayer").set({"output_padding", geometry_.output_padding.values()});
  }

  Sample shape(const Sample& in) override {
    common(in);
    if (in.dtype != Dtype::float32 && in.dtype != Dtype::float16 && in.dtype != Dtype::bfloat16) {
      throw TypeError("input has dtype " + std::string(name_of(in.dtype)) + "; needs float32, float16 or bfloat16");
    }
    ConvProblem p;
    p.c = geometry_.channels;
    p.k = in.channels;
    p.groups = geometry_.groups;
    p.filter = spatial("window", geometry_.window, in.axes, 1);
    p.stride = spatial("stride", geometry_.stride, in.axes, 1);
    p.pad = spatial("padding", geometry_.padding, in.axes, 0);
    p.dilation = spatial("dilation", geometry_.dilation, in.axes, 1);
    const auto extra = spatial("output_padding", geometry_.output_padding, in.axes, 0);
    for (std::size_t i = 0; i < 3; ++i) {
      p.in[i] = (in.space[i] - 1) * p.stride[i] - 2 * p.pad[i] + p.dilation[i] * (p.filter[i] - 1) + 1 + extra[i];
      if (extra[i] >= p.stride[i] && extra[i] > 0) {
        refuse("output_padding", std::to_string(extra[i]), "less than the stride, " + std::to_string(p.stride[i]));
      }
      if (p.in[i] < 1) refuse("padding", std::to_string(p.pad[i]), "less: the output would be empty");
    }
    if (p.c % p.groups != 0 || p.k % p.groups != 0) {
      refuse("groups", std::to_string(p.groups),
             "a divisor of " + std::to_string(p.k) + " and " + std::to_string(p.c) + ", the channels that come and go");
    }
    Sample out = in;
    out.space = p.in;
    out.channels = p.c;
    static_cast<void>(p.out());
    shapes_ = p;
    return out;
  }

  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    const std::int64_t n = batch_of(x);
    Ref y = into.valid() ? into.reshaped(batch_shape(out, n)) : program.make(batch_shape(out, n), setup.dtype);
    add_pass(program, ConvPass::bprop, problem(n, false), x, {}, y, weight(), nullptr, {}, nullptr);
    if (Parameter* b = bias()) {
      const bool last = channel_last();
      program.add({y}, [=](Run& run) {
        Tensor t = run.tensor(y);
        bias_add(t, b->value, last, t, run.rounding(y.size()), run.stream);
      });
    }
    if (geometry_.relu) {
      program.add({y}, [=](Run& run) {
        Tensor t = run.tensor(y);
        activation_fprop(Activation::relu, t, t, 0.01F, {}, run.stream);
      });
    }
    y.disposable = !program.training() || !geometry_.relu;
    x_kept_ = x;
    y_kept_ = y;
    return y;
  }

  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    close(program, dy);
    const ConvProblem p = problem(batch_of(x_kept_), false);
    add_pass(program, ConvPass::update, p, x_kept_, dy, {}, nullptr, weight(), {}, nullptr);
    if (!sink.wanted) return {};
    Ref dx = sink.into.valid() ? sink.into : program.make(x_kept_.shape, setup.dtype);
    ConvOptions o;
    o.beta = sink.add ? 1.0F : 0.0F;
    add_pass(program, ConvPass::fprop, p, dy, {}, dx, weight(), nullptr, o, nullptr);
    return dx;
  }
};

// A Conv or a Deconv, which alone has output_padding.
template <class Made>
std::unique_ptr<Layer::Impl> make(const Config& c, const char* name) {
  Fields f(c, name);
  Geometry g;
  g.channels = f.required("K");
  g.window = f.extent("window", {"T", "R", "S"}, 1);
  g.stride = f.extent("stride", {"str_d", "str_h", "str_w"}, 1);
  g.padding = f.extent("padding", {"pad_d", "pad_h", "pad_w"}, 0);
  g.dilation = f.extent("dilation", {"dil_d", "dil_h", "dil_w"}, 1);
  if constexpr (std::is_same_v<Made, Deconv>) g.output_padding = f.extent("output_padding", {}, 0);
  g.groups = f.integer("groups", 1);
  g.bias = f.flag("bias", false);
  g.relu = f.flag("relu", true);
  Expected e = f.expected();
  f.ignore({"grid_P", "grid_Q", "update_size"});
  f.done();
  return std::make_unique<Made>(g, e);
}

}  // namespace

std::unique_ptr<Layer::Impl> make_conv(const Config& c) {
  return make<Conv>(c, "ConvLayer");
}

std::unique_ptr<Layer::Impl> make_deconv(const Config& c) {
  return make<Deconv>(c, "DeconvLayer");
}

LayerPtr conv(std::int64_t channels, const Extent& window, const ConvSpec& s) {
  return Layer::create({{"layer", "ConvLayer"},
                        {"K", channels},
                        {"window", window.values()},
                        {"stride", s.stride.values()},
                        {"padding", s.padding.values()},
                        {"dilation", s.dilation.values()},
                        {"groups", s.groups},
                        {"bias", s.bias},
                        {"relu", s.relu}});
}

LayerPtr deconv(std::int64_t channels, const Extent& window, const DeconvSpec& s) {
  return Layer::create({{"layer", "DeconvLayer"},
                        {"K", channels},
                        {"window", window.values()},
                        {"stride", s.stride.values()},
                        {"padding", s.padding.values()},
                        {"dilation", s.dilation.values()},
                        {"output_padding", s.output_padding.values()},
                        {"groups", s.groups},
                        {"bias", s.bias},
                        {"relu", s.relu}});
}

}  // namespace nervanagpu::layers
