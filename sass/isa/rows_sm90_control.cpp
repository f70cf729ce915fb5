// sm_90a: control flow, barriers, special registers.
#include "sass/isa/enums.h"
#include "sass/isa/rows.h"

namespace nervanagpu::sass {
namespace {

constexpr auto build() {
  RowList<128> t;
  constexpr Traits leaves{.unit = Unit::kBranch, .ends = true};
  t.add(row(Op::EXIT, kHopper, code128(0x94d), {}, {pred(87).inv(90).omit(kPT)}, leaves));
  return t;
}

constexpr auto kRows = build();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows_sm90_control() { return kRows.all(); }

}  // namespace nervanagpu::sass
