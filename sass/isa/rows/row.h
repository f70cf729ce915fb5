// A row of the instruction table: one encoded form of one mnemonic, for both encoding families. Parser, encoder,
// decoder, printer, verify and emulator read nothing else. A row owns every bit of the word exactly once: a bit belongs
// to the guard, the control code, one field of one slot or modifier, or it is fixed (opcode, and what ptxas leaves there
// by default). proven() shows it at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sass/isa/access.h"
#include "sass/isa/arch.h"
#include "sass/isa/inst.h"
#include "sass/isa/latency.h"
#include "sass/isa/op.h"
#include "sass/isa/word.h"

namespace nervanagpu::sass {

inline constexpr std::uint8_t kNoBit = 255;

// Up to three runs of bits, least significant first, read as one number.
struct Field {
  struct Piece {
    std::uint8_t at = 0;
    std::uint8_t width = 0;
  };
  std::array<Piece, 3> piece{};

  [[nodiscard]] constexpr unsigned width() const { return piece[0].width + piece[1].width + piece[2].width; }
  [[nodiscard]] constexpr bool none() const { return width() == 0; }
  [[nodiscard]] constexpr std::uint64_t get(const Word& w) const {
    std::uint64_t v = 0;
    unsigned at = 0;
    for (const Piece& p : piece) {
      if (p.width == 0) continue;
      v |= get_bits(w, p.at, p.width) << at;
      at += p.width;
    }
    return v;
  }
  [[nodiscard]] constexpr Word set(Word w, std::uint64_t v) const {
    for (const Piece& p : piece) {
      if (p.width == 0) continue;
      w = set_bits(w, p.at, p.width, v);
      v >>= p.width;
    }
    return w;
  }
  [[nodiscard]] constexpr Word mask() const { return set({}, ~std::uint64_t{0}); }
};

constexpr Field bits(unsigned at, unsigned width) {
  Field f;
  f.piece[0] = {static_cast<std::uint8_t>(at), static_cast<std::uint8_t>(width)};
  return f;
}
constexpr Field bits(unsigned at, unsigned width, unsigned at2, unsigned width2) {
  Field f = bits(at, width);
  f.piece[1] = {static_cast<std::uint8_t>(at2), static_cast<std::uint8_t>(width2)};
  return f;
}
constexpr Field bits(unsigned at, unsigned width, unsigned at2, unsigned width2, unsigned at3, unsigned width3) {
  Field f = bits(at, width, at2, width2);
  f.piece[2] = {static_cast<std::uint8_t>(at3), static_cast<std::uint8_t>(width3)};
  return f;
}

// A legal value of an enumerated field and the token it prints as; Tok::kNone prints nothing. Values that no entry
// names are refused.
struct Enum {
  Tok tok;
  std::uint32_t raw;
};

// A modifier: ".TOKEN" after the mnemonic. A field without bits stands for a token that is always written.
struct Mod {
  Axis axis{};
  Field field{};
  std::span<const Enum> table{};
  bool glued = false;   // without a dot, on the token before it: .64x8 and x16
  std::int8_t on = -1;  // on this operand instead of the mnemonic: gdesc[UR4].tnspB
};

// What the text of an operand looks like, and so how its fields are read.
enum class SlotType : std::uint8_t {
  kNone,
  kGpr,
  kUGpr,
  kPred,
  kUPred,
  kBarrierReg,
  kImm,         // a number, by ImmFormat
  kConst,       // c[bank][value], c[bank][index + value], c[bank][ureg + value], or cx[ureg][value]
  kAddr,        // [index + ureg + value] with parts as present, or desc[desc][...]
  kLabel,       // address of the target
  kSpecialReg,  // SR_... by number
  kScoreboard,  // SB0 .. SB5
  kSet,         // {5,4,0}, omitted when empty
  kCc,          // CC of sm_50 .. sm_62; with a sub table a condition on it (CC.LT), omitted where it always holds
  kDescriptor,  // `word`[UR]: gdesc[UR4], the first of the uniform registers; desc[UR6] where it stands alone
  kGroup,       // gsb0, or nothing
  kWord,        // a fixed word of the text (PR, RZ where nothing else can stand): `word`
  kHiddenDesc,  // {desc=UR6}: a descriptor that nvdisasm hides (sm_80 .. sm_89), after the other operands
  kToken,       // a word of the sub table: 2D, ARRAY_CUBE, TEX_HEADER_DIMENSION
  kSrcA,        // placeholders that alu() turns into one of the above, see rowdsl.h
  kSrcB,
  kSrcC,
};

enum class ImmFormat : std::uint8_t {
  kHex,     // 0x1f, unsigned
  kSigned,  // -0x1f
  kF32,     // 1.5: the 32 bits of a float; in fewer bits its most significant ones (sm_50 .. sm_62 short immediates)
  kF64,     // 1.5: the most significant bits of a double
  kF16x2,  // 1, 2: two halves in one field, the upper one written first; prints as two operands. In 20 bits ten of each
  kBF16x2,
  kDecimal,      // 31
  kMagnitude,    // -0x1f: the highest bit of the field is the sign of the others
  kQuadSwapped,  // the same with the two bits of each lane swapped (sm_50 .. sm_62)
  kQuad,         // PNZPPPPP: what the four lanes of a quad do, two bits each, the first lane highest
};

// Consecutive registers of a register operand.
enum class Width : std::uint8_t {
  k1,
  k2,
  k4,
  k8,
  k3,
  kSize,            // by Axis::kSize: .64 2, .128 4, else 1
  kType,            // by Axis::kType: 64-bit types 2, 128 4, else 1
  kTypeCas,         // twice kType: compare and swap values of the 64-bit families (sm_50 .. sm_62)
  kDstType,         // by Axis::kDstType
  kSrcType,         // by Axis::kSrcType
  kAddress,         // by Axis::kWide: .E 2, else 1 (addresses of sm_50 .. sm_62)
  kCount,           // by Axis::kMode2: matrices of LDSM: none 1, .2 2, .4 4
  kTexLow,          // the first two of the components that a texture fetch's mask, its last operand, chooses
  kTexHigh,         // the others
  kTexCoord,        // coordinates, by the geometry operand: 2D 2, ARRAY_2D 3
  kTexExtra,        // level, offset and depth reference, as the modifiers ask for
  kTexHandleCoord,  // a handle and kTexCoord
  kTexHandleExtra,  // a handle and what kTexExtra asks for, if anything
  kTexSlopes,       // the derivatives of TXD: twice the dimensions
  kSurface,         // coordinates of a surface, by Axis::kGeometry
  k16,
  kProduct,         // accumulators of a warp's 16x8 product by Axis::kDstType: F32 4, F16 2
  kGroupProduct,    // accumulators of a warpgroup's 64xN product: N/2 of 32 bits, N/4 of F16
  kTensorLoad,      // UTMALDG: address, barrier, coordinates
  kTensorStore,     // UTMASTG, UTMAREDG: address, coordinates
  kTensorPrefetch,  // UTMAPF: coordinates
};

// When a slot is not written.
enum class Show : std::uint8_t {
  kAlways,
  kUnlessDefault,  // omitted when it holds `omitted`
  kWithNext,       // omitted when it and the next slot hold their defaults
  kIfExtended,     // written when Axis::kExtended is set; when not set it must hold `omitted` unless written
};

// A register that has no field of its own because another operand says which it is.
enum class Tie : std::uint8_t {
  kNone,
  kFirst,  // the first operand: FFMA32I R1, R2, 1.5, R1
  kNext,   // the register group after the operand before: ATOM.CAS R0, [R2], R4, R5
};

struct Slot {
  SlotType type = SlotType::kNone;
  Role role = Role::kUse;
  Width width = Width::k1;
  ImmFormat format = ImmFormat::kHex;
  Show show = Show::kAlways;
  Tie tie = Tie::kNone;
  std::uint8_t neg_bit = kNoBit;
  std::uint8_t abs_bit = kNoBit;
  std::uint8_t inv_bit = kNoBit;  // ! of predicates, ~ of registers
  std::uint8_t reuse_slot = Operand::kNoSlot;
  std::uint8_t shift = 0;        // value = field << shift
  bool is_signed = false;        // value is sign-extended (addresses, labels, signed immediates)
  bool late = false;             // read after issue
  bool signed_absolute = false;  // kAddr without base: the offset keeps its sign
  bool base_always = false;      // kAddr: the base is written even if it is RZ
  bool glued = false;            // no comma before it: RET.REL R2 0x10
  bool flip_inv = false;         // the inversion bit is 1 for "not inverted"
  bool reversed = false;         // a predicate as 7 - number: 0 is UPT
  std::uint8_t skip = 0;         // registers at the front of the group that are not read
  std::uint32_t omitted = 0;     // default value, see Show; for predicates kPT, or kPT + 8 for !PT
  Field value{};                 // register number, immediate, byte offset
  Field index{};                 // kAddr, kConst: GPR added (RZ: not written)
  Field ureg{};                  // kAddr, kConst: uniform register
  Field desc{};                  // kAddr: uniform register pair of the descriptor
  Field bank{};                  // kConst
  Width base_width = Width::k1;  // registers of `index`
  Width ureg_width = Width::k1;  // registers of `ureg`
  Tok base_suffix = Tok::kNone;  // written after the base register whenever that stands there: .64, .U32
  Field sub{};                   // part of the register: .H0_H0, .B1, .X4 ...
  std::span<const Enum> sub_table{};
  std::string_view word{};  // kWord

