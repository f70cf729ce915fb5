#include "sass/verify/scoreboards.h"

#include <algorithm>
#include <bit>

#include "sass/isa/register_id.h"

namespace nervanagpu::sass::verify_detail {
namespace {

std::uint8_t bit(unsigned sb) {
  return sb < kScoreboards ? static_cast<std::uint8_t>(1u << sb) : 0;
}

void add(RegisterSet& set, const Access& a) {
  for (unsigned k = 0; k < a.count; ++k) {
    const std::uint32_t reg = register_id(a.file, a.first + k);
    if (reg != kNoRegisterId) set[reg / 64] |= std::uint64_t{1} << (reg % 64);
  }
}

// The lowest register in both sets, or kNoRegisterId.
std::uint32_t common(const RegisterSet& a, const RegisterSet& b) {
  for (std::size_t w = 0; w < a.size(); ++w) {
    if ((a[w] & b[w]) != 0)
      return static_cast<std::uint32_t>(w * 64) + static_cast<unsigned>(std::countr_zero(a[w] & b[w]));
  }
  return kNoRegisterId;
}

}  // namespace

std::vector<StepSets> step_sets(const Code& code) {
  std::vector<StepSets> sets(code.steps.size());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    // What it calls may read and change any register, and cannot know what is outstanding.
    if (code.steps[i].leaves) {
      add(sets[i].reads, {.file = RegFile::kGpr, .first = 0, .count = kRZ});
      add(sets[i].writes, {.file = RegFile::kGpr, .first = 0, .count = kRZ});
    }
    for (const Access& a : code.steps[i].touched) {
      add(a.write ? sets[i].writes : sets[i].reads, a);
      if (is_late_read(a)) add(sets[i].late, a);
      if (is_result(a)) add(announced_by_reads(code.steps[i].inst, a) ? sets[i].early : sets[i].results, a);
    }
  }
  return sets;
}

// Whether the younger operation, of `queue`, is done with its sources only when the older one, of `older`, is.
bool ScoreboardState::speaks_for(ReadQueue queue, const Outstanding& o, ReadQueue older) {
  if (queue == ReadQueue::kNone) return false;
  return queue == older || (queue == ReadQueue::kBarrier && o.before_barrier);
}

void ScoreboardState::finish(std::uint8_t mask) {
  std::erase_if(open_, [&](const Outstanding& o) { return (o.cover & mask) != 0; });
}

int ScoreboardState::wait(const Code& code, std::uint32_t i, Findings* out) {
  const Step& step = code.steps[i];
  std::uint8_t awaited = step.inst.control.wait;
  std::uint8_t counted = 0;
  const std::uint8_t at_issue = awaited;  // DEPBAR's own waits come later
  if (step.known && step.inst.op == Op::DEPBAR) {
    unsigned limit = 0;
    for (const Operand& o : step.inst.operands()) {
      if (o.kind == OperandKind::kScoreboard) counted = bit(static_cast<unsigned>(o.imm));
      if (o.kind == OperandKind::kImm) limit = static_cast<unsigned>(o.imm);
      if (o.kind == OperandKind::kSet) awaited |= static_cast<std::uint8_t>(o.imm & 0x3f);
    }
    // At most `limit` operations remain on it: what is covered by one with as many after it is done.
    std::erase_if(open_, [&](const Outstanding& o) {
      return (o.cover & counted) != 0 && o.since[static_cast<std::size_t>(std::countr_zero(counted))] >= limit;
    });
  }
  if (step.known && always_runs(step.inst) && frees_older_reads(code.arch, step.inst)) {
    std::erase_if(open_, [&](const Outstanding& o) {
      const ReadQueue queue = read_queue_of(code.arch, code.steps[o.line].inst);
      return o.reads() && (queue == ReadQueue::kMemory || queue == ReadQueue::kBarrier);
    });
  }
  for (unsigned sb = 0; sb < kScoreboards; ++sb) {
    if (!(at_issue >> sb & 1) || since_set_[sb] >= kScoreboardSetGap) continue;
    if (out != nullptr) {
      out->push_back({Hazard::Kind::kControl, i, i, 0, 0, 0,
                      "awaits scoreboard " + std::to_string(sb) + " " + std::to_string(since_set_[sb]) +
                          " cycle after it was set; it shows from 2 cycles on"});
    }
  }
  int passed = 0;
  if (info(code.arch).encoding == Encoding::k64) {
    for (unsigned sb = 0; sb < kScoreboards; ++sb) {
      if (awaited >> sb & 1) passed = std::max(passed, kLeastWait - since_set_[sb]);
    }
  }
  finish(awaited);
  return passed;
}

void ScoreboardState::check(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i, Findings* out) {
  const Step& step = code.steps[i];
  if (!step.known || step.never) return;
  const Queue queue = queue_of(code.arch, step.inst);
  const ReadQueue read_queue = read_queue_of(code.arch, step.inst);
  std::erase_if(open_, [&](const Outstanding& o) {
    const Step& producer = code.steps[o.line];
    if (o.guard_kept && opposite_guards(producer.inst, step.inst)) return false;
    // One after the other in the same queue: reads and writes happen in order.
    const bool in_order = o.reads() ? speaks_for(read_queue, o, read_queue_of(code.arch, producer.inst))
                                    : queue != Queue::kNone && queue == queue_of(code.arch, producer.inst);
    Finding f{Hazard::Kind::kRaw, o.line, i, kNoRegisterId, 0, 0, {}};
    if (o.reads()) {
      if (in_order) return false;
      f.kind = Hazard::Kind::kWar;
      f.reg = common(sets[o.line].late, sets[i].writes);
    } else {
      const RegisterSet& results = o.part == Part::kResults ? sets[o.line].results : sets[o.line].early;
      f.reg = common(results, sets[i].reads);
      if (f.reg == kNoRegisterId && !in_order) {
        f.kind = Hazard::Kind::kWaw;
        f.reg = common(results, sets[i].writes);
      }
    }
    if (f.reg == kNoRegisterId) return false;
    if (out != nullptr) out->push_back(f);
    return true;
  });
}

