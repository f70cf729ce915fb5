// Words of 64 bits: branches and the convergence stack, barriers, predicates, special registers.
#include "sass/isa/rows/rowdsl64.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off
constexpr Enum kVote[]    = {{Tok::ALL, 0}, {Tok::ANY, 1}, {Tok::EQ, 2}};
constexpr Enum kRed[]     = {{Tok::RED_POPC, 0}, {Tok::RED_AND, 1}, {Tok::RED_OR, 2}};
constexpr Enum kByte[]    = {{Tok::kNone, 0}, {Tok::B1, 1}, {Tok::B2, 2}, {Tok::B3, 3}};
constexpr Enum kMembar[]  = {{Tok::CTA, 0}, {Tok::GL, 4}, {Tok::SYS, 8}, {Tok::GL_IVALLD, 5}, {Tok::SYS_IVALLD, 9}};

constexpr auto build() {
  RowList<64> t;
  constexpr Traits alu{.unit = Unit::kAlu};
  constexpr Traits branch{.unit = Unit::kBranch, .ends = true, .branch = true};
  constexpr Traits leaves{.unit = Unit::kBranch, .ends = true};
  constexpr Traits pushes{.unit = Unit::kBranch};
  constexpr Traits sync{.unit = Unit::kSync};
  constexpr Traits barrier_sync{.unit = Unit::kSync, .publishes = true, .timing = {.read_queue = ReadQueue::kBarrier}};
  constexpr Traits barrier_read{.unit = Unit::kSync, .ready = Ready::kScoreboard, .timing = {.queue = Queue::kBarrierResult, .read_queue = ReadQueue::kBarrier}};
  constexpr Traits fence{.unit = Unit::kSync, .timing = {.read_queue = ReadQueue::kFence}};
  constexpr Traits special_read{.unit = Unit::kSpecial, .ready = Ready::kScoreboard};
  constexpr Traits clock{.unit = Unit::kSpecial, .timing = {.result = Producer::kClock}};
  constexpr Traits vote{.unit = Unit::kAlu, .timing = {.predicate_source = Consumer::kGuard}};
  constexpr Traits from_predicates{.unit = Unit::kAlu, .timing = {.result = Producer::kPredToVector}};
  constexpr Traits to_predicates{.unit = Unit::kAlu, .timing = {.predicate = Producer::kPredFile}};
  const Slot target = label(bits(20, 24));

  // Where CC and the guard both say so.
  t.add(row(Op::BRA, kMaxwell, top16(0xe240), {flag<Tok::U>(Axis::kUniform, 7)}, {condition(0), target}, branch));
  t.add(row(Op::BRX, kMaxwell, top16(0xe250), {}, {condition(0), gpr(8), imm(bits(20, 24), ImmFormat::kSigned).omit(0).glue()}, leaves));
  t.add(row(Op::JMX, kMaxwell, top16(0xe200), {}, {condition(0), gpr(8), imm(bits(20, 32), ImmFormat::kSigned).omit(0).glue()}, leaves));
  t.add(row(Op::EXIT, kMaxwell, top16(0xe300), {}, {condition(0)}, leaves));
  t.add(row(Op::RET, kMaxwell, top16(0xe320), {}, {condition(0)}, leaves));
  t.add(row(Op::BRK, kMaxwell, top16(0xe340), {}, {condition(0)}, leaves));
  t.add(row(Op::CONT, kMaxwell, top16(0xe350), {}, {condition(0)}, leaves));
  t.add(row(Op::SYNC, kMaxwell, top16(0xf0f8), {}, {condition(0)}, leaves));
  // SSY, PBK, PCNT and PRET push the address where SYNC, BRK, CONT and RET will go; they and CAL have no guard.
  const auto unguarded = [&](Op op, Word fixed, Traits traits) {
    Row r = row(op, kMaxwell, fixed, {}, {target}, traits);
    r.has_guard = false;
    t.add(r);
  };
  unguarded(Op::SSY, top16(0xe290), pushes);
  unguarded(Op::PBK, top16(0xe2a0), pushes);
  unguarded(Op::PCNT, top16(0xe2b0), pushes);
  unguarded(Op::PRET, top16(0xe270, {{6, 1, 1}}), pushes);
  unguarded(Op::CAL, top16(0xe260, {{6, 1, 1}}), branch);
  t.add(row(Op::NOP, kMaxwell, top16(0x50b0, {{8, 5, 15}}), {}, {}, {.unit = Unit::kNone}));
  t.add(row(Op::NOP, kMaxwell, top16(0x50b0, {{13, 1, 1}}), {always<Tok::TRIG>(Axis::kFunction)}, {condition(8), imm(bits(20, 16)).omit(0)}, {.unit = Unit::kNone}));
  // Which lanes run: all of a quad that has one, and those of before again.
  for (const auto& [op, top] : {std::pair{Op::SAM, 0xe370u}, std::pair{Op::RAM, 0xe380u}}) {
    Row mask = row(op, kMaxwell, top16(top), {}, {}, sync);
    mask.has_guard = false;
    t.add(mask);
  }
  Row trap = row(Op::BPT, kMaxwell, top16(0xe3a0, {{6, 2, 3}}), {always<Tok::TRAP>(Axis::kFunction)}, {imm(bits(20, 20)).omit(0)}, leaves);
  trap.has_guard = false;
  t.add(trap);

  // BAR: the barrier and the number of threads are a register or an immediate each; no number means all of the CTA.
  for (unsigned k = 0; k < 4; ++k) {
    const Slot barrier = (k & 2) != 0 ? imm(bits(8, 4)) : gpr(8);
    const Slot count = (k & 1) != 0 ? imm(bits(20, 12)) : gpr(20);
    const Slot maybe = (k & 1) != 0 ? count.omit(0) : count;
    t.add(row(Op::BAR, kMaxwell, top16(0xf0a8, {{43, 2, k}, {39, 3, 7}}), {always<Tok::SYNC>(Axis::kFunction)}, {barrier, maybe}, barrier_sync));
    t.add(row(Op::BAR, kMaxwell, top16(0xf0a8, {{43, 2, k}, {39, 3, 7}, {32, 1, 1}}), {always<Tok::ARV>(Axis::kFunction)}, {barrier, count}, barrier_sync));
    t.add(row(Op::BAR, kMaxwell, top16(0xf0a8, {{43, 2, k}, {33, 1, 1}}), {Mod{Axis::kFunction, bits(35, 2), kRed}}, {barrier, maybe, pred_in()}, barrier_sync));
  }
  // The result of BAR.RED.
  t.add(row(Op::B2R, kMaxwell, top16(0xf0b8, {{32, 1, 1}, {8, 8, 0xff}}), {always<Tok::RESULT>(Axis::kFunction)}, {gpr(0).def(), pred(45).def().omit(kPT)}, barrier_read));
  t.add(row(Op::MEMBAR, kMaxwell, top16(0xef98), {Mod{Axis::kScope, bits(0, 2, 8, 2), kMembar}}, {}, fence));
  t.add(row(Op::DEPBAR, kMaxwell, top16(0xf0f0, {{29, 1, 1}}), {always<Tok::LE>(Axis::kCmp)},
            {slot_of(SlotType::kScoreboard, bits(26, 3)), imm(bits(20, 6)), slot_of(SlotType::kSet, bits(0, 6)).omit(0)}, sync));
  t.add(row(Op::DEPBAR, kMaxwell, top16(0xf0f0), {}, {slot_of(SlotType::kSet, bits(0, 6)).omit(0)}, sync));

  t.add(row(Op::S2R, kMaxwell, top16(0xf0c8), {}, {gpr(0).def(), special(bits(20, 8))}, special_read));
  t.add(row(Op::CS2R, kMaxwell, top16(0x50c8), {}, {gpr(0).def(), special(bits(20, 8))}, clock));

  // Predicates. The first combination is of the first two, the second of their result and the third.
  const Mod first{Axis::kBool, bits(24, 2), kBool64};
  const Mod second{Axis::kLogic, bits(45, 2), kBool64};
  const Mod combine{Axis::kBool, bits(45, 2), kBool64};
  const Mod bf44 = flag<Tok::BF>(Axis::kDstType, 44);
  const Mod test{Axis::kCmp, bits(8, 5), kCcTest};
  const Slot cc = slot_of(SlotType::kCc, {});
  t.add(row(Op::PSETP, kMaxwell, top16(0x5090), {first, second}, {pred(3).def(), pred(0).def(), pred(12).inv(15), pred(29).inv(32), pred_in()}, alu));
  t.add(row(Op::PSET, kMaxwell, top16(0x5088), {bf44, first, second}, {dst_cc(), pred(12).inv(15), pred(29).inv(32), pred_in()}, alu));
  t.add(row(Op::CSETP, kMaxwell, top16(0x50a0), {test, combine}, {pred(3).def(), pred(0).def(), cc, pred_in()}, alu));
  t.add(row(Op::CSET, kMaxwell, top16(0x5098), {bf44, test, combine}, {dst_cc(), cc, pred_in()}, alu));
  t.add(row(Op::VOTE, kMaxwell, top16(0x50d8), {Mod{Axis::kFunction, bits(48, 2), kVote}}, {gpr(0).def().omit(kRZ), pred(45).def(), pred_in()}, vote));
  const Mod byte{Axis::kMode, bits(41, 2), kByte};
  forms64(t, row(Op::P2R, kMaxwell, {}, {byte}, {gpr(0).def(), word("PR"), ra(), rb()}, from_predicates), 0x5ce8, "ric");
  forms64(t, row(Op::P2R, kMaxwell, bit_range(40, 1), {byte}, {gpr(0).def(), cc, ra(), rb()}, from_predicates), 0x5ce8, "ric");
  forms64(t, row(Op::R2P, kMaxwell, {}, {}, {word("PR").def(), ra().part(bits(41, 2), kByte), rb(ImmFormat::kHex)}, to_predicates), 0x5cf0, "ric");
  forms64(t, row(Op::R2P, kMaxwell, bit_range(40, 1), {}, {cc.def(), ra().part(bits(41, 2), kByte), rb(ImmFormat::kHex)}, to_predicates), 0x5cf0, "ric");
  return t;
}
// clang-format on

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows64_control() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
