// Checked mode, the copy engine and proxies: what it writes counts as written when the phase of its mbarrier has ended, what it
// reads belongs to it until UTMACMDFLUSH was awaited, and it sees what warps stored only after FENCE.VIEW.ASYNC.
#include <bit>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/state/grid.h"

namespace nervanagpu::sass::emulate {

void Checker::engine_write(Warp& w, const Uop* u, Shadow::Copy copy, std::uint32_t offset, unsigned bytes, bool adds) {
  const auto pc = static_cast<std::uint32_t>(u - w.code);
  const Trouble t = shadow_.engine_store(strand(w), pc, copy, offset, bytes, adds);
  if (t.what != Trouble::What::kNone) {
    if (t.what == Trouble::What::kRace) {
      unwritten_.erase(unwritten_.lower_bound({t.offset, 0}), unwritten_.upper_bound({t.offset, ~0u}));
      Party mine = party(w, u, 0, true);
      mine.copies = &order_.agent(copy.agent);
      race(mine, party(t.other, t.other_lane), "shared-memory race", "shared offset " + std::to_string(t.offset),
           "with no barrier between");
    } else {
      shared_trouble(w, u, 0, t, true);
    }
  }
  check_marks(w, u, 0, offset, bytes);
}

void Checker::engine_read(Warp& w, const Uop* u, std::uint32_t offset, unsigned bytes) {
  Strand& s = strand(w);
  const auto pc = static_cast<std::uint32_t>(u - w.code);
  const auto lane = static_cast<unsigned>(std::countr_zero(w.exec));
  if (shadow_.plain_engine_load(s, pc, lane, offset, bytes)) return;
  const Trouble t = shadow_.access(s, pc, lane, offset, bytes, Shadow::Use::kEngineLoad);
  if (t.what != Trouble::What::kNone) shared_trouble(w, u, lane, t, false);
}

void Checker::store_read(Warp& w, const Uop* u, std::uint32_t offset) {
  engine_read(w, u, offset, 16);
  stores_.read(w.index, static_cast<std::uint32_t>(u - w.code), offset);
}

void Checker::check_stores(Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, unsigned bytes) {
  const auto conflict = stores_.write(strand(w), offset, bytes);
  if (!conflict || again(u, "shared memory in use by a copy", w)) return;
  found(w, u, lane, "shared memory in use by a copy",
        "shared offset " + std::to_string(offset) + " is read by " + named(*grid_.kernel, conflict->pc) + " of warp " +
            std::to_string(conflict->warp) +
            (conflict->awaited ? ", and nothing orders this write after its wait for UTMACMDFLUSH"
                               : ", which UTMACMDFLUSH and a wait for its scoreboard have not ended"));
}

}  // namespace nervanagpu::sass::emulate
