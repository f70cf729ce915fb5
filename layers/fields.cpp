#include "layers/fields.h"

#include <algorithm>
#include <utility>

#include "layers/text.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {

void Expected::check(const Sample& in) const {
  const auto same = [&](const char* name, const std::optional<std::int64_t>& wanted, std::int64_t got) {
    if (wanted && *wanted != got) {
      refuse(name, std::to_string(*wanted), std::to_string(got) + ": the input has shape " + in.text());
    }
  };
  same("C", channels, in.channels);
  same("nIn", features, in.size());
  same("D", depth, in.space[0]);
  same("H", height, in.space[1]);
  same("W", width, in.space[2]);
}

Fields::Fields(const Config& config, const char* layer) : config_(config), layer_(layer) {}

std::int64_t Fields::required(const std::string& name) {
  if (!config_.has(name)) throw InvalidArgument(layer_ + ": " + name + " is missing; needs a number");
  return integer(name, 1);
}

std::int64_t Fields::integer(const std::string& name, std::int64_t otherwise) {
  take(name);
  const std::int64_t found = config_.integer(name, otherwise);
  if (found < otherwise) refuse(name, std::to_string(found), std::to_string(otherwise) + " or more");
  return found;
}

double Fields::number(const std::string& name, double otherwise) {
  take(name);
  return config_.number(name, otherwise);
}

bool Fields::flag(const std::string& name, bool otherwise) {
  take(name);
  return config_.flag(name, otherwise);
}

std::string Fields::text(const std::string& name, const std::string& otherwise) {
  take(name);
  return config_.text(name, otherwise);
}

Extent Fields::extent(const std::string& name, std::initializer_list<const char*> per_axis, std::int64_t otherwise) {
  take(name);
  bool any = false;
  Ints list;
  for (const char* axis : per_axis) {
    any = any || config_.has(axis);
    list.push_back(integer(axis, otherwise));
  }
  if (config_.has(name)) {
    if (any) throw InvalidArgument(layer_ + ": " + name + " is given, and its parts too; needs one of them");
    Ints given = config_.integers(name, {otherwise});
    if (std::any_of(given.begin(), given.end(), [&](std::int64_t v) { return v < otherwise; })) {
      refuse(name, given.size() == 1 ? std::to_string(given[0]) : text_of(given),
             std::to_string(otherwise) + " or more");
    }
    return Extent(std::move(given));
  }
  return any ? Extent(list) : Extent(otherwise);
}

Expected Fields::expected() {
  Expected e;
  const auto take_one = [&](const char* name, std::optional<std::int64_t>& to) {
    take(name);
    if (config_.has(name)) to = config_.integer(name, 0);
  };
  take_one("C", e.channels);
  take_one("nIn", e.features);
  take_one("D", e.depth);
  take_one("H", e.height);
  take_one("W", e.width);
  take("N");
  return e;
}

void Fields::ignore(std::initializer_list<const char*> names) {
  for (const char* name : names) take(name);
}

void Fields::done() const {
  std::string known;
  for (const std::string& name : taken_) known += (known.empty() ? "" : ", ") + name;
  for (const auto& [name, value] : config_.fields()) {
    if (!taken_.contains(name))
      throw InvalidArgument(layer_ + ": there is no field '" + name + "'; needs one of " + known);
  }
}

}  // namespace nervanagpu::layers
