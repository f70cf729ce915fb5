#include "sass/emulate/ops/control/print_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

namespace nervanagpu::sass::emulate {
namespace {

constexpr int kMaxWidth = 1 << 16;  // of a field: a format must not make gigabytes

// %[flags][width][.precision][size]conversion
struct Field {
  std::string flags;
  int width = -1;      // -1: none is given
  int precision = -1;  // the same
  bool star_width = false;
  bool star_precision = false;
  unsigned bytes = 4;  // of an integer
  unsigned kept = 4;   // of these: hh 1, h 2
  char conversion = 0;
  std::size_t length = 0;  // of its text; 0: no field
};

int digits(std::string_view text, std::size_t& at) {
  int n = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    n = std::min(n * 10 + (text[at] - '0'), kMaxWidth);
  return n;
}

// The field that begins at text[0], which is '%'.
Field read_field(std::string_view text) {
  Field f;
  std::size_t at = 1;
  const auto is = [&](char c) { return at < text.size() && text[at] == c; };
  for (; at < text.size() && std::string_view("-+ #0").find(text[at]) != std::string_view::npos; ++at) {
    if (f.flags.find(text[at]) == std::string::npos) f.flags += text[at];
  }
  if (is('*')) {
    f.star_width = true;
    ++at;
  } else if (at < text.size() && text[at] >= '1' && text[at] <= '9') {
    f.width = digits(text, at);
  }
  if (is('.')) {
    ++at;
    f.star_precision = is('*');
    if (f.star_precision) {
      ++at;
    } else {
      f.precision = digits(text, at);
    }
  }
  if (is('h')) {
    ++at;
    f.kept = is('h') ? 1 : 2;
    if (is('h')) ++at;
  } else if (is('l') || is('z') || is('j') || is('t')) {
    const bool twice = text[at] == 'l' && at + 1 < text.size() && text[at + 1] == 'l';
    at += twice ? 2 : 1;
    f.bytes = f.kept = 8;
  }
  if (at >= text.size() || std::string_view("diouxXcspneEfFgGaA%").find(text[at]) == std::string_view::npos) return f;
  f.conversion = text[at];
  f.length = at + 1;
  return f;
}

// One value by the host's printf; `spec` is made here of nothing but known characters.
template <class T>
void append(std::string& out, const Field& f, const char* size, T value) {
  std::string spec = "%" + f.flags;
  if (f.width >= 0) spec += std::to_string(f.width);
  if (f.precision >= 0) spec += "." + std::to_string(f.precision);
  spec += size;
  spec += f.conversion;
  std::array<char, 128> small{};
  const int n = std::snprintf(small.data(), small.size(), spec.c_str(), value);
  if (n < 0) return;
  if (static_cast<std::size_t>(n) < small.size()) {
    out.append(small.data(), static_cast<std::size_t>(n));
    return;
  }
  std::string large(static_cast<std::size_t>(n) + 1, '\0');
  std::snprintf(large.data(), large.size(), spec.c_str(), value);
  out.append(large, 0, static_cast<std::size_t>(n));
}

long long widened(const Field& f, std::uint64_t v) {
  const unsigned spare = 64 - 8 * f.kept;
  return static_cast<long long>(v << spare) >> spare;
}

// Takes the arguments one by one.
class Arguments {
 public:
  Arguments(std::uint64_t at, PrintMemory& memory) : at_(at), memory_(memory) {}

  bool next(unsigned bytes, std::uint64_t& value) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    if (!memory_.number(at_, bytes, value)) return false;
    at_ += bytes;
    ++taken_;
    return true;
  }
  [[nodiscard]] std::uint32_t taken() const { return taken_; }

 private:
  std::uint64_t at_;
  PrintMemory& memory_;
  std::uint32_t taken_ = 0;
};

// A width or precision that is an argument.
bool read_star(Arguments& arguments, int& value) {
  std::uint64_t v = 0;
  if (!arguments.next(4, v)) return false;
  value = std::clamp(static_cast<std::int32_t>(static_cast<std::uint32_t>(v)), -kMaxWidth, kMaxWidth);
  return true;
}

// false: an argument cannot be read.
bool print_field(Field& f, Arguments& arguments, PrintMemory& memory, std::string& out) {
  if (f.star_width) {
    if (!read_star(arguments, f.width)) return false;
    if (f.width < 0) {
      f.flags += '-';
      f.width = -f.width;
    }
  }
  if (f.star_precision) {
    if (!read_star(arguments, f.precision)) return false;
    f.precision = std::max(f.precision, -1);
  }
  std::uint64_t v = 0;
  switch (f.conversion) {
    case 'c':
      if (!arguments.next(4, v)) return false;
      append(out, f, "", static_cast<int>(v));
      return true;
    case 's': {
      if (!arguments.next(8, v)) return false;
      std::string text;
      if (v == 0) {
        text = "(null)";
      } else if (!memory.text(v, text)) {
        return false;
      }
      append(out, f, "", text.c_str());
      return true;
    }
    case 'p':
    case 'n':
      if (!arguments.next(8, v)) return false;
      if (f.conversion == 'p') append(out, f, "", std::bit_cast<const void*>(v));
      return true;
    case 'd':
    case 'i':
      if (!arguments.next(f.bytes, v)) return false;
      append(out, f, "ll", widened(f, v));
      return true;
    case 'o':
    case 'u':
    case 'x':
    case 'X': {
      if (!arguments.next(f.bytes, v)) return false;
      const unsigned spare = 64 - 8 * f.kept;
      append(out, f, "ll", static_cast<unsigned long long>(v << spare >> spare));
      return true;
    }
    default:
      if (!arguments.next(8, v)) return false;
      append(out, f, "", std::bit_cast<double>(v));
      return true;
  }
}

}  // namespace

Printed print_format(std::string_view format, std::uint64_t arguments, PrintMemory& memory) {
  Printed printed;
  Arguments from(arguments, memory);
  while (!format.empty()) {
    const std::size_t plain = std::min(format.find('%'), format.size());
    printed.text.append(format.substr(0, plain));
    format.remove_prefix(plain);
    if (format.empty()) break;
    Field f = read_field(format);
    if (f.length == 0) {
      printed.text += '%';
      format.remove_prefix(1);
      continue;
    }
    format.remove_prefix(f.length);
    if (f.conversion == '%') {
      printed.text += '%';
    } else if (!print_field(f, from, memory, printed.text)) {
      break;
    }
  }
  printed.arguments = from.taken();
  return printed;
}

}  // namespace nervanagpu::sass::emulate
