#include "sass/asm/template/condition.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "sass/asm/template/expr.h"
#include "sass/isa/codec/suggest.h"

namespace nervanagpu::sass {
namespace {

constexpr std::size_t kMaxDepth = 32;  // values on the stack
constexpr std::size_t kMaxNesting = 256;
constexpr std::size_t kMaxSteps = 4096;

constexpr std::string_view kByZero = "this divides by zero";
constexpr std::string_view kTooLarge = "the result is no integer from -2^63 to 2^64 - 1";

constexpr std::array<std::string_view, 4> kSizes = {"grid_x", "grid_y", "grid_z", "cluster"};

std::int64_t of(const LaunchSize& size, std::size_t index) {
  return std::array<std::uint32_t, 4>{size.x, size.y, size.z, size.cluster}[index];
}

bool is_integer(ParamType t) {
  return t != ParamType::f16 && t != ParamType::f32 && t != ParamType::f64 && t != ParamType::map;
}

std::int64_t wrap(std::uint64_t v) {
  return static_cast<std::int64_t>(v);
}
std::uint64_t bits(std::int64_t v) {
  return static_cast<std::uint64_t>(v);
}

__extension__ using Wide = __int128;  // holds every number

constexpr bool fits(std::int64_t /*v*/) {
  return true;
}
constexpr bool fits(Wide v) {
  return v >= std::numeric_limits<std::int64_t>::min() && v <= Wide{std::numeric_limits<std::uint64_t>::max()};
}

// Of operands that fit: nothing, if the result does not.
template <class Number>
std::optional<Number> sum(Number a, Number b) {
  Number out = 0;
  return __builtin_add_overflow(a, b, &out) || !fits(out) ? std::nullopt : std::optional(out);
}
template <class Number>
std::optional<Number> difference(Number a, Number b) {
  Number out = 0;
  return __builtin_sub_overflow(a, b, &out) || !fits(out) ? std::nullopt : std::optional(out);
}
template <class Number>
std::optional<Number> product(Number a, Number b) {
  Number out = 0;
  return __builtin_mul_overflow(a, b, &out) || !fits(out) ? std::nullopt : std::optional(out);
}

template <class Number>
std::optional<Number> power(Number base, Number exponent) {
  if (exponent < 0) return std::nullopt;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  std::optional<Number> out = 1;
  for (Number i = 0; out && i < exponent; ++i) out = product(*out, base);
  return out;
}

template <class Number>
std::optional<Number> quotient(Number a, Number b, bool rest) {
  if (rest && a >= 0 && b > 0 && (b & (b - 1)) == 0) return a & (b - 1);  // the usual
  if (b == 0) return std::nullopt;
  if (b == -1) return rest ? 0 : difference(Number{0}, a);
  return rest ? a % b : a / b;
}

// Of a number that `b` divides the remainder is 0, whatever its sign.
template <class Number>
std::optional<Number> aligned(Number a, Number b) {
  return b > 0 ? std::optional<Number>(a % b == 0) : std::nullopt;
}

// An operation of the two values at the top.
template <class Op, class Number>
std::optional<Number> combined(Op op, Number a, Number b) {
  switch (op) {
    case Op::kAdd: return sum(a, b);
    case Op::kSub: return difference(a, b);
    case Op::kMul: return product(a, b);
    case Op::kDiv: return quotient(a, b, false);
    case Op::kMod: return quotient(a, b, true);
    case Op::kPow: return power(a, b);
    case Op::kEq: return a == b;
    case Op::kNe: return a != b;
    case Op::kLt: return a < b;
    case Op::kLe: return a <= b;
    case Op::kGt: return a > b;
    case Op::kGe: return a >= b;
    case Op::kBits: return a & b;
    default: return aligned(a, b);
  }
}

}  // namespace

// Precedence climbing; each level is the set of operators that bind alike.
class Condition::Compiler {
 public:
  Compiler(Condition& out, const Manifest& manifest) : out_(out), manifest_(manifest), text_(out.text_) {}

  Result<Condition> run() {
    if (binary(0)) {
      space();
      if (pos_ != text_.size()) fail(pos_, "expected an operator, found `" + std::string(text_.substr(pos_, 8)) + "`");
    }
    if (failed_) return *failed_;
    for (const Step& s : out_.steps_) {
      out_.wide_ = out_.wide_ || s.value > std::numeric_limits<std::int64_t>::max();
      out_.asks_unsigned_ = out_.asks_unsigned_ || (asks_param(s.op) && s.op != Op::kParamDivides && is_unsigned(s));
    }
    if (out_.steps_.size() == 1 && out_.steps_[0].op == Op::kConst && out_.steps_[0].value == 0) {
      return error_at({"", 0, 1}, "this condition never holds: `" + out_.text_ + "`");
    }
    return std::move(out_);
  }

