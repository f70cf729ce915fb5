// A number as it was written, exactly: any C++ integer, a floating point or complex number, or a truth value. 2^53 + 1 and 2^64 - 1 are
// not rounded on their way to a tensor of 64-bit integers.
#pragma once

#include <bit>
#include <complex>
#include <concepts>
#include <cstdint>

namespace nervanagpu {

class Scalar {
 public:
  // beyond: an integer of more than 64 bits, of which the nearest float64 is known (infinite: it is larger than that).
  enum class Kind : std::uint8_t { boolean, integer, beyond, real, complex };

  template <std::integral T>
  constexpr Scalar(T n) noexcept  // NOLINT: numbers are written as what they are
      : kind_(std::same_as<T, bool> ? Kind::boolean : Kind::integer),
        negative_(n < T{0}),
        bits_(static_cast<std::uint64_t>(n)) {}
  template <std::floating_point T>
  constexpr Scalar(T n) noexcept  // NOLINT
      : kind_(Kind::real), negative_(n < 0), bits_(std::bit_cast<std::uint64_t>(static_cast<double>(n))) {}
  constexpr Scalar(std::complex<double> n) noexcept : Scalar(n.real()) {  // NOLINT
    kind_ = Kind::complex;
    negative_ = false;
    imag_ = n.imag();
  }
  static constexpr Scalar beyond(double nearest) noexcept {
    Scalar s(nearest);
    s.kind_ = Kind::beyond;
    return s;
  }

  [[nodiscard]] constexpr Kind kind() const noexcept { return kind_; }
  [[nodiscard]] constexpr bool negative() const noexcept { return negative_; }  // below 0
  // Of an integer its 64 bits, negative ones as two's complement; of a truth value 1 or 0.
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr double imag() const noexcept { return imag_; }  // 0 but for complex
  // The number as a float64, rounded to nearest; of a complex one the real part.
  [[nodiscard]] constexpr double real() const noexcept {
    if (kind_ != Kind::boolean && kind_ != Kind::integer) return std::bit_cast<double>(bits_);
    return negative_ ? static_cast<double>(static_cast<std::int64_t>(bits_)) : static_cast<double>(bits_);
  }

 private:
  Kind kind_;
  bool negative_;
  std::uint64_t bits_;
  double imag_ = 0;
};

}  // namespace nervanagpu
