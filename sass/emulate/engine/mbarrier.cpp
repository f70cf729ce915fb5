#include "sass/emulate/engine/mbarrier.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/engine/families.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/state/cluster.h"
#include "sass/emulate/state/grid.h"
#include "sass/isa/codec/hex.h"

namespace nervanagpu::sass::emulate {
namespace {

enum Kind : std::uint8_t {
  kExpectAndArrive,
  kArriveOne,
  kExpectOne,
  kExpect,
  kComplete,
  kArriveMany,
  kDrop,
  kDropMany,
  kExpectAndDrop
};

// The host bytes of an mbarrier, or nullptr after a fault. `cta` gets the CTA that has it: any of the cluster, or this one.
std::byte* find(Warp& w, const Uop* u, unsigned lane, std::uint64_t named, bool anywhere, Cta*& cta) {
  const auto at = static_cast<std::uint32_t>(named);
  cta = anywhere ? cta_of(w, at) : w.cta;
  if (cta == nullptr) {
    fault(w, u, lane, "mbarrier at shared address " + hex(named) + ", of " + no_such_cta(w, at));
    return nullptr;
  }
  if (!anywhere && names_another(w, at)) {
    fault(w, u, lane, "mbarrier at shared address " + hex(named) + " in another CTA, which only .RED reaches");
    return nullptr;
  }
  const std::uint64_t address = named & kRankOffset;
  const std::uint64_t offset = address - w.shared_base;
  if (address % 8 != 0 || address < w.shared_base || offset + 8 > w.shared_bytes) {
    fault(w, u, lane,
          "mbarrier at shared address " + hex(address) +
              (address % 8 != 0
                   ? ", which is not a multiple of 8"
                   : "; the CTA has [" + hex(w.shared_base) + ", " + hex(w.shared_base + w.shared_bytes) + ")"));
    return nullptr;
  }
  return cta->shared.data() + offset;
}
std::byte* find(Warp& w, const Uop* u, unsigned lane, std::uint64_t address) {
  Cta* own = nullptr;
  return find(w, u, lane, address, false, own);
}

Mbarrier get(const std::byte* p) {
  std::uint64_t bits;
  std::memcpy(&bits, p, sizeof bits);
  return Mbarrier(bits);
}

void put(Cta& cta, std::byte* p, Mbarrier b) {
  const std::uint64_t bits = b.bits();
  std::memcpy(p, &bits, sizeof bits);
  ++cta.progress;
}

// Checked mode, of an arrival by a lane. `told`: its result says which phase it is.
void note_arrival(Warp& w, const Uop* u, unsigned lane, Cta& cta, std::uint32_t address, bool told) {
  if (&cta != w.cta) note_remote(w, u, 0, cta, address, 0, Intent::kAtomic);
  const auto kind = u->x->kind;
  const bool counts = kind != kExpectOne && kind != kExpect && kind != kComplete;
  cta.checker->mbarrier_arrived(w, lane, address & kRankOffset, counts, told);
}

// A mistake that checked mode reports and goes on from. True: go on.
bool misuse(Warp& w, const Uop* u, unsigned lane, std::string what) {
  if (w.checker == nullptr) {
    fault(w, u, lane, "mbarrier misuse: " + what);
    return false;
  }
  w.checker->found(w, u, lane, "mbarrier misuse", std::move(what));
  return true;
}

bool is_made(const Cta& cta, std::uint32_t address) {
  return std::find(cta.mbarriers.begin(), cta.mbarriers.end(), address & kRankOffset) != cta.mbarriers.end();
}

bool known(Warp& w, const Uop* u, unsigned lane, Cta& cta, std::uint32_t address, bool engine = false) {
  if (is_made(cta, address)) {
    if (w.checker != nullptr) cta.checker->mbarrier_used(w, u, lane, address & kRankOffset, engine);
    return true;
  }
  return misuse(w, u, lane,
                "no mbarrier was initialised at shared address " + hex(address) + ", or it was invalidated");
}

// The mbarriers that an instruction of every lane uses. Checked mode does not judge by who comes first: where one is not there
// yet, the warp comes again, as long as another one may make it.
bool comes_too_early(Warp& w, const Address& at, bool anywhere) {
  if (w.checker == nullptr) return false;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) != 0 && !mbarrier_awaited(w, static_cast<std::uint32_t>(lane_address(w, at, l)), anywhere)) {
      return true;
    }
  }
  return false;
}

