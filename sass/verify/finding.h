// What the state walkers report, before it becomes a Hazard with its sentence (report.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "sass/verify/code.h"
#include "sass/verify/verify.h"

namespace nervanagpu::sass::verify_detail {

struct Finding {
  Hazard::Kind kind = Hazard::Kind::kRaw;
  std::uint32_t producer = 0;
  std::uint32_t consumer = 0;
  std::uint32_t reg = 0;  // register_id
  int need = 0;           // cycles, or 0 where a scoreboard is what is missing
  int has = 0;
  std::string text;  // control findings bring their own sentence
};
using Findings = std::vector<Finding>;

// The guards of `a` and `b` can never both hold: same predicate, opposite senses. Only meaningful while that predicate
// keeps its value between the two.
inline bool opposite_guards(const Inst& a, const Inst& b) {
  return a.guard.pred != kPT && a.guard.pred == b.guard.pred && a.guard.uniform == b.guard.uniform &&
         a.guard.inv != b.guard.inv;
}
inline bool always_runs(const Inst& inst) {
  return inst.guard.pred == kPT && !inst.guard.inv;
}

// Step `i` writes the guard predicate of `of`.
bool writes_guard(const Step& step, const Inst& of);

Hazard describe(const Code& code, const Finding& finding);

}  // namespace nervanagpu::sass::verify_detail
