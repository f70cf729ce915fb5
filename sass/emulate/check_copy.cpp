// Checked mode, the copy engine and proxies: what it writes counts as written when the phase of its mbarrier has ended, what it
// reads belongs to it until UTMACMDFLUSH was awaited, and it sees what warps stored only behind FENCE.VIEW.ASYNC.
#include "sass/emulate/check.h"
#include "sass/emulate/grid.h"

namespace nervanagpu::sass::emulate {

std::uint32_t Checker::copy_begins(const Warp& w, const Uop* u, std::uint32_t mbarrier) {
  return shadow_.copy_begins(w.index, mbarrier, static_cast<std::uint32_t>(u - w.code), w.checker != this);
}

void Checker::engine_write(Warp& w, const Uop* u, std::uint32_t copy, std::uint32_t offset, unsigned bytes) {
  if (w.checker != this) return shadow_.written_by_copy(copy, offset, bytes);
  std::string detail;
  const char* wrong = shadow_.engine_store(w.index, copy, offset, bytes, detail);
  if (wrong != nullptr) found(w, u, kLanes, wrong, std::move(detail));
  check_marks(w, u, kLanes, offset, bytes);
}

void Checker::engine_read(Warp& w, const Uop* u, std::uint32_t offset, unsigned bytes) {
  if (shadow_.plain_engine_load(w.index, offset, bytes)) return;
  std::string detail;
  const char* wrong = shadow_.engine_load(w.index, offset, bytes, detail);
  if (wrong != nullptr) found(w, u, kLanes, wrong, std::move(detail));
}

void Checker::store_read(Warp& w, const Uop* u, std::uint32_t offset) {
  engine_read(w, u, offset, 16);
  stores_.read(w.index, static_cast<std::uint32_t>(u - w.code), offset);
}

void Checker::check_stores(Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, unsigned bytes) {
  const auto conflict = stores_.write(w.index, offset, bytes, shadow_.seen(w.index));
  if (!conflict || again(u, "shared memory in use by a copy", w)) return;
  found(w, u, lane, "shared memory in use by a copy",
        "shared offset " + std::to_string(offset) + " is read by " + named(*grid_.kernel, conflict->pc) + " of warp " +
            std::to_string(conflict->warp) +
            (conflict->awaited ? ", and nothing orders this write after its wait for UTMACMDFLUSH"
                               : ", which UTMACMDFLUSH and a wait for its scoreboard have not ended"));
}

}  // namespace nervanagpu::sass::emulate
