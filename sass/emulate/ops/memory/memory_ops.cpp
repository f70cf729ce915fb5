// Loads and stores of global, generic and local memory, constants, and asynchronous copies into shared memory.
#include <bit>
#include <cstdint>
#include <cstring>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/lanes/bits.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/ops/memory/memory_forms.h"
#include "sass/emulate/uop/words.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

// Full warps of aligned accesses inside allocations, in fast mode: straight loops.
template <unsigned kBytes>
bool load_all(Warp& w, const Detail& x, const Address& ad) {
  const std::byte* p[kLanes];
  bool good = true;
  for (unsigned l = 0; l < kLanes; ++l) {
    const u64 at = lane_address(w, ad, l);
    p[l] = w.memory->touch(at, kBytes);
    good = good && p[l] != nullptr && (at & (kBytes - 1)) == 0;
  }
  if (!good) return false;
  Row32 d = w.row(x.dst);
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 v[kBytes / 4];
    std::memcpy(v, p[l], kBytes);
    for (unsigned i = 0; i < kBytes / 4; ++i) d[i * kLanes + l] = v[i];
  }
  return true;
}

template <unsigned kBytes>
bool store_all(Warp& w, const Detail& x, const Address& ad) {
  std::byte* p[kLanes];
  bool good = true;
  for (unsigned l = 0; l < kLanes; ++l) {
    const u64 at = lane_address(w, ad, l);
    p[l] = w.memory->touch(at, kBytes);
    good = good && p[l] != nullptr && (at & (kBytes - 1)) == 0;
  }
  if (!good) return false;
  ConstRow rows[kBytes / 4];
  for (unsigned i = 0; i < kBytes / 4; ++i) rows[i] = fetch_raw(w, x.src[0], i, i);
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 v[kBytes / 4];
    for (unsigned i = 0; i < kBytes / 4; ++i) v[i] = rows[i][l];
    std::memcpy(p[l], v, kBytes);
  }
  return true;
}

template <Space kSpace>
const Uop* load(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const Address& ad = x.address[0];
  if (kSpace == Space::kGlobal && w.exec == kAllLanes && w.checker == nullptr) {
    if (x.bytes == 4 && load_all<4>(w, x, ad)) return u + 1;
    if (x.bytes == 8 && load_all<8>(w, x, ad)) return u + 1;
    if (x.bytes == 16 && load_all<16>(w, x, ad)) return u + 1;
  }
  const unsigned parts = x.bytes <= 4 ? 1 : x.bytes / 4u;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    u32 v[4] = {kPoison, kPoison, kPoison, kPoison};
    const std::byte* p = locate(w, u, l, kSpace, lane_address(w, ad, l), x.bytes, Intent::kLoad);
    if (p != nullptr) {
      v[0] = 0;
      std::memcpy(v, p, x.bytes);
      v[0] = widen(x, v[0]);
    } else if (w.checker == nullptr) {
      return nullptr;
    }
    for (unsigned i = 0; i < parts; ++i) w.row(static_cast<std::uint16_t>(x.dst + i))[l] = v[i];
  }
  return u + 1;
}

// Lanes whose predicate is false touch no memory and get zeros, as LDGSTS gives them: by nvdisasm's life ranges what was
// in the register is gone in every lane.
const Uop* load_where(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 lanes = w.exec & predicate(w, x.puse[0]);
  const unsigned parts = x.bytes <= 4 ? 1 : x.bytes / 4u;
  for (u32 left = w.exec & ~lanes; left != 0; left &= left - 1) {
    for (unsigned i = 0; i < parts; ++i) w.row(static_cast<std::uint16_t>(x.dst + i))[std::countr_zero(left)] = 0;
  }
  if (lanes == 0) return u + 1;
  const u32 all = w.exec;
  w.exec = lanes;
  const Uop* next = load<Space::kGlobal>(w, u);
  w.exec = all;
  return next;
}

