// ngasm roundtrip: decode, print, parse and encode every instruction of a cubin; the bits must come back. Or of a list of
// words with the text that another disassembler gives them; then the texts must agree, too.
#include <cstdio>
#include <iostream>
#include <sstream>

#include "sass/file.h"
#include "sass/isa/codec/codec.h"
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

// The word of a line "HEX <tab> TEXT".
std::optional<Word> word_of(Encoding encoding, const std::string& line) {
  const std::size_t digits = encoding == Encoding::k128 ? 32 : 16;
  if (line.size() <= digits || line[digits] != '\t') return std::nullopt;
  if (line.find_first_not_of("0123456789abcdef") != digits) return std::nullopt;
  if (encoding == Encoding::k64) return put_control({std::stoull(line.substr(0, 16), nullptr, 16), 0}, {});
  return Word{std::stoull(line.substr(16, 16), nullptr, 16), std::stoull(line.substr(0, 16), nullptr, 16)};
}

// Words of which nvdisasm writes less than we do: it hides the payload of a NaN.
std::string without_payloads(const std::string& ours, const std::string& theirs) {
  std::string out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (j < theirs.size() && i <= ours.size()) {
    const std::string_view rest = std::string_view(theirs).substr(j);
    if (const std::string_view nan = rest.substr(0, 5);
        (nan == "+QNAN" || nan == "-QNAN" || nan == "+SNAN" || nan == "-SNAN") &&
        std::string_view(ours).substr(i, 2) == "0x") {
      out += nan;
      i = ours.find_first_not_of("0123456789abcdef", i + 2);
      j += nan.size();
      if (i == std::string::npos) return out + std::string(rest.substr(nan.size()));
      continue;
    }
    if (i == ours.size() || ours[i] != theirs[j]) return ours;
    out += ours[i++];
    ++j;
  }
  return out + ours.substr(std::min(i, ours.size()));
}

int check_words(Arch arch, const std::string& path, bool verbose) {
  Result<std::string> text = read_file(path, kMaxCubinBytes);
  if (!text.ok()) return input_error(text.error());
  std::istringstream in(std::move(*text));
  std::string line;
  std::size_t count[3] = {0, 0, 0};
  std::size_t other = 0;
  for (std::uint32_t n = 1; std::getline(in, line); ++n) {
    const std::optional<Word> word = word_of(info(arch).encoding, line);
    if (!word) return input_error(error_at(Span{path, n, 1}, "expected the hex digits of a word, a tab and a text"));
    const std::string text = line.substr(line.find('\t') + 1);
    std::string why;
    const Outcome outcome = check(arch, *word, 0, why);
    ++count[static_cast<int>(outcome)];
    if (outcome == Outcome::kBroken || (verbose && outcome == Outcome::kUnknown)) {
      std::fprintf(stderr, "%s\t%s\t%s\n", outcome == Outcome::kBroken ? "broken" : "unknown", line.c_str(),
                   why.c_str());
    }
    if (outcome != Outcome::kExact) continue;
    std::string ours = print(*decode(arch, *word, 0));
    ours.erase(std::min(ours.find(" {desc="), ours.size()));  // hidden by nvdisasm
    if (ours == text || without_payloads(ours, text) == text) continue;
    ++other;
    std::fprintf(stderr, "text\t%s\t%s\n", line.c_str(), ours.c_str());
  }
  std::printf("%zu distinct, %zu exact, %zu unknown, %zu broken, %zu with another text\n",
              count[0] + count[1] + count[2], count[0] - other, count[1], count[2], other);
  return count[2] + other == 0 ? 0 : 1;
}

}  // namespace

int cmd_roundtrip(const Arguments& args) {
  const Result<Options> options = parse_options(args, {"--words", "--arch"}, {"--verbose", "-v"});
  if (!options.ok()) return usage_error("roundtrip", options.error().message);
  if (options->has("--help") || options->has("-h")) {
    std::cout << help_of("roundtrip");
    return 0;
  }
  const bool verbose = options->has("--verbose") || options->has("-v");
  if (const std::optional<std::string> words = options->one("--words")) {
    const std::optional<Arch> arch = arch_from_name(options->one("--arch").value_or(""));
    if (!arch || !options->files.empty()) return usage_error("roundtrip", "--words FILE needs --arch and no cubin");
    return check_words(*arch, *words, verbose);
  }
  if (options->files.size() != 1) return usage_error("roundtrip", "needs one cubin");
  const Result<CubinImage> image = load_cubin(options->files.front());
  if (!image.ok()) return input_error(image.error());
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
