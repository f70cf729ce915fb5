// A network's construction, and its programs: one for each batch size and mode.
#include <set>
#include <string>

#include "layers/network_impl.h"
#include "layers/recorded_step.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"

namespace nervanagpu {

using layers::Layer;
using layers::LayerPtr;
using layers::Parameter;
using layers::Program;
using layers::Ref;
using layers::refuse;
using layers::row_major;
using layers::Run;
using layers::Sample;
using layers::Sink;

namespace {

// Calls f for every layer, those of branches after the layer that has them.
template <class F>
void each(const std::vector<LayerPtr>& chain, const F& f) {
  for (const LayerPtr& layer : chain) {
    f(*layer);
    if (const auto* branches = layer->impl().branches()) {
      for (const auto& branch : *branches) each(branch, f);
    }
  }
}

void name_layers(const std::vector<LayerPtr>& chain, const std::string& prefix) {
  std::map<std::string, int> counts;
  for (const LayerPtr& layer : chain) {
    std::string kind = layer->kind();
    kind[0] = static_cast<char>(kind[0] - 'A' + 'a');
    layer->impl().name = prefix + kind + std::to_string(++counts[kind]);
    if (const auto* branches = layer->impl().branches()) {
      for (std::size_t i = 0; i < branches->size(); ++i) {
        name_layers((*branches)[i], layer->name() + "." + std::to_string(i) + ".");
      }
    }
  }
}

void check_layers(const std::vector<LayerPtr>& chain) {
  if (chain.empty()) refuse("layers", "empty", "1 layer or more");
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (chain[i] == nullptr) refuse("layers[" + std::to_string(i) + "]", "null", "a layer");
    if (layers::is_softmax(*chain[i]) && i + 1 < chain.size()) {
      refuse("layers[" + std::to_string(i) + "]", "Softmax", "it at the end");
    }
  }
  std::set<const Layer*> seen;
  each(chain, [&](const Layer& layer) {
    if (layer.impl().owned || !seen.insert(&layer).second) {
      throw InvalidArgument(layer.name() + " belongs to a network already; needs a layer of its own for each place");
    }
  });
}

void check_options(const NetworkOptions& o) {
  if (o.layout == Layout::channels_first) {
    throw InvalidArgument("layout is channels_first; needs channels_last (NHWC) or batch_last (CHWN) in a network");
  }
  if (o.dtype != Dtype::float32 && o.dtype != Dtype::float16 && o.dtype != Dtype::bfloat16) {
    throw TypeError("dtype is " + std::string(name_of(o.dtype)) + "; needs float32, float16 or bfloat16");
  }
  const int most = most_bits(o.dtype);
  if (o.bits < 0 || o.bits > most) refuse("bits", std::to_string(o.bits), "0 to " + std::to_string(most));
  if (!(o.loss_scale >= 0.0F && o.loss_scale <= 1e30F))
    refuse("loss_scale", std::to_string(o.loss_scale), "more than 0");
  if (o.precision != Precision::strict && o.precision != Precision::tensor)
    refuse("precision", std::to_string(static_cast<int>(o.precision)), "a Precision");
}

Sample input_of(const std::vector<LayerPtr>& chain, const Shape& input_shape) {
  Shape shape = input_shape;
  Dtype dtype = Dtype::float32;
  if (chain[0]->kind() == "Data") {
    const layers::Config c = chain[0]->config();
    if (shape.empty()) shape = c.integers("shape", {});
    dtype = dtype_from_name(c.text("dtype", "float32")).value_or(Dtype::float32);
  }
  if (shape.empty()) refuse("input_shape", "missing", "it, or a Data layer with a shape at the front");
  return Sample::of(shape, dtype);
}

// Between (n, ..., C) and (C, ..., n).
Tensor swapped(const Tensor& t) {
  std::vector<int> axes(static_cast<std::size_t>(t.ndim()));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
  std::swap(axes.front(), axes.back());
  return t.transpose(axes);
}

void add_convert(Program& p, const Ref& from, const Ref& to, bool swap) {
  p.add({from, to}, [=](Run& run) {
    Tensor out = run.tensor(to);
    convert(swap ? swapped(run.tensor(from)) : run.tensor(from), out, {}, run.stream);
  });
}

// What was sent is read at once, so that the next batch may follow while this one is computed with.
void receive(Program& p, const Shape& host_shape, bool swap) {
  p.ahead({p.input}, [=, input = p.input](Run& run) {
    Tensor out = run.tensor(input);
    const Tensor from = row_major(run.sent.samples, host_shape, run.sent.dtype);
    convert(swap ? swapped(from) : from, out, {}, run.stream);
  });
  if (!p.labels.valid()) return;
  p.ahead({p.labels}, [labels = p.labels](Run& run) {
    Tensor out = run.tensor(labels);
    convert(row_major(run.sent.labels, labels.shape, labels.dtype), out, {}, run.stream);
  });
}

}  // namespace