void ScoreboardState::issue(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i) {
  const Step& step = code.steps[i];
  const Control& c = step.inst.control;
  const std::uint8_t write = bit(c.write_sb);
  const std::uint8_t read = bit(c.read_sb);
  if (step.never) return;
  for (unsigned sb = 0; sb < kScoreboards; ++sb) {
    // ptxas also awaits USETMAXREG at once.
    const bool at_once = step.known && step.inst.op == Op::USETMAXREG;
    if ((write | read) >> sb & 1) since_set_[sb] = at_once ? kScoreboardSetGap : 0;
  }
  const Queue queue = step.known ? queue_of(code.arch, step.inst) : Queue::kNone;
  const ReadQueue read_queue = step.known ? read_queue_of(code.arch, step.inst) : ReadQueue::kNone;
  const bool in_memory_order = step.known && step.inst.op == Op::BAR && read_queue == ReadQueue::kMemory;
  const bool counts = step.known && (always_runs(step.inst) || info(code.arch).encoding == Encoding::k64);
  for (Outstanding& o : open_) {
    const Inst& producer = code.steps[o.line].inst;
    // In a queue each takes its turn, even if its guard is false: the younger one's scoreboards speak for both.
    std::uint8_t more = 0;
    if (o.reads() && speaks_for(read_queue, o, read_queue_of(code.arch, producer))) {
      if (in_memory_order) o.before_barrier = true;
      more = static_cast<std::uint8_t>(read | write);
    }
    if (!o.reads() && queue != Queue::kNone && queue == queue_of(code.arch, producer)) more = write;
    // While the older one is out, so is every younger one of its queue: a count of at most theirs shows it done. Others
    // on the same scoreboard may end first and say nothing. From sm_70 only what surely ran counts.
    for (unsigned sb = 0; counts && sb < kScoreboards; ++sb) {
      if (((o.cover & more) >> sb & 1) && o.since[sb] < 255) ++o.since[sb];
    }
    for (unsigned sb = 0; sb < kScoreboards; ++sb) {
      if ((more & ~o.cover) >> sb & 1) o.since[sb] = 0;
    }
    o.cover |= more;
    o.guard_kept = o.guard_kept && !writes_guard(step, producer);
  }
  if (!step.known) return;
  const bool kept = !writes_guard(step, step.inst);
  // What is open from an earlier turn stays so beside the new one.
  std::vector<Outstanding> older;
  std::erase_if(open_, [&](const Outstanding& o) {
    if (o.line != i || o.again) return false;
    older.push_back(o);
    older.back().again = true;
    return true;
  });
  for (const Outstanding& o : older) put(o);
  const RegisterSet none{};
  const auto both = static_cast<std::uint8_t>(read | write);
  if (ready(step.inst) == Ready::kScoreboard) {
    if (sets[i].results != none) put({i, Part::kResults, false, write, kept, {}});
    if (sets[i].early != none) put({i, Part::kEarlyResults, false, both, kept, {}});
  }
  // Results are there only after the sources were read.
  if (sets[i].late != none) put({i, Part::kReads, false, both, kept, {}, in_memory_order});
}

void ScoreboardState::join(Outstanding& to, const Outstanding& from) {
  to.cover &= from.cover;
  for (unsigned sb = 0; sb < kScoreboards; ++sb) to.since[sb] = std::min(to.since[sb], from.since[sb]);
  to.guard_kept = to.guard_kept && from.guard_kept;
  to.before_barrier = to.before_barrier && from.before_barrier;
}

void ScoreboardState::put(const Outstanding& o) {
  const auto at = std::ranges::lower_bound(open_, o.key(), {}, [](const Outstanding& x) { return x.key(); });
  if (at != open_.end() && at->key() == o.key()) {
    join(*at, o);
  } else {
    open_.insert(at, o);
  }
}

void ScoreboardState::advance(int cycles) {
  for (int& s : since_set_) s = std::min(kLong, s + cycles);
}

bool ScoreboardState::merge(const ScoreboardState& other) {
  bool weaker = false;
  for (unsigned sb = 0; sb < kScoreboards; ++sb) {
    if (other.since_set_[sb] < since_set_[sb]) {
      since_set_[sb] = other.since_set_[sb];
      weaker = true;
    }
  }
  std::vector<Outstanding> all;
  all.reserve(open_.size() + other.open_.size());
  auto a = open_.begin();
  auto b = other.open_.begin();
  while (a != open_.end() || b != other.open_.end()) {
    if (b == other.open_.end() || (a != open_.end() && a->key() < b->key())) {
      all.push_back(*a++);
    } else if (a == open_.end() || b->key() < a->key()) {
      all.push_back(*b++);
      weaker = true;
    } else {
      Outstanding o = *a;
      join(o, *b);
      weaker |= o.cover != a->cover || o.since != a->since || o.guard_kept != a->guard_kept ||
                o.before_barrier != a->before_barrier;
      all.push_back(o);
      ++a;
      ++b;
    }
  }
  open_ = std::move(all);
  return weaker;
}

}  // namespace nervanagpu::sass::verify_detail
