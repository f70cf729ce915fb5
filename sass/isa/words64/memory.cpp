// Words of 64 bits: loads, stores, atomics, shuffles. An address with .E is 64 bits wide, in a register pair.
#include "sass/isa/rows/rowdsl64.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off
constexpr Enum kSize[]       = {{Tok::U8, 0}, {Tok::S8, 1}, {Tok::U16, 2}, {Tok::S16, 3}, {Tok::kNone, 4}, {Tok::k64, 5}, {Tok::k128, 6}};
constexpr Enum kSizeU[]      = {{Tok::U8, 0}, {Tok::S8, 1}, {Tok::U16, 2}, {Tok::S16, 3}, {Tok::k32, 4}, {Tok::k64, 5}, {Tok::k128, 6}};
constexpr Enum kSizeLoad[]   = {{Tok::U8, 0}, {Tok::S8, 1}, {Tok::U16, 2}, {Tok::S16, 3}, {Tok::kNone, 4}, {Tok::k64, 5}, {Tok::k128, 6}, {Tok::U_128, 7}};
constexpr Enum kSizeC[]      = {{Tok::U8, 0}, {Tok::S8, 1}, {Tok::U16, 2}, {Tok::S16, 3}, {Tok::kNone, 4}, {Tok::k64, 5}};
constexpr Enum kCacheLoad[]  = {{Tok::kNone, 0}, {Tok::CG, 1}, {Tok::CI, 2}, {Tok::CV, 3}};
constexpr Enum kCacheLocal[] = {{Tok::kNone, 0}, {Tok::LU, 1}, {Tok::CI, 2}, {Tok::CV, 3}};
constexpr Enum kCacheStore[] = {{Tok::kNone, 0}, {Tok::CG, 1}, {Tok::CS, 2}, {Tok::WT, 3}};
constexpr Enum kIndexed[]    = {{Tok::kNone, 0}, {Tok::IL, 1}, {Tok::IS, 2}, {Tok::ISL, 3}};
constexpr Enum kShuffle[]    = {{Tok::IDX, 0}, {Tok::UP, 1}, {Tok::DOWN, 2}, {Tok::BFLY, 3}};
constexpr Enum kCcctl[]      = {{Tok::PF1, 1}, {Tok::PF2, 3}, {Tok::WB, 4}, {Tok::IV, 5}};
// An atomic's types depend on its operation.
constexpr Enum kAtomAny[]    = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::INC, 3}, {Tok::DEC, 4}, {Tok::AND, 5}, {Tok::OR, 6}, {Tok::XOR, 7}, {Tok::EXCH, 8}};
constexpr Enum kAtomAdd[]    = {{Tok::ADD, 0}};
constexpr Enum kAtomOrder[]  = {{Tok::MIN, 1}, {Tok::MAX, 2}};
constexpr Enum kAtomBits[]   = {{Tok::AND, 5}, {Tok::OR, 6}, {Tok::XOR, 7}, {Tok::EXCH, 8}};
constexpr Enum kAtomSwap[]   = {{Tok::EXCH, 8}};
constexpr Enum kRedAny[]     = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::INC, 3}, {Tok::DEC, 4}, {Tok::AND, 5}, {Tok::OR, 6}, {Tok::XOR, 7}};
constexpr Enum kRedBits[]    = {{Tok::AND, 5}, {Tok::OR, 6}, {Tok::XOR, 7}};
constexpr Enum kPlain[]      = {{Tok::kNone, 0}};
constexpr Enum kAddTypes[]   = {{Tok::S32, 1}, {Tok::U64, 2}, {Tok::F32_FTZ_RN, 3}};
constexpr Enum kPascalTypes[] = {{Tok::F16x2_RN, 4}, {Tok::F64_RN, 6}};
constexpr Enum kOrderTypes[] = {{Tok::S32, 1}, {Tok::U64, 2}, {Tok::S64, 5}};
constexpr Enum kOnlyU64[]    = {{Tok::U64, 2}};
constexpr Enum kOnlyS32[]    = {{Tok::S32, 1}};
constexpr Enum kCasType[]    = {{Tok::kNone, 0}, {Tok::k64, 1}};

