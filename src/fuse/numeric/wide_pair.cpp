#include "src/fuse/numeric/wide_pair.h"

namespace nervanagpu::fuse {

Pair product(const Wide& a, const Wide& b) {
  const Wide high = a * b;
  return {high, fma(a, b, -high)};
}

Pair sum(const Wide& a, const Wide& b) {
  const Wide high = a + b;
  return {high, (a - high) + b};
}

Pair sum_any(const Wide& a, const Wide& b) {
  const Wide high = a + b;
  const Wide of_b = high - a;
  const Wide of_a = high - of_b;
  return {high, (a - of_a) + (b - of_b)};
}

Pair plus_low(const Pair& a, const Wide& b) {
  return {a.high, a.low + b};
}

Pair operator*(const Pair& a, const Wide& b) {
  return {a.high * b, a.low * b};
}

Pair select(const Condition& p, const Pair& a, const Pair& b) {
  Emit& e = a.high.emit();
  const Lanes x[] = {a.high.registers().lanes(), a.low.registers().lanes()};
  const Lanes y[] = {b.high.registers().lanes(), b.low.registers().lanes()};
  Lanes d[] = {e.fresh(2), e.fresh(2)};
  e.each([&](unsigned i) {
    const VPred is = p(i);
    for (unsigned part = 0; part < 2; ++part) {
      for (unsigned k = 0; k < 2; ++k) e.select(d[part][i][k], x[part][i][k], y[part][i][k], is);
    }
  });
  return {Wide(e, d[0]), Wide(e, d[1])};
}

namespace {

// Within 2^-100 of itself; which of the numbers about the quotient is the first depends on the guess.
Pair divided(const Wide& a, const Wide* a_low, const Pair& b) {
  const Wide r = inverse(b.high);
  const Wide q = a * r;
  Wide rest = fma(-q, b.high, a);
  if (a_low != nullptr) rest = rest + *a_low;
  return {q, fma(-q, b.low, rest) * r};
}

Pair root_of(const Wide& v, const Wide* low) {
  const Root y = root_parts(v);
  Wide rest = fma(-y.root, y.root, v);
  if (low != nullptr) rest = rest + *low;
  const Condition none = v.compare(Tok::EQ, 0.0);
  return {select(none, v, y.root), select(none, v, rest * y.half_inverse)};
}

}  // namespace

Pair ratio(const Pair& a, const Pair& b) {
  const Pair d = divided(a.high, &a.low, b);
  return sum(d.high, d.low);
}
Pair ratio(const Wide& a, const Pair& b) {
  const Pair d = divided(a, nullptr, b);
  return sum(d.high, d.low);
}
Wide quotient(const Pair& a, const Pair& b) {
  return divided(a.high, &a.low, b).rounded();
}

Pair root_pair(const Pair& v) {
  const Pair d = root_of(v.high, &v.low);
  return sum(d.high, d.low);
}
Pair root_pair(const Wide& v) {
  const Pair d = root_of(v, nullptr);
  return sum(d.high, d.low);
}
Wide root(const Pair& v) {
  return root_of(v.high, &v.low).rounded();
}

}  // namespace nervanagpu::fuse
