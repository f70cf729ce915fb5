#include "sass/verify/verify.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "sass/verify/code.h"
#include "sass/verify/finding.h"
#include "sass/verify/fixed_latency.h"
#include "sass/verify/legality.h"
#include "sass/verify/ownership.h"
#include "sass/verify/programmatic_launch.h"
#include "sass/verify/scoreboards.h"

namespace nervanagpu::sass {
namespace {

using namespace verify_detail;

struct State {
  FixedLatencyState fixed;
  ScoreboardState scoreboards;
  OwnershipState ownership;
  bool reached = false;

  bool merge(const State& other) {
    const bool first = !reached;
    reached = true;
    const bool a = fixed.merge(other.fixed);
    const bool b = scoreboards.merge(other.scoreboards);
    const bool c = ownership.merge(other.ownership);
    return first || a || b || c;
  }
};

class Proof {
 public:
  explicit Proof(const Code& code)
      : code_(code),
        sets_(step_sets(code)),
        products_(has_products(code)),
        entry_(code.steps.size()),
        starts_(code.steps.size(), false) {
    for (const Step& s : code.steps) {
      if (s.known) horizon_ = std::max(horizon_, max_gap(code.arch, s.inst));
    }
  }

  void run(Findings& out) {
    if (code_.steps.empty()) return;
    find_starts();
    // A fixpoint over the starts of basic blocks; then one more walk of each, which reports.
    entry_[0].reached = true;
    entry_[0].ownership.enter();
    std::vector<std::uint32_t> work{0};
    std::vector<bool> queued(code_.steps.size(), false);
    while (!work.empty()) {
      const std::uint32_t start = *std::ranges::min_element(work);
      std::erase(work, start);
      queued[start] = false;
      State s = entry_[start];
      const std::uint32_t end = walk(start, s, nullptr);
      for (const std::uint32_t to : code_.steps[end].next) {
        if (entry_[to].merge(s) && !queued[to]) {
          queued[to] = true;
          work.push_back(to);
        }
      }
    }
    for (std::uint32_t i = 0; i < code_.steps.size(); ++i) {
      if (!starts_[i] || !entry_[i].reached) continue;
      State s = entry_[i];
      walk(i, s, &out);
    }
  }

 private:
  void find_starts() {
    std::vector<int> entries(code_.steps.size(), 0);
    starts_[0] = true;
    for (std::uint32_t i = 0; i < code_.steps.size(); ++i) {
      const std::vector<std::uint32_t>& next = code_.steps[i].next;
      const bool straight = next.size() == 1 && next[0] == i + 1;
      for (const std::uint32_t to : next) {
        ++entries[to];
        if (!straight || entries[to] > 1) starts_[to] = true;
      }
    }
  }

  // Runs the block from `start`; returns its last step.
  std::uint32_t walk(std::uint32_t start, State& s, Findings* out) const {
    for (std::uint32_t i = start;; ++i) {
      const Control& c = code_.steps[i].inst.control;
      const int passed = s.scoreboards.wait(code_, i, out);
      s.scoreboards.advance(passed);
      s.fixed.advance(passed, horizon_);
      s.fixed.await(code_, c.wait);
      s.scoreboards.check(code_, sets_, i, out);
      s.fixed.check(code_, i, out);
      s.scoreboards.issue(code_, sets_, i);
      s.fixed.issue(code_, i);
      if (products_) {
        s.ownership.check(code_, sets_, i, out);
        s.ownership.issue(code_, sets_, s.scoreboards, i);
      }
      // Stall 0 with yield drains the pipes (sm_70 and later).
      const bool drains = c.stall == 0 && c.yield && info(code_.arch).encoding == Encoding::k128;
      const int cycles = drains ? kDrain : c.stall;
      s.scoreboards.advance(cycles);
      s.fixed.advance(cycles, horizon_);
      const std::vector<std::uint32_t>& next = code_.steps[i].next;
      if (next.size() != 1 || next[0] != i + 1 || starts_[i + 1]) return i;
    }
  }

  const Code& code_;
  std::vector<StepSets> sets_;
  bool products_;  // there are some whose registers must be followed
  int horizon_ = 0;
  std::vector<State> entry_;  // of the steps that start a block
  std::vector<bool> starts_;
};

}  // namespace

std::vector<Hazard> verify(Arch arch, const KernelImage& kernel, const ModuleData* data) {
  std::vector<Problem> problems;
  const Code code = read_code(arch, kernel, data, problems);
  std::vector<Hazard> hazards;
  for (const Problem& p : problems) {
    Hazard h;
    h.kind = Hazard::Kind::kDecode;
    h.producer = h.consumer = p.at;
    if (p.at < kernel.lines.size()) h.at = kernel.lines[p.at];
    h.text = code.name(p.at) + " cannot be decoded: " + p.text;
    hazards.push_back(std::move(h));
  }
  Findings found;
  for (const Problem& p : code.unproven) found.push_back({Hazard::Kind::kControl, p.at, p.at, 0, 0, 0, p.text});
  check_legality(code, found);
  check_programmatic_launch(code, found);
  Proof(code).run(found);
  // One hazard for each pair of instructions: the first register stands for its neighbours.
  std::ranges::stable_sort(found, [](const Finding& a, const Finding& b) {
    return std::tie(a.consumer, a.producer, a.kind, a.reg) < std::tie(b.consumer, b.producer, b.kind, b.reg);
  });
  std::set<std::tuple<std::uint32_t, std::uint32_t, Hazard::Kind, std::string>> told;
  for (const Finding& f : found) {
    if (told.insert({f.consumer, f.producer, f.kind, f.text}).second) hazards.push_back(describe(code, f));
  }
  std::ranges::stable_sort(hazards, {}, &Hazard::consumer);
  return hazards;
}

}  // namespace nervanagpu::sass
