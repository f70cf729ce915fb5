#include "layers/json.h"

#include <array>
#include <charconv>
#include <cstdio>

#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Json all() {
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
    if (c == '"') return {string()};
    if (c == '{') return {object(depth)};
    if (c == '[') return {array(depth)};
    if (word("true")) return {true};
    if (word("false")) return {false};
    if (word("null")) return {};
    return number();
  }

  Json::Object object(int depth) {
    Json::Object out;
    take('{');
    if (take('}')) return out;
    do {
      space();
      std::string name = string();
      if (!take(':')) fail("':'");
      out.emplace_back(std::move(name), value(depth + 1));
    } while (take(','));
    if (!take('}')) fail("',' or '}'");
    return out;
  }

  Json::Array array(int depth) {
    Json::Array out;
    take('[');
    if (take(']')) return out;
    do {
      out.push_back(value(depth + 1));
    } while (take(','));
    if (!take(']')) fail("',' or ']'");
    return out;
  }

  Json number() {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    std::int64_t whole = 0;
    const auto [stop, error] = std::from_chars(begin, end, whole);
    if (error == std::errc() && (stop == end || (*stop != '.' && *stop != 'e' && *stop != 'E'))) {
      at_ += static_cast<std::size_t>(stop - begin);
      return {whole};
    }
    double real = 0.0;
    const auto [stop2, error2] = std::from_chars(begin, end, real);
    if (error2 != std::errc()) fail("a value");
    at_ += static_cast<std::size_t>(stop2 - begin);
    return {real};
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
        if (code >= 0xd800 && code < 0xdc00 && word("\\u"))
          code = 0x10000 + ((code - 0xd800) << 10) + (hex4() - 0xdc00);
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
  if (const auto* object = std::get_if<Object>(&value)) {
    for (const auto& [key, v] : *object) {
      if (key == name) return &v;
    }
  }
  return nullptr;
}

Json parse_json(std::string_view text) {
  return Parser(text).all();
}

std::string to_text(const Json& json) {
  struct Printer {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const {
      std::array<char, 40> text{};
      const auto end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
      std::string out(text.data(), end);
      return out.find_first_of(".en") == std::string::npos ? out + ".0" : out;
    }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(const Json::Array& v) const {
      std::string out;
      for (const Json& j : v) out += (out.empty() ? "" : ",") + to_text(j);
      return "[" + out + "]";
    }
    std::string operator()(const Json::Object& v) const {
      std::string out;
      for (const auto& [name, j] : v) out += (out.empty() ? "" : ",") + quoted(name) + ":" + to_text(j);
      return "{" + out + "}";
    }
  };
  return std::visit(Printer{}, json.value);
}

Json json_of(const Config& config) {
  Json::Object out;
  for (const auto& [name, v] : config.fields()) {
    Json j;
    std::visit(
        [&j](const auto& x) {
          using T = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<T, Ints>) {
            Json::Array list;
            for (const std::int64_t i : x) list.push_back({i});
            j.value = std::move(list);
          } else if constexpr (std::is_same_v<T, Branches>) {
            Json::Array branches;
            for (const auto& branch : x) {
              Json::Array chain;
              for (const Config& c : branch) chain.push_back(json_of(c));
              branches.push_back({std::move(chain)});
            }
            j.value = std::move(branches);
          } else {
            j.value = x;
          }
        },
        v);
    out.emplace_back(name, std::move(j));
  }
  return {std::move(out)};
}

Config config_of(const Json& json) {
  const auto* object = std::get_if<Json::Object>(&json.value);
  if (object == nullptr) throw Error("JSON: a layer is not an object");
  Config out;
  for (const auto& [name, v] : *object) {
    if (const auto* b = std::get_if<bool>(&v.value)) {
      out.set({name, *b});
    } else if (const auto* i = std::get_if<std::int64_t>(&v.value)) {
      out.set({name, *i});
    } else if (const auto* d = std::get_if<double>(&v.value)) {
      out.set({name, *d});
    } else if (const auto* s = std::get_if<std::string>(&v.value)) {
      out.set({name, *s});
    } else if (const auto* a = std::get_if<Json::Array>(&v.value)) {
      Ints ints;
      Branches branches;
      for (const Json& j : *a) {
        if (const auto* n = std::get_if<std::int64_t>(&j.value)) {
          ints.push_back(*n);
        } else if (const auto* chain = std::get_if<Json::Array>(&j.value)) {
          branches.emplace_back();
          for (const Json& c : *chain) branches.back().push_back(config_of(c));
        } else {
          throw Error("JSON: field '" + name + "' is neither a list of whole numbers nor one of lists of layers");
        }
      }
      if (branches.empty()) {
        out.set({name, ints});
      } else {
        out.set({name, branches});
      }
    } else {
      throw Error("JSON: field '" + name + "' is of a kind that no layer has");
    }
  }
  return out;
}

}  // namespace nervanagpu::layers
