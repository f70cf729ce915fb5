#include "test/src/launch/condition_tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <limits>
#include <stdexcept>

namespace nervanagpu::test {
namespace {

using Node = ConditionTree::Node;
using sass::ParamType;

__extension__ using Natural = unsigned __int128;

Natural u(Number v) {
  return static_cast<Natural>(v);
}
Number s(Natural v) {
  return static_cast<Number>(v);
}

class Reader {
 public:
  Reader(std::string_view text, const sass::Manifest& manifest, std::span<const LaunchValue> names,
         std::vector<std::size_t>& used)
      : text_(text), manifest_(manifest), names_(names), used_(used) {}

  Node all() {
    Node out = binary(0);
    if (!text_.empty()) bad();
    return out;
  }

 private:
  [[noreturn]] void bad() const {
    throw std::logic_error("the tests cannot read a condition at " + std::string(text_));
  }
  void space() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    space();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  static Node node(std::string_view op, Node a, Node b) { return {Word(op), 0, {std::move(a), std::move(b)}}; }

  Node binary(std::size_t level) {
    static const std::array<std::vector<std::string_view>, 6> kLevels = {
        {{"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}};
    if (level == kLevels.size()) return unary();
    Node out = binary(level + 1);
    while (true) {
      const auto op = std::ranges::find_if(kLevels[level], [&](std::string_view o) { return take(o); });
      if (op == kLevels[level].end()) return out;
      out = node(*op, std::move(out), binary(level + 1));
    }
  }
  Node unary() {
    if (take("!")) return {"!", 0, {unary()}};
    if (take("-")) return {"-", 0, {unary()}};
    Node out = primary();
    return take("^") ? node("^", std::move(out), unary()) : std::move(out);
  }
  Node primary() {
    if (take("(")) {
      Node out = binary(0);
      if (!take(")")) bad();
      return out;
    }
    std::size_t end = 0;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
    const std::string word(text_.substr(0, end));
    if (word.empty()) bad();
    text_.remove_prefix(end);
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return number(word);
    if (take("(")) {
      Node value = binary(0);
      if (!take(",")) bad();
      Node out = node(word, std::move(value), binary(0));
      if (!take(")")) bad();
      return out;
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].name != word) continue;
      if (std::ranges::find(used_, i) == used_.end()) used_.push_back(i);
      return {"value", s(i), {}};
    }
    return number(manifest_.variant.at(word));
  }
  static Node number(const std::string& digits) { return {"number", s(std::stoull(digits, nullptr, 0)), {}}; }

  std::string_view text_;
  const sass::Manifest& manifest_;
  std::span<const LaunchValue> names_;
  std::vector<std::size_t>& used_;
};

// Numbers are from -2^63 to 2^64 - 1.
std::optional<Number> checked(Number v) {
  const bool fits = v < 0 ? v >= std::numeric_limits<std::int64_t>::min() : v >> 64 == 0;
  return fits ? std::optional(v) : std::nullopt;
}
std::optional<Number> product(Number a, Number b) {
  Number out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : checked(out);
}

// No value: a division by zero, or what is no number.
std::optional<Number> value_of(const Node& n, std::span<const Number> values) {
  if (n.op == "number") return n.value;
  if (n.op == "value") return values[static_cast<std::size_t>(n.value)];
  const auto a = value_of(n.of[0], values);
  if (!a) return {};
  if (n.op == "!") return *a == 0;
  if (n.of.size() == 1) return checked(-*a);
  if (n.op == "&&" && *a == 0) return 0;
  if (n.op == "||" && *a != 0) return 1;
  const auto b = value_of(n.of[1], values);
  if (!b) return {};
  if (n.op == "&&" || n.op == "||") return *b != 0;
  if (n.op == "==") return *a == *b;
  if (n.op == "!=") return *a != *b;
  if (n.op == "<=") return *a <= *b;
  if (n.op == ">=") return *a >= *b;
  if (n.op == "<") return *a < *b;
  if (n.op == ">") return *a > *b;
  if (n.op == "+") return checked(*a + *b);
  if (n.op == "-") return checked(*a - *b);
  if (n.op == "*") return product(*a, *b);
  if (n.op == "bits") return s(u(*a) & u(*b));
  if (n.op == "aligned") return *b > 0 ? std::optional<Number>(*a % *b == 0) : std::nullopt;
  if (n.op == "^") {
    if (*b < 0) return {};
    std::optional<Number> power = 1;
    // What is still a number by then is -1, 0 or 1.
    for (Number i = 0; power && i < std::min<Number>(*b, 64 + *b % 2); ++i) power = product(*power, *a);
    return power;
  }
  if (*b == 0) return {};
  if (n.op == "/") return checked(*a / *b);
  if (n.op == "%") return *a % *b;
  throw std::logic_error("the tests do not know " + n.op.text());
}

// Works from what a node shall be to what its operands shall be, down to values of the launch.
class Solver {
 public:
  Solver(std::span<Number> values, std::span<const LaunchValue> names, std::mt19937& random)
      : values_(values), names_(names), random_(random) {}

