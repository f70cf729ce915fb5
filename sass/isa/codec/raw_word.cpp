#include "sass/isa/codec/raw_word.h"

#include <cinttypes>
#include <cstdio>

#include "sass/isa/rows/row.h"
#include "sass/isa/word.h"

namespace nervanagpu::sass {
namespace {

// The first operands hold the bits and the latency; the declared registers follow.
constexpr std::size_t kLow = 0;
constexpr std::size_t kHigh = 1;
constexpr std::size_t kLatency = 2;
constexpr std::size_t kFirstRegister = 3;
constexpr std::int64_t kUndeclared = -1;
constexpr unsigned kReuseAt = 122;
constexpr unsigned kReuseBits = 4;

constexpr Row raw_row(Encoding encoding, bool scoreboard) {
  Row r;
  r.op = Op::WORD;
  r.encoding = encoding;
  r.archs = encoding == Encoding::k64 ? mask_from(Arch::sm_50, Arch::sm_62) : mask_from(Arch::sm_70, Arch::sm_90a);
  r.has_guard = false;  // it is among the bits
  r.traits.unit = Unit::kNone;
  if (scoreboard) {
    r.traits.ready = Ready::kScoreboard;
    r.traits.late = r.traits.late_uniform = true;
    for (Slot& s : r.slot_array) s.late = true;
  }
  return r;
}
constexpr Row kRows[] = {raw_row(Encoding::k64, false), raw_row(Encoding::k64, true), raw_row(Encoding::k128, false),
                         raw_row(Encoding::k128, true)};

bool wide(Arch arch) {
  return info(arch).encoding == Encoding::k128;
}

const Row* row_of(Arch arch, bool scoreboard) {
  return &kRows[(wide(arch) ? 2 : 0) + (scoreboard ? 1 : 0)];
}

struct File {
  std::string_view prefix, all;
  unsigned count;
  OperandKind kind;
  Arch first, last;
};
constexpr File kFiles[] = {{"R", "R0 to R254", 255, OperandKind::kGpr, Arch::sm_50, Arch::sm_90a},
                           {"P", "P0 to P6", 7, OperandKind::kPred, Arch::sm_50, Arch::sm_90a},
                           {"UR", "UR0 to UR62", 63, OperandKind::kUGpr, Arch::sm_75, Arch::sm_90a},
                           {"UP", "UP0 to UP6", 7, OperandKind::kUPred, Arch::sm_75, Arch::sm_90a},
                           {"CC", "CC", 1, OperandKind::kCc, Arch::sm_50, Arch::sm_62}};

bool has_file(Arch arch, const File& f) {
  return arch >= f.first && arch <= f.last;
}

std::string register_text(const File& f, const Operand& o) {
  std::string out(f.prefix);
  if (f.kind != OperandKind::kCc) out += std::to_string(o.reg);
  return o.width == 1 ? out : out + ":" + std::to_string(o.width);
}

std::string hex(std::uint64_t bits) {
  char out[24];
  std::snprintf(out, sizeof out, "0x%016" PRIx64, bits);
  return out;
}

Word bits_of(const Inst& inst) {
  return {static_cast<std::uint64_t>(inst.operand_array[kLow].imm),
          static_cast<std::uint64_t>(inst.operand_array[kHigh].imm)};
}

// As far as the bits say: whoever is guarded leaves the old value where the guard is false.
bool seems_guarded(Arch arch, const Word& word) {
  const unsigned at = wide(arch) ? 12 : 16;
  return get_bits(word, at, 4) != kPT;
}

class Parser {
 public:
  Parser(Arch arch, std::string_view text, const Span& at) : text_(text), arch_(arch), at_(at) {}

  Result<ParsedInst> run() {
    pos_ = kRawWord.size();
    Word word;
    skip();
    const std::size_t start = pos_;
    if (!number(word.lo)) return fail("expected the bits, 0x and up to 16 hex digits");
    if (!wide(arch_)) {
      if (peek() == ',') return fail("an instruction of " + std::string(info(arch_).name) + " has 64 bits");
    } else {
      if (!eat(',')) return fail("expected ',' and the upper 64 bits");
      if (!number(word.hi)) return fail("expected the upper 64 bits, 0x and up to 16 hex digits");
    }
    inst_.op = Op::WORD;
    inst_.control.reuse = static_cast<std::uint8_t>(get_bits(word, kReuseAt, kReuseBits));
    word = word & ~bit_range(105, 17);
    for (const std::uint64_t bits : {word.lo, word.hi}) {
      add(OperandKind::kImm, 0, 1, Role::kUse)->imm = static_cast<std::int64_t>(bits);
    }
    add(OperandKind::kImm, 0, 1, Role::kUse);
    inst_.row = row_of(arch_, false);
    if (auto bad = declarations(word)) return *bad;
    if (const Result<Inst> known = decode(arch_, put_control(word, inst_.control), 0); known.ok()) {
      pos_ = start;
      return place("these bits have a name: " + sass::print(*known), {"write that instruction instead of .word"});
    }
    return ParsedInst{inst_, {}};
  }

