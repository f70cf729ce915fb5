// Integer instructions of later chips on sm_52, compared with sm_90a's and with plain C++.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "test/sass/asm/lowering_harness.h"

namespace nervanagpu::sass::lowering {
namespace {

TEST(Lowering, Sums) {
  const Case cases[] = {
      {"a + b", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, k.r[0], k.r[1], kZero});
       },
       [](const Row& r, u64) { return low(i64{r[0]} + r[1]); }},
      {"a - b", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, k.r[0], -Arg(k.r[1]), kZero});
       },
       [](const Row& r, u64) { return low(i64{r[0]} - r[1]); }},
      {"-a - b", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, -Arg(k.r[0]), -Arg(k.r[1]), kZero});
       },
       [](const Row& r, u64) { return low(-i64{r[0]} - r[1]); }},
      {"a + b - c", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, k.r[0], k.r[1], -Arg(k.r[2])});
       },
       [](const Row& r, u64) { return low(i64{r[0]} + r[1] - r[2]); }},
      {"0 - a", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, kZero, -Arg(k.r[0]), kZero});
       },
       [](const Row& r, u64) { return low(-i64{r[0]}); }},
      {"5 - a", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, -Arg(k.r[0]), 5, kZero});
       },
       [](const Row& r, u64) { return low(5 - i64{r[0]}); }},
      {"a + 0x7ffff", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, k.r[0], 0x7ffff, kZero});
       },
       [](const Row& r, u64) { return low(i64{r[0]} + 0x7ffff); }},
      {"a - 0x80001", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, k.r[0], -0x80001, kZero});
       },
       [](const Row& r, u64) { return low(i64{r[0]} - 0x80001); }},
      {"a + 0x9e3779b9", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, k.r[0], 0x9e3779b9U, kZero});
       },
       [](const Row& r, u64) { return low(i64{r[0]} + 0x9e3779b9); }},
      {"a - 3 - b", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, k.r[0], -3, -Arg(k.r[1])});
       },
       [](const Row& r, u64) { return low(i64{r[0]} - 3 - r[1]); }},
      {"a - constant", Kind::words, 1,
       [](const At& k) {
         k(Op::IADD3, {}, {k.d, k.r[0], -k.c, kZero});
       },
       [](const Row& r, u64 c) { return low(i64{r[0]} - static_cast<u32>(c)); }},
      {"|a|", Kind::words, 1,
       [](const At& k) {
         k(Op::IABS, {}, {k.d, k.r[0]});
       },
       [](const Row& r, u64) { return low(std::abs(i64{static_cast<i32>(r[0])})); }},
      {"constant", Kind::words, 2,
       [](const At& k) {
         for (unsigned w = 0; w < 2; ++w) k(Op::MOV, {}, {k.d[w], k.c.plus(4 * w)});
       },
       [](const Row&, u64 c) { return c; }},
  };
  check_all(cases);
}

