// Branches side by side: each gets the whole input, their results are joined along channels, their gradients added.
//
// batch_last: a range of channels is one piece of memory. The branches write their results where they belong and read
// their part of dy where it is.
// channels_last: a range of channels is a strided view. Convolutions take such, but not the gradient of a ReLU. Results and
// gradients of branches are tensors of their own, copied by convert(); one more read and write of y and of dy.
//
// In both, the first branch writes dx and the others add to it, in order.
#include "layers/impl.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"

namespace nervanagpu::layers {
namespace {

class Inception final : public Layer::Impl {
 public:
  explicit Inception(std::vector<std::vector<LayerPtr>> branches) : branches_(std::move(branches)) {
    if (branches_.empty()) refuse("partitions", "empty", "1 branch or more");
    for (const auto& branch : branches_) {
      if (branch.empty()) refuse("a branch", "empty", "1 layer or more");
      for (const LayerPtr& layer : branch) {
        if (layer == nullptr) refuse("a layer", "null", "a layer");
        if (is_softmax(*layer)) refuse("a layer of a branch", "Softmax", "it at the end of the network");
      }
    }
  }
  [[nodiscard]] const char* kind() const override { return "Inception"; }
  [[nodiscard]] const std::vector<std::vector<LayerPtr>>* branches() const override { return &branches_; }
  [[nodiscard]] Config config() const override {
    Branches all;
    for (const auto& branch : branches_) {
      all.emplace_back();
      for (const LayerPtr& layer : branch) all.back().push_back(layer->config());
    }
    return {{"layer", "Inception"}, {"partitions", all}};
  }

  Sample shape(const Sample& in) override {
    if (in.dtype != Dtype::float32 && in.dtype != Dtype::float16) {
      throw TypeError("input has dtype " + std::string(name_of(in.dtype)) + "; needs float32 or float16");
    }
    Sample s;
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      const Sample one = chain_shape(branches_[i], in);
      if (i == 0) {
        s = one;
        continue;
      }
      if (one.space != s.space || one.axes != s.axes) {
        refuse(name + ": the result of branch " + std::to_string(i), one.text(),
               "the spatial lengths of branch 0, " + s.text());
      }
      s.channels += one.channels;
    }
    return s;
  }

  [[nodiscard]] double flops() const override {
    double sum = 0.0;
    for (const auto& branch : branches_) {
      for (const LayerPtr& layer : branch) sum += layer->flops();
    }
    return sum;
  }

  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    const Shape whole = batch_shape(out, batch_of(x));
    Ref y = into.valid() ? into.reshaped(whole) : program.make(whole, x.dtype);
    Ref shared = x;
    shared.disposable = false;  // the next branch reads it too
    std::int64_t start = 0;
    for (const auto& branch : branches_) {
      const std::int64_t channels = branch.back()->out().channels;
      if (channel_last()) {
        copy(program, chain_fprop(program, branch, shared, {}), y, start, channels, true);
      } else {
        chain_fprop(program, branch, shared, y.rows(start, channels));
      }
      start += channels;
    }
    // With batch_last the branches' last layers may look at their results again.
    y.disposable = !program.training() || channel_last();
    x_ = x;
    return y;
  }

  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    Sink to = sink;
    if (sink.wanted && !sink.into.valid()) to.into = program.make(x_.shape, dy.dtype);
    std::int64_t start = 0;
    for (const auto& branch : branches_) {
      const std::int64_t channels = branch.back()->out().channels;
      Ref part;
      if (channel_last()) {
        part = program.make(batch_shape(branch.back()->out(), batch_of(x_)), dy.dtype);
        copy(program, part, dy, start, channels, false);
      } else {
        part = dy.rows(start, channels);
      }
      chain_bprop(program, branch, part, to);
      to.add = true;
      start += channels;
    }
    return sink.wanted ? to.into : Ref{};
  }

 private:
  // Between a tensor of a branch and its channels of the whole one, the last axis.
  static void copy(Program& program, const Ref& part, const Ref& whole, std::int64_t start, std::int64_t channels,
                   bool join) {
    program.add({part, whole}, [=](Run& run) {
      Tensor a = run.tensor(part);
      Tensor b = run.tensor(whole).slice(-1, start, start + channels);
      convert(join ? a : b, join ? b : a, {}, run.stream);
    });
  }

  std::vector<std::vector<LayerPtr>> branches_;
  Ref x_;
};

}  // namespace

std::unique_ptr<Layer::Impl> make_inception(std::vector<std::vector<LayerPtr>> branches) {
  return std::make_unique<Inception>(std::move(branches));
}

}  // namespace nervanagpu::layers
