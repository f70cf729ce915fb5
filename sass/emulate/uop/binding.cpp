#include "sass/emulate/uop/binding.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {

void signs_as_integer(Detail& x) {
  for (Src& s : x.src) {
    if (s.neg || s.inv) {
      s.flip = ~0u;
      s.add = s.neg && !s.inv ? 1 : 0;
      s.plain = false;
    }
  }
}

void signs_as_float(Detail& x, std::uint32_t sign) {
  for (Src& s : x.src) {
    if (s.abs) s.keep = ~sign;
    if (s.neg) s.flip = sign;
    s.plain = !s.abs && !s.neg;
  }
}

Round round_of(const Inst& inst) {
  switch (inst.mod(Axis::kRound)) {
    case Tok::RM:
    case Tok::FLOOR: return kDown;
    case Tok::RP:
    case Tok::CEIL: return kUp;
    case Tok::RZ:
    case Tok::TRUNC: return kZeroward;
    default: return kNearest;
  }
}

bool sets_cc(const Inst& inst) {
  return std::ranges::any_of(inst.operands(), [](const Operand& o) { return o.sub == Tok::CC; });
}

bool says(const Inst& inst, std::string_view text) {
  for (const Modifier& m : inst.modifiers()) {
    std::string_view all = tok_text(m.tok);
    if (all == text) return true;
    while (!all.empty()) {  // one of the words of RED.POPC
      const std::size_t dot = all.find('.');
      if (all.substr(0, dot) == text) return true;
      all = dot == std::string_view::npos ? std::string_view{} : all.substr(dot + 1);
    }
  }
  return false;
}

}  // namespace nervanagpu::sass::emulate
