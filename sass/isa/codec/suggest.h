// "Did you mean ...?": the known name nearest to a misspelt one.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace nervanagpu::sass {

// Insertions, removals, replacements and swaps of neighbours that turn `a` into `b`; capitals count for nothing.
unsigned edit_distance(std::string_view a, std::string_view b);

// Keeps the best of the candidates it is shown; among equals the first.
class Suggestion {
 public:
  explicit Suggestion(std::string_view wrong) : wrong_(wrong), best_(limit(wrong)) {}

  void offer(std::string_view candidate) {
    if (candidate.empty() || candidate == wrong_) return;
    const unsigned d = edit_distance(wrong_, candidate);
    if (d >= best_) return;
    best_ = d;
    name_ = std::string(candidate);
  }
  [[nodiscard]] const std::string& name() const { return name_; }  // empty: nothing is near
  // The note of a Diag: none, or one.
  [[nodiscard]] std::vector<std::string> note(std::string_view before = "", std::string_view behind = "") const {
    if (name_.empty()) return {};
    return {"did you mean " + std::string(before) + name_ + std::string(behind) + "?"};
  }

 private:
  // A name of three letters may have one wrong, a longer one two, a long one three.
  static unsigned limit(std::string_view wrong) { return wrong.size() <= 3 ? 2 : wrong.size() <= 8 ? 3 : 4; }

  std::string wrong_;
  unsigned best_;
  std::string name_;
};

}  // namespace nervanagpu::sass