// Sums of 64 bits: carries of two instructions side by side, of two sums that are interleaved, of one that others read.
TEST(Lowering, Carries) {
  const auto sum = [](const At& k, VReg x, VReg y, bool minus) {
    const VPred carry = k.b.pred();
    const VReg d = k.b.reg(2);
    k.before(Op::IADD3, {}, {d[0], carry, x[0], minus ? -Arg(y[0]) : Arg(y[0]), kZero});
    k.before(Op::IADD3, {Tok::X}, {d[1], x[1], minus ? complement(y[1]) : Arg(y[1]), kZero, carry, !kAlways});
    for (unsigned w = 0; w < 2; ++w) k(Op::MOV, {}, {k.d[w], d[w]});
  };
  const Case cases[] = {
      {"a + b", Kind::longs, 2, [&](const At& k) { sum(k, k.r.pair(0), k.r.pair(2), false); },
       [](const Row& r, u64) { return pair(r, 0) + pair(r, 1); }},
      {"a - b", Kind::longs, 2, [&](const At& k) { sum(k, k.r.pair(0), k.r.pair(2), true); },
       [](const Row& r, u64) { return pair(r, 0) - pair(r, 1); }},
      {"in place",  // (without the guard: a carry has none)
       Kind::longs, 2,
       [](const At& k) {
         const VPred carry = k.b.pred();
         const VReg x = k.r.pair(0), y = k.r.pair(2);
         k.before(Op::IADD3, {}, {k.d[0], carry, x[0], -Arg(y[0]), kZero});
         k.before(Op::IADD3, {Tok::X}, {k.d[1], x[1], complement(y[1]), kZero, carry, !kAlways});
       }},
      {"a + 1", Kind::longs, 2,
       [](const At& k) {
         const VPred carry = k.b.pred();
         const VReg x = k.r.pair(0), d = k.b.reg(2);
         k.before(Op::IADD3, {}, {d[0], carry, x[0], 1, kZero});
         k.before(Op::IADD3, {Tok::X}, {d[1], x[1], kZero, kZero, carry, !kAlways});
         for (unsigned w = 0; w < 2; ++w) k(Op::MOV, {}, {k.d[w], d[w]});
       },
       [](const Row& r, u64) { return pair(r, 0) + 1; }},
      {"a + b and c - a, interleaved", Kind::longs, 2,
       [](const At& k) {
         const VPred carry = k.b.pred(), borrow = k.b.pred();
         const VReg x = k.r.pair(0), y = k.r.pair(2), z = k.r.pair(4), d = k.b.reg(2), e = k.b.reg(2);
         k.before(Op::IADD3, {}, {d[0], carry, x[0], y[0], kZero});
         k.before(Op::IADD3, {}, {e[0], borrow, z[0], -Arg(x[0]), kZero});
         k.before(Op::IADD3, {Tok::X}, {d[1], x[1], y[1], kZero, carry, !kAlways});
         k.before(Op::IADD3, {Tok::X}, {e[1], z[1], complement(x[1]), kZero, borrow, !kAlways});
         for (unsigned w = 0; w < 2; ++w) k(Op::LOP3, {Tok::LUT}, {k.d[w], d[w], e[w], kZero, 0x3c, !kAlways});
       },
       [](const Row& r, u64) { return (pair(r, 0) + pair(r, 1)) ^ (pair(r, 2) - pair(r, 0)); }},
      {"three words", Kind::longs, 2,  // {a, lower c} + {b, upper c}
       [](const At& k) {
         const VPred first = k.b.pred(), next = k.b.pred();
         const VReg x = k.r.pair(0), y = k.r.pair(2), z = k.r.pair(4), d = k.b.reg(2);
         k.before(Op::IADD3, {}, {k.b.reg(), first, z[0], z[1], kZero});
         k.before(Op::IADD3, {Tok::X}, {d[0], next, x[0], y[0], kZero, first, !kAlways});
         k.before(Op::IADD3, {Tok::X}, {d[1], x[1], y[1], kZero, next, !kAlways});
         for (unsigned w = 0; w < 2; ++w) k(Op::MOV, {}, {k.d[w], d[w]});
       },
       [](const Row& r, u64) { return pair(r, 0) + pair(r, 1) + ((u64{r[4]} + r[5]) >> 32); }},
      {"a carry that is added and chooses", Kind::longs, 1,
       [](const At& k) {
         const VPred carry = k.b.pred();
         const VReg more = k.b.reg();
         k.before(Op::IADD3, {}, {k.b.reg(), carry, k.r[0], k.r[2], kZero});
         k.before(Op::IADD3, {Tok::X}, {more, k.r[0], kZero, kZero, carry, !kAlways});
         k(Op::SEL, {}, {k.d, more, k.r[2], carry});
       },
       [](const Row& r, u64) { return u64{r[0]} + r[2] > 0xffffffff ? low(i64{r[0]} + 1) : r[2]; }},
      {"a carry that chooses", Kind::longs, 1,
       [](const At& k) {
         const VPred carry = k.b.pred();
         k.before(Op::IADD3, {}, {k.b.reg(), carry, k.r[0], k.r[2], kZero});
         k(Op::SEL, {}, {k.d, k.r[0], k.r[2], carry});
       },
       [](const Row& r, u64) { return u64{r[0]} + r[2] > 0xffffffff ? r[0] : r[2]; }},
  };
  check_all(cases);
}

