// As much JSON as the headers and caches of our own files need. One plain struct: a variant that holds vectors of itself is
// more than some compilers take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nervanagpu {

struct Json {
  enum class Kind : std::uint8_t { null, boolean, whole, real, text, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t whole = 0;
  double real = 0.0;
  std::string text;
  std::vector<Json> items;         // of an array or object
  std::vector<std::string> names;  // of an object's items

  Json() = default;
  explicit Json(bool v) : kind(Kind::boolean), boolean(v) {}
  explicit Json(std::int64_t v) : kind(Kind::whole), whole(v) {}
  explicit Json(double v) : kind(Kind::real), real(v) {}
  explicit Json(std::string v) : kind(Kind::text), text(std::move(v)) {}
  static Json array() { return Json(Kind::array); }
  static Json object() { return Json(Kind::object); }

  void add(Json item) { items.push_back(std::move(item)); }
  void add(std::string name, Json item) {
    names.push_back(std::move(name));
    items.push_back(std::move(item));
  }
  [[nodiscard]] const Json* find(std::string_view name) const;               // of an object; null if there is none
  [[nodiscard]] const Json* find(std::string_view name, Kind wanted) const;  // of this kind

 private:
  explicit Json(Kind k) : kind(k) {}
};

// Throws Error naming the place. Nesting deeper than 64, a name twice in one object and broken UTF-8 are refused.
Json parse_json(std::string_view text);
std::string to_text(const Json& json);

}  // namespace nervanagpu