 private:
  std::optional<Diag> declarations(const Word& word) {
    bool reads = false;
    bool writes = false;
    bool scoreboard = false;
    unsigned latency = 0;
    unsigned reuse = 0;
    for (skip(); pos_ < text_.size() && text_[pos_] != ';'; skip()) {
      const std::size_t start = pos_;
      if (!reads && take("reads")) {
        reads = true;
        if (auto bad = list(Role::kUse)) return bad;
      } else if (!writes && take("writes")) {
        writes = true;
        if (auto bad = list(seems_guarded(arch_, word) ? Role::kBoth : Role::kDef)) return bad;
      } else if (!scoreboard && latency == 0 && take("scoreboard")) {
        scoreboard = true;
      } else if (!scoreboard && latency == 0 && take("latency")) {
        skip();
        const std::size_t at = pos_;
        if (!decimal(latency) || latency == 0 || latency > kMaxDeclaredLatency) {
          pos_ = at;
          return fail("expected 1 to " + std::to_string(kMaxDeclaredLatency) + " cycles");
        }
      } else if (!wide(arch_) && reuse == 0 && take("reuse")) {
        skip();
        const std::size_t at = pos_;
        if (!decimal(reuse) || reuse == 0 || reuse > 15) {
          pos_ = at;
          return fail("expected the mask of the slots to keep, 1 to 15");
        }
        inst_.control.reuse = static_cast<std::uint8_t>(reuse);
      } else {
        pos_ = start;
        return fail("expected reads(...), writes(...), and latency N or scoreboard, each at most once");
      }
    }
    if (pos_ < text_.size()) {
      ++pos_;
      skip();
      if (pos_ < text_.size()) return fail("expected nothing after ';'");
    }
    const bool undeclared = !reads && !writes;
    if (undeclared && (scoreboard || latency != 0)) return fail("expected reads(...) or writes(...) as well");
    if (writes_ && !scoreboard && latency == 0) {
      return fail("expected when the results are there, latency N or scoreboard");
    }
    inst_.operand_array[kLatency].imm = undeclared ? kUndeclared : static_cast<std::int64_t>(latency);
    inst_.row = row_of(arch_, scoreboard);
    return std::nullopt;
  }

  Diag place(const std::string& message, std::vector<std::string> notes) const {
    Span at = at_;
    at.col = (at_.col == 0 ? 1 : at_.col) + static_cast<std::uint32_t>(pos_);
    return error_at(at, message, std::move(notes));
  }

  Diag fail(const std::string& message) {
    skip();
    std::size_t end = pos_;
    while (end < text_.size() && end - pos_ < 20 && text_[end] != ' ' && text_[end] != ',' && text_[end] != ')') ++end;
    const std::string here(text_.substr(pos_, pos_ < text_.size() && end == pos_ ? 1 : end - pos_));
    return place(message + ", got " + (here.empty() ? "the end of the line" : "'" + here + "'"),
                 {wide(arch_) ? ".word 0xLOW, 0xHIGH reads(R2, UR4:2) writes(R8:2, P0) latency 6"
                              : ".word 0xBITS reads(R2) writes(R8:2, P0) latency 6"});
  }

  void skip() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t')) ++pos_;
  }
  char peek() {
    skip();
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool eat(char c) {
    if (peek() != c) return false;
    ++pos_;
    return true;
  }
  bool take(std::string_view w) {
    if (!text_.substr(pos_).starts_with(w)) return false;
    pos_ += w.size();
    return true;
  }

  static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }

  bool number(std::uint64_t& out) {
    skip();
    if (!text_.substr(pos_).starts_with("0x")) return false;
    std::size_t p = pos_ + 2;
    std::uint64_t value = 0;
    for (; p < text_.size() && digit(text_[p]) >= 0; ++p) {
      if (p - pos_ >= 18) return false;
      value = value << 4 | static_cast<unsigned>(digit(text_[p]));
    }
    if (p == pos_ + 2) return false;
    pos_ = p;
    out = value;
    return true;
  }

  bool decimal(unsigned& out) {
    const std::size_t start = pos_;
    out = 0;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') {
      if (pos_ - start == 3) return false;
      out = out * 10 + static_cast<unsigned>(text_[pos_++] - '0');
    }
    return pos_ > start;
  }

