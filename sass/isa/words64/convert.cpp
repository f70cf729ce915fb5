// Words of 64 bits: conversions. Which part of the source is read (B1, H1) depends on its type, so each width is a row.
#include "sass/isa/rows/rowdsl64.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off
constexpr Enum kBytes[]   = {{Tok::kNone, 0}, {Tok::B1, 1}, {Tok::B2, 2}, {Tok::B3, 3}};
constexpr Enum kHalves[]  = {{Tok::kNone, 0}, {Tok::H1, 2}};
constexpr Enum kFloat[]   = {{Tok::F16, 1}, {Tok::F32, 2}, {Tok::F64, 3}};
constexpr Enum kF16Only[] = {{Tok::F16, 1}};
constexpr Enum kF32Only[] = {{Tok::F32, 2}};
constexpr Enum kF64Only[] = {{Tok::F64, 3}};
constexpr Enum kF16F32[]  = {{Tok::F16, 1}, {Tok::F32, 2}};
constexpr Enum kF16F64[]  = {{Tok::F16, 1}, {Tok::F64, 3}};
constexpr Enum kF32F64[]  = {{Tok::F32, 2}, {Tok::F64, 3}};
// Two bits of size, then the sign.
constexpr Enum kInt8[]    = {{Tok::U8, 0}, {Tok::S8, 4}};
constexpr Enum kInt16[]   = {{Tok::U16, 1}, {Tok::S16, 5}};
constexpr Enum kInt32[]   = {{Tok::U32, 2}, {Tok::S32, 6}};
constexpr Enum kInt3264[] = {{Tok::U32, 2}, {Tok::S32, 6}, {Tok::U64, 3}, {Tok::S64, 7}};
constexpr Enum kIntTo32[] = {{Tok::U8, 0}, {Tok::U16, 1}, {Tok::U32, 2}, {Tok::S8, 4}, {Tok::S16, 5}, {Tok::S32, 6}};
constexpr Enum kIntFrom16[] = {{Tok::U16, 1}, {Tok::U32, 2}, {Tok::S16, 5}, {Tok::S32, 6}, {Tok::U64, 3}, {Tok::S64, 7}};
constexpr Enum kToInteger[] = {{Tok::kNone, 0}, {Tok::FLOOR, 1}, {Tok::CEIL, 2}, {Tok::TRUNC, 3}};
constexpr Enum kToWhole[]   = {{Tok::kNone, 0}, {Tok::ROUND, 4}, {Tok::FLOOR, 5}, {Tok::CEIL, 6}, {Tok::TRUNC, 7}};

// Types that one row can have; those of 64 bits stand after the first `narrow`.
struct Types {
  std::span<const Enum> all;
  std::size_t narrow;
};

