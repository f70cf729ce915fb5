#include "sass/asm/builder/lowering.h"

#include <algorithm>

#include "sass/isa/op.h"

namespace nervanagpu::sass {
namespace {

constexpr std::size_t kReach = 192;  // drafts for which a number waits in its register to be wanted again

std::int64_t as_signed(std::int64_t n) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(n));
}

std::int64_t plain_bits(const Arg& a, unsigned sign_bit) {
  auto n = static_cast<std::uint64_t>(a.imm);
  const std::uint64_t sign = std::uint64_t{1} << sign_bit;
  if (a.abs) n &= ~sign;
  if (a.neg) n ^= sign;
  return static_cast<std::int64_t>(n);
}

}  // namespace

// ---- Instructions ------------------------------------------------------------------------------------------------------

Lowering::Rule Lowering::rule_of(Op op) const {
  return info(b_.arch()).encoding == Encoding::k64 ? maxwell_rule(op) : ampere_rule(op);
}

Lowering::Rule Lowering::maxwell_rule(Op op) {
  struct Entry {
    Op op;
    Rule rule;
  };
  // clang-format off
  static constexpr Entry kRules[] = {
      {Op::MOV, &Lowering::move},                 {Op::IADD3, &Lowering::add},
      {Op::IMAD, &Lowering::multiply_add},        {Op::IMAD_HI, &Lowering::multiply_high},
      {Op::IMAD_WIDE, &Lowering::multiply_wide},  {Op::IABS, &Lowering::absolute},
      {Op::VIMNMX, &Lowering::extremum},          {Op::ISETP, &Lowering::compare},
      {Op::LOP3, &Lowering::logic},               {Op::SHF, &Lowering::shift},
      {Op::SGXT, &Lowering::extend_sign},         {Op::SEL, &Lowering::select},
      {Op::FADD, &Lowering::float_add},           {Op::FMUL, &Lowering::float_multiply},
      {Op::FFMA, &Lowering::float_multiply_add},  {Op::FMNMX, &Lowering::float_extremum},
      {Op::FSETP, &Lowering::float_compare},      {Op::DADD, &Lowering::double_add},
      {Op::DMUL, &Lowering::double_multiply},     {Op::DFMA, &Lowering::double_multiply_add},
      {Op::DSETP, &Lowering::double_compare},     {Op::F2I, &Lowering::to_integer},
      {Op::I2F, &Lowering::from_integer},         {Op::I2FP, &Lowering::from_integer},
      {Op::FRND, &Lowering::to_whole},            {Op::HADD2, &Lowering::from_half},
      {Op::F2FP, &Lowering::pack_halves},         {Op::F2F, &Lowering::as_it_is},
      {Op::MUFU, &Lowering::as_it_is},            {Op::PRMT, &Lowering::as_it_is},
      {Op::S2R, &Lowering::as_it_is},             {Op::SHFL, &Lowering::as_it_is},
      {Op::VOTE, &Lowering::as_it_is},            {Op::LDS, &Lowering::as_it_is},
      {Op::STS, &Lowering::as_it_is},             {Op::LDG, &Lowering::global_memory},
      {Op::STG, &Lowering::global_memory},        {Op::REDG, &Lowering::reduce},
      {Op::BAR, &Lowering::barrier},              {Op::BRA, &Lowering::as_it_is},
      {Op::EXIT, &Lowering::as_it_is},
  };
  // clang-format on
  const auto* const e = std::ranges::find(kRules, op, &Entry::op);
  return e == std::end(kRules) ? nullptr : e->rule;
}

void Lowering::run() {
  look_ahead();
  std::vector<std::uint32_t> starts;  // of each request, in drafts
  for (index_ = 0; index_ < b_.requests_.size(); ++index_) {
    r_ = &b_.requests_[index_];
    starts.push_back(static_cast<std::uint32_t>(b_.drafts_.size()));
    if (labelled_[index_]) {
      words_ = {};
      pairs_ = {};
    }
    b_.line_ = r_->line;
    const Rule rule = rule_of(r_->op);
    if (rule == nullptr) return refuse("is not known");
    (this->*rule)();
    if (!b_.problem_.empty()) return;
  }
  starts.push_back(static_cast<std::uint32_t>(b_.drafts_.size()));
  for (std::uint32_t& at : b_.label_at_) {
    if (at != kNoVirtual) at = starts[at];
  }
  drop_unread();
}

bool Lowering::says(Tok t) const {
  return std::ranges::find(r_->mods(), t) != r_->mods().end();
}

