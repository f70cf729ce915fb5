#include "sass/asm/cubin/code_facts.h"

#include <algorithm>
#include <optional>

#include "sass/isa/codec/codec.h"
#include "sass/isa/rows/row.h"
#include "sass/isa/rows/table.h"

namespace nervanagpu::sass {
namespace {

// Numbers of the special registers, the same in every architecture.
constexpr std::int64_t kCtaidX = 0x25;
constexpr std::int64_t kCtaidZ = 0x27;

// An SSY, PBK or PCNT pushes one token that lives until the code at its target.
struct Region {
  std::uint64_t begin;
  std::uint64_t end;
};

// The most regions that any instruction lies in, plus one for each region without an end after its begin, which may
// be open anywhere.
std::uint32_t deepest(const std::vector<Region>& regions) {
  std::uint32_t everywhere = 0;
  std::vector<std::pair<std::uint64_t, int>> edges;
  for (const Region& r : regions) {
    if (r.end <= r.begin) {
      ++everywhere;
      continue;
    }
    edges.emplace_back(r.begin, 1);
    edges.emplace_back(r.end, -1);  // sorts before a region that opens at the same address
  }
  std::sort(edges.begin(), edges.end());
  int depth = 0;
  int most = 0;
  for (const auto& [address, step] : edges) {
    depth += step;
    most = std::max(most, depth);
  }
  return everywhere + static_cast<std::uint32_t>(most);
}

// The rule that ptxas's figures follow: a token is 16 bytes, and so is the entry of a branch that diverges inside the
// region; a loop may leave one such entry for each lane of the warp.
std::uint32_t crs_bytes(const std::vector<Region>& regions, bool loop) {
  if (regions.empty()) return 0;
  const std::uint32_t depth = deepest(regions);
  return std::max(depth * 32, loop ? depth * 16 + 32 * 16 : 0);
}

const Operand* find(const Inst& inst, OperandKind kind) {
  for (const Operand& o : inst.operands()) {
    if (o.kind == kind) return &o;
  }
  return nullptr;
}

std::optional<MbarrierUse::Kind> kind_of(const Inst& inst) {
  using Kind = MbarrierUse::Kind;
  if (inst.op == Op::ARRIVES) return Kind::kCopies;
  if (inst.has(Axis::kFunction, Tok::EXCH_64)) return Kind::kInit;
  if (inst.has(Axis::kFunction, Tok::CCTL_IV)) return Kind::kInvalidate;
  if (inst.has(Axis::kFunction, Tok::PHASECHK)) {
    return inst.has(Axis::kMode2, Tok::TRYWAIT) ? Kind::kTryParity : Kind::kTestParity;
  }
  const bool drop = inst.has(Axis::kCarryOut, Tok::OPTOUT);
  switch (inst.mod(Axis::kCount)) {
    case Tok::A1T0:
    case Tok::ART0:
      if (inst.has(Axis::kMode2, Tok::TMASK)) return drop ? Kind::kDropNoComplete : Kind::kArriveNoComplete;
      return drop ? Kind::kDrop : Kind::kArrive;
    case Tok::A0TR: return Kind::kExpect;
    case Tok::A0TX: return Kind::kComplete;
    default: return std::nullopt;
  }
}

std::optional<MbarrierUse> mbarrier_use(const Inst& inst, std::uint32_t address) {
  const auto kind = kind_of(inst);
  const Operand* at = find(inst, OperandKind::kAddr);
  if (!kind || at == nullptr) return std::nullopt;
  MbarrierUse out;
  out.address = address;
  out.kind = *kind;
  if (at->reg != kNoReg) out.reg = at->reg;
  if (at->ureg != kNoReg) out.ureg = at->ureg;
  out.offset = static_cast<std::uint32_t>(at->imm);
  return out;
}

// What is looked for.
enum class Fact : std::uint8_t { kNone, kExit, kSpecial, kMbarrier, kToken, kBranch };

Fact fact_of(Op op) {
  switch (op) {
    case Op::EXIT: return Fact::kExit;
    case Op::S2R:
    case Op::S2UR: return Fact::kSpecial;
    case Op::SYNCS:
    case Op::ARRIVES: return Fact::kMbarrier;
    case Op::SSY:
    case Op::PBK:
    case Op::PCNT: return Fact::kToken;
    case Op::BRA: return Fact::kBranch;
    default: return Fact::kNone;
  }
}

// Whether the word may be one of these instructions: the rest need not be decoded.
bool may_matter(Arch arch, const Word& word) {
  return std::ranges::any_of(rows_for(arch, word), [](const Row* row) { return fact_of(row->op) != Fact::kNone; });
}

}  // namespace

CodeFacts find_code_facts(Arch arch, std::span<const Word> code) {
  const Encoding encoding = info(arch).encoding;
  CodeFacts facts;
  std::vector<Region> regions;
  bool loop = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!may_matter(arch, code[i])) continue;
    const std::uint64_t address = address_of(encoding, i);
    const auto inst = decode(arch, code[i], address);
    if (!inst) continue;
    const auto here = static_cast<std::uint32_t>(address);
    switch (fact_of(inst->op)) {
      case Fact::kExit: facts.exits.push_back(here); break;
      case Fact::kSpecial:
        if (const Operand* sr = find(*inst, OperandKind::kSpecialReg)) {
          if (sr->imm >= kCtaidX && sr->imm <= kCtaidZ) facts.ctaids.push_back(here);
          facts.ctaid_z |= sr->imm == kCtaidZ;
        }
        break;
      case Fact::kMbarrier:
        if (const auto use = mbarrier_use(*inst, here)) facts.mbarriers.push_back(*use);
        break;
      case Fact::kToken:
        if (const Operand* to = find(*inst, OperandKind::kLabel)) {
          regions.push_back({address, static_cast<std::uint64_t>(to->imm)});
        }
        break;
      case Fact::kBranch:
        if (const Operand* to = find(*inst, OperandKind::kLabel)) {
          loop |= static_cast<std::uint64_t>(to->imm) < address && inst->guard != Guard{};
        }
        break;
      case Fact::kNone: break;
    }
  }
  facts.crs_bytes = encoding == Encoding::k64 ? crs_bytes(regions, loop) : 0;
  return facts;
}

}  // namespace nervanagpu::sass