 private:
  struct Operator {
    std::string_view text;
    int level;
    Op op;
  };
  // clang-format off
  static constexpr std::array<Operator, 13> kOperators = {{  // longer spellings first
      {"||", 0, Op::kOr}, {"&&", 1, Op::kAnd}, {"==", 2, Op::kEq}, {"!=", 2, Op::kNe}, {"<=", 3, Op::kLe}, {">=", 3, Op::kGe},
      {"<",  3, Op::kLt}, {">",  3, Op::kGt},  {"+",  4, Op::kAdd}, {"-", 4, Op::kSub}, {"*",  5, Op::kMul}, {"/",  5, Op::kDiv},
      {"%",  5, Op::kMod},
  }};
  // clang-format on

  bool fail(std::size_t at, std::string why, std::vector<std::string> notes = {}) {
    if (!failed_) failed_ = error_at({"", 0, static_cast<std::uint32_t>(at + 1)}, std::move(why), std::move(notes));
    return false;
  }
  void space() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t')) ++pos_;
  }
  bool take(std::string_view s) {
    space();
    if (text_.substr(pos_, s.size()) != s) return false;
    pos_ += s.size();
    return true;
  }
  bool push(const Step& step) {
    if (++stack_ > kMaxDepth || out_.steps_.size() > kMaxSteps) return fail(pos_, "this condition is too long");
    out_.steps_.push_back(step);
    return true;
  }
  bool push_const(Wide v) { return push({.op = Op::kConst, .value = v}); }
  [[nodiscard]] bool is_const(std::size_t at) const { return out_.steps_[at].op == Op::kConst; }

  bool unary_op(Op op) {
    Step& top = out_.steps_.back();
    if (top.op != Op::kConst) {
      out_.steps_.push_back({.op = op});
      return true;
    }
    const auto v =
        op == Op::kNeg ? difference(Wide{0}, top.value) : std::optional<Wide>((top.value == 0) == (op == Op::kNot));
    if (!v) return fail(pos_, std::string(kTooLarge));
    top.value = *v;
    return true;
  }

  // The steps from `mid` on are the right operand.
  bool binary_op(Op op, std::size_t mid, std::size_t at) {
    std::vector<Step>& s = out_.steps_;
    --stack_;
    const bool number = is_const(s.size() - 1) && mid + 1 == s.size();
    if (number && s[mid].value == 0 && (op == Op::kDiv || op == Op::kMod || op == Op::kAligned)) {
      return fail(at, std::string(kByZero));
    }
    if (number && is_const(mid - 1)) {
      const auto v = combined(op, s[mid - 1].value, s[mid].value);
      if (!v) return fail(at, std::string(op == Op::kAligned ? kByZero : kTooLarge));
      s.pop_back();
      s.back().value = *v;
      return true;
    }
    if (number && fuse(op, mid)) return true;
    s.push_back({.op = op});
    return true;
  }

  // A parameter against a number, and a parameter that a power of two divides, are one step.
  bool fuse(Op op, std::size_t mid) {
    std::vector<Step>& s = out_.steps_;
    const Wide v = s[mid].value;
    Step& p = s[mid - 1];
    // Everything is a multiple of 1.
    const bool of_one = op == Op::kAligned
                            ? v == 1 && p.op == Op::kParam
                            : op == Op::kEq && v == 0 && p.op == Op::kMod && mid >= 3 && is_const(mid - 2) &&
                                  s[mid - 2].value == 1 && s[mid - 3].op == Op::kParam;
    if (of_one) {
      s.resize(op == Op::kAligned ? mid : mid - 2);
      s.back() = {.op = Op::kConst, .value = 1};
      return true;
    }
    const auto is_power = [](Wide n) { return n > 0 && (n & (n - 1)) == 0; };
    if (p.op == Op::kParam && op >= Op::kEq && op <= Op::kGe) {
      p.op = static_cast<Op>(static_cast<int>(Op::kParamEq) + static_cast<int>(op) - static_cast<int>(Op::kEq));
      p.value = v;
    } else if (p.op == Op::kParam && op == Op::kAligned && is_power(v)) {
      p.op = Op::kParamDivides;
      p.value = v - 1;
    } else if (p.op == Op::kMod && op == Op::kEq && v == 0 && mid >= 3 && is_const(mid - 2) &&
               is_power(s[mid - 2].value) && s[mid - 3].op == Op::kParam) {
      s[mid - 3].op = Op::kParamDivides;
      s[mid - 3].value = s[mid - 2].value - 1;
      s.resize(mid - 2);
      return true;
    } else {
      return false;
    }
    s.pop_back();
    return true;
  }

