// Words of 128 bits: memory of sm_75 .. sm_89, whose descriptor stands after the operands or nowhere. What is the same
// in sm_90a stands in memory.cpp.
#include "sass/isa/rows/addressing.h"
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kOrder75[] = {
    {Tok::CONSTANT_CTA, 0}, {Tok::CONSTANT_SM, 1}, {Tok::CONSTANT_GPU, 2}, {Tok::CONSTANT_SYS, 3}, {Tok::CTA, 4},
    {Tok::SM, 5},           {Tok::GPU, 6},         {Tok::SYS, 7},          {Tok::STRONG_CTA, 8},   {Tok::STRONG_SM, 9},
    {Tok::STRONG_GPU, 10},  {Tok::STRONG_SYS, 11}, {Tok::MMIO_GPU, 14},    {Tok::MMIO_SYS, 15}};
constexpr Enum kStoreOrder75[] = {
    {Tok::CTA, 4},       {Tok::SM, 5},          {Tok::GPU, 6},         {Tok::SYS, 7},       {Tok::STRONG_CTA, 8},
    {Tok::STRONG_SM, 9}, {Tok::STRONG_GPU, 10}, {Tok::STRONG_SYS, 11}, {Tok::MMIO_GPU, 14}, {Tok::MMIO_SYS, 15}};
// Generic accesses of sm_75 have two bits of scope and two of order: "system, weak" is not written.
constexpr Enum kStrong75[] = {{Tok::STRONG_CTA, 8}, {Tok::STRONG_SM, 9}, {Tok::STRONG_GPU, 10}, {Tok::STRONG_SYS, 11}};
constexpr Enum kAtomic[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::INC, 3}, {Tok::DEC, 4},
                            {Tok::AND, 5}, {Tok::OR, 6},  {Tok::XOR, 7}, {Tok::EXCH, 8}};
constexpr Enum kRedFunction[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::INC, 3},
                                 {Tok::DEC, 4}, {Tok::AND, 5}, {Tok::OR, 6},  {Tok::XOR, 7}};
constexpr Enum kAtomicType[] = {{Tok::kNone, 0},    {Tok::S32, 1}, {Tok::k64, 2},   {Tok::F32_FTZ_RN, 3},
                                {Tok::F16x2_RN, 4}, {Tok::S64, 5}, {Tok::F64_RN, 6}};
constexpr Enum kSharedType[] = {{Tok::kNone, 0}, {Tok::S32, 1}, {Tok::k64, 2}};
constexpr Enum kCasType[] = {{Tok::kNone, 0}, {Tok::k64, 2}};
constexpr Enum kCas[] = {{Tok::CAS, 0}, {Tok::CAST_SPIN, 3}};
constexpr Enum kIndexScale[] = {{Tok::kNone, 0}, {Tok::X4, 1}, {Tok::X8, 2}, {Tok::X16, 3}};
constexpr Enum kMatrix[] = {{Tok::M88, 0}, {Tok::MT88, 1}};
constexpr Enum kMatrices[] = {{Tok::kNone, 0}, {Tok::k2, 1}, {Tok::k4, 2}};
constexpr Enum kPrefetch75[] = {{Tok::kNone, 0}, {Tok::LTC64B, 1}, {Tok::LTC128B, 2}};
constexpr Enum kSpaces[] = {{Tok::G, 0}, {Tok::L, 1}, {Tok::S, 2}};
constexpr Enum kBypass[] = {{Tok::BYPASS, 0}, {Tok::kNone, 1}};
constexpr Enum kNothing[] = {{Tok::kNone, 0}};
constexpr Enum kCopySize[] = {{Tok::kNone, 4}, {Tok::k64, 5}, {Tok::k128, 6}};

constexpr Slot kP = pred(87).inv(90).omit(kPT);
constexpr Traits kLoad{.unit = Unit::kMemGlobal, .ready = Ready::kScoreboard, .late = true};
constexpr Traits kStore{.unit = Unit::kMemGlobal, .late = true};

