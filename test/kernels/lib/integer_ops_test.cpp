// The integer and 64-bit macros of kernels/lib/ops.sass against C++, on both architectures: edge values in every pair,
// random values, immediates, parameters, and destinations that are sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "src/launch/magic.h"
#include "test/kernels/lib/macro_harness.h"

namespace nervanagpu::test {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;

struct Binary {
  const char* name;
  u32 (*host)(u32, u32);
};

i32 as_signed(u32 x) {
  return static_cast<i32>(x);
}

// Shifts by 32 and more give what they shift out to.
constexpr Binary kBinary[] = {
    {"iadd", [](u32 a, u32 b) { return a + b; }},
    {"isub", [](u32 a, u32 b) { return a - b; }},
    {"mulhi", [](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }},
    {"shl", [](u32 a, u32 n) { return n < 32 ? a << n : 0; }},
    {"shr", [](u32 a, u32 n) { return n < 32 ? a >> n : 0; }},
    {"sar", [](u32 a, u32 n) { return static_cast<u32>(as_signed(a) >> std::min(n, 31u)); }},
    {"shlv", [](u32 a, u32 n) { return n < 32 ? a << n : 0; }},
    {"shrv", [](u32 a, u32 n) { return n < 32 ? a >> n : 0; }},
    {"and_", [](u32 a, u32 b) { return a & b; }},
    {"or_", [](u32 a, u32 b) { return a | b; }},
    {"xor_", [](u32 a, u32 b) { return a ^ b; }},
    {"imin", [](u32 a, u32 b) { return as_signed(a) < as_signed(b) ? a : b; }},
    {"imax", [](u32 a, u32 b) { return as_signed(a) > as_signed(b) ? a : b; }},
    {"umin", [](u32 a, u32 b) { return std::min(a, b); }},
    {"umax", [](u32 a, u32 b) { return std::max(a, b); }},
};

Words map(const std::vector<Words>& in, const std::function<u32(u32, u32)>& f) {
  Words out(in[0].size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(in[0][i], in[1][i]);
  return out;
}

class BinaryOp : public ::testing::TestWithParam<Binary> {};

TEST_P(BinaryOp, AnyRegistersMayCoincide) {
  const std::string op = GetParam().name;
  const std::vector<Words> in = pairs(edges(), 1, 3000);
  const Words ab = map(in, GetParam().host);
  const Words aa = map({in[0], in[0]}, GetParam().host);
  expect_macros({.body = op + "(y[0], x[0], x[1])\n" +                        //
                         "mov(y[1], x[0])\n" + op + "(y[1], y[1], x[1])\n" +  // d is a
                         "mov(y[2], x[1])\n" + op + "(y[2], x[0], y[2])\n" +  // d is b
                         "mov(y[3], x[0])\n" + op + "(y[3], y[3], y[3])\n" +  // all three
                         "mov(y[4], x[0])\nmov(y[5], x[1])\n",                // the sources are as before
                 .in = in,
                 .outs = 6},
                {ab, ab, ab, aa, in[0], in[1]});
}

TEST_P(BinaryOp, NumbersAndParameters) {
  const std::string op = GetParam().name;
  Words a = edges();
  const Words more = random_words(3, 200);
  a.insert(a.end(), more.begin(), more.end());
  const bool shift = op.find("sh") == 0 || op == "sar";
  const Words numbers = shift ? Words{0, 1, 13, 31} : edges();
  for (const u32 b : numbers) {
    const Words want = map({a, Words(a.size(), b)}, GetParam().host);
    expect_macros({.body = op + "(y[0], x[0], " + std::to_string(b) + ")\n" + op + "(y[1], x[0], param[p0])\n" +
                           "mov(y[2], x[0])\n" + op + "(y[2], y[2], {0 + " + std::to_string(b) + "})\n" +
                           (shift ? "mov(y[3], y[0])\n" : op + "(y[3], x[0], " + std::to_string(as_signed(b)) + ")\n"),
                   .in = {a},
                   .outs = 4,
                   .params = {b}},
                  {want, want, want, want});
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, BinaryOp, ::testing::ValuesIn(kBinary),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(IntegerOps, Mov) {
  const Words a = edges();
  for (const u32 n : edges()) {
    expect_macros(
        {.body = "mov(y[0], x[0])\nmov(y[1], " + std::to_string(n) + ")\nmov(y[2], param[p0])\nmov(y[3], RZ)\n",
         .in = {a},
         .outs = 4,
         .params = {n}},
        {a, Words(a.size(), n), Words(a.size(), n), Words(a.size(), 0)});
  }
}

TEST(IntegerOps, Imad) {
  std::vector<Words> in = pairs(edges(), 5, 3000);
  in.push_back(random_words(6, in[0].size()));
  for (std::size_t i = 0; i < in[2].size(); i += 3) in[2][i] = edges()[i % edges().size()];
  Words abc(in[0].size()), aab(in[0].size()), ab(in[0].size());
  for (std::size_t i = 0; i < abc.size(); ++i) {
    abc[i] = in[0][i] * in[1][i] + in[2][i];
    aab[i] = in[0][i] * in[0][i] + in[1][i];
    ab[i] = in[0][i] * in[1][i];
  }
  expect_macros({.body = "imad(y[0], x[0], x[1], x[2])\n"
                         "mov(y[1], x[0])\nimad(y[1], y[1], x[1], x[2])\n"
                         "mov(y[2], x[1])\nimad(y[2], x[0], y[2], x[2])\n"
                         "mov(y[3], x[2])\nimad(y[3], x[0], x[1], y[3])\n"
                         "imad(y[4], x[0], x[0], x[1])\n"
                         "imad(y[5], x[0], x[1], RZ)\n",
                 .in = in,
                 .outs = 6},
                {abc, abc, abc, abc, aab, ab});
}

TEST(IntegerOps, ImadOfNumbersAndParameters) {
  const std::vector<Words> in = pairs(edges(), 7, 100);
  const std::size_t n = in[0].size();
  for (const u32 b : edges()) {
    const u32 k = b * 77 + 5;
    Words reg(n), both(n), alone(n), swapped(n);
    for (std::size_t i = 0; i < n; ++i) {
      reg[i] = in[0][i] * b + in[1][i];
      both[i] = in[0][i] * b + k;
      alone[i] = in[0][i] * b;
      swapped[i] = in[0][i] * in[1][i] + b;
    }
    const std::string text = std::to_string(b), number = std::to_string(k);
    expect_macros({.body = "imad(y[0], x[0], " + text + ", x[1])\nimad(y[1], x[0], param[p0], x[1])\n" +
                           "imad(y[2], x[0], " + text + ", " + number + ")\nimad(y[3], x[0], param[p0], param[p1])\n" +
                           "imad(y[4], x[0], " + text + ", param[p1])\nimad(y[5], x[0], param[p0], " + number + ")\n" +
                           "imad(y[6], x[0], " + text + ", RZ)\nimad(y[7], x[0], param[p0], RZ)\n",
                   .in = in,
                   .outs = 8,
                   .params = {b, k}},
                  {reg, reg, both, both, both, both, alone, alone});
    expect_macros({.body = "imad(y[0], x[0], x[1], " + text + ")\nimad(y[1], x[0], x[1], param[p0])\n" +
                           "mov(y[2], x[0])\nimad(y[2], y[2], " + text + ", x[1])\n" +
                           "mov(y[3], x[1])\nimad(y[3], x[0], " + text + ", y[3])\n",
                   .in = in,
                   .outs = 4,
                   .params = {b}},
                  {swapped, swapped, reg, reg});
  }
}

TEST(IntegerOps, Xor3) {
  std::vector<Words> in = pairs(edges(), 8, 500);
  in.push_back(random_words(9, in[0].size()));
  Words want(in[0].size());
  for (std::size_t i = 0; i < want.size(); ++i) want[i] = in[0][i] ^ in[1][i] ^ in[2][i];
  expect_macros(
      {.body = "xor3(y[0], x[0], x[1], x[2])\nmov(y[1], x[2])\nxor3(y[1], x[0], x[1], y[1])\n", .in = in, .outs = 2},
      {want, want});
}

TEST(IntegerOps, BitsChosenTestedAndSet) {
  std::vector<Words> in = pairs(edges(), 12, 500);
  in.push_back(random_words(13, in[0].size()));
  Words chosen(in[0].size());
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = (in[0][i] & in[1][i]) | (~in[0][i] & in[2][i]);
  const Words tested = map(in, [](u32 a, u32 b) { return (a & 0xf0000000U) != 0 ? b | 0xf0000001U : b; });
  expect_macros({.body = ".pred some\nchoose_bits(y[0], x[0], x[1], x[2])\nmov(y[1], x[2])\n"
                         "choose_bits(y[1], x[0], x[1], y[1])\ntest_bits(some, x[0], 0xf0000000)\n"
                         "mov(y[2], x[1])\nset_bits(y[2], 0xf0000001, some)\n",
                 .in = in,
                 .outs = 3},
                {chosen, chosen, tested});
}

TEST(IntegerOps, SelByEveryPredicateForm) {
  const std::vector<Words> in = pairs(edges(), 10, 100);
  const Words yes = map(in, [](u32 a, u32 b) { return a < b ? a : b; });
  const Words no = map(in, [](u32 a, u32 b) { return a < b ? b : a; });
  const Words number = map(in, [](u32 a, u32 b) { return a < b ? a : 0x12345678u; });
  const Words small = map(in, [](u32 a, u32 b) { return a < b ? a : ~2u; });
  expect_macros({.body = ".pred less\nISETP.LT.U32.AND less, PT, x[0], x[1], PT\n"
                         "sel(y[0], x[0], x[1], less)\nsel(y[1], x[0], x[1], !less)\n"
                         "sel(y[2], x[0], x[1], PT)\nsel(y[3], x[0], x[1], \"!PT\")\n"
                         "sel(y[4], x[0], 0x12345678, less)\nsel(y[5], x[0], param[p0], less)\n"
                         "sel(y[6], x[0], -3, less)\n"
                         "mov(y[7], x[1])\nsel(y[7], x[0], y[7], less)\n",
                 .in = in,
                 .outs = 8,
                 .params = {0x12345678}},
                {yes, no, in[0], in[1], number, number, small, yes});
}

TEST(IntegerOps, Divmod) {
  Words a;
  for (const u32 x : edges()) a.push_back(x & 0x7fffffff);
  for (const u32 x : random_words(11, 2000)) a.push_back(x & 0x7fffffff);
  for (const u32 d :
       {1u, 2u, 3u, 7u, 10u, 255u, 65535u, 65536u, 65537u, 1000003u, 0x40000000u, 0x40000001u, 0x7fffffffu}) {
    Words in = a;
    for (u32 k = 0; k < 200; ++k) {
      const u64 multiple = u64{k} * (0x80000000u / 200 / d) * d;
      for (const u64 x : {multiple, multiple + d - 1}) in.push_back(static_cast<u32>(std::min<u64>(x, 0x7fffffff)));
    }
    Words q, r;
    for (const u32 x : in) {
      q.push_back(x / d);
      r.push_back(x % d);
    }
    const Magic m = magic(d);
    const std::string number =
        std::to_string(d) + ", " + std::to_string(m.mul) + ", " + std::to_string(m.shift) + ")\n";
    const std::string param = "param[p0], param[p1], param[p2])\n";
    expect_macros({.body = "divmod(y[0], y[1], x[0], " + number + "divmod(y[2], y[3], x[0], " + param +
                           "mov(y[4], x[0])\ndivmod(y[4], y[5], y[4], " + param +  // q is a
                           "mov(y[7], x[0])\ndivmod(y[6], y[7], y[7], " + param,   // r is a
                   .in = {in},
                   .outs = 8,
                   .params = {d, m.mul, m.shift}},
                  {q, r, q, r, q, r, q, r});
    expect_macros({.body = "divmod(y[0], RZ, x[0], " + param + "divmod(RZ, y[1], x[0], " + param +
                           "mov(y[2], x[0])\ndivmod(y[2], RZ, y[2], " + number +
                           "mov(y[3], param[p0])\nmov(x[1], param[p1])\nmov(x[2], param[p2])\n" +
                           "divmod(y[3], y[4], x[0], y[3], x[1], x[2])\n" +  // in registers, q is the divisor
                           "mov(x[3], param[p0])\ndivmod(x[1], x[2], x[0], x[3], x[1], x[2])\n" +
                           "mov(y[5], x[1])\nmov(y[6], x[2])\n",  // q and r are mul and shift
                   .in = {in},
                   .outs = 7,
                   .params = {d, m.mul, m.shift}},
                  {q, r, q, q, r, q, r});
  }
}

Words low(const std::vector<u64>& x) {
  Words out;
  for (const u64 v : x) out.push_back(static_cast<u32>(v));
  return out;
}
Words high(const std::vector<u64>& x) {
  Words out;
  for (const u64 v : x) out.push_back(static_cast<u32>(v >> 32));
  return out;
}

// x[0] the index, x[2..3] and x[4..5] pairs.
std::vector<Words> wide_inputs() {
  std::vector<Words> in(6);
  const std::vector<Words> p = pairs(edges(), 12, 2000);
  const std::size_t n = p[0].size();
  in[0] = p[0];
  in[1] = p[1];
  for (unsigned k = 2; k < 6; ++k) {
    in[k] = random_words(20 + k, n);
    for (std::size_t i = 0; i < n; i += 2) in[k][i] = edges()[(i * 7 + i / 64 + k) % edges().size()];
  }
  return in;
}

TEST(WideOps, AddressesOfEverySize) {
  const std::vector<Words> in = wide_inputs();
  const std::size_t n = in[0].size();
  for (const u32 size : {1u, 2u, 4u, 8u, 12u, 16u, 36u, 1024u, 65535u, 65536u, 1000000u, 0x7fffffffu}) {
    std::vector<u64> unsigned_at(n), signed_at(n);
    for (std::size_t i = 0; i < n; ++i) {
      const u64 p = in[2][i] | u64{in[3][i]} << 32;
      unsigned_at[i] = p + u64{in[0][i]} * size;
      signed_at[i] = p + static_cast<u64>(std::int64_t{as_signed(in[0][i])} * std::int64_t{size});
    }
    const std::string s = std::to_string(size);
    for (const bool is_signed : {false, true}) {
      const std::string op = is_signed ? "saddr" : "addr";
      const std::vector<u64>& want = is_signed ? signed_at : unsigned_at;
      expect_macros({.body = op + "(y[0], x[2], x[0], " + s + ")\n" + op + "(y[2], x[2], x[0], param[p0])\n" +
                             "mov(y[4], x[2])\nmov(y[5], x[3])\n" + op + "(y[4], y[4], x[0], " + s + ")\n" +
                             "mov(y[6], param[p0])\n" + op + "(y[6], x[2], x[0], y[6])\n",  // size in a register, d
                     .in = in,
                     .outs = 8,
                     .params = {size}},
                    {low(want), high(want), low(want), high(want), low(want), high(want), low(want), high(want)});
      // The index in either half of the result.
      expect_macros({.body = "mov(y[0], x[0])\n" + op + "(y[0], x[2], y[0], " + s + ")\n" + "mov(y[3], x[0])\n" + op +
                             "(y[2], x[2], y[3], " + s + ")\n",
                     .in = in,
                     .outs = 4},
                    {low(want), high(want), low(want), high(want)});
    }
  }
}

TEST(WideOps, AddAndMultiply) {
  const std::vector<Words> in = wide_inputs();
  const std::size_t n = in[0].size();
  std::vector<u64> sum(n), twice(n), product(n), fma(n);
  for (std::size_t i = 0; i < n; ++i) {
    const u64 p = in[2][i] | u64{in[3][i]} << 32;
    const u64 q = in[4][i] | u64{in[5][i]} << 32;
    sum[i] = p + q;
    twice[i] = p + p;
    product[i] = u64{in[0][i]} * in[1][i];
    fma[i] = p + product[i];
  }
  expect_macros({.body = "add64(y[0], x[2], x[4])\n"
                         "mov(y[2], x[2])\nmov(y[3], x[3])\nadd64(y[2], y[2], x[4])\n"
                         "mov(y[4], x[4])\nmov(y[5], x[5])\nadd64(y[4], x[2], y[4])\n"
                         "mov(y[6], x[2])\nmov(y[7], x[3])\nadd64(y[6], y[6], y[6])\n",
                 .in = in,
                 .outs = 8},
                {low(sum), high(sum), low(sum), high(sum), low(sum), high(sum), low(twice), high(twice)});
  expect_macros({.body = "mul64(y[0], x[0], x[1])\nimad_wide(y[2], x[0], x[1], x[2])\n"
                         "mov(y[4], x[0])\nmov(y[5], x[1])\nmul64(y[4], y[4], y[5])\n"
                         "mov(y[6], x[2])\nmov(y[7], x[3])\nimad_wide(y[6], x[0], x[1], y[6])\n",
                 .in = in,
                 .outs = 8},
                {low(product), high(product), low(fma), high(fma), low(product), high(product), low(fma), high(fma)});
  for (const u32 b : edges()) {
    std::vector<u64> times(n), plus(n);
    for (std::size_t i = 0; i < n; ++i) {
      times[i] = u64{in[0][i]} * b;
      plus[i] = times[i] + (in[2][i] | u64{in[3][i]} << 32);
    }
    expect_macros({.body = "mul64(y[0], x[0], " + std::to_string(b) + ")\nmul64(y[2], x[0], param[p0])\n" +
                           "imad_wide(y[4], x[0], " + std::to_string(b) + ", x[2])\n" +
                           "imad_wide(y[6], x[0], param[p0], x[2])\n",
                   .in = in,
                   .outs = 8,
                   .params = {b}},
                  {low(times), high(times), low(times), high(times), low(plus), high(plus), low(plus), high(plus)});
  }
}

// An array's name and its first element are the same pair.
TEST(WideOps, PairsByNameAndByElement) {
  const std::vector<Words> in = wide_inputs();
  std::vector<u64> sum(in[0].size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = (in[2][i] | u64{in[3][i]} << 32) + (in[4][i] | u64{in[5][i]} << 32);
  }
  expect_macros({.body = ".reg a[2] align 2, b[2] align 2\nmov(a[0], x[2])\nmov(a[1], x[3])\nmov(b[0], x[4])\n"
                         "mov(b[1], x[5])\nadd64(a, a[0], b)\nmov(y[0], a[0])\nmov(y[1], a[1])\n",
                 .in = in,
                 .outs = 2},
                {low(sum), high(sum)});
}

}  // namespace
}  // namespace nervanagpu::test
