// Launches of a kernel that fulfil what it needs, all or all but one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "src/module/registry.h"
#include "test/src/launch/condition_tree.h"

namespace nervanagpu::test {

class NeedsSearch {
 public:
  using Values = std::vector<Number>;  // in the order of launch_values()

  NeedsSearch(const Kernel& kernel, std::mt19937& random);

  // One that fulfils all.
  std::optional<Values> good();
  // One that violates number `need` and nothing else; `from` fulfils all.
  std::optional<Values> violation(const Values& from, std::size_t need);
  // One that violates `need` and perhaps others that stand after it.
  std::optional<Values> first_violation(const Values& from, std::size_t need);

  [[nodiscard]] const ConditionTree& tree(std::size_t need) const { return trees_[need]; }
  [[nodiscard]] std::vector<std::byte> block(const Values& values) const;
  [[nodiscard]] sass::LaunchSize size(const Values& values) const;

 private:
  // From `at` on until each of the first `count` conditions holds, but `violated`.
  std::optional<Values> walk(Values at, std::size_t count, std::size_t violated, int turns);

  const Kernel& kernel_;
  std::mt19937& random_;
  std::vector<LaunchValue> names_;
  std::vector<ConditionTree> trees_;
};

}  // namespace nervanagpu::test
