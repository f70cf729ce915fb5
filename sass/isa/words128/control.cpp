// Words of 128 bits: control flow, convergence, barriers, special registers.
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kReduceBar[] = {{Tok::RED_POPC, 0}, {Tok::RED_AND, 1}, {Tok::RED_OR, 2}};
constexpr Enum kMembar[] = {{Tok::SC_CTA, 0},  {Tok::SC_GPU, 2},   {Tok::SC_SYS, 3},
                            {Tok::ALL_CTA, 8}, {Tok::ALL_GPU, 10}, {Tok::ALL_SYS, 11}};
constexpr Enum kClock32[] = {{Tok::k32, 0}};
constexpr Enum kDepth[] = {{Tok::kNone, 0}, {Tok::INC, 1}, {Tok::DEC, 2}};
constexpr Enum kReturnHalf[] = {{Tok::Rpc_LO, 0}, {Tok::Rpc_HI, 1}};

constexpr Slot kP = pred(87).inv(90).omit(kPT);
constexpr Field kTarget = bits(16, 8, 34, 48);
constexpr Slot kLabel = label(kTarget, 2);
constexpr Traits kBranch{.unit = Unit::kBranch, .ends = true, .branch = true};
constexpr Traits kLeaves{.unit = Unit::kBranch, .ends = true};
constexpr Traits kFlow{.unit = Unit::kBranch};
constexpr Traits kSync{
    .unit = Unit::kSync, .late = true, .publishes = true, .timing = {.read_queue = ReadQueue::kBarrier}};

