// Words of 128 bits: textures and surfaces. A fetch writes up to four components into two pairs of registers; its last operand is the
// mask of those that it writes, unwritten where it is 0xf. The handle is a pair of uniform registers and an offset.
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

// clang-format off: tables

constexpr Enum kTexGeometry[] = {{Tok::k1D, 0},      {Tok::k2D, 1},      {Tok::k3D, 2},       {Tok::CUBE, 3},
                                 {Tok::ARRAY_1D, 4}, {Tok::ARRAY_2D, 5}, {Tok::ARRAY_CUBE, 7}};
constexpr Enum kFlatGeometry[] = {{Tok::k1D, 0}, {Tok::k2D, 1}, {Tok::ARRAY_1D, 4}, {Tok::ARRAY_2D, 5}};
constexpr Enum kLoadGeometry[] = {{Tok::k1D, 0}, {Tok::k2D, 1}, {Tok::k3D, 2}, {Tok::ARRAY_1D, 4}, {Tok::ARRAY_2D, 5}};
constexpr Enum kGatherGeometry[] = {{Tok::k2D, 1}, {Tok::CUBE, 3}, {Tok::ARRAY_2D, 5}, {Tok::ARRAY_CUBE, 7}};
constexpr Enum kSurfaceGeometry[] = {{Tok::k1D, 0}, {Tok::k1D_BUFFER, 1}, {Tok::k1D_ARRAY, 2},
                                     {Tok::k2D, 3}, {Tok::k2D_ARRAY, 4},  {Tok::k3D, 5}};
constexpr Enum kLod[] = {{Tok::kNone, 0}, {Tok::LZ, 1},    {Tok::LB, 2},    {Tok::LL, 3},
                         {Tok::LC, 4},    {Tok::LB_LC, 5}, {Tok::LC_FDV, 6}};
constexpr Enum kLoadLod[] = {{Tok::LZ, 1}, {Tok::LL, 3}};
constexpr Enum kHalf[] = {{Tok::kNone, 0}, {Tok::F16_RN, 1}, {Tok::F16_RZ, 2}};
constexpr Enum kComponent[] = {{Tok::R, 0}, {Tok::G, 1}, {Tok::B, 2}, {Tok::A, 3}};
constexpr Enum kGatherOffsets[] = {{Tok::kNone, 0}, {Tok::AOFFI, 1}, {Tok::PTP, 2}};
constexpr Enum kQuery[] = {
    {Tok::TEX_HEADER_DIMENSION, 0}, {Tok::TEX_HEADER_TEXTURE_TYPE, 1}, {Tok::TEX_HEADER_SAMPLER_POS, 2}};
constexpr Enum kOutside[] = {{Tok::IGN, 0}, {Tok::kNone, 1}, {Tok::TRAP, 2}};
constexpr Enum kReduce[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::INC, 3},
                            {Tok::DEC, 4}, {Tok::AND, 5}, {Tok::OR, 6},  {Tok::XOR, 7}};
constexpr Enum kReduceType[] = {{Tok::kNone, 0},    {Tok::S32, 1}, {Tok::U64, 2},  {Tok::F32_FTZ_RN, 3},
                                {Tok::F16x2_RN, 4}, {Tok::S64, 5}, {Tok::SD32, 6}, {Tok::SD64, 7}};
constexpr Enum kOrder75[] = {{Tok::STRONG_CTA, 8}, {Tok::STRONG_SM, 9}, {Tok::STRONG_GPU, 10}, {Tok::STRONG_SYS, 11}};
constexpr Enum kComponents1[] = {{Tok::R, 1}};
constexpr Enum kComponents2[] = {{Tok::RG, 3}};
constexpr Enum kComponents4[] = {{Tok::kNone, 15}};

constexpr Traits kFetch{.unit = Unit::kMemGlobal, .ready = Ready::kScoreboard, .late = true};
constexpr Traits kWrite{.unit = Unit::kMemGlobal, .late = true};
constexpr Slot kOut = pred(81).def().omit(kPT);
constexpr Slot kHigh = gpr(64).def().wide(Width::kTexHigh);
constexpr Slot kLow = gpr(16).def().wide(Width::kTexLow);
constexpr Slot kCoordinates = gpr(24).wide(Width::kTexCoord).read_late();
constexpr Slot kHandle = ugpr(40).wide(Width::k2).read_late();
constexpr Slot kHandleOffset = imm(bits(46, 8));
constexpr Slot kMask = imm(bits(72, 4)).omit(15);
constexpr Mod kScr = flag<Tok::SCR>(Axis::kPack, 60);
constexpr Mod kToHalf{Axis::kDstType, bits(79, 2), kHalf};
constexpr Mod kEviction{Axis::kCache, bits(84, 3), kEvict};
constexpr Mod kNoDependence = flag<Tok::NODEP>(Axis::kDependence, 90);
constexpr Mod kOffsets = flag<Tok::AOFFI>(Axis::kOffsets, 76);
constexpr Mod kDepthCompare = flag<Tok::DC>(Axis::kDepth, 78);