const Uop* exchange(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const std::uint32_t named = w.ureg[x.address[0].ureg] + static_cast<std::uint32_t>(x.address[0].offset);
  std::byte* p = find(w, u, kLanes, named);
  const std::uint32_t address = named & kRankOffset;
  if (p == nullptr) return nullptr;
  const std::uint64_t old = get(p).bits();
  put(*w.cta, p, Mbarrier(scalar(w, x.src[0]) | std::uint64_t{scalar(w, x.src[0], 1)} << 32));
  w.ureg[x.dst] = static_cast<std::uint32_t>(old);
  w.ureg[x.dst + 1] = static_cast<std::uint32_t>(old >> 32);
  auto& all = w.cta->mbarriers;
  if (std::find(all.begin(), all.end(), address) == all.end()) all.push_back(address);
  if (w.checker != nullptr) w.checker->mbarrier_made(w, u, address);
  return u + 1;
}

const Uop* invalidate(Warp& w, const Uop* u) {
  if (comes_too_early(w, u->x->address[0], false)) return come_again(w, u);
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    const auto address = static_cast<std::uint32_t>(lane_address(w, u->x->address[0], l));
    if (find(w, u, l, address) == nullptr) return nullptr;
    if (!known(w, u, l, *w.cta, address)) return nullptr;
    std::erase(w.cta->mbarriers, address & kRankOffset);
    if (w.checker != nullptr) w.checker->mbarrier_gone(w, address & kRankOffset);
    break;  // once for the warp
  }
  return u + 1;
}

const Uop* arrive(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  if (comes_too_early(w, x.address[0], x.flag)) return come_again(w, u);
  Row32 lo = result(w, x);
  Row32 hi = result(w, x, 1);
  ConstRow operand = fetch_raw(w, x.src[0], 0);
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    const std::uint32_t n = operand[l];  // before its register may take the result
    const std::uint64_t address = lane_address(w, x.address[0], l);
    Cta* cta = nullptr;
    std::byte* p = find(w, u, l, address, x.flag, cta);
    if (p == nullptr || !known(w, u, l, *cta, static_cast<std::uint32_t>(address))) return nullptr;
    Mbarrier b = get(p);
    const Mbarrier before = b;
    bool ok = false;
    switch (x.kind) {
      case kExpectAndArrive: ok = b.expect_and_arrive(n); break;
      case kArriveOne: ok = b.arrive(1); break;
      case kArriveMany: ok = b.arrive(n); break;
      case kExpectOne: ok = b.expect(1); break;
      case kExpect: ok = b.expect(n); break;
      case kComplete: ok = b.expect(-std::int64_t{n}); break;
      case kDropMany: ok = b.drop(n); break;
      case kExpectAndDrop: ok = b.expect_and_drop(n); break;
      default: ok = b.drop(); break;
    }
    if (!ok && !misuse(w, u, l,
                       "at shared address " + hex(address) + ": " + std::to_string(before.pending()) + " of " +
                           std::to_string(before.expected()) + " arrivals and " + std::to_string(before.bytes()) +
                           " bytes are missing, and this would be too many")) {
      return nullptr;
    }
    lo[l] = static_cast<std::uint32_t>(before.bits());
    hi[l] = static_cast<std::uint32_t>(before.bits() >> 32);
    if (!ok) continue;
    put(*cta, p, b);
    if (w.checker == nullptr) continue;
    const auto at = static_cast<std::uint32_t>(address);
    note_arrival(w, u, l, *cta, at, x.dst != rows::kDump);
    if (b.parity() != before.parity()) cta->checker->mbarrier_phase_over(w, at & kRankOffset);
  }
  finish(w, x, 2);
  return u + 1;
}