constexpr void flow(RowList<256>& t) {
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

constexpr void sync(RowList<256>& t) {
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

constexpr void special_registers(RowList<256>& t) {
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

// Barriers whose number and threads are in one register, and calls.
constexpr void by_registers(RowList<256>& t) {
  const Slot predicate = pred(87).inv(90);
  const Mod defer = flag<Tok::DEFER_BLOCKING>(Axis::kDefer, 80);
  const Slot both = gpr(32).read_late();  // barrier in the low half of the register, threads in the high one
  t.add(row(Op::BAR, kFromTuring, code128(0x31d), {always<Tok::SYNC>(Axis::kFunction), defer}, {both, same_as_first()},
            kSync));
  t.add(row(Op::BAR, kFromTuring, code128(0x31d, {{77, 1, 1}}), {always<Tok::ARV>(Axis::kFunction)},
            {both, same_as_first()}, kSync));
  t.add(row(Op::BAR, kFromTuring, code128(0x31d, {{78, 1, 1}}), {{Axis::kFunction, bits(74, 2), kReduceBar}, defer},
            {both, same_as_first(), predicate}, kSync));
  t.add(row(Op::WARPSYNC, kHopper, code128(0x948, {{86, 1, 1}}),
            {always<Tok::COLLECTIVE>(Axis::kMode), always<Tok::ALL>(Axis::kMode2)}, {kP, label(kTarget, 2)},
            {.unit = Unit::kBranch}));
  t.add(row(Op::CALL, kHopper, code128(0x943), {always<Tok::ABS>(Axis::kWide), flag<Tok::NOINC>(Axis::kMode, 86)},
            {kP, imm(bits(16, 8, 34, 47)).scaled(2)}, {.unit = Unit::kBranch, .ends = true}));
}

// The program counter of a return, the mask of active threads, convergence barriers from elsewhere than a register.
constexpr void rare(RowList<256>& t) {
  const Mod b32 = always<Tok::k32>(Axis::kSize);
  const Slot half = token(bits(31, 1), kReturnHalf);
  t.add(row(Op::RPCMOV, kHopper, code128(0x352), {b32}, {half, gpr(32)}, kFlow));
  t.add(row(Op::RPCMOV, kHopper, code128(0x353), {b32}, {gpr(16).def(), half}, kFlow));
  t.add(row(Op::BMOV, kFromTuring, code128(0xf55, {{24, 8, 26}}), {b32}, {breg(16).def(), word("MACTIVE")}, kFlow));
  t.add(row(Op::BMOV, kFromTuring, code128(0xf56, {{24, 8, 26}}), {b32, flag<Tok::PQUAD>(Axis::kMode, 84)},
            {word("MACTIVE"), breg(16)}, kFlow));
  const Mod syncs = always<Tok::SYNCS>(Axis::kMode);
  t.add(row(Op::NANOSLEEP, kHopper, code128(0x35d, {{84, 1, 1}}), {syncs}, {kP, gpr(32)}, kFlow));
  t.add(row(Op::NANOSLEEP, kHopper, code128(0x95d, {{84, 1, 1}}), {syncs}, {kP, imm(bits(32, 32))}, kFlow));
  // Convergence barriers from elsewhere than a register, and where a thread goes on when it exits.
  const Slot barrier = breg(24).def();
  const Mod quad = flag<Tok::PQUAD>(Axis::kMode, 84);
  const Slot constant32 = constant(bits(40, 14), 2, bits(54, 5)).negative();
  t.add(row(Op::BMOV, kFromTuring, code128(0x956), {b32, quad}, {barrier, imm(bits(32, 32))}, kFlow));
  t.add(row(Op::BMOV, kFromTuring, code128(0xb56), {b32, quad}, {barrier, constant32}, kFlow));
  t.add(row(Op::BMOV, kHopper, code128(0xb56 | kU), {b32, quad}, {barrier, bindless()}, kFlow));
  t.add(row(Op::BMOV, kHopper, code128(0xd56 | kU), {b32, quad}, {barrier, ugpr(32)}, kFlow));
  const Mod b64 = always<Tok::k64>(Axis::kSize);
  const Slot at_exit = word("ATEXIT_PC");
  t.add(row(Op::BMOV, kHopper, code128(0x357), {b64}, {at_exit, gpr(32).wide(Width::k2)}, kFlow));
  t.add(row(Op::BMOV, kHopper, code128(0x957), {b64}, {at_exit, imm(bits(16, 8, 34, 47)).scaled(2)}, kFlow));
  t.add(row(Op::BMOV, kHopper, code128(0xb57), {b64}, {at_exit, constant32}, kFlow));
  t.add(row(Op::BMOV, kHopper, code128(0xb57 | kU), {b64}, {at_exit, bindless()}, kFlow));
  t.add(row(Op::BMOV, kHopper, code128(0xd57 | kU), {b64}, {at_exit, ugpr(32).wide(Width::k2)}, kFlow));
  // To an address: the program counter is the register, plus a number.
  t.add(row(Op::JMX, kHopper, code128(0x94c), {{Axis::kMode, bits(85, 2), kDepth}},
            {kP, gpr(24).wide(Width::k2), imm(bits(16, 8, 34, 48), ImmFormat::kSigned).scaled(2).omit(0).glue()},
            {.unit = Unit::kBranch, .ends = true}));
  // Counts for a profiler.
  t.add(row(Op::PMTRIG, kFromTuring, code128(0x801), {}, {kP, imm(bits(32, 16))}, kFlow));
  t.add(row(Op::DEPBAR, kFromTuring, code128(0x91a), {}, {slot_of(SlotType::kSet, bits(32, 6)).omit(0)},
            {.unit = Unit::kSync}));
}

// sm_75 .. sm_89: targets lie elsewhere in the word.
constexpr void older_flow(RowList<256>& t) {
  constexpr Field target = bits(34, 48);
  const Slot to = label(target, 2);
  constexpr ArchMask k = kTuringToAda;
  t.add(row(Op::BRA, k, code128(0x947), {flag<Tok::U>(Axis::kUniform, 32)}, {kP, to}, kBranch));
  t.add(row(Op::BRA, kAmpere, code128(0x947 | kU, {{33, 1, 1}}), {always<Tok::DIV>(Axis::kUniform)},
            {kP, ugpr(24).inv(30), to}, kBranch));
  t.add(row(Op::BRA, kAmpere, code128(0x547 | kU, {{32, 1, 1}}), {always<Tok::U>(Axis::kUniform)},
            {kP, upred(24).inv(27), to}, kBranch));
  t.add(row(Op::BRX, k, code128(0x949), {},
            {kP, gpr(24).wide(Width::k2), imm(target, ImmFormat::kSigned).scaled(2).omit(0).glue()}, kLeaves));
  const Mod noinc = flag<Tok::NOINC>(Axis::kMode, 86);
  t.add(row(Op::CALL, k, code128(0x944), {always<Tok::REL>(Axis::kWide), noinc}, {kP, to}, kBranch));
  t.add(row(Op::CALL, k, code128(0x344), {always<Tok::REL>(Axis::kWide), noinc},
            {kP, gpr(24).wide(Width::k2), to.glue()}, kLeaves));
  t.add(row(Op::CALL, k, code128(0x943), {always<Tok::ABS>(Axis::kWide), noinc}, {kP, imm(bits(34, 47)).scaled(2)},
            kLeaves));
  t.add(row(Op::RET, k, code128(0x950), {always<Tok::REL>(Axis::kWide), flag<Tok::NODEC>(Axis::kMode, 86)},
            {kP, gpr(24).wide(Width::k2), to.glue()}, kLeaves));
  t.add(row(Op::RET, k, code128(0x950, {{85, 1, 1}}),
            {always<Tok::ABS>(Axis::kWide), flag<Tok::NODEC>(Axis::kMode, 86)},
            {kP, gpr(24).wide(Width::k2), imm(target, ImmFormat::kSigned).scaled(2).glue()}, kLeaves));
  t.add(row(Op::WARPSYNC, kTuring, code128(0x348), {}, {kP, gpr(32)}, kFlow));
  t.add(row(Op::WARPSYNC, kAmpere, code128(0x348), {flag<Tok::EXCLUSIVE>(Axis::kMode, 86)}, {kP, gpr(32)}, kFlow));
  t.add(row(Op::BRA, k, code128(0x947, {{33, 1, 1}}), {always<Tok::DIV>(Axis::kUniform)}, {kP, to}, kBranch));
  t.add(row(Op::BRA, kTuring, code128(0x947, {{32, 2, 3}}), {always<Tok::CONV>(Axis::kUniform)}, {kP, to}, kBranch));
  t.add(row(Op::BRA, kAmpere, code128(0x947 | kU, {{32, 2, 3}}), {always<Tok::CONV>(Axis::kUniform)},
            {kP, ugpr(24).inv(30), to}, kBranch));
  t.add(
      row(Op::LEPC, k, code128(0x34e), {}, {gpr(16).def().wide(Width::k2)}, {.unit = Unit::kBranch, .write_sb = true}));
  t.add(row(Op::NANOSLEEP, k, code128(0x95d, {{85, 1, 1}}), {always<Tok::WARP>(Axis::kMode)}, {kP, imm(bits(32, 32))},
            kFlow));
  t.add(row(Op::WARPSYNC, k, code128(0x948), {}, {kP, imm(bits(32, 32))}, kFlow));
  const Slot number = constant(bits(40, 14), 2, bits(54, 5)).negative();
  t.add(row(Op::WARPSYNC, k, code128(0xb48), {}, {kP, number}, kFlow));
  t.add(row(Op::NANOSLEEP, k, code128(0x35d, {{85, 1, 1}}), {always<Tok::WARP>(Axis::kMode)}, {kP, gpr(32)}, kFlow));
  t.add(row(Op::NANOSLEEP, k, code128(0xb5d), {flag<Tok::WARP>(Axis::kMode, 85)}, {kP, number}, kFlow));
}

// clang-format on

constexpr auto build() {
  RowList<256> t;
  flow(t);
  sync(t);
  special_registers(t);
  by_registers(t);
  rare(t);
  older_flow(t);
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_control() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
