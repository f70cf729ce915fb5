#include "sass/asm/schedule/reorder.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "sass/asm/schedule/timing.h"
#include "sass/isa/latency.h"
#include "sass/isa/register_id.h"

namespace nervanagpu::sass {
namespace {

bool pinned(const Line& line) {
  const Pinned& p = line.pinned;
  return p.stall || p.yield || p.write_sb || p.read_sb || p.wait || p.reuse;
}

constexpr std::int64_t kZeroRegister = 255;  // SRZ

// Special registers whose value depends on when it is read.
bool reads_time(const Inst& inst) {
  for (const Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kSpecialReg) continue;
    // SR_CLOCK, SR_PM0 .. SR_PM_HI7, SR_CLOCKLO and what follows: clocks, timers, counters
    if (o.imm == 1 || (o.imm >= 4 && o.imm <= 19) || (o.imm >= 64 && o.imm != kZeroRegister)) return true;
  }
  return false;
}

// Who wrote and read a register so far.
struct History {
  std::vector<std::uint32_t> writers;  // the last that surely wrote it, and those that perhaps did since
  std::vector<std::uint32_t> readers;  // since then
};

class DependenceFinder {
 public:
  DependenceFinder(const Program& program, const std::vector<Accesses>& touched, const Region& region)
      : program_(program), touched_(touched), region_(region), arch_(program.manifest.arch), registers_(kRegisterIds) {}

