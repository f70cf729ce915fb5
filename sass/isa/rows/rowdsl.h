// Words for writing rows: a list that grows at compile time, and alu(), which turns one logical row of the 128-bit family
// into its forms. Bits [11:9] of the opcode say where the operands are (+ bit 91 for the last two):
//   2 A B C registers   4 A C imm   6 A C const   8 A imm C   a A const C   c A uniform C   e A C uniform
// 6 and a with bit 91 have a constant of a bank that a pair of uniform registers describes, cx[UR4][0x10] (sm_90a).
// So the text's second and third source change places between the wide field [63:32] and the register at 64.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "sass/isa/rows/row.h"

namespace nervanagpu::sass {

template <std::size_t N>
struct RowList {
  std::array<Row, N> rows{};
  std::size_t count = 0;

  constexpr void add(const Row& r) { rows[count++] = finish(r); }
  [[nodiscard]] constexpr std::span<const Row> all() const { return {rows.data(), count}; }
};

// The list that `build` makes, without the room that it has left.
template <auto build>
constexpr auto trimmed() {
  constexpr auto list = build();
  RowList<list.count> out;
  std::copy_n(list.rows.begin(), list.count, out.rows.begin());
  out.count = list.count;
  return out;
}

// Fixed bits beside the opcode.
struct Fix {
  unsigned at;
  unsigned width;
  std::uint64_t value;
};

inline constexpr unsigned kU = 0x1000;  // bit 91, as the 13th bit of an opcode

// A word of the 128-bit family with its opcode.
constexpr Word code128(unsigned opcode, std::initializer_list<Fix> fixes = {}) {
  Word w = set_bits({}, 0, 12, opcode & 0xfff);
  w = set_bits(w, 91, 1, opcode >> 12);
  for (const Fix& f : fixes) w = set_bits(w, f.at, f.width, f.value);
  return w;
}
// A 64-bit word: its fixed bits.
constexpr Word code64(std::uint64_t opcode) {
  return {opcode, 0};
}

constexpr Row row(Op op, ArchMask archs, Word fixed, std::initializer_list<Mod> mods, std::initializer_list<Slot> slots,
                  Traits traits = {}) {
  Row r;
  r.op = op;
  r.encoding = archs < mask_of(Arch::sm_70) ? Encoding::k64 : Encoding::k128;
  r.archs = archs;
  r.fixed = fixed;
  for (const Mod& m : mods) r.mod_array[r.mod_count++] = m;
  for (const Slot& s : slots) r.slot_array[r.slot_count++] = s;
  r.traits = traits;
  return r;
}

// The same row with keys of its own in the latency table.
constexpr Row timed(Row r, const Timing& timing) {
  r.traits.timing = timing;
  return r;
}

// A one-bit modifier: `tok` when the bit is `on`.
template <Tok tok, unsigned on = 1>
inline constexpr Enum kFlag[] = {{Tok::kNone, 1 - on}, {tok, on}};
template <Tok tok>
inline constexpr Enum kAlways[] = {{tok, 0}};

template <Tok tok, unsigned on = 1>
constexpr Mod flag(Axis axis, unsigned bit) {
  return {axis, bits(bit, 1), kFlag<tok, on>};
}
template <Tok tok>
constexpr Mod always(Axis axis) {
  return {axis, {}, kAlways<tok>};
}

// The same, written on operand `i` or glued to the modifier before.
constexpr Mod on_operand(Mod m, unsigned i) {
  m.on = static_cast<std::int8_t>(i);
  return m;
}
constexpr Mod glued(Mod m) {
  m.glued = true;
  return m;
}

// Logical sources of alu(). neg(0) and abs(0) say that the source has the bit; where it lies is the form's business.
constexpr Slot src_a() {
  return slot_of(SlotType::kSrcA, {});
}
constexpr Slot src_b(ImmFormat f = ImmFormat::kSigned) {
  Slot s = slot_of(SlotType::kSrcB, {});
  s.format = f;
  return s;
}
constexpr Slot src_c(ImmFormat f = ImmFormat::kSigned) {
  Slot s = slot_of(SlotType::kSrcC, {});
  s.format = f;
  return s;
}

// Where the bits of a physical slot lie.
struct SlotBits {
  unsigned neg;
  unsigned abs;
  unsigned part;  // two bits
};
struct AluBits {
  SlotBits a{72, 73, 74};
  SlotBits b{63, 62, 60};
  SlotBits c{75, 74, 81};
};

// `logical` with the fields of the physical register slot at bit `at`, with reuse flag `reuse`.
constexpr Slot place(const Slot& logical, const Slot& physical, const SlotBits& at, unsigned reuse) {
  Slot s = physical;
  s.role = logical.role;
  s.width = logical.width;
  s.late = logical.late;
  if (logical.neg_bit != kNoBit) s.neg_bit = static_cast<std::uint8_t>(at.neg);
  if (logical.abs_bit != kNoBit) s.abs_bit = static_cast<std::uint8_t>(at.abs);
  if (logical.inv_bit != kNoBit) s.inv_bit = static_cast<std::uint8_t>(at.neg);
  if (!logical.sub_table.empty()) {
    s.sub = bits(at.part, 2);
    s.sub_table = logical.sub_table;
  }
  if (physical.type == SlotType::kGpr) s.reuse_slot = static_cast<std::uint8_t>(reuse);
  return s;
}

// cx[UR4][0x10].
constexpr Slot bindless() {
  return constant(bits(40, 14), 2, {}).uniform(bits(32, 6), Width::k2);
}

// The wide field of form `form` for a logical source; `described`: its constants are bindless.
constexpr Slot place_wide(const Slot& logical, char form, const AluBits& at, bool described = false) {
  switch (form) {
    case '4':
    case '8': {
      Slot s = imm(bits(32, 32), logical.format);
      s.late = logical.late;
      return s;
    }
    case '6':
    case 'a':
      return place(logical, described ? bindless() : constant(bits(40, 14), 2, bits(54, 5)).negative(), at.b, 1);
    case 'c':
    case 'e': return place(logical, ugpr(32), at.b, 1);
    default: return place(logical, gpr(32), at.b, 1);
  }
}

// The row of one form of `proto`.
constexpr Row alu_row(const Row& proto, unsigned base, char form, const AluBits& at, bool has_b, bool described) {
  Row r = proto;
  const unsigned digit = form >= 'a' ? static_cast<unsigned>(form - 'a') + 10 : static_cast<unsigned>(form - '0');
  r.fixed = r.fixed | code128((digit << 8 | base) | (form == 'c' || form == 'e' || described ? kU : 0));
  const bool swapped = form == '4' || form == '6' || form == 'e';
  for (std::size_t i = 0; i < r.slot_count; ++i) {
    Slot& s = r.slot_array[i];
    const Slot logical = s;
    if (s.type == SlotType::kSrcA) s = place(logical, gpr(24), at.a, 0);
    if (s.type == SlotType::kSrcB) {
      s = swapped ? place(logical, gpr(64), at.c, 1) : place_wide(logical, form, at, described);
    }
    if (s.type == SlotType::kSrcC) {
      s = swapped || !has_b ? place_wide(logical, form, at, described) : place(logical, gpr(64), at.c, 2);
      if (s.type == SlotType::kGpr) s.reuse_slot = 2;
    }
  }
  return r;
}

// Adds the forms of `proto` named by `forms` ("2468ace"). `base` is the opcode's low nine bits; proto.fixed has the rest.
template <std::size_t N>
constexpr void alu(RowList<N>& list, const Row& proto, unsigned base, std::string_view forms, const AluBits& at = {},
                   bool c_at_64 = false) {
  bool has_b = c_at_64;
  for (const Slot& s : proto.slots()) has_b = has_b || s.type == SlotType::kSrcB;
  for (const char form : forms) {
    list.add(alu_row(proto, base, form, at, has_b, false));
    if ((form != '6' && form != 'a') || (proto.archs & mask_of(Arch::sm_90a)) == 0) continue;
    Row described = alu_row(proto, base, form, at, has_b, true);
    described.archs = mask_of(Arch::sm_90a);
    list.add(described);
  }
}

}  // namespace nervanagpu::sass
