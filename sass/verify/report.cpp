// Findings as sentences: which instruction, what it needs, since when it runs.
#include "sass/isa/latency.h"
#include "sass/isa/register_id.h"
#include "sass/verify/finding.h"

namespace nervanagpu::sass::verify_detail {

bool writes_guard(const Step& step, const Inst& of) {
  if (of.guard.pred == kPT) return false;
  const RegFile file = of.guard.uniform ? RegFile::kUPred : RegFile::kPred;
  for (const Access& a : step.touched) {
    if (a.write && a.file == file && of.guard.pred >= a.first && of.guard.pred < a.first + a.count) return true;
  }
  return false;
}

Hazard describe(const Code& code, const Finding& f) {
  Hazard h;
  h.kind = f.kind;
  h.producer = f.producer;
  h.consumer = f.consumer;
  if (f.consumer < code.kernel->lines.size()) h.at = code.kernel->lines[f.consumer];
  if (!f.text.empty()) {
    h.text = code.name(f.consumer) + ": " + f.text;
    if (f.kind != Hazard::Kind::kControl) {
      h.reg = register_name(f.reg);
      h.missing = -1;
    }
    return h;
  }
  h.reg = register_name(f.reg);
  const bool order = f.reg >= register_id(RegFile::kOrder, 0) && f.reg < kRegisterIds;
  h.missing = f.need > 0 ? f.need - f.has : -1;
  const char* verb = f.kind == Hazard::Kind::kRaw ? " reads it" : " overwrites it";
  std::string first = code.name(f.producer) + (f.kind == Hazard::Kind::kWar ? " reads " : " writes ") + h.reg;
  if (f.need > 0) {
    h.text = first + "; " + code.name(f.consumer) + verb + " after " + std::to_string(f.has) +
             (f.has == 1 ? " cycle" : " cycles") + ", but needs " + std::to_string(f.need);
    return h;
  }
  if (order) {
    const bool membar = f.kind == Hazard::Kind::kWar;
    const Control& made = code.steps[f.producer].inst.control;
    const unsigned sb = membar ? made.read_sb : made.write_sb;
    h.missing = -1;
    h.text = code.name(f.producer) + (membar ? " orders earlier stores" : " shows earlier stores to the engines");
    h.text += sb < kScoreboards ? ", done when scoreboard " + std::to_string(sb) + " says so"
                                : std::string(", but no ") + (membar ? "read" : "write") + " scoreboard says when";
    h.text += "; " + code.name(f.consumer) + " goes on with no wait for it on some path";
    return h;
  }
  const Control& c = code.steps[f.producer].inst.control;
  const unsigned sb = f.kind == Hazard::Kind::kWar ? c.read_sb : c.write_sb;
  first += f.kind == Hazard::Kind::kWar ? " late" : " at a time of its own";
  first += sb < 6 ? ", announced by scoreboard " + std::to_string(sb) : ", announced by no scoreboard";
  h.text = first + "; " + code.name(f.consumer) + verb + " with no wait for it on some path";
  return h;
}

}  // namespace nervanagpu::sass::verify_detail
