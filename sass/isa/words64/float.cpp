// Words of 64 bits: single and double precision, MUFU and its range reduction.
#include "sass/isa/rows/rowdsl64.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off
constexpr Enum kScale[]  = {{Tok::kNone, 0}, {Tok::D2, 1}, {Tok::D4, 2}, {Tok::D8, 3}, {Tok::M8, 4}, {Tok::M4, 5}, {Tok::M2, 6}};
constexpr Enum kMufu[]   = {{Tok::COS, 0}, {Tok::SIN, 1}, {Tok::EX2, 2}, {Tok::LG2, 3}, {Tok::RCP, 4}, {Tok::RSQ, 5}, {Tok::RCP64H, 6}, {Tok::RSQ64H, 7}, {Tok::SQRT, 8}};
constexpr Enum kReduce[] = {{Tok::SINCOS, 0}, {Tok::EX2, 1}};
// FCMP writes nothing for GT.
constexpr Enum kCmpSelect[] = {{Tok::F, 0},    {Tok::LT, 1},  {Tok::EQ, 2},   {Tok::LE, 3},   {Tok::kNone, 4}, {Tok::NE, 5},   {Tok::GE, 6},   {Tok::NUM, 7},
                               {Tok::kNAN, 8}, {Tok::LTU, 9}, {Tok::EQU, 10}, {Tok::LEU, 11}, {Tok::GTU, 12},  {Tok::NEU, 13}, {Tok::GEU, 14}, {Tok::T, 15}};

