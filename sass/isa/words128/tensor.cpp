// Words of 128 bits: matrix products of one warp on registers, one row for each shape.
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

constexpr Enum kSum[] = {{Tok::F16, 0}, {Tok::F32, 1}};
constexpr Enum kSum32[] = {{Tok::F32, 1}};
constexpr Enum kSigns[] = {{Tok::U8, 0}, {Tok::S8, 1}};
constexpr Enum kSigns4[] = {{Tok::U4, 0}, {Tok::S4, 1}};
constexpr Enum kByRow[] = {{Tok::ROW, 0}};
constexpr Enum kByColumn[] = {{Tok::COL, 0}};
constexpr Enum kRound4[] = {{Tok::kNone, 0}, {Tok::RM, 1}, {Tok::RP, 2}, {Tok::RZ, 3}};

constexpr Enum kSumOrHalf[] = {{Tok::F16, 0}, {Tok::F32, 1}};
constexpr Enum kEightBit[] = {{Tok::E4M3, 0}, {Tok::E5M2, 1}};

constexpr Traits kProducts{.unit = Unit::kTensor};

constexpr Slot a_in(Width w) {
  return gpr(24).wide(w).reuse(0);
}
constexpr Slot b_in(Width w) {
  return gpr(32).wide(w).reuse(1);
}

// Metadata of a sparse A and which of its threads' halves counts.
constexpr void sparse(Row& r, unsigned bit) {
  r.fixed = r.fixed | code128(0, {{bit, 1, 1}});
  for (unsigned i = r.mod_count++; i > 0; --i) r.mod_array[i] = r.mod_array[i - 1];
  r.mod_array[0] = always<Tok::SP>(Axis::kSparse);
  r.slot_array[r.slot_count++] = gpr(40);
  r.slot_array[r.slot_count++] = imm(bits(48, 2));
}

// HMMA. `shape` is bits 75 and 78, a and b the registers of each.
constexpr void halves(RowList<48>& t, Tok type, bool is_sparse, Mod name, unsigned b75, unsigned b78, Width a,
                      Width b) {
  const Mod sum{Axis::kDstType, bits(76, 1), kSum};
  const Mod sum32{Axis::kDstType, bits(76, 1), kSum32};
  // sm_75 has the smallest product of halves only.
  const ArchMask archs = type == Tok::F16 && !is_sparse && b75 == 0 ? kFromTuring : kFromAmpere;
  Row r = row(Op::HMMA, archs, code128(0x23c, {{75, 1, b75}, {78, 1, b78}}), {name, type == Tok::F16 ? sum : sum32},
              {gpr(16).def().wide(Width::kProduct), a_in(a).neg(72), b_in(b).neg(63), gpr(64).wide(Width::kProduct)},
              kProducts);
  if (type == Tok::BF16) r.mod_array[r.mod_count++] = always<Tok::BF16>(Axis::kSrcType);
  if (type == Tok::TF32) r.mod_array[r.mod_count++] = always<Tok::TF32>(Axis::kSrcType);
  r.fixed = r.fixed | code128(0, {{82, 2, type == Tok::BF16 ? 1u : type == Tok::TF32 ? 2u : 0u}});
  if (is_sparse) sparse(r, 73);
  t.add(r);
}

constexpr void integers(RowList<48>& t, bool is_sparse, Mod name, unsigned b75, unsigned b85, Width a, Width b,
                        Width c) {
  Row r =
      row(Op::IMMA, b85 == 0 ? kFromTuring : kFromAmpere, code128(0x237, {{74, 1, 1}, {75, 1, b75}, {85, 2, b85}}),
          {name,
           {Axis::kSrcType, bits(76, 2), kSigns},
           {Axis::kSrcType2, bits(78, 2), kSigns},
           flag<Tok::SAT>(Axis::kSat, 82)},
          {gpr(16).def().wide(c), a_in(a).part({}, kByRow), b_in(b).part({}, kByColumn), gpr(64).wide(c)}, kProducts);
  if (is_sparse) sparse(r, 72);
  t.add(r);
}

// The same of four bits, which sm_90a does not have: twice the depth of bytes.
constexpr void nibbles(RowList<48>& t, ArchMask archs, bool is_sparse, Mod name, unsigned b75, unsigned b85, Width a,
                       Width b, Width c) {
  Row r =
      row(Op::IMMA, archs, code128(0x237, {{74, 1, 1}, {75, 1, b75}, {83, 2, 3}, {85, 2, b85}}),
          {name,
           {Axis::kSrcType, bits(76, 2), kSigns4},
           {Axis::kSrcType2, bits(78, 2), kSigns4},
           flag<Tok::SAT>(Axis::kSat, 82)},
          {gpr(16).def().wide(c), a_in(a).part({}, kByRow), b_in(b).part({}, kByColumn), gpr(64).wide(c)}, kProducts);
  if (is_sparse) sparse(r, 72);
  t.add(r);
}

