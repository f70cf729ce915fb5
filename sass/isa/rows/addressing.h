// Since sm_75 a 64-bit address may have a uniform pair as its offset in the place of a memory descriptor, and sm_80 to
// sm_89 write a descriptor that is not the default one, such as that of a cache policy. Rows of these are made from the
// row with the plain descriptor.
#pragma once

#include "sass/isa/rows/rowdsl.h"

namespace nervanagpu::sass {

// The predicate after the operands of a load: 0 is PT.
constexpr Slot when_loaded() {
  return pred(64).inv(67).backwards().omit(kPT);
}

// Takes the descriptor's field out of `r`; sm_80 .. sm_89 keep it in a slot of its own, the last.
constexpr Field take_descriptor(Row& r) {
  Field field;
  for (std::size_t i = 0; i < r.slot_count; ++i) {
    Slot& s = r.slot_array[i];
    if (!s.desc.none()) {
      field = s.desc;
      s.desc = {};
    }
    if (s.type == SlotType::kHiddenDesc) {
      field = s.value;
      s = {};
      --r.slot_count;
    }
  }
  return field;
}

// The wide address of `r`.
constexpr Slot& wide_address_of(Row& r) {
  std::size_t i = 0;
  while (r.slot_array[i].type != SlotType::kAddr || r.slot_array[i].base_width != Width::k2) ++i;
  return r.slot_array[i];
}

// [R2.64+UR4+offset], or [R2.U32+UR4+offset] with `base` one register, which before sm_90 is not RZ. The bits `cleared` say so.
constexpr Row with_uniform_offset(Row r, Width base, std::initializer_list<unsigned> cleared) {
  const Field field = take_descriptor(r);
  Slot& at = wide_address_of(r);
  at.base_width = base;
  at.base_suffix = base == Width::k1 ? Tok::U32 : Tok::k64;
  at.base_always = false;
  at.ureg = field;
  at.ureg_width = Width::k2;
  r.never = {};
  const bool hopper = (r.archs & mask_of(Arch::sm_90a)) != 0;
  if (hopper ? base != Width::k1 : base == Width::k1) r.never = bits(24, 8).mask();
  at.base_always = hopper && base == Width::k1;  // [RZ.U32+UR4]: since sm_90 no offset stands alone
  for (const unsigned bit : cleared) r.fixed = set_bits(r.fixed, bit, 1, 0);
  return r;
}

// desc[UR4][R2.64+offset] on sm_80 .. sm_89.
constexpr Row with_policy(Row r) {
  const Field field = take_descriptor(r);
  Slot& at = wide_address_of(r);
  at.desc = field;
  at.base_always = false;
  r.fixed = set_bits(r.fixed, 101, 1, 1);
  return r;
}

// Of loads and stores, of atomics that give a value, and of those that give none.
template <std::size_t N>
constexpr void add_uniform_access(RowList<N>& t, const Row& r) {
  t.add(with_uniform_offset(r, Width::k2, {76}));
  t.add(with_uniform_offset(r, Width::k1, {76, 90}));
}
template <std::size_t N>
constexpr void add_uniform_atomic(RowList<N>& t, const Row& r) {
  t.add(with_uniform_offset(r, Width::k2, {71}));
  t.add(with_uniform_offset(r, Width::k1, {70, 71}));
}
template <std::size_t N>
constexpr void add_uniform_reduction(RowList<N>& t, const Row& r) {
  t.add(with_uniform_offset(r, Width::k2, {71}));
  t.add(with_uniform_offset(r, Width::k1, {71, 90}));
}

}  // namespace nervanagpu::sass
