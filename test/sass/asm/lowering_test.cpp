// What the builder's lowering for sm_52 knows of a program as a whole, what it costs, and what it refuses.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sass/dis/listing.h"
#include "sass/verify/verify.h"
#include "test/sass/asm/lowering_harness.h"

namespace nervanagpu::sass::lowering {
namespace {

// A register that a loop changes is no number, though the code before the loop writes one.
TEST(Lowering, NumbersThatChange) {
  const Case power{"a 3^5", Kind::words, 1,
                   [](const At& k) {
                     const VReg n = k.b.reg(), d = k.b.reg(), left = k.b.reg();
                     const VPred more = k.b.pred();
                     const VLabel again = k.b.label();
                     k.before(Op::MOV, {}, {n, 3});
                     k.before(Op::MOV, {}, {left, 2});
                     k.before(Op::MOV, {}, {d, k.r[0]});
                     k.b.bind(again);
                     k.before(Op::IMAD, {}, {d, d, n, kZero});
                     k.before(Op::IMAD, {}, {n, n, 27, kZero});  // then by 81
                     k.before(Op::IADD3, {}, {left, left, -1, kZero});
                     k.before(Op::ISETP, {Tok::NE, Tok::AND}, {more, kAlways, left, kZero, kAlways});
                     k.before(Op::BRA, {}, {again}, more);
                     k(Op::MOV, {}, {k.d, d});
                   },
                   [](const Row& r, u64) { return low(static_cast<i64>(u64{r[0]} * 243)); }};
  check_all({&power, 1});
}

// A carry from before a loop is not what the last sum of its body left.
TEST(Lowering, CarriesFromBeforeALoop) {
  const Case twice{"a + 2 carry(a + b)", Kind::words, 1,
                   [](const At& k) {
                     const VReg d = k.b.reg(), left = k.b.reg(), t = k.b.reg();
                     const VPred carry = k.b.pred(), other = k.b.pred(), more = k.b.pred();
                     const VLabel again = k.b.label();
                     k.before(Op::MOV, {}, {left, 2});
                     k.before(Op::MOV, {}, {d, k.r[0]});
                     k.before(Op::IADD3, {}, {t, carry, k.r[0], k.r[1], kZero});
                     k.b.bind(again);
                     k.before(Op::IADD3, {Tok::X}, {d, d, kZero, kZero, carry, !kAlways});
                     k.before(Op::IADD3, {}, {t, other, k.r[2], k.r[3], kZero});
                     k.before(Op::IADD3, {Tok::X}, {t, t, kZero, kZero, other, !kAlways});
                     k.before(Op::IADD3, {}, {left, left, -1, kZero});
                     k.before(Op::ISETP, {Tok::NE, Tok::AND}, {more, kAlways, left, kZero, kAlways});
                     k.before(Op::BRA, {}, {again}, more);
                     k(Op::MOV, {}, {k.d, d});
                   },
                   [](const Row& r, u64) { return low(i64{r[0]} + (u64{r[0]} + r[1] > 0xffffffff ? 2 : 0)); }};
  check_all({&twice, 1});
}

std::string code_for(const std::function<void(Builder&)>& body) {
  Builder b(Arch::sm_52, "k");
  body(b);
  b.emit(Op::EXIT, {}, {});
  const auto k = b.finish();
  EXPECT_TRUE(k.ok()) << (k.ok() ? "" : k.error().text());
  return k.ok() ? code_of(Arch::sm_52, *k, false) : "";
}
std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

// The address of an element: three instructions, and no register for the size.
TEST(Lowering, AddressesAreShifts) {
  const std::string text = code_for([](Builder& b) {
    const Arg p = b.param("p", ParamType::ptr);
    const VReg i = b.reg(), size = b.reg(), to = b.reg(2);
    b.emit(Op::S2R, {}, {i, special(kTid)});
    b.emit(Op::MOV, {}, {size, 16});
    b.emit(Op::IMAD_WIDE, {Tok::U32}, {to, i, size, p});
    b.emit(Op::STG, {Tok::E}, {at(to), i});
  });
  EXPECT_EQ(count_of(text, "SHR.U32"), 1U) << text;
  EXPECT_EQ(count_of(text, "ISCADD"), 1U) << text;
  EXPECT_EQ(count_of(text, "IADD.X"), 1U) << text;
  EXPECT_EQ(count_of(text, "MOV"), 0U) << text;
}

// Neighbours share a long number; a label ends that.
TEST(Lowering, NumbersAreShared) {
  const auto steps = [](Builder& b, bool apart) {
    const Arg p = b.param("p", ParamType::ptr);
    const VReg to = b.reg(2), x = b.reg();
    for (unsigned k = 0; k < 2; ++k) b.emit(Op::MOV, {}, {to[k], p.plus(4 * k)});
    b.emit(Op::LDG, {Tok::E}, {x, at(to)});
    for (int i = 0; i < 6; ++i) {
      if (apart) b.bind(b.label());
      b.emit(Op::FFMA, {}, {x, x, x, 0.1F});
    }
    b.emit(Op::STG, {Tok::E}, {at(to), x});
  };
  EXPECT_EQ(count_of(code_for([&](Builder& b) { steps(b, false); }), "MOV32I"), 1U);
  EXPECT_EQ(count_of(code_for([&](Builder& b) { steps(b, true); }), "MOV32I"), 6U);
}

// Chips of one family have the same instructions, nearly; what is read when differs.
TEST(Lowering, AllChips) {
  for (const Arch arch : {Arch::sm_50, Arch::sm_52, Arch::sm_53, Arch::sm_60, Arch::sm_61, Arch::sm_62, Arch::sm_80,
                          Arch::sm_86, Arch::sm_89}) {
    Builder b(arch, "k");
    const Arg p = b.param("p", ParamType::ptr);
    const VReg tid = b.reg(), to = b.reg(2), x = b.reg(2), half_word = b.reg();
    const VPred less = b.pred();
    b.emit(Op::S2R, {}, {tid, special(kTid)});
    b.emit(Op::IMAD_WIDE, {}, {to, tid, tid, p});
    b.emit(Op::LDG, {Tok::E, Tok::k64}, {x, at(to)});
    b.emit(Op::DFMA, {}, {x, x, x, x});
    b.emit(Op::DSETP, {Tok::LT, Tok::AND}, {less, kAlways, x, x, kAlways});
    b.emit(Op::I2F, {Tok::F64}, {x, tid}, less);
    b.emit(Op::F2F, {Tok::F32, Tok::F64}, {half_word, x});
    b.emit(Op::MUFU, {Tok::RSQ}, {half_word, half_word});
    b.emit(Op::F2FP, {Tok::F16, Tok::F32, Tok::PACK_AB}, {half_word, half_word, half_word});
    b.emit(Op::I2FP, {Tok::F32, Tok::U32}, {half_word, half_word});
    b.emit(Op::F2FP, {Tok::BF16, Tok::F32, Tok::PACK_AB}, {half_word, half_word, kZero});
    b.emit(Op::VIMNMX, {Tok::U32}, {half_word, half_word, tid, kAlways});
    b.emit(Op::REDG, {Tok::E, Tok::MAX, Tok::S32}, {at(to, 4), half_word});
    b.emit(Op::STG, {Tok::E}, {at(to), half_word});
    b.emit(Op::EXIT, {}, {});
    const auto k = b.finish();
    ASSERT_TRUE(k.ok()) << k.error().text();
    const auto hazards = verify(arch, *k);
    EXPECT_TRUE(hazards.empty()) << hazards[0].text;
  }
}

TEST(Lowering, Refusals) {
  const auto refused = [](const std::function<void(Builder&)>& body) {
    Builder b(Arch::sm_52, "k");
    body(b);
    b.emit(Op::EXIT, {}, {});
    const auto k = b.finish();
    return k.ok() ? "built" : k.error().message;
  };
  EXPECT_EQ(refused([](Builder& b) { b.emit(Op::UCGABAR_ARV, {}, {}); }),
            "kernel 'k': instruction 0: UCGABAR_ARV is not known on sm_52");
  EXPECT_EQ(refused([](Builder& b) {
              b.emit(Op::F2I, {Tok::TRUNC}, {b.reg(), kZero});
            }),
            "kernel 'k': instruction 0: F2I.TRUNC does not treat NaN as it is asked to on sm_52");
  EXPECT_EQ(refused([](Builder& b) {
              b.emit(Op::IADD3, {}, {b.reg(), b.pred(), kZero, 1, b.reg()});
            }),
            "kernel 'k': virtual register 2 is read before it is written");
}

}  // namespace
}  // namespace nervanagpu::sass::lowering
