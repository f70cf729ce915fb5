// What the numbers of a step of gradient descent may be.
#pragma once

#include <cmath>
#include <string>

#include "nervanagpu/error.hpp"

namespace nervanagpu {

// `before`: what the message begins with, "sgd_update: ". Throws InvalidArgument; NaN and infinities, too.
inline void check_sgd_options(const std::string& before, float lr, float momentum, float weight_decay) {
  const auto check = [&](const char* name, float value, bool fits, const char* needs) {
    if (!fits || !std::isfinite(value)) {
      throw InvalidArgument(before + name + " is " + std::to_string(value) + "; needs a finite number, " + needs);
    }
  };
  check("lr", lr, lr >= 0.0F, "0 or more");
  check("momentum", momentum, momentum >= 0.0F && momentum < 1.0F, "0 or more and less than 1");
  check("weight_decay", weight_decay, weight_decay >= 0.0F, "0 or more");
}

}  // namespace nervanagpu
