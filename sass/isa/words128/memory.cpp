// Words of 128 bits: loads, stores, asynchronous copies, atomics, cache control, shuffles.
#include "sass/isa/rows/addressing.h"
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kConstSize[] = {{Tok::U8, 0},  {Tok::S8, 1},    {Tok::U16, 2},
                               {Tok::S16, 3}, {Tok::kNone, 4}, {Tok::k64, 5}};
constexpr Enum kIndexMode[] = {{Tok::kNone, 0}, {Tok::IL, 1}, {Tok::IS, 2}, {Tok::ISL, 3}};
constexpr Enum kIndexScale[] = {{Tok::kNone, 0}, {Tok::X4, 1}, {Tok::X8, 2}, {Tok::X16, 3}};
constexpr Enum kCopySize[] = {{Tok::kNone, 4}, {Tok::k64, 5}, {Tok::k128, 6}};
constexpr Enum kCopyOrder[] = {{Tok::kNone, 0}};
constexpr Enum kBypass[] = {{Tok::BYPASS, 0}, {Tok::kNone, 1}};
constexpr Enum kAtomic[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::INC, 3}, {Tok::DEC, 4},
                            {Tok::AND, 5}, {Tok::OR, 6},  {Tok::XOR, 7}, {Tok::EXCH, 8}};
constexpr Enum kRedFunction[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::INC, 3},
                                 {Tok::DEC, 4}, {Tok::AND, 5}, {Tok::OR, 6},  {Tok::XOR, 7}};
constexpr Enum kAtomicType[] = {{Tok::kNone, 0}, {Tok::S32, 1}, {Tok::k64, 2}, {Tok::S64, 3}};
constexpr Enum kSharedType[] = {{Tok::kNone, 0}, {Tok::S32, 1}, {Tok::k64, 2}};
constexpr Enum kAtomicFloat[] = {
    {Tok::F16x2_RN, 0}, {Tok::BF16x2_RN, 3}, {Tok::F32_FTZ_RN, 9}, {Tok::F32_RN, 12}, {Tok::F64_RN, 15}};
// Several floats at once, each added by itself.
constexpr Enum kAtomicVector[] = {{Tok::F16x4_RN, 1},  {Tok::F16x8_RN, 2},      {Tok::BF16x4_RN, 4},
                                  {Tok::BF16x8_RN, 5}, {Tok::F32x2_FTZ_RN, 10}, {Tok::F32x4_FTZ_RN, 11},
                                  {Tok::F32x2_RN, 13}, {Tok::F32x4_RN, 14}};
constexpr Enum kVectorFunction[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}};
// A load that reduces what all devices of a multicast object hold.
constexpr Enum kMulticastFunction[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2},
                                       {Tok::AND, 5}, {Tok::OR, 6},  {Tok::XOR, 7}};
constexpr Enum kMulticastType[] = {{Tok::k32, 0}, {Tok::S32, 1}, {Tok::k64, 2}, {Tok::S64, 3}};
constexpr Enum kMulticastFloatFunction[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::F32ADD, 3}};
constexpr Enum kMulticastFloat[] = {{Tok::F16x2_RN, 0},  {Tok::F16x4_RN, 1},  {Tok::F16x8_RN, 2}, {Tok::BF16x2_RN, 3},
                                    {Tok::BF16x4_RN, 4}, {Tok::BF16x8_RN, 5}, {Tok::F32_RN, 12},  {Tok::F32x2_RN, 13},
                                    {Tok::F32x4_RN, 14}, {Tok::F64_RN, 15}};
constexpr Enum kCasType[] = {{Tok::kNone, 0}, {Tok::k64, 2}};
constexpr Enum kCas[] = {{Tok::CAS, 0}, {Tok::CAST_SPIN, 3}};
constexpr Enum kMatrix[] = {{Tok::M88, 0}, {Tok::MT88, 1}};
constexpr Enum kMatrices[] = {{Tok::kNone, 0}, {Tok::k2, 1}, {Tok::k4, 2}};
constexpr Enum kShuffle[] = {{Tok::IDX, 0}, {Tok::UP, 1}, {Tok::DOWN, 2}, {Tok::BFLY, 3}};
constexpr Enum kVote[] = {{Tok::ALL, 0}, {Tok::ANY, 1}, {Tok::EQ, 2}};
constexpr Enum kMatchType[] = {{Tok::kNone, 0}, {Tok::U64, 1}};
constexpr Enum kCacheOp[] = {{Tok::PF1, 0}, {Tok::PF2, 1}, {Tok::WB, 2}, {Tok::IV, 3}, {Tok::RS, 5}};
constexpr Enum kSpaces[] = {{Tok::G, 0}, {Tok::L, 1}, {Tok::S, 2}, {Tok::D, 3}};
constexpr Enum kL2Op[] = {{Tok::PML2, 1}, {Tok::DML2, 2}, {Tok::RML2, 3}};
constexpr Enum kCacheWhich[] = {{Tok::kNone, 0}, {Tok::U, 1}, {Tok::C, 2}, {Tok::I, 3}};