TEST(Lowering, Products) {
  std::vector<Case> cases = {
      {"a b + c", Kind::words, 1,
       [](const At& k) {
         k(Op::IMAD, {}, {k.d, k.r[0], k.r[1], k.r[2]});
       },
       [](const Row& r, u64) { return low(static_cast<i64>(u64{r[0]} * r[1] + r[2])); }},
      {"a b", Kind::words, 1,
       [](const At& k) {
         k(Op::IMAD, {}, {k.d, k.r[0], k.r[1], kZero});
       },
       [](const Row& r, u64) { return low(static_cast<i64>(u64{r[0]} * r[1])); }},
      {"a constant + b", Kind::words, 1,
       [](const At& k) {
         k(Op::IMAD, {}, {k.d, k.r[0], k.c, k.r[1]});
       },
       [](const Row& r, u64 c) { return low(static_cast<i64>(r[0] * c + r[1])); }},
      {"a b + constant", Kind::words, 1,
       [](const At& k) {
         k(Op::IMAD, {}, {k.d, k.r[0], k.r[1], k.c});
       },
       [](const Row& r, u64 c) { return low(static_cast<i64>(u64{r[0]} * r[1] + c)); }},
      {"high word", Kind::words, 1,
       [](const At& k) {
         k(Op::IMAD_HI, {Tok::U32}, {k.d, k.r[0], k.r[1], kZero});
       },
       [](const Row& r, u64) { return u64{r[0]} * r[1] >> 32; }},
      {"high word by a constant", Kind::words, 1,
       [](const At& k) {
         k(Op::IMAD_HI, {Tok::U32}, {k.d, k.r[0], k.c, kZero});
       },
       [](const Row& r, u64 c) { return u64{r[0]} * static_cast<u32>(c) >> 32; }},
      {"high word by a number", Kind::words, 1,
       [](const At& k) {
         k(Op::IMAD_HI, {Tok::U32}, {k.d, k.r[0], 0xcccccccdU, kZero});
       },
       [](const Row& r, u64) { return u64{r[0]} * 0xcccccccd >> 32; }},
      {"wide", Kind::words, 2,
       [](const At& k) {
         k(Op::IMAD_WIDE, {Tok::U32}, {k.d, k.r[0], k.r[1], kZero});
       },
       [](const Row& r, u64) { return u64{r[0]} * r[1]; }},
      {"wide signed", Kind::words, 2,
       [](const At& k) {
         k(Op::IMAD_WIDE, {}, {k.d, k.r[0], k.r[1], kZero});
       },
       [](const Row& r, u64) { return static_cast<u64>(i64{static_cast<i32>(r[0])} * static_cast<i32>(r[1])); }},
      {"wide + c", Kind::words, 2,
       [](const At& k) {
         k(Op::IMAD_WIDE, {Tok::U32}, {k.d, k.r[0], k.r[1], k.r.pair(2)});
       },
       [](const Row& r, u64) { return u64{r[0]} * r[1] + pair(r, 1); }},
      {"wide signed + c", Kind::words, 2,
       [](const At& k) {
         k(Op::IMAD_WIDE, {}, {k.d, k.r[0], k.r[1], k.r.pair(2)});
       },
       [](const Row& r, u64) {
         return static_cast<u64>(i64{static_cast<i32>(r[0])} * static_cast<i32>(r[1])) + pair(r, 1);
       }},
      {"wide signed + constant", Kind::words, 2,
       [](const At& k) {
         k(Op::IMAD_WIDE, {}, {k.d, k.r[0], k.r[1], k.c});
       },
       [](const Row& r, u64 c) { return static_cast<u64>(i64{static_cast<i32>(r[0])} * static_cast<i32>(r[1])) + c; }},
      {"wide by a constant + c", Kind::words, 2,
       [](const At& k) {
         k(Op::IMAD_WIDE, {}, {k.d, k.r[0], k.c, k.r.pair(2)});
       },
       [](const Row& r, u64 c) {
         return static_cast<u64>(i64{static_cast<i32>(r[0])} * static_cast<i32>(static_cast<u32>(c))) + pair(r, 1);
       }},
      {"wide of nothing", Kind::words, 2,
       [](const At& k) {
         k(Op::IMAD_WIDE, {Tok::U32}, {k.d, kZero, 0xcd9e8d57U, kZero});
       },
       [](const Row&, u64) { return u64{0}; }},
  };
  // By numbers: powers of two, short ones, long ones, negative ones; as they are and in a register that holds nothing else.
  for (const u32 n : {0U, 1U, 2U, 5U, 128U, 1000U, 0x8000U, 0xffffU, 0x10000U, 0x12345U, 0x800000U, 0x80000000U,
                      0xfffffff3U, 0xffffffffU}) {
    for (const bool in_register : {false, true}) {
      const auto factor = [=](const At& k) -> Arg {
        if (!in_register) return n;
        const VReg v = k.b.reg();
        k.before(Op::MOV, {}, {v, n});
        return v;
      };
      const auto as_signed = static_cast<i64>(static_cast<i32>(n));
      cases.push_back({"a n + b", Kind::words, 1,
                       [=](const At& k) {
                         k(Op::IMAD, {}, {k.d, k.r[0], factor(k), k.r[1]});
                       },
                       [=](const Row& r, u64) { return low(static_cast<i64>(u64{r[0]} * n + r[1])); }});
      cases.push_back({"a n", Kind::words, 1,
                       [=](const At& k) {
                         k(Op::IMAD, {}, {k.d, k.r[0], factor(k), kZero});
                       },
                       [=](const Row& r, u64) { return low(static_cast<i64>(u64{r[0]} * n)); }});
      cases.push_back({"wide a n", Kind::words, 2,
                       [=](const At& k) {
                         k(Op::IMAD_WIDE, {Tok::U32}, {k.d, k.r[0], factor(k), kZero});
                       },
                       [=](const Row& r, u64) { return u64{r[0]} * n; }});
      cases.push_back({"wide a n + c", Kind::words, 2,
                       [=](const At& k) {
                         k(Op::IMAD_WIDE, {Tok::U32}, {k.d, k.r[0], factor(k), k.r.pair(2)});
                       },
                       [=](const Row& r, u64) { return u64{r[0]} * n + pair(r, 1); }});
      cases.push_back(
          {"wide signed a n + c", Kind::words, 2,
           [=](const At& k) {
             k(Op::IMAD_WIDE, {}, {k.d, k.r[0], factor(k), k.r.pair(2)});
           },
           [=](const Row& r, u64) { return static_cast<u64>(i64{static_cast<i32>(r[0])} * as_signed) + pair(r, 1); }});
      if (!in_register) continue;  // sm_90a has no two constants in one instruction
      cases.push_back(
          {"wide signed a n + constant", Kind::words, 2,
           [=](const At& k) {
             k(Op::IMAD_WIDE, {}, {k.d, k.r[0], factor(k), k.c});
           },
           [=](const Row& r, u64 c) { return static_cast<u64>(i64{static_cast<i32>(r[0])} * as_signed) + c; }});
    }
  }
  check_all(cases);
}

