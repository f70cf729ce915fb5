// Numbers of about 106 bits: pairs of float64 values, the second within some units in the last place of the first. A
// function of float64 carries what its steps lose in the second, and rounds once, at the end.
#pragma once

#include "src/fuse/numeric/wide.h"

namespace nervanagpu::fuse {

struct Pair {
  Wide high, low;
  [[nodiscard]] Wide rounded() const { return high + low; }
};

Pair product(const Wide& a, const Wide& b);    // exact, above the range of subnormal numbers
Pair sum(const Wide& a, const Wide& b);        // exact for |a| >= |b|, or a = 0
Pair sum_any(const Wide& a, const Wide& b);    // exact
Pair plus_low(const Pair& a, const Wide& b);   // b goes to the second one
Pair operator*(const Pair& a, const Wide& b);  // b a power of two
Pair select(const Condition& p, const Pair& a, const Pair& b);

// a / b for normal b.high and a quotient in the range of normal numbers, or NaN: rounded, and what that lacks, so that
// no bit of it comes from MUFU's guess.
Pair ratio(const Pair& a, const Pair& b);
Pair ratio(const Wide& a, const Pair& b);
Wide quotient(const Pair& a, const Pair& b);  // rounded alone
// The same of the root of a number in the range of normal numbers, or of 0; below that NaN.
Pair root_pair(const Pair& v);
Pair root_pair(const Wide& v);
Wide root(const Pair& v);

// e^x 2^-n - 1 and e^x 2^-n, |x| <= 800, in pairs whose errors are below 2^-59 of the first and 2^-60.
struct Power {
  Pair less_one;
  Lanes n;
  [[nodiscard]] Pair significand() const;
};
Power e_to(const Wide& x);
Power two_to(const Wide& x);
// 2^n for numbers n >= -1000, else 2^-1000.
Wide clamped_power_of_two(Emit& e, const Lanes& n);

}  // namespace nervanagpu::fuse
