// Layers and networks. Arrays come prepared by network.py: contiguous, of the dtypes that samples have.
#include <pybind11/stl.h>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "nervanagpu/layers.hpp"
#include "python/bind.h"
#include "python/to_python.h"

namespace nervanagpu::python {
namespace {

using layers::Config;
using layers::Layer;
using layers::LayerPtr;
using layers::Parameter;

Config config_from(const py::dict& d);

layers::Value value_from(const std::string& name, const py::handle& v) {
  if (py::isinstance<py::bool_>(v)) return v.cast<bool>();
  if (py::isinstance<py::float_>(v)) return v.cast<double>();
  if (py::isinstance<py::str>(v)) return v.cast<std::string>();
  if (py::isinstance<py::sequence>(v)) {
    const auto list = py::reinterpret_borrow<py::sequence>(v);
    layers::Ints ints;
    layers::Branches branches;
    for (const py::handle item : list) {
      if (py::isinstance<py::sequence>(item)) {
        branches.emplace_back();
        for (const py::handle entry : item) branches.back().push_back(config_from(entry.cast<py::dict>()));
      } else {
        ints.push_back(integer_from(item, "an item of field '" + name + "'"));
      }
    }
    if (!branches.empty() && !ints.empty()) throw TypeError("field '" + name + "' mixes numbers and lists");
    if (branches.empty()) return ints;
    return branches;
  }
  if (PyIndex_Check(v.ptr()) != 0) return integer_from(v, "field '" + name + "'");
  throw TypeError("field '" + name + "' is " + std::string(py::str(py::type::handle_of(v).attr("__name__"))) +
                  "; needs a bool, a number, a str or a list");
}

Config config_from(const py::dict& d) {
  Config out;
  for (const auto& [key, v] : d) {
    const auto name = key.cast<std::string>();
    out.set({name, value_from(name, v)});
  }
  return out;
}

py::dict dict_of(const Config& c) {
  py::dict out;
  for (const auto& [name, v] : c.fields()) {
    if (const auto* branches = std::get_if<layers::Branches>(&v)) {
      py::list all;
      for (const auto& branch : *branches) {
        py::list chain;
        for (const Config& layer : branch) chain.append(dict_of(layer));
        all.append(chain);
      }
      out[py::str(name)] = all;
    } else {
      out[py::str(name)] = std::visit(
          [](const auto& x) -> py::object {
            if constexpr (std::is_same_v<std::decay_t<decltype(x)>, layers::Branches>) {
              return py::none();
            } else {
              return py::cast(x);
            }
          },
          v);
    }
  }
  return out;
}

Samples samples_from(const py::array& x) {
  const auto elements = static_cast<std::size_t>(x.size());
  const py::dtype type = x.dtype();
  if (type.is(py::dtype::of<float>())) return std::span(static_cast<const float*>(x.data()), elements);
  if (type.is(py::dtype::of<std::uint8_t>())) return std::span(static_cast<const std::uint8_t*>(x.data()), elements);
  if (type.is(py::dtype::of<std::int8_t>())) return std::span(static_cast<const std::int8_t*>(x.data()), elements);
  throw TypeError("x has dtype " + std::string(py::str(type)) + "; needs float32, uint8 or int8");
}

using LabelArray = py::array_t<std::int32_t, py::array::c_style>;
Labels labels_from(const LabelArray& y) {
  return {y.data(), static_cast<std::size_t>(y.size())};
}

py::array_t<float> array_of(const std::vector<float>& v, std::int64_t count, const layers::Sample& s) {
  Shape shape = s.shape();
  shape.insert(shape.begin(), count);
  py::array_t<float> out(std::vector<py::ssize_t>(shape.begin(), shape.end()));
  if (!v.empty()) std::memcpy(out.mutable_data(), v.data(), v.size() * sizeof(float));
  return out;
}

py::object optional_tensor(const Tensor& t) {
  return t.size() > 0 ? py::cast(t) : py::none();
}

void bind_layer(py::module_& m) {
  py::class_<Parameter>(m, "Parameter", "What training changes: a weight or a bias of a layer.")
      .def_readonly("name", &Parameter::name, "For example \"conv1.weight\".")
      .def_property_readonly(
          "value", [](const Parameter& p) { return p.value; }, "In the network's layout and dtype.")
      .def_property_readonly(
          "gradient", [](const Parameter& p) { return optional_tensor(p.gradient); },
          "Of the last backward pass, times the loss scale; None before the first one.")
      .def_property_readonly(
          "velocity", [](const Parameter& p) { return optional_tensor(p.velocity); },
          "float32, times the loss scale; None before the first backward pass.")
      .def_property_readonly(
          "master", [](const Parameter& p) { return optional_tensor(p.master); }, "float32 master weights, or None.")
      .def_readonly("decays", &Parameter::decays, "Whether weight decay applies.")
      .def(
          "canonical", &Parameter::canonical, py::arg("tensor"),
          "A view of the value (gradient, ...) in the form that does not depend on the layout: (K, T, R, S, C/groups)\n"
          "of convolutions, (outputs, D, H, W, C) of full layers.");

  py::class_<Layer, LayerPtr>(m, "Layer", "A layer of a network.")
      .def(py::init([](const py::dict& config) { return Layer::create(config_from(config)); }), py::arg("config"))
      .def(py::init([](std::vector<std::vector<LayerPtr>> branches) { return layers::inception(std::move(branches)); }),
           py::arg("branches"))
      .def(
          "config", [](const Layer& l) { return dict_of(l.config()); }, "The table entry that makes this layer again.")
      .def_property_readonly("kind", &Layer::kind)
      .def_property_readonly("name", &Layer::name)
      .def(
          "configure",
          [](Layer& l, const py::object& shape) {
            return tuple_of(l.configure(layers::Sample::of(shape_from(shape))).shape());
          },
          py::arg("input_shape"))
      .def_property_readonly("input_shape",
                             [](const Layer& l) -> py::object {
                               return l.configured() ? tuple_of(l.in().shape()) : py::object(py::none());
                             })
      .def_property_readonly("output_shape",
                             [](const Layer& l) -> py::object {
                               return l.configured() ? tuple_of(l.out().shape()) : py::object(py::none());
                             })
      .def_property_readonly("flops", &Layer::flops)
      .def_property_readonly("parameters", &Layer::parameters, py::return_value_policy::reference_internal);
}

// Python's signals, Ctrl-C among them, end a pass; they are looked for now and then only, since other threads may have
// the GIL.
void check_signals() {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::milliseconds(20);
  static thread_local Clock::time_point last;
  const Clock::time_point now = Clock::now();
  if (now - last < kPause) return;
  last = now;
  const GilAcquire acquire;
  if (in_python([] { return PyErr_CheckSignals(); }) != 0) throw py::error_already_set();
}

// Progress to Python: what is raised ends the fit.
std::function<void(const Progress&)> callback_of(const py::object& callback) {
  return [callback = callback.ptr()](const Progress& p) {
    const GilAcquire acquire;
    if (callback == Py_None) return;
    py::object history = py::none();
    if (p.epoch_done) {
      const History& h = *p.history;
      history = py::make_tuple(h.loss, h.accuracy, h.val_loss, h.val_accuracy);
    }
    const py::handle call = callback;
    in_python([&] { call(p.epoch, p.sample, p.so_far.loss, p.so_far.accuracy, history); });
  };
}

struct FitCall {
  py::array x;
  LabelArray y;
  int epochs;
  std::int64_t batch;
  std::array<float, 3> sgd;  // lr, momentum, weight decay
  bool shuffle, statistics, each_step;
  std::optional<std::pair<py::array, LabelArray>> validation;
};

py::tuple fit(Network& net, const FitCall& call, const py::object& callback) {
  FitOptions o;
  o.epochs = call.epochs;
  o.batch = call.batch;
  o.lr = call.sgd[0];
  o.momentum = call.sgd[1];
  o.weight_decay = call.sgd[2];
  o.shuffle = call.shuffle;
  o.statistics = call.statistics;
  o.each_step = call.each_step;
  std::optional<Samples> vx;
  if (call.validation) {
    vx = samples_from(call.validation->first);
    o.validation_x = &*vx;
    o.validation_y = labels_from(call.validation->second);
  }
  o.callback = callback_of(callback);
  const Samples x = samples_from(call.x);
  const Labels y = labels_from(call.y);
  History h;
  {
    const GilRelease release;
    h = net.fit(x, y, o);
  }
  return py::make_tuple(h.loss, h.accuracy, h.val_loss, h.val_accuracy);
}

py::list rows_of(const std::vector<StatisticsRow>& rows) {
  py::list out;
  for (const StatisticsRow& r : rows) out.append(py::make_tuple(r.layer, r.what, r.mean_abs, r.max_abs));
  return out;
}

void bind_steps(py::class_<Network>& c) {
  c.def(
      "fit",
      [](Network& net, const py::array& x, const LabelArray& y, int epochs, std::int64_t batch, float lr,
         float momentum, float weight_decay, bool shuffle, bool statistics, bool each_step, const py::object& vx,
         const py::object& vy, const py::object& callback) {
        evaluate_pending();
        FitCall call{x, y, epochs, batch, {lr, momentum, weight_decay}, shuffle, statistics, each_step, std::nullopt};
        if (!vx.is_none()) call.validation = {vx.cast<py::array>(), vy.cast<LabelArray>()};
        return fit(net, call, callback);
      },
      py::arg("x"), py::arg("y"), py::arg("epochs"), py::arg("batch"), py::arg("lr"), py::arg("momentum"),
      py::arg("weight_decay"), py::arg("shuffle"), py::arg("statistics"), py::arg("each_step"), py::arg("vx"),
      py::arg("vy"), py::arg("callback"));
  c.def("predict", [](Network& net, const py::array& x, std::int64_t batch) {
    const Samples s = samples_from(x);
    std::vector<float> out;
    {
      const GilRelease release;
      out = net.predict(s, batch);
    }
    return array_of(out, static_cast<std::int64_t>(out.size()) / net.out().size(), net.out());
  });
  c.def("evaluate", [](Network& net, const py::array& x, const LabelArray& y, std::int64_t batch) {
    const Samples s = samples_from(x);
    const Labels l = labels_from(y);
    const GilRelease release;
    const Evaluation e = net.evaluate(s, l, batch);
    return std::make_pair(e.loss, e.accuracy);
  });
  c.def("forward", [](Network& net, const py::array& x, bool input_gradient) {
    evaluate_pending();
    const Samples s = samples_from(x);
    std::vector<float> out;
    {
      const GilRelease release;
      out = net.forward(s, input_gradient);
    }
    return array_of(out, static_cast<std::int64_t>(out.size()) / net.out().size(), net.out());
  });
  c.def("backward", [](Network& net, const py::array& against) -> py::object {
    evaluate_pending();
    std::vector<float> dx;
    if (py::isinstance<LabelArray>(against)) {
      const auto y = against.cast<LabelArray>();
      const Labels l = labels_from(y);
      const GilRelease release;
      dx = net.backward(l);
    } else {
      const auto dy = against.cast<py::array_t<float, py::array::c_style>>();
      const std::span<const float> d(dy.data(), static_cast<std::size_t>(dy.size()));
      const GilRelease release;
      dx = net.backward(d);
    }
    if (dx.empty()) return py::none();
    return array_of(dx, static_cast<std::int64_t>(dx.size()) / net.in().size(), net.in());
  });
  c.def("update", [](Network& net, float lr, float momentum, float weight_decay) {
    evaluate_pending();
    const GilRelease release;
    net.update({lr, momentum, weight_decay});
  });
  c.def("train_step",
        [](Network& net, const py::array& x, const LabelArray& y, float lr, float momentum, float weight_decay) {
          evaluate_pending();
          const Samples s = samples_from(x);
          const Labels l = labels_from(y);
          const GilRelease release;
          const Evaluation e = net.train_step(s, l, {lr, momentum, weight_decay});
          return std::make_pair(e.loss, e.accuracy);
        });
  c.def("statistics", [](const Network& net) { return rows_of(net.statistics()); });
  c.def("statistics_of", [](Network& net, const py::array& x, const LabelArray& y) {
    const Samples s = samples_from(x);
    const Labels l = labels_from(y);
    std::vector<StatisticsRow> rows;
    {
      const GilRelease release;
      rows = net.statistics(s, l);
    }
    return rows_of(rows);
  });
}

void bind_network(py::module_& m) {
  py::class_<Network> c(m, "Network", "A chain of layers that learns; nervanagpu.Network is the one to use.");
  c.def(py::init([](const std::vector<LayerPtr>& chain, const py::object& input_shape, const std::string& layout,
                    const py::object& dtype, std::uint64_t seed, bool stochastic, int bits, bool master,
                    float loss_scale, const std::string& precision, const py::object& stream, bool graphs) {
          NetworkOptions o;
          o.layout = layout_from_name(layout);
          o.dtype = dtype_from(dtype);
          o.seed = seed;
          o.stochastic = stochastic;
          o.bits = bits;
          o.master = master;
          o.loss_scale = loss_scale;
          o.precision = precision_from(precision);
          o.stream = stream_from(stream);
          o.graphs = graphs;
          const Shape shape = input_shape.is_none() ? Shape{} : shape_from(input_shape);
          const GilRelease release;
          Network net(chain, shape, o);
          net.set_interrupt(&check_signals);
          return net;
        }),
        py::arg("layers"), py::arg("input_shape"), py::arg("layout"), py::arg("dtype"), py::arg("seed"),
        py::arg("stochastic"), py::arg("bits"), py::arg("master"), py::arg("loss_scale"), py::arg("precision"),
        py::arg("stream"), py::arg("graphs"));
  bind_steps(c);
  c.def_property_readonly("layers", &Network::layers);
  c.def_property_readonly("parameters", &Network::parameters, py::return_value_policy::reference_internal);
  c.def_property_readonly("input_shape", [](const Network& n) { return tuple_of(n.in().shape()); });
  c.def_property_readonly("output_shape", [](const Network& n) { return tuple_of(n.out().shape()); });
  c.def_property_readonly("input_dtype", [](const Network& n) { return numpy_dtype(n.in().dtype); });
  c.def_property_readonly("dtype", [](const Network& n) { return dtype_object(n.options().dtype); });
  c.def_property_readonly("layout",
                          [](const Network& n) { return n.options().layout == Layout::batch_last ? "CHWN" : "NHWC"; });
  c.def_property_readonly("seed", [](const Network& n) { return n.options().seed; });
  c.def_property_readonly("loss_scale", [](const Network& n) { return n.options().loss_scale; });
  c.def_property_readonly("precision", [](const Network& n) { return name_of(n.options().precision); });
  c.def_property_readonly("flops", &Network::flops);
  c.def("summary", &Network::summary);
  c.def("memory", [](const Network& n, std::int64_t batch, bool training) {
    const MemoryPlan p = n.memory(batch, training);
    return std::make_pair(p.arena, p.unshared);
  });
  c.def("share_memory", &Network::share_memory);
  c.def("save", &Network::save, py::call_guard<GilRelease>());
  c.def(
      "load_parameters",
      [](Network& net, const std::string& path) {
        evaluate_pending();
        net.load_parameters(path);
      },
      py::call_guard<GilRelease>());
  c.def_static(
      "load",
      [](const std::string& path) {
        Network net = Network::load(path);
        net.set_interrupt(&check_signals);
        return net;
      },
      py::arg("path"), py::call_guard<GilRelease>());
}

}  // namespace

void bind_layers(py::module_& m) {
  bind_layer(m);
  bind_network(m);
}

}  // namespace nervanagpu::python