  // cx[UR][value]: a uniform register says which bank it is, not where in one.
  [[nodiscard]] constexpr bool bindless() const { return !ureg.none() && bank.none(); }

  // Words for a table of rows; each returns a changed copy.
  [[nodiscard]] constexpr Slot def() const {
    Slot s = *this;
    s.role = Role::kDef;
    return s;
  }
  [[nodiscard]] constexpr Slot both() const {
    Slot s = *this;
    s.role = Role::kBoth;
    return s;
  }
  [[nodiscard]] constexpr Slot neg(unsigned bit) const {
    Slot s = *this;
    s.neg_bit = static_cast<std::uint8_t>(bit);
    return s;
  }
  [[nodiscard]] constexpr Slot abs(unsigned bit) const {
    Slot s = *this;
    s.abs_bit = static_cast<std::uint8_t>(bit);
    return s;
  }
  [[nodiscard]] constexpr Slot inv(unsigned bit) const {
    Slot s = *this;
    s.inv_bit = static_cast<std::uint8_t>(bit);
    return s;
  }
  [[nodiscard]] constexpr Slot reuse(unsigned slot) const {
    Slot s = *this;
    s.reuse_slot = static_cast<std::uint8_t>(slot);
    return s;
  }
  [[nodiscard]] constexpr Slot wide(Width w) const {
    Slot s = *this;
    s.width = w;
    return s;
  }
  [[nodiscard]] constexpr Slot base(Width w, Tok suffix = Tok::kNone) const {
    Slot s = *this;
    s.base_width = w;
    s.base_suffix = suffix;
    return s;
  }
  [[nodiscard]] constexpr Slot uniform(Field f, Width w = Width::k1) const {
    Slot s = *this;
    s.ureg = f;
    s.ureg_width = w;
    return s;
  }
  [[nodiscard]] constexpr Slot described(Field f) const {
    Slot s = *this;
    s.desc = f;
    return s;
  }
  [[nodiscard]] constexpr Slot indexed(Field f) const {
    Slot s = *this;
    s.index = f;
    return s;
  }
  [[nodiscard]] constexpr Slot part(Field f, std::span<const Enum> table) const {
    Slot s = *this;
    s.sub = f;
    s.sub_table = table;
    return s;
  }
  [[nodiscard]] constexpr Slot omit(std::uint32_t value, Show when = Show::kUnlessDefault) const {
    Slot s = *this;
    s.omitted = value;
    s.show = when;
    return s;
  }
  [[nodiscard]] constexpr Slot scaled(unsigned by) const {
    Slot s = *this;
    s.shift = static_cast<std::uint8_t>(by);
    return s;
  }
  [[nodiscard]] constexpr Slot negative() const {
    Slot s = *this;
    s.is_signed = true;
    return s;
  }
  [[nodiscard]] constexpr Slot glue() const {
    Slot s = *this;
    s.glued = true;
    return s;
  }
  [[nodiscard]] constexpr Slot backwards() const {
    Slot s = *this;
    s.reversed = true;
    return s;
  }
  [[nodiscard]] constexpr Slot read_late() const {
    Slot s = *this;
    s.late = true;
    return s;
  }
};

constexpr Slot slot_of(SlotType type, Field value) {
  Slot s;
  s.type = type;
  s.value = value;
  return s;
}
constexpr Slot gpr(unsigned at) {
  return slot_of(SlotType::kGpr, bits(at, 8));
}
constexpr Slot ugpr(unsigned at) {
  return slot_of(SlotType::kUGpr, bits(at, 6));
}
constexpr Slot pred(unsigned at) {
  return slot_of(SlotType::kPred, bits(at, 3));
}
constexpr Slot upred(unsigned at) {
  return slot_of(SlotType::kUPred, bits(at, 3));
}
constexpr Slot breg(unsigned at) {
  return slot_of(SlotType::kBarrierReg, bits(at, 4));
}
constexpr Slot imm(Field f, ImmFormat format = ImmFormat::kHex) {
  Slot s = slot_of(SlotType::kImm, f);
  s.format = format;
  s.is_signed = format == ImmFormat::kSigned || format == ImmFormat::kMagnitude;
  return s;
}
constexpr Slot constant(Field offset, unsigned shift, Field bank) {
  Slot s = slot_of(SlotType::kConst, offset);
  s.shift = static_cast<std::uint8_t>(shift);
  s.bank = bank;
  return s;
}
constexpr Slot address(Field base, Field offset) {
  Slot s = slot_of(SlotType::kAddr, offset);
  s.index = base;
  s.is_signed = true;
  return s;
}
constexpr Slot label(Field f, unsigned shift = 0) {
  Slot s = slot_of(SlotType::kLabel, f);
  s.is_signed = true;
  s.shift = static_cast<std::uint8_t>(shift);
  return s;
}
constexpr Slot same_as_first() {
  Slot s = slot_of(SlotType::kGpr, {});
  s.tie = Tie::kFirst;
  return s;
}
constexpr Slot follows_previous() {
  Slot s = slot_of(SlotType::kGpr, {});
  s.tie = Tie::kNext;
  return s;
}
constexpr Slot token(Field f, std::span<const Enum> table) {
  Slot s = slot_of(SlotType::kToken, {});
  s.sub = f;
  s.sub_table = table;
  return s;
}
// "gdesc[UR4]": `width` uniform registers, of which the first `skip` are not read.
constexpr Slot descriptor(std::string_view text, unsigned at, Width width, unsigned skip = 0) {
  Slot s = slot_of(SlotType::kDescriptor, bits(at, 6));
  s.word = text;
  s.width = width;
  s.skip = static_cast<std::uint8_t>(skip);
  return s;
}
constexpr Slot group(unsigned at) {
  Slot s = slot_of(SlotType::kGroup, bits(at, 3));
  s.omitted = 7;
  s.show = Show::kUnlessDefault;
  return s;
}
constexpr Slot special(Field f) {
  return slot_of(SlotType::kSpecialReg, f);
}
constexpr Slot word(std::string_view text) {
  Slot s = slot_of(SlotType::kWord, {});
  s.word = text;
  return s;
}

// Keys of the latency table, where the row's are not those of its unit. kCount: those of its unit.
struct Timing {
  Producer result = Producer::kCount;            // what it writes, but predicates
  Producer predicate = Producer::kCount;         // predicates that it writes
  Consumer source = Consumer::kCount;            // registers that it reads
  Consumer predicate_source = Consumer::kCount;  // predicates that it reads as operands
  Consumer uniform_source = Consumer::kCount;    // uniform registers that it reads
  bool uniform = false;                          // reads them as the uniform datapath does, though of another unit
  Queue queue = Queue::kCount;
  ReadQueue read_queue = ReadQueue::kCount;
};

// Timing and flow traits, the same for every instruction of the row.
struct Traits {
  Unit unit = Unit::kAlu;
  Ready ready = Ready::kFixed;
  bool late = false;            // sources are read after issue: a read scoreboard frees them
  bool ends = false;            // control may leave here
  bool branch = false;          // its label operand is a target of control
  bool write_sb = false;        // may set a write scoreboard although it is of fixed latency or has no result
  bool late_uniform = false;    // its uniform registers are read after issue, too
  bool no_scoreboards = false;  // must set none
  bool publishes = false;  // lets somebody go on who may start an engine that reads what was stored (docs/engines.md)
  Timing timing{};
};

// A spelling that the text adds for certain operand values: IMAD.MOV, IMAD.SHL, IMAD.IADD.
enum class Alias : std::uint8_t { kNone, kImad };

struct Row {
  static constexpr std::size_t kMaxMods = Inst::kMaxModifiers;
  static constexpr std::size_t kMaxSlots = Inst::kMaxOperands;