constexpr Mod kWide = always<Tok::E>(Axis::kWide);
constexpr Mod kEviction{Axis::kCache, bits(84, 3), kEvict};
constexpr Mod kSizeMod{Axis::kSize, bits(73, 3), kMemSize};
constexpr Mod kLoadOrderMod{Axis::kOrder, bits(77, 4), kLoadOrder};
constexpr Mod kStoreOrderMod{Axis::kOrder, bits(77, 4), kStoreOrder};
constexpr Field kOffset = bits(40, 24);
constexpr Slot kD = gpr(16).def().wide(Width::kSize);
constexpr Traits kLoad{.unit = Unit::kMemGlobal, .ready = Ready::kScoreboard, .late = true};
constexpr Traits kStore{.unit = Unit::kMemGlobal, .late = true};
constexpr Traits kSharedLoad{.unit = Unit::kMemShared, .ready = Ready::kScoreboard, .late = true};
constexpr Traits kSharedStore{.unit = Unit::kMemShared, .late = true};
constexpr Word kE = code128(0, {{72, 1, 1}});

// 64-bit address with a descriptor (UR pair at `desc_at`), and without.
constexpr Slot described(unsigned desc_at, Field offset = kOffset) {
  return address(bits(24, 8), offset).base(Width::k2, Tok::k64).described(bits(desc_at, 6)).read_late();
}
constexpr Slot plain(Field offset = kOffset) {
  return address(bits(24, 8), offset).base(Width::k2).read_late();
}
// 32-bit address of shared or local memory.
constexpr Slot narrow() {
  return address(bits(24, 8), kOffset).read_late();
}
constexpr Slot keep_sign(Slot s) {
  s.signed_absolute = true;
  return s;
}
constexpr Slot narrow(unsigned ureg_at) {
  return narrow().uniform(bits(ureg_at, 6));
}

constexpr void global(RowList<256>& t) {
  const Mod prefetch{Axis::kPrefetch, bits(68, 2), kPrefetchSize};
  const Slot out = pred(81).def().omit(kPT);
  const Slot data = gpr(32).wide(Width::kSize).read_late();
  const Word desc = kE | code128(0, {{76, 1, 1}, {90, 1, 1}});
  t.add(row(Op::LDG, kHopper, code128(0x981 | kU) | desc, {kWide, kEviction, prefetch, kSizeMod, kLoadOrderMod},
            {out, kD, described(32), when_loaded()}, kLoad));
  t.add(row(Op::LDG, kFromAmpere, code128(0x381) | kE, {kWide, kEviction, prefetch, kSizeMod, kLoadOrderMod},
            {out, kD, plain(), when_loaded()}, kLoad));
  t.add(row(Op::LD, kHopper, code128(0x980 | kU) | desc, {kWide, kEviction, prefetch, kSizeMod, kLoadOrderMod},
            {kD, described(32), when_loaded()}, kLoad));
  t.add(row(Op::LD, kFromAmpere, code128(0x980) | kE, {kWide, kEviction, prefetch, kSizeMod, kLoadOrderMod},
            {kD, plain(bits(32, 32)), when_loaded()}, kLoad));
  t.add(row(Op::STG, kHopper, code128(0x986 | kU) | desc, {kWide, kEviction, kSizeMod, kStoreOrderMod},
            {described(64), data}, kStore));
  t.add(row(Op::STG, kFromAmpere, code128(0x386) | kE, {kWide, kEviction, kSizeMod, kStoreOrderMod}, {plain(), data},
            kStore));
  t.add(row(Op::ST, kHopper, code128(0x985 | kU) | desc, {kWide, kEviction, kSizeMod, kStoreOrderMod},
            {described(64), data}, kStore));
  t.add(row(Op::ST, kFromAmpere, code128(0x385) | kE, {kWide, kEviction, kSizeMod, kStoreOrderMod},
            {plain(bits(32, 32)), gpr(64).wide(Width::kSize).read_late()}, kStore));
}

