// What ptxas writes now and then since sm_75: atomics without a descriptor, the program counter of a return, the mask of
// active threads, a sleep that an mbarrier ends, and a DEPBAR that awaits nothing.
#include "sass/isa/enums.h"
#include "sass/isa/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kReturnHalf[] = {{Tok::Rpc_LO, 0}, {Tok::Rpc_HI, 1}};

constexpr Slot kP = pred(87).inv(90).omit(kPT);
constexpr Traits kFlow{.unit = Unit::kBranch};

constexpr void flow(RowList<24>& t) {
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
  t.add(row(Op::DEPBAR, kFromTuring, code128(0x91a), {}, {slot_of(SlotType::kSet, bits(32, 6)).omit(0)},
            {.unit = Unit::kSync}));
}

// clang-format on

constexpr auto build() {
  RowList<24> t;
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