constexpr auto build() {
  RowList<64> t;
  constexpr Traits global_load{.unit = Unit::kMemGlobal, .ready = Ready::kScoreboard, .late = true};
  constexpr Traits global_store{.unit = Unit::kMemGlobal, .late = true};
  constexpr Traits shared_load{.unit = Unit::kMemShared, .ready = Ready::kScoreboard, .late = true};
  constexpr Traits shared_store{.unit = Unit::kMemShared, .late = true};
  constexpr Traits const_load{.unit = Unit::kMemConst, .ready = Ready::kScoreboard, .late = true};

  const Mod size{Axis::kSize, bits(48, 3), kSize};
  const Slot value_out = gpr(0).def().wide(Width::kSize);
  const Slot value_in = gpr(0).wide(Width::kSize).read_late();
  const Slot wide_address = address(bits(8, 8), bits(20, 24)).base(Width::kAddress).read_late();
  const Slot short_address = address(bits(8, 8), bits(20, 24)).read_late();

  // Global memory; LD and ST take a generic address and, as a predicate, whether it is a global one.
  const Mod e45 = flag<Tok::E>(Axis::kWide, 45);
  const auto cache = [](unsigned at, std::span<const Enum> e) { return Mod{Axis::kCache, bits(at, 2), e}; };
  t.add(row(Op::LDG, kMaxwell, top16(0xeed0), {e45, cache(46, kCacheLoad), Mod{Axis::kSize, bits(48, 3), kSizeLoad}}, {value_out, wide_address}, global_load));
  t.add(row(Op::STG, kMaxwell, top16(0xeed8), {e45, cache(46, kCacheStore), size}, {wide_address, value_in}, global_store));
  const Mod e52 = flag<Tok::E>(Axis::kWide, 52);
  const Mod generic_size{Axis::kSize, bits(53, 3), kSize};
  const Slot generic = address(bits(8, 8), bits(20, 32)).base(Width::kAddress).read_late();
  t.add(row(Op::LD, kMaxwell, top16(0x8000), {e52, cache(56, kCacheLoad), Mod{Axis::kSize, bits(53, 3), kSizeLoad}}, {value_out, generic, pred(58).omit(kPT)}, global_load));
  t.add(row(Op::ST, kMaxwell, top16(0xa000), {e52, cache(56, kCacheStore), generic_size}, {generic, value_in, pred(58).omit(kPT)}, global_store));
  t.add(row(Op::CCTL, kMaxwell, top16(0xef60), {e52, Mod{Axis::kFunction, bits(0, 4), kCcctl}},
            {address(bits(8, 8), bits(22, 30)).scaled(2).base(Width::kAddress).read_late()}, global_store));
  t.add(row(Op::CCTLL, kMaxwell, top16(0xef80), {Mod{Axis::kFunction, bits(0, 4), kCcctl}}, {address(bits(8, 8), bits(22, 22)).scaled(2).read_late()}, global_store));

  // Shared, local and constant memory.
  t.add(row(Op::LDS, kMaxwell, top16(0xef48), {size}, {value_out, short_address}, shared_load));
  t.add(row(Op::LDS, kMaxwell, top16(0xef48, {{44, 1, 1}}), {always<Tok::U>(Axis::kUniform), Mod{Axis::kSize, bits(48, 3), kSizeU}}, {value_out, short_address}, shared_load));
  t.add(row(Op::STS, kMaxwell, top16(0xef58), {size}, {short_address, value_in}, shared_store));
  t.add(row(Op::LDL, kMaxwell, top16(0xef40), {cache(44, kCacheLocal), size}, {value_out, short_address}, global_load));
  t.add(row(Op::STL, kMaxwell, top16(0xef50), {cache(44, kCacheStore), size}, {short_address, value_in}, global_store));
  Slot indexed = constant(bits(20, 16), 0, bits(36, 5)).indexed(bits(8, 8)).read_late();
  indexed.is_signed = true;
  t.add(row(Op::LDC, kMaxwell, top16(0xef90), {Mod{Axis::kSize, bits(48, 3), kSizeC}, Mod{Axis::kIndex, bits(44, 2), kIndexed}}, {value_out, indexed}, const_load));

  // Atomics.
  const Mod e48 = flag<Tok::E>(Axis::kWide, 48);
  const Slot old_value = gpr(0).def().wide(Width::kType);
  const Slot operand = gpr(20).wide(Width::kType).read_late();
  const Slot atom_address = address(bits(8, 8), bits(28, 20)).base(Width::kAddress).read_late();
  const auto atom = [&](std::span<const Enum> ops, std::span<const Enum> types, ArchMask archs = kMaxwell) {
    t.add(row(Op::ATOM, archs, top16(0xed00), {e48, Mod{Axis::kFunction, bits(52, 4), ops}, Mod{Axis::kType, bits(49, 3), types}},
              {old_value, atom_address, operand}, global_load));
  };
  atom(kAtomAny, kPlain);
  atom(kAtomAdd, kAddTypes);
  atom(kAtomOrder, kOrderTypes);
  atom(kAtomBits, kOnlyU64);
  atom(kAtomAdd, kPascalTypes, kPascal);
  // The new value of a compare and swap lies after the compared one.
  const Slot compared = gpr(20).wide(Width::kTypeCas).read_late();
  t.add(row(Op::ATOM, kMaxwell, top16(0xeef0), {e48, always<Tok::CAS>(Axis::kFunction), Mod{Axis::kType, bits(49, 1), kCasType}},
            {old_value, atom_address, compared, follows_previous().wide(Width::kType).read_late()}, global_load));

  const Slot shared_address = address(bits(8, 8), bits(30, 22)).scaled(2).read_late();
  const auto atoms = [&](std::span<const Enum> ops, std::span<const Enum> types) {
    t.add(row(Op::ATOMS, kMaxwell, top16(0xec00), {Mod{Axis::kFunction, bits(52, 4), ops}, Mod{Axis::kType, bits(28, 2), types}},
              {old_value, shared_address, operand}, shared_load));
  };
  atoms(kAtomAny, kPlain);
  atoms(kAtomAdd, kOnlyS32);
  atoms(kAtomOrder, kOnlyS32);
  atoms(kAtomSwap, kOnlyU64);
  t.add(row(Op::ATOMS, kMaxwell, top16(0xee40), {always<Tok::CAS>(Axis::kFunction), Mod{Axis::kType, bits(52, 1), kCasType}},
            {old_value, shared_address, compared, follows_previous().wide(Width::kType).read_late()}, shared_load));

  const auto red = [&](std::span<const Enum> ops, std::span<const Enum> types, ArchMask archs = kMaxwell) {
    t.add(row(Op::RED, archs, top16(0xebf8), {e48, Mod{Axis::kFunction, bits(23, 3), ops}, Mod{Axis::kType, bits(20, 3), types}},
              {atom_address, gpr(0).wide(Width::kType).read_late()}, global_store));
  };
  red(kRedAny, kPlain);
  red(kAtomAdd, kAddTypes);
  red(kAtomOrder, kOrderTypes);
  red(kRedBits, kOnlyU64);
  red(kAtomAdd, kPascalTypes, kPascal);

  // SHFL: lane and mask are a register or an immediate each.
  const Mod shuffle{Axis::kFunction, bits(30, 2), kShuffle};
  const Slot in_range = pred(48).def();
  Traits shuffles = shared_load;
  shuffles.timing.source = Consumer::kAddress;
  for (unsigned k = 0; k < 4; ++k) {
    const Slot lane = (k & 1) != 0 ? imm(bits(20, 5)) : gpr(20).read_late();
    const Slot mask = (k & 2) != 0 ? imm(bits(34, 13)) : gpr(39).read_late();
    t.add(row(Op::SHFL, kMaxwell, top16(0xef10, {{28, 2, k}}), {shuffle}, {in_range, gpr(0).def(), slow_a(), lane, mask}, shuffles));
  }
  return t;
}
// clang-format on

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows64_memory() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
