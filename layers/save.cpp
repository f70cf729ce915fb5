// Networks in files.
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "layers/config_json.h"
#include "layers/network_impl.h"
#include "layers/safetensors.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu {

using layers::Parameter;
using layers::SavedArray;
using layers::SavedFile;

namespace {

SavedArray saved(const std::string& name, const Parameter& p, const Tensor& t) {
  const Tensor view = p.canonical(t);
  SavedArray a{name, view.shape(), t.dtype(), std::vector<std::byte>(t.nbytes())};
  view.get(a.bytes.data(), a.bytes.size());
  return a;
}

// What a parameter keeps in a file besides itself.
struct Part {
  const char* suffix;
  Tensor Parameter::*tensor;
};
constexpr Part kValue = {"", &Parameter::value};
constexpr Part kMaster = {".master", &Parameter::master};
constexpr Part kVelocity = {".velocity", &Parameter::velocity};

Json config_of_network(const Network& net, std::uint64_t step) {
  const NetworkOptions& o = net.options();
  Json layers = Json::array();
  for (const auto& layer : net.layers()) layers.add(json_of(layer->config()));
  Json out = Json::object();
  out.add("input_shape", layers::json_of(net.in().shape()));
  out.add("layout", Json(std::string(o.layout == Layout::channels_last ? "channels_last" : "batch_last")));
  out.add("dtype", Json(std::string(name_of(o.dtype))));
  out.add("seed", Json(std::to_string(o.seed)));  // 64 bits: more than a JSON number holds
  out.add("stochastic", Json(o.stochastic));
  out.add("bits", Json(static_cast<std::int64_t>(o.bits)));
  out.add("master", Json(o.master));
  out.add("loss_scale", Json(static_cast<double>(o.loss_scale)));
  out.add("precision", Json(std::string(name_of(o.precision))));
  out.add("step", Json(std::to_string(step)));
  out.add("layers", std::move(layers));
  return out;
}

const Json& field(const Json& j, const char* name, Json::Kind kind) {
  const Json* v = j.find(name, kind);
  if (v == nullptr) throw Error("'" + std::string(name) + "' is missing in its description");
  return *v;
}

std::uint64_t big(const std::string& digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) throw Error("'" + digits + "' is no number");
  return value;
}

// The array for a part of a parameter; null if the file has none.
const SavedArray* matching(const std::string& path, const SavedFile& file, const Parameter& p, const Part& part) {
  const std::string name = p.name + part.suffix;
  const SavedArray* a = file.find(name);
  if (a == nullptr) return nullptr;
  const Shape wanted = p.canonical(p.value).shape();
  const Dtype dtype = part.tensor == kValue.tensor ? p.value.dtype() : Dtype::float32;
  if (a->shape != wanted || a->dtype != dtype) {
    throw InvalidArgument("'" + path + "' holds '" + name + "' as " + std::string(name_of(a->dtype)) + " " +
                          layers::text_of(a->shape) + "; needs " + std::string(name_of(dtype)) + " " +
                          layers::text_of(wanted));
  }
  return a;
}

// Throws InvalidArgument for an array of no parameter: the file is of other layers.
void check_names(const std::string& path, const SavedFile& file, std::span<Parameter* const> parameters) {
  std::set<std::string> known;
  for (const Parameter* p : parameters) {
    for (const Part& part : {kValue, kMaster, kVelocity}) known.insert(p->name + part.suffix);
  }
  for (const SavedArray& a : file.arrays) {
    if (known.contains(a.name)) continue;
    throw InvalidArgument("'" + path + "' holds '" + a.name + "'; needs parameters of this network");
  }
}

void put(const Parameter& p, const Tensor& t, const SavedArray& a) {
  Tensor view = p.canonical(t);
  view.set(a.bytes.data(), a.bytes.size());
}

}  // namespace

void Network::save(const std::string& path, bool optimizer) const {
  SavedFile file;
  file.metadata["format"] = "nervanagpu";
  file.metadata["network"] = to_text(config_of_network(*this, impl_->run.step));
  for (const Parameter* p : impl_->parameters) {
    file.arrays.push_back(saved(p->name, *p, p->value));
    if (p->master.size() == p->value.size()) file.arrays.push_back(saved(p->name + kMaster.suffix, *p, p->master));
    if (optimizer && p->velocity.size() == p->value.size()) {
      file.arrays.push_back(saved(p->name + kVelocity.suffix, *p, p->velocity));
    }
  }
  write_safetensors(path, file);
}