constexpr void shared(RowList<256>& t) {
  const Slot data = gpr(32).wide(Width::kSize).read_late();
  const Field scale = bits(78, 2);
  t.add(row(Op::LDS, kFromTuring, code128(0x984), {kSizeMod}, {kD, narrow().part(scale, kIndexScale)}, kSharedLoad));
  t.add(row(Op::LDS, kFromTuring, code128(0x984 | kU), {kSizeMod}, {kD, narrow(32).part(scale, kIndexScale)},
            kSharedLoad));
  t.add(row(Op::STS, kFromTuring, code128(0x388), {kSizeMod}, {narrow().part(scale, kIndexScale), data}, kSharedStore));
  t.add(row(Op::STS, kFromTuring, code128(0x988 | kU), {kSizeMod}, {narrow(64).part(scale, kIndexScale), data},
            kSharedStore));
  t.add(row(Op::LDL, kFromTuring, code128(0x983), {kEviction, kSizeMod}, {kD, narrow()}, kLoad));
  t.add(row(Op::LDL, kFromTuring, code128(0x983 | kU), {kEviction, kSizeMod}, {kD, narrow(32)}, kLoad));
  t.add(row(Op::STL, kFromTuring, code128(0x387), {kEviction, kSizeMod}, {narrow(), data}, kStore));
  t.add(row(Op::STL, kFromTuring, code128(0x987 | kU), {kEviction, kSizeMod}, {narrow(64), data}, kStore));
  const Mod b16 = always<Tok::k16>(Axis::kSize);
  const Mod matrix{Axis::kMode, bits(78, 1), kMatrix};
  const Mod count{Axis::kMode2, bits(72, 2), kMatrices};
  t.add(row(Op::LDSM, kFromAmpere, code128(0x83b), {b16, matrix, count},
            {gpr(16).def().wide(Width::kCount), keep_sign(narrow())}, kSharedLoad));
  t.add(row(Op::LDSM, kFromAmpere, code128(0x83b | kU), {b16, matrix, count},
            {gpr(16).def().wide(Width::kCount), narrow(32)}, kSharedLoad));
  const Slot matrices = gpr(32).wide(Width::kCount).read_late();
  t.add(row(Op::STSM, kHopper, code128(0x844), {b16, matrix, count}, {keep_sign(narrow()), matrices}, kSharedStore));
  t.add(row(Op::STSM, kHopper, code128(0x844 | kU), {b16, matrix, count}, {narrow(64), matrices}, kSharedStore));
}

constexpr void copies(RowList<256>& t) {
  constexpr Traits copy{.unit = Unit::kMemGlobal, .late = true};
  const Slot target = keep_sign(address(bits(16, 8), bits(44, 20)).read_late());
  const Slot source = described(64, bits(32, 12));
  t.add(row(Op::LDGSTS, kHopper, code128(0xfae | kU, {{70, 1, 1}, {76, 1, 1}}),
            {kWide,
             {Axis::kBypass, bits(81, 1), kBypass},
             kEviction,
             {Axis::kPrefetch, bits(71, 2), kPrefetchSize},
             {Axis::kSize, bits(73, 3), kCopySize},
             flag<Tok::ZFILL>(Axis::kZeroFill, 82),
             {Axis::kOrder, bits(77, 4), kCopyOrder}},
            {target, source, pred(87).inv(90).omit(kPT)}, copy));
  constexpr Traits barrier{.unit = Unit::kMemGlobal, .write_sb = true};
  t.add(row(Op::LDGDEPBAR, kFromAmpere, code128(0x9af), {}, {}, barrier));
}

constexpr void constants(RowList<256>& t) {
  constexpr Traits ldc{.unit = Unit::kMemConst, .ready = Ready::kScoreboard, .late = true};
  constexpr Traits uldc{
      .unit = Unit::kMemConst, .write_sb = true, .timing = {.result = Producer::kUniformLoad, .uniform = true}};
  Slot indexed = constant(bits(38, 16), 0, bits(54, 5)).indexed(bits(24, 8)).read_late();
  indexed.is_signed = true;
  Slot direct = constant(bits(38, 16), 0, bits(54, 5));
  direct.is_signed = true;
  const Mod size{Axis::kSize, bits(73, 3), kConstSize};
  t.add(row(Op::LDC, kFromTuring, code128(0xb82), {size, {Axis::kIndex, bits(78, 2), kIndexMode}}, {kD, indexed}, ldc));
  Row u = row(Op::ULDC, kFromTuring, code128(0xab9), {size}, {ugpr(16).def().wide(Width::kSize), direct}, uldc);
  u.uniform_guard = true;
  t.add(u);
  Row at_register = u;
  at_register.archs = kHopper;
  at_register.fixed = code128(0xabb | kU);
  at_register.slot_array[1] = direct.uniform(bits(24, 6));
  t.add(at_register);
  u.archs = kHopper;
  u.fixed = code128(0xab9 | kU);
  u.slot_array[1] = constant(bits(38, 16), 0, {}).uniform(bits(24, 6), Width::k2);
  t.add(u);
}

