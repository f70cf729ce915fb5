#include "sass/tools/run_args.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>

#include "sass/asm/template/expr.h"
#include "sass/asm/template/manifest.h"
#include "sass/file.h"
#include "sass/half.h"
#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 34;

bool is_signed(ParamType t) {
  return t == ParamType::s8 || t == ParamType::s16 || t == ParamType::s32 || t == ParamType::s64;
}

void store_bits(RunArg& a, std::uint64_t i, std::uint64_t bits) {
  const unsigned n = size_of(a.type);
  for (unsigned k = 0; k < n; ++k) a.bytes[i * n + k] = static_cast<std::byte>(bits >> (8 * k));
}
std::uint64_t load_bits(const RunArg& a, std::uint64_t i) {
  const unsigned n = size_of(a.type);
  std::uint64_t bits = 0;
  for (unsigned k = 0; k < n; ++k) bits |= std::uint64_t{std::to_integer<std::uint8_t>(a.bytes[i * n + k])} << (8 * k);
  return bits;
}
void store_float(RunArg& a, std::uint64_t i, double v) {
  if (a.type == ParamType::f16) return store_bits(a, i, to_half(v));
  if (a.type == ParamType::f64) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, 8);
    return store_bits(a, i, bits);
  }
  const auto f = static_cast<float>(v);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &f, 4);
  store_bits(a, i, bits);
}
std::int64_t sign_extended(const RunArg& a, std::uint64_t bits) {
  const unsigned spare = 64 - 8 * size_of(a.type);
  return static_cast<std::int64_t>(bits << spare) >> spare;
}
double load_number(const RunArg& a, std::uint64_t i) {
  const std::uint64_t bits = load_bits(a, i);
  switch (a.type) {
    case ParamType::f16: return from_half(static_cast<std::uint16_t>(bits));
    case ParamType::f32: {
      const auto b = static_cast<std::uint32_t>(bits);
      float f = 0;
      std::memcpy(&f, &b, 4);
      return f;
    }
    case ParamType::f64: {
      double d = 0;
      std::memcpy(&d, &bits, 8);
      return d;
    }
    default: return is_signed(a.type) ? static_cast<double>(sign_extended(a, bits)) : static_cast<double>(bits);
  }
}

// splitmix64: the same bits on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

Status fill_array(RunArg& a, std::uint64_t seed) {
  a.bytes.assign(a.count * size_of(a.type), std::byte{0});
  if (a.fill == "zeros") return Done{};
  if (a.fill == "ones" || a.fill == "iota") {
    for (std::uint64_t i = 0; i < a.count; ++i) {
      const std::uint64_t v = a.fill == "ones" ? 1 : i;
      if (is_float(a.type)) {
        store_float(a, i, static_cast<double>(v));
      } else {
        store_bits(a, i, v);
      }
    }
    return Done{};
  }
  if (a.fill == "random") {
    Random random(seed);
    for (std::uint64_t i = 0; i < a.count; ++i) {
      const std::uint64_t bits = random.next();
      if (is_float(a.type)) {
        // 24 bits, uniform in [-1, 1): exact in f32.
        store_float(a, i, static_cast<double>(static_cast<std::int64_t>(bits >> 40U) - (1 << 23)) / (1 << 23));
      } else {
        store_bits(a, i, bits);
      }
    }
    return Done{};
  }
  std::error_code ec;
  const auto needs = [&](std::uintmax_t has) {
    return error("`" + a.fill + "` has " + std::to_string(has) + " bytes; " + a.title() + " needs " +
                 std::to_string(a.bytes.size()));
  };
  const std::uintmax_t size = std::filesystem::file_size(a.fill, ec);
  if (!ec && size > a.bytes.size()) return needs(size);
  Result<std::string> file = read_file(a.fill, a.bytes.size());
  if (!file.ok()) {
    return error(file.error().message + "; the contents of " + a.title() + " are zeros, ones, iota, random or a file");
  }
  if (file->size() != a.bytes.size()) return needs(file->size());
  std::memcpy(a.bytes.data(), file->data(), file->size());
  return Done{};
}

// The whole of `text` as a double; strtod's spellings (1e-3, inf, nan) without its locale.
bool read_double(std::string_view text, double& out) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  return ec == std::errc() && end == text.data() + text.size();
}

