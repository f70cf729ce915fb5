#include "sass/verify/ownership.h"

#include <algorithm>
#include <bit>
#include <string>

#include "sass/isa/register_id.h"

namespace nervanagpu::sass::verify_detail {
namespace {

constexpr unsigned kGprs = 256;
constexpr std::uint32_t kNobody = ~std::uint32_t{0};

bool is_product(const Step& step) {
  return step.known && !step.never && ready(step.inst) == Ready::kGroup;
}

// Only its general registers: others it reads at issue.
RegisterSet vector_part(const RegisterSet& set) {
  RegisterSet out{};
  std::copy_n(set.begin(), kGprs / 64, out.begin());
  return out;
}

RegisterSet without(RegisterSet a, const RegisterSet& b) {
  for (std::size_t w = 0; w < a.size(); ++w) a[w] &= ~b[w];
  return a;
}

template <typename F>
void each(const RegisterSet& set, F&& f) {
  for (std::size_t w = 0; w < kGprs / 64; ++w) {
    for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1) {
      f(static_cast<unsigned>(w * 64) + static_cast<unsigned>(std::countr_zero(rest)));
    }
  }
}

void mark(std::vector<std::uint32_t>& lines, const RegisterSet& set, std::uint32_t line) {
  each(set, [&](unsigned reg) {
    if (lines.empty()) lines.assign(kGprs, kNobody);
    lines[reg] = line;
  });
}

// The lowest general register in both, or kNoRegisterId.
std::uint32_t common(const RegisterSet& a, const RegisterSet& b) {
  for (std::size_t w = 0; w < kGprs / 64; ++w) {
    if ((a[w] & b[w]) != 0) {
      return static_cast<std::uint32_t>(w * 64) + static_cast<unsigned>(std::countr_zero(a[w] & b[w]));
    }
  }
  return kNoRegisterId;
}

}  // namespace

bool has_products(const Code& code) {
  return std::ranges::any_of(code.steps, is_product);
}

void OwnershipState::check(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i, Findings* out) const {
  const Step& step = code.steps[i];
  if (out == nullptr || !step.known || step.never) return;
  for (const Product& p : products_) check_owner(code, sets, p.line, i, *out);
  if (is_product(step)) check_arrived(code, sets, i, *out);
}

void OwnershipState::check_owner(const Code& code, const std::vector<StepSets>& sets, std::uint32_t owner,
                                 std::uint32_t i, Findings& out) const {
  const RegisterSet sums = vector_part(sets[owner].writes);
  const RegisterSet factor = without(vector_part(sets[owner].reads), sums);
  RegisterSet reads = sets[i].reads;
  RegisterSet writes = sets[i].writes;
  // The engine adds to the same sums one after the other.
  if (is_product(code.steps[i]) && vector_part(writes) == sums) {
    reads = without(reads, sums);
    writes = without(writes, sums);
  }
  Finding f{Hazard::Kind::kRaw, owner, i, common(sums, reads), 0, 0, {}};
  const char* verb = "reads ";
  if (f.reg == kNoRegisterId) {
    f.kind = Hazard::Kind::kWaw;
    f.reg = common(sums, writes);
    verb = "overwrites ";
  }
  if (f.reg == kNoRegisterId) {
    f.kind = Hazard::Kind::kWar;
    f.reg = common(factor, writes);
  }
  if (f.reg == kNoRegisterId) return;
  f.text = verb + register_name(f.reg) + ", which belongs to " + code.name(owner) +
           ": no WARPGROUP.DEPBAR has retired its group on some path";
  out.push_back(std::move(f));
}