void Lowering::refuse(const char* why) {
  if (!b_.problem_.empty()) return;
  std::string& p = b_.problem_;
  p = "instruction " + std::to_string(index_) + ": " + std::string(op_text(r_->op));
  for (const Tok t : r_->mods()) p += "." + std::string(tok_text(t));
  p += std::string(" ") + why + " on " + std::string(info(b_.arch()).name);
}

Arg Lowering::word(Arg a, unsigned k) {
  if (a.kind == Arg::Kind::kConst) return a.plus(4 * static_cast<std::int64_t>(k));
  if (a.id != kNoVirtual) a.id += k;
  return a;
}
Arg Lowering::upper_half(Arg a) {
  a.part = Tok::H1;
  return a;
}
Arg Lowering::with_carry(Arg d) {
  d.part = Tok::CC;
  return d;
}
Arg Lowering::minus(Arg a, bool if_so) {
  a.neg = a.neg != if_so;
  return a;
}

void Lowering::put(Op op, Toks mods, Args args, VPred guard) {
  b_.put(op, {mods.begin(), mods.size()}, {args.begin(), args.size()}, guard);
}
void Lowering::last(Op op, std::span<const Tok> mods, Args args) {
  b_.put(op, mods, {args.begin(), args.size()}, r_->guard);
}

void Lowering::as_it_is() {
  b_.put(r_->op, r_->mods(), r_->args(), r_->guard);
}

// Addresses need no descriptor.
void Lowering::global_memory() {
  std::array<Arg, Request::kMostArgs> args = r_->arg_array;
  for (Arg& a : args) {
    if (a.kind == Arg::Kind::kGlobal) a.kind = Arg::Kind::kShared;
  }
  b_.put(r_->op, r_->mods(), {args.data(), r_->arg_count}, r_->guard);
}

void Lowering::reduce() {
  Arg address = arg(0);
  address.kind = Arg::Kind::kShared;
  std::array<Tok, Request::kMostMods> mods = r_->mod_array;
  std::ranges::replace(mods, Tok::k64, Tok::U64);
  b_.put(Op::RED, {mods.data(), r_->mod_count}, std::array{address, arg(1)}, r_->guard);
}

void Lowering::barrier() {
  if (!says(Tok::SYNC)) return refuse("is not known");
  last(Op::BAR, {Tok::SYNC}, {arg(0)});
}

// ---- Numbers -----------------------------------------------------------------------------------------------------------

bool Lowering::is_short(Short kind, std::int64_t n) {
  switch (kind) {
    case Short::kSigned: return n >= -0x80000 && n < 0x80000;
    case Short::kUnsigned: return n >= 0 && n < 0x80000;
    case Short::kFloat: return (n & 0xfff) == 0;
    case Short::kDouble: return (n & 0xfffffffffff) == 0;
  }
  return false;
}

std::int64_t Lowering::float_bits(const Arg& a) {
  return plain_bits(a, 31) & 0xffffffff;
}
std::int64_t Lowering::double_bits(const Arg& a) {
  return plain_bits(a, 63);
}

Arg Lowering::second(const Arg& a, Short kind) {
  if (a.kind != Arg::Kind::kImm) return a;
  std::int64_t n = 0;
  switch (kind) {
    case Short::kSigned:
    case Short::kUnsigned: n = as_signed(a.neg ? -a.imm : a.imm); break;
    case Short::kFloat: n = float_bits(a); break;
    case Short::kDouble: n = double_bits(a); break;
  }
  if (is_short(kind, n)) return n;
  return kind == Short::kDouble ? number64(static_cast<std::uint64_t>(n)) : number(static_cast<std::uint32_t>(n));
}

Arg Lowering::in_register(const Arg& a) {
  if (a.kind == Arg::Kind::kReg) return a;
  if (a.kind == Arg::Kind::kImm) return number(static_cast<std::uint32_t>(a.neg ? -a.imm : a.imm));
  const VReg r = b_.reg();
  Arg plain = a;
  plain.neg = plain.abs = false;
  put(Op::MOV, {}, {r, plain});
  Arg out(r);
  out.neg = a.neg;
  out.abs = a.abs;
  return out;
}

// The one that holds `bits`, or the one that was not used for longest, without a register.
template <std::size_t N>
Lowering::Kept& Lowering::keep(std::array<Kept, N>& among, std::uint64_t bits) {
  const std::size_t now = b_.drafts_.size();
  Kept* oldest = among.data();
  for (Kept& k : among) {
    if (!k.r.none() && k.bits == bits && now - k.used <= kReach) {
      k.used = now;
      return k;
    }
    if (k.r.none() || (!oldest->r.none() && k.used < oldest->used)) oldest = &k;
  }
  *oldest = {bits, {}, now};
  return *oldest;
}

