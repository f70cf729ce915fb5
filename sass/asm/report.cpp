#include "sass/asm/report.h"

#include <algorithm>
#include <optional>

#include "sass/asm/cubin/encode.h"
#include "sass/asm/schedule/flow.h"
#include "sass/isa/codec/codec.h"

namespace nervanagpu::sass {
namespace {

constexpr std::uint32_t kWarmUp = 4;  // passes until a loop runs evenly
constexpr std::uint32_t kMeasured = 4;
constexpr std::uint32_t kSchedulers = 4;

struct Span32 {
  std::uint32_t first, last;  // lines [first, last)
};

// A loop is what an edge back spans; several edges to one place are one loop.
std::vector<Span32> loops_of(const Flow& flow) {
  std::vector<Span32> out;
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    for (const std::uint32_t to : flow.blocks[b].next) {
      if (to > b) continue;
      const Span32 loop{flow.blocks[to].first, flow.blocks[b].last};
      const auto same = std::ranges::find(out, loop.first, &Span32::first);
      if (same == out.end()) {
        out.push_back(loop);
      } else {
        same->last = std::max(same->last, loop.last);
      }
    }
  }
  std::ranges::sort(out, {}, &Span32::first);
  return out;
}

// Bytes of a loop's text that warps need not wait for. Measured on an H200: 26 KB of FFMA and LDS run at full speed, 34 KB at two
// thirds of it with one warp a scheduler, 51 KB at two fifths (docs/lab/sgemm.md).
std::uint32_t held_text(Arch arch) {
  return arch == Arch::sm_90a ? 32 << 10 : 0;
}

// The register bank that an instruction of the FMA pipe writes; none: another pipe's, or it writes no register.
std::optional<unsigned> fma_bank(Arch arch, const Inst& inst) {
  if (pipe_of(inst) != Pipe::kFma) return std::nullopt;
  for (const Access& a : accesses(inst)) {
    if (a.write && a.file == RegFile::kGpr) return a.first % info(arch).register_banks;
  }
  return std::nullopt;
}

std::uint32_t bank_run(const Program& program, const Span32& loop) {
  std::uint32_t most = 0, run = 0;
  std::optional<unsigned> last;
  for (std::uint32_t i = loop.first; i < loop.last; ++i) {
    const std::optional<unsigned> bank = fma_bank(program.manifest.arch, program.lines[i].inst);
    run = !bank ? 0 : bank == last ? run + 1 : 1;
    last = bank;
    most = std::max(most, run);
  }
  return most;
}

LoopReport look_at(const Program& program, const Span32& loop, const Occupancy& occupancy) {
  const Arch arch = program.manifest.arch;
  LoopReport out;
  out.slots.fill(0);
  out.busy.fill(0);
  out.first = program.lines[loop.first].at;
  out.last = program.lines[loop.last - 1].at;
  out.instructions = loop.last - loop.first;
  const Encoding encoding = info(arch).encoding;
  out.bytes = static_cast<std::uint32_t>(address_of(encoding, loop.last) - address_of(encoding, loop.first));
  out.held = held_text(arch);
  out.bank_run = bank_run(program, loop);
  for (std::uint32_t i = loop.first; i < loop.last; ++i) {
    const Inst& inst = program.lines[i].inst;
    const auto pipe = static_cast<std::size_t>(pipe_of(inst));
    ++out.slots[pipe];
    out.busy[pipe] += static_cast<std::uint32_t>(pipe_cycles(arch, inst));
  }
  WarpClock clock(arch);
  int start = 0;
  for (std::uint32_t pass = 0; pass < kWarmUp + kMeasured; ++pass) {
    if (pass == kWarmUp) start = clock.cycles();
    for (std::uint32_t i = loop.first; i < loop.last; ++i) {
      const WarpClock::Lost lost = clock.issue(program.lines[i].inst);
      if (pass < kWarmUp) continue;
      out.stall += lost.stall;
      out.scoreboard += lost.scoreboard;
      out.pipe += lost.pipe;
      out.banks += lost.banks;
    }
  }
  for (double* sum : {&out.stall, &out.scoreboard, &out.pipe, &out.banks}) *sum /= kMeasured;
  out.alone = static_cast<double>(clock.cycles() - start) / kMeasured;
  out.warps = std::max(1U, (occupancy.warps + kSchedulers - 1) / kSchedulers);
  // Per warp: a slot for each instruction, ports for conflicts, and the pipes; four schedulers share the load-store unit.
  out.bound = out.instructions + out.banks;
  out.bound_by = "issue";
  for (std::size_t p = 0; p < kPipes; ++p) {
    const bool shared = static_cast<Pipe>(p) == Pipe::kMemory;
    const double cycles = out.busy[p] * (shared ? double{kSchedulers} : 1.0);
    if (cycles <= out.bound) continue;
    out.bound = cycles;
    out.bound_by = name_of(static_cast<Pipe>(p));
  }
  out.bound *= out.warps;
  out.predicted = std::max(out.alone, out.bound);
  if (out.alone > out.bound) out.bound_by = "latency";
  return out;
}

void count(std::uint32_t& most, const Access& a) {
  most = std::max<std::uint32_t>(most, a.first + a.count);
}

}  // namespace

KernelReport report_of(const Program& program) {
  KernelReport out;
  const Manifest& m = program.manifest;
  out.name = m.name;
  out.arch = m.arch;
  out.instructions = static_cast<std::uint32_t>(program.lines.size());
  out.registers = std::max(m.registers, registers_needed(m.arch, program.lines));
  out.shared = m.shared;
  out.threads = m.threads;
  ReuseCache cache;
  for (const Line& line : program.lines) {
    for (const Access& a : accesses(line.inst)) {
      if (a.file == RegFile::kUGpr) count(out.uniform, a);
      if (a.file == RegFile::kPred) count(out.predicates, a);
      if (a.file == RegFile::kUPred) count(out.uniform_predicates, a);
    }
    const int ports = bank_cycles(m.arch, line.inst, cache);
    if (ports > 1 && pipe_of(line.inst) == Pipe::kFma) out.conflicts.push_back({line.at, print(line.inst), ports - 1});
  }
  out.occupancy = occupancy(m.arch, out.registers, m.shared, m.threads == 0 ? 32 : m.threads);
  const Flow flow = flow_of(program);
  for (const Span32& loop : loops_of(flow)) {
    out.loops.push_back(look_at(program, loop, out.occupancy));
    out.loops.back().depth = std::max(1U, flow.blocks[flow.block_of[loop.first]].depth);
  }
  return out;
}

}  // namespace nervanagpu::sass
