// sm_90a: control flow, convergence, barriers, special registers.
#include "sass/isa/enums.h"
#include "sass/isa/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kReduceBar[] = {{Tok::RED_POPC, 0}, {Tok::RED_AND, 1}, {Tok::RED_OR, 2}};
constexpr Enum kMembar[] = {{Tok::SC_CTA, 0},  {Tok::SC_GPU, 2},   {Tok::SC_SYS, 3},
                            {Tok::ALL_CTA, 8}, {Tok::ALL_GPU, 10}, {Tok::ALL_SYS, 11}};
constexpr Enum kClock32[] = {{Tok::k32, 0}};

constexpr Slot kP = pred(87).inv(90).omit(kPT);
constexpr Field kTarget = bits(16, 8, 34, 48);
constexpr Slot kLabel = label(kTarget, 2);
constexpr Traits kBranch{.unit = Unit::kBranch, .ends = true, .branch = true};
constexpr Traits kLeaves{.unit = Unit::kBranch, .ends = true};
constexpr Traits kFlow{.unit = Unit::kBranch};
constexpr Traits kSync{
    .unit = Unit::kSync, .late = true, .publishes = true, .timing = {.read_queue = ReadQueue::kBarrier}};

constexpr void flow(RowList<128>& t) {
  t.add(row(Op::BRA, kHopper, code128(0x947), {flag<Tok::U>(Axis::kUniform, 32)}, {kP, kLabel}, kBranch));
  t.add(row(Op::BRA, kHopper, code128(0x947 | kU, {{33, 1, 1}}), {always<Tok::DIV>(Axis::kUniform)},
            {kP, ugpr(24).inv(30), kLabel}, kBranch));
  t.add(row(Op::BRA, kHopper, code128(0x547 | kU, {{32, 1, 1}}),
            {always<Tok::U>(Axis::kUniform), flag<Tok::ANY>(Axis::kMode, 84)}, {kP, upred(24).inv(27), kLabel},
            kBranch));
  t.add(row(Op::BRX, kHopper, code128(0x949), {},
            {kP, gpr(24).wide(Width::k2), imm(kTarget, ImmFormat::kSigned).scaled(2).omit(0).glue()}, kLeaves));
  const Mod noinc = flag<Tok::NOINC>(Axis::kMode, 86);
  t.add(row(Op::CALL, kHopper, code128(0x944), {always<Tok::REL>(Axis::kWide), noinc}, {kP, kLabel}, kBranch));
  t.add(row(Op::CALL, kHopper, code128(0x344), {always<Tok::REL>(Axis::kWide), noinc},
            {kP, gpr(24).wide(Width::k2), kLabel.glue()}, kLeaves));
  t.add(row(Op::CALL, kFromTuring, code128(0x343), {always<Tok::ABS>(Axis::kWide), noinc},
            {kP, gpr(24).wide(Width::k2)}, kLeaves));
  t.add(row(Op::RET, kHopper, code128(0x950), {always<Tok::REL>(Axis::kWide), flag<Tok::NODEC>(Axis::kMode, 86)},
            {kP, gpr(24).wide(Width::k2), kLabel.glue()}, kLeaves));
  t.add(row(Op::RET, kHopper, code128(0x950, {{85, 1, 1}}),
            {always<Tok::ABS>(Axis::kWide), flag<Tok::NODEC>(Axis::kMode, 86)},
            {kP, gpr(24).wide(Width::k2), imm(kTarget, ImmFormat::kSigned).scaled(2).glue()}, kLeaves));
  t.add(row(Op::LEPC, kHopper, code128(0x94e), {}, {gpr(16).def().wide(Width::k2), label(bits(24, 58))},
            {.unit = Unit::kBranch, .write_sb = true}));
  t.add(row(Op::EXIT, kFromTuring, code128(0x94d), {}, {kP}, kLeaves));
  t.add(row(Op::BSSY, kFromTuring, code128(0x945), {}, {kP, breg(16).def(), label(bits(34, 30), 2)}, kFlow));
  t.add(row(Op::BSYNC, kFromTuring, code128(0x941), {}, {kP, breg(16)}, kFlow));
  t.add(row(Op::BREAK, kFromTuring, code128(0x942), {}, {kP, breg(16).both()}, kFlow));
  constexpr Traits move{.unit = Unit::kBranch, .late = true, .write_sb = true};
  const Mod b32 = always<Tok::k32>(Axis::kSize);
  t.add(row(Op::BMOV, kFromTuring, code128(0x355), {b32, flag<Tok::CLEAR>(Axis::kMode, 84)}, {gpr(16).def(), breg(24)},
            {.unit = Unit::kBranch, .ready = Ready::kScoreboard}));
  t.add(row(Op::BMOV, kFromTuring, code128(0x356), {b32, flag<Tok::PQUAD>(Axis::kMode, 84)},
            {breg(24).def(), gpr(32).read_late()}, move));
  t.add(row(Op::WARPSYNC, kHopper, code128(0x348), {flag<Tok::EXCLUSIVE>(Axis::kMode, 85)}, {kP, gpr(24)}, kFlow));
  t.add(row(Op::WARPSYNC, kHopper, code128(0x348, {{86, 1, 1}}), {always<Tok::COLLECTIVE>(Axis::kMode)},
            {kP, gpr(24), kLabel}, kFlow));
  t.add(row(Op::WARPSYNC, kHopper, code128(0x948), {always<Tok::ALL>(Axis::kMode)}, {kP}, kFlow));
  t.add(row(Op::ENDCOLLECTIVE, kHopper, code128(0x91b), {}, {kP}, kFlow));
  t.add(row(Op::NANOSLEEP, kFromTuring, code128(0x35d), {}, {kP, gpr(32)}, kFlow));
  t.add(row(Op::NANOSLEEP, kFromTuring, code128(0x95d), {}, {kP, imm(bits(32, 32))}, kFlow));
  t.add(row(Op::YIELD, kFromTuring, code128(0x946), {}, {kP}, kFlow));
  t.add(row(Op::BPT, kFromTuring, code128(0x95c, {{84, 2, 3}}), {always<Tok::TRAP>(Axis::kMode)},
            {imm(bits(34, 3)).omit(0)}, kLeaves));
  t.add(row(Op::NOP, kFromTuring, code128(0x918), {}, {}, {.unit = Unit::kNone}));
}