  // a && b, a || b: the left operand's steps are [start, mid).
  bool logic_op(Op op, std::size_t start, std::size_t mid) {
    std::vector<Step>& s = out_.steps_;
    --stack_;
    const bool decides = op == Op::kOr;  // the truth of one operand that decides alone
    const auto whole = [&](std::size_t from, std::size_t to) { return to == from + 1 && is_const(from); };
    if (whole(start, mid) || whole(mid, s.size())) {
      const bool left = whole(start, mid);
      const bool truth = s[left ? start : mid].value != 0;
      const auto at = [&](std::size_t i) { return s.begin() + static_cast<std::ptrdiff_t>(i); };
      if (truth == decides) {
        s.resize(start);
        s.push_back({.op = Op::kConst, .value = truth ? 1 : 0});
        return true;
      }
      s.erase(left ? at(start) : at(mid), left ? at(mid) : s.end());
    } else {
      const auto skip = static_cast<std::uint16_t>(s.size() - mid);
      s.insert(s.begin() + static_cast<std::ptrdiff_t>(mid), {.op = op, .skip = skip});
    }
    return unary_op(Op::kTruth);
  }

  bool binary(int level) {
    if (++depth_ > kMaxNesting) return fail(pos_, "this is nested too deeply");
    const std::size_t start = out_.steps_.size();
    if (!unary()) return false;
    while (true) {
      space();
      const auto found = std::ranges::find_if(
          kOperators, [&](const Operator& o) { return text_.substr(pos_, o.text.size()) == o.text; });
      if (found == kOperators.end() || found->level < level) break;
      const std::size_t at = pos_;
      pos_ += found->text.size();
      const std::size_t mid = out_.steps_.size();
      if (!binary(found->level + 1)) return false;
      const bool logic = found->op == Op::kAnd || found->op == Op::kOr;
      if (!(logic ? logic_op(found->op, start, mid) : binary_op(found->op, mid, at))) return false;
    }
    --depth_;
    return true;
  }

  bool unary() {
    if (++depth_ > kMaxNesting) return fail(pos_, "this is nested too deeply");
    space();
    bool ok = false;
    if (text_.substr(pos_, 2) != "!=" && take("!")) {
      ok = unary() && unary_op(Op::kNot);
    } else if (take("-")) {
      ok = unary() && unary_op(Op::kNeg);
    } else {
      ok = primary();
      if (const std::size_t at = pos_; ok && take("^")) {
        const std::size_t mid = out_.steps_.size();
        ok = unary() && binary_op(Op::kPow, mid, at);
      }
    }
    --depth_;
    return ok;
  }

  bool primary() {
    if (take("(")) return binary(0) && (take(")") || fail(pos_, "expected `)`"));
    space();
    const std::size_t at = pos_;
    while (pos_ < text_.size() && is_name_char(text_[pos_])) ++pos_;
    const std::string_view word = text_.substr(at, pos_ - at);
    if (word.empty()) {
      const std::string_view rest = text_.substr(pos_, 1);
      return fail(
          at, "expected a number, a name or `(`, found " + (rest.empty() ? "the end" : "`" + std::string(rest) + "`"));
    }
    if (word[0] >= '0' && word[0] <= '9') {
      if (const auto n = integer_from(word)) return push_const(*n);
      const auto n = unsigned_from(word);
      return n ? push_const(*n) : fail(at, "`" + std::string(word) + "` is no number of 64 bits");
    }
    if (take("(")) return call(word, at);
    return name(word, at);
  }

  bool call(std::string_view function, std::size_t at) {
    if (function != "aligned" && function != "bits") {
      return fail(at, "there is no function `" + std::string(function) +
                          "`; there are aligned(value, number) and bits(value, mask)");
    }
    if (!binary(0)) return false;
    if (!take(",")) return fail(pos_, std::string(function) + " needs a value and a number");
    const std::size_t mid = out_.steps_.size();
    const Op op = function == "bits" ? Op::kBits : Op::kAligned;
    return binary(0) && (take(")") || fail(pos_, "expected `)`")) && binary_op(op, mid, at);
  }

