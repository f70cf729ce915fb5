// A decoded instruction: what the parser makes of text, what the decoder makes of a Word, what the encoder and the
// printer take, and the only view of an instruction that schedule, verify and emulate ever need.
//
// Operands stand in text order. Registers are plain numbers; RZ, URZ, PT and UPT are the constants below in both
// encoding families. Modifiers are (axis, token) pairs: the axis says what is chosen (the comparison, the rounding),
// the token says which (LT, RM); tokens mean the same in both families, whatever their bits.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sass/isa/control.h"
#include "sass/isa/op.h"
#include "sass/isa/word.h"

namespace nervanagpu::sass {

struct Row;  // sass/isa/rows/row.h

inline constexpr std::uint8_t kRZ = 255;
inline constexpr std::uint8_t kURZ = 63;
inline constexpr std::uint8_t kPT = 7;       // also UPT
inline constexpr std::int64_t kNoGroup = 7;  // no gsb0
inline constexpr std::uint8_t kNoReg = 254;  // "no such part": an address without base, desc or uniform offset

enum class OperandKind : std::uint8_t {
  kNone,
  kGpr,           // R0..R254, RZ: `reg`, `width` registers from there
  kUGpr,          // UR0..UR62, URZ
  kPred,          // P0..P6, PT; `inv` = !P
  kUPred,         // UP0..UP6, UPT; `inv` = !UP
  kImm,           // `imm`: raw bits, sign-extended where the field is signed
  kConst,         // c[bank][imm], c[bank][reg + imm], c[bank][ureg + imm], or cx[ureg][imm], where `uwidth` is 2
  kAddr,          // desc[desc][reg.64 + ureg + imm], see below
  kLabel,         // `imm`: byte address of the target in the kernel
  kSpecialReg,    // S2R: `imm` is the number of the special register
  kScoreboard,    // DEPBAR's SBn: `imm`
  kGprOrBarrier,  // reserved
  kBarrierReg,    // BSSY, BSYNC, WARPSYNC convergence barrier B0..B15: `reg`
  kSet,           // DEPBAR's {3,1,0}: `imm` is the mask
  kCc,            // the condition code register CC of sm_50 .. sm_62
  kGroup,         // gsb0: `imm` is 0; kNoGroup: none
};

// What an instruction does with a register operand.
enum class Role : std::uint8_t { kUse, kDef, kBoth };

struct Operand {
  OperandKind kind = OperandKind::kNone;
  Role role = Role::kUse;
  std::uint8_t reg = kRZ;       // GPR, UGPR, predicate or barrier number; base register of kAddr (kNoReg: none)
  std::uint8_t width = 1;       // consecutive registers (GPR/UGPR operands; for kAddr those of the base: 1 or 2)
  std::uint8_t ureg = kNoReg;   // kAddr: uniform offset; kConst: see there; kNoReg: none
  std::uint8_t uwidth = 1;      // uniform registers of `ureg`
  std::uint8_t desc = kNoReg;   // kAddr: uniform register pair of the memory descriptor; kNoReg: none
  std::uint8_t bank = 0;        // kConst
  std::uint8_t slot = kNoSlot;  // reuse-cache slot 0..3 (A, B, C); kNoSlot: the operand has none
  bool neg = false;             // -x
  bool abs = false;             // |x|
  bool inv = false;             // !p, or ~x
  bool reuse = false;           // .reuse
  Tok sub = Tok::kNone;  // part of the register: H0_H0, H1_H1, H0_NH1, B0..B3, X4, X8, X16, .64, .U32 of an address
  std::int64_t imm = 0;  // immediate, byte offset, target address, special register number, mask

  static constexpr std::uint8_t kNoSlot = 255;
  friend bool operator==(const Operand&, const Operand&) = default;
};

// cx[UR][imm].
[[nodiscard]] constexpr bool is_bindless(const Operand& o) {
  return o.kind == OperandKind::kConst && o.ureg != kNoReg && o.uwidth == 2;
}

struct Guard {
  std::uint8_t pred = kPT;
  bool inv = false;      // @!P
  bool uniform = false;  // @UP
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct Modifier {
  Axis axis;
  Tok tok;
  friend bool operator==(const Modifier&, const Modifier&) = default;
};

struct Inst {
  static constexpr std::size_t kMaxOperands = 9;
  static constexpr std::size_t kMaxModifiers = 12;

  const Row* row = nullptr;
  Op op = Op::NOP;
  Guard guard;
  Control control;
  std::uint8_t operand_count = 0;
  std::uint8_t modifier_count = 0;
  std::array<Operand, kMaxOperands> operand_array;
  std::array<Modifier, kMaxModifiers> modifier_array;

  [[nodiscard]] std::span<const Operand> operands() const { return {operand_array.data(), operand_count}; }
  [[nodiscard]] std::span<Operand> operands() { return {operand_array.data(), operand_count}; }
  [[nodiscard]] std::span<const Modifier> modifiers() const { return {modifier_array.data(), modifier_count}; }

  // The token chosen on `axis`, or `fallback` where the row has no such axis.
  [[nodiscard]] Tok mod(Axis axis, Tok fallback = Tok::kNone) const {
    for (const Modifier& m : modifiers()) {
      if (m.axis == axis) return m.tok;
    }
    return fallback;
  }
  [[nodiscard]] bool has(Axis axis, Tok tok) const { return mod(axis) == tok; }
};

}  // namespace nervanagpu::sass
