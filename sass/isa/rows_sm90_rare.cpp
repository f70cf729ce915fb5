// What is rare since sm_75: the program counter of a return, the mask of active threads, convergence barriers from constants,
// jumps to addresses, sums of a quad, a sleep that an mbarrier ends, and a DEPBAR that awaits nothing.
#include "sass/isa/enums.h"
#include "sass/isa/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kDepth[] = {{Tok::kNone, 0}, {Tok::INC, 1}, {Tok::DEC, 2}};
constexpr Enum kReturnHalf[] = {{Tok::Rpc_LO, 0}, {Tok::Rpc_HI, 1}};

constexpr Slot kP = pred(87).inv(90).omit(kPT);
constexpr Traits kFlow{.unit = Unit::kBranch};

constexpr void flow(RowList<48>& t) {
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
  // Sums of a quad's lanes, each with signs of its own: derivatives.
  t.add(row(
      Op::FSWZADD, kFromTuring, code128(0x822),
      {flag<Tok::FTZ>(Axis::kFtz, 80), {Axis::kRound, bits(78, 2), kRound4}, flag<Tok::NDV>(Axis::kDivergent, 77)},
      {gpr(16).def(), gpr(24).reuse(0), gpr(64).reuse(2), imm(bits(32, 8), ImmFormat::kQuad)}, {.unit = Unit::kFma}));
  t.add(row(Op::DEPBAR, kFromTuring, code128(0x91a), {}, {slot_of(SlotType::kSet, bits(32, 6)).omit(0)},
            {.unit = Unit::kSync}));
}

// clang-format on

constexpr auto build() {
  RowList<48> t;
  flow(t);
  return t;
}

constexpr auto kRows = build();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows_sm90_rare() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
