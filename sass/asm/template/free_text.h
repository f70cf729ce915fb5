// Registers of free names in the text of expanded lines: "R1027" is the fourth one of a name that begins at 1024.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/program.h"
#include "sass/asm/template/names.h"

namespace nervanagpu::sass {

struct FreeToken {
  RegFile file = RegFile::kGpr;
  std::uint32_t number = 0;  // of a real register, or from kFirstFree on
  std::size_t pos = 0;
  std::size_t length = 0;
};

// Every register that the line names by number, in order; nothing inside `(label).
std::vector<FreeToken> register_tokens(std::string_view text);

// The line with each free token replaced by number(token); columns still point into the template.
TextLine renumbered(const TextLine& line, const std::function<std::uint32_t(const FreeToken&)>& number);

}  // namespace nervanagpu::sass
