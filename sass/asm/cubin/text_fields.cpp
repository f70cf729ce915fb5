#include "sass/asm/cubin/text_fields.h"

#include <charconv>

namespace nervanagpu::sass {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u == 0x7f) {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

Diag FieldReader::fail(std::string message) const {
  return error(what_ + ", line " + std::to_string(line_number_) + ": " + std::move(message));
}

Result<bool> FieldReader::next_line() {
  if (!line_.empty()) return fail("unexpected text after the last field");
  if (rest_.empty()) return false;
  ++line_number_;
  const std::size_t end = rest_.find('\n');
  if (end == std::string_view::npos) return fail("no newline at the end");
  line_ = rest_.substr(0, end);
  line_size_ = end;
  rest_.remove_prefix(end + 1);
  if (line_.empty()) return fail("empty line");
  return true;
}

Result<std::string_view> FieldReader::rest() const {
  if (!line_.empty()) return fail("unexpected text after the last field");
  return rest_;
}

bool FieldReader::separate() {
  if (line_.size() == line_size_) return !line_.empty();
  if (line_.empty() || line_.front() != ' ') return false;
  line_.remove_prefix(1);
  return true;
}

bool FieldReader::take_key(std::string_view key) {
  if (!line_.starts_with(key)) return false;
  if (line_.size() > key.size() && line_[key.size()] != ' ') return false;
  line_.remove_prefix(key.size());
  return true;
}

Result<std::string_view> FieldReader::word() {
  if (!separate()) return fail("a field is missing");
  const std::string_view w = line_.substr(0, line_.find(' '));
  if (w.empty()) return fail("a field is empty");
  line_.remove_prefix(w.size());
  return w;
}

Result<std::uint32_t> FieldReader::number(std::uint32_t max) {
  const auto w = word();
  if (!w) return w.error();
  std::uint32_t v = 0;
  const char* end = w->data() + w->size();
  const auto [at, code] = std::from_chars(w->data(), end, v);
  const bool leading_zero = w->size() > 1 && w->front() == '0';
  if (code != std::errc{} || at != end || v > max || leading_zero) {
    return fail("'" + std::string(w->substr(0, 32)) + "' is not a number up to " + std::to_string(max));
  }
  return v;
}

Result<std::string> FieldReader::string() {
  if (!separate() || line_.empty() || line_.front() != '"') return fail("a quoted string is missing");
  std::string out;
  for (std::size_t i = 1; i < line_.size(); ++i) {
    const char c = line_[i];
    if (c == '"') {
      line_.remove_prefix(i + 1);
      return out;
    }
    if (c != '\\') {
      out += c;
      continue;
    }
    if (++i >= line_.size()) break;
    if (line_[i] == '"' || line_[i] == '\\') {
      out += line_[i];
    } else if (line_[i] == 'x' && i + 2 < line_.size()) {
      const std::size_t high = kHex.find(line_[i + 1]);
      const std::size_t low = kHex.find(line_[i + 2]);
      if (high == kHex.npos || low == kHex.npos) return fail("\\x needs two hex digits");
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      return fail("unknown escape in a string");
    }
  }
  return fail("a string has no end");
}

}  // namespace nervanagpu::sass
