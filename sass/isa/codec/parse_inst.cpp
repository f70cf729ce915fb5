// Text -> Inst: every row of the mnemonic is tried; if none fits, the one that got furthest tells where and why.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/literal.h"
#include "sass/isa/codec/raw_word.h"
#include "sass/isa/codec/suggest.h"
#include "sass/isa/rows/row.h"
#include "sass/isa/rows/table.h"

namespace nervanagpu::sass {
namespace {

constexpr std::size_t kMostNames = 16;  // of a modifier, in an error

bool blank(char c) {
  return c == ' ' || c == '\t';
}
bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// A row's attempt at the text. `pos` is the cursor; a failure keeps its place and message.
class Attempt {
 public:
  Attempt(const Row& row, std::string_view text) : row_(row), text_(text) {
    inst.row = &row;
    inst.op = row.op;
  }

  Inst inst;
  std::string label;
  std::size_t pos = 0;
  std::size_t failed_at = 0;
  std::string message;
  bool complete = false;  // the text was read to its end; only the values do not fit

  bool run(std::size_t mnemonic, std::size_t after_mnemonic) {
    start_ = mnemonic;
    pos = after_mnemonic;
    if (!modifiers()) return false;
    inst.operand_count = row_.slot_count;
    bool first = true;
    for (std::size_t i = 0; i < row_.slot_count; ++i) {
      const Slot& s = row_.slot_array[i];
      Operand& o = inst.operand_array[i];
      o = blank_operand(s);
      const std::size_t start = pos;
      const std::size_t old_failed = failed_at;
      const std::string old_message = message;
      const std::string old_label = label;
      const bool here = separator(first || s.glued);
      starts_[i] = pos;
      if (here && operand(s, o)) {
        first = false;
        continue;
      }
      if (s.show == Show::kAlways) return false;
      if (pos <= start || failed_at <= start) {
        failed_at = old_failed;
        message = old_message;
      }
      pos = start;
      label = old_label;
      o = blank_operand(s);
    }
    skip();
    if (pos < text_.size() && text_[pos] == ';') ++pos;
    skip();
    if (pos != text_.size()) return fail("unexpected '" + word_here() + "' after the last operand");
    if (row_.alias != Alias::kNone && written_alias_ != Tok::kNone && written_alias_ != alias_token(inst)) {
      complete = true;
      message.clear();
      pos = after_mnemonic;
      return fail("." + std::string(tok_text(written_alias_)) + " does not fit these operands");
    }
    set_widths(inst);
    std::size_t bad = kNoOperand;
    const Result<Word> word = encode_row(inst, 0, &bad);
    // A label's distance is known only where the instruction stands.
    if (word.ok() || (bad != kNoOperand && row_.slot_array[bad].type == SlotType::kLabel)) return true;
    complete = true;
    message.clear();
    pos = bad == kNoOperand ? start_ : starts_[bad];
    return fail(word.error().message);
  }

 private:
  const Row& row_;
  std::string_view text_;
  std::size_t start_ = 0;  // of the mnemonic
  std::array<std::size_t, Row::kMaxSlots> starts_{};
  Tok written_alias_ = Tok::kNone;

  bool fail(std::string why) {
    if (message.empty() || pos >= failed_at) {
      failed_at = pos;
      message = std::move(why);
    }
    return false;
  }

  void skip() {
    while (pos < text_.size() && blank(text_[pos])) ++pos;
  }
  bool eat(std::string_view s) {
    if (text_.substr(pos, s.size()) != s) return false;
    pos += s.size();
    return true;
  }
  bool peek(char c) const { return pos < text_.size() && text_[pos] == c; }
  bool at_end() const { return pos >= text_.size() || text_[pos] == ';'; }

  std::string word_here() const {
    if (at_end()) return "end of line";
    std::size_t end = pos;
    const bool number = text_[pos] >= '0' && text_[pos] <= '9';
    while (end < text_.size() &&
           (name_char(text_[end]) || (number && text_[end] == '.') || (end == pos && !blank(text_[end])))) {
      ++end;
    }
    return std::string(text_.substr(pos, end - pos));
  }

  // How a token stands: after a dot or glued to the one before, itself followed by a glued one or not.
  struct Joint {
    bool dot = true;
    bool more = false;
  };

