#include "sass/verify/programmatic_launch.h"

#include "sass/isa/op_facts.h"

namespace nervanagpu::sass::verify_detail {
namespace {

bool runs(const Step& s) {
  return s.known && !s.never;
}

}  // namespace

void check_programmatic_launch(const Code& code, Findings& out) {
  if (!code.kernel->manifest.programmatic || code.steps.empty()) return;
  std::vector<bool> reached(code.steps.size(), false);  // by a path on which nothing has waited yet
  std::vector<std::uint32_t> work{0};
  reached[0] = true;
  while (!work.empty()) {
    const std::uint32_t i = work.back();
    work.pop_back();
    const Step& s = code.steps[i];
    if (runs(s) && s.inst.op == Op::ACQBULK && always_runs(s.inst)) continue;
    if (runs(s) && touches_global(s.inst.op)) {
      out.push_back(
          {Hazard::Kind::kControl, i, i, 0, 0, 0,
           "no ACQBULK comes before it on some path, and the work ahead of a programmatic launch may still write"});
    }
    for (const std::uint32_t n : s.next) {
      if (reached[n]) continue;
      reached[n] = true;
      work.push_back(n);
    }
  }
}

}  // namespace nervanagpu::sass::verify_detail
