#include "test/src/launch/needs_search.h"

#include <algorithm>
#include <cstring>

namespace nervanagpu::test {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

}  // namespace

NeedsSearch::NeedsSearch(const Kernel& kernel, std::mt19937& random)
    : kernel_(kernel), random_(random), names_(launch_values(kernel.manifest())) {
  for (const sass::Condition& c : kernel.needs) trees_.emplace_back(c.text(), kernel.manifest(), names_);
}

std::optional<NeedsSearch::Values> NeedsSearch::good() {
  for (const Number start : {16, 1, 64, 2, 16, 1, 64, 2}) {
    Values all(names_.size(), start);
    for (std::size_t i = 0; i < all.size(); ++i) {  // addresses well aligned
      if (names_[i].most > Number{1} << 32) all[i] = 1 << 20;
    }
    if (auto found = walk(std::move(all), trees_.size(), kNone, 2000)) return found;
  }
  return {};
}

std::optional<NeedsSearch::Values> NeedsSearch::violation(const Values& from, std::size_t need) {
  for (int i = 0; i < 8; ++i) {
    if (auto found = walk(from, trees_.size(), need, 50)) return found;
  }
  return {};
}

std::optional<NeedsSearch::Values> NeedsSearch::first_violation(const Values& from, std::size_t need) {
  for (int turns = 50; turns < 1000; turns += 5) {
    if (auto found = walk(from, need + 1, need, turns)) return found;
  }
  return {};
}

std::optional<NeedsSearch::Values> NeedsSearch::walk(Values at, std::size_t count, std::size_t violated, int turns) {
  const auto wrong = [&](const Values& values) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < count; ++i) {
      if (trees_[i].holds(values) == (i == violated)) out.push_back(i);
    }
    return out;
  };
  std::vector<std::size_t> left = wrong(at);
  for (int turn = 0; !left.empty() && turn < turns; ++turn) {
    const std::size_t mend = left[random_() % left.size()];
    Values next = at;
    if (random_() % 4 == 0) {  // a value beside what it asks for stands in the way
      const std::vector<std::size_t>& asked = trees_[mend].names();
      const std::size_t i = asked[random_() % asked.size()];
      next[i] = std::clamp(Number{1} << random_() % 20, names_[i].least, names_[i].most);
    }
    trees_[mend].make(mend != violated, next, names_, random_);
    std::vector<std::size_t> now = wrong(next);
    if (now.size() > left.size() && random_() % 4 != 0) continue;
    at = std::move(next);
    left = std::move(now);
  }
  if (!left.empty()) return {};
  return at;
}

std::vector<std::byte> NeedsSearch::block(const Values& values) const {
  const auto& params = kernel_.manifest().params;
  std::vector<std::byte> out(params.back().offset + sass::size_of(params.back().type), std::byte{0});
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto p = std::ranges::find(params, names_[i].name, &sass::Param::name);
    if (p != params.end()) std::memcpy(out.data() + p->offset, &values[i], sass::size_of(p->type));
  }
  return out;
}

sass::LaunchSize NeedsSearch::size(const Values& values) const {
  const auto of = [&](std::size_t from_end) { return static_cast<std::uint32_t>(values[values.size() - from_end]); };
  return {of(4), of(3), of(2), of(1)};
}

}  // namespace nervanagpu::test