// When the LDGSTS of a thread are done, and they are: its announced arrival (.ARVCNT), or the one byte that it expects since
// a SYNCS.ARRIVE.A0T1 (.TRANSCNT).
const Uop* copies_arrive(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  if (comes_too_early(w, x.address[0], false)) return come_again(w, u);
  if (w.checker != nullptr) w.checker->copies_done(w);
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    const std::uint64_t address = lane_address(w, x.address[0], l);
    std::byte* p = find(w, u, l, address);
    if (p == nullptr || !known(w, u, l, *w.cta, static_cast<std::uint32_t>(address))) return nullptr;
    Mbarrier b = get(p);
    const Mbarrier before = b;
    if (x.kind == kArriveOne ? !b.arrive(1) : !b.expect(-1)) {
      if (!misuse(w, u, l,
                  "at shared address " + hex(address) + ": no " + (x.kind == kArriveOne ? "arrival" : "byte") +
                      " is missing, and this would be too many")) {
        return nullptr;
      }
      continue;
    }
    put(*w.cta, p, b);
    if (w.checker == nullptr) continue;
    const auto at = static_cast<std::uint32_t>(address);
    note_arrival(w, u, l, *w.cta, at, false);
    if (b.parity() != before.parity()) w.checker->mbarrier_phase_over(w, at & kRankOffset);
  }
  return u + 1;
}

// Checked mode, of what a warp asks for before it gets an answer: once for lanes that are one.
void note_questions(Warp& w, const Uop* u, ConstRow operand) {
  const Strand* strand = nullptr;
  std::uint32_t last = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    const auto named = static_cast<std::uint32_t>(lane_address(w, u->x->address[0], l));
    const std::uint32_t address = named & kRankOffset;
    const Strand* const mine = &w.checker->strand(w, l);
    if ((mine == strand && address == last) || !is_made(*w.cta, address)) continue;
    strand = mine;
    last = address;
    w.checker->mbarrier_asked(w, u, l, address, operand[l] >> 31 != 0);
  }
}

const Uop* phase(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  if (comes_too_early(w, x.address[0], false)) return come_again(w, u);
  ConstRow operand = fetch_raw(w, x.src[0], 0);
  if (w.checker != nullptr) note_questions(w, u, operand);
  std::uint32_t passed = 0;
  std::uint32_t waits_at = 0;
  bool parity = false;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    const std::uint64_t address = lane_address(w, x.address[0], l);
    const std::byte* p = find(w, u, l, address);
    if (p == nullptr || !known(w, u, l, *w.cta, static_cast<std::uint32_t>(address))) return nullptr;
    if (get(p).passed(operand[l] >> 31 != 0)) {
      passed |= 1u << l;
      if (w.checker != nullptr) {
        w.checker->mbarrier_observed(w, l, static_cast<std::uint32_t>(address) & kRankOffset);
      }
    } else {
      waits_at = static_cast<std::uint32_t>(address) & kRankOffset;
      parity = operand[l] >> 31 != 0;
    }
  }
  const std::uint32_t missing = w.exec & ~passed;
  set_predicate(w, x.pdst[0], passed);
  if (missing == 0) return u + 1;
  // Others may have to run before it can become true.
  leave(w, u, static_cast<std::uint32_t>(u - w.code) + 1, Stop::kYield);
  Group& g = w.groups[w.current];
  g.mbarrier = waits_at;
  g.registers = 0;
  g.parity = parity;
  w.polls = true;
  return nullptr;
}

// The lowest lane of those named.
const Uop* elect(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  std::uint32_t lanes = w.exec;
  if (x.puse_count > 0) lanes &= predicate(w, x.puse[0]);
  if (x.src_count > 0) lanes &= x.src[0].inv ? ~scalar(w, x.src[0]) : scalar(w, x.src[0]);
  const std::uint32_t first = lanes & (0u - lanes);
  set_predicate(w, x.pdst[0], first);
  w.ureg[x.dst] = first == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(first));
  return u + 1;
}

