// Layers' configurations as JSON.
#pragma once

#include <cstdint>
#include <vector>

#include "nervanagpu/layers/config.hpp"
#include "src/json.h"

namespace nervanagpu::layers {

Json json_of(const std::vector<std::int64_t>& list);
Json json_of(const Config& config);
Config config_of(const Json& json);  // throws Error if it is not an object of what fields can be

}  // namespace nervanagpu::layers
