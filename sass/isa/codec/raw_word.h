// `.word`: an instruction that the table does not have, as its bits, with what it does declared by the author:
//   .word 0x000000ff02027824, 0x00000000078e02ff reads(R2, UR4:2) writes(R8:2, P0) latency 6
// R8:2 is R8 and R9. `latency N`: the results are there N cycles after issue, and the sources are read as any instruction
// of fixed latency reads its own. `scoreboard` instead: results come at a time of their own, and sources are read late.
// Of the control code only the reuse flags are taken from the bits (sm_50 .. sm_62, where they stand elsewhere: `reuse 5`, a
// mask of slots); the rest is the column's, or schedule's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sass/isa/codec/codec.h"

namespace nervanagpu::sass {

inline constexpr std::string_view kRawWord = ".word";
inline constexpr std::uint32_t kMaxDeclaredLatency = 100;

inline bool is_raw_word(std::string_view text) {
  return text.starts_with(kRawWord) && (text.size() == 5 || text[5] == ' ' || text[5] == '\t');
}
inline bool is_raw_word(const Inst& inst) {
  return inst.op == Op::WORD;
}

// Columns count from at.col. Bits that a row reads are refused: that instruction has a name.
Result<ParsedInst> parse_raw_word(Arch arch, std::string_view text, const Span& at);
Result<Word> encode_raw_word(Arch arch, const Inst& inst);
std::string print_raw_word(const Inst& inst);

// "reads(R2, UR4:2) writes(R8:2, P0) latency 6"; empty: nothing was declared, and nothing can be proven about it.
std::string declared_text(const Inst& inst);
// The cycles of `latency N`; 0: it declares none, or is another instruction.
unsigned declared_latency(const Inst& inst);

// The instruction of `word` with such declarations ("": none), control code included; nullopt where they are wrong, and
// where a row reads the bits.
std::optional<Inst> raw_word(Arch arch, const Word& word, std::string_view declared);

}  // namespace nervanagpu::sass
