// ngasm roundtrip: decode, print, parse and encode every instruction of a cubin; the bits must come back.
#include <cstdio>
#include <iostream>

#include "sass/isa/codec.h"
#include "sass/tools/commands.h"

namespace nervanagpu::sass::tools {
namespace {

enum class Outcome { kExact, kUnknown, kBroken };

Outcome check(Arch arch, const Word& word, std::uint64_t address, std::string& why) {
  const Result<Inst> inst = decode(arch, word, address);
  if (!inst.ok()) {
    why = inst.error().message;
    return Outcome::kUnknown;
  }
  const std::string text = print(*inst);
  Result<ParsedInst> parsed = parse_inst(arch, text, Span{{}, 1, 1});
  if (!parsed.ok()) {
    why = text + ": " + parsed.error().message;
    return Outcome::kBroken;
  }
  // The text has no control code; everything else must come from it.
  parsed->inst.control = inst->control;
  const Result<Word> back = encode(arch, parsed->inst, address);
  if (!back.ok() || *back != word) {
    why = text + ": " + (back.ok() ? "other bits come back" : back.error().message);
    return Outcome::kBroken;
  }
  return Outcome::kExact;
}

}  // namespace

int cmd_roundtrip(const Arguments& args) {
  const Result<Options> options = parse_options(args, {}, {"--verbose", "-v"});
  if (!options.ok()) return usage_error("roundtrip", options.error().message);
  if (options->has("--help") || options->has("-h")) {
    std::cout << help_of("roundtrip");
    return 0;
  }
  if (options->files.size() != 1) return usage_error("roundtrip", "needs one cubin");
  const Result<CubinImage> image = load_cubin(options->files.front());
  if (!image.ok()) return input_error(image.error());
  const bool verbose = options->has("--verbose") || options->has("-v");
  const Encoding encoding = info(image->arch).encoding;
  std::size_t count[3] = {0, 0, 0};
  for (const KernelImage& kernel : image->kernels) {
    for (std::size_t i = 0; i < kernel.code.size(); ++i) {
      const std::uint64_t address = address_of(encoding, i);
      std::string why;
      const Outcome outcome = check(image->arch, kernel.code[i], address, why);
      ++count[static_cast<int>(outcome)];
      if (outcome == Outcome::kBroken || (verbose && outcome == Outcome::kUnknown)) {
        std::fprintf(stderr, "%s+0x%llx: %s\n", kernel.name.c_str(), static_cast<unsigned long long>(address),
                     why.c_str());
      }
    }
  }
  std::printf("%zu instructions, %zu exact, %zu unknown, %zu broken\n", count[0] + count[1] + count[2], count[0],
              count[1], count[2]);
  return count[2] == 0 ? 0 : 1;
}

}  // namespace nervanagpu::sass::tools
