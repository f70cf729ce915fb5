#include "sass/asm/schedule.h"

#include "sass/asm/flow.h"
#include "sass/asm/reuse.h"
#include "sass/asm/scoreboards.h"
#include "sass/asm/stalls.h"

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

}  // namespace

Status schedule(Program& program) {
  std::vector<Accesses> touched;
  touched.reserve(program.lines.size());
  for (Line& line : program.lines) {
    clear_open(line);
    const bool never = line.inst.guard.pred == kPT && line.inst.guard.inv;
    touched.push_back(never ? Accesses{} : accesses(line.inst));
  }
  if (touched.empty()) return Done{};
  const Flow flow = flow_of(program);
  assign_scoreboards(program, flow, touched);
  Status stalls = assign_stalls(program, flow, touched);
  if (!stalls) return stalls;
  assign_reuse(program, flow, touched);
  return Done{};
}

}  // namespace nervanagpu::sass
