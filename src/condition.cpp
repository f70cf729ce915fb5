#include "src/condition.h"

#include <array>
#include <cctype>
#include <limits>
#include <optional>

namespace nervanagpu {
namespace {

constexpr std::size_t kMaxDepth = 32;  // values on the stack, and nesting

bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::optional<std::int64_t> number_from(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::int64_t n = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + (c - '0');
  }
  return n;
}

// Nothing here may be undefined, whatever the text: wrap like unsigned.
std::int64_t wrap(std::uint64_t v) {
  return static_cast<std::int64_t>(v);
}
std::uint64_t bits(std::int64_t v) {
  return static_cast<std::uint64_t>(v);
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0 || exponent > 63) return 0;
  std::uint64_t out = 1;
  for (std::int64_t i = 0; i < exponent; ++i) out *= bits(base);
  return wrap(out);
}

}  // namespace

// Precedence climbing; each level is the set of operators that bind alike.
class Condition::Compiler {
 public:
  Compiler(Condition& out, const sass::Manifest& manifest) : out_(out), manifest_(manifest), text_(out.text_) {}

  void run() {
    if (!binary(0)) return;
    space();
    if (pos_ != text_.size()) fail("unexpected `" + std::string(text_.substr(pos_, 8)) + "`");
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

  bool fail(const std::string& why) {
    if (out_.error_.empty()) out_.error_ = "`" + out_.text_ + "`: " + why;
    return false;
  }
  void space() {
    while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
  }
  bool take(std::string_view s) {
    space();
    if (text_.substr(pos_, s.size()) != s) return false;
    pos_ += s.size();
    return true;
  }
  bool emit(Op op, std::int64_t value = 0) {
    const bool pushes = op == Op::kConst || op == Op::kParam;
    if (pushes && ++stack_ > kMaxDepth) return fail("too many values at once");
    if (!pushes && op != Op::kNeg && op != Op::kNot) --stack_;
    out_.steps_.push_back({op, value});
    return true;
  }

  bool binary(int level) {
    if (++depth_ > 8 * kMaxDepth) return fail("nested too deeply");
    if (!unary()) return false;
    while (true) {
      space();
      const Operator* found = nullptr;
      for (const Operator& o : kOperators) {
        if (text_.substr(pos_, o.text.size()) == o.text) {
          found = &o;
          break;
        }
      }
      if (found == nullptr || found->level < level) break;
      pos_ += found->text.size();
      if (!binary(found->level + 1) || !emit(found->op)) return false;
    }
    --depth_;
    return true;
  }

  bool unary() {
    if (++depth_ > 8 * kMaxDepth) return fail("nested too deeply");
    space();
    bool ok = false;
    if (take("!")) {
      ok = unary() && emit(Op::kNot);
    } else if (take("-")) {
      ok = unary() && emit(Op::kNeg);
    } else {
      ok = primary() && (!take("^") || (unary() && emit(Op::kPow)));
    }
    --depth_;
    return ok;
  }

  bool primary() {
    if (take("(")) return binary(0) && (take(")") || fail("a `)` is missing"));
    const std::string_view word = take_word();
    if (word.empty()) return fail("a value is missing at column " + std::to_string(pos_ + 1));
    if (const auto n = number_from(word)) return emit(Op::kConst, *n);
    if (take("(")) return call(word);
    for (std::size_t i = 0; i < manifest_.params.size(); ++i) {
      if (manifest_.params[i].name == word) return emit(Op::kParam, static_cast<std::int64_t>(i));
    }
    const auto defined = manifest_.variant.find(std::string(word));
    if (defined == manifest_.variant.end()) return emit(Op::kConst, word_value(word));
    if (const auto n = number_from(defined->second)) return emit(Op::kConst, *n);
    return emit(Op::kConst, word_value(defined->second));
  }

  std::string_view take_word() {
    space();
    const std::size_t start = pos_;
    while (pos_ < text_.size() && word_char(text_[pos_])) ++pos_;
    return text_.substr(start, pos_ - start);
  }

  bool call(std::string_view function) {
    if (function != "aligned") return fail("there is no function `" + std::string(function) + "`");
    if (!binary(0)) return false;
    if (!take(",")) return fail("aligned needs a value and a number");
    return binary(0) && (take(")") || fail("a `)` is missing")) && emit(Op::kAligned);
  }

  // Words are distinct negative numbers, so that no number equals one.
  std::int64_t word_value(std::string_view word) {
    const auto it =
        words_.emplace(word, std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(words_.size()));
    return it.first->second;
  }

  Condition& out_;
  const sass::Manifest& manifest_;
  std::string_view text_;
  std::size_t pos_ = 0;
  std::size_t depth_ = 0;
  std::size_t stack_ = 0;
  std::map<std::string, std::int64_t, std::less<>> words_;
};

Condition::Condition(std::string_view text, const sass::Manifest& manifest) : text_(text) {
  Compiler(*this, manifest).run();
  if (!error_.empty()) steps_.clear();
}

bool Condition::holds(std::span<const std::int64_t> params) const {
  if (steps_.empty()) return false;
  std::array<std::int64_t, kMaxDepth> stack{};
  std::size_t top = 0;  // values on the stack
  for (const Step& s : steps_) {
    if (s.op == Op::kConst || s.op == Op::kParam) {
      if (s.op == Op::kParam && static_cast<std::size_t>(s.value) >= params.size()) return false;
      stack[top++] = s.op == Op::kConst ? s.value : params[static_cast<std::size_t>(s.value)];
      continue;
    }
    if (s.op == Op::kNeg || s.op == Op::kNot) {
      stack[top - 1] =
          s.op == Op::kNeg ? wrap(0 - bits(stack[top - 1])) : static_cast<std::int64_t>(stack[top - 1] == 0);
      continue;
    }
    const std::int64_t b = stack[--top];
    std::int64_t& a = stack[top - 1];
    const bool divides = b != 0 && !(b == -1 && a == std::numeric_limits<std::int64_t>::min());
    switch (s.op) {
      case Op::kAdd: a = wrap(bits(a) + bits(b)); break;
      case Op::kSub: a = wrap(bits(a) - bits(b)); break;
      case Op::kMul: a = wrap(bits(a) * bits(b)); break;
      case Op::kDiv:
        if (!divides) return false;
        a /= b;
        break;
      case Op::kMod:
        if (!divides) return false;
        a %= b;
        break;
      case Op::kPow: a = power(a, b); break;
      case Op::kEq: a = a == b; break;
      case Op::kNe: a = a != b; break;
      case Op::kLt: a = a < b; break;
      case Op::kLe: a = a <= b; break;
      case Op::kGt: a = a > b; break;
      case Op::kGe: a = a >= b; break;
      case Op::kAnd: a = (a != 0 && b != 0) ? 1 : 0; break;
      case Op::kOr: a = (a != 0 || b != 0) ? 1 : 0; break;
      case Op::kAligned:
        if (b <= 0) return false;
        a = bits(a) % bits(b) == 0 ? 1 : 0;
        break;
      default: return false;
    }
  }
  return top == 1 && stack[0] != 0;
}

}  // namespace nervanagpu
