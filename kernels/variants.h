// A chooser's table out of its template: the .variants and .let lines that cmake/variants.cmake hands over, read by the
// compiler. Numbers of tiles and stages stand in the template alone.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace nervanagpu::variants {

// What stands after `name=` on a .variants line: "7" of STAGES=7, "{f,b}" of PASS={f,b}; "" if nothing does.
constexpr std::string_view text(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at == 0 || line[at - 1] != ' ' || end >= line.size() || line[end] != '=') continue;
    const std::string_view rest = line.substr(end + 1);
    return rest.substr(0, rest.find(' '));
  }
  return {};
}

// Calls f with each value that `name` has on the line: "f" and "b" of PASS={f,b}.
constexpr void each(std::string_view line, std::string_view name, auto f) {
  std::string_view values = text(line, name);
  if (values.starts_with('{')) values = values.substr(1, values.size() - 2);
  while (!values.empty()) {
    const std::size_t comma = values.find(',');
    f(values.substr(0, comma));
    values = comma == std::string_view::npos ? std::string_view{} : values.substr(comma + 1);
  }
}

constexpr bool has(std::string_view line, std::string_view name, std::string_view value) {
  bool found = false;
  each(line, name, [&](std::string_view one) { found = found || one == value; });
  return found;
}

// What is no whole number does not compile.
constexpr int number(std::string_view digits) {
  constexpr int kTen = 10;
  int value = 0;
  if (digits.empty()) throw "a number is missing";
  for (const char c : digits) {
    if (c < '0' || c > '9') throw "no number";
    value = kTen * value + (c - '0');
  }
  return value;
}
constexpr int number(std::string_view line, std::string_view name) {
  return number(text(line, name));
}
// The right side of `.let NAME = ...` outside of all macros.
template <std::size_t kLines>
constexpr std::string_view let(const std::string_view (&lines)[kLines], std::string_view name) {
  constexpr std::string_view kLet = ".let ";
  for (const std::string_view line : lines) {
    if (!line.starts_with(kLet) || !line.substr(kLet.size()).starts_with(name)) continue;
    const std::string_view rest = line.substr(kLet.size() + name.size());
    if (rest.starts_with(" = ")) return rest.substr(3);
  }
  throw "no such .let";
}

// `name` on a line that has it and agrees with `line` in all of `same`; 0: there is none.
template <std::size_t kLines>
constexpr int number_beside(const std::string_view (&lines)[kLines], std::string_view line,
                            std::initializer_list<std::string_view> same, std::string_view name) {
  for (const std::string_view other : lines) {
    bool alike = !text(other, name).empty();
    for (const std::string_view one : same) alike = alike && text(other, one) == text(line, one);
    if (alike) return number(other, name);
  }
  return 0;
}

inline constexpr std::size_t kMost = 32;  // rows of a table

template <class Row>
struct Table {
  std::array<Row, kMost> rows{};
  std::size_t count = 0;
  constexpr void add(const Row& row) {
    for (std::size_t i = 0; i < count; ++i) {
      if (rows[i] == row) return;
    }
    rows[count++] = row;
  }
};

// The rows, each once, that read(line, add) adds for the .variants lines among kLines, in their order.
template <class Row, const auto& kLines, class Read>
constexpr auto table(Read /*read*/) {
  constexpr Table<Row> all = [] {
    Table<Row> found;
    for (const std::string_view line : kLines) {
      if (line.starts_with(".variants ")) Read{}(line, [&](const Row& row) { found.add(row); });
    }
    return found;
  }();
  static_assert(all.count != 0);
  std::array<Row, all.count> rows{};
  for (std::size_t i = 0; i < all.count; ++i) rows[i] = all.rows[i];
  return rows;
}

}  // namespace nervanagpu::variants
