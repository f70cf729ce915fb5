// Words of 64 bits: video instructions, on parts of registers: a byte, a half or all of it, which the type says. The result is
// saturated, then added to the third source, compared with it or put into a part of it.
#include "sass/isa/rows/rowdsl64.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kBytes[] = {{Tok::kNone, 0}, {Tok::B1, 1}, {Tok::B2, 2}, {Tok::B3, 3}};
constexpr Enum kSign8[] = {{Tok::U8, 0}, {Tok::S8, 1}};
constexpr Enum kSign16[] = {{Tok::U16, 0}, {Tok::S16, 1}};
constexpr Enum kSign32[] = {{Tok::U32, 0}, {Tok::S32, 1}};
// Two types that are not written where both are signed and wide.
constexpr Enum kSigns32[] = {{Tok::U32_U32, 0}, {Tok::S32_U32, 1}, {Tok::U32_S32, 2}, {Tok::kNone, 3}};
constexpr Enum kSigns16[] = {{Tok::U32_U16, 0}, {Tok::S32_U16, 1}, {Tok::U32_S16, 2}, {Tok::kNone, 3}};
constexpr Enum kSignedOnly[] = {{Tok::U32_U32, 0}, {Tok::kNone, 1}};
constexpr Enum kSignedOnly16[] = {{Tok::U32_U16, 0}, {Tok::kNone, 1}};
constexpr Enum kThird[] = {{Tok::MRG_16H, 0}, {Tok::MRG_16L, 1}, {Tok::MRG_8B0, 2}, {Tok::MRG_8B2, 3},
                           {Tok::ACC, 4},     {Tok::MIN, 5},     {Tok::MAX, 6},     {Tok::kNone, 7}};
constexpr Enum kShift[] = {{Tok::kNone, 0}, {Tok::SHR_7, 1}, {Tok::SHR_15, 2}};
constexpr Enum kQuarters[] = {{Tok::U8_U8, 0}, {Tok::S8_U8, 1}, {Tok::U8_S8, 2}, {Tok::kNone, 3}};

// The second source can be a number of 16 bits, which has a sign where its type does.
enum class Part : std::uint8_t { kByte, kHalf, kAll, kNumber, kSignedNumber };
constexpr bool is_number(Part p) {
  return p == Part::kNumber || p == Part::kSignedNumber;
}

// The operand whose selector is at `at`: bytes 0 to 3, halves 4 and 5, all 6.
constexpr Slot part_of(const Slot& reg, unsigned at, Part part) {
  if (part == Part::kByte) return reg.part(bits(at, 2), kBytes);
  if (part == Part::kHalf) return reg.part(bits(at, 1), kHalf);
  return reg;
}
constexpr Word selector(unsigned at, Part part) {
  return part == Part::kHalf ? set_bits({}, at + 1, 2, 2) : part == Part::kAll ? set_bits({}, at, 3, 6) : Word{};
}
constexpr std::span<const Enum> sign_of(Part part) {
  return part == Part::kByte  ? std::span<const Enum>(kSign8)
         : part == Part::kAll ? std::span<const Enum>(kSign32)
                              : std::span<const Enum>(kSign16);
}

// What differs between the instructions: modifiers in front of and after the types, and the signs of the sources.
struct Video {
  Op op;
  unsigned top;
  std::initializer_list<Mod> before;
  std::initializer_list<Mod> behind;
  std::uint8_t neg_a = kNoBit;
  std::uint8_t neg_b = kNoBit;  // of a number its sign
  std::uint8_t neg_c = kNoBit;
  Word fixed{};
  Word never{};
  bool shifts = false;    // the second source is unsigned
  bool any_sign = false;  // a number is written without the sign of its type
  bool always_typed = false;
};

constexpr void types(Row& r, const Video& v, Part a, Part b) {
  const bool wide = a == Part::kAll && (b == Part::kAll || is_number(b));
  const auto add = [&](Axis axis, Field at, std::span<const Enum> table) {
    r.mod_array[r.mod_count++] = {axis, at, table};
  };
  // Which signs of a number the row has: all, or those of a number without or with one.
  const auto of_number = [&](std::span<const Enum> table) {
    const std::size_t half = table.size() / 2;
    if (!is_number(b) || v.any_sign) return table;
    return b == Part::kNumber ? table.first(half) : table.subspan(half);
  };
  if (v.shifts && wide)
    return add(Axis::kType, bits(48, 1),
               b == Part::kAll ? std::span<const Enum>(kSignedOnly) : std::span<const Enum>(kSignedOnly16));
  if (wide && !v.always_typed)
    return add(Axis::kType, bits(48, 2), b == Part::kAll ? std::span<const Enum>(kSigns32) : of_number(kSigns16));
  add(Axis::kSigned, bits(48, 1), sign_of(a));
  if (v.shifts) return add(Axis::kSigned2, {}, sign_of(b).first(1));
  add(Axis::kSigned2, bits(49, 1), of_number(sign_of(b)));
}