  // ".TOK" at the cursor, ending at '.', a blank or another boundary.
  bool eat_token(Tok t, Joint joint = {true, false}) {
    const std::string_view name = tok_text(t);
    const std::size_t start = pos + (joint.dot ? 1 : 0);
    if ((joint.dot && !peek('.')) || text_.substr(start, name.size()) != name) return false;
    const std::size_t end = start + name.size();
    if (end < text_.size() && name_char(text_[end]) && !(joint.more && text_[end] == 'x')) return false;
    pos = end;
    return true;
  }

  // The longest entry of `table` at the cursor; Tok::kNone if that is an entry and nothing is written.
  bool eat_enum(std::span<const Enum> table, Tok& tok, Joint joint = {true, false}) {
    const Enum* best = nullptr;
    std::size_t best_end = pos;
    const std::size_t start = pos;
    for (const Enum& e : table) {
      if (e.tok == Tok::kNone) {
        if (best == nullptr) best = &e;
        continue;
      }
      pos = start;
      if (eat_token(e.tok, joint) && pos > best_end) {
        best = &e;
        best_end = pos;
      }
    }
    pos = best_end;
    if (best == nullptr) return false;
    tok = best->tok;
    return true;
  }

  bool modifiers(int on = -1) {
    if (on < 0 && row_.alias != Alias::kNone) {
      for (const Tok t : {Tok::MOV, Tok::SHL, Tok::IADD}) {
        if (written_alias_ == Tok::kNone && eat_token(t)) written_alias_ = t;
      }
    }
    for (std::size_t i = 0; i < row_.mod_count; ++i) {
      const Mod& m = row_.mod_array[i];
      if (m.on != on) continue;
      Tok tok = Tok::kNone;
      if (!eat_enum(m.table, tok, {!m.glued, i + 1 < row_.mod_count && row_.mod_array[i + 1].glued})) {
        std::string want;
        for (const Enum& e : m.table) want += (want.empty() ? "." : " or .") + std::string(tok_text(e.tok));
        return fail("needs " + want + " (" + std::string(axis_text(m.axis)) + "), got " +
                    (peek('.')  ? "'" + word_or_modifier() + "'"
                     : at_end() ? "nothing"
                                : "a blank"));
      }
      set_mod(inst, m.axis, tok);
    }
    if (peek('.')) return fail("unknown modifier '" + word_or_modifier() + "'");
    if (on >= 0) return true;
    if (!at_end() && !blank(text_[pos])) return fail("unexpected '" + word_here() + "'");
    return true;
  }

  std::string word_or_modifier() const {
    if (!peek('.')) return word_here();
    std::size_t end = pos + 1;
    while (end < text_.size() && name_char(text_[end])) ++end;
    return std::string(text_.substr(pos, end - pos));
  }

  bool separator(bool first) {
    skip();
    if (first) {
      if (at_end()) return fail("an operand is missing");
      return true;
    }
    if (!eat(",")) return fail(at_end() ? "an operand is missing" : "expected ',', got '" + word_here() + "'");
    skip();
    return true;
  }

  // "R12", "RZ": prefix then a number below `zero`, or the zero name.
  bool register_name(std::string_view prefix, unsigned zero, std::string_view zero_name, const char* what,
                     std::uint8_t& number) {
    const std::size_t start = pos;
    std::size_t end = pos;
    while (end < text_.size() && name_char(text_[end])) ++end;
    const std::string_view name = text_.substr(start, end - start);
    if (name == zero_name) {
      number = static_cast<std::uint8_t>(zero);
      pos = end;
      return true;
    }
    if (name.substr(0, prefix.size()) == prefix && name.size() > prefix.size()) {
      const std::string_view digits = name.substr(prefix.size());
      unsigned v = 0;
      const auto got = std::from_chars(digits.data(), digits.data() + digits.size(), v);
      if (got.ec == std::errc{} && got.ptr == digits.data() + digits.size() &&
          (digits.size() == 1 || digits[0] != '0')) {
        if (v >= zero) {
          return fail(std::string(name) + ": the highest is " + std::string(prefix) + std::to_string(zero - 1));
        }
        number = static_cast<std::uint8_t>(v);
        pos = end;
        return true;
      }
    }
    return fail(std::string("expected ") + what + ", got '" + word_here() + "'");
  }
  bool gpr_name(std::uint8_t& n) { return register_name("R", kRZ, "RZ", "a register", n); }
  bool ugpr_name(std::uint8_t& n) { return register_name("UR", kURZ, "URZ", "a uniform register", n); }