template <Space kSpace>
const Uop* store(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const Address& ad = x.address[0];
  if (kSpace == Space::kGlobal && w.exec == kAllLanes && w.checker == nullptr) {
    if (x.bytes == 4 && store_all<4>(w, x, ad)) return u + 1;
    if (x.bytes == 8 && store_all<8>(w, x, ad)) return u + 1;
    if (x.bytes == 16 && store_all<16>(w, x, ad)) return u + 1;
  }
  const unsigned parts = x.bytes <= 4 ? 1 : x.bytes / 4u;
  ConstRow rows[4];
  for (unsigned i = 0; i < parts; ++i) rows[i] = fetch_raw(w, x.src[0], i, i);
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    std::byte* p = locate(w, u, l, kSpace, lane_address(w, ad, l), x.bytes, Intent::kStore);
    if (p == nullptr) {
      if (w.checker == nullptr) return nullptr;
      continue;
    }
    u32 v[4];
    for (unsigned i = 0; i < parts; ++i) v[i] = rows[i][l];
    std::memcpy(p, v, x.bytes);
  }
  return u + 1;
}

// LDC and ULDC: c[bank][register + offset], the bank from imm2 on; beyond the image the chip reads zeros.
const Uop* ldc(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const Src& s = x.src[0];
  const u32 reach = x.imm;
  const unsigned parts = x.bytes > 4 ? 2 : 1;
  ConstRow index = w.row(s.row);
  const u32 uniform = x.flag ? w.ureg[s.bits_hi] : 0;
  Row32 d[2] = {result(w, x), parts > 1 ? result(w, x, 1) : nullptr};
  for (unsigned l = 0; l < kLanes; ++l) {
    const u32 at = index[l] + uniform + s.bits;
    u32 v[2] = {};
    if ((w.exec >> l & 1) != 0 && at % x.bytes != 0) {
      return fault(w, u, l, "misaligned: " + std::to_string(x.bytes) + "-byte load of constant " + std::to_string(at));
    }
    if (at < reach && reach - at >= x.bytes) std::memcpy(v, w.constants + x.imm2 + at, x.bytes);
    v[0] = widen(x, v[0]);
    for (unsigned i = 0; i < parts; ++i) d[i][l] = v[i];
  }
  finish(w, x, parts);
  return u + 1;
}

// LDGSTS [shared], [global], P: copies, or writes zeros where P is false. With .ZFILL the low bits of the global
// address say how many of the last bytes are zeros instead of copies.
// The sizes that occur are constants to the compiler: a call of memcpy for each lane would be half of the time.
inline void copy_bytes(std::byte* to, const std::byte* from, unsigned bytes) {
  switch (bytes) {
    case 4: std::memcpy(to, from, 4); break;
    case 8: std::memcpy(to, from, 8); break;
    case 16: std::memcpy(to, from, 16); break;
    default: std::memcpy(to, from, bytes);
  }
}

const Uop* ldgsts(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 copy = x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes;
  const u64 low = x.bytes - 1u;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    std::byte buffer[16] = {};
    const u64 to = lane_address(w, x.address[0], l) & 0xffffffffu;
    const u64 offset = to - w.shared_base;
    std::byte* q = nullptr;
    if ((to & low) == 0 && offset + x.bytes <= w.shared_bytes && to >= w.shared_base) {
      q = w.shared + offset;
      if (w.checker != nullptr) note_shared(w, u, l, static_cast<u32>(to), x.bytes, Intent::kAsyncStore);
    } else {
      q = locate(w, u, l, Space::kShared, to, x.bytes, Intent::kAsyncStore);
      if (q == nullptr && w.checker == nullptr) return nullptr;
    }
    if ((copy >> l & 1) != 0) {
      u64 from = lane_address(w, x.address[1], l);
      unsigned bytes = x.bytes;
      if (x.flag) {
        bytes -= static_cast<unsigned>(from & low);
        from &= ~low;
      }
      const std::byte* p = nullptr;
      if (bytes == x.bytes && (from & low) == 0 && (p = w.memory->touch(from, x.bytes)) != nullptr) {
        if (w.checker != nullptr) w.checker->global_access(w, u, l, from, x.bytes, Intent::kLoad);
      } else if (bytes == x.bytes) {
        p = locate(w, u, l, Space::kGlobal, from, x.bytes, Intent::kLoad);
      } else {  // only the bytes that are copied need to exist
        for (unsigned i = 0; i < bytes; ++i) {
          const std::byte* one = locate(w, u, l, Space::kGlobal, from + i, 1, Intent::kLoad);
          if (i == 0) p = one;
          if (one == nullptr) p = nullptr;
          if (p == nullptr) break;
        }
      }
      if (p == nullptr && w.checker == nullptr) return nullptr;
      if (p != nullptr) copy_bytes(buffer, p, bytes);
    }
    if (q != nullptr) copy_bytes(q, buffer, x.bytes);
  }
  if (w.checker != nullptr) w.checker->async_issued(w);
  return u + 1;
}