TEST(Lowering, ComparisonsAndChoices) {
  std::vector<Case> cases;
  const auto choose = [](const At& k, VPred p) { k(Op::SEL, {}, {k.d, kZero, 1, !p}); };
  for (const Tok how : {Tok::EQ, Tok::NE, Tok::LT, Tok::LE, Tok::GT, Tok::GE}) {
    for (const bool is_signed : {false, true}) {
      const auto compare = [=](const At& k, const Arg& a, const Arg& b) {
        const VPred p = k.b.pred();
        if (is_signed) {
          k.before(Op::ISETP, {how, Tok::AND}, {p, kAlways, a, b, kAlways});
        } else {
          k.before(Op::ISETP, {how, Tok::U32, Tok::AND}, {p, kAlways, a, b, kAlways});
        }
        return p;
      };
      cases.push_back({"a ? b", Kind::words, 1, [=](const At& k) { choose(k, compare(k, k.r[0], k.r[1])); }});
      for (const i64 n :
           {i64{0}, i64{7}, i64{-1}, i64{0x7ffff}, i64{0x80000}, i64{-0x80000}, i64{-0x80001}, i64{0x7fffffff}})
        cases.push_back({"a ? n", Kind::words, 1, [=](const At& k) { choose(k, compare(k, k.r[0], n)); }});
      cases.push_back({"a ? constant", Kind::words, 1, [=](const At& k) { choose(k, compare(k, k.r[0], k.c)); }});
      cases.push_back(
          {"64 bits", Kind::longs, 1, [=](const At& k) {
             const VPred low = k.b.pred(), p = k.b.pred();
             const VReg x = k.r.pair(0), y = k.r.pair(2);
             k.before(Op::ISETP, {how, Tok::U32, Tok::AND}, {low, kAlways, x[0], y[0], kAlways});
             if (is_signed) {
               k.before(Op::ISETP, {how, Tok::AND, Tok::EX}, {p, kAlways, x[1], y[1], kAlways, low});
             } else {
               k.before(Op::ISETP, {how, Tok::U32, Tok::AND, Tok::EX}, {p, kAlways, x[1], y[1], kAlways, low});
             }
             choose(k, p);
           }});
    }
  }
  for (const VPred way : {kAlways, !kAlways}) {
    cases.push_back({"signed extremum", Kind::words, 1, [=](const At& k) {
                       k(Op::VIMNMX, {}, {k.d, k.r[0], k.r[1], way});
                     }});
    cases.push_back({"extremum", Kind::words, 1, [=](const At& k) {
                       k(Op::VIMNMX, {Tok::U32}, {k.d, k.r[0], k.r[1], way});
                     }});
    for (const i64 n : {i64{0}, i64{30}, i64{-1}, i64{0x80000}, i64{-0x80001}, i64{0xffffff}}) {
      cases.push_back({"signed extremum with n", Kind::words, 1, [=](const At& k) {
                         k(Op::VIMNMX, {}, {k.d, k.r[0], n, way});
                       }});
      cases.push_back({"extremum with n", Kind::words, 1, [=](const At& k) {
                         k(Op::VIMNMX, {Tok::U32}, {k.d, k.r[0], n, way});
                       }});
    }
  }
  for (const i64 n : {i64{1}, i64{-23}, i64{0x7fffffff}, i64{0xffffffff}}) {
    cases.push_back({"a number or a", Kind::words, 1, [=](const At& k) {
                       const VPred p = k.b.pred();
                       k.before(Op::ISETP, {Tok::LT, Tok::AND}, {p, kAlways, k.r[1], kZero, kAlways});
                       k(Op::SEL, {}, {k.d, k.r[0], n, p});
                     }});
  }
  check_all(cases);
}