  // An integer with optional sign: decimal or 0x hex.
  bool integer(std::int64_t& v, const char* what) {
    const std::size_t used = parse_integer(text_.substr(pos), v);
    if (used == 0) return fail(std::string("expected ") + what + ", got '" + word_here() + "'");
    pos += used;
    return true;
  }

  bool number(const Slot& s, std::int64_t& v) {
    if (s.format == ImmFormat::kHex || s.format == ImmFormat::kSigned || s.format == ImmFormat::kDecimal ||
        s.format == ImmFormat::kMagnitude) {
      const std::size_t at = pos;
      if (!integer(v, "a number")) return false;
      const unsigned width = s.value.width();
      const std::int64_t span = std::int64_t{1} << (width + s.shift);
      // Both spellings of a full field: 0xffffffff and -0x1.
      if (width + s.shift == 32 && v >= -(span / 2) && v < span) {
        v = s.is_signed ? static_cast<std::int32_t>(static_cast<std::uint32_t>(v)) : v & 0xffffffff;
      }
      const std::int64_t low = s.is_signed ? -(span / 2) : 0;
      const std::int64_t high = s.is_signed ? span / 2 - 1 : span - 1;
      if (width + s.shift < 62 && (v < low || v > high)) {
        pos = at;
        return fail("number " + std::to_string(v) + " is outside " + std::to_string(low) + ".." + std::to_string(high));
      }
      return true;
    }
    if (s.format == ImmFormat::kQuad || s.format == ImmFormat::kQuadSwapped) return quad(v);
    const auto one = [&](int kind, std::uint64_t& raw) {
      const std::size_t used = parse_float(text_.substr(pos), kind, raw);
      if (used == 0) return fail("expected a floating-point number, got '" + word_here() + "'");
      pos += used;
      return true;
    };
    std::uint64_t raw = 0;
    if (s.format == ImmFormat::kF32 || s.format == ImmFormat::kF64) {
      const unsigned whole = s.format == ImmFormat::kF32 ? 32 : 64;
      const bool nan = text_.substr(pos, 5).find("QNAN") != std::string_view::npos;
      if (!one(static_cast<int>(whole), raw)) return false;
      if (nan)
        raw &= ~std::uint64_t{0} << (whole - s.value.width());  // a short immediate's NaN has as many ones as fit
      v = static_cast<std::int64_t>(raw);
      return true;
    }
    const int kind = s.format == ImmFormat::kF16x2 ? 16 : -16;
    std::uint64_t low = 0;
    if (!one(kind, raw) || !separator(false) || !one(kind, low)) return false;
    v = static_cast<std::int64_t>(raw << 16 | low);
    return true;
  }

  // Of four lanes; the first has the highest bits.
  bool quad(std::int64_t& v) {
    v = 0;
    for (int lane = 0; lane < 4; ++lane) {
      const auto at = std::ranges::find_if(kQuadLanes, [&](std::string_view word) { return eat(word); });
      if (at == kQuadLanes.end()) {
        return fail("expected PP, PN, NP or ZP for each of four lanes, got '" + word_here() + "'");
      }
      v = v << 2 | (at - kQuadLanes.begin());
    }
    return true;
  }

  bool constant(const Slot& s, Operand& o) {
    if (s.bindless()) {
      if (!eat("cx[")) return fail("expected cx[UR][...], got '" + word_here() + "'");
      if (!ugpr_name(o.ureg)) return false;
    } else {
      if (!eat("c[")) return fail("expected c[bank][offset], got '" + word_here() + "'");
      std::int64_t bank = 0;
      if (!integer(bank, "a constant bank")) return false;
      if (bank < 0 || bank > 31) return fail("constant banks are 0..31");
      o.bank = static_cast<std::uint8_t>(bank);
    }
    if (!eat("]")) return fail("expected ']'");
    skip();
    if (!eat("[")) return fail("expected '['");
    skip();
    bool more = true;
    if (!s.index.none() && peek('R')) {
      if (!gpr_name(o.reg)) return false;
      skip();
      more = eat("+");
      skip();
    }
    if (!s.ureg.none() && !s.bindless()) {
      if (!peek('U')) return fail("expected c[bank][UR...], got '" + word_here() + "'");
      if (!ugpr_name(o.ureg)) return false;
      skip();
      more = eat("+");
      skip();
    }
    if (more && !integer(o.imm, "an offset")) return false;
    skip();
    return eat("]") || fail("expected ']', got '" + word_here() + "'");
  }