// Rows with a descriptor in `desc_at` that the text of nvdisasm hides; ours writes it after the operands.
constexpr Slot hidden(unsigned desc_at) {
  Slot s = slot_of(SlotType::kHiddenDesc, bits(desc_at, 6));
  s.width = Width::k2;
  s.glued = true;
  s.late = true;
  return s;
}
constexpr Slot wide_address(Field offset = bits(40, 24)) {
  Slot s = address(bits(24, 8), offset).base(Width::k2, Tok::k64).read_late();
  s.base_always = true;
  return s;
}

constexpr void ampere(RowList<160>& t) {
  constexpr ArchMask k = kAmpere;
  const Mod wide = always<Tok::E>(Axis::kWide);
  const Mod evict{Axis::kCache, bits(84, 3), kEvict};
  const Mod prefetch{Axis::kPrefetch, bits(68, 2), kPrefetchSize};
  const Mod size{Axis::kSize, bits(73, 3), kMemSize};
  const Mod load_order{Axis::kOrder, bits(77, 4), kLoadOrder};
  const Mod store_order{Axis::kOrder, bits(77, 4), kStoreOrder};
  const Slot out = pred(81).def().omit(kPT);
  const Slot d = gpr(16).def().wide(Width::kSize);
  const Slot data = gpr(32).wide(Width::kSize).read_late();
  const Word e = code128(0, {{72, 1, 1}});
  const Word desc = e | code128(0, {{76, 1, 1}, {90, 1, 1}});
  t.add(row(Op::LDG, k, code128(0x981 | kU) | desc, {wide, evict, prefetch, size, load_order},
            {out, d, wide_address(), when_loaded(), hidden(32)}, kLoad));
  t.add(row(Op::LD, k, code128(0x980 | kU) | desc, {wide, evict, prefetch, size, load_order},
            {d, wide_address(), when_loaded(), hidden(32)}, kLoad));
  t.add(row(Op::STG, k, code128(0x986 | kU) | desc, {wide, evict, size, store_order},
            {wide_address(), data, hidden(64)}, kStore));
  t.add(row(Op::ST, k, code128(0x985 | kU) | desc, {wide, evict, size, store_order}, {wide_address(), data, hidden(64)},
            kStore));
  const Slot target = [] {
    Slot s = address(bits(16, 8), bits(44, 20)).read_late();
    s.signed_absolute = true;
    return s;
  }();
  t.add(row(Op::LDGSTS, k, code128(0xfae | kU, {{70, 1, 1}, {76, 1, 1}}),
            {wide,
             {Axis::kBypass, bits(81, 1), kBypass},
             evict,
             {Axis::kPrefetch, bits(71, 2), kPrefetchSize},
             {Axis::kSize, bits(73, 3), kCopySize},
             flag<Tok::ZFILL>(Axis::kZeroFill, 82),
             {Axis::kOrder, bits(77, 4), kNothing}},
            {target, wide_address(bits(32, 12)), kP, hidden(64)}, kStore));
}

constexpr void ampere_atomics(RowList<160>& t) {
  constexpr ArchMask k = kAmpere;
  const Mod wide = always<Tok::E>(Axis::kWide);
  const Mod evict{Axis::kCache, bits(84, 3), kEvict};
  const Mod type{Axis::kType, bits(73, 3), kAtomicType};
  const Mod order{Axis::kOrder, bits(77, 4), kStoreOrder};
  const Slot out = pred(81).def();
  const Slot d = gpr(16).def().wide(Width::kType);
  const Slot b = gpr(32).wide(Width::kType).read_late();
  const Word desc = code128(0, {{72, 1, 1}, {70, 2, 3}});
  for (const auto& [op, code] : {std::pair{Op::ATOM, 0x98au}, std::pair{Op::ATOMG, 0x9a8u}}) {
    Row r = row(op, k, code128(code | kU) | desc, {wide, {Axis::kFunction, bits(87, 4), kAtomic}, evict, type, order},
                {out, d, wide_address(), b, hidden(64)}, kLoad);
    r.never = bits(24, 8).mask();
    t.add(r);
  }
  t.add(row(Op::RED, k, code128(0x98e | kU, {{71, 2, 3}, {90, 1, 1}}),
            {wide, {Axis::kFunction, bits(87, 3), kRedFunction}, evict, type, order}, {wide_address(), b, hidden(64)},
            kStore));
  constexpr Traits query{.unit = Unit::kMemGlobal, .ready = Ready::kScoreboard, .late = true};
  t.add(row(Op::QSPC, kTuringToAda, code128(0x3aa, {{72, 1, 1}}), {wide, {Axis::kMode, bits(73, 2), kSpaces}},
            {pred(81).def(), gpr(16).def(), address(bits(24, 8), bits(40, 24)).base(Width::k2).read_late()}, query));
  t.add(row(Op::QSPC, kTuringToAda, code128(0x9aa | kU, {{72, 1, 1}, {90, 1, 1}}),
            {wide, {Axis::kMode, bits(73, 2), kSpaces}},
            {pred(81).def(), gpr(16).def(),
             address(bits(24, 8), bits(40, 24)).base(Width::k2, Tok::k64).read_late().uniform(bits(32, 6), Width::k2)},
            query));
}

