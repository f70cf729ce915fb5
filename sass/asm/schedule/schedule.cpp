#include "sass/asm/schedule/schedule.h"

#include <algorithm>

#include "sass/asm/schedule/flow.h"
#include "sass/asm/schedule/reuse.h"
#include "sass/asm/schedule/scoreboards.h"
#include "sass/asm/schedule/stalls.h"
#include "sass/asm/schedule/timing.h"

namespace nervanagpu::sass {
namespace {

// Open fields start from the defaults of Control, whatever an earlier stage left there.
void clear_open(Line& line) {
  const Control open;
  Control& c = line.inst.control;
  if (!line.pinned.stall) c.stall = open.stall;
  if (!line.pinned.yield) c.yield = open.yield;
  if (!line.pinned.write_sb) c.write_sb = open.write_sb;
  if (!line.pinned.read_sb) c.read_sb = open.read_sb;
  if (!line.pinned.wait) c.wait = open.wait;
  if (!line.pinned.reuse) c.reuse = open.reuse;
}

std::vector<Accesses> touched_by(const Program& program) {
  std::vector<Accesses> touched;
  touched.reserve(program.lines.size());
  for (const Line& line : program.lines) {
    const bool never = line.inst.guard.pred == kPT && line.inst.guard.inv;
    touched.push_back(never ? Accesses{} : accesses(line.inst));
  }
  return touched;
}

// All control codes of the program as it stands.
Status fill(Program& program, const Flow& flow) {
  for (Line& line : program.lines) clear_open(line);
  const std::vector<Accesses> touched = touched_by(program);
  assign_scoreboards(program, flow, touched);
  Status stalls = assign_stalls(program, flow, touched);
  if (!stalls) return stalls;
  assign_reuse(program, flow, touched);
  return Done{};
}

void reorder(Program& program, const Program& from, const Region& region, const std::vector<std::uint32_t>& order) {
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    program.lines[region.first + k] = from.lines[region.first + order[k]];
  }
}

// The regions of `program` in a better order, where there is one, and control codes for it. Reordering moves no line
// across the end of a basic block, so that `flow` stays true.
Status schedule_regions(Program& program, const Flow& flow, const std::vector<Region>& regions) {
  const std::vector<Accesses> touched = touched_by(program);
  const Program original = program;
  Program best = program;
  if (Status s = fill(best, flow); !s) return s;
  for (const Goal goal : {Goal::kDrain, Goal::kIssue}) {
    std::vector<std::vector<std::uint32_t>> orders;
    orders.reserve(regions.size());
    for (const Region& r : regions) orders.push_back(list_schedule(original, touched, r, goal));
    std::vector<bool> keep(regions.size(), true);
    // Taking one region back changes the scoreboards of the others: until nothing is worse.
    while (std::ranges::find(keep, true) != keep.end()) {
      Program trial = best;
      for (std::size_t r = 0; r < regions.size(); ++r) {
        if (keep[r]) reorder(trial, original, regions[r], orders[r]);
      }
      if (!fill(trial, flow)) break;
      bool worse = false;
      bool took_back = false;
      bool better = false;
      for (std::size_t r = 0; r < regions.size(); ++r) {
        const Cost before = cost_of(best, flow, regions[r]);
        const Cost after = cost_of(trial, flow, regions[r]);
        const bool lost = after.issue > before.issue || after.drain > before.drain;
        if (keep[r] && lost) {
          keep[r] = false;
          took_back = true;
        }
        worse |= lost;
        better |= after.issue + after.drain < before.issue + before.drain;
      }
      if (!worse) {
        if (better) best = std::move(trial);
        break;
      }
      if (!took_back) break;
    }
  }
  program = std::move(best);
  return Done{};
}

}  // namespace

Cost cost_of(const Program& program, const Flow& flow, const Region& region) {
  const Block& block = flow.blocks[flow.block_of[region.first]];
  WarpClock clock(program.manifest.arch);
  for (std::uint32_t i = block.first; i < block.last; ++i) clock.issue(program.lines[i].inst);
  return {clock.cycles(), std::max(clock.cycles(), clock.drained())};
}

Status schedule(Program& program) {
  if (program.lines.empty()) return Done{};
  const Flow flow = flow_of(program);
  const std::vector<Region> regions = regions_of(program, flow);
  return regions.empty() ? fill(program, flow) : schedule_regions(program, flow, regions);
}

}  // namespace nervanagpu::sass
