// The copy engine: UTMALDG, UTMASTG, UTMAREDG, UBLKCP, UBLKRED. A copy is done when it is issued: its bytes are counted at the mbarrier at once.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/engine/families.h"
#include "sass/emulate/engine/mbarrier.h"
#include "sass/emulate/engine/reduce.h"
#include "sass/emulate/engine/tensor_map.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/state/cluster.h"
#include "sass/emulate/state/grid.h"
#include "sass/isa/codec/hex.h"

namespace nervanagpu::sass::emulate {
namespace {

std::uint64_t pair(const Warp& w, unsigned r) {
  return w.ureg[r] | std::uint64_t{w.ureg[r + 1]} << 32;
}

// Bytes of global memory that lie in one allocation, or nullptr after a fault.
std::byte* global(Warp& w, const Uop* u, std::uint64_t address, std::uint64_t bytes, const char* verb,
                  Intent intent = Intent::kLoad) {
  std::byte* first = nullptr;
  for (std::uint64_t at = 0; at < bytes;) {
    const std::uint64_t n = std::min(bytes - at, kPageBytes - (address + at) % kPageBytes);
    std::byte* p = w.memory->touch(address + at, static_cast<unsigned>(n));
    if (p == nullptr) {
      fault(w, u, kLanes,
            "out of bounds: the copy engine " + std::string(verb) + " " + std::to_string(bytes) + " bytes at " +
                hex(address));
      return nullptr;
    }
    if (at == 0) first = p;
    at += n;
  }
  if (w.checker != nullptr && bytes != 0) {
    w.checker->global_access(w, u, static_cast<unsigned>(std::countr_zero(w.exec)), address, bytes, intent);
  }
  return first;
}

// Global memory to `to`. The engine fetches 16 bytes at once: an array of others that does not begin at a multiple of 16 is told
// of from the multiple before it. Those bytes, which are in the same 16, are read on a chip and are nobody's here.
bool fetch(Warp& w, const Uop* u, std::uint64_t address, std::uint64_t bytes, std::byte* to) {
  constexpr int kNobodys = 0xff;  // NaN, of floats
  const std::uint64_t before = std::min(w.memory->before_lent(address), bytes);
  std::memset(to, kNobodys, before);
  const std::byte* from = global(w, u, address + before, bytes - before, "reads");
  if (from == nullptr) return false;
  std::memcpy(to + before, from, bytes - before);
  return true;
}

// Checks that [address, address + bytes) lies in shared memory on a multiple of `align`.
bool in_shared(Warp& w, const Uop* u, std::uint32_t address, std::uint64_t bytes, std::uint32_t align) {
  if (address % align != 0) {
    fault(w, u, kLanes,
          "misaligned: the copy engine needs a shared address that is a multiple of " + std::to_string(align) +
              ", not " + hex(address));
    return false;
  }
  const std::uint32_t at = address & kRankOffset;
  if (at < w.shared_base || at - w.shared_base + bytes > w.shared_bytes) {
    fault(w, u, kLanes,
          "out of bounds: the copy engine touches " + std::to_string(bytes) + " bytes at shared address " +
              hex(address) + "; the CTA has [" + hex(w.shared_base) + ", " + hex(w.shared_base + w.shared_bytes) + ")");
    return false;
  }
  return true;
}

// 16 bytes that a copy reads; `out`: it goes to global memory, and UTMACMDFLUSH waits for it.
const std::byte* read_shared(Warp& w, const Uop* u, std::uint32_t address, bool out = true) {
  const std::uint32_t offset = (address & kRankOffset) - w.shared_base;
  if (w.checker != nullptr && out) w.checker->store_read(w, u, offset);
  if (w.checker != nullptr && !out) w.checker->engine_read(w, u, offset, 16);
  return w.shared + offset;
}

// A CTA that a copy goes to, and what checked mode knows the copy by.
struct Target {
  Cta* cta = nullptr;
  Shadow::Copy copy;
};

// The CTAs that a copy goes to: that of the address, or those of the mask, at the same offset. Empty after a fault.
std::vector<Target> targets(Warp& w, const Uop* u, std::uint32_t address, bool multicast, std::uint32_t mask) {
  auto& ctas = w.cta->cluster->ctas;
  std::vector<Target> all;
  if (!multicast) {
    all.push_back({cta_of(w, address), {}});
    if (all[0].cta != nullptr) return all;
    fault(w, u, kLanes, "the copy engine writes to shared address " + hex(address) + ", of " + no_such_cta(w, address));
    return {};
  }
  if (mask == 0 || mask >> ctas.size() != 0) {
    fault(w, u, kLanes, "multicast to CTAs " + hex(mask) + " of a cluster of " + std::to_string(ctas.size()));
    return {};
  }
  for (Cta& cta : ctas) {
    if ((mask >> cta.rank & 1) != 0) all.push_back({&cta, {}});
  }
  return all;
}

// The mbarrier where the bytes of a target are counted.
std::uint32_t barrier_of(const Target& t, std::uint32_t barrier, bool multicast) {
  return multicast ? (barrier & kRankOffset) | t.cta->rank << kRankShift : barrier;
}
// Checked mode: the copy begins. False: the mbarrier is not there yet.
bool begin_copies(Warp& w, std::vector<Target>& to, std::uint32_t barrier, bool multicast) {
  if (w.checker == nullptr) return true;
  for (const Target& t : to) {
    if (!mbarrier_awaited(w, barrier_of(t, barrier, multicast), true)) return false;
  }
  for (Target& t : to) {
    Cta* home = cta_of(w, barrier_of(t, barrier, multicast));
    if (home != nullptr) t.copy = home->checker->copy_begins(barrier & kRankOffset);
  }
  return true;
}
void note_write(Warp& w, const Uop* u, const Target& t, std::uint32_t address, unsigned bytes, bool adds = false) {
  if (t.cta != w.cta) note_remote(w, u, 0, *t.cta, address, 0, Intent::kStore);
  t.cta->checker->engine_write(w, u, t.copy, (address & kRankOffset) - w.shared_base, bytes, adds);
}
// Writes to all of them; counts bytes at the mbarriers of all.
void write_shared(Warp& w, const Uop* u, const std::vector<Target>& to, std::uint32_t address, const std::byte* from,
                  unsigned bytes) {
  for (const Target& t : to) {
    if (w.checker != nullptr) note_write(w, u, t, address, bytes);
    std::memcpy(t.cta->shared.data() + ((address & kRankOffset) - w.shared_base), from, bytes);
  }
}
bool complete_all(Warp& w, const Uop* u, const std::vector<Target>& to, std::uint32_t barrier, std::uint32_t bytes,
                  bool multicast) {
  for (const Target& t : to) {
    if (!complete_bytes(w, u, barrier_of(t, barrier, multicast), bytes)) return false;
  }
  return true;
}
// A source in shared memory: this CTA's.
bool is_own(Warp& w, const Uop* u, std::uint32_t address) {
  if (!names_another(w, address)) return true;
  fault(w, u, kLanes, "the copy engine reads shared address " + hex(address) + ", which is in another CTA");
  return false;
}

std::optional<TensorMap> map_at_any(Warp& w, const Uop* u, std::uint64_t address) {
  const Kernel& kernel = *w.cta->grid->kernel;
  const std::uint32_t base = info(kernel.arch).param_base;
  const std::uint64_t offset = address - kParamWindow;  // of the parameters
  const bool parameter = offset < kernel.param_bytes && offset + sizeof(TensorMap) <= kernel.param_bytes;
  if ((parameter ? base + offset : address) % 64 != 0) {
    fault(w, u, kLanes, "misaligned: tensor map at " + hex(address) + ", which is not a multiple of 64");
    return std::nullopt;
  }
  const std::byte* from = parameter ? w.constants + base + offset : nullptr;
  if (!parameter) {
    from = global(w, u, address, sizeof(TensorMap), "reads a tensor map of");
    if (from == nullptr) return std::nullopt;
  }
  TensorMap map;
  std::memcpy(static_cast<void*>(&map), from, sizeof map);
  if (map.magic != TensorMap::kMagic) {
    fault(w, u, kLanes, "there is no tensor map at " + hex(address));
    return std::nullopt;
  }
  return map;
}

std::optional<TensorMap> map_at(Warp& w, const Uop* u, std::uint64_t address, unsigned rank, bool im2col) {
  const auto found = map_at_any(w, u, address);
  if (!found) return std::nullopt;
  const TensorMap& map = *found;
  if (map.rank != rank) {
    fault(w, u, kLanes,
          "the tensor map has " + std::to_string(map.rank) + " dimensions, the instruction " + std::to_string(rank));
    return std::nullopt;
  }
  if (map.im2col != im2col) {
    fault(w, u, kLanes,
          std::string("the tensor map is ") +
              (map.im2col ? "of pixels, the instruction of boxes" : "of boxes, the instruction of pixels"));
    return std::nullopt;
  }
  return map;
}

// Where in the filter a column of pixels lies: W, H, D of 16, 8 or 5 bits each.
std::array<std::uint32_t, kMaxMapRank - 2> filter_offsets(std::uint32_t packed, unsigned rank) {
  if (rank == 3) return {packed & 0xffff};
  if (rank == 4) return {packed & 0xff, packed >> 8 & 0xff};
  return {packed & 31, packed >> 5 & 31, packed >> 10 & 31};
}

std::array<std::int32_t, kMaxMapRank> coordinates(const Warp& w, unsigned first, unsigned rank) {
  std::array<std::int32_t, kMaxMapRank> at{};
  for (unsigned d = 0; d < rank; ++d) at[d] = static_cast<std::int32_t>(w.ureg[first + d]);
  return at;
}

// The engine's conditions on where a box begins: a misaligned row, or a store that begins before the tensor, ends the grid
// on the chip, too.
bool may_begin(Warp& w, const Uop* u, const TensorMap& map, std::span<const std::int32_t> at, bool store) {
  const std::int64_t first = std::int64_t{at[0]} * element_bytes(map.type);
  if (map.interleave == MapInterleave::kNone && first % 16 != 0) {
    fault(w, u, kLanes,
          "misaligned: the box begins at element " + std::to_string(at[0]) + " of a row, byte " +
              std::to_string(first) + "; a multiple of 16 is needed");
    return false;
  }
  if (!store) return true;
  for (unsigned d = 0; d < map.rank; ++d) {
    if (at[d] >= 0) continue;
    fault(w, u, kLanes,
          "a store at coordinate " + std::to_string(at[d]) + " of dimension " + std::to_string(d) +
              "; it may end outside the tensor, but not begin before it");
    return false;
  }
  for (unsigned d = 0; map.im2col && d + 2 < map.rank; ++d) {
    if (map.lower[d] >= 0 && map.upper[d] <= 0) continue;
    const bool low = map.lower[d] < 0;
    fault(w, u, kLanes,
          std::string("a store by a tensor map whose ") + (low ? "lower[" : "upper[") + std::to_string(d) + "] is " +
              std::to_string(low ? map.lower[d] : map.upper[d]) + "; its pixels must lie inside the tensor");
    return false;
  }
  return true;
}

const Uop* load_box(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const unsigned group = x.address[0].ureg;
  const std::uint32_t to = w.ureg[group];
  const std::uint32_t barrier = w.ureg[group + 1];
  std::vector<Target> all = targets(w, u, to, x.flag, x.flag ? scalar(w, x.src[0]) >> 16 : 0);
  if (all.empty()) return nullptr;
  const auto map = map_at(w, u, pair(w, x.address[1].ureg), x.kind, x.im2col);
  if (!map || !in_shared(w, u, to, shared_bytes(*map), 128)) return nullptr;
  const auto at = coordinates(w, group + 2, x.kind);
  if (!may_begin(w, u, *map, at, false)) return nullptr;
  if (!begin_copies(w, all, barrier, x.flag)) return come_again(w, u);
  std::array<std::byte, 256 * 8> row;
  const auto offsets = filter_offsets(x.im2col ? scalar(w, x.src[0]) : 0, x.kind);
  const bool ok = each_row(*map, at, offsets, [&](const BoxRow& r) {
    fill_outside(*map, std::span(row).first(r.bytes));
    if (r.to > r.from) {
      if (!fetch(w, u, r.address, r.to - r.from, row.data() + r.from)) return false;
      convert_loaded(map->type, std::span(row).subspan(r.from, r.to - r.from));
    }
    for (std::uint32_t c = 0; c < r.bytes; c += 16) {
      write_shared(w, u, all, swizzled(map->swizzle, to + r.offset + c), row.data() + c, 16);
    }
    return true;
  });
  if (!ok || !complete_all(w, u, all, barrier, box_bytes(*map), x.flag)) return nullptr;
  return u + 1;
}

const Uop* no_reduction(Warp& w, const Uop* u, Reduce op, ReduceType type) {
  return fault(
      w, u, kLanes,
      "the copy engine has no " + std::string(name_of(op)) + " of " + std::string(name_of(type)) + " elements");
}

// UTMASTG and UTMAREDG; x.flag2: the latter, x.kind2 being what it does.
const Uop* store_box(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const auto op = static_cast<Reduce>(x.kind2);
  const unsigned group = x.address[0].ureg;
  const std::uint32_t from = w.ureg[group];
  const auto map = map_at(w, u, pair(w, x.address[1].ureg), x.kind, x.im2col);
  if (!map || !is_own(w, u, from) || !in_shared(w, u, from, shared_bytes(*map), 128)) return nullptr;
  const ReduceType type = reduce_type(map->type);
  if (x.flag2 && !can_reduce(op, type)) return no_reduction(w, u, op, type);
  const auto at = coordinates(w, group + 1, x.kind);
  if (!may_begin(w, u, *map, at, true)) return nullptr;
  if (w.checker != nullptr) w.checker->store_begins(w);
  std::array<std::byte, 256 * 8> row;
  const bool ok = each_row(*map, at, filter_offsets(0, x.kind), [&](const BoxRow& r) {
    for (std::uint32_t c = 0; c < r.bytes; c += 16) {
      std::memcpy(row.data() + c, read_shared(w, u, swizzled(map->swizzle, from + r.offset + c)), 16);
    }
    if (r.to <= r.from) return true;
    const std::uint32_t until = (r.to + 15) / 16 * 16;  // whole chunks, also across the end of the tensor's row
    std::byte* to = global(w, u, r.address, until - r.from, "writes", x.flag2 ? Intent::kAtomic : Intent::kStore);
    if (to == nullptr) return false;
    if (x.flag2) {
      reduce(to, row.data() + r.from, until - r.from, op, type);
    } else {
      std::memcpy(to, row.data() + r.from, until - r.from);
    }
    return true;
  });
  return ok ? u + 1 : nullptr;
}

// UBLKCP between global and shared memory; x.flag: multicast, x.flag2: to shared memory, x.flag3: from shared memory too.
const Uop* copy_block(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const std::uint32_t size = scalar(w, x.src[0]);
  const std::uint32_t bytes = (size & 0xffff) * 16;
  const std::uint32_t inside = w.ureg[x.address[x.flag2 ? 0 : 1].ureg];
  if (!in_shared(w, u, inside, bytes, 16)) return nullptr;
  std::vector<Target> all;
  const std::uint32_t barrier = x.flag2 ? w.ureg[x.address[0].ureg + 1] : 0;
  if (x.flag2) {
    all = targets(w, u, inside, x.flag, size >> 16);
    if (all.empty()) return nullptr;
    if (!begin_copies(w, all, barrier, x.flag)) return come_again(w, u);
  } else if (!is_own(w, u, inside)) {
    return nullptr;
  }
  if (x.flag3) {
    const std::uint32_t from = w.ureg[x.address[1].ureg];
    if (!is_own(w, u, from) || !in_shared(w, u, from, bytes, 16)) return nullptr;
    for (std::uint32_t c = 0; c < bytes; c += 16) {
      write_shared(w, u, all, inside + c, read_shared(w, u, from + c, false), 16);
    }
    return complete_all(w, u, all, barrier, bytes, x.flag) ? u + 1 : nullptr;
  }
  const std::uint64_t outside = pair(w, x.address[x.flag2 ? 1 : 0].ureg);
  if (outside % 16 != 0) {
    return fault(w, u, kLanes,
                 "misaligned: the copy engine needs a global address that is a multiple of 16, not " + hex(outside));
  }
  std::byte* there =
      bytes == 0 ? nullptr
                 : global(w, u, outside, bytes, x.flag2 ? "reads" : "writes", x.flag2 ? Intent::kLoad : Intent::kStore);
  if (bytes != 0 && there == nullptr) return nullptr;
  if (w.checker != nullptr && !x.flag2) w.checker->store_begins(w);
  for (std::uint32_t c = 0; c < bytes; c += 16) {
    if (x.flag2) {
      write_shared(w, u, all, inside + c, there + c, 16);
    } else {
      std::memcpy(there + c, read_shared(w, u, inside + c), 16);
    }
  }
  if (x.flag2 && !complete_all(w, u, all, barrier, bytes, x.flag)) return nullptr;
  return u + 1;
}

// UBLKRED into the shared memory of the cluster: like a copy, it counts its bytes at an mbarrier.
const Uop* reduce_to_shared(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const std::uint32_t bytes = (scalar(w, x.src[0]) & 0xffff) * 16;
  const std::uint32_t from = w.ureg[x.address[1].ureg];
  const std::uint32_t to = w.ureg[x.address[0].ureg];
  const std::uint32_t barrier = w.ureg[x.address[0].ureg + 1];
  if (!is_own(w, u, from) || !in_shared(w, u, from, bytes, 16) || !in_shared(w, u, to, bytes, 16)) return nullptr;
  std::vector<Target> all = targets(w, u, to, false, 0);
  if (all.empty()) return nullptr;
  if (!begin_copies(w, all, barrier, false)) return come_again(w, u);
  const Target& target = all.front();
  for (std::uint32_t c = 0; c < bytes; c += 16) {
    if (w.checker != nullptr) note_write(w, u, target, to + c, 16, true);
    reduce(target.cta->shared.data() + ((to & kRankOffset) + c - w.shared_base), read_shared(w, u, from + c, false), 16,
           static_cast<Reduce>(x.kind2), static_cast<ReduceType>(x.kind));
  }
  return complete_all(w, u, all, barrier, bytes, false) ? u + 1 : nullptr;
}

// UBLKRED from shared to global memory; x.kind2: what it does, x.kind: with which elements.
const Uop* reduce_block(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const auto op = static_cast<Reduce>(x.kind2);
  const auto type = static_cast<ReduceType>(x.kind);
  if (!can_reduce(op, type)) return no_reduction(w, u, op, type);
  const std::uint32_t bytes = (scalar(w, x.src[0]) & 0xffff) * 16;
  const std::uint32_t inside = w.ureg[x.address[1].ureg];
  const std::uint64_t outside = pair(w, x.address[0].ureg);
  if (!is_own(w, u, inside) || !in_shared(w, u, inside, bytes, 16)) return nullptr;
  if (outside % 16 != 0) {
    return fault(w, u, kLanes,
                 "misaligned: the copy engine needs a global address that is a multiple of 16, not " + hex(outside));
  }
  std::byte* there = bytes == 0 ? nullptr : global(w, u, outside, bytes, "writes", Intent::kAtomic);
  if (bytes != 0 && there == nullptr) return nullptr;
  if (w.checker != nullptr) w.checker->store_begins(w);
  for (std::uint32_t c = 0; c < bytes; c += 16) {
    reduce(there + c, read_shared(w, u, inside + c), 16, op, type);
  }
  return u + 1;
}

// A tensor map in memory was changed: its copy in the engine is dropped or made. There is none here, only the address is
// looked at.
const Uop* map_control(Warp& w, const Uop* u) {
  return map_at_any(w, u, pair(w, u->x->address[0].ureg)) ? u + 1 : nullptr;
}

const Uop* nothing(Warp&, const Uop* u) {
  return u + 1;
}

Reduce reduce_of(const Inst& inst) {
  switch (inst.mod(Axis::kFunction)) {
    case Tok::MIN: return Reduce::kMin;
    case Tok::MAX: return Reduce::kMax;
    case Tok::INC: return Reduce::kInc;
    case Tok::DEC: return Reduce::kDec;
    case Tok::AND: return Reduce::kAnd;
    case Tok::OR: return Reduce::kOr;
    case Tok::XOR: return Reduce::kXor;
    default: return Reduce::kAdd;
  }
}

ReduceType type_of(const Inst& inst) {
  switch (inst.mod(Axis::kType)) {
    case Tok::S32: return ReduceType::kS32;
    case Tok::U64: return ReduceType::kU64;
    case Tok::S64: return ReduceType::kS64;
    case Tok::F16_RN: return ReduceType::kF16;
    case Tok::BF16_RN: return ReduceType::kBf16;
    case Tok::F32_RN: return ReduceType::kF32Ftz;
    case Tok::F64_RN: return ReduceType::kF64;
    default: return ReduceType::kU32;
  }
}

std::uint8_t rank_of(const Inst& inst) {
  switch (inst.mod(Axis::kDims)) {
    case Tok::k2D: return 2;
    case Tok::k3D: return 3;
    case Tok::k4D: return 4;
    case Tok::k5D: return 5;
    default: return 1;
  }
}

}  // namespace

bool bind_copy_engine(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::UTMALDG: x.body = load_box; break;
    case Op::UTMASTG: x.body = store_box; break;
    case Op::UTMAREDG:
      x.body = store_box;
      x.flag2 = true;
      x.kind2 = static_cast<std::uint8_t>(reduce_of(inst));
      break;
    case Op::UBLKCP:
      x.body = copy_block;
      x.flag2 = inst.mod(Axis::kDstType) == Tok::S;
      x.flag3 = x.flag2 && inst.mod(Axis::kSrcType) == Tok::S;
      break;
    case Op::UBLKRED:
      x.body = reduce_block;
      x.kind = static_cast<std::uint8_t>(type_of(inst));
      x.kind2 = static_cast<std::uint8_t>(reduce_of(inst));
      if (inst.mod(Axis::kDstType) != Tok::S) return true;
      if (!can_reduce_in_shared(reduce_of(inst), type_of(inst))) b.refuse("such elements between CTAs");
      x.body = reduce_to_shared;
      return true;
    case Op::UTMACCTL: x.body = map_control; return true;
    case Op::UTMAPF:  // hints, and waits for what is done
    case Op::UBLKPF:
    case Op::UTMACMDFLUSH: x.body = nothing; return true;
    default: return false;
  }
  x.im2col = says(inst, "IM2COL");
  x.kind = rank_of(inst);
  x.flag = says(inst, "MULTICAST");
  return true;
}

}  // namespace nervanagpu::sass::emulate
