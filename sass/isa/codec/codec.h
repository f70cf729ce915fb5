// Between Inst and its two outer forms, by the row table: text (nvdisasm 12.4's spelling) and Word.
// All four are total: any input yields a value or a Diag, and print(parse(t)) and decode(encode(i)) are identities.
#pragma once

#include <string>
#include <string_view>

#include "sass/isa/arch.h"
#include "sass/isa/inst.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// `address` is the byte address of the instruction in its kernel: branch offsets are relative, Inst holds absolutes.
Result<Inst> decode(Arch arch, const Word& word, std::uint64_t address);
Result<Word> encode(Arch arch, const Inst& inst, std::uint64_t address);

// One instruction, guard included, with or without ";". `at` is where `text` begins; errors name the exact column.
// Labels are written `(NAME) or 0xADDRESS; a label operand that is a name is left to the caller through `label`.
struct ParsedInst {
  Inst inst;
  std::string label;  // name of the branch target; empty: none, or a plain address
};
Result<ParsedInst> parse_inst(Arch arch, std::string_view text, const Span& at);

// nvdisasm's text, without ";" and without control codes. Branch targets print as 0xADDRESS.
std::string print(const Inst& inst);

// Bits 0 and 1, 2 and 3 and so on of eight, swapped.
constexpr std::int64_t exchanged_pairs(std::uint64_t v) {
  return static_cast<std::int64_t>((v & 0x55) << 1 | (v >> 1 & 0x55));
}

}  // namespace nervanagpu::sass