// Memory is coherent here. Checked mode remembers who made shared memory visible to the engines; .G is about global memory.
const Uop* fence(Warp& w, const Uop* u) {
  if (w.checker != nullptr && !u->x->flag) w.checker->fenced(w, Order::Fence::kEngines);
  return u + 1;
}

const Uop* nothing(Warp&, const Uop* u) {
  return u + 1;
}

}  // namespace

bool mbarrier_awaited(Warp& w, std::uint32_t address, bool anywhere) {
  const Cta* cta = anywhere ? cta_of(w, address) : w.cta;
  if (w.checker == nullptr || cta == nullptr || w.cta->cluster->made_up || is_made(*cta, address)) return true;
  // Elsewhere there can be none: that is told at once.
  const std::uint32_t at = address & kRankOffset;
  return at % 8 != 0 || at < w.shared_base || at - w.shared_base + 8 > w.shared_bytes;
}

const Uop* come_again(Warp& w, const Uop* u) {
  leave(w, u, static_cast<std::uint32_t>(u - w.code), Stop::kYield);
  Group& g = w.groups[w.current];
  g.mbarrier = 0;
  g.registers = 0;
  w.polls = true;
  w.cta->cluster->unmade = true;
  w.comes_again = w.checker != nullptr;
  return nullptr;
}

bool complete_bytes(Warp& w, const Uop* u, std::uint32_t address, std::uint32_t count) {
  Cta* cta = nullptr;
  std::byte* p = find(w, u, kLanes, address, true, cta);
  if (p == nullptr || !known(w, u, 0, *cta, address, true)) return false;
  Mbarrier b = get(p);
  const bool before = b.parity();
  if (!b.expect(-std::int64_t{count})) {
    return misuse(w, u, 0,
                  "at shared address " + hex(address) + ": " + std::to_string(count) + " bytes come, " +
                      std::to_string(b.bytes()) + " are expected");
  }
  put(*cta, p, b);
  if (w.checker == nullptr) return true;
  if (cta != w.cta) note_remote(w, u, 0, *cta, address, 0, Intent::kAtomic);
  if (b.parity() != before) cta->checker->mbarrier_phase_over(w, address & kRankOffset);
  return true;
}

bool bind_mbarrier(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::FENCE:
      x.body = fence;
      x.flag = inst.has(Axis::kScope, Tok::G);
      return true;
    case Op::PREEXIT:
    case Op::ACQBULK: x.body = nothing; return true;
    case Op::ELECT: x.body = elect; return true;
    case Op::ARRIVES:
      x.body = copies_arrive;
      x.kind = inst.mod(Axis::kCount) == Tok::ARVCNT ? kArriveOne : kComplete;
      return true;
    case Op::SYNCS: break;
    default: return false;
  }
  if (says(inst, "PHASECHK")) {
    x.body = phase;
  } else if (says(inst, "EXCH")) {
    x.body = exchange;
  } else if (says(inst, "CCTL")) {
    x.body = invalidate;
  } else if (says(inst, "ARRIVE")) {
    x.body = arrive;
    switch (inst.mod(Axis::kCount)) {
      case Tok::A1T0: x.kind = kArriveOne; break;
      case Tok::A0TR: x.kind = kExpect; break;
      case Tok::A0TX: x.kind = kComplete; break;
      case Tok::ART0: x.kind = kArriveMany; break;
      case Tok::A0T1: x.kind = kExpectOne; break;
      default: x.kind = kExpectAndArrive;
    }
    x.flag = says(inst, "RED");
    if (says(inst, "TMASK")) b.refuse(".TMASK");
    if (says(inst, "OPTOUT")) {
      switch (x.kind) {
        case kArriveOne: x.kind = kDrop; break;
        case kArriveMany: x.kind = kDropMany; break;
        case kExpectAndArrive: x.kind = kExpectAndDrop; break;
        default: b.refuse(".OPTOUT without an arrival");
      }
    }
  } else {
    b.refuse("this function");
  }
  return true;
}

}  // namespace nervanagpu::sass::emulate
