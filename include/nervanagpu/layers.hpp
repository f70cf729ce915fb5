// Layers and networks over the public operations.
#pragma once

#include "nervanagpu/layers/config.hpp"
#include "nervanagpu/layers/layer.hpp"
#include "nervanagpu/layers/network.hpp"
#include "nervanagpu/layers/sample.hpp"