Status read_value(RunArg& a, std::string_view text) {
  a.bytes.assign(size_of(a.type), std::byte{0});
  if (is_float(a.type)) {
    double v = 0;
    if (!read_double(text, v)) return error("`" + std::string(text.substr(0, 40)) + "` is no number for " + a.title());
    store_float(a, 0, v);
    return Done{};
  }
  const unsigned bits = 8 * size_of(a.type);
  std::uint64_t u = 0;
  const auto n = integer_from(text);
  if (n) {
    const bool fits =
        bits == 64 ? is_signed(a.type) || *n >= 0
                   : (is_signed(a.type) ? *n >= -(std::int64_t{1} << (bits - 1)) && *n < (std::int64_t{1} << (bits - 1))
                                        : *n >= 0 && *n < (std::int64_t{1} << bits));
    if (!fits) return error(std::string(text) + " does not fit in " + a.title());
    u = static_cast<std::uint64_t>(*n);
  } else {
    const bool hex = text.substr(0, 2) == "0x";
    const std::string_view digits = hex ? text.substr(2) : text;
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), u, hex ? 16 : 10);
    if (digits.empty() || ec != std::errc() || end != digits.data() + digits.size() || bits != 64 ||
        is_signed(a.type)) {
      return error("`" + std::string(text.substr(0, 40)) + "` is no integer for " + a.title());
    }
  }
  store_bits(a, 0, u);
  return Done{};
}

std::string number_text(const RunArg& a, std::uint64_t i) {
  char buffer[64];
  if (is_float(a.type)) {
    const int digits = a.type == ParamType::f64 ? 17 : a.type == ParamType::f32 ? 9 : 5;
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, load_number(a, i));
  } else if (is_signed(a.type)) {
    std::snprintf(buffer, sizeof buffer, "%lld", static_cast<long long>(sign_extended(a, load_bits(a, i))));
  } else {
    std::snprintf(buffer, sizeof buffer, "%llu", static_cast<unsigned long long>(load_bits(a, i)));
  }
  return buffer;
}

}  // namespace

bool is_float(ParamType t) {
  return t == ParamType::f16 || t == ParamType::f32 || t == ParamType::f64;
}

std::string RunArg::title() const {
  return std::string(name_of(type)) + (array ? "[" + std::to_string(count) + "]" : "");
}

Result<RunArg> read_run_arg(std::string_view text, std::uint64_t seed, std::size_t index, std::uint64_t& room) {
  const std::string form = "--arg takes TYPE[N]=FILL or TYPE=VALUE, found `" + std::string(text.substr(0, 60)) + "`";
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return error(form);
  std::string_view head = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  RunArg a;
  const std::size_t bracket = head.find('[');
  const auto type = param_type_from(head.substr(0, bracket));
  if (!type || *type == ParamType::ptr || *type == ParamType::map) {
    return error("`" + std::string(head.substr(0, bracket).substr(0, 40)) +
                 "` is no type; there are u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64");
  }
  a.type = *type;
  if (bracket == std::string_view::npos) {
    Status s = read_value(a, value);
    if (!s.ok()) return s.error();
    return a;
  }
  if (head.back() != ']') return error(form);
  const auto n = integer_from(head.substr(bracket + 1, head.size() - bracket - 2));
  const auto most = static_cast<std::int64_t>(kMaxBytes / size_of(a.type));
  if (!n || *n < 1 || *n > most) return error("an array has 1 to " + std::to_string(most) + " elements: " + form);
  a.array = true;
  a.count = static_cast<std::uint64_t>(*n);
  a.fill = std::string(value);
  const std::uint64_t bytes = a.count * size_of(a.type);
  if (bytes > room) {
    return error(a.title() + " has " + std::to_string(bytes) + " bytes; " + std::to_string(room) +
                 " are left: the arrays can have half of this machine's memory");
  }
  room -= bytes;
  Status s = fill_array(a, seed * 0x10001 + index);
  if (!s.ok()) return s.error();
  return a;
}

std::string statistics(const RunArg& a) {
  double low = INFINITY, high = -INFINITY, sum = 0;
  std::uint64_t finite = 0;
  for (std::uint64_t i = 0; i < a.count; ++i) {
    const double v = load_number(a, i);
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
    ++finite;
  }
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const std::byte b : a.bytes) hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3ULL;
  char buffer[192];
  if (finite == 0) {
    std::snprintf(buffer, sizeof buffer, "no finite value, fnv %016llx", static_cast<unsigned long long>(hash));
  } else {
    std::snprintf(buffer, sizeof buffer, "min %.9g, max %.9g, mean %.9g, %llu not finite, fnv %016llx", low, high,
                  sum / static_cast<double>(finite), static_cast<unsigned long long>(a.count - finite),
                  static_cast<unsigned long long>(hash));
  }
  return a.title() + ": " + buffer;
}

std::string values(const RunArg& a) {
  constexpr std::uint64_t kShown = 16;
  std::string out;
  for (std::uint64_t i = 0; i < a.count; ++i) {
    if (a.count > 2 * kShown && i == kShown) {
      out += " ...";
      i = a.count - kShown;
    }
    out += (out.empty() ? "" : " ") + number_text(a, i);
  }
  return out;
}

}  // namespace nervanagpu::sass::tools
