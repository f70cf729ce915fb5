#include "sass/asm/template/expr.h"

#include <array>
#include <limits>
#include <type_traits>
#include <vector>

namespace nervanagpu::sass {
namespace {

constexpr unsigned kMaxNesting = 200;  // parentheses, signs and ?: inside one another
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

enum class BinaryOp : std::uint8_t {
  kOr,
  kAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEq,
  kNe,
  kLe,
  kGe,
  kLt,
  kGt,
  kShl,
  kShr,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod
};

struct BinaryRow {
  std::string_view text;
  BinaryOp op;
  unsigned level;  // higher binds tighter; C's order, but for & ^ | which bind tighter than comparisons
};

// clang-format off
constexpr std::array kBinary = {  // longer spellings first
    BinaryRow{"||", BinaryOp::kOr,     1}, BinaryRow{"&&", BinaryOp::kAnd,    2},
    BinaryRow{"==", BinaryOp::kEq,     3}, BinaryRow{"!=", BinaryOp::kNe,     3},
    BinaryRow{"<<", BinaryOp::kShl,    8}, BinaryRow{">>", BinaryOp::kShr,    8},
    BinaryRow{"<=", BinaryOp::kLe,     4}, BinaryRow{">=", BinaryOp::kGe,     4},
    BinaryRow{"<",  BinaryOp::kLt,     4}, BinaryRow{">",  BinaryOp::kGt,     4},
    BinaryRow{"|",  BinaryOp::kBitOr,  5}, BinaryRow{"^",  BinaryOp::kBitXor, 6},
    BinaryRow{"&",  BinaryOp::kBitAnd, 7},
    BinaryRow{"+",  BinaryOp::kAdd,    9}, BinaryRow{"-",  BinaryOp::kSub,    9},
    BinaryRow{"*",  BinaryOp::kMul,   10}, BinaryRow{"/",  BinaryOp::kDiv,   10},
    BinaryRow{"%",  BinaryOp::kMod,   10},
};
// clang-format on

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

class Evaluator {
 public:
  Evaluator(std::string_view text, const Names& names, bool skip) : text_(text), names_(names), skip_(skip ? 1 : 0) {}

  // False: error_ says why.
  bool run(Value& out) { return ternary(out); }
  [[nodiscard]] std::size_t pos() const { return pos_; }
  Diag take_error() { return std::move(error_); }

 private:
  bool fail(std::size_t at, std::string message) {
    error_ = error_at({"", 0, static_cast<std::uint32_t>(at + 1)}, std::move(message));
    return false;
  }
  void space() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t')) ++pos_;
  }
  [[nodiscard]] bool skipping() const { return skip_ != 0; }
  // A Value to go on with where nothing is evaluated.
  static Value nothing() { return Value::of(0); }

  bool number_of(const Value& v, std::size_t at, std::string_view what) {
    if (v.is_number() || skipping()) return true;
    if (!v.known) return fail(at, "`" + v.word + "` is not defined; " + std::string(what) + " needs a number");
    return fail(at, "the word `" + v.word + "` stands where " + std::string(what) + " needs a number");
  }

  bool ternary(Value& out) {
    if (++depth_ > kMaxNesting) return fail(pos_, "expression nested deeper than 200 levels");
    space();
    const std::size_t start = pos_;
    if (!binary(1, out)) return false;
    space();
    if (pos_ < text_.size() && text_[pos_] == '?') {
      if (!number_of(out, start, "?:")) return false;
      ++pos_;
      const bool yes = out.number != 0;
      Value a, b;
      if (!branch(!yes, a)) return false;
      space();
      if (pos_ >= text_.size() || text_[pos_] != ':') return fail(pos_, "expected `:` of `?:`" + found());
      ++pos_;
      if (!branch(yes, b)) return false;
      out = yes ? std::move(a) : std::move(b);
    }
    --depth_;
    return true;
  }
  bool branch(bool skip, Value& out) {
    skip_ += skip ? 1 : 0;
    const bool ok = ternary(out);
    skip_ -= skip ? 1 : 0;
    return ok;
  }

  const BinaryRow* peek_binary() {
    space();
    const std::string_view rest = text_.substr(pos_);
    for (const BinaryRow& row : kBinary) {
      if (rest.substr(0, row.text.size()) == row.text) return &row;
    }
    return nullptr;
  }

