// Words for rows of the 64-bit family (sm_50 .. sm_62), and the fields that many of them share. The top byte says where
// the second and third source are; text order is always A, B, C:
//   r 58 .. 5c   B register at 20, C register at 39
//   i 30 .. 39   B 20-bit immediate: 19 bits at 20 and the sign, which is bit 56
//   c 48 .. 4c   B constant: offset / 4 at 20 (14 bits, signed), bank at 34
//   x 51 .. 53   B register at 39, C constant
#pragma once

#include "sass/isa/rows/rowdsl.h"

namespace nervanagpu::sass {

inline constexpr ArchMask kMaxwell = mask_from(Arch::sm_50, Arch::sm_62);
inline constexpr ArchMask kBeforePascal = mask_from(Arch::sm_50, Arch::sm_53);
inline constexpr ArchMask kPascal = mask_from(Arch::sm_60, Arch::sm_62);

// A word with `top` as its highest 16 bits.
constexpr Word top16(unsigned top, std::initializer_list<Fix> fixes = {}) {
  Word w = set_bits({}, 48, 16, top);
  for (const Fix& f : fixes) w = set_bits(w, f.at, f.width, f.value);
  return w;
}

// clang-format off
inline constexpr Enum kCarryOut[] = {{Tok::kNone, 0}, {Tok::CC, 1}};
inline constexpr Enum kWhole[]    = {{Tok::kNone, 0}};  // a part field that only ever says "all of it"
inline constexpr Enum kHalf[]     = {{Tok::kNone, 0}, {Tok::H1, 1}};
inline constexpr Enum kRound64[]  = {{Tok::kNone, 0}, {Tok::RM, 1}, {Tok::RP, 2}, {Tok::RZ, 3}};
inline constexpr Enum kFtz64[]    = {{Tok::kNone, 0}, {Tok::FTZ, 1}, {Tok::FMZ, 2}};
inline constexpr Enum kBool64[]   = {{Tok::AND, 0}, {Tok::OR, 1}, {Tok::XOR, 2}};
inline constexpr Enum kCmpInt64[] = {{Tok::F, 0},  {Tok::LT, 1}, {Tok::EQ, 2}, {Tok::LE, 3}, {Tok::GT, 4}, {Tok::NE, 5}, {Tok::GE, 6}, {Tok::T, 7}};
inline constexpr Enum kCmpFloat64[] = {{Tok::F, 0},   {Tok::LT, 1},   {Tok::EQ, 2},   {Tok::LE, 3},   {Tok::GT, 4},   {Tok::NE, 5},   {Tok::GE, 6},   {Tok::NUM, 7},
                                       {Tok::kNAN, 8}, {Tok::LTU, 9}, {Tok::EQU, 10}, {Tok::LEU, 11}, {Tok::GTU, 12}, {Tok::NEU, 13}, {Tok::GEU, 14}, {Tok::T, 15}};
// Conditions on CC. As an operand the one that always holds is not written.
inline constexpr Enum kCondition[] = {{Tok::kNone, 15}, {Tok::F, 0},   {Tok::LT, 1},   {Tok::EQ, 2},   {Tok::LE, 3},   {Tok::GT, 4},   {Tok::NE, 5},   {Tok::GE, 6},
                                      {Tok::NUM, 7},    {Tok::kNAN, 8}, {Tok::LTU, 9}, {Tok::EQU, 10}, {Tok::LEU, 11}, {Tok::GTU, 12}, {Tok::NEU, 13}, {Tok::GEU, 14},
                                      {Tok::OFF, 16},   {Tok::LO, 17},  {Tok::SFF, 18}, {Tok::LS, 19}, {Tok::HI, 20},  {Tok::SFT, 21}, {Tok::HS, 22},  {Tok::OFT, 23}};
inline constexpr Enum kCcTest[]    = {{Tok::F, 0},      {Tok::LT, 1},   {Tok::EQ, 2},   {Tok::LE, 3},  {Tok::GT, 4},   {Tok::NE, 5},   {Tok::GE, 6},   {Tok::NUM, 7},
                                      {Tok::kNAN, 8},   {Tok::LTU, 9},  {Tok::EQU, 10}, {Tok::LEU, 11}, {Tok::GTU, 12}, {Tok::NEU, 13}, {Tok::GEU, 14}, {Tok::T, 15},
                                      {Tok::OFF, 16},   {Tok::LO, 17},  {Tok::SFF, 18}, {Tok::LS, 19}, {Tok::HI, 20},  {Tok::SFT, 21}, {Tok::HS, 22},  {Tok::OFT, 23}};
// clang-format on

// The usual operands. "cc" adds R4.CC, the write of the carry. The slow ones are read after issue and have no reuse slot.
constexpr Slot dst() {
  return gpr(0).def();
}
constexpr Slot dst_cc(unsigned bit = 47) {
  return dst().part(bits(bit, 1), kCarryOut);
}
constexpr Slot ra() {
  return gpr(8).reuse(0);
}
constexpr Slot rb(ImmFormat f = ImmFormat::kSigned) {
  return src_b(f).reuse(1);
}
constexpr Slot rc() {
  return src_c().reuse(2);
}
constexpr Slot slow_a() {
  return gpr(8).read_late();
}
constexpr Slot slow_b(ImmFormat f = ImmFormat::kSigned) {
  return src_b(f).read_late();
}
constexpr Slot slow_c() {
  return src_c().read_late();
}
constexpr Slot pred_in() {
  return pred(39).inv(42);
}
constexpr Slot imm20(ImmFormat f) {
  return imm(bits(20, 19, 56, 1), f);
}
constexpr Slot imm32(ImmFormat f) {
  return imm(bits(20, 32), f);
}
constexpr Slot const64() {
  Slot s = constant(bits(20, 14), 2, bits(34, 5));
  s.is_signed = true;
  return s;
}
// CC.LT in [at+4:at]; not written where it is T.
constexpr Slot condition(unsigned at) {
  return slot_of(SlotType::kCc, {}).part(bits(at, 5), kCondition).omit(0);
}

// `logical` in the place of `physical`.
constexpr Slot place64(const Slot& logical, const Slot& physical) {
  Slot s = physical;
  s.role = logical.role;
  s.width = logical.width;
  s.late = logical.late && physical.type == SlotType::kGpr;
  s.neg_bit = logical.neg_bit;
  s.abs_bit = logical.abs_bit;
  s.inv_bit = logical.inv_bit;
  s.sub = logical.sub;
  s.sub_table = logical.sub_table;
  if (physical.type == SlotType::kGpr) s.reuse_slot = logical.reuse_slot;
  return s;
}

// Adds the forms of `proto` named by `forms` ("ricx"). `top` is the highest 16 bits of the register form.
template <std::size_t N>
constexpr void forms64(RowList<N>& list, const Row& proto, unsigned top, std::string_view forms) {
  for (const char form : forms) {
    Row r = proto;
    const unsigned low = top & 0xff;
    const unsigned high = top >> 8;
    const unsigned moved = form == 'i'   ? 0x30 + 2 * ((high & 15) - 8)
                           : form == 'c' ? high - 0x10
                           : form == 'x' ? high - 8
                                         : high;
    r.fixed = r.fixed | top16(moved << 8 | low);
    for (std::size_t k = 0; k < r.slot_count; ++k) {
      Slot& s = r.slot_array[k];
      const Slot logical = s;
      if (s.type == SlotType::kSrcB) {
        s = place64(logical, form == 'i'   ? imm20(logical.format)
                             : form == 'c' ? const64()
                             : form == 'x' ? gpr(39)
                                           : gpr(20));
      } else if (s.type == SlotType::kSrcC) {
        s = place64(logical, form == 'x' ? const64() : gpr(39));
      }
    }
    list.add(r);
  }
}

// `r`, which is another instruction where all of `bits` are set.
constexpr Row unless(Row r, Word never) {
  r.never = never;
  return r;
}

}  // namespace nervanagpu::sass
