// The builder's kernels are those that the same text makes, are proven by verify, and its mistakes are told.
#include "sass/asm/builder/builder.h"

#include <gtest/gtest.h>

#include <chrono>

#include "sass/asm/pipeline.h"
#include "sass/dis/listing.h"
#include "sass/verify/verify.h"

namespace nervanagpu::sass {
namespace {

constexpr unsigned kTid = 33;

KernelImage built(Builder& b) {
  auto k = b.finish();
  EXPECT_TRUE(k.ok()) << (k.ok() ? "" : k.error().text());
  if (!k.ok()) return {};
  const auto hazards = verify(b.arch(), *k);
  EXPECT_TRUE(hazards.empty()) << hazards[0].text;
  return *k;
}

std::string refused(Builder& b) {
  const auto k = b.finish();
  return k.ok() ? "built" : k.error().message;
}

TEST(Builder, TheSameWordsAsTheText) {
  Builder b(Arch::sm_90a, "axpy");
  b.threads(128);
  const Arg x = b.param("x", ParamType::ptr);
  const Arg alpha = b.param("alpha", ParamType::f32);
  const VReg tid = b.reg();
  const VReg p = b.reg(2);
  const VReg v = b.reg(4);
  const VPred inside = b.pred();
  b.emit(Op::S2R, {}, {tid, special(kTid)});
  b.emit(Op::MOV, {}, {p[0], x});
  b.emit(Op::MOV, {}, {p[1], x.plus(4)});
  b.emit(Op::IMAD_WIDE, {Tok::U32}, {p, tid, 16, p});
  b.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {inside, kAlways, tid, 0x40, kAlways});
  b.emit(Op::EXIT, {}, {}, !inside);
  b.emit(Op::LDG, {Tok::E, Tok::k128}, {v, at(p, 0x100)});
  for (unsigned i = 0; i < 4; ++i) b.emit(Op::FFMA, {}, {v[i], v[i], alpha, -Arg(v[i])});
  b.emit(Op::STG, {Tok::E, Tok::k128}, {at(p), v});
  b.emit(Op::EXIT, {}, {});
  const KernelImage k = built(b);

