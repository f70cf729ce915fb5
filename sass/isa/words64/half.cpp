// Words of 64 bits (since sm_53): packed halves. A part .F32 reads the whole register as a float; .F32 of the result writes one float, and
// MRG_H0 or MRG_H1 one half beside the other that stays. Short immediates have the upper ten bits of each half.
#include "sass/isa/rows/rowdsl64.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr ArchMask kHalves = mask_from(Arch::sm_53, Arch::sm_62);
constexpr Enum kPart[] = {{Tok::kNone, 0}, {Tok::F32, 1}, {Tok::H0_H0, 2}, {Tok::H1_H1, 3}};
constexpr Enum kWhole[] = {{Tok::kNone, 0}, {Tok::F32, 1}};
constexpr Enum kMerge[] = {{Tok::MRG_H0, 2}, {Tok::MRG_H1, 3}};
constexpr Enum kFtzFmz[] = {{Tok::kNone, 0}, {Tok::FTZ, 1}, {Tok::FMZ, 2}};

constexpr Mod fmz(unsigned at) {
  return {Axis::kFtz, bits(at, 2), kFtzFmz};
}
constexpr Mod sat(unsigned at) {
  return flag<Tok::SAT>(Axis::kSat, at);
}
constexpr Slot packed_a() {
  return ra().part(bits(47, 2), kPart);
}
constexpr Slot packed_b() {
  return gpr(20).part(bits(28, 2), kPart);
}
constexpr Slot short_pair() {
  return imm(bits(20, 19, 56, 1), ImmFormat::kF16x2);
}
constexpr Slot pair32() {
  return imm(bits(20, 32), ImmFormat::kF16x2);
}
constexpr Traits kSlow{.unit = Unit::kHalf, .ready = Ready::kScoreboard, .late = true};
constexpr Traits kCompare{.unit = Unit::kHalf,
                          .ready = Ready::kScoreboard,
                          .late = true,
                          .timing = {.result = Producer::kAlu, .source = Consumer::kAlu}};

// Both rows of an operation: a result of its own, and one that is merged into what the register holds.
constexpr void sums(RowList<40>& t, Op op, unsigned top, std::initializer_list<Mod> mods,
                    std::initializer_list<Slot> sources) {
  for (const bool merges : {false, true}) {
    Row r = row(op, kHalves, top16(top), {}, {}, kSlow);
    r.mod_array[r.mod_count++] = {Axis::kPack, bits(49, 2),
                                  merges ? std::span<const Enum>(kMerge) : std::span<const Enum>(kWhole)};
    for (const Mod& m : mods) r.mod_array[r.mod_count++] = m;
    r.slot_array[r.slot_count++] = merges ? gpr(0).both() : dst();
    for (const Slot& s : sources) r.slot_array[r.slot_count++] = s.read_late();
    t.add(r);
  }
}

constexpr void arithmetic(RowList<40>& t) {
  const Mod ftz39 = flag<Tok::FTZ>(Axis::kFtz, 39);
  const Slot a = packed_a();
  const Slot signed_a = a.neg(43).abs(44);
  sums(t, Op::HADD2, 0x5d10, {ftz39, sat(32)}, {signed_a, packed_b().neg(31).abs(30).reuse(2)});
  sums(t, Op::HADD2, 0x7a80, {ftz39, sat(52)}, {signed_a, const64().neg(56).abs(54)});
  sums(t, Op::HADD2, 0x7a00, {ftz39, sat(52)}, {signed_a, short_pair()});
  sums(t, Op::HMUL2, 0x5d08, {fmz(39), sat(32)}, {a.abs(44), packed_b().neg(31).abs(30).reuse(1)});
  sums(t, Op::HMUL2, 0x7880, {fmz(39), sat(52)}, {a.abs(44), const64().neg(43).abs(54)});
  sums(t, Op::HMUL2, 0x7800, {fmz(39), sat(52)}, {signed_a, short_pair()});
  const Slot c = gpr(39).neg(51).part(bits(53, 2), kPart).reuse(2);
  sums(t, Op::HFMA2, 0x5d00, {fmz(37), sat(32)},
       {a, packed_b().neg(31).reuse(1), gpr(39).neg(30).part(bits(35, 2), kPart).reuse(2)});
  sums(t, Op::HFMA2, 0x7080, {fmz(57), sat(52)}, {a, const64().neg(56), c});
  sums(t, Op::HFMA2, 0x6080, {fmz(57), sat(52)},
       {a, gpr(39).neg(56).part(bits(53, 2), kPart).reuse(1), const64().neg(51)});
  sums(t, Op::HFMA2, 0x7000, {fmz(57), sat(52)}, {a, short_pair(), c});
  const Slot late_a = ra().part(bits(53, 2), kPart).read_late();
  t.add(row(Op::HADD2_32I, kHalves, top16(0x2c00), {flag<Tok::FTZ>(Axis::kFtz, 55), sat(52)},
            {dst(), late_a.neg(56), pair32()}, kSlow));
  t.add(row(Op::HMUL2_32I, kHalves, top16(0x2a00), {fmz(55), sat(52)}, {dst(), late_a, pair32()}, kSlow));
  t.add(row(Op::HFMA2_32I, kHalves, top16(0x2800), {fmz(55)},
            {dst(), late_a, pair32(), same_as_first().neg(52).reuse(2).read_late()}, kSlow));
}

// Compares: the register form has them at other bits than the other two.
constexpr void compares(RowList<40>& t) {
  const Mod combine{Axis::kBool, bits(45, 2), kBool64};
  const Mod ftz6 = flag<Tok::FTZ>(Axis::kFtz, 6);
  const Slot a = packed_a().neg(43).abs(44).read_late();
  const Slot b = packed_b().neg(31).abs(30).reuse(1).read_late();
  const auto cmp = [](unsigned at) { return Mod{Axis::kCmp, bits(at, 4), kCmpFloat64}; };
  const auto both = [](unsigned at) { return flag<Tok::H_AND>(Axis::kMode, at); };
  const Slot p = pred(3).def();
  const Slot q = pred(0).def();
  t.add(row(Op::HSETP2, kHalves, top16(0x5d20), {cmp(35), both(49), ftz6, combine}, {p, q, a, b, pred_in()}, kCompare));
  t.add(row(Op::HSETP2, kHalves, top16(0x7e80), {cmp(49), both(53), ftz6, combine},
            {p, q, a, const64().neg(56).abs(54), pred_in()}, kCompare));
  t.add(row(Op::HSETP2, kHalves, top16(0x7e00), {cmp(49), both(53), ftz6, combine}, {p, q, a, short_pair(), pred_in()},
            kCompare));
  const auto bf = [](unsigned at) { return flag<Tok::BF>(Axis::kMode, at); };
  const auto ftz = [](unsigned at) { return flag<Tok::FTZ>(Axis::kFtz, at); };
  t.add(
      row(Op::HSET2, kHalves, top16(0x5d18), {bf(49), cmp(35), ftz(50), combine}, {dst(), a, b, pred_in()}, kCompare));
  t.add(row(Op::HSET2, kHalves, top16(0x7c80), {bf(53), cmp(49), ftz(54), combine},
            {dst(), a, const64().neg(56), pred_in()}, kCompare));
  t.add(row(Op::HSET2, kHalves, top16(0x7c00), {bf(53), cmp(49), ftz(54), combine}, {dst(), a, short_pair(), pred_in()},
            kCompare));
}

// clang-format on

constexpr auto build() {
  RowList<40> t;
  arithmetic(t);
  compares(t);
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows64_half() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
