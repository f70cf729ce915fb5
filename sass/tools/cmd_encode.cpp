// ngasm encode: one instruction a line in, its bits out. Every line stands alone, at address 0; a bad line is answered
// in its place and is no failure of the command.
#include <cstdio>
#include <iostream>

#include "sass/isa/codec/codec.h"
#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {
namespace {

Result<Word> encode_line(Arch arch, const std::string& line) {
  Result<ParsedInst> parsed = parse_inst(arch, line, Span{{}, 1, 1});
  if (!parsed.ok()) return parsed.error();
  if (!parsed->label.empty()) {
    return error("the label '" + parsed->label + "' has no address here; write the address as 0x...");
  }
  return encode(arch, parsed->inst, 0);
}

// One line: where, what, and the first hint.
std::string one_line(const Diag& d) {
  std::string out = "error: ";
  if (d.at.col != 0) out += "column " + std::to_string(d.at.col) + ": ";
  out += d.message;
  if (!d.notes.empty()) out += " (" + d.notes.front() + ")";
  return out;
}

}  // namespace

int cmd_encode(const Arguments& args) {
  const Result<Options> options = parse_options(args, {"--arch"}, {});
  if (!options.ok()) return usage_error("encode", options.error().message);
  if (options->has("--help") || options->has("-h")) {
    std::cout << help_of("encode");
    return 0;
  }
  if (!options->files.empty())
    return usage_error("encode", "reads standard input; got '" + options->files.front() + "'");
  const std::string name = options->one("--arch").value_or("sm_90a");
  const std::optional<Arch> arch = arch_from_name(name);
  if (!arch) return usage_error("encode", "unknown architecture '" + name + "'");
  const bool two_words = info(*arch).encoding == Encoding::k128;
  std::string line;
  while (std::getline(std::cin, line)) {
    const Result<Word> word = encode_line(*arch, line);
    if (!word.ok()) {
      std::puts(one_line(word.error()).c_str());
    } else if (two_words) {
      std::printf("0x%016llx 0x%016llx\n", static_cast<unsigned long long>(word->lo),
                  static_cast<unsigned long long>(word->hi));
    } else {
      std::printf("0x%016llx\n", static_cast<unsigned long long>(word->lo));
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace nervanagpu::sass::tools
