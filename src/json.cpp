#include "src/json.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <unordered_set>

#include "nervanagpu/error.hpp"

namespace nervanagpu {
namespace {

// Where `text` stops being UTF-8: an overlong form, half a surrogate pair, more than U+10FFFF, a byte too few; npos: nowhere.
std::size_t broken_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xc2 ? 0
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                               : first < 0xf5 ? 4
                                              : 0;
    if (length == 0) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0U) != 0x80) return i;
    }
    const unsigned second = byte(i + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second >= 0x90)) {
      return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json all() {
    if (const std::size_t bad = broken_utf8(text_); bad != std::string_view::npos) {
      at_ = bad;
      fail("UTF-8");
    }
    Json j = value(0);
    space();
    if (at_ != text_.size()) fail("the end");
    return j;
  }

 private:
  [[noreturn]] void fail(const char* wanted) const {
    throw Error("JSON: byte " + std::to_string(at_) + ": needs " + wanted);
  }
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view w) {
    if (!text_.substr(at_).starts_with(w)) return false;
    at_ += w.size();
    return true;
  }

  Json value(int depth) {
    if (depth > 64) fail("less nesting");
    space();
    if (at_ >= text_.size()) fail("a value");
    const char c = text_[at_];
    if (c == '"') return Json(string());
    if (c == '{') return object(depth);
    if (c == '[') return array(depth);
    if (word("true")) return Json(true);
    if (word("false")) return Json(false);
    if (word("null")) return {};
    return number();
  }

  Json object(int depth) {
    Json out = Json::object();
    std::unordered_set<std::string> names;
    take('{');
    if (take('}')) return out;
    do {
      space();
      const std::size_t begin = at_;
      std::string name = string();
      if (!names.insert(name).second) {
        at_ = begin;
        fail("another name: this one came before");
      }
      if (!take(':')) fail("':'");
      out.add(std::move(name), value(depth + 1));
    } while (take(','));
    if (!take('}')) fail("',' or '}'");
    return out;
  }

  Json array(int depth) {
    Json out = Json::array();
    take('[');
    if (take(']')) return out;
    do {
      out.add(value(depth + 1));
    } while (take(','));
    if (!take(']')) fail("',' or ']'");
    return out;
  }

  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > begin;
  }
  // from_chars would take more than JSON has: the names of infinity and NaN, zeros in front, a point without digits.
  Json number() {
    const std::size_t begin = at_;
    word("-");
    bool real = false;
    if (!word("0") && !digits()) fail("a value");
    if (word(".") && (real = true) && !digits()) fail("a digit");
    if (word("e") || word("E")) {
      real = true;
      if (!word("+")) word("-");
      if (!digits()) fail("a digit");
    }
    const char* first = text_.data() + begin;
    const char* last = text_.data() + at_;
    if (std::int64_t whole = 0; !real && std::from_chars(first, last, whole).ec == std::errc()) return Json(whole);
    double value = 0.0;
    if (std::from_chars(first, last, value).ec != std::errc()) {
      at_ = begin;
      fail("a number that float64 has");
    }
    return Json(value);
  }

  unsigned hex4() {
    unsigned code = 0;
    if (at_ + 4 > text_.size()) fail("four hexadecimal digits");
    const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16);
    if (error != std::errc() || stop != text_.data() + at_ + 4) fail("four hexadecimal digits");
    at_ += 4;
    return code;
  }

  static void add_utf8(std::string& out, unsigned code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
      return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr std::array<unsigned, 4> kFirst = {0, 0xc0, 0xe0, 0xf0};
    out += static_cast<char>(kFirst[static_cast<std::size_t>(more)] | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80U | ((code >> (6 * i)) & 0x3fU));
  }

  std::string string() {
    if (at_ >= text_.size() || text_[at_] != '"') fail("'\"'");
    ++at_;
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) {
        --at_;
        fail("an escape for a control character");
      }
      if (c != '\\') {
        out += c;
        continue;
      }
      if (at_ >= text_.size()) break;
      const char e = text_[at_++];
      constexpr std::string_view kNames = "\"\\/bfnrt";
      constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
      const std::size_t which = kNames.find(e);
      if (which != std::string_view::npos) {
        out += kMeant[which];
      } else if (e == 'u') {
        unsigned code = hex4();
        if (code >= 0xd800 && code < 0xe000) {  // half a character: the other half follows
          const bool first = code < 0xdc00 && word("\\u");
          const unsigned other = first ? hex4() : 0;
          if (other < 0xdc00 || other >= 0xe000) fail("the other half of a surrogate pair");
          code = 0x10000 + ((code - 0xd800) << 10) + (other - 0xdc00);
        }
        add_utf8(out, code);
      } else {
        fail("an escape");
      }
    }
    if (at_ >= text_.size()) fail("'\"'");
    ++at_;
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
      out += code.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

const Json* Json::find(std::string_view name) const {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return &items[i];
  }
  return nullptr;
}

const Json* Json::find(std::string_view name, Kind wanted) const {
  const Json* j = find(name);
  return j != nullptr && j->kind == wanted ? j : nullptr;
}

Json parse_json(std::string_view text) {
  return Parser(text).all();
}

std::string to_text(const Json& json) {
  std::string out;
  switch (json.kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::boolean: return json.boolean ? "true" : "false";
    case Json::Kind::whole: return std::to_string(json.whole);
    case Json::Kind::real: {
      std::array<char, 40> digits{};
      out.assign(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), json.real).ptr);
      return out.find_first_of(".en") == std::string::npos ? out + ".0" : out;
    }
    case Json::Kind::text: return quoted(json.text);
    case Json::Kind::array:
      for (const Json& j : json.items) out += (out.empty() ? "" : ",") + to_text(j);
      return "[" + out + "]";
    case Json::Kind::object:
      for (std::size_t i = 0; i < json.items.size(); ++i) {
        out += (out.empty() ? "" : ",") + quoted(json.names[i]) + ":" + to_text(json.items[i]);
      }
      return "{" + out + "}";
  }
  return out;
}

}  // namespace nervanagpu
