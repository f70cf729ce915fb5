// The convergence stack of sm_50 .. sm_62: groups wait at a token until all its lanes have come.
#include <bit>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/machine/groups.h"

namespace nervanagpu::sass::emulate {

// SYNC finds its token on top; the others pass over what lies above it, as far as calls.
const Uop* pop_token(Warp& w, const Uop* u, Token::Kind kind) {
  const auto here = static_cast<std::uint32_t>(u - w.code);
  const std::uint32_t top = w.groups[w.current].token;
  std::uint32_t at = top;
  const bool passes = kind != Token::Kind::kSync;
  while (at != 0 && w.tokens[at].kind != kind && passes && w.tokens[at].kind != Token::Kind::kReturn) {
    at = w.tokens[at].below;
  }
  if (at == 0 || w.tokens[at].kind != kind) {
    return fault(w, u, static_cast<unsigned>(std::countr_zero(w.exec)),
                 "the convergence stack has no entry for this instruction");
  }
  const std::uint32_t leaving = w.exec;
  for (std::uint32_t t = top; t != at; t = w.tokens[t].below) w.tokens[t].mask &= ~leaving;
  Token& token = w.tokens[at];
  if (leaving == w.active && (token.mask & w.live & ~leaving) == 0) {  // nobody to wait for
    w.groups[w.current].token = token.below;
    token.kind = Token::Kind::kFree;
    const bool others = top != at;
    const std::uint32_t target = token.target;
    if (others) release_tokens(w);
    return jump(w, u, target);
  }
  split_others(w, here);
  Group& g = w.groups[w.current];
  g.state = Group::State::kAtToken;
  g.token = at;
  leave(w, u, here, Stop::kBlocked);
  release_tokens(w);
  return nullptr;
}

void release_tokens(Warp& w) {
  for (bool again = w.tokens.size() > 1; again;) {
    again = false;
    for (std::size_t i = 0; i < w.groups.size() && !again; ++i) {
      if (w.groups[i].state != Group::State::kAtToken) continue;
      const std::uint32_t at = w.groups[i].token;
      Token& token = w.tokens[at];
      std::uint32_t here = 0;
      for (const Group& g : w.groups) {
        if (g.state == Group::State::kAtToken && g.token == at) here |= g.mask;
      }
      if ((token.mask & w.live & ~here) != 0) continue;
      // All are here: one group again.
      if (w.checker != nullptr) w.checker->lanes_met(w, here);
      w.groups[i] = Group{.mask = here, .pc = token.target, .token = token.below};
      token.kind = Token::Kind::kFree;
      for (std::size_t j = w.groups.size(); j-- > 0;) {
        if (w.groups[j].state != Group::State::kAtToken || w.groups[j].token != at) continue;
        w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(j));
        if (j < w.current) --w.current;  // the running group stays the same one
      }
      again = true;
    }
  }
}

}  // namespace nervanagpu::sass::emulate