// The coordinates are not RZ.
constexpr Row at_register(Row r) {
  r.never = bits(24, 8).mask();
  return r;
}

constexpr void fetches(RowList<32>& t) {
  const Field geometry = bits(61, 3);
  const Slot extra = gpr(32).wide(Width::kTexExtra).read_late().omit(kRZ);
  t.add(at_register(row(
      Op::TEX, kFromTuring, code128(0xf60 | kU),
      {kScr,
       kToHalf,
       {Axis::kLod, bits(87, 3), kLod},
       kOffsets,
       kDepthCompare,
       kEviction,
       flag<Tok::NDV>(Axis::kDivergent, 77),
       kNoDependence},
      {kOut, kHigh, kLow, kCoordinates, extra, kHandle, kHandleOffset, token(geometry, kTexGeometry), kMask}, kFetch)));
  t.add(at_register(
      row(Op::TLD, kFromTuring, code128(0xf66 | kU),
          {kScr,
           kToHalf,
           {Axis::kLod, bits(87, 3), kLoadLod},
           kOffsets,
           kEviction,
           flag<Tok::MS>(Axis::kDepth, 78),
           flag<Tok::CL>(Axis::kDivergent, 77),
           kNoDependence},
          {kOut, kHigh, kLow, kCoordinates, extra, kHandle, kHandleOffset, token(geometry, kLoadGeometry), kMask},
          kFetch)));
  t.add(at_register(
      row(Op::TLD4, kFromTuring, code128(0xf63 | kU),
          {kScr,
           {Axis::kMode, bits(87, 2), kComponent},
           kToHalf,
           {Axis::kOffsets, bits(76, 2), kGatherOffsets},
           kDepthCompare,
           kEviction,
           kNoDependence},
          {kOut, kHigh, kLow, kCoordinates, extra, kHandle, kHandleOffset, token(geometry, kGatherGeometry), kMask},
          kFetch)));
  t.add(at_register(row(Op::TXD, kFromTuring, code128(0xf6c | kU),
                        {kToHalf, flag<Tok::LC>(Axis::kLod, 87), kOffsets, kEviction, kNoDependence},
                        {kOut, kHigh, kLow, kCoordinates, gpr(32).wide(Width::kTexSlopes).read_late(), kHandle,
                         kHandleOffset, token(geometry, kFlatGeometry), kMask},
                        kFetch)));
  t.add(at_register(row(Op::TXQ, kFromTuring, code128(0xf6f | kU), {kNoDependence},
                        {kHigh, kLow, gpr(24).read_late(), token(bits(62, 2), kQuery), kHandle, kHandleOffset, kMask},
                        kFetch)));
}

// Reads and writes of `archs`, whose words for memory order are these.
constexpr void surfaces(RowList<32>& t, ArchMask archs, std::span<const Enum> load_orders,
                        std::span<const Enum> store_orders) {
  const Mod formatted = always<Tok::P>(Axis::kMode);
  const Mod bytes = always<Tok::D>(Axis::kMode);
  const Mod address_in_bytes = flag<Tok::BA>(Axis::kMode2, 72);
  const Mod geometry{Axis::kGeometry, bits(61, 3), kSurfaceGeometry};
  const Mod size{Axis::kSize, bits(73, 3), kMemSize};
  const Mod load_order{Axis::kOrder, bits(77, 4), load_orders};
  const Mod store_order{Axis::kOrder, bits(77, 4), store_orders};
  const Mod outside{Axis::kOutside, bits(59, 2), kOutside};
  Slot at = address(bits(24, 8), {}).base(Width::kSurface).read_late();
  at.is_signed = false;  // there is no offset
  const Slot handle = ugpr(40).read_late();
  const Slot data = gpr(32).wide(Width::kSize).read_late();
  t.add(at_register(row(Op::SULD, archs, code128(0xf99 | kU),
                        {bytes, address_in_bytes, geometry, kEviction, size, load_order, outside},
                        {kOut, gpr(16).def().wide(Width::kSize), at, handle, kHandleOffset}, kFetch)));
  t.add(at_register(row(Op::SUST, archs, code128(0xf9d | kU),
                        {bytes, address_in_bytes, geometry, kEviction, size, store_order, outside},
                        {at, data, handle, kHandleOffset}, kWrite)));
  for (const auto& [table, width] : {std::pair{std::span<const Enum>(kComponents1), Width::k1},
                                     std::pair{std::span<const Enum>(kComponents2), Width::k2},
                                     std::pair{std::span<const Enum>(kComponents4), Width::k4}}) {
    const Mod which{Axis::kType, bits(72, 4), table};
    t.add(at_register(row(Op::SUST, archs, code128(0xf9b | kU),
                          {formatted, geometry, kEviction, store_order, which, outside},
                          {at, gpr(32).wide(width).read_late(), handle, kHandleOffset}, kWrite)));
    t.add(at_register(row(Op::SULD, archs, code128(0xf97 | kU),
                          {formatted, geometry, kEviction, load_order, which, outside},
                          {kOut, gpr(16).def().wide(width), at, handle, kHandleOffset}, kFetch)));
  }
  t.add(at_register(row(Op::SURED, archs, code128(0xf9f | kU),
                        {bytes,
                         address_in_bytes,
                         geometry,
                         {Axis::kFunction, bits(87, 3), kReduce},
                         kEviction,
                         {Axis::kType, bits(73, 3), kReduceType},
                         store_order,
                         outside},
                        {at, gpr(32).wide(Width::kType).read_late(), handle, kHandleOffset}, kWrite)));
}