  bool address(const Slot& s, Operand& o) {
    if (!s.desc.none()) {
      if (!eat("desc[")) return fail("expected desc[UR][...], got '" + word_here() + "'");
      if (!ugpr_name(o.desc)) return false;
      if (!eat("]")) return fail("expected ']'");
    }
    if (!eat("[")) return fail("expected an address in [...], got '" + word_here() + "'");
    bool any = false;
    const auto plus = [&] {
      skip();
      if (!any) return true;
      if (!eat("+")) return false;
      skip();
      return true;
    };
    if (plus() && !s.index.none() && peek('R')) {
      if (!gpr_name(o.reg)) return false;
      if (!s.sub_table.empty() && !eat_enum(s.sub_table, o.sub)) return fail("unexpected '" + word_or_modifier() + "'");
      if (s.base_suffix != Tok::kNone && !eat_token(s.base_suffix) && o.reg != kRZ) {
        return fail("expected ." + std::string(tok_text(s.base_suffix)) + " after the base register");
      }
      if (peek('.')) return fail("unexpected '" + word_or_modifier() + "'");
      any = true;
    }
    if (!s.ureg.none()) {
      if (!plus()) return fail("expected '+UR'");
      if (!ugpr_name(o.ureg)) return false;
      any = true;
    }
    skip();
    if (!peek(']')) {
      if (!plus()) return fail("expected '+' or ']', got '" + word_here() + "'");
      const bool absolute = !any;
      if (!integer(o.imm, "an offset")) return false;
      // An absolute address is written without sign.
      const unsigned width = s.value.width() + s.shift;
      if (absolute && s.is_signed && o.imm >> (width - 1) == 1) o.imm -= std::int64_t{1} << width;
      any = true;
    }
    skip();
    if (!any) return fail("an empty address; write [RZ]");
    return eat("]") || fail("expected ']', got '" + word_here() + "'");
  }

  bool label_operand(Operand& o) {
    if (eat("`(")) {
      const std::size_t end = text_.find(')', pos);
      if (end == std::string_view::npos) return fail("expected ')' after the label");
      label = std::string(text_.substr(pos, end - pos));
      pos = end + 1;
      return true;
    }
    if (pos < text_.size() && (name_char(text_[pos]) || text_[pos] == '.') &&
        !(text_[pos] >= '0' && text_[pos] <= '9')) {
      std::size_t end = pos;
      while (end < text_.size() && (name_char(text_[end]) || text_[end] == '.')) ++end;
      label = std::string(text_.substr(pos, end - pos));
      pos = end;
      return true;
    }
    return integer(o.imm, "a label or an address");
  }

  bool set(Operand& o) {
    if (!eat("{")) return fail("expected a set like {2,0}, got '" + word_here() + "'");
    do {
      skip();
      std::int64_t i = 0;
      if (!integer(i, "a scoreboard number")) return false;
      if (i < 0 || i > 5) return fail("scoreboards are 0..5");
      o.imm |= std::int64_t{1} << i;
      skip();
    } while (eat(","));
    return eat("}") || fail("expected '}'");
  }