constexpr void atomics(RowList<256>& t) {
  const Mod function{Axis::kFunction, bits(87, 4), kAtomic};
  const Mod red{Axis::kFunction, bits(87, 3), kRedFunction};
  const Mod type{Axis::kType, bits(73, 3), kAtomicType};
  const Mod cas{Axis::kFunction, bits(87, 2), kCas};
  const Mod cas_type{Axis::kType, bits(73, 3), kCasType};
  const Mod float_type{Axis::kType, bits(73, 4), kAtomicFloat};
  const Mod add = always<Tok::ADD>(Axis::kFunction);
  const Slot out = pred(81).def();
  const Slot d = gpr(16).def().wide(Width::kType);
  const Slot b = gpr(32).wide(Width::kType).read_late();
  const Slot c = gpr(64).wide(Width::kType).read_late();
  const Word desc = kE | code128(0, {{70, 2, 3}});
  const Word red_desc = kE | code128(0, {{71, 1, 1}, {90, 1, 1}});
  for (const auto& [op, code, fcode, ccode] : {std::array{static_cast<unsigned>(Op::ATOM), 0x98au, 0x9a2u, 0x38bu},
                                               std::array{static_cast<unsigned>(Op::ATOMG), 0x9a8u, 0x9a3u, 0x3a9u}}) {
    const Op name = static_cast<Op>(op);
    t.add(row(name, kHopper, code128(code | kU) | desc, {kWide, function, kEviction, type, kStoreOrderMod},
              {out, d, described(64), b}, kLoad));
    t.add(row(name, kHopper, code128(fcode | kU) | desc, {kWide, add, kEviction, float_type, kStoreOrderMod},
              {out, d, described(64), b}, kLoad));
    t.add(row(name, kHopper, code128(code - 0x600) | kE, {kWide, function, kEviction, type, kStoreOrderMod},
              {out, d, plain(), b}, kLoad));
    t.add(row(name, kFromAmpere, code128(ccode) | kE,
              {kWide, name == Op::ATOM ? cas : always<Tok::CAS>(Axis::kFunction), kEviction, cas_type, kStoreOrderMod},
              {out, d, plain(), b, c}, kLoad));
  }
  t.add(row(Op::REDG, kHopper, code128(0x98e | kU) | red_desc, {kWide, red, kEviction, type, kStoreOrderMod},
            {described(64), b}, kStore));
  t.add(row(Op::REDG, kHopper, code128(0x9a6 | kU) | red_desc, {kWide, add, kEviction, float_type, kStoreOrderMod},
            {described(64), b}, kStore));
  const Mod vector{Axis::kType, bits(73, 4), kAtomicVector};
  const Mod vector_function{Axis::kFunction, bits(88, 2), kVectorFunction};
  t.add(row(Op::ATOMG, kHopper, code128(0x9a3 | kU) | desc, {kWide, vector_function, kEviction, vector, kStoreOrderMod},
            {out, d, described(64), b}, kLoad));
  t.add(row(Op::REDG, kHopper, code128(0x9a6 | kU) | red_desc,
            {kWide, vector_function, kEviction, vector, kStoreOrderMod}, {described(64), b}, kStore));
  const Mod everywhere = always<Tok::STRONG_SYS>(Axis::kOrder);
  const Word multicast = desc | code128(0, {{78, 1, 1}, {80, 1, 1}});
  t.add(row(Op::LDGMC, kHopper, code128(0x9a4 | kU) | multicast,
            {kWide,
             {Axis::kFunction, bits(87, 3), kMulticastFunction},
             {Axis::kType, bits(73, 3), kMulticastType},
             everywhere},
            {d, described(64)}, kLoad));
  t.add(row(Op::LDGMC, kHopper, code128(0x9a5 | kU) | multicast,
            {kWide,
             {Axis::kFunction, bits(88, 2), kMulticastFloatFunction},
             {Axis::kType, bits(73, 4), kMulticastFloat},
             everywhere},
            {d, described(64)}, kLoad));
  const Word sixteen = code128(0, {{73, 3, 4}});
  const Mod b128 = always<Tok::k128>(Axis::kType);
  t.add(row(Op::ATOMG, kHopper, code128(0x9a8 | kU, {{90, 1, 1}}) | desc | sixteen,
            {kWide, always<Tok::EXCH>(Axis::kFunction), kEviction, b128, kStoreOrderMod}, {out, d, described(64), b},
            kLoad));
  t.add(row(Op::ATOMG, kHopper, code128(0x3a9) | kE | sixteen,
            {kWide, always<Tok::CAS>(Axis::kFunction), kEviction, b128, kStoreOrderMod}, {out, d, plain(), b, c},
            kLoad));
  const Slot shared = narrow().part(bits(78, 2), kIndexScale);
  const Slot shared_u = narrow(64).part(bits(78, 2), kIndexScale);
  t.add(row(Op::ATOMS, kFromAmpere, code128(0x38c), {function, {Axis::kType, bits(73, 3), kSharedType}}, {d, shared, b},
            kSharedLoad));
  t.add(row(Op::ATOMS, kFromTuring, code128(0x98c | kU), {function, {Axis::kType, bits(73, 3), kSharedType}},
            {d, shared_u, b}, kSharedLoad));
  t.add(row(Op::ATOMS, kFromTuring, code128(0x38d), {cas, cas_type}, {d, shared, b, c}, kSharedLoad));
  t.add(row(Op::ATOMS, kHopper, code128(0x38c, {{87, 4, 8}}) | sixteen, {always<Tok::EXCH>(Axis::kFunction), b128},
            {d, shared, b}, kSharedLoad));
  t.add(row(Op::ATOMS, kHopper, code128(0x38d) | sixteen, {always<Tok::CAS>(Axis::kFunction), b128}, {d, shared, b, c},
            kSharedLoad));
  constexpr Traits cctl{.unit = Unit::kMemGlobal, .late = true};
  t.add(row(Op::CCTL, kFromTuring, code128(0x98f) | kE, {kWide, {Axis::kFunction, bits(87, 3), kCacheOp}},
            {plain(bits(32, 32))}, cctl));
  t.add(row(Op::CCTL, kFromTuring, code128(0x98f, {{24, 8, 255}, {89, 1, 1}}), {always<Tok::IVALL>(Axis::kFunction)},
            {}, cctl));
}

