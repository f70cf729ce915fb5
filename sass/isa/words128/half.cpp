// Words of 128 bits: packed half and bfloat16.
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kPart[] = {{Tok::kNone, 0}, {Tok::H0_H0, 2}, {Tok::H1_H1, 3}};
constexpr Enum kFloatPart[] = {{Tok::F32, 1}};
constexpr Enum kNegatedHigh[] = {{Tok::H0_NH1, 4}};
constexpr Enum kFtzFmz[] = {{Tok::kNone, 0}, {Tok::FTZ, 2}, {Tok::FMZ, 1}};

constexpr Slot kD = gpr(16).def();
constexpr Slot kPs = pred(87).inv(90);
constexpr Traits kHalfPipe{.unit = Unit::kHalf};
constexpr Timing kAsFma{.result = Producer::kFma, .source = Consumer::kFma};
constexpr Timing kAsAlu{.result = Producer::kAlu, .source = Consumer::kAlu};
constexpr AluBits kFmaBits{{72, 73, 74}, {63, 62, 60}, {84, 83, 81}};
constexpr Mod kFtz = flag<Tok::FTZ>(Axis::kFtz, 80);
constexpr ArchMask kBeforeHopper = kTuring | kAmpere;
constexpr Mod kSat = flag<Tok::SAT>(Axis::kSat, 77);

// One of the two number formats: bit `at` is set for bfloat16.
struct Format {
  bool bf16;
  Mod mod;
  Word fixed;
  ImmFormat imm;
};

constexpr Format half() {
  return {false, {}, {}, ImmFormat::kF16x2};
}
constexpr Format bfloat(unsigned at) {
  return {true, always<Tok::BF16_V2>(Axis::kPack), code128(0, {{at, 1, 1}}), ImmFormat::kBF16x2};
}

// A row whose modifiers begin with the format's, after `leading` ones.
constexpr Row formatted(Op op, const Format& f, Word fixed, std::initializer_list<Mod> leading,
                        std::initializer_list<Mod> mods, std::initializer_list<Slot> slots, ArchMask archs) {
  Row r = row(op, archs, fixed | f.fixed, leading, slots, kHalfPipe);
  if (f.bf16) r.mod_array[r.mod_count++] = f.mod;
  for (const Mod& m : mods) r.mod_array[r.mod_count++] = m;
  return r;
}