  bool operand(const Slot& s, Operand& o) {
    switch (s.type) {
      case SlotType::kImm: return number(s, o.imm) && suffixes(s, o);
      case SlotType::kAddr: return address(s, o);
      case SlotType::kLabel: return label_operand(o);
      case SlotType::kSet: return set(o);
      case SlotType::kScoreboard: {
        if (!eat("SB")) return fail("expected a scoreboard SB0..SB5, got '" + word_here() + "'");
        return integer(o.imm, "a scoreboard number");
      }
      case SlotType::kSpecialReg: {
        std::size_t end = pos;
        while (end < text_.size() && (name_char(text_[end]) || text_[end] == '.')) ++end;
        const std::string_view name = text_.substr(pos, end - pos);
        const int n = special_register_number(row_.encoding, name);
        if (n < 0) return fail("unknown special register '" + std::string(name.empty() ? word_here() : name) + "'");
        o.imm = n;
        pos = end;
        return true;
      }
      case SlotType::kWord:
        if (word_here() != s.word) return fail("expected " + std::string(s.word) + ", got '" + word_here() + "'");
        pos += s.word.size();
        return true;
      case SlotType::kHiddenDesc:
        return (eat("{desc=") || fail("expected {desc=UR..}, got '" + word_here() + "'")) && ugpr_name(o.reg) &&
               (eat("}") || fail("expected '}'"));
      case SlotType::kToken: return token(s, o);
      case SlotType::kDescriptor:
        if (!eat(std::string(s.word) + "[")) {
          return fail("expected " + std::string(s.word) + "[UR], got '" + word_here() + "'");
        }
        if (!ugpr_name(o.reg)) return false;
        if (!eat("]")) return fail("expected ']', got '" + word_here() + "'");
        return modifiers(static_cast<int>(&s - row_.slot_array.data()));
      case SlotType::kGroup:
        if (word_here() != "gsb0") return fail("expected gsb0, got '" + word_here() + "'");
        pos += 4;
        o.imm = 0;
        return true;
      case SlotType::kCc: return condition(s, o);
      default: break;
    }
    return plain(s, o);
  }

  // What an immediate of the 64-bit family may carry: 0x3.NEG.ABS, 0x3.INV, 0x3.B1.
  bool suffixes(const Slot& s, Operand& o) {
    const std::size_t end = pos;
    skip();  // +INF .NEG is written with a blank
    if (!peek('.')) pos = end;
    if (s.neg_bit != kNoBit && eat_token(Tok::NEG)) o.neg = true;
    if (s.abs_bit != kNoBit && eat_token(Tok::ABS)) o.abs = true;
    if (s.inv_bit != kNoBit && eat_token(Tok::INV)) o.inv = true;
    if (!s.sub_table.empty() && !eat_enum(s.sub_table, o.sub)) {
      return fail("unexpected '" + word_or_modifier() + "' on this operand");
    }
    return !peek('.') || fail("unexpected '" + word_or_modifier() + "' on this operand");
  }

  // One of the words of the sub table.
  bool token(const Slot& s, Operand& o) {
    const std::string name = word_from_letters();
    std::string want;
    for (const Enum& e : s.sub_table) {
      const std::string_view text = tok_text(e.tok);
      const bool dotted = text.find('.') != std::string_view::npos && text_.substr(pos).starts_with(text);
      if (dotted || text == name) {
        o.sub = e.tok;
        pos += text.size();
        return true;
      }
      want += (want.empty() ? "" : " or ") + std::string(tok_text(e.tok));
    }
    return fail("expected " + want + ", got '" + word_here() + "'");
  }
  std::string word_from_letters() const {
    std::size_t end = pos;
    while (end < text_.size() && name_char(text_[end])) ++end;
    return std::string(text_.substr(pos, end - pos));
  }

  // CC, or where the instruction tests it CC.LT.
  bool condition(const Slot& s, Operand& o) {
    if (word_here() != "CC") return fail("expected CC, got '" + word_here() + "'");
    eat("CC");
    if (s.sub_table.empty()) return true;
    return (eat_enum(s.sub_table, o.sub) && o.sub != Tok::kNone) ||
           fail("needs a condition like CC.LT, got 'CC" + word_or_modifier() + "'");
  }

