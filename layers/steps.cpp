// Batches on their way in and out, and the steps of training.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "layers/batch.h"
#include "layers/network_impl.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"

namespace nervanagpu {

using layers::Program;
using layers::Ref;
using layers::refuse;

std::int64_t Network::Impl::count_of(const Samples& x, const char* name) const {
  const std::int64_t size = in.size();
  const auto elements = static_cast<std::int64_t>(x.elements);
  if (elements == 0 || elements % size != 0) {
    refuse(std::string("the size of ") + name, std::to_string(elements),
           "a multiple of " + std::to_string(size) + ", samples of shape " + in.text());
  }
  if (in.dtype != Dtype::float32 && x.dtype != in.dtype) {
    throw TypeError(std::string(name) + " has dtype " + std::string(name_of(x.dtype)) + "; needs " +
                    std::string(name_of(in.dtype)) + ", that of the Data layer");
  }
  return elements / size;
}

void Network::Impl::check_labels(Labels y, std::int64_t count, const char* name) const {
  if (!classifies)
    throw InvalidArgument(std::string(name) + ": the network does not end in a Softmax; labels need one");
  if (static_cast<std::int64_t>(y.size()) != count) {
    refuse(std::string("the size of ") + name, std::to_string(y.size()),
           std::to_string(count) + ", one for each sample");
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] < 0 || y[i] >= out.channels) {
      refuse(std::string(name) + "[" + std::to_string(i) + "]", std::to_string(y[i]),
             "0 to " + std::to_string(out.channels - 1));
    }
  }
}

void Network::Impl::send(const Batch& batch) {
  constexpr std::size_t kAlign = 256;
  const std::size_t row = static_cast<std::size_t>(in.size()) * size_of(batch.x.dtype);
  const auto n = static_cast<std::size_t>(batch.n);
  const std::size_t labels = (n * row + kAlign - 1) / kAlign * kAlign;  // where they lie after the samples
  const std::size_t bytes = labels + (classifies ? n * sizeof(std::int32_t) : 0);
  if (feed == nullptr || feed->bytes() < bytes) {
    feed.reset();
    feed = std::make_unique<Feed>(bytes);
  }
  std::byte* to = feed->fill();
  const auto number = [&](std::size_t i) {
    return static_cast<std::size_t>(batch.which != nullptr ? batch.which[i]
                                                           : batch.first + static_cast<std::int64_t>(i));
  };
  layers::gather_rows(static_cast<const std::byte*>(batch.x.data), row, number, n, to);
  for (std::size_t i = 0; i < n && classifies; ++i) {
    const std::int32_t label = batch.y.empty() ? 0 : batch.y[number(i)];
    std::memcpy(to + labels + i * sizeof label, &label, sizeof label);
  }
  feed->send(bytes);
  run.sent = {feed->address(), feed->address() + labels, batch.x.dtype};
}

void Network::Impl::arrive(const Program& p) {
  feed->arrive(run.stream);
  p.run_ahead(run);
}

void Network::Impl::infer(const Program& p) {
  arrive(p);
  p.run_forward(run);
  feed->taken(run.stream);
}

std::vector<float> Network::Impl::read(const Ref& r) const {
  if (run.stream.handle() != 0) run.stream.synchronize();  // the default stream may not wait for it
  return run.tensor(r).to_host<float>();
}

Evaluation Network::Impl::judge(std::span<const float> judged) {
  const std::size_t n = judged.size() / 2;
  Evaluation sum;
  for (std::size_t i = 0; i < n; ++i) {
    sum.loss += static_cast<double>(judged[i]);
    sum.accuracy += static_cast<double>(judged[n + i]);
  }
  return sum;
}

std::vector<float> Network::Impl::forward(const Samples& x, bool input_gradient) {
  const std::int64_t n = count_of(x, "x");
  if (input_gradient && in.dtype != Dtype::float32) {
    throw TypeError("input_gradient: samples have dtype " + std::string(name_of(in.dtype)) + "; needs floats");
  }
  const Program& p = prepare(n, input_gradient ? Mode::input_gradient : Mode::training);
  send({x, {}, n});
  infer(p);
  std::vector<float> result = read(p.output);
  pending = &p;
  return result;
}