  bool binary(unsigned level, Value& out) {
    space();
    const std::size_t start = pos_;
    if (!unary(out)) return false;
    while (true) {
      const BinaryRow* row = peek_binary();
      if (row == nullptr || row->level < level) return true;
      const std::size_t at = pos_;
      pos_ += row->text.size();
      Value right;
      space();
      const std::size_t right_at = pos_;
      bool skip = false;
      if (row->op == BinaryOp::kAnd || row->op == BinaryOp::kOr) {
        if (!number_of(out, start, row->text)) return false;
        skip = (row->op == BinaryOp::kAnd) == (out.number == 0);
      }
      skip_ += skip ? 1 : 0;
      const bool ok = binary(row->level + 1, right);
      if (ok && !skipping()) {
        if (!apply(*row, at, start, out, right_at, right)) return false;
      } else if (ok && skip && skip_ == 1) {
        out = Value::of(row->op == BinaryOp::kOr ? 1 : 0);
      }
      skip_ -= skip ? 1 : 0;
      if (!ok) return false;
    }
  }

  bool compare_words(const BinaryRow& row, std::size_t at, Value& a, const Value& b) {
    if (row.op != BinaryOp::kEq && row.op != BinaryOp::kNe) {
      return fail(at, "`" + std::string(row.text) + "` needs numbers; words can only be == or !=");
    }
    if (a.is_number() != b.is_number()) {
      const Value& w = a.is_number() ? b : a;
      const Value& n = a.is_number() ? a : b;
      return fail(at, "cannot compare the word `" + w.word + "`" + (w.known ? "" : " (not defined)") +
                          " with the number " + std::to_string(n.number));
    }
    if (!a.known && !b.known) {
      return fail(at, "neither `" + a.word + "` nor `" + b.word + "` is defined");
    }
    a = Value::of((a.word == b.word) == (row.op == BinaryOp::kEq) ? 1 : 0);
    return true;
  }

  bool apply(const BinaryRow& row, std::size_t at, std::size_t left_at, Value& a, std::size_t right_at,
             const Value& b) {
    if ((row.op == BinaryOp::kEq || row.op == BinaryOp::kNe) && !(a.is_number() && b.is_number())) {
      return compare_words(row, at, a, b);
    }
    if (!number_of(a, left_at, "`" + std::string(row.text) + "`")) return false;
    if (!number_of(b, right_at, "`" + std::string(row.text) + "`")) return false;
    const std::int64_t x = a.number, y = b.number;
    std::int64_t r = 0;
    bool over = false;
    switch (row.op) {
      case BinaryOp::kOr: r = (x != 0 || y != 0) ? 1 : 0; break;
      case BinaryOp::kAnd: r = (x != 0 && y != 0) ? 1 : 0; break;
      case BinaryOp::kBitOr: r = x | y; break;
      case BinaryOp::kBitXor: r = x ^ y; break;
      case BinaryOp::kBitAnd: r = x & y; break;
      case BinaryOp::kEq: r = x == y ? 1 : 0; break;
      case BinaryOp::kNe: r = x != y ? 1 : 0; break;
      case BinaryOp::kLe: r = x <= y ? 1 : 0; break;
      case BinaryOp::kGe: r = x >= y ? 1 : 0; break;
      case BinaryOp::kLt: r = x < y ? 1 : 0; break;
      case BinaryOp::kGt: r = x > y ? 1 : 0; break;
      case BinaryOp::kShl:
      case BinaryOp::kShr:
        if (y < 0 || y > 63) return fail(right_at, "shift by " + std::to_string(y) + "; 0 to 63 is allowed");
        if (row.op == BinaryOp::kShr) {
          r = x >> y;
        } else {
          r = static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << y);
          over = (r >> y) != x;
        }
        break;
      case BinaryOp::kAdd: over = __builtin_add_overflow(x, y, &r); break;
      case BinaryOp::kSub: over = __builtin_sub_overflow(x, y, &r); break;
      case BinaryOp::kMul: over = __builtin_mul_overflow(x, y, &r); break;
      case BinaryOp::kDiv:
      case BinaryOp::kMod:
        if (y == 0) return fail(right_at, "division by zero");
        over = x == kMin && y == -1;
        if (!over) r = row.op == BinaryOp::kDiv ? x / y : x % y;
        break;
    }
    if (over) {
      return fail(
          at, std::to_string(x) + " " + std::string(row.text) + " " + std::to_string(y) + " does not fit in 64 bits");
    }
    a = Value::of(r);
    return true;
  }

