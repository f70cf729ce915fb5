// The public face of a network: arguments are checked here; steps.cpp and build.cpp do the work.
#include "nervanagpu/layers/network.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "layers/network_impl.h"
#include "layers/random.h"
#include "layers/text.h"
#include "nervanagpu/device.hpp"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "nervanagpu/sgd_options.hpp"

namespace nervanagpu {

using layers::Program;
using layers::refuse;

Network::Network(std::vector<layers::LayerPtr> layers, const Shape& input_shape, const NetworkOptions& options)
    : impl_(std::make_unique<Impl>(std::move(layers), input_shape, options)) {}
Network::Network(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

const std::vector<layers::LayerPtr>& Network::layers() const {
  return impl_->layers;
}

const layers::Sample& Network::in() const {
  return impl_->in;
}

const layers::Sample& Network::out() const {
  return impl_->out;
}

const NetworkOptions& Network::options() const {
  return impl_->options;
}

std::vector<layers::Parameter*> Network::parameters() const {
  return impl_->parameters;
}

History Network::fit(const Samples& x, Labels y, const FitOptions& options) {
  const OnDevice here(impl_->device);
  Impl& net = *impl_;
  const std::int64_t count = net.count_of(x, "x");
  net.check_labels(y, count, "y");
  if (options.epochs < 0) refuse("epochs", std::to_string(options.epochs), "0 or more");
  if (options.batch < 0) refuse("batch", std::to_string(options.batch), "1 or more");
  if ((options.validation_x != nullptr) == options.validation_y.empty()) {
    throw InvalidArgument("validation: one of samples and labels is missing; needs both or none");
  }
  if (options.validation_x != nullptr) {
    net.check_labels(options.validation_y, net.count_of(*options.validation_x, "validation x"), "validation y");
  }
  check_sgd_options({}, options.lr, options.momentum, options.weight_decay);
  std::int64_t batch = options.batch;
  if (batch == 0 && net.layers[0]->kind() == "Data") batch = net.layers[0]->config().integer("N", 0);
  if (batch == 0) batch = 64;

  History history;
  Progress progress;
  progress.epochs = options.epochs;
  progress.samples = count;
  progress.history = &history;
  const SgdStep step = {options.lr, options.momentum, options.weight_decay};
  Tensor judged;  // of all steps of an epoch, one after the other
  if (!options.each_step) {
    judged = Tensor::empty({2 * count});
    judged.used_on(net.run.stream);
  }
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    // The order depends on the seed and on how many steps were done before, so that a second fit has another one.
    std::vector<std::int64_t> order;
    if (options.shuffle) {
      order = layers::shuffled(count, layers::mix(net.options.seed, ~std::uint64_t{0} - net.run.step));
    }
    const std::int64_t* which = options.shuffle ? order.data() : nullptr;
    Evaluation sum;
    const auto add = [&](const Evaluation& part, std::int64_t n) {
      sum.loss += part.loss;
      sum.accuracy += part.accuracy;
      progress.sample += n;
      const auto done = static_cast<double>(progress.sample);
      progress.so_far = {sum.loss / done, sum.accuracy / done};
    };
    progress.epoch = epoch;
    progress.sample = 0;
    progress.epoch_done = false;
    const auto send = [&](std::int64_t first) {
      if (first >= count) return;
      net.send({x, y, std::min(batch, count - first), first, which == nullptr ? nullptr : which + first});
    };
    send(0);
    for (std::int64_t first = 0; first < count; first += batch) {
      const std::int64_t n = std::min(batch, count - first);
      const Program& p = net.prepare(n, Impl::Mode::training);
      const bool observe = options.statistics && first + n == count;
      net.train(p, step, observe);
      send(first + batch);  // while the device works
      if (options.each_step) {
        add(Impl::judge(net.read(p.judged)), n);
        if (options.callback) options.callback(progress);
      } else {
        Tensor there = judged.slice(0, 2 * first, 2 * (first + n)).reshape({2, n});
        convert(net.run.tensor(p.judged), there, {}, net.run.stream);
      }
    }
    if (!options.each_step) {
      if (net.run.stream.handle() != 0) net.run.stream.synchronize();
      const std::vector<float> all = judged.to_host<float>();
      for (std::int64_t first = 0; first < count; first += batch) {
        const std::int64_t n = std::min(batch, count - first);
        add(Impl::judge(std::span(all).subspan(static_cast<std::size_t>(2 * first), static_cast<std::size_t>(2 * n))),
            n);
      }
    }
    history.loss.push_back(progress.so_far.loss);
    history.accuracy.push_back(progress.so_far.accuracy);
    if (options.validation_x != nullptr) {
      const Evaluation v =
          net.evaluate(*options.validation_x, options.validation_y, std::max<std::int64_t>(batch, 256));
      history.val_loss.push_back(v.loss);
      history.val_accuracy.push_back(v.accuracy);
    }
    progress.epoch_done = true;
    if (options.callback) options.callback(progress);
  }
  return history;
}

namespace {

// An empty vector that holds so many results of so many numbers.
std::vector<float> room_for(std::int64_t results, std::int64_t numbers) {
  std::vector<float> out;
  std::uint64_t bytes = 0;
  const bool exists = !__builtin_mul_overflow(results * std::int64_t{sizeof(float)}, numbers, &bytes);
  try {
    if (exists) {
      out.reserve(bytes / sizeof(float));
      return out;
    }
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw out_of_host_memory(exists ? std::to_string(bytes) : "more than 2^64");
}

}  // namespace

std::vector<float> Network::predict(const Samples& x, std::int64_t batch) {
  const OnDevice here(impl_->device);
  Impl& net = *impl_;
  const std::int64_t count = net.count_of(x, "x");
  if (batch < 1) refuse("batch", std::to_string(batch), "1 or more");
  std::vector<float> result = room_for(count, net.out.size());
  for (std::int64_t first = 0; first < count; first += batch) {
    const std::int64_t n = std::min(batch, count - first);
    const Program& p = net.prepare(n, Impl::Mode::inference);
    net.send({x, {}, n, first});
    net.infer(p);
    const std::vector<float> part = net.read(p.output);
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

Evaluation Network::evaluate(const Samples& x, Labels y, std::int64_t batch) {
  const OnDevice here(impl_->device);
  return impl_->evaluate(x, y, batch);
}

std::vector<float> Network::forward(const Samples& x, bool input_gradient) {
  const OnDevice here(impl_->device);
  return impl_->forward(x, input_gradient);
}

namespace {

const char* const kNoForward = "backward: there is no forward pass to follow; needs forward() before it";

}  // namespace

std::vector<float> Network::backward(Labels y) {
  const OnDevice here(impl_->device);
  Impl& net = *impl_;
  if (net.pending == nullptr) throw InvalidArgument(kNoForward);
  const layers::Ref& labels = net.pending->labels;
  net.check_labels(y, net.pending->input.size() / net.in.size(), "y");
  net.run.tensor(labels).set(y.data(), y.size_bytes());
  return net.backward_of(*net.pending);
}

std::vector<float> Network::backward(std::span<const float> dy) {
  const OnDevice here(impl_->device);
  Impl& net = *impl_;
  if (net.pending == nullptr) throw InvalidArgument(kNoForward);
  if (net.classifies) throw InvalidArgument("backward: dy is given, but the network ends in a Softmax; needs labels");
  const layers::Ref& to = net.pending->dy;
  if (static_cast<std::int64_t>(dy.size()) != to.size()) {
    refuse("the size of dy", std::to_string(dy.size()), std::to_string(to.size()) + ", that of the results");
  }
  std::vector<float> scaled(dy.begin(), dy.end());
  for (float& v : scaled) v *= net.options.loss_scale;
  Tensor t = net.run.tensor(to);
  t.set(scaled.data(), scaled.size() * sizeof(float));
  return net.backward_of(*net.pending);
}

void Network::update(const SgdStep& step) {
  const OnDevice here(impl_->device);
  check_sgd_options({}, step.lr, step.momentum, step.weight_decay);
  impl_->pending = nullptr;
  impl_->set_rate(step.lr);
  impl_->update(step);
  ++impl_->run.step;
}

Evaluation Network::train_step(const Samples& x, Labels y, const SgdStep& step) {
  const OnDevice here(impl_->device);
  Impl& net = *impl_;
  const std::int64_t n = net.count_of(x, "x");
  net.check_labels(y, n, "y");
  check_sgd_options({}, step.lr, step.momentum, step.weight_decay);
  const Program& p = net.prepare(n, Impl::Mode::training);
  net.send({x, y, n});
  net.train(p, step, false);
  const Evaluation sum = Impl::judge(net.read(p.judged));
  return {sum.loss / static_cast<double>(n), sum.accuracy / static_cast<double>(n)};
}

std::vector<StatisticsRow> Network::statistics(const Samples& x, Labels y) {
  const OnDevice here(impl_->device);
  Impl& net = *impl_;
  const std::int64_t n = net.count_of(x, "x");
  net.check_labels(y, n, "y");
  const Program& p = net.prepare(n, Impl::Mode::training);
  net.send({x, y, n});
  std::vector<StatisticsRow> rows;
  {
    const Impl::Observing observing(net, rows);
    net.infer(p);
    p.run_backward(net.run);
  }
  net.parameter_rows(rows);
  net.rows = rows;
  return rows;
}

const std::vector<StatisticsRow>& Network::statistics() const {
  if (impl_->rows.empty()) {
    throw InvalidArgument("statistics: there are none yet; needs samples and labels, or a fit with statistics on");
  }
  return impl_->rows;
}

double Network::flops() const {
  double sum = 0.0;
  for (const layers::LayerPtr& layer : impl_->layers) sum += layer->flops();
  return sum;
}

MemoryPlan Network::memory(std::int64_t batch, bool training) const {
  if (batch < 1) refuse("batch", std::to_string(batch), "1 or more");
  const auto p = impl_->build(batch, training ? Impl::Mode::training : Impl::Mode::inference);
  std::vector<Program::Buffer> buffers = p->buffers();
  return {p->arena_bytes(), layers::place_buffers(buffers, false)};
}

void Network::set_interrupt(std::function<void()> check) {
  impl_->run.interrupt = std::move(check);
}

void Network::share_memory(bool share) {
  impl_->share = share;
  impl_->forget_programs();
}

}  // namespace nervanagpu