  // Registers, predicates and constants with sign, bars, part and reuse.
  bool plain(const Slot& s, Operand& o) {
    const std::size_t start = pos;
    if (eat("-")) o.neg = true;
    if (eat("!") || eat("~"))
      o.inv = !o.inv || s.show == Show::kAlways;
    else if (s.show != Show::kAlways)
      o.inv = false;
    if (o.neg && s.neg_bit == kNoBit) {
      pos = start;
      return fail("this operand takes no minus sign");
    }
    if (o.inv && s.inv_bit == kNoBit) {
      pos = start;
      return fail("this operand cannot be inverted");
    }
    const bool bar = eat("|");
    if (bar) o.abs = true;
    bool ok = false;
    switch (s.type) {
      case SlotType::kGpr: ok = gpr_name(o.reg); break;
      case SlotType::kUGpr: ok = ugpr_name(o.reg); break;
      case SlotType::kPred: ok = register_name("P", kPT, "PT", "a predicate", o.reg); break;
      case SlotType::kUPred: ok = register_name("UP", kPT, "UPT", "a uniform predicate", o.reg); break;
      case SlotType::kBarrierReg: ok = register_name("B", 16, "", "a barrier register B0..B15", o.reg); break;
      case SlotType::kConst: ok = constant(s, o); break;
      default: return fail("this operand cannot be written");
    }
    if (!ok) return false;
    const auto reuse_here = [&] {
      if (text_.substr(pos, 6) != ".reuse") return;
      pos += 6;
      o.reuse = true;
    };
    reuse_here();
    // The part of the register may stand inside the bars or after them.
    bool part = s.sub_table.empty();
    const auto part_here = [&] {
      part = true;
      return eat_enum(s.sub_table, o.sub) || fail("unexpected '" + word_or_modifier() + "' on this operand");
    };
    if (bar && !part && peek('.') && !part_here()) return false;
    if (bar && !eat("|")) return fail("expected the closing '|'");
    reuse_here();
    if (!part && !part_here()) return false;
    reuse_here();
    if (peek('.')) return fail("unexpected '" + word_or_modifier() + "' on this operand");
    const std::size_t end = pos;
    pos = start;
    if (o.abs && s.abs_bit == kNoBit) return fail("this operand takes no absolute value");
    if (o.reuse && s.reuse_slot == Operand::kNoSlot) return fail("this operand has no reuse slot");
    pos = end;
    return true;
  }
};

// What to say when no row reads the text: the failure of the row that came furthest. Rows that stop at the same place for
// want of different things are told together: "expected a register or a number, got ...".
struct Failure {
  std::size_t at = 0;
  int rank = -1;  // 2: read to its end, values do not fit; 1: a value is wrong; 0: something else was expected
  std::string message;
  std::vector<std::string> wanted;
  std::string got;

  void add(const Attempt& a) {
    const std::string_view m = a.message;
    const std::size_t comma = m.substr(0, 9) == "expected " ? m.find(", got ") : std::string_view::npos;
    const bool expected = comma != std::string_view::npos;
    const int r = a.complete ? 2 : expected ? 0 : 1;
    const bool better = rank < 0 || (r == 2) != (rank == 2) ? r > rank
                        : a.failed_at != at                 ? a.failed_at > at
                                                            : r > rank;
    const bool equal = rank == 0 && r == 0 && a.failed_at == at;
    if (better) {
      at = a.failed_at;
      rank = r;
      message = a.message;
      wanted.clear();
    }
    if (!expected || !(better || equal)) return;
    got = m.substr(comma);
    std::string want(m.substr(9, comma - 9));
    if (std::find(wanted.begin(), wanted.end(), want) == wanted.end()) wanted.push_back(std::move(want));
  }

