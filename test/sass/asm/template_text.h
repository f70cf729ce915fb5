// Templates in strings, for tests.
#pragma once

#include <string>

#include "sass/asm/pipeline.h"
#include "sass/asm/template/expand.h"

namespace nervanagpu::sass::testing {

// "k.sass" with a few files beside it.
inline Template template_of(std::string text) {
  Template t;
  t.name = "k.sass";
  t.text = std::move(text);
  t.include = [](const std::string& path) -> Result<std::string> {
    if (path == "good.sass") return std::string(".let from_good = 7\n");
    if (path == "code.sass") return std::string("// a comment\n  MOV R1, {from_main}\n");
    if (path == "macros.sass") return std::string(".macro zero(x)\n  MOV x, RZ\n.end\n");
    if (path == "bad.sass") return std::string("\n.if 1 / 0\n.end\n");
    if (path == "self.sass") return std::string(".include \"self.sass\"\n");
    return error("there is no file `" + path + "`");
  };
  return t;
}

// The expanded lines, one a line; "error: ..." for what does not expand.
inline std::string lines_of(const std::string& text, const Defines& defines = {}) {
  const Result<Expansion> e = expand(template_of(".kernel k\n" + text), Arch::sm_90a, defines);
  if (!e.ok()) return "error: " + e.error().text();
  std::string out;
  for (const TextLine& l : e->lines) out += l.text + "\n";
  return out;
}

}  // namespace nervanagpu::sass::testing
