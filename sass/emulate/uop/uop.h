// Micro-operations: what load() turns each instruction into, once. A Uop is what the inner loop reads (24 bytes): the
// handler and the register rows of an instruction with plain register operands. Everything else that a handler may need
// stands in its Detail.
#pragma once

#include <array>
#include <cstdint>

#include "sass/half.h"
#include "sass/isa/inst.h"

namespace nervanagpu::sass::emulate {

struct Warp;
struct Uop;
struct Detail;

// Executes *u for the lanes Warp::exec and returns the next micro-op, or nullptr when the lane group stops (Warp::stop
// says why).
using Handler = const Uop* (*)(Warp&, const Uop* u);

struct Uop {
  Handler run = nullptr;  // guard included; may run on over equal successors
  std::uint16_t d = 0;    // rows of plain register operands, see Rows
  std::uint16_t a = 0;
  std::uint16_t b = 0;
  std::uint16_t c = 0;
  const Detail* x = nullptr;
};

// The register file of a warp is an array of rows of 32 lanes. Four rows of zeros stand for RZ and the registers after
// it, four more take what is written to RZ.
namespace rows {
inline constexpr std::uint16_t kZero = 0;
inline constexpr std::uint16_t kDump = 4;
inline constexpr std::uint16_t kFirst = 8;  // R0
constexpr std::uint16_t use(std::uint8_t reg) {
  return static_cast<std::uint16_t>(reg == kRZ ? kZero : kFirst + reg);
}
constexpr std::uint16_t def(std::uint8_t reg) {
  return static_cast<std::uint16_t>(reg == kRZ ? kDump : kFirst + reg);
}
}  // namespace rows

// Uniform registers are scalars; URZ and the three after it read as zero, writes to it go elsewhere.
namespace uregs {
inline constexpr std::uint8_t kDump = 68;
inline constexpr std::size_t kCount = 72;
constexpr std::uint8_t def(std::uint8_t reg) {
  return reg == kURZ ? kDump : reg;
}
}  // namespace uregs

// c[0], c[2], c[3] and c[4] stand one after the other, each with a little more that reads as zero after it.
inline constexpr std::uint32_t kConstantBank = 0x10000 + 16;
// Which of them a bank is, or -1.
constexpr int bank_slot(unsigned bank) {
  return bank == 0 ? 0 : bank >= 2 && bank <= 4 ? static_cast<int>(bank) - 1 : -1;
}

// Predicates are lane masks: P0..P6, PT, then UP0..UP6, UPT as all or nothing, then what is written to PT or UPT, then
// the flags of the condition code CC of sm_50 .. sm_62.
namespace preds {
inline constexpr std::uint8_t kTrue = 7;
inline constexpr std::uint8_t kUniform = 8;
inline constexpr std::uint8_t kDump = 16;
inline constexpr std::uint8_t kZero = 17;
inline constexpr std::uint8_t kSign = 18;
inline constexpr std::uint8_t kCarry = 19;
inline constexpr std::uint8_t kOverflow = 20;
inline constexpr std::size_t kCount = 21;
}  // namespace preds

struct PredUse {
  std::uint8_t index = preds::kTrue;
  bool inv = false;
};

// A source value: a register row, or a scalar that every lane sees. A lane computes ((v & keep) ^ flip) + add, which is
// neg and abs of floats, and ~ and two's complement of integers.
struct Src {
  enum class Kind : std::uint8_t { kNone, kRow, kImm, kConst, kUniform, kDescribed };
  Kind kind = Kind::kNone;
  bool plain = true;  // the transformation is the identity
  bool neg = false;   // as written, for handlers that do it themselves
  bool abs = false;
  bool inv = false;
  std::uint8_t part = 0;  // byte or half selector, per family
  Tok sub = Tok::kNone;
  std::uint16_t row = rows::kZero;
  std::uint32_t bits = 0;     // immediate, byte offset in the constants (kConstantBank a bank), uniform register
  std::uint32_t bits_hi = 0;  // upper half of a 64-bit immediate; the uniform register of cx[UR][bits]
  std::uint32_t keep = ~0u;
  std::uint32_t flip = 0;
  std::uint32_t add = 0;
};

// [base + ureg + offset]
struct Address {
  bool wide = false;  // 64-bit base
  std::uint16_t base = rows::kZero;
  std::uint8_t ureg = kURZ;
  std::uint8_t uwidth = 1;  // 2: 64-bit
  std::uint8_t shift = 0;   // the base is scaled
  std::int32_t offset = 0;
};

// Of a tensor-core instruction.
struct TensorOp {
  enum class Element : std::uint8_t { kF16, kBf16, kTf32, kE4m3, kE5m2, kS8, kU8, kF64, kBit, kS4, kU4 };
  Element a = Element::kF16;
  Element b = Element::kF16;
  bool half = false;  // accumulators are float16
  bool saturate = false;
  bool negate = false;  // the products
  bool transposed_a = false;
  bool transposed_b = false;
  bool registers_a = false;   // A comes from registers, B from shared memory
  bool sparse = false;        // k is that of the stored elements
  std::uint8_t selector = 0;  // of the lanes that have its metadata
  std::uint8_t commit = 7;    // the group that this instruction closes, gsb0 being 0
  std::uint8_t m = 16;        // rows of a warp
  std::uint16_t n = 8;
  std::uint16_t k = 16;
  std::uint8_t descriptor = kURZ;     // uniform registers
  std::uint16_t row_a = rows::kZero;  // register rows
  std::uint16_t row_b = rows::kZero;
  std::uint16_t row_c = rows::kZero;
  std::uint16_t row_metadata = rows::kZero;
  PredUse keep_c;
};

// Of an instruction that reads a texture or touches a surface.
struct TextureOp {
  static constexpr std::uint16_t kNoRow = 0xffff;
  std::uint16_t low = rows::kDump;   // rows of the first two results
  std::uint16_t high = rows::kDump;  // and of the others
  std::uint16_t at = rows::kZero;    // coordinates, after the layer if there is one
  std::uint16_t extra = rows::kZero;
  std::uint16_t data = rows::kZero;  // that a surface is given
  std::uint8_t mask = 15;            // components that are results
  std::uint8_t handle = kURZ;        // uniform register
  std::uint16_t handles = kNoRow;    // the lanes' own, where they have some
  std::uint8_t geometry = 0;         // an ImageKind
  std::uint8_t component = 0;        // TLD4
  std::uint8_t outside = 0;          // surfaces: an Outside
};

struct Detail {
  Handler body = nullptr;          // without the guard, one instruction
  Handler of_described = nullptr;  // the same, once what cx[UR] names has been read
  PredUse guard;
  bool to_uniform = false;          // the result is a uniform register
  std::uint8_t width = 1;           // registers of the result, or of the data of a store
  std::uint16_t dst = rows::kDump;  // row, or uniform register
  std::array<Src, 5> src{};         // value operands in text order
  std::uint8_t src_count = 0;
  std::array<std::uint8_t, 2> pdst{preds::kDump, preds::kDump};
  std::uint8_t pdst_count = 0;
  std::array<PredUse, 4> puse{};
  std::uint8_t puse_count = 0;
  std::array<Address, 2> address{};
  std::uint8_t address_count = 0;
  std::uint32_t imm = 0;  // look-up table, scale, barrier number, mask ...
  std::uint32_t imm2 = 0;
  std::uint8_t kind = 0;  // comparison, function, mode: per family
  std::uint8_t kind2 = 0;
  std::uint8_t round = 0;  // Round
  bool ftz = false;
  bool sat = false;
  bool is_signed = false;
  bool extended = false;  // .X, .EX
  bool flag = false;      // per family
  bool flag2 = false;
  bool im2col = false;
  bool flag3 = false;
  std::uint8_t bytes = 4;            // of a memory access
  std::uint8_t described_bytes = 4;  // that cx[UR] is read for
  std::uint32_t index = 0;           // position in the kernel
  std::uint32_t target = 0;          // instruction index of a label
  std::int64_t jump_base = 0;        // indirect jumps: byte address that the register is added to
  TensorOp tensor;
  TextureOp texture;
};

}  // namespace nervanagpu::sass::emulate