  Op op = Op::NOP;
  Encoding encoding = Encoding::k128;
  ArchMask archs = 0;
  Word fixed{};       // values of the fixed bits: opcode, defaults
  Word never{};       // these bits are not all set at once: that is another instruction
  Word fixed_mask{};  // which bits are fixed; finish() computes it: all that nothing else owns
  std::uint8_t mod_count = 0;
  std::uint8_t slot_count = 0;
  std::array<Mod, kMaxMods> mod_array{};
  std::array<Slot, kMaxSlots> slot_array{};
  Traits traits{};
  Alias alias = Alias::kNone;
  bool uniform_guard = false;  // @UP0 instead of @P0
  bool has_guard = true;

  [[nodiscard]] constexpr std::span<const Mod> mods() const { return {mod_array.data(), mod_count}; }
  [[nodiscard]] constexpr std::span<const Slot> slots() const { return {slot_array.data(), slot_count}; }
  [[nodiscard]] constexpr Field guard_field() const { return encoding == Encoding::k128 ? bits(12, 3) : bits(16, 3); }
  [[nodiscard]] constexpr unsigned guard_inv() const { return encoding == Encoding::k128 ? 15 : 19; }
};

// Calls visit(Word mask) for each field that the row owns.
template <class Visit>
constexpr void each_field(const Row& r, Visit visit) {
  visit(kControlBits);
  if (r.has_guard) {
    visit(r.guard_field().mask());
    visit(bit_range(r.guard_inv(), 1));
  }
  for (const Mod& m : r.mods()) visit(m.field.mask());
  for (const Slot& s : r.slots()) {
    visit(s.value.mask());
    visit(s.index.mask());
    visit(s.ureg.mask());
    visit(s.desc.mask());
    visit(s.bank.mask());
    visit(s.sub.mask());
    if (s.neg_bit != kNoBit) visit(bit_range(s.neg_bit, 1));
    if (s.abs_bit != kNoBit) visit(bit_range(s.abs_bit, 1));
    if (s.inv_bit != kNoBit) visit(bit_range(s.inv_bit, 1));
  }
}

// True where no two fields of the row share a bit and no fixed value lies under a field.
constexpr bool proven(const Row& r) {
  Word owned;
  bool ok = true;
  each_field(r, [&](Word m) {
    if ((owned & m).any()) ok = false;
    owned = owned | m;
  });
  if ((r.fixed & owned).any()) ok = false;
  for (const Slot& s : r.slots()) {
    if (s.type == SlotType::kSrcA || s.type == SlotType::kSrcB || s.type == SlotType::kSrcC) ok = false;
  }
  for (const Mod& m : r.mods()) {
    if (m.table.empty()) ok = false;
    for (const Enum& e : m.table) {
      if (m.field.width() < 32 && (e.raw >> m.field.width()) != 0) ok = false;
    }
  }
  return ok;
}
constexpr bool proven(std::span<const Row> rows) {
  for (const Row& r : rows) {
    if (!proven(r)) return false;
  }
  return true;
}

// `r` with fixed_mask filled in.
constexpr Row finish(Row r) {
  Word owned;
  each_field(r, [&](Word m) { owned = owned | m; });
  r.fixed_mask = ~owned;
  return r;
}

// The register that the tied slot `i` of `inst` must hold.
std::uint8_t tied_register(const Inst& inst, std::size_t i);

// Every table, in the order in which the parser tries rows. rows.cpp lists the files.
std::span<const std::span<const Row>> all_rows();

// N of a warpgroup's 64xN product.
unsigned product_columns(const Inst& inst);
// 1 .. 5 of a tensor copy.
unsigned tensor_dims(const Inst& inst);

// Registers of a slot with width rule `w` in `inst`, whose modifiers are set.
std::uint8_t width_of(Width w, const Inst& inst);

// "SR_TID.X" for 33; "" where the number has no name. And back; -1: no such name.
std::string_view special_register_name(Encoding encoding, unsigned number);
int special_register_number(Encoding encoding, std::string_view name);
// The names of the 128-bit family.
inline std::string_view special_register_name(unsigned number) {
  return special_register_name(Encoding::k128, number);
}
inline int special_register_number(std::string_view name) {
  return special_register_number(Encoding::k128, name);
}

// The alias that the text of `inst` shows after its mnemonic (Tok::kNone: none).
Tok alias_token(const Inst& inst);

}  // namespace nervanagpu::sass
