// Floating-point instructions and conversions of later chips on sm_52: the bits of sm_90a, NaN and subnormal numbers among
// them.
#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "test/sass/asm/lowering_harness.h"

namespace nervanagpu::sass::lowering {
namespace {

TEST(Lowering, Singles) {
  std::vector<Case> cases = {
      {"a + b", Kind::singles, 1,
       [](const At& k) {
         k(Op::FADD, {}, {k.d, k.r[0], k.r[1]});
       }},
      {"a - |b|", Kind::singles, 1,
       [](const At& k) {
         k(Op::FADD, {}, {k.d, k.r[0], -magnitude(k.r[1])});
       }},
      {"a b", Kind::singles, 1,
       [](const At& k) {
         k(Op::FMUL, {}, {k.d, k.r[0], k.r[1]});
       }},
      {"-a b", Kind::singles, 1,
       [](const At& k) {
         k(Op::FMUL, {}, {k.d, -Arg(k.r[0]), k.r[1]});
       }},
      {"a b + c", Kind::singles, 1,
       [](const At& k) {
         k(Op::FFMA, {}, {k.d, k.r[0], k.r[1], k.r[2]});
       }},
      {"-a b + c", Kind::singles, 1,
       [](const At& k) {
         k(Op::FFMA, {}, {k.d, -Arg(k.r[0]), k.r[1], k.r[2]});
       }},
      {"a -b - c", Kind::singles, 1,
       [](const At& k) {
         k(Op::FFMA, {}, {k.d, k.r[0], -Arg(k.r[1]), -Arg(k.r[2])});
       }},
      {"-a -b + c", Kind::singles, 1,
       [](const At& k) {
         k(Op::FFMA, {}, {k.d, -Arg(k.r[0]), -Arg(k.r[1]), k.r[2]});
       }},
      {"a constant - b", Kind::singles, 1,
       [](const At& k) {
         k(Op::FFMA, {}, {k.d, k.r[0], k.c, -Arg(k.r[1])});
       }},
      {"a b + constant", Kind::singles, 1,
       [](const At& k) {
         k(Op::FFMA, {}, {k.d, k.r[0], k.r[1], k.c});
       }},
      {"larger, |b|", Kind::singles, 1,
       [](const At& k) {
         k(Op::FMNMX, {}, {k.d, k.r[0], magnitude(k.r[1]), !kAlways});
       }},
      {"smaller |a|", Kind::singles, 1,
       [](const At& k) {
         k(Op::FMNMX, {Tok::kNAN}, {k.d, magnitude(k.r[0]), 1.5F, kAlways});
       }},
  };
  for (const VPred way : {kAlways, !kAlways}) {
    cases.push_back({"extremum", Kind::singles, 1, [=](const At& k) {
                       k(Op::FMNMX, {Tok::kNAN}, {k.d, k.r[0], k.r[1], way});
                     }});
    cases.push_back({"extremum of numbers", Kind::singles, 1, [=](const At& k) {
                       k(Op::FMNMX, {}, {k.d, k.r[0], k.r[1], way});
                     }});
    cases.push_back({"extremum, constant", Kind::singles, 1, [=](const At& k) {
                       k(Op::FMNMX, {Tok::kNAN}, {k.d, k.r[0], k.c, way});
                     }});
  }
  for (const float n : {1.0F, -0.5F, 0.1F, 1e-40F, -105.0F, 8388608.0F, 3.0e38F}) {
    cases.push_back({"a + n", Kind::singles, 1, [=](const At& k) { k(Op::FADD, {}, {k.d, k.r[0], n}); }});
    cases.push_back({"-a + n", Kind::singles, 1, [=](const At& k) { k(Op::FADD, {}, {k.d, -Arg(k.r[0]), n}); }});
    cases.push_back({"a n", Kind::singles, 1, [=](const At& k) { k(Op::FMUL, {}, {k.d, k.r[0], n}); }});
    cases.push_back({"a n + c", Kind::singles, 1, [=](const At& k) { k(Op::FFMA, {}, {k.d, k.r[0], n, k.r[1]}); }});
    cases.push_back({"a b + n", Kind::singles, 1, [=](const At& k) { k(Op::FFMA, {}, {k.d, k.r[0], k.r[1], n}); }});
    cases.push_back({"-a b + n", Kind::singles, 1, [=](const At& k) {
                       k(Op::FFMA, {}, {k.d, -Arg(k.r[0]), k.r[1], n});
                     }});
    cases.push_back({"extremum with n", Kind::singles, 1, [=](const At& k) {
                       k(Op::FMNMX, {Tok::kNAN}, {k.d, k.r[0], n, !kAlways});
                     }});
  }
  for (const Tok how :
       {Tok::EQ, Tok::NEU, Tok::LT, Tok::LE, Tok::GT, Tok::GE, Tok::GEU, Tok::LTU, Tok::kNAN, Tok::NUM}) {
    for (const auto& second : std::initializer_list<std::function<Arg(const At&)>>{
             [](const At& k) { return Arg(k.r[1]); }, [](const At&) { return Arg(0.1F); },
             [](const At&) { return Arg(1.5F); }, [](const At&) { return Arg(kZero); }}) {
      cases.push_back({"|a| ? b", Kind::singles, 1, [=](const At& k) {
                         const VPred p = k.b.pred();
                         k.before(Op::FSETP, {how, Tok::AND}, {p, kAlways, magnitude(k.r[0]), second(k), kAlways});
                         k.before(Op::FSETP, {how, Tok::OR}, {p, kAlways, -Arg(k.r[0]), second(k), p});
                         k(Op::SEL, {}, {k.d, kZero, 1, !p});
                       }});
    }
  }
  check_all(cases);
}

TEST(Lowering, Doubles) {
  std::vector<Case> cases = {
      {"a + b", Kind::doubles, 2,
       [](const At& k) {
         k(Op::DADD, {}, {k.d, k.r.pair(0), k.r.pair(2)});
       }},
      {"-a - |b|", Kind::doubles, 2,
       [](const At& k) {
         k(Op::DADD, {}, {k.d, -Arg(k.r.pair(0)), -magnitude(k.r.pair(2))});
       }},
      {"a b", Kind::doubles, 2,
       [](const At& k) {
         k(Op::DMUL, {}, {k.d, k.r.pair(0), k.r.pair(2)});
       }},
      {"-a b", Kind::doubles, 2,
       [](const At& k) {
         k(Op::DMUL, {}, {k.d, -Arg(k.r.pair(0)), k.r.pair(2)});
       }},
      {"a b + c", Kind::doubles, 2,
       [](const At& k) {
         k(Op::DFMA, {}, {k.d, k.r.pair(0), k.r.pair(2), k.r.pair(4)});
       }},
      {"-a b - c", Kind::doubles, 2,
       [](const At& k) {
         k(Op::DFMA, {}, {k.d, -Arg(k.r.pair(0)), k.r.pair(2), -Arg(k.r.pair(4))});
       }},
  };
  for (const double n : {1.0, -0.5, 6755399441055744.0, 0x1.6cb4fp-19, 0x1p-1022}) {
    const i64 bits = std::bit_cast<i64>(n);
    cases.push_back({"a + n", Kind::doubles, 2, [=](const At& k) { k(Op::DADD, {}, {k.d, k.r.pair(0), bits}); }});
    cases.push_back({"a n", Kind::doubles, 2, [=](const At& k) { k(Op::DMUL, {}, {k.d, k.r.pair(0), bits}); }});
    cases.push_back({"a n + c", Kind::doubles, 2, [=](const At& k) {
                       k(Op::DFMA, {}, {k.d, k.r.pair(0), bits, k.r.pair(2)});
                     }});
    cases.push_back({"-a b + n", Kind::doubles, 2, [=](const At& k) {
                       k(Op::DFMA, {}, {k.d, -Arg(k.r.pair(0)), k.r.pair(2), bits});
                     }});
    for (const Tok how : {Tok::EQ, Tok::NEU, Tok::LT, Tok::GE, Tok::LTU}) {
      cases.push_back({"|a| ? n", Kind::doubles, 1, [=](const At& k) {
                         const VPred p = k.b.pred();
                         k.before(Op::DSETP, {how, Tok::AND}, {p, kAlways, magnitude(k.r.pair(0)), Arg(bits), kAlways});
                         k.before(Op::DSETP, {how, Tok::OR}, {p, kAlways, k.r.pair(0), k.r.pair(2), p});
                         k(Op::SEL, {}, {k.d, kZero, 1, !p});
                       }});
    }
  }
  check_all(cases);
}

TEST(Lowering, Conversions) {
  std::vector<Case> cases;
  for (const Tok to : {Tok::U32, Tok::S64, Tok::U64, Tok::kNone}) {
    const unsigned words = to == Tok::S64 || to == Tok::U64 ? 2 : 1;
    if (to == Tok::kNone) {
      cases.push_back({"F2I", Kind::singles, 1, [](const At& k) {
                         k(Op::F2I, {Tok::TRUNC, Tok::NTZ}, {k.d, k.r[0]});
                       }});
      cases.push_back({"F2I.F64", Kind::doubles, 1, [](const At& k) {
                         k(Op::F2I, {Tok::F64, Tok::TRUNC}, {k.d, k.r.pair(0)});
                       }});
      cases.push_back({"I2F.F64", Kind::words, 2, [](const At& k) { k(Op::I2F, {Tok::F64}, {k.d, k.r[0]}); }});
      cases.push_back({"I2FP", Kind::words, 1, [](const At& k) { k(Op::I2FP, {Tok::F32, Tok::S32}, {k.d, k.r[0]}); }});
      continue;
    }
    if (words == 1) {
      cases.push_back({"F2I", Kind::singles, 1, [=](const At& k) {
                         k(Op::F2I, {to, Tok::TRUNC, Tok::NTZ}, {k.d, k.r[0]});
                       }});
      cases.push_back({"I2FP", Kind::words, 1, [=](const At& k) { k(Op::I2FP, {Tok::F32, to}, {k.d, k.r[0]}); }});
      cases.push_back({"I2F.F64", Kind::words, 2, [=](const At& k) { k(Op::I2F, {Tok::F64, to}, {k.d, k.r[0]}); }});
    } else {
      cases.push_back({"F2I", Kind::singles, 2, [=](const At& k) { k(Op::F2I, {to, Tok::TRUNC}, {k.d, k.r[0]}); }});
      cases.push_back({"I2F", Kind::longs, 1, [=](const At& k) { k(Op::I2F, {to}, {k.d, k.r.pair(0)}); }});
      cases.push_back({"I2F.F64", Kind::longs, 2, [=](const At& k) {
                         k(Op::I2F, {Tok::F64, to}, {k.d, k.r.pair(0)});
                       }});
    }
    cases.push_back({"F2I.F64", Kind::doubles, words, [=](const At& k) {
                       k(Op::F2I, {to, Tok::F64, Tok::TRUNC}, {k.d, k.r.pair(0)});
                     }});
  }
  for (const Tok how : {Tok::kNone, Tok::FLOOR, Tok::CEIL, Tok::TRUNC}) {
    cases.push_back({"FRND", Kind::singles, 1, [=](const At& k) {
                       how == Tok::kNone ? k(Op::FRND, {}, {k.d, k.r[0]}) : k(Op::FRND, {how}, {k.d, k.r[0]});
                     }});
    cases.push_back({"FRND.F64", Kind::doubles, 2, [=](const At& k) {
                       const VReg x = k.r.pair(0);
                       how == Tok::kNone ? k(Op::FRND, {Tok::F64}, {k.d, x}) : k(Op::FRND, {Tok::F64, how}, {k.d, x});
                     }});
  }
  cases.push_back({"F2F.F64.F32", Kind::singles, 2, [](const At& k) {
                     k(Op::F2F, {Tok::F64, Tok::F32}, {k.d, magnitude(k.r[0])});
                   }});
  cases.push_back({"F2F.F32.F64", Kind::doubles, 1, [](const At& k) {
                     k(Op::F2F, {Tok::F32, Tok::F64}, {k.d, k.r.pair(0)});
                   }});
  cases.push_back({"F2F.F16.F64", Kind::doubles, 1, [](const At& k) {
                     const VReg h = k.b.reg();
                     k.before(Op::F2F, {Tok::F16, Tok::F64}, {h, k.r.pair(0)});
                     k(Op::HADD2, {Tok::F32}, {k.d, -Arg(kZero), half(h, 0)});
                   }});
  for (const unsigned h : {0U, 1U}) {
    cases.push_back({"half", Kind::words, 1, [=](const At& k) {
                       k(Op::HADD2, {Tok::F32}, {k.d, -Arg(kZero), half(k.r[0], h)});
                     }});
  }
  for (const Tok type : {Tok::F16, Tok::BF16}) {
    const auto pack = [&, type](const char* name, const auto& high, const auto& low) {
      cases.push_back({name, Kind::singles, 1, [=](const At& k) {
                         k(Op::F2FP, {type, Tok::F32, Tok::PACK_AB}, {k.d, high(k), low(k)});
                       }});
    };
    const auto reg0 = [](const At& k) -> Arg { return k.r[0]; };
    const auto reg1 = [](const At& k) -> Arg { return k.r[1]; };
    const auto none = [](const At&) -> Arg { return kZero; };
    pack("pack both", reg0, reg1);
    pack("pack upper", reg0, none);
    pack("pack lower", none, reg0);
  }
  check_all(cases);
}

}  // namespace
}  // namespace nervanagpu::sass::lowering