std::vector<float> Network::Impl::backward_of(const Program& p) {
  pending = nullptr;  // it overwrites what it reads
  p.run_backward(run);
  if (!p.dx.valid()) return {};
  std::vector<float> dx = read(p.dx);
  for (float& v : dx) v /= options.loss_scale;
  return dx;
}

// In the place where a graph reads it.
void Network::Impl::set_rate(float lr) {
  const float scaled = lr / options.loss_scale;
  if (rate.size() != 1) rate = Tensor::empty({1});
  if (scaled == rate_now) return;
  rate_now = NAN;
  rate.fill(scaled);
  if (run.stream.handle() != 0) Stream().synchronize();  // which may not wait for the default one
  rate_now = scaled;
}

void Network::Impl::update(const SgdStep& step) {
  for (const layers::Packed& g : packed) {
    if (g.gradient.size() != g.value.size()) {
      throw InvalidArgument("update: there are no gradients yet; needs backward()");
    }
  }
  // Gradients and velocities carry the loss scale: w - (lr / s) (s v) is w - lr v, and with a power of two the same bits.
  const float s = options.loss_scale;
  for (layers::Packed& g : packed) {
    SgdOptions o;
    o.lr = step.lr / s;
    o.rate = &rate;
    o.momentum = step.momentum;
    o.weight_decay = g.decays ? step.weight_decay * s : 0.0F;
    // Biases are float32 to the end.
    if (options.stochastic && g.decays) {
      run.mode = {true, 0, 0, options.bits};
      o.rounding = run.rounding(g.value.size());
    }
    o.stream = run.stream;
    sgd_update(g.value, g.master.size() == g.value.size() ? &g.master : nullptr, g.velocity, g.gradient, o);
  }
}

void Network::Impl::train(const Program& p, const SgdStep& step, bool observe) {
  set_rate(step.lr);
  arrive(p);
  feed->taken(run.stream);
  if (observe) {
    std::vector<StatisticsRow> seen;
    {
      const Observing observing(*this, seen);
      p.run_forward(run);
      p.run_backward(run);
    }
    parameter_rows(seen);
    rows = std::move(seen);
    update(step);
  } else {
    whole_step(p, step);
  }
  ++run.step;
}

Evaluation Network::Impl::evaluate(const Samples& x, Labels y, std::int64_t batch) {
  const std::int64_t count = count_of(x, "x");
  check_labels(y, count, "y");
  if (batch < 1) refuse("batch", std::to_string(batch), "1 or more");
  Evaluation sum;
  for (std::int64_t first = 0; first < count; first += batch) {
    const std::int64_t n = std::min(batch, count - first);
    const Program& p = prepare(n, Mode::inference);
    send({x, y, n, first});
    infer(p);
    const Evaluation part = judge(read(p.judged));
    sum.loss += part.loss;
    sum.accuracy += part.accuracy;
  }
  return {sum.loss / static_cast<double>(count), sum.accuracy / static_cast<double>(count)};
}

Network::Impl::Observing::Observing(Impl& net, std::vector<StatisticsRow>& rows_out) : run_(net.run) {
  run_.observer = [&net, &rows_out](const std::string& layer, const char* what, const Tensor& t) {
    if (t.dtype() != Dtype::float32 && t.dtype() != Dtype::float16 && t.dtype() != Dtype::bfloat16) return;
    const Statistics s = nervanagpu::statistics(t.contiguous() ? t : t.copy(), net.run.stream);
    const double scale = std::strcmp(what, "deltas") == 0 ? static_cast<double>(net.options.loss_scale) : 1.0;
    rows_out.push_back({layer, what, s.mean_abs / scale, s.max_abs / scale});
  };
}

void Network::Impl::parameter_rows(std::vector<StatisticsRow>& rows_out) const {
  const auto scale = static_cast<double>(options.loss_scale);
  for (const layers::Parameter* p : parameters) {
    const Statistics w = nervanagpu::statistics(p->value, run.stream);
    const Statistics g = nervanagpu::statistics(p->gradient, run.stream);
    rows_out.push_back({p->name, "weights", w.mean_abs, w.max_abs});
    rows_out.push_back({p->name, "updates", g.mean_abs / scale, g.max_abs / scale});
  }
}

}  // namespace nervanagpu
