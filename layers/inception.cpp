// Branches side by side: each gets the whole input, their results are joined along channels, their gradients added.
//
// batch_last: a range of channels is one piece of memory. The branches write their results where they belong and read
// their part of dy where it is.
// channels_last: a range of channels is a strided view, which convolutions take. Where all branches end in one, they write
// and read such views, and the gradients of their ReLUs and biases are taken of the whole dy. Otherwise results and gradients
// of branches are tensors of their own, copied by convert(); one more read and write of y and of dy.
//
// In both, the first branch writes dx and the others add to it, in order.
#include <algorithm>
#include <utility>

#include "layers/fields.h"
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

  [[nodiscard]] bool ends_in_relu() const override { return slices() && branches_[0].back()->impl().ends_in_relu(); }
  [[nodiscard]] bool leaves_bits() const override { return false; }

  Ref fprop(Program& program, const Ref& x, const Ref& into) override {
    const Shape whole = batch_shape(out, batch_of(x));
    Ref y = into.valid() ? into.reshaped(whole) : program.make(whole, x.dtype);
    Ref shared = x;
    shared.disposable = false;  // the next branch reads it too
    std::int64_t start = 0;
    in_slices_ = slices();
    for (const auto& branch : branches_) {
      const std::int64_t channels = branch.back()->out().channels;
      branch.back()->impl().closed = in_slices_;
      if (in_slices_) {
        chain_fprop(program, branch, shared, y.channels(start, channels));
      } else if (channel_last()) {
        copy(program, chain_fprop(program, branch, shared, {}), y, start, channels, true);
      } else {
        chain_fprop(program, branch, shared, y.rows(start, channels));
      }
      start += channels;
    }
    // The branches' last layers, or this one for them, may look at their results again.
    y.disposable = !program.training() || (channel_last() && !in_slices_);
    x_ = x;
    y_ = y;
    return y;
  }

  Ref bprop(Program& program, const Ref& dy, const Sink& sink) override {
    Sink to = sink;
    if (sink.wanted && !sink.into.valid()) to.into = program.make(x_.shape, dy.dtype);
    if (in_slices_) close(program, dy);
    std::int64_t start = 0;
    for (const auto& branch : branches_) {
      const std::int64_t channels = branch.back()->out().channels;
      Ref part;
      if (in_slices_) {
        part = dy.channels(start, channels);
        program.observe(branch.back()->name(), "deltas", part);
      } else if (channel_last()) {
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
  // Whether the branches' last layers write and read their channels of the whole where these are: all in the same way, and
  // where kernels find them at multiples of 16 bytes.
  [[nodiscard]] bool slices() const {
    if (!channel_last()) return false;
    const auto unit = static_cast<std::int64_t>(16 / size_of(setup.dtype));
    const Layer::Impl& first = branches_[0].back()->impl();
    return std::ranges::all_of(branches_, [&](const auto& branch) {
      const Layer::Impl& last = branch.back()->impl();
      return last.takes_slices() && last.ends_in_relu() == first.ends_in_relu() && last.out.channels % unit == 0;
    });
  }

  // What end_bprop() does for the last layers of all branches, of the whole.
  void close(Program& program, const Ref& dy) {
    std::vector<std::pair<Parameter*, Ref>> biases;
    const Ref sums = program.make({out.channels}, Dtype::float32);
    std::int64_t start = 0;
    for (const auto& branch : branches_) {
      const std::int64_t channels = branch.back()->out().channels;
      if (Parameter* bias = branch.back()->impl().end_bias()) biases.emplace_back(bias, sums.rows(start, channels));
      start += channels;
    }
    const bool relu = ends_in_relu() && !relus.passed;
    if (!relu && biases.empty()) return;
    program.add({relu ? y_ : Ref{}, dy, sums},
                [relu, y = y_.reshaped(dy.shape), dy, sums, add_up = !biases.empty()](Run& run) {
                  Tensor d = run.tensor(dy), db = run.tensor(sums);
                  if (relu && add_up) return relu_bias_bprop(run.tensor(y), d, true, db, run.stream);
                  if (add_up) return bias_grad(d, true, db, 1.0F, 0.0F, {}, run.stream);
                  activation_bprop(Activation::relu, run.tensor(y), d, d, 0.01F, {}, run.stream);
                });
    for (const auto& [bias, part] : biases) {
      program.add({part},
                  [bias = bias, part = part](Run& run) { convert(run.tensor(part), bias->gradient, {}, run.stream); });
    }
  }

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
  Ref x_, y_;
  bool in_slices_ = false;
};

}  // namespace

std::unique_ptr<Layer::Impl> make_inception(const Config& c) {
  Fields f(c, "Inception");
  f.ignore({"partitions"});
  f.done();
  const auto it = c.fields().find("partitions");
  if (it == c.fields().end() || !std::holds_alternative<Branches>(it->second)) {
    throw InvalidArgument("Inception: partitions is missing; needs lists of layers");
  }
  std::vector<std::vector<LayerPtr>> branches;
  for (const auto& partition : std::get<Branches>(it->second)) {
    branches.emplace_back();
    for (const Config& layer : partition) branches.back().push_back(Layer::create(layer));
  }
  return std::make_unique<Inception>(std::move(branches));
}

LayerPtr inception(std::vector<std::vector<LayerPtr>> branches) {
  return std::make_shared<Layer>(std::make_unique<Inception>(std::move(branches)));
}

}  // namespace nervanagpu::layers