constexpr void sync(RowList<128>& t) {
  const Mod defer = flag<Tok::DEFER_BLOCKING>(Axis::kDefer, 80);
  const Mod red{Axis::kFunction, bits(74, 2), kReduceBar};
  const Slot id = imm(bits(54, 4));
  const Slot threads = imm(bits(42, 12));
  const Slot p = pred(87).inv(90);
  const Mod arrive_wait = always<Tok::SYNC>(Axis::kFunction);
  const Mod arrive = always<Tok::ARV>(Axis::kFunction);
  t.add(row(Op::BAR, kFromTuring, code128(0xb1d), {arrive_wait, defer}, {id, threads.omit(0)}, kSync));
  t.add(row(Op::BAR, kFromTuring, code128(0x51d), {arrive_wait, defer}, {gpr(32).read_late(), threads.omit(0)}, kSync));
  // A count in RZ would print as no count.
  Row counted = row(Op::BAR, kFromTuring, code128(0x91d), {arrive_wait, defer}, {id, gpr(32).read_late()}, kSync);
  counted.never = bits(32, 8).mask();
  t.add(counted);
  t.add(row(Op::BAR, kFromTuring, code128(0xb1d, {{77, 1, 1}}), {arrive}, {id, threads}, kSync));
  t.add(row(Op::BAR, kFromTuring, code128(0x51d, {{77, 1, 1}}), {arrive}, {gpr(32).read_late(), threads}, kSync));
  t.add(row(Op::BAR, kFromTuring, code128(0x91d, {{77, 1, 1}}), {arrive}, {id, gpr(32).read_late()}, kSync));
  t.add(row(Op::BAR, kFromTuring, code128(0xb1d, {{78, 1, 1}}), {red, defer}, {id, threads.omit(0), p}, kSync));
  t.add(row(Op::BAR, kFromTuring, code128(0x51d, {{78, 1, 1}}), {red, defer}, {gpr(32).read_late(), threads.omit(0), p},
            kSync));
  counted = row(Op::BAR, kFromTuring, code128(0x91d, {{78, 1, 1}}), {red, defer}, {id, gpr(32).read_late(), p}, kSync);
  counted.never = bits(32, 8).mask();
  t.add(counted);
  t.add(row(Op::MEMBAR, kFromTuring, code128(0x992), {{Axis::kScope, bits(76, 5), kMembar}}, {},
            {.unit = Unit::kSync, .write_sb = true, .timing = {.read_queue = ReadQueue::kFence}}));
  t.add(row(Op::B2R, kFromTuring, code128(0x31c, {{78, 1, 1}}), {always<Tok::RESULT>(Axis::kFunction)},
            {gpr(16).def(), pred(81).def().omit(kPT)},
            {.unit = Unit::kSync,
             .ready = Ready::kScoreboard,
             .timing = {.queue = Queue::kBarrierResult, .read_queue = ReadQueue::kBarrier}}));
  t.add(row(Op::CGAERRBAR, kHopper, code128(0x5ab), {}, {}, {.unit = Unit::kSync}));
  t.add(row(Op::ERRBAR, kFromTuring, code128(0x9ab), {}, {}, {.unit = Unit::kSync}));
  t.add(
      row(Op::DEPBAR, kFromTuring, code128(0x91a, {{47, 1, 1}}), {always<Tok::LE>(Axis::kCmp)},
          {slot_of(SlotType::kScoreboard, bits(44, 3)), imm(bits(38, 6)), slot_of(SlotType::kSet, bits(32, 6)).omit(0)},
          {.unit = Unit::kSync}));
}

constexpr void special_registers(RowList<128>& t) {
  constexpr Traits slow{.unit = Unit::kSpecial, .ready = Ready::kScoreboard};
  constexpr Traits slow_uniform{
      .unit = Unit::kSpecial, .ready = Ready::kScoreboard, .timing = {.queue = Queue::kUniformSpecial}};
  constexpr Traits clock{.unit = Unit::kSpecial, .timing = {.result = Producer::kClock}};
  const Slot sr = special(bits(72, 8));
  t.add(row(Op::S2R, kFromTuring, code128(0x919), {}, {gpr(16).def(), sr}, slow));
  Row s2ur = row(Op::S2UR, kFromTuring, code128(0x9c3), {}, {ugpr(16).def(), sr}, slow_uniform);
  s2ur.uniform_guard = true;
  t.add(s2ur);
  t.add(row(Op::CS2R, kFromTuring, code128(0x805, {{80, 1, 1}}), {}, {gpr(16).def().wide(Width::k2), sr}, clock));
  t.add(row(Op::CS2R, kFromTuring, code128(0x805), {{Axis::kSize, {}, kClock32}}, {gpr(16).def(), sr}, clock));
}

// clang-format on

constexpr auto build() {
  RowList<128> t;
  flow(t);
  sync(t);
  special_registers(t);
  return t;
}

constexpr auto kRows = build();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows_sm90_control() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