TEST(Lowering, LogicAndShifts) {
  std::vector<Case> cases;
  for (const int table : {0xc0, 0xfc, 0x3c, 0x96, 0xe2, 0x78, 0xea, 0x30, 0x0f, 0x80, 0xfe}) {
    const auto logic = [&, table](const char* name, const auto& b, const auto& c) {
      cases.push_back({name, Kind::words, 1, [=](const At& k) {
                         k(Op::LOP3, {Tok::LUT}, {k.d, k.r[0], b(k), c(k), table, !kAlways});
                       }});
    };
    const auto reg1 = [](const At& k) -> Arg { return k.r[1]; };
    const auto reg2 = [](const At& k) -> Arg { return k.r[2]; };
    const auto none = [](const At&) -> Arg { return kZero; };
    logic("a b c", reg1, reg2);
    logic("a b", reg1, none);
    logic("a c", none, reg1);
    logic("a", none, none);
    for (const u32 n : {1U, 0x7ffffU, 0x80000U, 0x7fffffffU, 0x80000000U, 0xffff0000U, 0xffffffffU}) {
      const auto number = [=](const At&) -> Arg { return n; };
      logic("a n c", number, reg1);
      logic("a n", number, none);
    }
  }
  const auto shift = [&](const char* name, std::initializer_list<Tok> mods, bool right, bool alone) {
    const std::vector<Tok> how(mods);
    const auto emit = [=](const At& k, const Arg& n, const Arg& x, const Arg& other) {
      const Arg in = alone ? Arg(kZero) : other;
      const Arg a = right && alone ? in : x, c = right && alone ? x : in;
      how.size() == 2 ? k(Op::SHF, {how[0], how[1]}, {k.d, a, n, c})
                      : k(Op::SHF, {how[0], how[1], how[2]}, {k.d, a, n, c});
    };
    cases.push_back({name, Kind::words, 1, [=](const At& k) { emit(k, k.r[0], k.r[1], k.r[2]); }});
    if (alone) cases.push_back({name, Kind::words, 1, [=](const At& k) { emit(k, k.c, k.r[1], k.r[2]); }});
    for (const int n : {0, 1, 8, 31})
      cases.push_back({name, Kind::words, 1, [=](const At& k) { emit(k, n, k.r[0], k.r[1]); }});
  };
  shift("left", {Tok::L, Tok::U32}, false, true);
  shift("right", {Tok::R, Tok::U32, Tok::HI}, true, true);
  shift("right signed", {Tok::R, Tok::S32, Tok::HI}, true, true);
  shift("funnel left", {Tok::L, Tok::U32, Tok::HI}, false, false);
  shift("funnel right", {Tok::R, Tok::U32}, false, false);
  shift("funnel right, 64 bits", {Tok::R, Tok::U64}, false, false);
  for (const int bits : {1, 8, 16, 31})
    cases.push_back({"sign", Kind::words, 1, [=](const At& k) { k(Op::SGXT, {}, {k.d, k.r[0], bits}); }});
  for (const int selector : {0x0040, 0x5410, 0x4443, 0x8880, 0x9910, 0xbb32}) {
    cases.push_back({"bytes", Kind::words, 1, [=](const At& k) { k(Op::PRMT, {}, {k.d, k.r[0], selector, k.r[1]}); }});
  }
  check_all(cases);
}

}  // namespace
}  // namespace nervanagpu::sass::lowering
