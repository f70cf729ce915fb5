// What a layer is made of, by name: fields of several types, as files and Python give them.
#include "nervanagpu/layers/config.hpp"

#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {
namespace {

[[noreturn]] void refuse_kind(const std::string& name, const char* needs) {
  throw InvalidArgument("field '" + name + "' is of another kind; needs " + needs);
}

}  // namespace

Config::Field::Field(std::string field, Branches v) : name(std::move(field)), value(std::move(v)) {}
Config::Field::Field(std::string field, Value v) : name(std::move(field)), value(std::move(v)) {}

Config::Config() = default;
Config::Config(std::initializer_list<Field> fields) {
  for (const Field& f : fields) fields_[f.name] = f.value;
}
Config::Config(const Config&) = default;
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(const Config&) = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

Config& Config::set(Field field) {
  fields_[field.name] = std::move(field.value);
  return *this;
}

bool Config::has(const std::string& name) const {
  return fields_.contains(name);
}

bool Config::flag(const std::string& name, bool otherwise) const {
  const auto it = fields_.find(name);
  if (it == fields_.end()) return otherwise;
  if (const auto* v = std::get_if<bool>(&it->second)) return *v;
  refuse_kind(name, "true or false");
}

std::int64_t Config::integer(const std::string& name, std::int64_t otherwise) const {
  const auto it = fields_.find(name);
  if (it == fields_.end()) return otherwise;
  if (const auto* v = std::get_if<std::int64_t>(&it->second)) return *v;
  refuse_kind(name, "a whole number");
}

double Config::number(const std::string& name, double otherwise) const {
  const auto it = fields_.find(name);
  if (it == fields_.end()) return otherwise;
  if (const auto* v = std::get_if<double>(&it->second)) return *v;
  if (const auto* v = std::get_if<std::int64_t>(&it->second)) return static_cast<double>(*v);
  refuse_kind(name, "a number");
}

std::string Config::text(const std::string& name, const std::string& otherwise) const {
  const auto it = fields_.find(name);
  if (it == fields_.end()) return otherwise;
  if (const auto* v = std::get_if<std::string>(&it->second)) return *v;
  refuse_kind(name, "a text");
}

Ints Config::integers(const std::string& name, const Ints& otherwise) const {
  const auto it = fields_.find(name);
  if (it == fields_.end()) return otherwise;
  if (const auto* v = std::get_if<Ints>(&it->second)) return *v;
  if (const auto* v = std::get_if<std::int64_t>(&it->second)) return {*v};
  refuse_kind(name, "whole numbers");
}

}  // namespace nervanagpu::layers