  bool name(std::string_view word, std::size_t at) {
    for (std::size_t i = 0; i < manifest_.params.size(); ++i) {
      const Param& p = manifest_.params[i];
      if (p.name != word) continue;
      if (!is_integer(p.type)) {
        return fail(at, "`" + p.name + "` is " + std::string(name_of(p.type)) + "; conditions are about integers");
      }
      return push({.op = Op::kParam,
                   .type = p.type,
                   .bytes = static_cast<std::uint8_t>(size_of(p.type)),
                   .offset = p.offset,
                   .index = static_cast<std::uint16_t>(i)});
    }
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      if (kSizes[i] != word) continue;
      out_.asks_size_ = true;
      return push({.op = Op::kSize, .index = static_cast<std::uint16_t>(i)});
    }
    if (const auto defined = manifest_.variant.find(std::string(word)); defined != manifest_.variant.end()) {
      if (const auto n = integer_from(defined->second)) return push_const(*n);
      return fail(at, "`" + std::string(word) + "` is the word `" + defined->second + "`; conditions compare numbers",
                  {"write {" + std::string(word) + " == " + defined->second + "}"});
    }
    return unknown(word, at);
  }

  bool unknown(std::string_view word, std::size_t at) {
    Suggestion near(word);
    std::string all;
    const auto offer = [&](const std::string& n) {
      near.offer(n);
      all += " " + n;
    };
    for (const Param& p : manifest_.params) {
      if (is_integer(p.type)) offer(p.name);
    }
    for (const auto& [key, value] : manifest_.variant) {
      if (integer_from(value)) offer(key);
    }
    for (const std::string_view s : kSizes) offer(std::string(s));
    std::vector<std::string> notes = near.note("`", "`");
    notes.push_back("names:" + all);
    return fail(at, "there is no `" + std::string(word.substr(0, 40)) + "` that a condition could ask for",
                std::move(notes));
  }

  Condition& out_;
  const Manifest& manifest_;
  std::string_view text_;
  std::size_t pos_ = 0;
  std::size_t depth_ = 0;
  std::size_t stack_ = 0;
  std::optional<Diag> failed_;
};

Result<Condition> Condition::compile(std::string_view text, const Manifest& manifest) {
  Condition out;
  out.text_ = std::string(text);
  return Compiler(out, manifest).run();
}

// Most launches need no more than 64 bits with a sign, and those are fast.
template <class Source>
bool Condition::run(const Source& source) const {
  const auto large = [&](const Step& s) { return asks_param(s.op) && is_unsigned(s) && source.param(s) < 0; };
  if (!wide_ && !(asks_unsigned_ && std::ranges::any_of(steps_, large))) {
    if (const std::optional<bool> out = computed<std::int64_t>(source)) return *out;
  }
  return computed<Wide>(source).value_or(false);
}

// Nothing: it divides by zero, or a Number cannot be what comes out on the way.
template <class Number, class Source>
std::optional<bool> Condition::computed(const Source& source) const {
  const auto param = [&](const Step& s) -> Number {
    const std::int64_t v = source.param(s);
    return sizeof(Number) > sizeof v && is_unsigned(s) ? static_cast<Number>(bits(v)) : Number{v};
  };
  // What a step that takes nothing from the stack puts there.
  const auto pushed = [&](const Step& s) -> Number {
    const auto value = static_cast<Number>(s.value);
    switch (s.op) {
      case Op::kConst: return value;
      case Op::kParam: return param(s);
      case Op::kSize: return source.size(s);
      case Op::kParamEq: return param(s) == value ? 1 : 0;
      case Op::kParamNe: return param(s) != value ? 1 : 0;
      case Op::kParamLt: return param(s) < value ? 1 : 0;
      case Op::kParamLe: return param(s) <= value ? 1 : 0;
      case Op::kParamGt: return param(s) > value ? 1 : 0;
      case Op::kParamGe: return param(s) >= value ? 1 : 0;
      default: return (param(s) & value) == 0 ? 1 : 0;
    }
  };
  if (steps_.size() == 1) return pushed(steps_.front()) != 0;
  // Not cleared each time: a step reads what steps have put there.
  std::array<Number, kMaxDepth + 1> stack;  // NOLINT
  std::size_t top = 0;                      // values on the stack
  for (std::size_t pc = 0; pc < steps_.size(); ++pc) {
    const Step& s = steps_[pc];
    if (s.op <= Op::kSize || s.op >= Op::kParamEq) {
      stack[top++] = pushed(s);
      continue;
    }
    switch (s.op) {
      case Op::kNeg:
        if (const auto v = difference(Number{0}, stack[top - 1])) {
          stack[top - 1] = *v;
          continue;
        }
        return std::nullopt;
      case Op::kNot: stack[top - 1] = stack[top - 1] == 0 ? 1 : 0; continue;
      case Op::kTruth: stack[top - 1] = stack[top - 1] != 0 ? 1 : 0; continue;
      case Op::kAnd:
      case Op::kOr:
        if ((stack[top - 1] != 0) == (s.op == Op::kOr)) {
          pc += s.skip;
        } else {
          --top;
        }
        continue;
      default: break;
    }
    const Number b = stack[--top];
    const auto result = combined(s.op, stack[top - 1], b);
    if (!result) return std::nullopt;
    stack[top - 1] = *result;
  }
  return top == 1 && stack[0] != 0;
}