constexpr auto build() {
  RowList<128> t;
  constexpr ImmFormat dec = ImmFormat::kSigned;
  constexpr ImmFormat f32 = ImmFormat::kF32;
  constexpr ImmFormat f64 = ImmFormat::kF64;
  constexpr Traits xu{.unit = Unit::kXu, .ready = Ready::kScoreboard, .late = true};
  const Mod round{Axis::kRound, bits(39, 2), kRound64};
  const Mod ftz = flag<Tok::FTZ>(Axis::kFtz, 44);
  const Mod sat = flag<Tok::SAT>(Axis::kSat, 50);
  const Slot d = dst_cc().wide(Width::kDstType);
  const auto source = [](ImmFormat f) { return slow_b(f).wide(Width::kSrcType).neg(45).abs(49); };
  const auto dst_is = [](std::span<const Enum> e) { return Mod{Axis::kDstType, bits(8, 2), e}; };
  const auto src_is = [](std::span<const Enum> e) { return Mod{Axis::kSrcType, bits(10, 2), e}; };
  const auto int_src = [](std::span<const Enum> e) { return Mod{Axis::kSrcType, bits(10, 2, 13, 1), e}; };
  const auto int_dst = [](std::span<const Enum> e) { return Mod{Axis::kDstType, bits(8, 2, 12, 1), e}; };

  // Since sm_60 the source can stay in the operand cache where 64 bits go in or out; not so integers of 16 bits, and
  // halves that become integers.
  enum class Keeps : bool { kNever, kIfWide };
  const auto convert = [&t](unsigned top, std::string_view forms, Types to, Types from, Keeps keeps, auto make) {
    const auto add = [&](ArchMask archs, std::span<const Enum> dst_types, std::span<const Enum> src_types, bool kept) {
      if (dst_types.empty() || src_types.empty()) return;
      Row r = make(dst_types, src_types);
      r.archs = archs;
      if (kept) r.slot_array[1].reuse_slot = 1;
      forms64(t, r, top, forms);
    };
    if (keeps == Keeps::kNever) return add(kMaxwell, to.all, from.all, false);
    add(kBeforePascal, to.all, from.all, false);
    add(kPascal, to.all.first(to.narrow), from.all.first(from.narrow), false);
    add(kPascal, to.all.first(to.narrow), from.all.subspan(from.narrow), true);
    add(kPascal, to.all.subspan(to.narrow), from.all, true);
  };

  const auto i2f = [&](Types types, std::span<const Enum> parts, Keeps keeps) {
    convert(0x5cb8, "ric", {kFloat, 2}, types, keeps, [&](std::span<const Enum> to, std::span<const Enum> from) {
      return row(Op::I2F, kMaxwell, {}, {dst_is(to), int_src(from), round}, {d, source(dec).part(bits(41, 2), parts)}, xu);
    });
  };
  i2f({kInt8, 2}, kBytes, Keeps::kIfWide);
  i2f({kInt16, 2}, kHalves, Keeps::kNever);
  i2f({kInt3264, 2}, kWhole, Keeps::kIfWide);

  const auto i2i = [&](std::span<const Enum> types, std::span<const Enum> parts) {
    forms64(t, row(Op::I2I, kMaxwell, {}, {int_dst(kIntTo32), int_src(types), sat}, {d, source(dec).part(bits(41, 2), parts)}, xu), 0x5ce0, "ric");
  };
  i2i(kInt8, kBytes);
  i2i(kInt16, kHalves);
  i2i(kInt32, kWhole);

  const auto f2i = [&](Types type, ImmFormat f, std::span<const Enum> parts, std::string_view forms,
                       Keeps keeps = Keeps::kIfWide) {
    convert(0x5cb0, forms, {kIntFrom16, 4}, type, keeps, [&](std::span<const Enum> to, std::span<const Enum> from) {
      return row(Op::F2I, kMaxwell, {}, {ftz, int_dst(to), src_is(from), Mod{Axis::kRound, bits(39, 2), kToInteger}},
                 {d, source(f).part(bits(41, 1), parts)}, xu);
    });
  };
  f2i({kF16Only, 1}, f32, kHalf, "rc", Keeps::kNever);
  f2i({kF32Only, 1}, f32, kWhole, "ric");
  f2i({kF64Only, 0}, f64, kWhole, "ric");

  // F2F to another type rounds to nearest or as said; within a type it can round to a whole number.
  const auto f2f = [&](Types to_types, Types from_types, const Mod& rounding, const Slot& s, std::string_view forms) {
    convert(0x5ca8, forms, to_types, from_types, Keeps::kIfWide, [&](std::span<const Enum> to, std::span<const Enum> from) {
      return row(Op::F2F, kMaxwell, {}, {ftz, dst_is(to), src_is(from), rounding, sat}, {d, s}, xu);
    });
  };
  const Mod whole{Axis::kRound, bits(39, 2, 42, 1), kToWhole};
  const Slot half = source(f32).part(bits(41, 1), kHalf);
  f2f({kF16F64, 1}, {kF32Only, 1}, round, source(f32), "ric");
  f2f({kF16F32, 2}, {kF64Only, 0}, round, source(f64), "ric");
  f2f({kF32F64, 1}, {kF16Only, 1}, round, half, "rc");
  f2f({kF32Only, 1}, {kF32Only, 1}, whole, source(f32), "ric");
  f2f({kF64Only, 0}, {kF64Only, 0}, whole, source(f64), "ric");
  f2f({kF16Only, 1}, {kF16Only, 1}, whole, half, "rc");
  return t;
}
// clang-format on

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows64_convert() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