  bool unary(Value& out) {
    space();
    const std::size_t at = pos_;
    const char c = pos_ < text_.size() ? text_[pos_] : '\0';
    if (c != '-' && c != '~' && c != '!' && c != '+') return primary(out);
    if (++depth_ > kMaxNesting) return fail(pos_, "expression nested deeper than 200 levels");
    ++pos_;
    if (!unary(out)) return false;
    --depth_;
    if (!number_of(out, at + 1, std::string("`") + c + "`")) return false;
    if (skipping()) return true;
    if (c == '-') {
      if (out.number == kMin) return fail(at, "-(" + std::to_string(kMin) + ") does not fit in 64 bits");
      out.number = -out.number;
    } else if (c == '~') {
      out.number = ~out.number;
    } else if (c == '!') {
      out.number = out.number == 0 ? 1 : 0;
    }
    return true;
  }

  [[nodiscard]] std::string found() const {
    if (pos_ >= text_.size()) return ", found the end";
    return ", found `" + std::string(1, text_[pos_]) + "`";
  }

  bool primary(Value& out) {
    const std::size_t at = pos_;
    if (pos_ >= text_.size()) return fail(at, "expected a number, a name or `(`, found the end");
    const char c = text_[pos_];
    if (c == '(') {
      ++pos_;
      if (!ternary(out)) return false;
      space();
      if (pos_ >= text_.size() || text_[pos_] != ')') return fail(pos_, "expected `)`" + found());
      ++pos_;
      return true;
    }
    if (c >= '0' && c <= '9') {
      while (pos_ < text_.size() && is_name_char(text_[pos_])) ++pos_;
      const std::string_view digits = text_.substr(at, pos_ - at);
      const std::optional<std::int64_t> n = integer_from(digits);
      if (!n) {
        return fail(at, "`" + std::string(digits.substr(0, 40)) + "` is not a 64-bit integer (12, 0x1f, 0b101)");
      }
      out = Value::of(*n);
      return true;
    }
    if (!is_name_start(c)) return fail(at, "expected a number, a name or `(`" + found());
    while (pos_ < text_.size() && is_name_char(text_[pos_])) ++pos_;
    const std::string_view name = text_.substr(at, pos_ - at);
    if (pos_ < text_.size() && text_[pos_] == '(') return function(at, name, out);
    if (skipping()) {
      out = nothing();
      return true;
    }
    std::optional<Value> v = names_.value(name);
    out = v ? std::move(*v) : Value::text(std::string(name), false);
    return true;
  }

  bool function(std::size_t at, std::string_view name, Value& out) {
    static constexpr std::array<std::string_view, 6> kKnown = {"min", "max", "abs", "log2", "ceil_div", "align"};
    const std::size_t open = pos_;
    for (const std::string_view known : kKnown) {
      if (name == known) return numeric(at, name, out);
    }
    // A function of names: its argument is text up to the matching parenthesis.
    unsigned nest = 0;
    while (pos_ < text_.size()) {
      if (text_[pos_] == '(') ++nest;
      if (text_[pos_] == ')' && --nest == 0) break;
      ++pos_;
    }
    if (pos_ >= text_.size()) return fail(open, "this `(` is never closed");
    const std::string_view argument = text_.substr(open + 1, pos_ - open - 1);
    ++pos_;
    if (skipping()) {
      out = nothing();
      return true;
    }
    std::optional<Result<Value>> r = names_.call(name, argument);
    if (!r) {
      return fail(at, "there is no function `" + std::string(name.substr(0, 40)) +
                          "`; there are min, max, abs, log2, ceil_div, align, bank, reg, count, defined, "
                          "is_register, is_number");
    }
    if (!r->ok()) {
      const Diag& d = r->error();
      return fail(open + 1 + (d.at.col == 0 ? 0 : d.at.col - 1), d.message);
    }
    out = std::move(r->value());
    return true;
  }