  [[nodiscard]] std::string text() const {
    if (wanted.size() < 2) return message;
    std::string out = "expected ";
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      out += (i == 0 ? "" : i + 1 == wanted.size() ? " or " : ", ") + wanted[i];
    }
    return out + got;
  }
};

// What was written instead of a modifier or a special register, and what may stand there.
std::vector<std::string> near_names(Arch arch, std::span<const Op> ops, const std::string& message) {
  const std::size_t open = message.find('\'');
  const std::size_t close = message.rfind('\'');
  if (open == std::string::npos || close <= open + 1) return {};
  const std::string wrong = message.substr(open + 1, close - open - 1);
  if (message.find("unknown special register") == 0) {
    Suggestion near(wrong);
    for (unsigned n = 0; n < 256; ++n) near.offer(special_register_name(info(arch).encoding, n));
    return near.note();
  }
  if (wrong.size() < 2 || wrong[0] != '.') {
    // A number with a letter O, a register of the wrong case, ...
    if (message.find("a register") == std::string::npos || wrong.size() > 4 || wrong[0] != 'r') return {};
    const std::string upper = "R" + wrong.substr(1);
    return {"registers are written with a capital: did you mean " + upper + "?"};
  }
  const std::string_view token = std::string_view(wrong).substr(1);
  Suggestion near(token);
  bool known = false;
  // IMAD.WIDE and the like are mnemonics of their own.
  for (const Op op : ops_of(arch)) {
    const std::string_view name = op_text(op);
    const std::size_t dot = name.find('.');
    if (dot != std::string_view::npos && name.substr(0, dot) == op_text(ops.front())) near.offer(name.substr(dot + 1));
  }
  for (const Op op : ops) {
    for (const Row* row : rows_for(arch, op)) {
      for (const Mod& m : row->mods()) {
        for (const Enum& e : m.table) {
          near.offer(tok_text(e.tok));
          known |= tok_text(e.tok) == token;
        }
      }
    }
  }
  if (known) return {"modifiers stand in the order of the forms below, each once"};
  return near.note(".");
}

Diag unknown_mnemonic(Arch arch, std::string_view text, const Span& at) {
  const std::string_view name = text.substr(0, text.find_first_of(" \t;"));
  const std::string_view stem = name.substr(0, name.find('.'));
  std::vector<std::string> notes;
  if (name.empty()) return error_at(at, "expected an instruction");
  Suggestion near(stem);
  for (const Op op : ops_of(arch)) near.offer(op_text(op));
  notes = near.note();
  return error_at(at, "unknown instruction '" + std::string(stem) + "' on " + std::string(info(arch).name), notes);
}

}  // namespace

Result<ParsedInst> parse_inst(Arch arch, std::string_view text, const Span& at) {
  const auto span_at = [&](std::size_t pos) {
    Span s = at;
    s.col = (at.col == 0 ? 1 : at.col) + static_cast<std::uint32_t>(pos);
    return s;
  };
  while (!text.empty() && (blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  std::size_t pos = 0;
  while (pos < text.size() && blank(text[pos])) ++pos;
  if (is_raw_word(text.substr(pos))) return parse_raw_word(arch, text.substr(pos), span_at(pos));
  Guard guard;
  if (pos < text.size() && text[pos] == '@') {
    const std::size_t start = pos++;
    if (pos < text.size() && text[pos] == '!') {
      guard.inv = true;
      ++pos;
    }
    std::size_t end = pos;
    while (end < text.size() && name_char(text[end])) ++end;
    std::string_view name = text.substr(pos, end - pos);
    if (!name.empty() && name[0] == 'U') {
      guard.uniform = true;
      name.remove_prefix(1);
    }
    if (name.size() != 2 || name[0] != 'P' || !((name[1] >= '0' && name[1] <= '6') || name[1] == 'T')) {
      return error_at(span_at(start), "expected a guard like @P0, @!P6 or @UP1, got '" +
                                          std::string(text.substr(start, end - start)) + "'");
    }
    guard.pred = name[1] == 'T' ? kPT : static_cast<std::uint8_t>(name[1] - '0');
    pos = end;
    while (pos < text.size() && blank(text[pos])) ++pos;
  }
  if (is_raw_word(text.substr(pos))) {
    return error_at(span_at(pos), "a .word takes no guard: it has one among its bits, or none",
                    {"name the predicate in reads(...)"});
  }
  const std::vector<Op> ops = ops_at(arch, text.substr(pos));
  if (ops.empty()) return unknown_mnemonic(arch, text.substr(pos), span_at(pos));
  Failure failure;
  std::vector<std::string> notes;
  for (const Op op : ops) {
    for (const Row* row : rows_for(arch, op)) {
      Attempt attempt(*row, text);
      attempt.inst.guard = guard;
      if (guard.pred == kPT && !guard.inv) attempt.inst.guard.uniform = row->uniform_guard;
      if (attempt.run(pos, pos + op_text(op).size())) return ParsedInst{attempt.inst, attempt.label};
      failure.add(attempt);
      std::string form = form_text(*row, kMostNames);
      if (std::find(notes.begin(), notes.end(), form) == notes.end()) notes.push_back(std::move(form));
    }
  }
  std::vector<std::string> near = near_names(arch, ops, failure.text());
  notes.insert(notes.begin(), near.begin(), near.end());
  return error_at(span_at(failure.at), failure.text(), notes);
}

}  // namespace nervanagpu::sass
