// The softmax over classes, and in training the cross-entropy with the labels. Its result is (n, classes) in every layout.
#include "layers/fields.h"
#include "layers/impl.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"

namespace nervanagpu::layers {
namespace {

void transposed(Program& program, const Ref& from, const Ref& to) {
  program.add({from, to}, [=](Run& run) {
    Tensor out = run.tensor(to);
    convert(run.tensor(from).transpose(), out, {}, run.stream);
  });
}

class Softmax final : public Layer::Impl {
 public:
  [[nodiscard]] const char* kind() const override { return "Softmax"; }
  [[nodiscard]] Config config() const override { return {{"layer", "SoftmaxLayer"}}; }

  Sample shape(const Sample& in) override {
    if (in.positions() != 1)
      refuse("input shape", in.text(), "(classes,): a Full layer or a pooling over all of space before it");
    if (in.dtype != Dtype::float32 && in.dtype != Dtype::float16) {
      throw TypeError("input has dtype " + std::string(name_of(in.dtype)) + "; needs float32 or float16");
    }
    Sample s;
    s.channels = in.channels;
    s.dtype = in.dtype;
    return s;
  }

  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    static_cast<void>(into);  // it is the last layer
    const std::int64_t n = batch_of(x);
    const Shape rows = {n, in.channels};
    Ref logits = x.reshaped(rows);
    if (!channel_last()) {
      logits = program.make(rows, x.dtype);
      transposed(program, x.reshaped({in.channels, n}), logits);
    }
    Ref probs = program.make(rows, x.dtype);
    const Ref labels = program.labels;
    const Ref judged = program.judged;
    program.add({logits, labels, probs, judged}, [=](Run& run) {
      Tensor p = run.tensor(probs);
      Tensor loss = run.tensor(judged).select(0, 0), hits = run.tensor(judged).select(0, 1);
      const Tensor y = run.tensor(labels);
      softmax_fprop(run.tensor(logits), &y, p, &loss, run.stream);
      count_hits(p, y, hits, run.stream);
    });
    probs_ = probs;
    return probs;
  }

  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    static_cast<void>(dy);  // the loss is above
    const std::int64_t n = probs_.shape[0];
    const float scale = setup.loss_scale / static_cast<float>(n);
    const bool last = channel_last();
    const Ref rows = program.make(probs_.shape, probs_.dtype);
    program.add({probs_, program.labels, rows}, [=, probs = probs_, labels = program.labels](Run& run) {
      Tensor d = run.tensor(rows);
      softmax_bprop(run.tensor(probs), run.tensor(labels), d, scale, run.rounding(rows.size()), run.stream);
    });
    Ref dx = rows.reshaped(batch_shape(in, n));
    if (!last) {
      dx = program.make(batch_shape(in, n), rows.dtype);
      transposed(program, rows, dx.reshaped({in.channels, n}));
    }
    return deliver(program, dx, sink);
  }

 private:
  Ref probs_;
};

}  // namespace

std::unique_ptr<Layer::Impl> make_softmax(const Config& c) {
  Fields f(c, "SoftmaxLayer");
  f.done();
  return std::make_unique<Softmax>();
}

LayerPtr softmax() {
  return Layer::create({{"layer", "SoftmaxLayer"}});
}

bool is_softmax(const Layer& layer) {
  return dynamic_cast<const Softmax*>(&layer.impl()) != nullptr;
}

}  // namespace nervanagpu::layers
