// ngasm coverage: how many of an architecture's opcodes the instruction table knows.
#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "sass/isa/rows/table.h"
#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {
namespace {

struct Opcodes {
  Arch arch;
  std::string_view mnemonic;
  std::string_view values;  // hex, separated by blanks
};

constexpr Opcodes kOpcodes[] = {
#define OPCODES(arch, mnemonic, values) {Arch::arch, mnemonic, values},
#include "sass/tools/opcodes.inc"
#undef OPCODES
};

// Whether some row has this opcode.
bool known(Arch arch, unsigned value) {
  const Word word = set_bits({value & 0xfffULL, 0}, 91, 1, value >> 12);
  const Word opcode = Word{0xfff, 0} | bit_range(91, 1);
  const auto rows = rows_for(arch, word);
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row* r) { return !((word ^ r->fixed) & r->fixed_mask & opcode).any(); });
}

}  // namespace

int cmd_coverage(const Arguments& args) {
  const Result<Options> options = parse_options(args, {"--arch"}, {"--missing"});
  if (!options.ok()) return usage_error("coverage", options.error().message);
  if (options->has("--help") || options->has("-h")) {
    std::cout << help_of("coverage");
    return 0;
  }
  if (!options->files.empty()) return usage_error("coverage", "takes no file");
  std::vector<Arch> archs;
  for (const Opcodes& o : kOpcodes) {
    if (std::find(archs.begin(), archs.end(), o.arch) == archs.end()) archs.push_back(o.arch);
  }
  if (const std::optional<std::string> name = options->one("--arch")) {
    const std::optional<Arch> arch = arch_from_name(*name);
    if (!arch || std::find(archs.begin(), archs.end(), *arch) == archs.end()) {
      std::string known_names;
      for (const Arch a : archs) known_names += " " + std::string(info(a).name);
      return usage_error("coverage",
                         "there is no list of the opcodes of '" + *name + "'; there is one of" + known_names);
    }
    archs = {*arch};
  }
  for (const Arch arch : archs) {
    std::size_t mnemonics = 0;
    std::size_t known_mnemonics = 0;
    std::size_t values = 0;
    std::size_t known_values = 0;
    std::string missing;
    for (const Opcodes& o : kOpcodes) {
      if (o.arch != arch) continue;
      ++mnemonics;
      std::string without;
      std::size_t here = 0;
      std::istringstream in{std::string(o.values)};
      for (std::string hex; in >> hex; ++values) {
        if (known(arch, static_cast<unsigned>(std::stoul(hex, nullptr, 16)))) {
          ++here;
        } else {
          without += " " + hex;
        }
      }
      known_values += here;
      if (here != 0) ++known_mnemonics;
      if (!without.empty()) missing += "  " + std::string(o.mnemonic) + without + "\n";
    }
    std::printf("%s: %zu of %zu mnemonics, %zu of %zu opcode values have rows\n", std::string(info(arch).name).c_str(),
                known_mnemonics, mnemonics, known_values, values);
    if (options->has("--missing")) std::fputs(missing.c_str(), stdout);
  }
  return 0;
}

}  // namespace nervanagpu::sass::tools
