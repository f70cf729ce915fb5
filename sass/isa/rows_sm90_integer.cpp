// sm_90a: integer arithmetic, logic, shifts, moves and compares.
#include "sass/isa/enums.h"
#include "sass/isa/rows.h"

namespace nervanagpu::sass {
namespace {

constexpr auto build() {
  RowList<256> t;
  constexpr Traits alu_pipe{.unit = Unit::kAlu};

  const Slot carry_out = pred(81).def().omit(kPT, Show::kWithNext);
  const Slot carry_out2 = pred(84).def().omit(kPT);
  const Slot carry_in = pred(87).inv(90).omit(kPT + 8, Show::kIfExtended);
  const Slot carry_in2 = pred(77).inv(80).omit(kPT + 8, Show::kIfExtended);
  alu(t, row(Op::IADD3, kHopper, {}, {flag<Tok::X>(Axis::kExtended, 74)},
             {gpr(16).def(), carry_out, carry_out2, src_a().neg(0), src_b().neg(0), src_c().neg(0), carry_in, carry_in2}, alu_pipe),
      0x010, "28ac");

  // MOV writes only the bytes of its mask, which ptxas leaves at 0xf; the text hides that value.
  alu(t, row(Op::MOV, kHopper, {}, {}, {gpr(16).def(), src_b(ImmFormat::kHex), imm(bits(72, 4)).omit(15)}, alu_pipe), 0x002, "28ac");
  return t;
}

constexpr auto kRows = build();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows_sm90_integer() { return kRows.all(); }

}  // namespace nervanagpu::sass