// All of its forms, or those where `wanted` of both parts.
template <typename Wanted>
constexpr void add(RowList<160>& t, const Video& v, ArchMask archs, const Traits& traits, Wanted wanted) {
  for (const Part a : {Part::kByte, Part::kHalf, Part::kAll}) {
    for (const Part b : {Part::kByte, Part::kHalf, Part::kAll, Part::kNumber, Part::kSignedNumber}) {
      if (!wanted(a, b) || (b == Part::kSignedNumber && (v.any_sign || v.shifts))) continue;
      Row r = row(v.op, archs, top16(v.top) | v.fixed | selector(36, a) | selector(28, b), {}, {}, traits);
      if (!is_number(b)) r.fixed = set_bits(r.fixed, 50, 1, 1);
      for (const Mod& m : v.before) r.mod_array[r.mod_count++] = m;
      types(r, v, a, b);
      for (const Mod& m : v.behind) r.mod_array[r.mod_count++] = m;
      const auto source = [&](Slot s, unsigned reuse) { return traits.late ? s.read_late() : s.reuse(reuse); };
      Slot first = source(part_of(gpr(8), 36, a), 0);
      const ImmFormat format = b == Part::kSignedNumber ? ImmFormat::kSigned : ImmFormat::kHex;
      Slot second = is_number(b) ? imm(bits(20, 16), format) : source(part_of(gpr(20), 28, b), 1);
      Slot third = source(gpr(39), 2);
      first.neg_bit = v.neg_a;
      third.neg_bit = v.neg_c;
      if (!is_number(b)) second.neg_bit = v.neg_b;
      if (is_number(b) && v.neg_b != kNoBit) second = imm(bits(20, 16, v.neg_b, 1), ImmFormat::kMagnitude);
      r.slot_array[r.slot_count++] = dst_cc();
      for (const Slot& s : {first, second, third}) r.slot_array[r.slot_count++] = s;
      r.never = v.never;
      t.add(r);
    }
  }
}

constexpr auto build() {
  RowList<160> t;
  constexpr Traits alu{.unit = Unit::kAlu};
  constexpr Traits slow{.unit = Unit::kXu, .ready = Ready::kScoreboard, .late = true};
  const auto all = [](Part, Part) { return true; };
  const Mod sat = flag<Tok::SAT>(Axis::kSat, 55);
  const Mod third{Axis::kFunction, bits(51, 3), kThird};
  const Mod plus_one = always<Tok::PO>(Axis::kMode2);  // what both signs together mean
  const Mod unsigned_result = flag<Tok::UD, 0>(Axis::kDstType, 54);
  add(t,
      {.op = Op::VADD,
       .top = 0x2000,
       .before = {unsigned_result},
       .behind = {sat, third},
       .neg_a = 57,
       .neg_b = 56,
       .never = bit_range(56, 2),
       .any_sign = true},
      kMaxwell, alu, all);
  add(t,
      {.op = Op::VADD,
       .top = 0x2000,
       .before = {unsigned_result},
       .behind = {plus_one, sat, third},
       .fixed = bit_range(56, 2),
       .any_sign = true},
      kMaxwell, alu, all);
  add(t,
      {.op = Op::VMNMX,
       .top = 0x3a00,
       .before = {unsigned_result},
       .behind = {flag<Tok::MX>(Axis::kMinMax, 56), sat, third}},
      kMaxwell, alu, all);
  add(t, {.op = Op::VABSDIFF, .top = 0x5400, .before = {flag<Tok::SD>(Axis::kDstType, 54)}, .behind = {sat, third}},
      kMaxwell, alu, all);
  add(t, {.op = Op::VSET, .top = 0x4000, .before = {Mod{Axis::kCmp, bits(54, 3), kCmpInt64}}, .behind = {third}},
      kMaxwell, alu, all);
  const Mod wraps = flag<Tok::W>(Axis::kWrap, 49);
  add(t, {.op = Op::VSHL, .top = 0x5700, .before = {unsigned_result}, .behind = {wraps, sat, third}, .shifts = true},
      kMaxwell, alu, all);
  add(t, {.op = Op::VSHR, .top = 0x5600, .before = {unsigned_result}, .behind = {wraps, sat, third}, .shifts = true},
      kMaxwell, alu, all);
  // Products of whole registers run on the slow unit, and since sm_60 there are none.
  const auto narrow = [](Part a, Part b) { return a != Part::kAll && b != Part::kAll; };
  const auto whole = [](Part a, Part b) { return a == Part::kAll || b == Part::kAll; };
  const Mod shift{Axis::kScale, bits(51, 2), kShift};
  const Video product{.op = Op::VMAD,
                      .top = 0x5f00,
                      .before = {},
                      .behind = {shift, sat},
                      .neg_a = 54,
                      .neg_c = 53,
                      .never = bit_range(53, 2),
                      .any_sign = true};
  const Video plus{.op = Op::VMAD,
                   .top = 0x5f00,
                   .before = {},
                   .behind = {plus_one, shift, sat},
                   .fixed = bit_range(53, 2),
                   .any_sign = true};
  for (const Video& v : {product, plus}) {
    add(t, v, kMaxwell, alu, narrow);
    add(t, v, kBeforePascal, slow, whole);
  }
  // Of four bytes at once, each as it stands; .ACC is their sum.
  t.add(row(Op::VABSDIFF4, kMaxwell, top16(0x5018, {{28, 4, 4}, {32, 4, 4}, {36, 2, 3}}),
            {flag<Tok::SD>(Axis::kDstType, 38),
             {Axis::kType, bits(48, 2), kQuarters},
             flag<Tok::SAT>(Axis::kSat, 50),
             flag<Tok::ACC>(Axis::kMode, 53)},
            {dst_cc(), ra(), gpr(20).reuse(1), gpr(39).reuse(2)}, alu));
  return t;
}

// clang-format on

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows64_video() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
