// Look-ups over all rows, built once per architecture, and what the codec's files share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/isa/arch.h"
#include "sass/isa/rows/row.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// Rows that may match `word`.
std::span<const Row* const> rows_for(Arch arch, const Word& word);
// Rows whose mnemonic is `op`.
std::span<const Row* const> rows_for(Arch arch, Op op);
// Every mnemonic of the architecture.
std::span<const Op> ops_of(Arch arch);

// The mnemonic that `text` starts with: the longest one that ends at a '.', a blank or the end. Empty: none.
std::vector<Op> ops_at(Arch arch, std::string_view text);

inline constexpr std::size_t kNoOperand = ~std::size_t{0};

// Like encode(), for an instruction whose row is known to exist on the architecture. On failure `bad_operand` gets the
// index of the operand at fault, kNoOperand if it is none of them.
Result<Word> encode_row(const Inst& inst, std::uint64_t address, std::size_t* bad_operand = nullptr);

// How the text of the row looks: "FFMA{.FTZ}{.RM|.RP|.RZ}{.SAT} R, {-}R, {-}R, {-}R". Of a modifier with more than `most`
// names only some are shown.
std::string form_text(const Row& row, std::size_t most = std::string::npos);

// Sets modifier `axis`; false when the instruction has no room.
inline bool set_mod(Inst& inst, Axis axis, Tok tok) {
  if (inst.modifier_count == Inst::kMaxModifiers) return false;
  inst.modifier_array[inst.modifier_count++] = {axis, tok};
  return true;
}

// An operand of slot `s` that holds the slot's default, with the traits that do not depend on the word.
Operand blank_operand(const Slot& s);
// Fills in the widths of all operands, which may depend on the modifiers.
void set_widths(Inst& inst);

// A number as nvdisasm writes it.
std::string float_text(double value);
std::string imm_text(const Slot& s, std::int64_t value);

}  // namespace nervanagpu::sass
