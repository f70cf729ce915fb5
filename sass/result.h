// Errors as values. Nothing inside sass/ throws: a stage returns Result<T>, and a failure is one Diag that names
// the file, line and column, what was found and what is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace nervanagpu::sass {

// A position in source text. Lines and columns count from 1; line 0 means "no position" (a whole file, a binary).
struct Span {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t col = 0;
};

struct Diag {
  Span at;
  std::string message;
  std::vector<std::string> notes;  // accepted forms, macro backtrace, the hint

  // "file:line:col: error: message" with the notes on lines of their own.
  [[nodiscard]] std::string text() const;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}   // NOLINT: implicit by design
  Result(Diag diag) : state_(std::in_place_index<1>, std::move(diag)) {}  // NOLINT: implicit by design

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  [[nodiscard]] const Diag& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Diag> state_;
};

// A stage without a product.
struct Done {};
using Status = Result<Done>;

inline Diag error_at(Span at, std::string message, std::vector<std::string> notes = {}) {
  return Diag{std::move(at), std::move(message), std::move(notes)};
}
inline Diag error(std::string message, std::vector<std::string> notes = {}) {
  return Diag{{}, std::move(message), std::move(notes)};
}

}  // namespace nervanagpu::sass