  bool numeric(std::size_t at, std::string_view name, Value& out) {
    ++pos_;
    std::vector<std::int64_t> args;
    std::size_t count = 0;
    while (true) {
      Value v;
      space();
      const std::size_t arg_at = pos_;
      if (!ternary(v)) return false;
      if (!number_of(v, arg_at, std::string(name) + "()")) return false;
      args.push_back(v.number);
      ++count;
      space();
      if (pos_ < text_.size() && text_[pos_] == ',') {
        ++pos_;
        continue;
      }
      if (pos_ >= text_.size() || text_[pos_] != ')') return fail(pos_, "expected `,` or `)`" + found());
      ++pos_;
      break;
    }
    const bool variadic = name == "min" || name == "max";
    const std::size_t want = (name == "abs" || name == "log2") ? 1 : 2;
    if (variadic ? count < 1 : count != want) {
      return fail(at, std::string(name) + "() takes " + std::to_string(want) +
                          (want == 1 ? " argument" : " arguments") + ", found " + std::to_string(count));
    }
    if (skipping()) {
      out = nothing();
      return true;
    }
    std::int64_t r = args[0];
    bool over = false;
    if (variadic) {
      for (const std::int64_t a : args) r = name == "min" ? std::min(r, a) : std::max(r, a);
    } else if (name == "abs") {
      over = r == kMin;
      if (!over && r < 0) r = -r;
    } else if (name == "log2") {
      if (r <= 0 || (r & (r - 1)) != 0) return fail(at, "log2() needs a power of two, found " + std::to_string(r));
      r = __builtin_ctzll(static_cast<unsigned long long>(r));
    } else {  // ceil_div, align
      const std::int64_t b = args[1];
      if (b <= 0) return fail(at, std::string(name) + "() needs a second argument above 0, found " + std::to_string(b));
      const std::int64_t f = floor_div(args[0], b);
      std::int64_t q = f;
      over = args[0] % b != 0 && __builtin_add_overflow(f, 1, &q);
      r = q;
      if (name == "align" && !over) over = __builtin_mul_overflow(q, b, &r);
    }
    if (over) return fail(at, "the result of " + std::string(name) + "() does not fit in 64 bits");
    out = Value::of(r);
    return true;
  }

  std::string_view text_;
  const Names& names_;
  std::size_t pos_ = 0;
  unsigned depth_ = 0;
  unsigned skip_ = 0;
  Diag error_;
};

}  // namespace

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_char(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9');
}

std::string_view leading_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  return text.substr(0, end);
}

bool is_name(std::string_view text) {
  if (text.empty() || !is_name_start(text[0])) return false;
  for (const char c : text) {
    if (!is_name_char(c)) return false;
  }
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

namespace {

template <class Integer>
std::optional<Integer> literal(std::string_view text) {
  bool negative = false;
  if (std::is_signed_v<Integer> && !text.empty() && text[0] == '-') {
    negative = true;
    text.remove_prefix(1);
  }
  unsigned base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) base = 16;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) base = 2;
  if (base != 10) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  Integer v = 0;
  for (const char c : text) {
    unsigned digit = 99;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
    if (digit >= base) return std::nullopt;
    if (__builtin_mul_overflow(v, static_cast<Integer>(base), &v)) return std::nullopt;
    // Negative literals accumulate downwards, so that -2^63 is one.
    const auto d = static_cast<Integer>(digit);
    if (negative ? __builtin_sub_overflow(v, d, &v) : __builtin_add_overflow(v, d, &v)) return std::nullopt;
  }
  return v;
}

}  // namespace

std::optional<std::int64_t> integer_from(std::string_view text) {
  return literal<std::int64_t>(text);
}
std::optional<std::uint64_t> unsigned_from(std::string_view text) {
  return literal<std::uint64_t>(text);
}

Result<Evaluated> evaluate_prefix(std::string_view text, const Names& names, bool only_syntax) {
  Evaluator e(text, names, only_syntax);
  Value v;
  if (!e.run(v)) return e.take_error();
  return Evaluated{std::move(v), e.pos()};
}

Result<Value> evaluate(std::string_view text, const Names& names, bool only_syntax) {
  Result<Evaluated> r = evaluate_prefix(text, names, only_syntax);
  if (!r.ok()) return r.error();
  std::size_t end = r->used;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
  if (end < text.size()) {
    return error_at({"", 0, static_cast<std::uint32_t>(end + 1)},
                    "expected an operator or the end, found `" + std::string(text.substr(end, 20)) + "`");
  }
  return std::move(r->value);
}

Result<std::int64_t> evaluate_number(std::string_view text, const Names& names) {
  Result<Value> r = evaluate(text, names);
  if (!r.ok()) return r.error();
  if (!r->is_number()) {
    const std::size_t at = text.find_first_not_of(" \t");
    return error_at(
        {"", 0, static_cast<std::uint32_t>(at == std::string_view::npos ? 1 : at + 1)},
        "`" + r->word + (r->known ? "` is a word; a number is needed" : "` is not defined; a number is needed"));
  }
  return r->number;
}

}  // namespace nervanagpu::sass