constexpr void lanes(RowList<256>& t) {
  const Mod shuffle{Axis::kDirection, bits(58, 2), kShuffle};
  const Slot out = pred(81).def();
  const Slot d = gpr(16).def();
  const Slot a = gpr(24).read_late();
  const Slot b = gpr(32).read_late();
  const Slot c = gpr(64).read_late();
  Traits shuffles = kSharedLoad;
  shuffles.timing.source = Consumer::kAddress;
  Traits matches = kSharedLoad;
  matches.timing.source = Consumer::kXu;
  t.add(row(Op::SHFL, kFromTuring, code128(0x389), {shuffle}, {out, d, a, b, c}, shuffles));
  t.add(row(Op::SHFL, kFromTuring, code128(0x589), {shuffle}, {out, d, a, b, imm(bits(40, 13))}, shuffles));
  t.add(row(Op::SHFL, kFromTuring, code128(0x989), {shuffle}, {out, d, a, imm(bits(53, 5)), c}, shuffles));
  t.add(row(Op::SHFL, kFromTuring, code128(0xf89), {shuffle}, {out, d, a, imm(bits(53, 5)), imm(bits(40, 13))},
            shuffles));
  constexpr Traits vote{.unit = Unit::kAlu, .timing = {.predicate_source = Consumer::kGuard}};
  t.add(row(Op::VOTE, kFromTuring, code128(0x806), {{Axis::kFunction, bits(72, 2), kVote}},
            {d.omit(kRZ), out, pred(87).inv(90)}, vote));
  const Mod type{Axis::kType, bits(73, 1), kMatchType};
  const Slot value = gpr(24).wide(Width::kType).read_late();
  t.add(
      row(Op::MATCH, kFromTuring, code128(0x3a1), {always<Tok::ALL>(Axis::kFunction), type}, {out, d, value}, matches));
  t.add(row(Op::MATCH, kFromTuring, code128(0x3a1, {{79, 1, 1}, {81, 3, 7}}), {always<Tok::ANY>(Axis::kFunction), type},
            {d, value}, matches));
}

