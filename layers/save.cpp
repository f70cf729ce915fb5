// Networks in files.
#include <string>
#include <utility>

#include "layers/json.h"
#include "layers/network_impl.h"
#include "layers/safetensors.h"
#include "layers/text.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu {

using layers::Json;
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
  out.add("step", Json(std::to_string(step)));
  out.add("layers", std::move(layers));
  return out;
}

const Json& field(const std::string& path, const Json& j, const char* name, Json::Kind kind) {
  const Json* v = j.find(name, kind);
  if (v == nullptr) throw Error("'" + path + "' holds no network: '" + name + "' is missing in its description");
  return *v;
}

std::uint64_t big(const std::string& path, const std::string& digits) {
  if (digits.empty() || digits.size() > 20 || digits.find_first_not_of("0123456789") != std::string::npos) {
    throw Error("'" + path + "' holds no network: '" + digits + "' is no number");
  }
  return std::strtoull(digits.c_str(), nullptr, 10);
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

Network Network::load(const std::string& path) {
  const SavedFile file = layers::read_safetensors(path);
  const auto it = file.metadata.find("network");
  if (it == file.metadata.end()) throw Error("'" + path + "' holds no network: it has no description of one");
  const Json j = layers::parse_json(it->second);
  NetworkOptions o;
  o.layout =
      field(path, j, "layout", Json::Kind::text).text == "batch_last" ? Layout::batch_last : Layout::channels_last;
  const auto dtype = dtype_from_name(field(path, j, "dtype", Json::Kind::text).text);
  if (!dtype) throw Error("'" + path + "' holds no network: its dtype is unknown");
  o.dtype = *dtype;
  o.seed = big(path, field(path, j, "seed", Json::Kind::text).text);
  o.stochastic = field(path, j, "stochastic", Json::Kind::boolean).boolean;
  o.bits = static_cast<int>(field(path, j, "bits", Json::Kind::whole).whole);
  o.master = field(path, j, "master", Json::Kind::boolean).boolean;
  o.loss_scale = static_cast<float>(field(path, j, "loss_scale", Json::Kind::real).real);
  Shape shape;
  for (const Json& v : field(path, j, "input_shape", Json::Kind::array).items) {
    if (v.kind != Json::Kind::whole)
      throw Error("'" + path + "' holds no network: its input_shape is not whole numbers");
    shape.push_back(v.whole);
  }
  std::vector<layers::LayerPtr> chain;
  for (const Json& v : field(path, j, "layers", Json::Kind::array).items)
    chain.push_back(layers::Layer::create(layers::config_of(v)));
  Network net(std::move(chain), shape, o);
  net.load_parameters(path);
  net.impl_->run.step = big(path, field(path, j, "step", Json::Kind::text).text);
  return net;
}

}  // namespace nervanagpu
