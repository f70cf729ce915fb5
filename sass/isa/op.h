// The names an instruction is made of: operations, modifier axes and modifier tokens, each an X-macro list of its own.
#pragma once

#include <cstdint>
#include <string_view>

namespace nervanagpu::sass {

// One enumerator per mnemonic; a name that the text writes with a dot (IMAD.WIDE) has an underscore here.
enum class Op : std::uint16_t {
#define OP(name, text) name,
#include "sass/isa/op.inc"
#undef OP
};

// What a modifier chooses.
enum class Axis : std::uint8_t {
#define AXIS(name, what) name,
#include "sass/isa/axis.inc"
#undef AXIS
};

// Which it chooses. kNone is "nothing written" (the default of most axes).
enum class Tok : std::uint16_t {
  kNone,
#define TOK(name, text) name,
#include "sass/isa/token.inc"
#undef TOK
};

std::string_view op_text(Op op);     // "IMAD.WIDE"
std::string_view tok_text(Tok t);    // "LT"; "" for kNone
std::string_view axis_text(Axis a);  // what the axis chooses, for messages

}  // namespace nervanagpu::sass