Network::Impl::Impl(std::vector<LayerPtr> chain, const Shape& input_shape, const NetworkOptions& opts)
    : layers(std::move(chain)), options(opts) {
  check_options(options);
  check_layers(layers);
  if (options.loss_scale == 0.0F) options.loss_scale = options.dtype == Dtype::float16 ? 128.0F : 1.0F;
  in = input_of(layers, input_shape);
  name_layers(layers, "");
  out = layers::chain_shape(layers, in);
  if (out.dtype != Dtype::float32) {
    throw TypeError("the network's result has dtype " + std::string(name_of(out.dtype)) +
                    "; needs a convolution after bytes");
  }
  classifies = layers::is_softmax(*layers.back());

  layers::Setup setup;
  setup.layout = options.layout;
  setup.dtype = options.dtype;
  setup.master = options.dtype != Dtype::float32 && options.master;
  setup.seed = options.seed;
  setup.loss_scale = options.loss_scale;
  setup.precision = options.precision;
  std::uint64_t index = 0;
  each(layers, [&](const Layer& layer) {
    layer.impl().setup = setup;
    layer.impl().index = index++;
    layer.impl().declare(setup);
  });
  each(layers, [&](const Layer& layer) {
    layer.impl().owned = true;
    for (Parameter& p : layer.impl().parameters) parameters.push_back(&p);
  });
  packed = layers::Packed::of(parameters);
  run.stream = options.stream;
  run.seed = options.seed;
}

std::unique_ptr<Program> Network::Impl::build(std::int64_t n, Mode mode) const {
  auto program = std::make_unique<Program>(mode != Mode::inference);
  Program& p = *program;
  const bool last = options.layout == Layout::channels_last;
  const Dtype inner = in.dtype == Dtype::float32 ? options.dtype : in.dtype;
  const auto host_shape = [n](const Sample& s) { return s.batch(n, Layout::channels_last); };

  p.input = p.make(in.batch(n, options.layout), inner);
  p.input.disposable = true;
  if (classifies) {
    p.labels = p.make({n}, Dtype::int32);
    p.judged = p.make({2, n}, Dtype::float32);
    p.leaves(p.labels, true);
    p.leaves(p.judged, true);
  }
  receive(p, host_shape(in), !last);
  const Ref result = layers::chain_fprop(p, layers, p.input, {});
  p.output = result;
  const bool as_is = options.dtype == Dtype::float32 && (last || classifies);
  if (!as_is) {
    p.output = p.make(host_shape(out), Dtype::float32);
    add_convert(p, result, p.output, !last && !classifies);
  }
  p.leaves(p.output, true);
  if (mode == Mode::inference) {
    p.place(share);
    return program;
  }

  p.begin_backward();
  Ref dy;
  if (!classifies) {
    p.dy = p.make(host_shape(out), Dtype::float32);
    p.arrives(p.dy);
    dy = p.dy;
    if (!last || options.dtype != Dtype::float32) {
      dy = p.make(out.batch(n, options.layout), options.dtype);
      add_convert(p, p.dy, dy, !last);
    }
  }
  Sink sink;
  sink.wanted = mode == Mode::input_gradient;
  const Ref dx = layers::chain_bprop(p, layers, dy, sink);
  if (sink.wanted) {
    p.dx = dx;
    if (!last || options.dtype != Dtype::float32) {
      p.dx = p.make(host_shape(in), Dtype::float32);
      add_convert(p, dx.reshaped(in.batch(n, options.layout)), p.dx, !last);
    }
    p.leaves(p.dx, true);
  }
  p.place(share);
  return program;
}

const Program& Network::Impl::prepare(std::int64_t n, Mode mode) {
  constexpr std::size_t kKept = 16;  // programs
  auto it = programs.find({n, mode});
  if (it == programs.end()) {
    std::unique_ptr<Program> fresh = build(n, mode);
    if (programs.size() >= kKept) forget_programs();
    it = programs.emplace(std::pair{n, mode}, std::move(fresh)).first;
  }
  const Program& p = *it->second;
  pending = nullptr;
  if (p.arena_bytes() > arena.nbytes()) {
    arena = Tensor();  // its memory can serve the larger one
    arena = Tensor::empty({static_cast<std::int64_t>(p.arena_bytes())}, Dtype::uint8);
  }
  run.program = &p;
  run.arena = arena.address();
  run.observer = nullptr;
  run.mode = {};
  if (mode != Mode::inference && options.stochastic) run.mode = {true, 0, 0, options.bits};
  if (mode != Mode::inference) prepare_gradients();
  return p;
}

void Network::Impl::forget_programs() {
  pending = nullptr;
  last_step = nullptr;
  recorded.clear();
  programs.clear();
}

void Network::Impl::prepare_gradients() {
  for (layers::Packed& g : packed) g.make_gradients();
}

}  // namespace nervanagpu