const Uop* nop(Warp&, const Uop* u) {
  return u + 1;
}

// The same of cx[UR][offset], which is here already.
const Uop* ldc_described(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const unsigned parts = x.bytes > 4 ? 2 : 1;
  for (unsigned i = 0; i < parts; ++i) {
    const u32 v = widen(x, w.described[i]);
    Row32 d = result(w, x, i);
    NG_LANES(l) d[l] = v;
  }
  finish(w, x, parts);
  return u + 1;
}

bool bind_ldc(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  bind_size(inst, b);
  if (x.src_count == 1 && x.src[0].kind == Src::Kind::kDescribed) {
    if (x.bytes > 8) b.refuse("a constant of more than 8 bytes");
    x.body = ldc_described;
    return true;
  }
  if (x.src_count != 1 || x.src[0].kind != Src::Kind::kConst) b.refuse("operands");
  x.imm2 = 0;
  for (const Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kConst) continue;
    x.flag = o.ureg != kNoReg;  // c[bank][UR + offset]
    if (bank_slot(o.bank) > 0) {
      x.imm2 = static_cast<u32>(bank_slot(o.bank)) * kConstantBank;
    }
  }
  if (x.bytes > 8) b.refuse("a constant of more than 8 bytes");
  if (inst.mod(Axis::kIndex) != Tok::kNone) b.refuse("an index mode");
  x.body = ldc;
  return true;
}

}  // namespace

void bind_size(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  x.is_signed = false;
  switch (inst.mod(Axis::kSize)) {
    case Tok::U8: x.bytes = 1; break;
    case Tok::S8:
      x.bytes = 1;
      x.is_signed = true;
      break;
    case Tok::U16: x.bytes = 2; break;
    case Tok::S16:
      x.bytes = 2;
      x.is_signed = true;
      break;
    case Tok::kNone:
    case Tok::k32: x.bytes = 4; break;
    case Tok::k64: x.bytes = 8; break;
    case Tok::k128:
    case Tok::U_128: x.bytes = 16; break;
    default: b.refuse("access size ." + std::string(tok_text(inst.mod(Axis::kSize))));
  }
}

bool bind_memory(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::LDG:
    case Op::LD:
    case Op::LDL:
    case Op::STG:
    case Op::ST:
    case Op::STL:
      bind_size(inst, b);
      if (x.address_count != 1) b.refuse("operands");
      for (unsigned i = 0; i < x.pdst_count; ++i) {
        if (x.pdst[i] != preds::kDump) b.refuse("a predicate result");
      }
      break;
    default: break;
  }
  switch (inst.op) {
    case Op::LDG:
    case Op::LD:
      // Before sm_70 it says whether the address is a global one; the address says so too.
      x.flag = inst.row->encoding == Encoding::k128 && x.puse_count > 0 &&
               (x.puse[0].index != preds::kTrue || x.puse[0].inv);
      x.body = x.flag ? load_where : load<Space::kGlobal>;
      return true;
    case Op::LDL: x.body = load<Space::kLocal>; return true;
    case Op::STG:
    case Op::ST: x.body = store<Space::kGlobal>; return true;
    case Op::STL: x.body = store<Space::kLocal>; return true;
    case Op::LDC:
    case Op::ULDC: return bind_ldc(inst, b);
    case Op::LDGSTS:
      bind_size(inst, b);
      if (x.address_count != 2 || x.bytes < 4) b.refuse("operands");
      x.flag = inst.has(Axis::kZeroFill, Tok::ZFILL);
      x.body = ldgsts;
      return true;
    case Op::LDGDEPBAR:  // copies are complete when issued; checked mode keeps the books
    case Op::DEPBAR: x.body = nop; return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate
