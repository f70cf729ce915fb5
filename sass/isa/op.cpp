#include "sass/isa/op.h"

#include <array>

namespace nervanagpu::sass {

std::string_view op_text(Op op) {
  static constexpr std::string_view kText[] = {
#define OP(name, text) text,
#include "sass/isa/op.inc"
#undef OP
  };
  return kText[static_cast<std::size_t>(op)];
}

std::string_view tok_text(Tok t) {
  static constexpr std::string_view kText[] = {
      "",
#define TOK(name, text) text,
#include "sass/isa/token.inc"
#undef TOK
  };
  return kText[static_cast<std::size_t>(t)];
}

std::string_view axis_text(Axis a) {
  static constexpr std::string_view kText[] = {
#define AXIS(name, what) what,
#include "sass/isa/axis.inc"
#undef AXIS
  };
  return kText[static_cast<std::size_t>(a)];
}

}  // namespace nervanagpu::sass
