// Batches on their way in and out, and the steps of training.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "layers/network_impl.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"

namespace nervanagpu {

using layers::Program;
using layers::Ref;
using layers::refuse;

namespace {

template <class From>
void copy_as_floats(const void* from, std::int64_t count, std::byte* to) {
  const auto* source = static_cast<const From*>(from);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto v = static_cast<float>(source[i]);
    std::memcpy(to + i * 4, &v, 4);
  }
}

}  // namespace

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

void Network::Impl::load(const Program& p, const Samples& x, std::int64_t first, const std::int64_t* which) {
  const std::int64_t n = p.upload.shape.back() == 0 ? 0 : p.upload.size() / in.size();
  const std::int64_t size = in.size();
  const std::size_t from_bytes = static_cast<std::size_t>(size) * size_of(x.dtype);
  const std::size_t to_bytes = static_cast<std::size_t>(size) * size_of(upload_dtype());
  host.resize(static_cast<std::size_t>(n) * to_bytes);
  const auto* source = static_cast<const std::byte*>(x.data);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = which != nullptr ? which[first + i] : first + i;
    const std::byte* from = source + static_cast<std::size_t>(row) * from_bytes;
    std::byte* to = host.data() + static_cast<std::size_t>(i) * to_bytes;
    if (x.dtype == upload_dtype()) {
      std::memcpy(to, from, to_bytes);
    } else if (x.dtype == Dtype::uint8) {
      copy_as_floats<std::uint8_t>(from, size, to);
    } else {
      copy_as_floats<std::int8_t>(from, size, to);
    }
  }
  Tensor t = run.tensor(p.upload);
  t.set(host.data(), host.size());
}

void Network::Impl::load_labels(const Program& p, Labels y, std::int64_t first, const std::int64_t* which) {
  if (!classifies) return;
  const std::int64_t n = p.labels.size();
  std::vector<std::int32_t> picked(static_cast<std::size_t>(n), 0);
  for (std::int64_t i = 0; i < n && !y.empty(); ++i) {
    picked[static_cast<std::size_t>(i)] = y[static_cast<std::size_t>(which != nullptr ? which[first + i] : first + i)];
  }
  Tensor t = run.tensor(p.labels);
  t.set(picked.data(), picked.size() * sizeof(std::int32_t));
}

std::vector<float> Network::Impl::read(const Ref& r) const {
  return run.tensor(r).to_host<float>();
}

Evaluation Network::Impl::judge(const Program& p, Labels y, std::int64_t first, const std::int64_t* which) const {
  const std::vector<float> probs = read(p.output);
  const std::vector<float> losses = read(p.loss);
  const auto classes = static_cast<std::size_t>(out.channels);
  Evaluation sum;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto row = first + static_cast<std::int64_t>(i);
    sum.loss += static_cast<double>(losses[i]);
    std::int64_t best = -1;  // stays if nothing is a number
    float largest = -std::numeric_limits<float>::infinity();
    for (std::size_t c = 0; c < classes; ++c) {
      if (probs[i * classes + c] > largest) {
        largest = probs[i * classes + c];
        best = static_cast<std::int64_t>(c);
      }
    }
    if (best == y[static_cast<std::size_t>(which != nullptr ? which[row] : row)]) sum.accuracy += 1.0;
  }
  return sum;
}

std::vector<float> Network::Impl::forward(const Samples& x, bool input_gradient) {
  const std::int64_t n = count_of(x, "x");
  if (input_gradient && in.dtype != Dtype::float32) {
    throw TypeError("input_gradient: samples have dtype " + std::string(name_of(in.dtype)) + "; needs floats");
  }
  const Program& p = prepare(n, input_gradient ? Mode::input_gradient : Mode::training);
  load(p, x, 0, nullptr);
  load_labels(p, {}, 0, nullptr);
  p.run_forward(run);
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

void Network::Impl::update(const SgdStep& step) {
  for (layers::Parameter* p : parameters) {
    if (p->gradient.size() != p->value.size())
      throw InvalidArgument("update: there are no gradients yet; needs backward()");
  }
  // Gradients and velocities carry the loss scale: w - (lr / s) (s v) is w - lr v, and with a power of two the same bits.
  const float s = options.loss_scale;
  for (layers::Parameter* p : parameters) {
    SgdOptions o;
    o.lr = step.lr / s;
    o.momentum = step.momentum;
    o.weight_decay = p->decays ? step.weight_decay * s : 0.0F;
    // Biases are float32 to the end.
    if (options.stochastic && p->value.dtype() == options.dtype && p->decays) {
      run.mode = {true, 0, 0, options.bits};
      o.rounding = run.rounding(p->value.size());
    }
    o.stream = run.stream;
    sgd_update(p->value, p->master.size() == p->value.size() ? &p->master : nullptr, p->velocity, p->gradient, o);
  }
  ++run.step;
}

Evaluation Network::Impl::train(const Program& p, const Samples& x, Labels y, std::int64_t first,
                                const std::int64_t* which, const SgdStep& step, bool observe) {
  load(p, x, first, which);
  load_labels(p, y, first, which);
  std::vector<StatisticsRow> seen;
  {
    std::optional<Observing> observing;
    if (observe) observing.emplace(*this, seen);
    p.run_forward(run);
    p.run_backward(run);
  }
  if (observe) {
    parameter_rows(seen);
    rows = std::move(seen);
  }
  update(step);
  return judge(p, y, first, which);
}

Evaluation Network::Impl::evaluate(const Samples& x, Labels y, std::int64_t batch) {
  const std::int64_t count = count_of(x, "x");
  check_labels(y, count, "y");
  if (batch < 1) refuse("batch", std::to_string(batch), "1 or more");
  Evaluation sum;
  for (std::int64_t first = 0; first < count; first += batch) {
    const Program& p = prepare(std::min(batch, count - first), Mode::inference);
    load(p, x, first, nullptr);
    load_labels(p, y, first, nullptr);
    p.run_forward(run);
    const Evaluation part = judge(p, y, first, nullptr);
    sum.loss += part.loss;
    sum.accuracy += part.accuracy;
  }
  return {sum.loss / static_cast<double>(count), sum.accuracy / static_cast<double>(count)};
}

Network::Impl::Observing::Observing(Impl& net, std::vector<StatisticsRow>& rows_out) : run_(net.run) {
  run_.observer = [&net, &rows_out](const std::string& layer, const char* what, const Tensor& t) {
    if (t.dtype() != Dtype::float32 && t.dtype() != Dtype::float16 && t.dtype() != Dtype::bfloat16) return;
    const Statistics s = nervanagpu::statistics(t, net.run.stream);
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
