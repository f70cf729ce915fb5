// Words of 128 bits: products of a warpgroup on the tensor engine. The operands are matrices in shared memory, named by 64-bit
// descriptors in uniform registers (gdesc[UR]: A in the first pair, B in the second), or A lies in registers. They run
// asynchronously: WARPGROUP.ARRIVE before, gsb0 on the last of a group, WARPGROUP.DEPBAR to await it.
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

constexpr std::array<Enum, 32> columns() {
  std::array<Enum, 32> table{};
  for (unsigned i = 0; i < 32; ++i) table[i] = {static_cast<Tok>(static_cast<unsigned>(Tok::M64xN8) + i), i};
  return table;
}
// Integers and bits: 8, 16, 24, 32, 48, 64 .. 256; the field holds step * i + first.
constexpr std::array<Enum, 18> integer_columns(unsigned step, unsigned first) {
  std::array<Enum, 18> table{};
  for (unsigned i = 0; i < 18; ++i) {
    const unsigned eights = i < 4 ? i + 1 : 2 * i - 2;
    table[i] = {static_cast<Tok>(static_cast<unsigned>(Tok::M64xN8) + eights - 1), step * i + first};
  }
  return table;
}

constexpr auto kColumns = columns();
constexpr auto kIntegerColumns = integer_columns(3, 0);
constexpr auto kSparseIntegerColumns = integer_columns(3, 1);
constexpr auto kBitColumns = integer_columns(1, 0);
// Depths; the number is the field of HGMMA.
constexpr Enum kHalfDepth[] = {{Tok::K16, 0}};
constexpr Enum kWordDepth[] = {{Tok::K8, 1}};
constexpr Enum kSparseHalfDepth[] = {{Tok::K32, 2}};
constexpr Enum kSparseWordDepth[] = {{Tok::K16, 0}};
constexpr Enum kByteDepth[] = {{Tok::K32, 0}};
constexpr Enum kSparseByteDepth[] = {{Tok::K64, 0}};
constexpr Enum kBitDepth[] = {{Tok::K256, 0}};
constexpr Enum kEightBitDepth[] = {{Tok::K32, 0}};
constexpr Enum kSparseEightBitDepth[] = {{Tok::K64, 1}};
constexpr Enum kSum[] = {{Tok::F16, 0}, {Tok::F32, 1}};
constexpr Enum kSum32[] = {{Tok::F32, 1}};
constexpr Enum kSigns[] = {{Tok::U8, 0}, {Tok::S8, 1}};
constexpr Enum kEightBit[] = {{Tok::E4M3, 0}, {Tok::E5M2, 1}};

constexpr Traits kEngine{.unit = Unit::kGmma, .ready = Ready::kGroup, .no_scoreboards = true};

// What a family of products is made of.
struct Family {
  Op op;
  unsigned code;  // with A in shared memory; + 0x400 with A in registers
  Word fixed{};
  Mod shape{}, depth{};
  std::array<Mod, 3> types{};  // after the shape
  unsigned type_count = 0;
  bool negates = false;
  bool transposes = false;
  bool sparse = false;
  bool selects = false;  // a sparse product names which of four metadata registers
};

constexpr void add(RowList<64>& t, const Family& f) {
  for (const bool registers : {false, true}) {
    Row r = row(f.op, kHopper, f.fixed | code128((f.code + (registers ? 0x400 : 0)) | kU), {}, {}, kEngine);
    const auto mod = [&](const Mod& m) { r.mod_array[r.mod_count++] = m; };
    const auto slot = [&](const Slot& s) { r.slot_array[r.slot_count++] = s; };
    if (f.sparse) {
      r.fixed = r.fixed | code128(0, {{73, 1, 1}});
      mod(always<Tok::SP>(Axis::kSparse));
    }
    mod(f.shape);
    mod(glued(f.depth));
    for (unsigned i = 0; i < f.type_count; ++i) mod(f.types[i]);
    const unsigned on = registers ? 2 : 1;
    if (f.negates && !registers) mod(on_operand(flag<Tok::negA>(Axis::kNegA, 72), on));
    if (f.negates) mod(on_operand(flag<Tok::negB>(Axis::kNegB, 63), on));
    if (f.transposes && !registers) mod(on_operand(flag<Tok::tnspA>(Axis::kTransA, 61), on));
    if (f.transposes) mod(on_operand(flag<Tok::tnspB>(Axis::kTransB, 62), on));
    slot(gpr(16).def().wide(Width::kGroupProduct));
    if (registers) {
      const Slot a = gpr(24).wide(Width::k4);
      slot(f.negates ? a.neg(72) : a);
    }
    slot(descriptor("gdesc", registers ? 32 : 24, Width::k4, registers ? 2 : 0));
    slot(gpr(64).wide(Width::kGroupProduct));
    slot(upred(87).inv(90).backwards().omit(kPT));
    if (f.sparse) slot(gpr(40));
    if (f.sparse && f.selects) slot(imm(bits(48, 2)));
    slot(group(84));
    t.add(r);
  }
}