  Operand* add(OperandKind kind, unsigned reg, unsigned count, Role role) {
    if (inst_.operand_count == Inst::kMaxOperands) return nullptr;
    Operand& o = inst_.operand_array[inst_.operand_count++];
    o.kind = kind;
    o.reg = static_cast<std::uint8_t>(reg);
    o.width = static_cast<std::uint8_t>(count);
    o.role = role;
    return &o;
  }

  // (R2, UR4:2), or ()
  std::optional<Diag> list(Role role) {
    if (!eat('(')) return fail("expected '('");
    if (eat(')')) return std::nullopt;
    do {
      if (auto bad = registers(role)) return bad;
    } while (eat(','));
    if (!eat(')')) return fail("expected ',' or ')'");
    return std::nullopt;
  }

  std::optional<Diag> registers(Role role) {
    skip();
    const std::size_t start = pos_;
    const File* file = nullptr;
    std::string all;
    for (const File& f : kFiles) {
      if (!has_file(arch_, f)) continue;
      all += (all.empty() ? "" : ", ") + std::string(f.all);
      if (file == nullptr && take(f.prefix)) file = &f;
    }
    unsigned first = 0;
    unsigned count = 1;
    const bool numbered = file != nullptr && file->kind != OperandKind::kCc;
    if (file == nullptr || (numbered && !decimal(first))) {
      pos_ = start;
      return fail("expected a register, " + all);
    }
    if (numbered && pos_ < text_.size() && text_[pos_] == ':') {
      const std::size_t at = ++pos_;
      if (!decimal(count) || count == 0) {
        pos_ = at;
        return fail("expected how many registers, 1 or more");
      }
    }
    if (first + count > file->count) {
      pos_ = start;
      return fail("there are only " + std::string(file->all));
    }
    writes_ |= role != Role::kUse;
    if (add(file->kind, first, count, role) != nullptr) return std::nullopt;
    pos_ = start;
    return fail("expected at most " + std::to_string(Inst::kMaxOperands - kFirstRegister) + " groups of registers");
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  Arch arch_;
  Span at_;
  bool writes_ = false;  // some register
  Inst inst_;
};

}  // namespace

Result<ParsedInst> parse_raw_word(Arch arch, std::string_view text, const Span& at) {
  return Parser(arch, text, at).run();
}

Result<Word> encode_raw_word(Arch arch, const Inst& inst) {
  if (inst.operand_count < kFirstRegister || (inst.row->archs & mask_of(arch)) == 0) {
    return error(".word: is of another architecture");
  }
  const Control& c = inst.control;
  const auto exists = [](unsigned sb) { return sb < 6 || sb == kNoScoreboard; };
  if (c.stall > 15 || c.wait > 63 || c.reuse > 15 || !exists(c.write_sb) || !exists(c.read_sb)) {
    return error(".word: its control code does not fit");
  }
  return put_control(bits_of(inst), c);
}

std::string print_raw_word(const Inst& inst) {
  const Word word = bits_of(inst);
  std::string out = std::string(kRawWord) + " " + hex(word.lo);
  if (inst.row->encoding == Encoding::k128) out += ", " + hex(word.hi);
  // There the flags are not among the bits.
  if (inst.row->encoding == Encoding::k64 && inst.control.reuse != 0) {
    out += " reuse " + std::to_string(inst.control.reuse);
  }
  const std::string declared = declared_text(inst);
  return declared.empty() ? out : out + " " + declared;
}

std::string declared_text(const Inst& inst) {
  const std::int64_t latency = inst.operand_array[kLatency].imm;
  if (latency == kUndeclared) return {};
  std::string reads;
  std::string writes;
  for (const Operand& o : inst.operands().subspan(kFirstRegister)) {
    std::string& list = o.role == Role::kUse ? reads : writes;
    if (!list.empty()) list += ", ";
    for (const File& f : kFiles) {
      if (f.kind == o.kind) list += register_text(f, o);
    }
  }
  std::string out = "reads(" + reads + ") writes(" + writes + ")";
  if (inst.row->traits.ready == Ready::kScoreboard) return out + " scoreboard";
  return latency == 0 ? out : out + " latency " + std::to_string(latency);
}

unsigned declared_latency(const Inst& inst) {
  if (!is_raw_word(inst)) return 0;
  const std::int64_t latency = inst.operand_array[kLatency].imm;
  return latency == kUndeclared ? 0 : static_cast<unsigned>(latency);
}

std::optional<Inst> raw_word(Arch arch, const Word& word, std::string_view declared) {
  std::string text = std::string(kRawWord) + " " + hex(word.lo);
  if (wide(arch)) text += ", " + hex(word.hi);
  Result<ParsedInst> parsed = parse_raw_word(arch, text + " " + std::string(declared), {});
  if (!parsed.ok()) return std::nullopt;
  parsed->inst.control = get_control(word);
  return parsed->inst;
}

}  // namespace nervanagpu::sass