constexpr auto build() {
  RowList<128> t;
  constexpr ImmFormat f32 = ImmFormat::kF32;
  constexpr ImmFormat f64 = ImmFormat::kF64;
  constexpr Traits fma{.unit = Unit::kFma};
  constexpr Traits alu{.unit = Unit::kAlu};
  constexpr Traits xu{.unit = Unit::kXu, .ready = Ready::kScoreboard, .late = true};
  constexpr Traits fp64{.unit = Unit::kDouble, .ready = Ready::kScoreboard, .late = true};

  const Mod ftz44 = flag<Tok::FTZ>(Axis::kFtz, 44);
  const Mod ftz47 = flag<Tok::FTZ>(Axis::kFtz, 47);
  const Mod sat50 = flag<Tok::SAT>(Axis::kSat, 50);
  const Mod sat55 = flag<Tok::SAT>(Axis::kSat, 55);
  const Mod ftz53{Axis::kFtz, bits(53, 2), kFtz64};
  const Mod round39{Axis::kRound, bits(39, 2), kRound64};
  const Mod round50{Axis::kRound, bits(50, 2), kRound64};
  const Mod round51{Axis::kRound, bits(51, 2), kRound64};
  const Mod cmp{Axis::kCmp, bits(48, 4), kCmpFloat64};
  const Mod combine{Axis::kBool, bits(45, 2), kBool64};
  const Mod bf52 = flag<Tok::BF>(Axis::kDstType, 52);

  forms64(t, row(Op::FFMA, kMaxwell, {}, {ftz53, round51, sat50}, {dst_cc(), ra(), rb(f32).neg(48), rc().neg(49)}, fma), 0x5980, "ricx");
  forms64(t, row(Op::FADD, kMaxwell, {}, {ftz44, round39, sat50}, {dst_cc(), ra().neg(48).abs(46), rb(f32).neg(45).abs(49).reuse(2)}, fma), 0x5c58, "ric");
  forms64(t, row(Op::FMUL, kMaxwell, {}, {Mod{Axis::kFtz, bits(44, 2), kFtz64}, Mod{Axis::kScale, bits(41, 3), kScale}, round39, sat50},
                 {dst_cc(), ra(), rb(f32).neg(48)}, fma), 0x5c68, "ric");
  t.add(row(Op::FFMA32I, kMaxwell, top16(0x0c00), {ftz53, sat55}, {dst_cc(52), ra().neg(56), imm32(f32), same_as_first().neg(57).reuse(2)}, fma));
  t.add(row(Op::FADD32I, kMaxwell, top16(0x0800), {flag<Tok::FTZ>(Axis::kFtz, 55)}, {dst_cc(52), ra().neg(56).abs(54), imm32(f32).neg(53).abs(57)}, fma));
  t.add(row(Op::FMUL32I, kMaxwell, top16(0x1e00), {ftz53, sat55}, {dst_cc(52), ra(), imm32(f32)}, fma));
  forms64(t, row(Op::FMNMX, kMaxwell, {}, {ftz44}, {dst_cc(), ra().neg(48).abs(46), rb(f32).neg(45).abs(49), pred_in()}, alu), 0x5c60, "ric");
  forms64(t, row(Op::FSETP, kMaxwell, {}, {cmp, ftz47, combine},
                 {pred(3).def(), pred(0).def(), ra().neg(43).abs(7), rb(f32).neg(6).abs(44), pred_in()}, alu), 0x5bb0, "ric");
  forms64(t, row(Op::FSET, kMaxwell, {}, {bf52, cmp, flag<Tok::FTZ>(Axis::kFtz, 55), combine},
                 {dst_cc(), ra().neg(43).abs(54), rb(f32).neg(53).abs(44), pred_in()}, alu), 0x5800, "ric");
  forms64(t, row(Op::FCMP, kMaxwell, {}, {Mod{Axis::kCmp, bits(48, 4), kCmpSelect}, ftz47}, {dst(), ra(), rb(f32), rc()}, alu), 0x5ba0, "ricx");
  forms64(t, row(Op::FCHK, kMaxwell, {}, {always<Tok::DIVIDE>(Axis::kFunction)}, {pred(3).def(), ra().neg(48).abs(46), rb(f32).neg(45).abs(49)}, alu), 0x5c88, "ric");
  const auto mufu = [&](ArchMask archs, std::span<const Enum> functions) {  // SQRT came with sm_52
    t.add(row(Op::MUFU, archs, top16(0x5080), {Mod{Axis::kFunction, bits(20, 4), functions}, sat50}, {dst(), slow_a().neg(48).abs(46)}, xu));
  };
  mufu(mask_of(Arch::sm_50), std::span<const Enum>(kMufu).first(8));
  mufu(mask_from(Arch::sm_52, Arch::sm_62), kMufu);
  forms64(t, row(Op::RRO, kMaxwell, {}, {Mod{Axis::kFunction, bits(39, 1), kReduce}}, {dst(), rb(f32).neg(45).abs(49)}, fma), 0x5c90, "ric");

  // Sums of a quad's lanes, each with signs of its own.
  t.add(row(Op::FSWZADD, kMaxwell, top16(0x50f8), {flag<Tok::FTZ>(Axis::kFtz, 44), round39, flag<Tok::NDV>(Axis::kDivergent, 38)},
            {dst_cc(), ra(), gpr(20).reuse(2), imm(bits(28, 8), ImmFormat::kQuadSwapped)}, fma));

  const Slot dd = dst_cc().wide(Width::k2);
  const Slot da = ra().wide(Width::k2).read_late();
  const Slot db = rb(f64).wide(Width::k2).read_late();
  const Slot dc = rc().wide(Width::k2).read_late();
  forms64(t, row(Op::DFMA, kMaxwell, {}, {round50}, {dd, da, db.neg(48), dc.neg(49)}, fp64), 0x5b70, "ricx");
  forms64(t, row(Op::DADD, kMaxwell, {}, {round39}, {dd, da.neg(48).abs(46), db.neg(45).abs(49).reuse(2)}, fp64), 0x5c70, "ric");
  forms64(t, row(Op::DMUL, kMaxwell, {}, {round39}, {dd, da, db.neg(48)}, fp64), 0x5c80, "ric");
  // Since sm_60 these keep operands, too.
  for (const bool keeps : {false, true}) {
    const ArchMask archs = keeps ? kPascal : kBeforePascal;
    const Slot a = keeps ? da : slow_a().wide(Width::k2);
    const Slot b = keeps ? db : slow_b(f64).wide(Width::k2);
    forms64(t, row(Op::DMNMX, archs, {}, {}, {dd, a.neg(48).abs(46), b.neg(45).abs(49), pred_in()}, fp64), 0x5c50, "ric");
    forms64(t, row(Op::DSETP, archs, {}, {cmp, combine}, {pred(3).def(), pred(0).def(), a.neg(43).abs(7), b.neg(6).abs(44), pred_in()}, fp64),
            0x5b80, "ric");
    forms64(t, row(Op::DSET, archs, {}, {bf52, cmp, combine}, {dst_cc(), a.neg(43).abs(54), b.neg(53).abs(44), pred_in()}, fp64), 0x5900, "ric");
  }
  return t;
}
// clang-format on

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows64_float() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
