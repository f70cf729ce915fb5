// What happens inside one line of template text: {expressions} become numbers or words, names become registers,
// param[x] becomes a constant bank operand, and `name$` becomes unique.
#pragma once

#include <string_view>
#include <vector>

#include "sass/asm/mapped_text.h"
#include "sass/asm/program.h"
#include "sass/asm/template/names.h"
#include "sass/result.h"

namespace nervanagpu::sass {

inline constexpr std::size_t kMaxExpandedLine = 65536;  // bytes of one line after substitution

struct Surroundings {
  const Scope& scope;
  Registers& registers;
  const std::vector<Param>& params;
  Arch arch;
  std::uint64_t call = 0;  // number of the macro call that `$` stands for; 0: outside of macros
};

// Diags of all three carry the source column and no file or line.

// {EXPR}, {EXPR:x}, {{, }} and name$; nothing else changes.
Result<MappedText> interpolate(std::string_view text, std::uint32_t col, const Surroundings& in);
// Names of `text`, which interpolate made: an instruction with its control column and guard, or only operands.
Result<MappedText> resolve(const MappedText& text, bool operands_only, const Surroundings& in);
// Both, for a whole instruction.
Result<MappedText> substitute(std::string_view text, std::uint32_t col, const Surroundings& in);

// True where `text` begins with a control column (WW:R:W:Y:S), whose end `length` gets.
bool has_control_column(std::string_view text, std::size_t& length);

}  // namespace nervanagpu::sass