// Counters in shared memory, which space an address is of, what a cache is to do.
constexpr void spaces_and_caches(RowList<256>& t) {
  constexpr Slot kRegister = gpr(16).def();
  constexpr Slot kPd = pred(81).def();
  constexpr Traits shared{.unit = Unit::kMemShared, .ready = Ready::kScoreboard, .late = true};
  constexpr Traits global{.unit = Unit::kMemGlobal, .ready = Ready::kScoreboard, .late = true};
  constexpr Traits cctl{.unit = Unit::kMemGlobal, .late = true};
  Slot counter = address(bits(24, 8), bits(40, 24)).read_late().uniform(bits(64, 6)).part(bits(78, 2), kIndexScale);
  t.add(row(Op::ATOMS, kHopper, code128(0xf8c | kU, {{87, 4, 11}}),
            {always<Tok::POPC_INC>(Axis::kFunction), always<Tok::k32>(Axis::kType)}, {kRegister, counter}, shared));
  t.add(row(Op::ATOMS, kAmpere, code128(0xf8c | kU, {{87, 4, 10}}),
            {always<Tok::POPC_INC>(Axis::kFunction), always<Tok::k32>(Axis::kType)}, {kRegister, counter}, shared));
  // An arrival at an mbarrier, whose 64 bits from before it gives.
  t.add(row(Op::ATOMS, kAmpere, code128(0xf8c | kU, {{73, 3, 2}, {87, 4, 9}}),
            {always<Tok::ARRIVE>(Axis::kFunction), always<Tok::k64>(Axis::kType)},
            {gpr(16).def().wide(Width::k2), counter}, shared));
  const Slot address64 = address(bits(24, 8), bits(40, 24)).base(Width::k2).read_late();
  const Slot address32 = address(bits(24, 8), bits(40, 24)).read_late();
  t.add(row(Op::CCTLL, kFromTuring, code128(0x990), {{Axis::kFunction, bits(87, 3), kCacheOp}}, {address32}, cctl));
  const Mod space{Axis::kMode, bits(73, 2), kSpaces};
  t.add(row(Op::QSPC, kHopper, code128(0x3aa, {{72, 1, 1}}), {always<Tok::E>(Axis::kWide), space},
            {kPd, kRegister, address64}, global));
  t.add(row(Op::QSPC, kHopper, code128(0x3aa), {space}, {kPd, kRegister, address32}, global));
  Slot offset =
      address(bits(24, 8), bits(40, 24)).base(Width::k1, Tok::U32).read_late().uniform(bits(32, 6), Width::k2);
  offset.base_always = true;
  t.add(row(Op::QSPC, kHopper, code128(0x9aa | kU, {{72, 1, 1}}), {always<Tok::E>(Axis::kWide), space},
            {kPd, kRegister, offset}, global));
  t.add(
      row(Op::CCTL, kFromAmpere, code128(0x98f, {{72, 1, 1}, {90, 1, 1}}),
          {always<Tok::E>(Axis::kWide), {Axis::kMode, bits(78, 3), kCacheWhich}, {Axis::kFunction, bits(87, 3), kL2Op}},
          {address(bits(24, 8), bits(32, 32)).base(Width::k2).read_late()}, cctl));
}

// clang-format on

// What has a descriptor in its address, with a uniform offset instead.
constexpr void uniform_offsets(RowList<256>& t) {
  const std::size_t count = t.count;
  for (std::size_t i = 0; i < count; ++i) {
    const Row r = t.rows[i];
    if (r.archs != kHopper) continue;
    switch (r.op) {
      case Op::LDG:
      case Op::LD:
      case Op::STG:
      case Op::ST: add_uniform_access(t, r); break;
      case Op::REDG: add_uniform_reduction(t, r); break;
      case Op::ATOM:
      case Op::ATOMG:
      case Op::LDGMC:
        if (get_bits(r.fixed, 70, 2) == 3) add_uniform_atomic(t, r);
        break;
      default: break;
    }
  }
}

constexpr auto build() {
  RowList<256> t;
  global(t);
  shared(t);
  copies(t);
  constants(t);
  atomics(t);
  uniform_offsets(t);
  lanes(t);
  spaces_and_caches(t);
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_memory() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