void Network::load_parameters(const std::string& path) {
  const OnDevice here(impl_->device);
  const SavedFile file = layers::read_safetensors(path);
  struct Found {
    Parameter* p;
    const SavedArray *value, *master, *velocity;
  };
  std::vector<Found> found;
  for (Parameter* p : impl_->parameters) {
    found.push_back(
        {p, matching(path, file, *p, kValue), matching(path, file, *p, kMaster), matching(path, file, *p, kVelocity)});
    if (found.back().value == nullptr) throw InvalidArgument("'" + path + "' has no '" + p->name + "'");
  }
  check_names(path, file, impl_->parameters);
  bool velocities = false;
  for (const Found& f : found) velocities = velocities || f.velocity != nullptr;
  if (velocities) impl_->prepare_gradients();
  for (const Found& f : found) {
    put(*f.p, f.p->value, *f.value);
    if (f.p->master.size() == f.p->value.size()) {
      if (f.master != nullptr) {
        put(*f.p, f.p->master, *f.master);
      } else {
        convert(f.p->value, f.p->master);
      }
    }
    if (f.velocity != nullptr) {
      put(*f.p, f.p->velocity, *f.velocity);
    } else if (f.p->velocity.size() == f.p->value.size()) {
      f.p->velocity.fill(0.0);
    }
  }
}

namespace {

struct Description {
  NetworkOptions options;
  Shape shape;
  std::vector<layers::LayerPtr> chain;
  std::uint64_t step = 0;
};

// Throws Error, not naming the file.
Description described(const std::string& text) {
  const Json j = parse_json(text);
  Description d;
  NetworkOptions& o = d.options;
  const std::string& layout = field(j, "layout", Json::Kind::text).text;
  if (layout != "batch_last" && layout != "channels_last") throw Error("its layout is '" + layout + "'");
  o.layout = layout == "batch_last" ? Layout::batch_last : Layout::channels_last;
  const std::string& dtype = field(j, "dtype", Json::Kind::text).text;
  if (!dtype_from_name(dtype)) throw Error("its dtype is '" + dtype + "'");
  o.dtype = *dtype_from_name(dtype);
  o.seed = big(field(j, "seed", Json::Kind::text).text);
  o.stochastic = field(j, "stochastic", Json::Kind::boolean).boolean;
  const std::int64_t bits = field(j, "bits", Json::Kind::whole).whole;
  constexpr std::int64_t kMostBits = 23;  // of float32; the network knows how many its dtype has
  if (bits < 0 || bits > kMostBits) throw Error("its bits are " + std::to_string(bits));
  o.bits = static_cast<int>(bits);
  o.master = field(j, "master", Json::Kind::boolean).boolean;
  o.loss_scale = static_cast<float>(field(j, "loss_scale", Json::Kind::real).real);
  const Json* precision = j.find("precision", Json::Kind::text);
  o.precision = Precision::strict;  // what files say that have none
  if (precision != nullptr) {
    if (!precision_from_name(precision->text)) throw Error("its precision is '" + precision->text + "'");
    o.precision = *precision_from_name(precision->text);
  }
  for (const Json& v : field(j, "input_shape", Json::Kind::array).items) {
    if (v.kind != Json::Kind::whole) throw Error("its input_shape is not whole numbers");
    d.shape.push_back(v.whole);
  }
  for (const Json& v : field(j, "layers", Json::Kind::array).items) {
    d.chain.push_back(layers::Layer::create(layers::config_of(v)));
  }
  d.step = big(field(j, "step", Json::Kind::text).text);
  return d;
}

}  // namespace

Network Network::load(const std::string& path) {
  const SavedFile file = layers::read_safetensors(path);
  const auto it = file.metadata.find("network");
  if (it == file.metadata.end()) throw Error("'" + path + "' holds no network: it has no description of one");
  std::optional<Network> net;
  std::uint64_t step = 0;
  try {
    Description d = described(it->second);
    step = d.step;
    net.emplace(std::move(d.chain), d.shape, d.options);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const DeviceLost&) {
    throw;
  } catch (const Error& e) {
    throw Error("'" + path + "' holds no network: " + e.what());
  }
  net->load_parameters(path);
  net->impl_->run.step = step;
  return std::move(*net);
}

}  // namespace nervanagpu
