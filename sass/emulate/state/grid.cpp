#include "sass/emulate/state/grid.h"

#include <cstdio>

namespace nervanagpu::sass::emulate {

std::string triple(const std::array<std::uint32_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::array<std::uint32_t, 3> Grid::cta_at(std::uint64_t number, std::uint32_t rank) const {
  const std::array<std::uint32_t, 3>& c = cluster;
  const std::uint64_t x = launch.grid.x / c[0];
  const std::uint64_t y = launch.grid.y / c[1];
  return {static_cast<std::uint32_t>(number % x) * c[0] + rank % c[0],
          static_cast<std::uint32_t>(number / x % y) * c[1] + rank / c[0] % c[1],
          static_cast<std::uint32_t>(number / x / y) * c[2] + rank / c[0] / c[1]};
}

std::string place(const Kernel& kernel, std::uint32_t index, const Cta& cta, std::uint32_t warp, unsigned lane) {
  std::string text = "kernel " + kernel.name;
  if (index < kernel.lines.size() && kernel.lines[index].line != 0) {
    text += ", " + kernel.lines[index].file + ":" + std::to_string(kernel.lines[index].line);
  } else {
    char at[32];
    std::snprintf(at, sizeof at, "+0x%llx",
                  static_cast<unsigned long long>(address_of(info(kernel.arch).encoding, index)));
    text += at;
  }
  text += ", CTA " + triple(cta.id) + ", warp " + std::to_string(warp);
  if (lane < kLanes) text += ", lane " + std::to_string(lane);
  return text;
}

const Uop* fault(Warp& w, const Uop* u, unsigned lane, const std::string& what) {
  Grid& grid = *w.cta->grid;
  w.stop = Stop::kFault;
  const std::lock_guard lock(grid.mutex);
  if (!grid.fault) {
    const auto index = static_cast<std::uint32_t>(u - w.code);
    std::vector<std::string> notes;
    if (index < grid.kernel->text.size()) notes.push_back("at " + grid.kernel->text[index]);
    grid.fault = error(place(*grid.kernel, index, *w.cta, w.index, lane) + ": " + what, std::move(notes));
  }
  grid.stopped.store(true, std::memory_order_relaxed);
  return nullptr;
}

std::string Finding::text() const {
  std::string out = "kernel " + kernel;
  if (at.line != 0) {
    out += ", " + at.file + ":" + std::to_string(at.line);
  } else {
    char offset[32];
    std::snprintf(offset, sizeof offset, "+0x%x", pc);
    out += offset;
  }
  out += ", CTA " + triple(cta) + ", warp " + std::to_string(warp) + ", lane " + std::to_string(lane) + ": " + what +
         ": " + detail;
  if (count > 1) out += " (" + std::to_string(count) + " times)";
  if (order != 0) out += " (in order " + std::to_string(order) + ")";
  return out;
}

}  // namespace nervanagpu::sass::emulate
