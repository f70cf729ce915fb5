#include "layers/impl.h"

#include <algorithm>
#include <cmath>

#include "layers/random.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"

namespace nervanagpu::layers {

Tensor Parameter::canonical(const Tensor& t) const {
  return t.reshape(axes).transpose(order);
}

Parameter& Layer::Impl::declare_parameter(const char* what, Shape shape, Shape axes, std::vector<int> order,
                                          const Init& init, bool is_bias) {
  Parameter p;
  p.name = name + "." + what;
  p.decays = !is_bias;
  p.axes = std::move(axes);
  p.order = std::move(order);
  // Drawn in the form that does not depend on the layout: the same network in either.
  Tensor exact = Tensor::zeros(std::move(shape));
  if (init.fan > 0.0) {
    std::vector<float> values(static_cast<std::size_t>(exact.size()));
    const double bound = std::sqrt(6.0 / init.fan);
    fill_uniform(values, bound, mix(setup.seed, index));
    p.canonical(exact).set(values.data(), values.size() * sizeof(float));
  }
  const Dtype dtype = is_bias ? Dtype::float32 : setup.dtype;
  if (dtype == Dtype::float32) {
    p.value = exact;
  } else {
    p.value = Tensor::empty(exact.shape(), dtype);
    convert(exact, p.value);
    // Training starts from what the network computes with.
    convert(p.value, exact);
    if (setup.master) p.master = exact;
  }
  p.value.set_name(p.name);
  parameters.push_back(std::move(p));
  return parameters.back();
}

Shape Layer::Impl::batch_shape(const Sample& s, std::int64_t n) const {
  return s.batch(n, setup.layout);
}

std::int64_t Layer::Impl::batch_of(const Ref& x) const {
  return x.size() / in.size();
}

Ref Layer::Impl::result_like(Program& program, const Ref& x, const Ref& into) const {
  if (into.valid()) return into.reshaped(x.shape);
  if (x.disposable) return x;
  return program.make(x.shape, x.dtype);
}

Ref Layer::Impl::deliver(Program& program, const Ref& dx, const Sink& sink) {
  if (!sink.wanted) return {};
  if (!sink.into.valid()) return dx;
  const Ref from = dx.flat();
  const Ref to = sink.into.flat();
  const float beta = sink.add ? 1.0F : 0.0F;
  program.add({from, to}, [from, to, beta](Run& run) {
    Tensor out = run.tensor(to);
    add(run.tensor(from), out, out, 1.0F, beta, run.rounding(to.size()), run.stream);
  });
  return sink.into;
}

void Layer::Impl::bias_bprop(Program& program, const Ref& dy, Parameter& bias) const {
  Parameter* p = &bias;
  const bool last = channel_last();
  program.add({dy},
              [p, dy, last](Run& run) { bias_grad(run.tensor(dy), last, p->gradient, 1.0F, 0.0F, {}, run.stream); });
}

bool Layer::Impl::makes_bits() const {
  return channel_last() && (setup.dtype != Dtype::float32 || setup.precision == Precision::tensor);
}

void Layer::Impl::end_bprop(Program& program, bool relu, const Ref& y, const Ref& dy, Parameter* bias) const {
  if (relus.bias_made) bias = nullptr;
  if (!relu || relus.passed) {
    if (bias != nullptr) bias_bprop(program, dy, *bias);
  } else if (bias == nullptr) {
    const Ref a = y.flat();
    const Ref b = dy.flat();
    program.add({a, b}, [a, b](Run& run) {
      Tensor d = run.tensor(b);
      activation_bprop(Activation::relu, run.tensor(a), d, d, 0.01F, {}, run.stream);  // a choice: nothing is rounded
    });
  } else {
    const bool last = channel_last();
    const Ref a = y.reshaped(dy.shape);
    program.add({a, dy}, [bias, a, dy, last](Run& run) {
      Tensor d = run.tensor(dy);
      relu_bias_bprop(run.tensor(a), d, last, bias->gradient, run.stream);
    });
  }
  program.observe(name, "deltas", dy);
}

Ref Layer::Impl::fprop_behind(Program& program, Impl& before, const Ref& x, const Ref& into) {
  static_cast<void>(program), static_cast<void>(before), static_cast<void>(x), static_cast<void>(into);
  return {};
}

bool Layer::Impl::pools_at_once(const Ref& x, const PoolProblem& pool) const {
  static_cast<void>(x), static_cast<void>(pool);
  return false;
}

void Layer::Impl::fprop_pooled(Program& program, const Ref& x, const PoolProblem& pool, const Ref& y,
                               const Ref& argmax) {
  static_cast<void>(program), static_cast<void>(x), static_cast<void>(pool), static_cast<void>(y);
  static_cast<void>(argmax);
  throw Error(std::string(kind()) + " does not pool its result");
}

Sample chain_shape(const std::vector<LayerPtr>& chain, const Sample& in) {
  Sample s = in;
  for (const LayerPtr& layer : chain) s = layer->configure(s);
  return s;
}

namespace {

// The bits of a row of channels are whole words; rows that are one after the other, as those of positions that are features
// of one sample, must then have no rest.
bool bits_fit(const Sample& s) {
  constexpr std::int64_t kWord = 32;
  return s.positions() == 1 || s.channels % kWord == 0;
}

Ref bits_of(Program& program, const Layer::Impl& layer, std::int64_t n) {
  constexpr std::int64_t kWord = 32;
  Sample words = layer.out;
  words.channels = (words.channels + kWord - 1) / kWord;
  return program.make(words.batch(n, Layout::channels_last), Dtype::uint32);
}

void decide_relu(Program& program, Layer::Impl& one, Layer::Impl& next, std::int64_t n) {
  const TakesRelu how = one.ends_in_relu() ? next.takes_relu() : TakesRelu::no;
  if (how == TakesRelu::no) return;
  if (how == TakesRelu::bits) {
    if (!one.leaves_bits() || (next.in.axes != next.out.axes && !bits_fit(one.out))) return;
    one.relus.bits = next.relus.x_bits = bits_of(program, one, n);
  }
  one.relus.passed = next.relus.of_x = true;
}

void decide_relus(Program& program, const std::vector<LayerPtr>& chain, std::int64_t n) {
  for (const LayerPtr& layer : chain) layer->impl().relus = {};
  for (std::size_t i = 0; i + 1 < chain.size() && program.training(); ++i) {
    Layer::Impl &one = chain[i]->impl(), &next = chain[i + 1]->impl();
    decide_relu(program, one, next, n);
    if (!next.sums_dx() || (one.ends_in_relu() && !one.relus.passed)) continue;
    next.relus.x_bias = one.end_bias();
    one.relus.bias_made = next.relus.x_bias != nullptr;
  }
}

}  // namespace

Ref chain_fprop(Program& program, const std::vector<LayerPtr>& chain, Ref x, const Ref& into) {
  decide_relus(program, chain, chain[0]->impl().batch_of(x));
  const auto result = [&](std::size_t i) { return i + 1 == chain.size() ? into : Ref{}; };
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (i + 1 < chain.size()) {
      const Ref y = chain[i + 1]->impl().fprop_behind(program, chain[i]->impl(), x, result(i + 1));
      if (y.valid()) {
        x = y;
        program.observe(chain[++i]->name(), "activations", x);
        continue;
      }
    }
    x = chain[i]->impl().fprop(program, x, result(i));
    program.observe(chain[i]->name(), "activations", x);
  }
  return x;
}

