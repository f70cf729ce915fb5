#include "sass/verify/fixed_latency.h"

#include <algorithm>

#include "sass/isa/register_id.h"

namespace nervanagpu::sass::verify_detail {

void FixedLatencyState::check(const Code& code, std::uint32_t i, Findings* out) const {
  if (out == nullptr || (writes_.empty() && reads_.empty())) return;
  const Step& step = code.steps[i];
  if (!step.known) return;
  const bool fixed = ready(step.inst) == Ready::kFixed;
  for (const Access& a : step.touched) {
    for (unsigned k = 0; k < a.count; ++k) {
      const std::uint32_t reg = register_id(a.file, a.first + k);
      for (const Write& w : writes_) {
        if (w.reg != reg) continue;
        if (w.guard_kept && !a.guard && opposite_guards(code.steps[w.line].inst, step.inst)) continue;
        int need = 0;
        if (!a.write) {
          need = raw_gap(code.arch, w.producer, consumer_of(step.inst, a, k)).need;
        } else if (fixed) {
          need = waw_gap(code.arch, w.producer, producer_of(step.inst, a, k)).need;
        }
        if (need <= w.elapsed) continue;
        out->push_back({a.write ? Hazard::Kind::kWaw : Hazard::Kind::kRaw, w.line, i, reg, need, w.elapsed, {}});
      }
      for (const Read& r : reads_) {
        if (r.reg != reg || !a.write || !fixed) continue;
        const int need = war_gap(code.arch, r.reader, producer_of(step.inst, a, k)).need;
        if (need > r.elapsed) out->push_back({Hazard::Kind::kWar, r.line, i, reg, need, r.elapsed, {}});
      }
    }
  }
}

void FixedLatencyState::issue(const Code& code, std::uint32_t i) {
  const Step& step = code.steps[i];
  if (!step.known) return;
  const bool fixed = ready(step.inst) == Ready::kFixed;
  for (Write& w : writes_) w.guard_kept = w.guard_kept && !writes_guard(step, code.steps[w.line].inst);
  for (const Access& a : step.touched) {
    for (unsigned k = 0; k < a.count && !a.write; ++k) {
      const std::uint32_t reg = register_id(a.file, a.first + k);
      const Consumer reader = consumer_of(step.inst, a, k);
      if (reg == kNoRegisterId || !overwritten_early(code.arch, reader)) continue;
      std::erase_if(reads_, [&](const Read& r) { return r.reg == reg && r.line == i; });
      reads_.push_back({reg, i, 0, reader});
    }
    if (!a.write) continue;
    for (unsigned k = 0; k < a.count; ++k) {
      const std::uint32_t reg = register_id(a.file, a.first + k);
      if (reg == kNoRegisterId) continue;
      // A write that may not happen leaves the older one to be read.
      std::erase_if(writes_, [&](const Write& w) { return w.reg == reg && (w.line == i || always_runs(step.inst)); });
      if (fixed) writes_.push_back({reg, i, 0, producer_of(step.inst, a, k), !writes_guard(step, step.inst)});
    }
  }
}

void FixedLatencyState::await(const Code& code, std::uint8_t mask) {
  if (mask == 0 || code.arch == Arch::sm_90a) return;
  std::erase_if(writes_, [&](const Write& w) {
    const Inst& inst = code.steps[w.line].inst;
    return unit(inst) == Unit::kUniformToVector && inst.control.write_sb < kScoreboards &&
           (mask >> inst.control.write_sb & 1) != 0;
  });
}

void FixedLatencyState::advance(int cycles, int horizon) {
  for (Write& w : writes_) w.elapsed += cycles;
  std::erase_if(writes_, [&](const Write& w) { return w.elapsed >= horizon; });
  for (Read& r : reads_) r.elapsed += cycles;
  std::erase_if(reads_, [&](const Read& r) { return r.elapsed >= horizon; });
}

bool FixedLatencyState::merge(const FixedLatencyState& other) {
  bool weaker = false;
  for (const Write& o : other.writes_) {
    const auto at = std::ranges::find_if(writes_, [&](const Write& w) { return w.reg == o.reg && w.line == o.line; });
    if (at == writes_.end()) {
      writes_.push_back(o);
      weaker = true;
      continue;
    }
    if (o.elapsed < at->elapsed) {
      at->elapsed = o.elapsed;
      weaker = true;
    }
    if (at->guard_kept && !o.guard_kept) {
      at->guard_kept = false;
      weaker = true;
    }
  }
  for (const Read& o : other.reads_) {
    const auto at = std::ranges::find_if(reads_, [&](const Read& r) { return r.reg == o.reg && r.line == o.line; });
    if (at != reads_.end() && at->elapsed <= o.elapsed) continue;
    weaker = true;
    if (at == reads_.end()) {
      reads_.push_back(o);
    } else {
      at->elapsed = o.elapsed;
    }
  }
  return weaker;
}

}  // namespace nervanagpu::sass::verify_detail