  bool make(const Node& n, bool truth) {
    if (n.op == "!") return make(n.of[0], !truth);
    if (n.op == "&&" || n.op == "||") {
      const bool swap = coin();
      const Node& first = swap ? n.of[1] : n.of[0];
      const Node& second = swap ? n.of[0] : n.of[1];
      if ((n.op == "&&") == truth) return make(first, truth) && make(second, truth);
      return make(first, truth) || make(second, truth);
    }
    if (n.op == "==") return truth ? equal(n) : apart(n);
    if (n.op == "!=") return truth ? apart(n) : equal(n);
    if (n.op == "<") return truth ? below(n.of[0], n.of[1], 1) : below(n.of[1], n.of[0], 0);
    if (n.op == "<=") return truth ? below(n.of[0], n.of[1], 0) : below(n.of[1], n.of[0], 1);
    if (n.op == ">") return truth ? below(n.of[1], n.of[0], 1) : below(n.of[0], n.of[1], 0);
    if (n.op == ">=") return truth ? below(n.of[1], n.of[0], 0) : below(n.of[0], n.of[1], 1);
    if (n.op == "aligned") return remainder(n.of[0], at(n.of[1]), truth ? 0 : -1);
    if (n.op == "bits" && truth) {
      const Natural mask = u(at(n.of[1]));
      if (mask == 0) return false;
      return set(n, coin() ? s(mask) : s(Natural{1} << std::countr_zero(static_cast<std::uint64_t>(mask))));
    }
    return set(n, truth ? distance(1) : 0);
  }

 private:
  bool coin() { return random_() % 2 != 0; }
  Number at(const Node& n) const { return value_of(n, values_).value_or(0); }
  static Number plus(Number a, Number b) { return s(u(a) + u(b)); }
  static Number minus(Number a, Number b) { return s(u(a) - u(b)); }

  // The boundary, near it, and far from it: a multiple of a large power of two, too.
  Number distance(Number least) {
    switch (random_() % 6) {
      case 0: return s(Natural{1} << random_() % 31);
      case 1: return least + s(random_() % 256);
      case 2: return s(u(least) + random_());
      default: return least;
    }
  }
  bool equal(const Node& n) {
    return coin() ? set(n.of[0], at(n.of[1])) || set(n.of[1], at(n.of[0]))
                  : set(n.of[1], at(n.of[0])) || set(n.of[0], at(n.of[1]));
  }
  bool apart(const Node& n) {
    const Number d = coin() ? distance(1) : -distance(1);
    return coin() ? set(n.of[0], plus(at(n.of[1]), d)) || set(n.of[1], plus(at(n.of[0]), d))
                  : set(n.of[1], plus(at(n.of[0]), d)) || set(n.of[0], plus(at(n.of[1]), d));
  }
  // `a` at least `by` below `b`.
  bool below(const Node& a, const Node& b, Number by) {
    const Number d = distance(by);
    const auto lower = [&] { return set(a, minus(at(b), d)) || set(a, minus(at(b), by)); };
    const auto raise = [&] { return set(b, plus(at(a), d)) || set(b, plus(at(a), by)); };
    return coin() ? lower() || raise() : raise() || lower();
  }
  // `rest` is what is left of `a` by `n`; -1: anything but 0.
  bool remainder(const Node& a, Number n, Number rest) {
    if (n <= 0 || rest >= n || (rest < 0 && n == 1)) return false;
    if (rest < 0) rest = 1 + s(random_() % std::min(u(n) - 1, Natural{1} << 31));
    const Number down = minus(at(a), s(u(at(a)) % u(n)));
    const Number turns = coin() ? 0 : s(random_() % 4);
    return set(a, plus(down, plus(rest, s(u(turns) * u(n))))) || set(a, plus(down, rest));
  }
  // One operand is `first` times what the other one is.
  bool product(const Node& n, Number target) {
    const Number a = at(n.of[0]), b = at(n.of[1]);
    const auto by = [&](const Node& change, Number kept) {
      return kept != 0 && kept != -1 && target % kept == 0 && set(change, target / kept);
    };
    if (target == 0) return coin() ? set(n.of[0], 0) || set(n.of[1], 0) : set(n.of[1], 0) || set(n.of[0], 0);
    if (coin() ? by(n.of[0], b) || by(n.of[1], a) : by(n.of[1], a) || by(n.of[0], b)) return true;
    // Other factors: a divisor for one, the rest for the other.
    std::vector<Number> divisors;
    for (Number d = 1; d <= 4096; ++d) {
      if (target % d == 0) divisors.insert(divisors.end(), {d, target / d});
    }
    const Number d = divisors[random_() % divisors.size()];
    return set(n.of[0], d) && set(n.of[1], target / d);
  }

