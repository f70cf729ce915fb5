// Words of 128 bits: the copy engine. Its operands are groups of uniform registers, read some time after issue, so that only the
// read scoreboard says when they may change:
//   [UR] = shared-memory address, mbarrier, coordinates   (UTMALDG; UTMASTG and UTMAREDG have no mbarrier,
//                                                          UTMAPF has coordinates only)
//   [UR] = generic address of the tensor map, a pair
//   UR   = im2col offsets (low half), mask of the CTAs that receive it (high half)
//   desc[UR] = cache policy, a pair
// Bulk copies name their size as bytes / 16 in the low half of a register; its high half is that mask.
#include "sass/isa/rows/enums.h"
#include "sass/isa/rows/rows.h"

namespace nervanagpu::sass {
namespace {

constexpr Enum kDims[] = {{Tok::k1D, 0}, {Tok::k2D, 1}, {Tok::k3D, 2}, {Tok::k4D, 3}, {Tok::k5D, 4}};
constexpr Enum kImageDims[] = {{Tok::k3D, 2}, {Tok::k4D, 3}, {Tok::k5D, 4}};
constexpr Enum kReduce[] = {{Tok::ADD, 0}, {Tok::MIN, 1}, {Tok::MAX, 2}, {Tok::INC, 3},
                            {Tok::DEC, 4}, {Tok::AND, 5}, {Tok::OR, 6},  {Tok::XOR, 7}};
constexpr Enum kReduceType[] = {{Tok::kNone, 0},  {Tok::S32, 1},    {Tok::U64, 2},    {Tok::S64, 3},
                                {Tok::F16_RN, 4}, {Tok::F32_RN, 5}, {Tok::F64_RN, 7}, {Tok::BF16_RN, 8}};
constexpr Enum kMapOp[] = {{Tok::IV, 0}, {Tok::PF, 1}};

constexpr Traits kCopy{.unit = Unit::kTma, .late = true, .late_uniform = true};

// "[UR4]": a group of uniform registers.
constexpr Slot at(unsigned bit, Width width) {
  Slot s = slot_of(SlotType::kAddr, {});
  return s.uniform(bits(bit, 6), width).read_late();
}

template <std::size_t N>
constexpr void add(RowList<N>& t, Row r) {
  r.uniform_guard = true;
  t.add(r);
  // The same with a cache policy.
  r.fixed = r.fixed | code128(0, {{76, 1, 1}});
  r.slot_array[r.slot_count++] = descriptor("desc", 40, Width::k2);
  t.add(r);
}

template <std::size_t N>
constexpr void tensors(RowList<N>& t) {
  const Mod dims{Axis::kDims, bits(79, 3), kDims};
  const Mod image_dims{Axis::kDims, bits(79, 3), kImageDims};
  const Mod image = always<Tok::IM2COL>(Axis::kTile);
  const Mod multicast = always<Tok::MULTICAST>(Axis::kMulticast);
  const Mod l2 = always<Tok::L2>(Axis::kWide);
  const Mod reduce{Axis::kFunction, bits(87, 3), kReduce};
  const Word im2col = code128(0, {{82, 1, 1}});
  const Slot map = at(24, Width::k2);
  const Slot extra = ugpr(64).read_late();
  const Slot load = at(32, Width::kTensorLoad);
  const Slot store = at(32, Width::kTensorStore);
  const Slot prefetch = at(32, Width::kTensorPrefetch);
  add(t, row(Op::UTMALDG, kHopper, code128(0x5b4 | kU), {dims}, {load, map}, kCopy));
  add(t, row(Op::UTMALDG, kHopper, code128(0x3b4 | kU, {{75, 1, 1}}), {dims, multicast}, {load, map, extra}, kCopy));
  add(t, row(Op::UTMALDG, kHopper, code128(0x3b4 | kU) | im2col,
             {image_dims, image, flag<Tok::MULTICAST>(Axis::kMulticast, 75)}, {load, map, extra}, kCopy));
  add(t, row(Op::UTMASTG, kHopper, code128(0x3b5 | kU), {dims}, {store, map}, kCopy));
  add(t, row(Op::UTMASTG, kHopper, code128(0x3b5 | kU) | im2col, {image_dims, image}, {store, map}, kCopy));
  add(t, row(Op::UTMAREDG, kHopper, code128(0x3b6 | kU), {dims, reduce}, {store, map}, kCopy));
  add(t, row(Op::UTMAREDG, kHopper, code128(0x3b6 | kU) | im2col, {image_dims, image, reduce}, {store, map}, kCopy));
  add(t, row(Op::UTMAPF, kHopper, code128(0x5b8 | kU), {l2, dims}, {prefetch, map}, kCopy));
  add(t,
      row(Op::UTMAPF, kHopper, code128(0x3b8 | kU) | im2col, {l2, image_dims, image}, {prefetch, map, extra}, kCopy));
}

template <std::size_t N>
constexpr void blocks(RowList<N>& t) {
  const Slot size = ugpr(64).read_late();
  const Mod to_shared = always<Tok::S>(Axis::kDstType);
  const Mod to_global = always<Tok::G>(Axis::kDstType);
  const Mod from_shared = always<Tok::S>(Axis::kSrcType);
  const Mod from_global = always<Tok::G>(Axis::kSrcType);
  const Word shared_target = code128(0, {{73, 1, 1}});
  const Word shared_source = code128(0, {{74, 1, 1}});
  add(t, row(Op::UBLKCP, kHopper, code128(0x3ba | kU) | shared_target,
             {to_shared, from_global, flag<Tok::MULTICAST>(Axis::kMulticast, 75)},
             {at(32, Width::k2), at(24, Width::k2), size}, kCopy));
  add(t, row(Op::UBLKCP, kHopper, code128(0x3ba | kU) | shared_source, {to_global, from_shared},
             {at(32, Width::k2), at(24, Width::k1), size}, kCopy));
  add(t,
      row(Op::UBLKPF, kHopper, code128(0x3bc | kU), {always<Tok::L2>(Axis::kWide)}, {at(24, Width::k2), size}, kCopy));
  const Mod reduce{Axis::kFunction, bits(87, 3), kReduce};
  const Mod type{Axis::kType, bits(81, 4), kReduceType};
  add(t, row(Op::UBLKRED, kHopper, code128(0x3bb | kU) | shared_source, {to_global, from_shared, reduce, type},
             {at(32, Width::k2), at(24, Width::k1), size}, kCopy));
  const auto uniform = [&](Row r) {
    r.uniform_guard = true;
    t.add(r);
  };
  uniform(row(Op::UBLKCP, kHopper, code128(0x3ba | kU) | shared_target | shared_source, {to_shared, from_shared},
              {at(32, Width::k2), at(24, Width::k1), size}, kCopy));
  uniform(row(Op::UBLKRED, kHopper, code128(0x3bb | kU) | shared_target | shared_source,
              {to_shared, from_shared, reduce, type}, {at(32, Width::k2), at(24, Width::k1), size}, kCopy));
  // Closes the group of copies to global memory that are under way; DEPBAR.LE awaits its read scoreboard.
  uniform(row(Op::UTMACMDFLUSH, kHopper, code128(0x9b7), {}, {}, {.unit = Unit::kTma, .late = true}));
  uniform(row(Op::UTMACCTL, kHopper, code128(0x9b9 | kU), {{Axis::kFunction, bits(82, 1), kMapOp}}, {at(24, Width::k2)},
              kCopy));
}

constexpr auto build() {
  RowList<64> t;
  tensors(t);
  blocks(t);
  return t;
}

constexpr auto kRows = trimmed<build>();
static_assert(proven(kRows.all()));

}  // namespace

std::span<const Row> rows128_async() {
  return kRows.all();
}

}  // namespace nervanagpu::sass
