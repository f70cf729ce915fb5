// Control flow of sm_50 .. sm_62: the convergence stack, and branches on CC. The chip keeps one stack for a warp and runs
// one path after the other; here each group of lanes has its own view of the stack, and whoever pops an entry waits
// there until all lanes that were there when it was pushed have come or left it for an outer one.
#include <bit>

#include "sass/emulate/machine/groups.h"
#include "sass/emulate/ops/cc.h"
#include "sass/emulate/ops/families.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

constexpr std::size_t kManyTokens = 256;  // then the dead ones are looked for
constexpr unsigned kDeepest = 4096;       // more than any chip has room for

// A free place for a token. Those that no group can reach any more are free.
std::uint32_t place_for_token(Warp& w) {
  if (w.tokens.size() < kManyTokens) {
    w.tokens.emplace_back();
    return static_cast<std::uint32_t>(w.tokens.size() - 1);
  }
  for (std::uint32_t i = 1; i < w.tokens.size(); ++i) {
    if (w.tokens[i].kind == Token::Kind::kFree) return i;
  }
  std::vector<bool> alive(w.tokens.size());
  for (const Group& g : w.groups) {
    for (std::uint32_t t = g.token; t != 0 && !alive[t]; t = w.tokens[t].below) alive[t] = true;
  }
  std::uint32_t found = 0;
  for (std::uint32_t i = 1; i < w.tokens.size(); ++i) {
    if (alive[i]) continue;
    w.tokens[i] = Token{};
    found = i;
  }
  if (found != 0) return found;
  w.tokens.emplace_back();
  return static_cast<std::uint32_t>(w.tokens.size() - 1);
}

bool push_token(Warp& w, Token::Kind kind, std::uint32_t lanes, std::uint32_t target) {
  const std::uint32_t at = place_for_token(w);
  Group& g = w.groups[w.current];
  w.tokens[at] = Token{.kind = kind, .mask = lanes, .target = target, .below = g.token};
  g.token = at;
  if (w.tokens.size() < kDeepest) return true;
  unsigned depth = 0;
  for (std::uint32_t t = at; t != 0; t = w.tokens[t].below) ++depth;
  return depth < kDeepest;
}

const Uop* push(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  if (!push_token(w, static_cast<Token::Kind>(x.kind), w.exec, x.target)) {
    return fault(w, u, kLanes, "the convergence stack never ends");
  }
  return u + 1;
}

const Uop* call(Warp& w, const Uop* u) {
  if (!push_token(w, Token::Kind::kReturn, w.exec, index_of(w, u) + 1)) {
    return fault(w, u, kLanes, "the call stack never ends");
  }
  return jump(w, u, u->x->target);
}

const Uop* pop(Warp& w, const Uop* u) {
  return pop_token(w, u, static_cast<Token::Kind>(u->x->kind));
}

// `kBody` for the lanes in which the condition on CC holds.
template <Handler kBody>
const Uop* on_condition(Warp& w, const Uop* u) {
  const std::uint32_t lanes = w.exec & test_cc(w, static_cast<Tok>(u->x->imm));
  if (lanes == 0) return u + 1;
  w.exec = lanes;
  return kBody(w, u);
}

const Uop* bra(Warp& w, const Uop* u) {
  return jump(w, u, u->x->target);
}

// EXIT of some lanes of a group, as of a guard.
const Uop* exit_some(Warp& w, const Uop* u) {
  const std::uint32_t leaving = w.exec;
  w.live &= ~leaving;
  w.active &= ~leaving;
  if (w.active == 0) {
    w.instructions += static_cast<std::uint64_t>(u + 1 - w.mark);
    w.groups.erase(w.groups.begin() + w.current);
    w.stop = Stop::kBlocked;
    release_tokens(w);
    return nullptr;
  }
  w.exec = w.active;
  w.groups[w.current].mask = w.active;
  release_tokens(w);
  return u + 1;
}

void bind_push(Detail& x, Token::Kind kind) {
  x.kind = static_cast<std::uint8_t>(kind);
  x.body = push;
}

void bind_pop(Detail& x, Token::Kind kind, bool conditional) {
  x.kind = static_cast<std::uint8_t>(kind);
  x.body = conditional ? on_condition<pop> : pop;
}

}  // namespace

bool bind_stack(const Inst& inst, Binding& b) {
  if (inst.row->encoding != Encoding::k64) return false;
  Detail& x = b.detail;
  bool conditional = false;
  for (const Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kCc || o.sub == Tok::kNone || o.sub == Tok::T) continue;
    conditional = true;
    x.imm = static_cast<std::uint32_t>(o.sub);
  }
  switch (inst.op) {
    case Op::SSY: bind_push(x, Token::Kind::kSync); return true;
    case Op::PBK: bind_push(x, Token::Kind::kBreak); return true;
    case Op::PCNT: bind_push(x, Token::Kind::kContinue); return true;
    case Op::PRET: bind_push(x, Token::Kind::kReturn); return true;
    case Op::CAL: x.body = call; return true;
    case Op::SYNC: bind_pop(x, Token::Kind::kSync, conditional); return true;
    case Op::BRK: bind_pop(x, Token::Kind::kBreak, conditional); return true;
    case Op::CONT: bind_pop(x, Token::Kind::kContinue, conditional); return true;
    case Op::RET: bind_pop(x, Token::Kind::kReturn, conditional); return true;
    case Op::BRA:
      if (!conditional) return false;
      x.body = on_condition<bra>;
      return true;
    case Op::EXIT:
      if (!conditional) return false;
      x.body = on_condition<exit_some>;
      return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate
