// A layer as data: field names and values, in the style of the 2015 library's network tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "nervanagpu/export.hpp"

namespace nervanagpu::layers {

class Config;
using Branches = std::vector<std::vector<Config>>;  // of an inception
using Ints = std::vector<std::int64_t>;
using Value = std::variant<bool, std::int64_t, double, std::string, Ints, Branches>;

//   Config{{"layer", "ConvLayer"}, {"K", 64}, {"R", 3}, {"S", 3}, {"pad_h", 1}, {"pad_w", 1}}
class NG_API Config {
 public:
  // What a field can be written as: bool, whole number, number, text, list of whole numbers, branches.
  struct Field {
    Field(std::string field, bool v) : name(std::move(field)), value(v) {}
    Field(std::string field, int v) : name(std::move(field)), value(static_cast<std::int64_t>(v)) {}
    Field(std::string field, std::int64_t v) : name(std::move(field)), value(v) {}
    Field(std::string field, double v) : name(std::move(field)), value(v) {}
    Field(std::string field, const char* v) : name(std::move(field)), value(std::string(v)) {}
    Field(std::string field, std::string v) : name(std::move(field)), value(std::move(v)) {}
    Field(std::string field, Ints v) : name(std::move(field)), value(std::move(v)) {}
    Field(std::string field, Branches v);
    Field(std::string field, Value v);
    std::string name;
    Value value;
  };

  Config();
  Config(std::initializer_list<Field> fields);
  Config(const Config&);
  Config(Config&&) noexcept;
  Config& operator=(const Config&);
  Config& operator=(Config&&) noexcept;
  ~Config();

  Config& set(Field field);
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, Value>& fields() const { return fields_; }

  // The field's value, or `otherwise` if there is none. Throw InvalidArgument if it is of another kind.
  [[nodiscard]] bool flag(const std::string& name, bool otherwise) const;
  [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
  [[nodiscard]] double number(const std::string& name, double otherwise) const;
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const;
  [[nodiscard]] Ints integers(const std::string& name, const Ints& otherwise) const;  // one number: a list of one

 private:
  std::map<std::string, Value> fields_;
};

}  // namespace nervanagpu::layers