constexpr void arithmetic(RowList<256>& t, const Format& f) {
  const ArchMask own = f.bf16 ? kHopper : kFromTuring;  // bfloat16's sums and products; the others are older
  const ArchMask own_mma = f.bf16 ? kHopper : kFromAmpere;
  // .F32: one float of the lower halves, not rounded to a half. ptxas makes products and sums of products of it for sm_75.
  const Mod to_float = always<Tok::F32>(Axis::kPack);
  const Slot a = src_a().neg(0).abs(0).part({}, kPart);
  const Slot b = src_b(f.imm).neg(0).abs(0).part({}, kPart);
  const Slot c = src_c(f.imm).neg(0).abs(0).part({}, kPart);
  alu(t, formatted(Op::HADD2, f, {}, {}, {kFtz, kSat}, {kD, a, c}, own), 0x030, "246e");
  if (!f.bf16) {
    const auto sum = [&](const Slot& first, ArchMask archs) {
      return formatted(Op::HADD2, f, code128(0, {{78, 1, 1}}), {}, {to_float, kFtz, kSat}, {kD, first, c}, archs);
    };
    const Slot unsized = src_a().neg(0).part({}, kPart);  // since sm_86 |a| is not shown
    alu(t, sum(a, kTuring | mask_of(Arch::sm_80)), 0x030, "26e");
    alu(t, sum(unsized, mask_from(Arch::sm_86, Arch::sm_89)), 0x030, "26e");
    alu(t, timed(sum(unsized, kHopper), kAsFma), 0x030, "26e");
  }
  if (!f.bf16) {  // sm_75 narrows a float by adding zero
    const Slot wide_a = src_a().neg(0).abs(0).part({}, kFloatPart);
    const Slot wide_c = src_c(f.imm).neg(0).abs(0).part({}, kFloatPart);
    alu(t, formatted(Op::HADD2, f, {}, {}, {kFtz, kSat}, {kD, wide_a, c}, kTuring), 0x030, "2");
    alu(t, formatted(Op::HADD2, f, {}, {}, {kFtz, kSat}, {kD, a, wide_c}, kTuring), 0x030, "26");
  }
  const Mod ftz{Axis::kFtz, bits(76, 1, 80, 1), kFtzFmz};
  alu(t, formatted(Op::HMUL2, f, {}, {}, {ftz, kSat}, {kD, a, b}, own), 0x032, "28ac");
  if (!f.bf16) {
    alu(t, formatted(Op::HMUL2, f, code128(0, {{78, 1, 1}}), {}, {to_float, ftz, kSat}, {kD, a, b}, kBeforeHopper),
        0x032, "28ac");
    alu(t, formatted(Op::HFMA2, f, code128(0, {{78, 1, 1}}), {}, {to_float, ftz, kSat}, {kD, a, b, c}, kBeforeHopper),
        0x031, "2468ace", kFmaBits);
  }
  alu(t, formatted(Op::HFMA2, f, {}, {}, {ftz, kSat}, {kD, a, b, c}, f.bf16 ? kFromAmpere : kFromTuring), 0x031,
      "2468ace", kFmaBits);
  // The upper half of the second factor negated: complex products.
  RowList<1> complex;
  alu(complex, formatted(Op::HFMA2, f, {}, {}, {ftz, kSat}, {kD, a, b, c}, kFromGA102), 0x031, "2", kFmaBits);
  complex.rows[0].slot_array[2] = complex.rows[0].slot_array[2].part(bits(60, 2, 86, 1), kNegatedHigh);
  t.add(complex.rows[0]);
  alu(t,
      formatted(Op::HFMA2, f, code128(0, {{79, 1, 1}}), {}, {ftz, always<Tok::RELU>(Axis::kMode)},
                {kD, a, b, c, kPs.omit(kPT)}, kFromAmpere),
      0x031, "2468ace", kFmaBits);
  // The same where the copy engine's not-a-number, what it fills in outside of a tensor, counts as zero.
  const Word outside = code128(0, {{76, 1, 1}, {80, 1, 1}});
  const Mod oob = always<Tok::OOB>(Axis::kFtz);
  alu(t, formatted(Op::HFMA2, f, outside, {}, {oob, kSat}, {kD, a, b, c}, kHopper), 0x031, "2468ace", kFmaBits);
  alu(t,
      formatted(Op::HFMA2, f, outside | code128(0, {{79, 1, 1}}), {}, {oob, always<Tok::RELU>(Axis::kMode)},
                {kD, a, b, c, kPs.omit(kPT)}, kHopper),
      0x031, "2468ace", kFmaBits);
  // Sums of products on the tensor core's datapath: whole registers only.
  const Slot wa = src_a().neg(0).abs(0);
  const Slot wb = src_b(f.imm).neg(0).abs(0);
  const Slot wc = src_c(f.imm).neg(0).abs(0);
  const Mod mma = always<Tok::MMA>(Axis::kMode2);
  alu(t, formatted(Op::HFMA2, f, {}, {mma}, {ftz, kSat}, {kD, wa, wb, wc}, own_mma), 0x035, "2468ace", kFmaBits);
  alu(t,
      formatted(Op::HFMA2, f, code128(0, {{79, 1, 1}}), {mma}, {ftz, always<Tok::RELU>(Axis::kMode)},
                {kD, wa, wb, wc, kPs.omit(kPT)}, own_mma),
      0x035, "2468ace", kFmaBits);
  const Mod nan = flag<Tok::kNAN>(Axis::kMode, 81);
  alu(t, timed(formatted(Op::HMNMX2, f, {}, {}, {kFtz, nan}, {kD, a, b, kPs}, kFromAmpere), kAsAlu), 0x040, "28ac");
  alu(t,
      timed(formatted(Op::HMNMX2, f, code128(0, {{82, 1, 1}}), {}, {kFtz, nan, always<Tok::XORSIGN>(Axis::kMode2)},
                      {kD, a, b, kPs}, kFromGA102),
            kAsAlu),
      0x040, "28ac");
}

constexpr void compares(RowList<256>& t, const Format& f) {
  const Slot a = src_a().neg(0).abs(0).part({}, kPart);
  const Slot c = src_c(f.imm).neg(0).abs(0).part({}, kPart);
  const ArchMask own = f.bf16 ? kHopper : kFromTuring;
  const Mod cmp{Axis::kCmp, bits(76, 4), kCmpFloat};
  const Mod combine{Axis::kBool, bits(69, 2), kBoolOp};
  alu(t,
      timed(formatted(Op::HSETP2, f, {}, {}, {cmp, flag<Tok::H_AND>(Axis::kMode, 71), kFtz, combine},
                      {pred(81).def(), pred(84).def(), a, c, kPs}, own),
            kAsAlu),
      0x034, "246e");
  alu(t,
      timed(formatted(Op::HSET2, f, {}, {}, {flag<Tok::BF>(Axis::kMode, 71), cmp, kFtz, combine}, {kD, a, c, kPs}, own),
            kAsAlu),
      0x033, "246e");
}

// clang-format on

constexpr auto build() {
  RowList<256> t;
  arithmetic(t, half());
  arithmetic(t, bfloat(85));
  compares(t, half());
  compares(t, bfloat(65));
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_half() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