void OwnershipState::check_arrived(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i,
                                   Findings& out) const {
  const RegisterSet sums = vector_part(sets[i].writes);
  RegisterSet all = vector_part(sets[i].reads);
  for (std::size_t w = 0; w < all.size(); ++w) all[w] |= sums[w];
  Finding f{Hazard::Kind::kRaw, kNobody, i, kNoRegisterId, 0, 0, {}};
  const auto look = [&](const std::vector<std::uint32_t>& lines, const RegisterSet& set, Hazard::Kind kind) {
    if (lines.empty()) return;
    each(set, [&](unsigned reg) {
      if (f.producer != kNobody || lines[reg] == kNobody) return;
      f.kind = kind;
      f.producer = lines[reg];
      f.reg = reg;
    });
  };
  look(written_, all, Hazard::Kind::kRaw);
  look(read_, sums, Hazard::Kind::kWar);
  if (f.producer == kNobody && alone_) {
    out.push_back({Hazard::Kind::kControl, i, i, 0, 0, 0, "no WARPGROUP.ARRIVE comes before it on some path"});
  }
  if (f.producer == kNobody) return;
  f.text = "takes " + register_name(f.reg) + ", which " + code.name(f.producer) +
           (f.kind == Hazard::Kind::kRaw ? " writes" : " reads") +
           ": no WARPGROUP.ARRIVE stands between them on some path";
  out.push_back(std::move(f));
}

void OwnershipState::issue(const Code& code, const std::vector<StepSets>& sets, const ScoreboardState& scoreboards,
                           std::uint32_t i) {
  const Step& step = code.steps[i];
  if (!step.known || step.never) return;
  if (is_product(step)) {
    start(code, sets, i);
    return;
  }
  if (always_runs(step.inst) && hands_over(step.inst)) {
    written_.clear();
    read_.clear();
    scoreboards.each(sets, [&](std::uint32_t line, bool reads, const RegisterSet& set) {
      mark(reads ? read_ : written_, set, line);
    });
    alone_ = false;
    return;
  }
  if (always_runs(step.inst) && awaits_groups(step.inst)) {
    for (const Operand& o : step.inst.operands()) {
      if (o.kind == OperandKind::kImm) std::erase_if(products_, [&](const Product& p) { return p.younger >= o.imm; });
    }
    return;
  }
  mark(written_, sets[i].writes, i);
  mark(read_, sets[i].reads, i);
}

void OwnershipState::start(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i) {
  const Step& step = code.steps[i];
  const bool closes = closes_group(step.inst);
  if (closes && always_runs(step.inst)) {
    for (Product& p : products_) p.younger = std::min(p.younger + 1, kMost);
  }
  // One of an earlier turn of a loop owns the same registers and retires no later.
  const auto at = std::ranges::lower_bound(products_, i, {}, &Product::line);
  const Product now{i, closes ? 0 : kOpen};
  if (at != products_.end() && at->line == i) {
    *at = now;
  } else {
    products_.insert(at, now);
  }
  const auto own = [&](const RegisterSet& set) {
    each(set, [&](unsigned reg) {
      if (!written_.empty()) written_[reg] = kNobody;
      if (!read_.empty()) read_[reg] = kNobody;
    });
  };
  own(sets[i].writes);
  own(sets[i].reads);
}

bool OwnershipState::merge(const OwnershipState& other) {
  bool weaker = !alone_ && other.alone_;
  alone_ = alone_ || other.alone_;
  for (const Product& p : other.products_) {
    const auto at = std::ranges::lower_bound(products_, p.line, {}, &Product::line);
    if (at == products_.end() || at->line != p.line) {
      products_.insert(at, p);
      weaker = true;
    } else if (p.younger < at->younger) {
      at->younger = p.younger;
      weaker = true;
    }
  }
  const auto join = [&](std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
    if (from.empty()) return;
    if (to.empty()) to.assign(kGprs, kNobody);
    for (unsigned reg = 0; reg < kGprs; ++reg) {
      if (to[reg] != kNobody || from[reg] == kNobody) continue;
      to[reg] = from[reg];
      weaker = true;
    }
  };
  join(written_, other.written_);
  join(read_, other.read_);
  return weaker;
}

}  // namespace nervanagpu::sass::verify_detail