  std::vector<Dependence> run() {
    for (std::uint32_t i = region_.first; i < region_.last; ++i) {
      registers(i);
      memory(i);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] const Inst& inst(std::uint32_t i) const { return program_.lines[i].inst; }
  void add(std::uint32_t from, std::uint32_t to, int cycles) {
    if (from == to) return;
    found_.push_back({from - region_.first, to - region_.first, std::max(1, cycles)});
  }
  // The access of line i by which it writes `reg`, and which register of it that is.
  [[nodiscard]] Producer producer(std::uint32_t i, std::uint32_t reg) const {
    for (const Access& a : touched_[i]) {
      if (!a.write) continue;
      for (unsigned k = 0; k < a.count; ++k) {
        if (register_id(a.file, a.first + k) == reg) return producer_of(inst(i), a, k);
      }
    }
    return Producer::kOther;
  }
  [[nodiscard]] int written_after(std::uint32_t writer, std::uint32_t reg, std::uint32_t i, const Access& a,
                                  unsigned part) const {
    if (ready(inst(writer)) == Ready::kScoreboard) return usual_latency(inst(writer), false);
    const Producer first = producer(writer, reg);
    if (!a.write) return raw_gap(arch_, first, consumer_of(inst(i), a, part)).safe;
    return ready(inst(i)) == Ready::kFixed ? waw_gap(arch_, first, producer_of(inst(i), a, part)).safe : 1;
  }
  [[nodiscard]] int read_before(std::uint32_t reader, std::uint32_t reg) const {
    for (const Access& a : touched_[reader]) {
      if (!is_late_read(a)) continue;
      for (unsigned k = 0; k < a.count; ++k) {
        if (register_id(a.file, a.first + k) == reg) return usual_latency(inst(reader), true);
      }
    }
    return 1;
  }

  void registers(std::uint32_t i) {
    for (const bool write : {false, true}) {
      for (const Access& a : touched_[i]) {
        if (a.write != write) continue;
        for (unsigned k = 0; k < a.count; ++k) {
          const std::uint32_t reg = register_id(a.file, a.first + k);
          if (reg == kNoRegisterId) continue;
          History& h = registers_[reg];
          for (const std::uint32_t w : h.writers) add(w, i, written_after(w, reg, i, a, k));
          if (!write) {
            h.readers.push_back(i);
            continue;
          }
          for (const std::uint32_t r : h.readers) add(r, i, read_before(r, reg));
          const Guard& g = inst(i).guard;
          if (g.pred == kPT && !g.inv) {
            h.writers.clear();
            h.readers.clear();
          }
          h.writers.push_back(i);
        }
      }
    }
  }

  void memory(std::uint32_t i) {
    const std::uint8_t free = program_.lines[i].mark.independent;
    MemoryUse use = memory_use(inst(i));
    for (unsigned s = 0; s < spaces_.size(); ++s) {
      const unsigned bit = 1u << s;
      if (free & bit) continue;
      History& h = spaces_[s];
      if (use.either() & bit) {
        for (const std::uint32_t w : h.writers) add(w, i, 1);
      }
      if (use.writes & bit) {
        for (const std::uint32_t r : h.readers) add(r, i, 1);
        h.writers = {i};
        h.readers.clear();
      } else if (use.reads & bit) {
        h.readers.push_back(i);
      }
    }
  }

  const Program& program_;
  const std::vector<Accesses>& touched_;
  const Region& region_;
  Arch arch_;
  std::vector<History> registers_;
  std::array<History, 3> spaces_;
  std::vector<Dependence> found_;
};

bool writes_register(const Inst& inst) {
  const auto result = [](const Access& a) { return a.write && (a.file == RegFile::kGpr || a.file == RegFile::kPred); };
  return std::ranges::any_of(accesses(inst), result);
}

}  // namespace

MemoryUse memory_use(const Inst& inst) {
  MemoryUse use = memory_of(inst.op);
  // A load that other threads' stores are ordered with.
  const Tok order = inst.mod(Axis::kOrder, Tok::WEAK);
  const bool weak = order == Tok::kNone || order == Tok::WEAK || order == Tok::CONSTANT;
  const Tok cache = inst.mod(Axis::kCache);
  if (!weak || cache == Tok::CV || cache == Tok::CG) use.writes |= use.reads;
  return use;
}

bool is_fence(const Line& line) {
  if (pinned(line) || !line.label.empty() || (line.inst.guard.pred == kPT && line.inst.guard.inv)) return true;
  const Inst& inst = line.inst;
  if (ends_block(inst) || is_branch(inst) || reads_time(inst)) return true;
  const MemoryUse use = memory_use(inst);
  switch (unit(inst)) {
    case Unit::kFma:
    case Unit::kAlu:
    case Unit::kImadWide:
    case Unit::kHalf:
    case Unit::kDouble:
    case Unit::kXu:
    case Unit::kUniform:
    case Unit::kUniformToVector:
    case Unit::kSpecial:
    case Unit::kMemConst: return false;
    case Unit::kMemShared:
    case Unit::kMemGlobal: return use.either() == 0 && !writes_register(inst);  // of SHFL and its like only that
    default: return true;
  }
}

std::vector<Region> regions_of(const Program& program, const Flow& flow) {
  std::vector<Region> out;
  const auto n = static_cast<std::uint32_t>(program.lines.size());
  for (std::uint32_t i = 0; i < n;) {
    const Line& line = program.lines[i];
    if (line.mark.block == 0 || is_fence(line)) {
      ++i;
      continue;
    }
    std::uint32_t last = i + 1;
    while (last < n && program.lines[last].mark.block == line.mark.block && flow.block_of[last] == flow.block_of[i] &&
           !is_fence(program.lines[last])) {
      ++last;
    }
    if (last - i > 1) out.push_back({i, last});
    i = last;
  }
  return out;
}

std::vector<Dependence> dependences(const Program& program, const std::vector<Accesses>& touched,
                                    const Region& region) {
  return DependenceFinder(program, touched, region).run();
}

std::vector<std::uint32_t> list_schedule(const Program& program, const std::vector<Accesses>& touched,
                                         const Region& region, Goal goal) {
  const std::uint32_t n = region.last - region.first;
  const Arch arch = program.manifest.arch;
  const auto inst = [&](std::uint32_t k) -> const Inst& { return program.lines[region.first + k].inst; };
  std::vector<std::vector<Dependence>> next(n);
  std::vector<std::uint32_t> missing(n, 0);
  for (const Dependence& d : dependences(program, touched, region)) {
    next[d.from].push_back(d);
    ++missing[d.to];
  }
  // How long it takes from each line to the end of the region, along dependences.
  std::vector<int> height(n);
  for (std::uint32_t k = n; k-- > 0;) {
    height[k] = goal == Goal::kDrain && ready(inst(k)) == Ready::kScoreboard ? usual_latency(inst(k), false) : 1;
    for (const Dependence& d : next[k]) height[k] = std::max(height[k], d.cycles + height[d.to]);
  }
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> open;  // whose predecessors are all placed; ascending is program order
  std::vector<int> earliest(n, 0);
  std::array<int, kPipes> busy{};
  for (std::uint32_t k = 0; k < n; ++k) {
    if (missing[k] == 0) open.push_back(k);
  }
  int now = 0;
  while (!open.empty()) {
    const auto start = [&](std::uint32_t k) {
      return std::max({now, earliest[k], busy[static_cast<std::size_t>(pipe_of(inst(k)))]});
    };
    // The soonest; among those the most urgent; among those the first in program order.
    auto best = open.begin();
    for (auto it = open.begin(); it != open.end(); ++it) {
      const int a = start(*it);
      const int b = start(*best);
      const auto rank = [&](std::uint32_t k, int at) { return std::tuple(at, -height[k], k); };
      if (rank(*it, a) < rank(*best, b)) best = it;
    }
    const std::uint32_t k = *best;
    const int at = start(k);
    open.erase(best);
    order.push_back(k);
    busy[static_cast<std::size_t>(pipe_of(inst(k)))] = at + pipe_cycles(arch, inst(k));
    now = at + 1;
    for (const Dependence& d : next[k]) {
      earliest[d.to] = std::max(earliest[d.to], at + d.cycles);
      if (--missing[d.to] == 0) open.push_back(d.to);
    }
  }
  return order;
}

}  // namespace nervanagpu::sass
