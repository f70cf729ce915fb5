#include "sass/verify/early.h"

#include <algorithm>
#include <array>

namespace nervanagpu::sass::verify_detail {
namespace {

// Prefetches (UTMAPF, UBLKPF, CCTL) read nothing that anybody sees.
constexpr std::array kGlobal = {Op::LDG,  Op::STG,     Op::LD,      Op::ST,       Op::LDGSTS, Op::ATOM,   Op::ATOMG,
                                Op::RED,  Op::REDG,    Op::TEX,     Op::TLD,      Op::TLD4,   Op::TXD,    Op::SULD,
                                Op::SUST, Op::UTMALDG, Op::UTMASTG, Op::UTMAREDG, Op::UBLKCP, Op::UBLKRED};

bool runs(const Step& s) {
  return s.known && !s.never;
}

bool touches_global(const Step& s) {
  return runs(s) && std::ranges::find(kGlobal, s.inst.op) != kGlobal.end();
}

}  // namespace

void check_early(const Code& code, Findings& out) {
  if (!code.kernel->manifest.programmatic || code.steps.empty()) return;
  std::vector<bool> reached(code.steps.size(), false);  // by a path on which nothing has waited yet
  std::vector<std::uint32_t> work{0};
  reached[0] = true;
  while (!work.empty()) {
    const std::uint32_t i = work.back();
    work.pop_back();
    const Step& s = code.steps[i];
    if (runs(s) && s.inst.op == Op::ACQBULK && always_runs(s.inst)) continue;
    if (touches_global(s)) {
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