std::int64_t Condition::load(const Step& s, std::span<const std::byte> block) {
  std::uint64_t raw = 0;
  const std::byte* at = block.data() + s.offset;
  if (std::size_t{s.offset} + s.bytes > block.size()) return 0;
  if (s.bytes == sizeof(std::uint32_t)) {
    std::memcpy(&raw, at, sizeof(std::uint32_t));
  } else if (s.bytes == sizeof raw) {
    std::memcpy(&raw, at, sizeof raw);
  } else {
    std::memcpy(&raw, at, s.bytes);
  }
  switch (s.type) {
    case ParamType::s8: return static_cast<std::int8_t>(raw);
    case ParamType::s16: return static_cast<std::int16_t>(raw);
    case ParamType::s32: return static_cast<std::int32_t>(raw);
    default: return wrap(raw);
  }
}

bool Condition::holds(std::span<const std::byte> block, const LaunchSize& size) const {
  struct Source {
    std::span<const std::byte> block;
    const LaunchSize& launch;
    std::int64_t param(const Step& s) const { return load(s, block); }
    std::int64_t size(const Step& s) const { return of(launch, s.index); }
  };
  return run(Source{block, size});
}

bool Condition::may_hold(std::span<const std::int64_t> params) const {
  if (asks_size_) return true;
  struct Source {
    std::span<const std::int64_t> params;
    std::int64_t param(const Step& s) const { return s.index < params.size() ? params[s.index] : 0; }
    std::int64_t size(const Step& /*s*/) const { return 0; }
  };
  return run(Source{params});
}

bool Condition::always() const {
  return steps_.size() == 1 && steps_[0].op == Op::kConst;
}

std::vector<std::size_t> Condition::params() const {
  std::vector<std::size_t> out;
  for (const Step& s : steps_) {
    if (asks_param(s.op) && std::ranges::find(out, s.index) == out.end()) out.push_back(s.index);
  }
  return out;
}

std::string Condition::found(const Manifest& manifest, std::span<const std::byte> block, const LaunchSize& size) const {
  std::string out;
  std::vector<std::string_view> said;
  const auto say = [&](std::string_view name, const std::string& value) {
    if (std::ranges::find(said, name) != said.end()) return;
    said.push_back(name);
    out += (out.empty() ? "" : ", ") + std::string(name) + " is " + value;
  };
  for (const Step& s : steps_) {
    if (s.op == Op::kSize) say(kSizes[s.index], std::to_string(of(size, s.index)));
    if (!asks_param(s.op)) continue;
    const std::int64_t v = load(s, block);
    say(manifest.params[s.index].name, is_unsigned(s) ? std::to_string(bits(v)) : std::to_string(v));
  }
  return out;
}

Result<std::vector<Condition>> compile_needs(const Manifest& manifest) {
  std::vector<Condition> out;
  for (const std::string& need : manifest.needs) {
    Result<Condition> c = Condition::compile(need, manifest);
    if (!c.ok()) {
      const Diag& d = c.error();
      return error(
          "kernel " + manifest.name + ": .needs `" + need + "`, column " + std::to_string(d.at.col) + ": " + d.message,
          d.notes);
    }
    if (!c->always()) out.push_back(std::move(*c));
  }
  return out;
}

}  // namespace nervanagpu::sass
