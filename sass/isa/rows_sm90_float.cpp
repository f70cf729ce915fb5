// sm_90a: single precision.
#include "sass/isa/enums.h"
#include "sass/isa/rows.h"

namespace nervanagpu::sass {
namespace {

constexpr Enum kFtzFmz[] = {{Tok::kNone, 0}, {Tok::FTZ, 2}, {Tok::FMZ, 1}};

constexpr auto build() {
  RowList<128> t;
  const ImmFormat f32 = ImmFormat::kF32;
  const Mod round{Axis::kRound, bits(78, 2), kRound4};
  const Mod sat = flag<Tok::SAT>(Axis::kSat, 77);
  constexpr Traits fma{.unit = Unit::kFma};
  const Mod ftz{Axis::kFtz, bits(76, 1, 80, 1), kFtzFmz};

  alu(t, row(Op::FFMA, kHopper, {}, {ftz, round, sat}, {gpr(16).def(), src_a().neg(0), src_b(f32).neg(0), src_c(f32).neg(0)}, fma),
      0x023, "2468ace");
  return t;
}

constexpr auto kRows = build();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows_sm90_float() { return kRows.all(); }

}  // namespace nervanagpu::sass