constexpr Row not_rz(Row r) {
  r.never = bits(24, 8).mask();
  return r;
}

constexpr void turing(RowList<160>& t) {
  constexpr ArchMask k = kTuring;
  const Mod wide = always<Tok::E>(Axis::kWide);
  const Mod evict{Axis::kCache, bits(84, 3), kEvict};
  const Mod prefetch{Axis::kPrefetch, bits(68, 2), kPrefetch75};
  const Mod size{Axis::kSize, bits(73, 3), kMemSize};
  const Mod order{Axis::kOrder, bits(77, 4), kOrder75};
  const Mod store_order{Axis::kOrder, bits(77, 4), kStoreOrder75};
  const Mod strong{Axis::kOrder, bits(77, 4), kStrong75};
  const Slot out = pred(81).def().omit(kPT);
  const Slot d = gpr(16).def().wide(Width::kSize);
  const Slot data = gpr(32).wide(Width::kSize).read_late();
  const Word e = code128(0, {{72, 1, 1}});
  const Slot near = address(bits(24, 8), bits(40, 24)).base(Width::k2).read_late();
  const Slot far = address(bits(24, 8), bits(32, 32)).base(Width::k2).read_late();
  const auto based = [](unsigned at) {
    return address(bits(24, 8), bits(40, 24)).base(Width::k2, Tok::k64).read_late().uniform(bits(at, 6), Width::k2);
  };
  t.add(
      row(Op::LDG, k, code128(0x381) | e, {wide, evict, prefetch, size, order}, {out, d, near, when_loaded()}, kLoad));
  t.add(row(Op::STG, k, code128(0x386) | e, {wide, evict, size, store_order}, {near, data}, kStore));
  t.add(row(Op::LD, k, code128(0x980) | e, {wide, evict, prefetch, size, order}, {d, far, when_loaded()}, kLoad));
  t.add(row(Op::ST, k, code128(0x385) | e, {wide, evict, size, store_order},
            {far, gpr(64).wide(Width::kSize).read_late()}, kStore));
  const Word u = e | code128(kU, {{90, 1, 1}});
  t.add(row(Op::LDG, k, code128(0x981) | u, {wide, evict, prefetch, size, order}, {out, d, based(32), when_loaded()},
            kLoad));
  t.add(row(Op::STG, k, code128(0x986) | u, {wide, evict, size, store_order}, {based(64), data}, kStore));
  t.add(row(Op::LD, k, code128(0x980) | u, {wide, evict, prefetch, size, order}, {d, based(32), when_loaded()}, kLoad));
  t.add(row(Op::ST, k, code128(0x985) | u, {wide, evict, size, store_order}, {based(64), data}, kStore));
  // The same with a base of 32 bits, which is not RZ there.
  const auto half_base = [](unsigned at) {
    return address(bits(24, 8), bits(40, 24)).base(Width::k1, Tok::U32).read_late().uniform(bits(at, 6), Width::k2);
  };
  t.add(not_rz(row(Op::LDG, k, code128(0x981 | kU) | e, {wide, evict, prefetch, size, order},
                   {out, d, half_base(32), when_loaded()}, kLoad)));
  t.add(not_rz(
      row(Op::STG, k, code128(0x986 | kU) | e, {wide, evict, size, store_order}, {half_base(64), data}, kStore)));
  constexpr Traits shared{.unit = Unit::kMemShared, .ready = Ready::kScoreboard, .late = true};
  const Slot narrow = address(bits(24, 8), bits(40, 24)).read_late().part(bits(78, 2), kIndexScale);
  const Mod once = always<Tok::U>(Axis::kUniform);
  t.add(row(Op::LDS, k, code128(0x984, {{76, 1, 1}}), {once, size}, {d, narrow}, shared));
  t.add(row(Op::LDS, k, code128(0x984 | kU, {{76, 1, 1}}), {once, size}, {d, narrow.uniform(bits(32, 6))}, shared));
  Slot matrices = narrow;
  matrices.sub = {};
  matrices.sub_table = {};
  t.add(
      row(Op::LDSM, k, code128(0x83b),
          {always<Tok::k16>(Axis::kSize), {Axis::kMode, bits(78, 1), kMatrix}, {Axis::kMode2, bits(72, 2), kMatrices}},
          {gpr(16).def().wide(Width::kCount), matrices}, shared));
  const Slot value = gpr(32).wide(Width::kType).read_late();
  const Slot other = gpr(64).wide(Width::kType).read_late();
  const Slot old = gpr(16).def().wide(Width::kType);
  const Mod function{Axis::kFunction, bits(87, 4), kAtomic};
  const Mod type{Axis::kType, bits(73, 3), kAtomicType};
  const Mod cas{Axis::kFunction, bits(87, 2), kCas};
  const Mod cas_type{Axis::kType, bits(73, 3), kCasType};
  const Word no_c = code128(0, {{64, 8, 255}});
  t.add(row(Op::ATOMS, k, code128(0x38c) | no_c, {function, {Axis::kType, bits(73, 3), kSharedType}},
            {old, narrow, value}, shared));
  for (const auto& [op, code, ucode, ccode] : {std::array{static_cast<unsigned>(Op::ATOM), 0x38au, 0x98au, 0x38bu},
                                               std::array{static_cast<unsigned>(Op::ATOMG), 0x3a8u, 0x9a8u, 0x3a9u}}) {
    const Op name = static_cast<Op>(op);
    t.add(row(name, k, code128(code) | e | no_c, {wide, function, evict, type, strong},
              {pred(81).def(), old, near, value}, kLoad));
    t.add(not_rz(row(name, k, code128(ucode | kU) | e, {wide, function, evict, type, strong},
                     {pred(81).def(), old, half_base(64), value}, kLoad)));
    t.add(row(name, k, code128(ucode | kU, {{70, 1, 1}}) | e, {wide, function, evict, type, strong},
              {pred(81).def(), old, based(64), value}, kLoad));
    Row swap = row(name, k, code128(ccode) | e,
                   {wide, name == Op::ATOM ? cas : always<Tok::CAS>(Axis::kFunction), evict, cas_type, strong},
                   {pred(81).def(), old, near, value, other}, kLoad);
    swap.never = bits(32, 8).mask();
    t.add(swap);
  }
  const Mod red{Axis::kFunction, bits(87, 3), kRedFunction};
  t.add(row(Op::RED, k, code128(0x98e) | e, {wide, red, evict, type, strong}, {near, value}, kStore));
  t.add(row(Op::RED, k, code128(0x98e) | u, {wide, red, evict, type, strong}, {based(64), value}, kStore));
}

// clang-format on

// What has a hidden descriptor, with one that is written, or with a uniform offset instead.
constexpr void ampere_addresses(RowList<160>& t) {
  const std::size_t count = t.count;
  for (std::size_t i = 0; i < count; ++i) {
    const Row r = t.rows[i];
    if (r.archs != kAmpere || r.slot_count == 0 || r.slot_array[r.slot_count - 1].type != SlotType::kHiddenDesc)
      continue;
    const bool atomic = r.op == Op::ATOM || r.op == Op::ATOMG;
    t.add(with_policy(r));
    if (atomic) {
      add_uniform_atomic(t, r);
    } else if (r.op == Op::RED) {
      add_uniform_reduction(t, r);
    } else if (r.op != Op::LDGSTS) {
      add_uniform_access(t, r);
    }
  }
}

constexpr auto build() {
  RowList<160> t;
  ampere(t);
  ampere_atomics(t);
  ampere_addresses(t);
  turing(t);
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_older_memory() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
