// The contents page of the assembler: each stage is one function, in one file pair of its own, and any stage's product
// can be printed (`ngasm as --dump STAGE`).
//   expand -> parse (with check) -> schedule -> encode -> link
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/program.h"
#include "sass/cubin.h"

namespace nervanagpu::sass {

// A template: its text, and how its includes are read (a function, so that tests and the JIT need no files).
struct Template {
  std::string name;  // file name for diagnostics
  std::string text;
  std::function<Result<std::string>(const std::string& path)> include;
};

// NAME -> value, from -D or from one line of .variants. A value is an integer or a word.
using Defines = std::map<std::string, std::string>;

// The sets of definitions that the template's .variants lines name (their cross products, in order); `fixed` are
// definitions from outside, which restrict them. A template without .variants has one: `fixed` itself.
Result<std::vector<Defines>> variants(const Template& source, const Defines& fixed);

// The architectures its .arch line names; empty: any.
Result<std::vector<Arch>> archs(const Template& source);

Result<Expansion> expand(const Template& source, Arch arch, const Defines& defines);  // expand.h
Result<Program> parse(const Expansion& expansion);                                    // parse.h
Status schedule(Program& program);                                                    // schedule.h
Result<KernelImage> encode_kernel(const Program& program);                            // encode.h

enum class Proof : std::uint8_t { kNeeded, kSkipped };  // kSkipped: for experiments on a chip only

// One variant through all stages, proven by verify.
Result<KernelImage> assemble_variant(const Template& source, Arch arch, const Defines& defines,
                                     Proof proof = Proof::kNeeded);

// All of it: every variant of `source` that fits `fixed`, for one architecture, each proven by verify; a hazard is an
// error at its line.
Result<CubinImage> assemble(const Template& source, Arch arch, const Defines& fixed, Proof proof = Proof::kNeeded);

// A Template whose text is the file and whose includes are looked up beside it, then in `include_dirs`: include.h.
Result<Template> read_template(const std::string& path, const std::vector<std::string>& include_dirs);

}  // namespace nervanagpu::sass
