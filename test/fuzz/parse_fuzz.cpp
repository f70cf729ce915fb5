// Lines of assembler text. What parses and encodes must decode, print and parse to the same bits: the text that we print
// says all that the word does.
#include "sass/asm/parse.h"
#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/raw_word.h"
#include "test/fuzz/words.h"

using namespace nervanagpu::sass;
using namespace nervanagpu::sass::fuzz;

namespace {

void one_line(Arch arch, std::string_view line) {
  const auto control = parse_control_column(line);
  if (control.ok()) {
    const auto again = parse_control_column(control_column(control->control));
    check(again.ok() && again->control == control->control, "a control column changes when printed", std::string(line));
  }
  const auto parsed = parse_inst(arch, line, Span{"fuzz", 1, 1});
  if (!parsed.ok()) {
    check(!parsed.error().message.empty(), "an error without a message", std::string(line));
    return;
  }
  const auto word = encode(arch, parsed->inst, 0);
  if (!word.ok()) return;
  const auto inst = decode(arch, *word, 0);
  if (is_raw_word(parsed->inst)) {
    check(!inst.ok(), "a .word with a name", std::string(line));
    const std::string declared = declared_text(parsed->inst);
    const auto raw = raw_word(arch, *word, declared);
    check(raw.has_value() && print(*raw) == print(parsed->inst), "a .word changes", std::string(line));
    const auto again = parse_inst(arch, print(*raw), Span{"fuzz", 1, 1});
    check(again.ok() && encode(arch, again->inst, 0).value() == *word, "other bits come back", print(*raw));
    check(declared_text(again->inst) == declared, "other declarations come back", declared);
    return;
  }
  check(inst.ok(), "what was encoded does not decode", std::string(line));
  const std::string text = print(*inst);
  const auto again = parse_inst(arch, text, Span{"fuzz", 1, 1});
  check(again.ok(), "what was printed does not parse", std::string(line) + " -> " + text);
  ParsedInst same = *again;
  same.inst.control = inst->control;
  const auto back = encode(arch, same.inst, 0);
  check(back.ok() && *back == *word, "other bits come back", std::string(line) + " -> " + text);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed + 1);
  if (size == 0 || below(random, 2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  return mutate_word(data, size, max_size, random, any_word(arch_of(data[0]), random));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Arch arch = arch_of(data[0]);
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    // A copy of its own, so that the sanitizer sees one byte too far.
    const std::string line(text.substr(0, end));
    one_line(arch, line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return 0;
}
