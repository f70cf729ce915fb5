// As much JSON as the header of a weights file needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "nervanagpu/layers/config.hpp"

namespace nervanagpu::layers {

struct Json {
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  // in the order of the text
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value;

  [[nodiscard]] const Json* find(std::string_view name) const;  // of an object; null if there is none
};

// Throws Error naming the place. Nesting deeper than 64 is refused.
Json parse_json(std::string_view text);
std::string to_text(const Json& json);

Json json_of(const Config& config);
Config config_of(const Json& json);  // throws Error if it is not an object of what fields can be

}  // namespace nervanagpu::layers