// clang-format on

// The same with the handle in a constant, named by bank and index.
constexpr Row bound(Row r, ArchMask archs) {
  r.archs = r.archs & archs;
  r.fixed = set_bits(r.fixed, 0, 12, (r.fixed.lo & 0xfff) == 0xf9f ? 0x59f : (r.fixed.lo & 0x0ff) | 0xb00);
  r.fixed = set_bits(r.fixed, 91, 1, 0);
  for (Slot& s : r.slot_array) {
    if (s.type == SlotType::kUGpr)
      s = imm(bits(54, 5));
    else if (s.type == SlotType::kImm && s.value.piece[0].at == 46)
      s = imm(bits(40, 14));
  }
  return r;
}

// A fetch with its handle in registers, which may be another one in each lane: the first of those that hold the level and
// its like, or the coordinates where there are none.
constexpr Row by_register(Row r) {
  r.fixed = set_bits(r.fixed, 0, 12, 0x300 | ((r.fixed.lo & 0xff) + 1));
  r.fixed = set_bits(set_bits(r.fixed, 91, 1, 0), 59, 1, 1);
  std::size_t at = 0;
  while (r.mod_array[at].axis != Axis::kDstType && r.mod_array[at].axis != Axis::kDependence) ++at;
  for (std::size_t i = r.mod_count++; i > at; --i) r.mod_array[i] = r.mod_array[i - 1];
  r.mod_array[at] = always<Tok::B>(Axis::kMode2);
  const std::size_t before = r.slot_count;
  r.slot_count = 0;
  for (std::size_t i = 0; i < before; ++i) {
    Slot s = r.slot_array[i];
    r.slot_array[i] = {};
    if (s.type == SlotType::kUGpr ||
        (s.type == SlotType::kImm && s.value.piece[0].at == kHandleOffset.value.piece[0].at))
      continue;
    if (s.width == Width::kTexExtra) s = gpr(32).wide(Width::kTexHandleExtra).read_late();
    if (r.op == Op::TXD && s.width == Width::kTexCoord) s = s.wide(Width::kTexHandleCoord);
    if (r.op == Op::TXQ && s.type == SlotType::kGpr && s.role == Role::kUse) s = s.wide(Width::k2);
    r.slot_array[r.slot_count++] = s;
  }
  return r;
}

// A surface with its handle in a register, the last operand.
constexpr Row surface_by_register(Row r) {
  const unsigned code = static_cast<unsigned>(r.fixed.lo) & 0xfff;
  r.archs = r.archs & kTuringToAda;
  r.fixed = set_bits(r.fixed, 0, 12, code == 0xf9f ? 0x3a0 : 0x900 | ((code & 0xff) + 1));
  r.fixed = set_bits(r.fixed, 91, 1, 0);
  r.slot_array[--r.slot_count] = {};
  r.slot_array[r.slot_count - 1U] = gpr(64).read_late();
  return r;
}

constexpr auto build() {
  RowList<32> named;
  fetches(named);
  RowList<160> t;
  for (const Row& r : named.all()) t.add(by_register(r));
  RowList<32> reads_and_writes;
  surfaces(reads_and_writes, kFromAmpere, kLoadOrder, kStoreOrder);
  surfaces(reads_and_writes, kTuring, kOrder75, kOrder75);
  for (const Row& r : reads_and_writes.all()) {
    named.add(r);
    t.add(surface_by_register(r));
  }
  for (const Row& r : named.all()) t.add(r);
  for (const Row& r : named.all()) t.add(bound(r, kTuringToAda));
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_texture() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