VReg Lowering::number(std::uint32_t n) {
  if (n == 0) return kZero;
  Kept& k = keep(words_, n);
  if (k.r.none()) {
    k.r = b_.reg();
    put(Op::MOV32I, {}, {k.r, n});
  }
  return k.r;
}

VReg Lowering::number64(std::uint64_t n) {
  if (n == 0) return kZero;
  Kept& k = keep(pairs_, n);
  if (k.r.none()) {
    k.r = b_.reg(2);
    put(Op::MOV32I, {}, {k.r[0], static_cast<std::uint32_t>(n)});
    put(Op::MOV32I, {}, {k.r[1], static_cast<std::uint32_t>(n >> 32)});
  }
  return k.r;
}

std::optional<std::uint32_t> Lowering::known(const Arg& a) const {
  if (a.neg || a.abs || a.inv) return std::nullopt;
  if (a.kind == Arg::Kind::kImm) return static_cast<std::uint32_t>(a.imm);
  if (a.kind != Arg::Kind::kReg) return std::nullopt;
  if (a.id == kNoVirtual) return 0;
  return a.id < holds_.size() ? holds_[a.id] : std::nullopt;
}

// ---- The program as a whole --------------------------------------------------------------------------------------------

namespace {

// The general-purpose registers that a request writes begin with its first operand, or the first after predicates.
std::uint32_t written_by(const Request& r) {
  if (r.op == Op::ISETP || r.op == Op::FSETP || r.op == Op::DSETP || r.op == Op::VOTE) return kNoVirtual;
  for (const Arg& a : r.args()) {
    if (a.kind == Arg::Kind::kReg) return a.id;
    if (a.kind != Arg::Kind::kPred) break;
  }
  return kNoVirtual;
}

}  // namespace

void Lowering::look_ahead() {
  labelled_.assign(b_.requests_.size() + 1, false);
  for (const std::uint32_t at : b_.label_at_) {
    if (at < labelled_.size()) labelled_[at] = true;
  }
  holds_.assign(b_.elements_, std::nullopt);
  readers_.assign(b_.elements_, 0);
  std::vector<bool> written(b_.elements_, false);
  std::vector<VReg> group(b_.elements_);
  for (const VirtualGroup& g : b_.groups_) {
    for (unsigned k = 0; k < g.count; ++k) group[g.first + k] = {g.first, g.count};
  }
  for (const Request& r : b_.requests_) {
    if (r.guard.id != kNoVirtual) ++readers_[r.guard.id];
    for (const Arg& a : r.args()) {
      if (a.kind == Arg::Kind::kPred && a.id != kNoVirtual) ++readers_[a.id];  // the one that writes it, too
    }
    const std::uint32_t to = written_by(r);
    if (to == kNoVirtual) continue;
    if (r.op == Op::MOV) {
      const Arg& from = r.arg_array[1];
      const bool number = from.kind == Arg::Kind::kImm && r.guard.id == kNoVirtual && !written[to];
      holds_[to] = number ? std::optional(static_cast<std::uint32_t>(from.imm)) : std::nullopt;
      written[to] = true;
    } else {
      for (unsigned k = 0; k < group[to].count; ++k) {
        holds_[group[to].first + k] = std::nullopt;
        written[group[to].first + k] = true;
      }
    }
  }
}

// Numbers that became part of the instructions which read them.
void Lowering::drop_unread() {
  std::vector<Draft>& code = b_.drafts_;
  std::vector<bool> read(b_.elements_, false);
  for (const Draft& d : code) {
    for (unsigned i = 0; i < d.inst.operand_count; ++i) {
      const Operand& o = d.inst.operand_array[i];
      if (d.reg[i] == kNoVirtual || o.role == Role::kDef) continue;
      for (unsigned k = 0; k < std::max<unsigned>(1, o.width); ++k) read[d.reg[i] + k] = true;
    }
  }
  std::vector<std::uint32_t> moved(code.size() + 1, 0);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    moved[i] = kept;
    const bool number = code[i].inst.op == Op::MOV32I;
    if (number && code[i].reg[0] != kNoVirtual && !read[code[i].reg[0]]) continue;
    if (kept != i) code[kept] = code[i];
    ++kept;
  }
  moved[code.size()] = kept;
  code.resize(kept);
  for (std::uint32_t& at : b_.label_at_) {
    if (at != kNoVirtual && at < moved.size()) at = moved[at];
  }
}

}  // namespace nervanagpu::sass
