// sm_90a: loads, stores, asynchronous copies, atomics, cache control.
#include "sass/isa/enums.h"
#include "sass/isa/rows.h"

namespace nervanagpu::sass {
namespace {

constexpr auto build() {
  RowList<128> t;
  const Mod wide = always<Tok::E>(Axis::kWide);
  const Mod evict{Axis::kCache, bits(84, 3), kEvict};
  const Mod prefetch{Axis::kPrefetch, bits(68, 2), kPrefetchSize};
  const Mod size{Axis::kSize, bits(73, 3), kMemSize};
  const Mod load_order{Axis::kOrder, bits(77, 4), kLoadOrder};
  constexpr Traits load{.unit = Unit::kMemGlobal, .ready = Ready::kScoreboard, .late = true};

  const Slot described = address(bits(24, 8), bits(40, 24)).base(Width::k2, Tok::k64).described(bits(32, 6)).read_late();
  t.add(row(Op::LDG, kHopper, code128(0x981 | kU, {{72, 1, 1}, {76, 1, 1}}), {wide, evict, prefetch, size, load_order},
            {pred(81).def().omit(kPT), gpr(16).def().wide(Width::kSize), described}, load));
  return t;
}

constexpr auto kRows = build();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows_sm90_memory() { return kRows.all(); }

}  // namespace nervanagpu::sass