  bool set(const Node& n, Number target) {
    if (value_of(n, values_) == target) return true;
    if (n.op == "number") return false;
    if (n.op == "value") {
      const LaunchValue& limits = names_[static_cast<std::size_t>(n.value)];
      if (target < limits.least || target > limits.most) return false;
      values_[static_cast<std::size_t>(n.value)] = target;
      return true;
    }
    const bool swap = coin();
    if (n.op == "+") {
      const Node& first = swap ? n.of[1] : n.of[0];
      const Node& second = swap ? n.of[0] : n.of[1];
      return set(first, minus(target, at(second))) || set(second, minus(target, at(first)));
    }
    if (n.op == "-" && n.of.size() == 1) return set(n.of[0], minus(0, target));
    if (n.op == "-") {
      const auto left = [&] { return set(n.of[0], plus(target, at(n.of[1]))); };
      const auto right = [&] { return set(n.of[1], minus(at(n.of[0]), target)); };
      return swap ? left() || right() : right() || left();
    }
    if (n.op == "*") return product(n, target);
    if (n.op == "/") {
      const Number b = at(n.of[1]);
      if (b <= 0) return set(n.of[1], 1) && set(n.of[0], target);
      const Number rest = coin() ? 0 : coin() ? b - 1 : s(random_() % u(b));
      const Number least = s(u(target) * u(b));
      return set(n.of[0], plus(least, rest)) || set(n.of[0], least) || set(n.of[0], plus(least, b - 1));
    }
    if (n.op == "%") {
      if (at(n.of[1]) > 0 && remainder(n.of[0], at(n.of[1]), target)) return true;
      return target >= 0 && set(n.of[1], minus(at(n.of[0]), target));
    }
    if (n.op == "bits") {
      const Natural mask = u(at(n.of[1]));
      return (u(target) & ~mask) == 0 && set(n.of[0], s((u(at(n.of[0])) & ~mask) | u(target)));
    }
    if (n.op == "^") {
      for (Number e = 0; e < 63; ++e) {
        const Node power{"^", 0, {n.of[0], {"number", e, {}}}};
        if (value_of(power, values_) == target) return set(n.of[1], e);
      }
      return false;
    }
    return (target == 0 || target == 1) && make(n, target != 0);
  }

  std::span<Number> values_;
  std::span<const LaunchValue> names_;
  std::mt19937& random_;
};

}  // namespace

std::vector<LaunchValue> launch_values(const sass::Manifest& manifest) {
  std::vector<LaunchValue> out;
  for (const sass::Param& p : manifest.params) {
    const auto all = [&] { return (Number{1} << 8 * sass::size_of(p.type)) - 1; };
    switch (p.type) {
      case ParamType::f16:
      case ParamType::f32:
      case ParamType::f64:
      case ParamType::map: break;
      case ParamType::s8:
      case ParamType::s16:
      case ParamType::s32:
      case ParamType::s64: out.push_back({p.name, -(all() / 2) - 1, all() / 2}); break;
      default: out.push_back({p.name, 0, all()});
    }
  }
  constexpr Number kMost = std::numeric_limits<std::uint32_t>::max();
  for (const char* name : {"grid_x", "grid_y", "grid_z"}) out.push_back({name, 0, kMost});
  out.push_back({"cluster", 1, kMost});
  return out;
}

ConditionTree::ConditionTree(std::string_view text, const sass::Manifest& manifest, std::span<const LaunchValue> names)
    : root_(Reader(text, manifest, names, names_).all()) {}

bool ConditionTree::holds(std::span<const Number> values) const {
  return value_of(root_, values).value_or(0) != 0;
}

bool ConditionTree::make(bool truth, std::span<Number> values, std::span<const LaunchValue> names,
                         std::mt19937& random) const {
  return Solver(values, names, random).make(root_, truth) && holds(values) == truth;
}

}  // namespace nervanagpu::test
