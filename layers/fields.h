// Reading a table entry: each field is taken once, and what is left over is a mistake.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>

#include "nervanagpu/layers/config.hpp"
#include "nervanagpu/layers/layer.hpp"
#include "nervanagpu/layers/sample.hpp"

namespace nervanagpu::layers {

// Lengths of the input that an entry may repeat; they must agree with what comes.
struct Expected {
  std::optional<std::int64_t> channels, features, depth, height, width;
  void check(const Sample& in) const;
};

class Fields {
 public:
  Fields(const Config& config, const char* layer);

  // Numbers that count: `otherwise` is what one that is left out is, and the least that one may be.
  std::int64_t required(const std::string& name);  // 1 or more
  std::int64_t integer(const std::string& name, std::int64_t otherwise);
  double number(const std::string& name, double otherwise);
  bool flag(const std::string& name, bool otherwise);
  std::string text(const std::string& name, const std::string& otherwise);
  // One field for all axes, or one for each of (D, H, W) under the names of the 2015 library.
  Extent extent(const std::string& name, std::initializer_list<const char*> per_axis, std::int64_t otherwise);
  Expected expected();  // N, C, D, H, W, nIn
  [[nodiscard]] bool has(const std::string& name) const { return config_.has(name); }
  void ignore(std::initializer_list<const char*> names);
  // Throws InvalidArgument if the entry has a field that nobody asked for.
  void done() const;

 private:
  void take(const std::string& name) { taken_.insert(name); }

  const Config& config_;
  std::string layer_;
  std::set<std::string> taken_{"layer"};
};

}  // namespace nervanagpu::layers
