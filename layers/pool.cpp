// Pooling as a layer.
#include "nervanagpu/pool.hpp"

#include <utility>

#include "layers/fields.h"
#include "layers/impl.h"
#include "layers/text.h"

namespace nervanagpu::layers {
namespace {

struct Windows {
  PoolOp op = PoolOp::max;
  Extent window = 1, stride = 0, padding = 0;
  std::int64_t maps = 1, maps_stride = 0, maps_padding = 0;
  bool count_padding = false;
};

constexpr std::array<std::pair<const char*, PoolOp>, 3> kOps{
    {{"max", PoolOp::max}, {"avg", PoolOp::avg}, {"l2", PoolOp::l2}}};

PoolOp op_from(const std::string& name) {
  for (const auto& [text, op] : kOps) {
    if (name == text) return op;
  }
  refuse("op", "'" + name + "'", "max, avg or l2");
}

class Pool final : public Layer::Impl {
 public:
  Pool(Windows w, const Expected& e) : w_(std::move(w)), expected_(e) {}
  [[nodiscard]] const char* kind() const override { return "Pool"; }

  [[nodiscard]] Config config() const override {
    const char* op = kOps[static_cast<std::size_t>(w_.op)].first;
    return {{"layer", "PoolLayer"},
            {"op", op},
            {"window", w_.window.values()},
            {"stride", w_.stride.values()},
            {"padding", w_.padding.values()},
            {"J", w_.maps},
            {"str_j", w_.maps_stride},
            {"pad_j", w_.maps_padding},
            {"count_padding", w_.count_padding}};
  }

  Sample shape(const Sample& in) override {
    expected_.check(in);
    PoolProblem p;
    p.op = w_.op;
    p.count_padding = w_.count_padding;
    const auto window = spatial("window", w_.window, in.axes, 1);
    const auto stride = spatial("stride", w_.stride, in.axes, 0);
    const auto padding = spatial("padding", w_.padding, in.axes, 0);
    p.in = {in.channels, in.space[0], in.space[1], in.space[2]};
    p.window = {w_.maps, window[0], window[1], window[2]};
    p.pad = {w_.maps_padding, padding[0], padding[1], padding[2]};
    p.stride = {w_.maps_stride, stride[0], stride[1], stride[2]};
    for (std::size_t i = 0; i < 4; ++i) {
      if (p.stride[i] == 0) p.stride[i] = p.window[i];
    }
    const auto out = p.out();
    Sample s = in;
    s.channels = out[0];
    s.space = {out[1], out[2], out[3]};
    problem_ = p;
    return s;
  }

  [[nodiscard]] TakesRelu takes_relu() const override {
    return saves_argmax(problem_) ? TakesRelu::places : TakesRelu::no;
  }

  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    PoolProblem p = problem(batch_of(x));
    Ref y = into.valid() ? into.reshaped(batch_shape(out, p.n)) : program.make(batch_shape(out, p.n), x.dtype);
    argmax_ = program.training() && saves_argmax(p) ? program.make({pool_argmax_bytes(p)}, Dtype::uint8) : Ref{};
    program.add({x, y, argmax_}, [=, argmax = argmax_, relu = relus.of_x](Run& run) {
      PoolOptions options = options_of(run, 0.0F, y);
      options.relu = relu;
      if (argmax.valid()) {
        max_pool_fprop(p, run.address(x), run.address(y), run.address(argmax), options);
      } else {
        pool_fprop(p, run.address(x), run.address(y), options);
      }
    });
    y.disposable = true;  // the gradient looks at x, or at the places of the maxima
    x_ = x;
    return y;
  }

  Ref fprop_behind(Program& program, Layer::Impl& before, const Ref& x, const Ref& into) override {
    const PoolProblem p = problem(before.batch_of(x));
    if (into.valid() || p.op != PoolOp::max || (program.training() && !relus.of_x)) return {};
    if (!before.pools_at_once(x, p)) return {};
    const Ref y = program.make(batch_shape(out, p.n), setup.dtype);
    const Ref codes = program.training() ? program.make({pool_argmax_bytes(p)}, Dtype::uint8) : Ref{};
    before.fprop_pooled(program, x, p, y, codes);
    argmax_ = codes;
    x_ = {};  // the gradient asks for its shape alone
    x_.shape = batch_shape(in, p.n);
    x_.dtype = setup.dtype;
    Ref result = y;
    result.disposable = true;
    return result;
  }

  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    if (!sink.wanted) return {};
    const PoolProblem p = problem(batch_of(x_));
    Ref dx = sink.into.valid() ? sink.into : program.make(x_.shape, dy.dtype);
    const float beta = sink.add ? 1.0F : 0.0F;
    if (argmax_.valid()) {
      program.add({dy, argmax_, dx}, [=, argmax = argmax_](Run& run) {
        max_pool_bprop(p, run.address(dy), run.address(argmax), run.address(dx), options_of(run, beta, dx));
      });
      return dx;
    }
    program.add({dy, x_, dx}, [=, x = x_](Run& run) {
      pool_bprop(p, run.address(dy), run.address(x), run.address(dx), options_of(run, beta, dx));
    });
    return dx;
  }

 private:
  // The gradient then reads a code a window in place of x.
  static bool saves_argmax(const PoolProblem& p) {
    return p.op == PoolOp::max && p.window[0] == 1 && p.stride[0] == 1 && p.window[1] * p.window[2] * p.window[3] < 256;
  }
  static PoolOptions options_of(Run& run, float beta, const Ref& result) {
    PoolOptions o;
    o.beta = beta;
    o.rounding = run.rounding(result.size());
    o.stream = run.stream;
    return o;
  }
  [[nodiscard]] PoolProblem problem(std::int64_t n) const {
    PoolProblem p = problem_;
    p.layout = setup.layout;
    p.dtype = setup.dtype;
    p.n = n;
    return p;
  }

  Windows w_;
  Expected expected_;
  PoolProblem problem_;
  Ref x_, argmax_;
};

}  // namespace

std::unique_ptr<Layer::Impl> make_pool(const Config& c) {
  Fields f(c, "PoolLayer");
  Windows w;
  w.op = op_from(f.text("op", "max"));
  // An axis without a stride takes its window's, as 0 says.
  w.window = f.extent("window", {"T", "R", "S"}, 1);
  w.stride = f.extent("stride", {"str_d", "str_h", "str_w"}, 0);
  w.padding = f.extent("padding", {"pad_d", "pad_h", "pad_w"}, 0);
  w.maps = f.integer("J", 1);
  w.maps_stride = f.integer("str_j", 0);
  w.maps_padding = f.integer("pad_j", 0);
  w.count_padding = f.flag("count_padding", false);
  Expected e = f.expected();
  f.done();
  return std::make_unique<Pool>(w, e);
}

LayerPtr pool(const Extent& window, const PoolSpec& s) {
  return Layer::create({{"layer", "PoolLayer"},
                        {"op", s.op == PoolOp::max   ? "max"
                               : s.op == PoolOp::avg ? "avg"
                                                     : "l2"},
                        {"window", window.values()},
                        {"stride", s.stride.values()},
                        {"padding", s.padding.values()},
                        {"J", s.maps},
                        {"str_j", s.maps_stride},
                        {"pad_j", s.maps_padding},
                        {"count_padding", s.count_padding}});
}

}  // namespace nervanagpu::layers
