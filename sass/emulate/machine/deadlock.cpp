#include "sass/emulate/machine/deadlock.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "sass/emulate/machine/barriers.h"
#include "sass/emulate/state/grid.h"
#include "sass/emulate/state/mbarrier.h"
#include "sass/isa/arch.h"

namespace nervanagpu::sass::emulate {
namespace {

constexpr std::size_t kMaxNotes = 16;

// A group that polls stands after the instruction that asked.
std::uint32_t pc_of(const Group& g) {
  return g.state == Group::State::kReady && g.pc != 0 ? g.pc - 1 : g.pc;
}

// For each group of lanes where it is and what it waits for.
std::string waits(const Warp& w, const Group& g) {
  const Kernel& kernel = *w.cta->grid->kernel;
  const Cta& cta = *w.cta;
  char lanes[16];
  std::snprintf(lanes, sizeof lanes, "0x%x", g.mask);
  std::string text = "warp " + std::to_string(w.index) + " lanes " + lanes + " wait";
  const std::uint32_t pc = pc_of(g);
  const std::uint32_t line = pc < kernel.lines.size() ? kernel.lines.line(pc) : 0;
  if (g.state == Group::State::kReady && g.registers != 0) {
    text += " for " + std::to_string(g.registers) + " registers a thread (it has " + std::to_string(w.registers) +
            ", others gave up " + std::to_string(cta.free_registers) + ")";
    return line != 0 ? text + " in line " + std::to_string(line) : text;
  }
  if (g.state == Group::State::kReady && g.mbarrier == 0)
    return w.stop == Stop::kYield ? "warp " + std::to_string(w.index) + " lanes " + lanes + " repeat the same loop" +
                                        (line != 0 ? " in line " + std::to_string(line) : "")
                                  : text + " for its turn";
  if (g.state == Group::State::kReady) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, w.shared + (g.mbarrier - w.shared_base), sizeof bits);
    const Mbarrier b(bits);
    char at[16];
    std::snprintf(at, sizeof at, "0x%x", g.mbarrier);
    text += std::string(" for phase ") + (g.parity ? "1" : "0") + " of the mbarrier at " + at + " (" +
            std::to_string(b.pending()) + " of " + std::to_string(b.expected()) + " arrivals and " +
            std::to_string(b.bytes()) + " bytes are missing)";
  } else if (g.state == Group::State::kAtBarrier) {
    const NamedBarrier& bar = cta.barriers[g.barrier];
    const auto warps = std::count_if(bar.arrived.begin(), bar.arrived.end(), [](std::uint32_t m) { return m != 0; });
    text += " at barrier " + std::to_string(g.barrier) + " (" + std::to_string(warps) + " of " +
            std::to_string(bar.counted ? bar.expected / kLanes : cta.warps.size()) + " warps came)";
  } else if (g.state == Group::State::kAtCluster) {
    text += " at the cluster barrier for " + missing_at_cluster(*cta.cluster);
  } else {
    std::uint32_t want = g.wanted & w.live;
    if (g.state == Group::State::kAtSync) {
      want = w.convergence[g.barrier][static_cast<unsigned>(std::countr_zero(g.mask))] & w.live;
      text += " at BSYNC B" + std::to_string(g.barrier);
    } else if (g.state == Group::State::kAtToken) {
      want = w.tokens[g.token].mask & w.live;
      text += " at " + kernel.text[g.pc];
    } else {
      text += " at WARPSYNC";
    }
    std::snprintf(lanes, sizeof lanes, "0x%x", want & ~g.mask);
    text += std::string(" for lanes ") + lanes;
  }
  if (line != 0) text += " in line " + std::to_string(line);
  return text;
}

// Of one that is not known to wait for anything: where it is.
std::string stands(const Warp& w, const Group& g) {
  const bool asks = g.mbarrier != 0 || g.registers != 0;
  if (g.state != Group::State::kReady || asks) return waits(w, g);
  const Kernel& kernel = *w.cta->grid->kernel;
  const std::uint32_t line = g.pc < kernel.lines.size() ? kernel.lines.line(g.pc) : 0;
  char text[96];
  if (line != 0) {
    std::snprintf(text, sizeof text, "warp %u lanes 0x%x run in line %u", w.index, g.mask, line);
  } else {
    std::snprintf(text, sizeof text, "warp %u lanes 0x%x run at +0x%llx", w.index, g.mask,
                  static_cast<unsigned long long>(address_of(info(kernel.arch).encoding, g.pc)));
  }
  return text;
}

// `what`, then what `say` says of each group of lanes; the first of those stands for the place, or `at` if there is one.
void report(Cluster& cluster, std::string what, std::string (*say)(const Warp&, const Group&), Warp* at) {
  const bool alone = cluster.ctas.size() == 1;
  Warp* first = nullptr;
  std::uint32_t pc = 0;
  std::size_t notes = 0;
  for (Cta& cta : cluster.ctas) {
    for (Warp& w : cta.warps) {
      for (const Group& g : w.groups) {
        if (first == nullptr || (&w == at && first != at)) {
          first = &w;
          pc = say == waits ? pc_of(g) : g.pc;
        }
        if (++notes <= kMaxNotes) what += "; " + (alone ? "" : "rank " + std::to_string(cta.rank) + " ") + say(w, g);
      }
    }
  }
  if (notes > kMaxNotes) what += "; and " + std::to_string(notes - kMaxNotes) + " more";
  if (first == nullptr) first = at;  // all are done
  if (first != nullptr) fault(*first, first->code + pc, kLanes, what);
}

}  // namespace

void report_deadlock(Cluster& cluster) {
  const char* of = cluster.ctas.size() == 1 ? "CTA" : "cluster";
  report(cluster, std::string("deadlock: nothing in the ") + of + " can go on", waits, nullptr);
}

void report_limit(Cluster& cluster, Warp& running) {
  const std::uint64_t limit = running.cta->grid->launch.limit;
  report(cluster, "not done after " + std::to_string(limit) + " warp instructions, its limit", stands, &running);
}

}  // namespace nervanagpu::sass::emulate
