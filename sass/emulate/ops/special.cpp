// Special registers.
#include <cstdint>

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/grid.h"
#include "sass/emulate/uop/words.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

enum Special : std::uint8_t {
  kZero,
  kLaneId,
  kTidX,
  kTidY,
  kTidZ,
  kTid,
  kCtaX,
  kCtaY,
  kCtaZ,
  kEqMask,
  kLtMask,
  kLeMask,
  kGtMask,
  kGeMask,
  kClock,
  kClockHi,
  kSharedWindowHi,
  kLocalWindowHi,
  kSharedSize,
  kWarpId,
  kRank,
};

struct Name {
  std::string_view text;
  Special what;
};
// SM and error registers are all 0 here: one SM, no errors.
constexpr Name kNames[] = {
    {"SRZ", kZero},
    {"SR_LANEID", kLaneId},
    {"SR_TID.X", kTidX},
    {"SR_TID.Y", kTidY},
    {"SR_TID.Z", kTidZ},
    {"SR_TID", kTid},
    {"SR_CTAID.X", kCtaX},
    {"SR_CTAID.Y", kCtaY},
    {"SR_CTAID.Z", kCtaZ},
    {"SR_EQMASK", kEqMask},
    {"SR_LTMASK", kLtMask},
    {"SR_LEMASK", kLeMask},
    {"SR_GTMASK", kGtMask},
    {"SR_GEMASK", kGeMask},
    {"SR_CLOCKLO", kClock},
    {"SR_CLOCK", kClock},
    {"SR_CLOCKHI", kClockHi},
    {"SR_GLOBALTIMERLO", kClock},
    {"SR_GLOBALTIMERHI", kClockHi},
    {"SR_SWINLO", kZero},
    {"SR_SWINHI", kSharedWindowHi},
    {"SR_LWINHI", kLocalWindowHi},
    {"SR_LMEMHIOFF", kZero},  // the end of the stack, which code of -O0 compares R1 with: local memory begins at 0 here
    {"SR_SMEMSZ", kSharedSize},
    {"SR_VIRTUALSMID", kZero},
    {"SR_CgaCtaId", kRank},
    {"SR_GpcLocalCgaId", kZero},
    {"SR_VIRTID", kWarpId},
};

u32 value(const Warp& w, const Uop* u, Special what, unsigned lane) {
  const Cta& cta = *w.cta;
  const Dim3 block = cta.grid->launch.block;
  const u32 thread = w.index * kLanes + lane;
  const u32 x = thread % block.x;
  const u32 y = thread / block.x % block.y;
  const u32 z = thread / block.x / block.y;
  const std::uint64_t clock = w.instructions + static_cast<std::uint64_t>(u - w.mark);
  switch (what) {
    case kZero: return 0;
    case kLaneId: return lane;
    case kTidX: return x;
    case kTidY: return y;
    case kTidZ: return z;
    case kTid: return z << 26 | y << 16 | x;
    case kCtaX: return cta.id[0];
    case kCtaY: return cta.id[1];
    case kCtaZ: return cta.id[2];
    case kEqMask: return 1u << lane;
    case kLtMask: return (1u << lane) - 1;
    case kLeMask: return (2u << lane) - 1;
    case kGtMask: return ~((2u << lane) - 1);
    case kGeMask: return ~((1u << lane) - 1);
    case kClock: return static_cast<u32>(clock);
    case kClockHi: return static_cast<u32>(clock >> 32);
    case kSharedWindowHi: return static_cast<u32>(kSharedWindow >> 32);
    case kLocalWindowHi: return static_cast<u32>(kLocalWindow >> 32);
    case kSharedSize: return w.shared_bytes;
    case kWarpId: return w.index << 8;
    case kRank: return cta.rank;
  }
  return 0;
}

const Uop* s2r(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 o = result(w, x);
  for (unsigned l = 0; l < kLanes; ++l) o[l] = value(w, u, static_cast<Special>(x.kind), l);
  if (x.width == 2) {  // CS2R of a pair
    Row32 hi = result(w, x, 1);
    const bool clock = x.kind == kClock;
    for (unsigned l = 0; l < kLanes; ++l) hi[l] = clock ? value(w, u, kClockHi, l) : 0;
  }
  finish(w, x, x.width);
  return u + 1;
}

// B2R.RESULT: what BAR.RED left.
const Uop* b2r(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 o = result(w, x);
  for (unsigned l = 0; l < kLanes; ++l) o[l] = w.barrier_result;
  finish(w, x);
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], w.barrier_result != 0 ? kAllLanes : 0);
  return u + 1;
}

}  // namespace

bool bind_special(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  if (op_text(inst.op) == "B2R") {
    if (!says(inst, "RESULT")) b.refuse("anything but .RESULT");
    x.body = b2r;
    return true;
  }
  if (inst.op != Op::S2R && inst.op != Op::S2UR && inst.op != Op::CS2R) return false;
  for (const Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kSpecialReg) continue;
    const std::string_view text = special_register_name(inst.row->encoding, static_cast<unsigned>(o.imm));
    for (const Name& n : kNames) {
      if (n.text != text) continue;
      x.kind = n.what;
      x.body = s2r;
    }
    if (x.body == nullptr) b.refuse("special register " + std::string(text));
  }
  if (x.body == nullptr) b.refuse("operands");
  return true;
}

}  // namespace nervanagpu::sass::emulate