Ref chain_bprop(Program& program, const std::vector<LayerPtr>& chain, Ref dy, const Sink& sink) {
  std::size_t first = 0;  // the lowest layer whose backward pass anybody wants
  while (!sink.wanted && first < chain.size() && chain[first]->parameters().empty()) ++first;
  for (std::size_t i = chain.size(); i-- > first;) {
    // Layers that end in sums and perhaps a ReLU show the gradient of the sums themselves.
    if (dy.valid() && !chain[i]->impl().shows_deltas()) program.observe(chain[i]->name(), "deltas", dy);
    Sink below = i == 0 ? sink : Sink{};
    if (i > first) below.wanted = true;
    dy = chain[i]->impl().bprop(program, dy, below);
  }
  return first == 0 ? dy : Ref{};
}

std::array<std::int64_t, 3> spatial(const std::string& what, const Extent& e, int axes, std::int64_t fill) {
  std::array<std::int64_t, 3> out = {fill, fill, fill};
  const Ints& v = e.values();
  const auto count = static_cast<std::size_t>(axes);
  const auto bad = [&](const std::string& needs) {
    refuse(what, v.size() == 1 ? std::to_string(v[0]) : text_of(v), needs);
  };
  if (v.size() == 1) {
    for (std::size_t i = 3 - count; i < 3; ++i) out[i] = v[0];
  } else if (v.size() >= count && v.size() <= 3) {
    std::copy(v.begin(), v.end(), out.end() - static_cast<std::ptrdiff_t>(v.size()));
    for (std::size_t i = 0; i < 3 - count; ++i) {
      if (out[i] != fill) bad(std::to_string(count) + " numbers, for the input has so many spatial axes");
    }
  } else {
    bad("1 number or " + std::to_string(count));
  }
  return out;
}

}  // namespace nervanagpu::layers