  Template t;
  t.name = "axpy.sass";
  t.text =
      ".kernel axpy\n.param ptr x\n.param f32 alpha\n.threads 128\n"
      "ULDC.64 UR4, sys[descriptor]\n"
      "S2R R0, SR_TID.X\nMOV R2, param[x]\nMOV R3, param[x+4]\nIMAD.WIDE.U32 R2, R0, 0x10, R2\n"
      "ISETP.LT.U32.AND P0, PT, R0, 0x40, PT\n@!P0 EXIT\nLDG.E.128 R4, desc[UR4][R2.64+0x100]\n"
      "FFMA R4, R4, param[alpha], -R4\nFFMA R5, R5, param[alpha], -R5\n"
      "FFMA R6, R6, param[alpha], -R6\nFFMA R7, R7, param[alpha], -R7\n"
      "STG.E.128 desc[UR4][R2.64], R4\nEXIT\n";
  const auto text = assemble_variant(t, Arch::sm_90a, {});
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_EQ(code_of(Arch::sm_90a, k, false), code_of(Arch::sm_90a, *text, false));
  EXPECT_EQ(k.registers, text->registers);
  EXPECT_EQ(k.params, text->params);
}

// v[i] + 1 in a wide store: moves of values that are still needed as they are stay, others are not made.
TEST(Builder, ValuesAreComputedWhereTheyAreStored) {
  for (const bool changed_later : {false, true}) {
    Builder b(Arch::sm_90a, "store");
    const Arg x = b.param("x", ParamType::ptr);
    const VReg p = b.reg(2), v = b.reg(4), group = b.reg(4);
    for (unsigned k = 0; k < 2; ++k) b.emit(Op::MOV, {}, {p[k], x.plus(4 * k)});
    b.emit(Op::LDG, {Tok::E, Tok::k128}, {v, at(p)});
    VReg sum[4];
    for (VReg& s : sum) s = b.reg();
    for (unsigned k = 0; k < 4; ++k) b.emit(Op::FADD, {}, {sum[k], v[k], 1.0F});
    for (unsigned k = 0; k < 4; ++k) b.emit(Op::MOV, {}, {group[k], sum[k]});
    if (changed_later) b.emit(Op::FADD, {}, {sum[2], sum[2], 1.0F});
    b.emit(Op::STG, {Tok::E, Tok::k128}, {at(p), group});
    if (changed_later) b.emit(Op::STG, {Tok::E}, {at(p, 16), sum[2]});
    b.emit(Op::EXIT, {}, {});
    const std::string text = code_of(Arch::sm_90a, built(b), false);
    std::size_t moves = 0;
    for (std::size_t at = text.find("MOV R"); at != std::string::npos; at = text.find("MOV R", at + 1)) ++moves;
    EXPECT_EQ(moves, changed_later ? 3 : 2) << text;
  }
}

TEST(Builder, ValuesLiveAroundALoop) {
  Builder b(Arch::sm_90a, "loop");
  const VReg count = b.reg();
  const VReg kept = b.reg();
  const VReg sum = b.reg();
  const VPred more = b.pred();
  const VLabel again = b.label();
  b.emit(Op::MOV, {}, {count, 10});
  b.emit(Op::MOV, {}, {kept, 3});
  b.emit(Op::MOV, {}, {sum, kZero});
  b.bind(again);
  const VReg inner = b.reg();  // lives in the loop only: must not take the place of `kept`, which is read before it
  b.emit(Op::IADD3, {}, {sum, sum, kept, kZero});
  b.emit(Op::IMAD, {}, {inner, sum, 5, kZero});
  b.emit(Op::IADD3, {}, {sum, sum, inner, kZero});
  b.emit(Op::IADD3, {}, {count, count, -1, kZero});
  b.emit(Op::ISETP, {Tok::NE, Tok::AND}, {more, kAlways, count, kZero, kAlways});
  b.emit(Op::BRA, {}, {again}, more);
  b.emit(Op::EXIT, {}, {});
  const KernelImage k = built(b);
  EXPECT_EQ(k.registers, 4U + 2U);
}

TEST(Builder, PlacesAreUsedAgain) {
  Builder b(Arch::sm_90a, "chain");
  VReg v = b.reg();
  b.emit(Op::MOV, {}, {v, 1});
  for (int i = 0; i < 300; ++i) {
    const VReg next = b.reg();
    b.emit(Op::IADD3, {}, {next, v, v, kZero});
    v = next;
  }
  b.emit(Op::EXIT, {}, {});
  EXPECT_EQ(built(b).registers, 1U + 2U);
}

TEST(Builder, Mistakes) {
  {
    Builder b(Arch::sm_90a, "k");
    b.emit(Op::FADD, {}, {b.reg(), b.reg(), kZero});
    b.emit(Op::EXIT, {}, {});
    EXPECT_EQ(refused(b), "kernel 'k': virtual register 1 is read before it is written");
  }
  {
    Builder b(Arch::sm_90a, "k");
    b.emit(Op::FADD, {Tok::WT}, {b.reg(), kZero, kZero});
    EXPECT_EQ(refused(b), "kernel 'k': instruction 1: no form of FADD.WT takes these 3 operands");
  }
  {
    Builder b(Arch::sm_90a, "k");
    b.emit(Op::BRA, {}, {b.label()});
    EXPECT_EQ(refused(b), "kernel 'k': label 0 is bound to no instruction");
  }
  {
    Builder b(Arch::sm_90a, "k");
    std::vector<VReg> all;
    for (int i = 0; i < 260; ++i) b.emit(Op::MOV, {}, {all.emplace_back(b.reg()), i});
    for (const VReg v : all) b.emit(Op::IADD3, {}, {v, v, v, kZero});
    b.emit(Op::EXIT, {}, {});
    EXPECT_EQ(refused(b), "kernel 'k': no room for 1 registers at instruction 254: 253 are live, there are 253");
  }
  {
    Builder b(Arch::sm_75, "k");
    EXPECT_EQ(refused(b), "kernel 'k': code cannot be generated for sm_75 yet");
  }
}

// In front of the first instruction that touches memory, or that a thread may not come to; the next grid may start then.
TEST(Builder, WaitsForTheWorkAheadOfAProgrammaticLaunch) {
  const auto listing = [](Arch arch, bool leaves_early) {
    Builder b(arch, "k");
    b.threads(32);
    b.programmatic();
    const Arg x = b.param("x", ParamType::ptr);
    const VReg tid = b.reg();
    const VReg p = b.reg(2);
    const VPred outside = b.pred();
    b.emit(Op::S2R, {}, {tid, special(kTid)});
    b.emit(Op::MOV, {}, {p[0], x});
    b.emit(Op::MOV, {}, {p[1], x.plus(4)});
    b.emit(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {outside, kAlways, tid, 0x9, kAlways});
    if (leaves_early) b.emit(Op::EXIT, {}, {}, outside);
    b.emit(Op::IMAD_WIDE, {Tok::U32}, {p, tid, 4, p});
    b.emit(Op::LDG, {Tok::E}, {tid, at(p)}, !outside);
    b.emit(Op::STG, {Tok::E}, {at(p), tid}, !outside);
    b.emit(Op::EXIT, {}, {});
    const KernelImage k = built(b);
    EXPECT_EQ(k.manifest.programmatic, arch == Arch::sm_90a);
    return code_of(arch, k, false);
  };
  const auto order = [&](bool leaves_early, const char* first) {
    const std::string text = listing(Arch::sm_90a, leaves_early);
    const auto lets = text.find("PREEXIT");
    const auto waits = text.find("ACQBULK");
    const auto then = text.find(first);
    ASSERT_NE(waits, std::string::npos) << text;
    EXPECT_LT(waits, lets);
    EXPECT_LT(lets, then) << text;
    EXPECT_EQ(text.find("ACQBULK", waits + 1), std::string::npos) << text;
    EXPECT_LT(text.find("ISETP"), waits) << text;
  };
  order(false, "LDG");
  order(true, "EXIT;");
  for (const Arch other : {Arch::sm_80, Arch::sm_52})
    EXPECT_EQ(listing(other, true).find("ACQBULK"), std::string::npos);
}

TEST(Builder, PrefetchesBeforeTheWorkAheadHasEnded) {
  for (const Arch arch : {Arch::sm_90a, Arch::sm_80, Arch::sm_52}) {
    Builder b(arch, "k");
    b.threads(32);
    b.programmatic();
    const Arg x = b.param("x", ParamType::ptr);
    const VReg p = b.reg(2), v = b.reg();
    const VPred some = b.pred();
    b.emit(Op::S2R, {}, {v, special(kTid)});
    b.emit(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {some, kAlways, v, 0x8, kAlways});
    b.emit(Op::MOV, {}, {p[0], x});
    b.emit(Op::MOV, {}, {p[1], x.plus(4)});
    b.prefetch(p, 256, some);
    b.emit(Op::LDG, {Tok::E}, {v, at(p)});
    b.emit(Op::STG, {Tok::E}, {at(p), v});
    b.emit(Op::EXIT, {}, {});
    const std::string text = code_of(arch, built(b), false);
    const auto asks = text.find("CCTL.E.PF2 [");
    EXPECT_EQ(asks != std::string::npos, arch == Arch::sm_90a) << text;
    if (arch == Arch::sm_90a) {
      EXPECT_NE(text.find("+0x100]"), std::string::npos) << text;
      EXPECT_LT(asks, text.find("ACQBULK")) << text;
    }
  }
}

TEST(Builder, Fast) {
  using Clock = std::chrono::steady_clock;
  auto best = std::chrono::nanoseconds::max();
  std::size_t size = 0;
  for (int round = 0; round < 50; ++round) {
    const auto start = Clock::now();
    Builder b(Arch::sm_90a, "map");
    const Arg x = b.param("x", ParamType::ptr);
    const VReg p = b.reg(2);
    b.emit(Op::MOV, {}, {p[0], x});
    b.emit(Op::MOV, {}, {p[1], x.plus(4)});
    std::vector<VReg> items;
    for (int u = 0; u < 4; ++u) b.emit(Op::LDG, {Tok::E, Tok::k128}, {items.emplace_back(b.reg(4)), at(p, u * 2048)});
    for (const VReg v : items) {
      for (unsigned step = 0; step < 12; ++step) {
        for (unsigned j = 0; j < 4; ++j) b.emit(Op::FFMA, {}, {v[j], v[j], 1.5F, v[j]});
      }
      b.emit(Op::STG, {Tok::E, Tok::k128}, {at(p), v});
    }
    b.emit(Op::EXIT, {}, {});
    const auto k = b.finish();
    ASSERT_TRUE(k.ok()) << k.error().text();
    const auto bytes = write_cubin({.arch = Arch::sm_90a, .kernels = {*k}});
    ASSERT_TRUE(bytes.ok());
    size = k->code.size();
    best = std::min<std::chrono::nanoseconds>(best, Clock::now() - start);
  }
  // 0.2 ms on two cores of 2020; the bound only catches a stage that has become quadratic.
  EXPECT_GT(size, 200U);
  EXPECT_LT(best, std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace nervanagpu::sass
