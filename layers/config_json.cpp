#include "layers/config_json.h"

#include <string>
#include <utility>
#include <variant>

#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {

Json json_of(const std::vector<std::int64_t>& list) {
  Json out = Json::array();
  for (const std::int64_t v : list) out.add(Json(v));
  return out;
}

namespace {

Json json_of(const Value& v) {
  if (const auto* b = std::get_if<bool>(&v)) return Json(*b);
  if (const auto* i = std::get_if<std::int64_t>(&v)) return Json(*i);
  if (const auto* d = std::get_if<double>(&v)) return Json(*d);
  if (const auto* s = std::get_if<std::string>(&v)) return Json(*s);
  if (const auto* list = std::get_if<Ints>(&v)) return layers::json_of(*list);
  Json out = Json::array();
  for (const std::vector<Config>& branch : std::get<Branches>(v)) {
    Json chain = Json::array();
    for (const Config& c : branch) chain.add(layers::json_of(c));
    out.add(std::move(chain));
  }
  return out;
}

Value list_of(const std::string& name, const Json& json) {
  Ints ints;
  Branches branches;
  for (const Json& j : json.items) {
    if (j.kind == Json::Kind::whole) {
      ints.push_back(j.whole);
    } else if (j.kind == Json::Kind::array) {
      branches.emplace_back();
      for (const Json& c : j.items) branches.back().push_back(config_of(c));
    } else {
      throw Error("JSON: field '" + name + "' is neither a list of whole numbers nor one of lists of layers");
    }
  }
  if (branches.empty()) return ints;
  return branches;
}

}  // namespace

Json json_of(const Config& config) {
  Json out = Json::object();
  for (const auto& [name, v] : config.fields()) out.add(name, json_of(v));
  return out;
}

Config config_of(const Json& json) {
  if (json.kind != Json::Kind::object) throw Error("JSON: a layer is not an object");
  Config out;
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    const std::string& name = json.names[i];
    const Json& v = json.items[i];
    switch (v.kind) {
      case Json::Kind::boolean: out.set({name, v.boolean}); break;
      case Json::Kind::whole: out.set({name, v.whole}); break;
      case Json::Kind::real: out.set({name, v.real}); break;
      case Json::Kind::text: out.set({name, v.text}); break;
      case Json::Kind::array: out.set({name, list_of(name, v)}); break;
      default: throw Error("JSON: field '" + name + "' is of a kind that no layer has");
    }
  }
  return out;
}

}  // namespace nervanagpu::layers