constexpr auto build() {
  RowList<48> t;
  const auto shape = []<Tok tok>() { return always<tok>(Axis::kShape); };
  const Mod m1684 = shape.operator()<Tok::k1684>();
  const Mod m1688 = shape.operator()<Tok::k1688>();
  const Mod m16816 = shape.operator()<Tok::k16816>();
  const Mod m16832 = shape.operator()<Tok::k16832>();
  for (const Tok type : {Tok::F16, Tok::BF16}) {
    halves(t, type, false, m1688, 0, 0, Width::k2, Width::k1);
    halves(t, type, false, m16816, 1, 0, Width::k4, Width::k2);
    halves(t, type, true, m16816, 1, 0, Width::k2, Width::k2);
    halves(t, type, true, m16832, 1, 1, Width::k4, Width::k4);
  }
  halves(t, Tok::TF32, false, m1684, 0, 1, Width::k2, Width::k1);
  halves(t, Tok::TF32, false, m1688, 0, 0, Width::k4, Width::k2);
  halves(t, Tok::TF32, true, m1688, 0, 0, Width::k2, Width::k2);
  halves(t, Tok::TF32, true, m16816, 1, 0, Width::k4, Width::k4);
  integers(t, false, shape.operator()<Tok::k8816>(), 0, 0, Width::k1, Width::k1, Width::k2);
  integers(t, false, m16816, 0, 2, Width::k2, Width::k1, Width::k4);
  integers(t, false, m16832, 1, 2, Width::k4, Width::k2, Width::k4);
  integers(t, true, m16832, 1, 2, Width::k2, Width::k2, Width::k4);
  integers(t, true, shape.operator()<Tok::k16864>(), 0, 3, Width::k4, Width::k4, Width::k4);

  nibbles(t, kTuringToAda, false, shape.operator()<Tok::k8832>(), 0, 1, Width::k1, Width::k1, Width::k2);
  nibbles(t, kAmpere, false, m16832, 1, 2, Width::k2, Width::k1, Width::k4);
  nibbles(t, kAmpere, false, shape.operator()<Tok::k16864>(), 0, 3, Width::k4, Width::k2, Width::k4);
  nibbles(t, kAmpere, true, shape.operator()<Tok::k16864>(), 0, 3, Width::k2, Width::k2, Width::k4);
  nibbles(t, kAmpere, true, shape.operator()<Tok::k168128>(), 1, 3, Width::k4, Width::k4, Width::k4);

  const auto bit = [&](Mod name, unsigned code, Width a, Width b, Width c) {
    t.add(row(Op::BMMA, kFromAmpere, code128(0x23d, {{74, 1, 1}, {75, 2, code}, {78, 1, 1}, {80, 1, 1}}),
              {name, always<Tok::AND_POPC>(Axis::kFunction)},
              {gpr(16).def().wide(c), a_in(a).part({}, kByRow), b_in(b).part({}, kByColumn), gpr(64).wide(c)},
              kProducts));
  };
  bit(shape.operator()<Tok::k88128>(), 0, Width::k1, Width::k1, Width::k2);
  bit(shape.operator()<Tok::k168128>(), 1, Width::k2, Width::k1, Width::k4);
  bit(shape.operator()<Tok::k168256>(), 2, Width::k4, Width::k2, Width::k4);

  // Bits that differ, which sm_90a does not have; sm_75 has the smallest.
  const auto differing = [&](ArchMask archs, Mod name, unsigned code, Width a, Width b, Width c) {
    t.add(row(Op::BMMA, archs, code128(0x23d, {{74, 1, 1}, {75, 2, code}, {80, 1, 1}}),
              {name, always<Tok::XOR_POPC>(Axis::kFunction)},
              {gpr(16).def().wide(c), a_in(a).part({}, kByRow), b_in(b).part({}, kByColumn), gpr(64).wide(c)},
              kProducts));
  };
  differing(kTuringToAda, shape.operator()<Tok::k88128>(), 0, Width::k1, Width::k1, Width::k2);
  differing(kAmpere, shape.operator()<Tok::k168128>(), 1, Width::k2, Width::k1, Width::k4);
  differing(kAmpere, shape.operator()<Tok::k168256>(), 2, Width::k4, Width::k2, Width::k4);
  // Eight-bit floats of sm_89.
  t.add(row(Op::QMMA, mask_of(Arch::sm_89), code128(0x27a, {{74, 1, 1}, {75, 2, 1}}),
            {m16832,
             {Axis::kDstType, bits(77, 1), kSumOrHalf},
             {Axis::kSrcType, bits(78, 1), kEightBit},
             {Axis::kSrcType2, bits(79, 1), kEightBit}},
            {gpr(16).def().wide(Width::kProduct), a_in(Width::k4).part({}, kByRow), b_in(Width::k2).part({}, kByColumn),
             gpr(64).wide(Width::kProduct)},
            kProducts));

  const auto doubles = [&](Mod name, unsigned code, Width a, Width b, Width c, ArchMask archs = kHopper) {
    t.add(row(
        Op::DMMA, archs, code128(0x23f, {{76, 2, code}}), {name, {Axis::kRound, bits(78, 2), kRound4}},
        {gpr(16).def().wide(c), a_in(a).neg(72).abs(73).read_late(), b_in(b).neg(63).abs(62).read_late(),
         gpr(64).wide(c).neg(75).abs(74).read_late()},
        {.unit = Unit::kTensor,
         .ready = Ready::kScoreboard,
         .late = true,
         .timing = {
             .result = Producer::kDouble, .queue = Queue::kDoubleProduct, .read_queue = ReadQueue::kDoubleProduct}}));
  };
  doubles(shape.operator()<Tok::k8x8x4>(), 0, Width::k2, Width::k2, Width::k4);
  doubles(shape.operator()<Tok::k884>(), 0, Width::k2, Width::k2, Width::k4, kAmpere);
  doubles(shape.operator()<Tok::k16x8x4>(), 1, Width::k4, Width::k2, Width::k8);
  doubles(shape.operator()<Tok::k16x8x8>(), 2, Width::k8, Width::k4, Width::k8);
  doubles(shape.operator()<Tok::k16x8x16>(), 3, Width::k16, Width::k8, Width::k8);
  t.add(row(Op::MOVM, kFromTuring, code128(0x23a), {always<Tok::k16>(Axis::kSize), always<Tok::MT88>(Axis::kMode)},
            {gpr(16).def(), gpr(24).read_late()},
            {.unit = Unit::kMemShared, .ready = Ready::kScoreboard, .late = true}));
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_tensor() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