constexpr void halves(RowList<64>& t, bool sparse) {
  Family f{.op = Op::HGMMA, .code = 0x9f0};
  f.shape = {Axis::kShape, bits(53, 5), kColumns};
  f.sparse = f.selects = sparse;
  f.negates = f.transposes = true;
  f.depth = {Axis::kShapeK, bits(58, 2), kHalfDepth};
  if (sparse) f.depth.table = kSparseHalfDepth;
  f.types = {Mod{Axis::kDstType, bits(75, 1), kSum}};
  f.type_count = 1;
  add(t, f);
  f.types = {Mod{Axis::kDstType, bits(75, 1), kSum32}, always<Tok::BF16>(Axis::kSrcType)};
  f.type_count = 2;
  f.fixed = code128(0, {{76, 1, 1}});
  add(t, f);
  f.types[1] = always<Tok::TF32>(Axis::kSrcType);
  f.fixed = code128(0, {{77, 1, 1}});
  f.transposes = false;
  f.depth.table = kWordDepth;
  if (sparse) f.depth.table = kSparseWordDepth;
  add(t, f);
}

constexpr void bytes(RowList<64>& t, bool sparse) {
  Family f{.op = Op::IGMMA, .code = 0x9f1};
  f.sparse = sparse;
  f.shape = {Axis::kShape, bits(53, 6), kIntegerColumns};
  if (sparse) f.shape.table = kSparseIntegerColumns;
  f.depth = {Axis::kShapeK, {}, kByteDepth};
  if (sparse) f.depth.table = kSparseByteDepth;
  f.types = {Mod{Axis::kSrcType, bits(76, 2), kSigns}, Mod{Axis::kSrcType2, bits(82, 2), kSigns},
             flag<Tok::SAT>(Axis::kSat, 75)};
  f.type_count = 3;
  add(t, f);
  Family q{.op = Op::QGMMA, .code = 0x9f3};
  q.sparse = sparse;
  q.negates = true;
  q.shape = {Axis::kShape, bits(53, 5), kColumns};
  q.depth = {Axis::kShapeK, bits(58, 1), kEightBitDepth};
  if (sparse) q.depth.table = kSparseEightBitDepth;
  q.types = {Mod{Axis::kDstType, bits(75, 1), kSum}, Mod{Axis::kSrcType, bits(76, 1), kEightBit},
             Mod{Axis::kSrcType2, bits(77, 1), kEightBit}};
  q.type_count = 3;
  add(t, q);
}

constexpr auto build() {
  RowList<64> t;
  for (const bool sparse : {false, true}) {
    halves(t, sparse);
    bytes(t, sparse);
  }
  Family b{.op = Op::BGMMA, .code = 0x9f2};
  b.fixed = code128(0, {{78, 1, 1}, {80, 1, 1}});
  b.shape = {Axis::kShape, bits(53, 6), kBitColumns};
  b.depth = {Axis::kShapeK, {}, kBitDepth};
  b.types = {always<Tok::AND_POPC>(Axis::kFunction)};
  b.type_count = 1;
  add(t, b);
  constexpr Traits sync{.unit = Unit::kGmma, .no_scoreboards = true};
  t.add(row(Op::WARPGROUP, kHopper, code128(0x9c5), {always<Tok::ARRIVE>(Axis::kFunction)}, {}, sync));
  Slot awaited = group(84);
  awaited.show = Show::kAlways;
  t.add(row(Op::WARPGROUP, kHopper, code128(0x9c5, {{80, 1, 1}, {47, 1, 1}}),
            {always<Tok::DEPBAR>(Axis::kFunction), always<Tok::LE>(Axis::kCmp)}, {awaited, imm(bits(72, 3))}, sync));
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_gmma() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
