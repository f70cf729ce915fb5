// Words as a kernel's code: 16 bytes each, after the byte of the architecture. What decodes must print, parse and encode to
// the same bits; verify and the emulator's loader take any code.
#include <cstring>
#include <vector>

#include "sass/emulate/emulate.h"
#include "sass/isa/codec/codec.h"
#include "sass/isa/rows/table.h"
#include "sass/verify/verify.h"
#include "test/fuzz/fuzz.h"

using namespace nervanagpu::sass;
using namespace nervanagpu::sass::fuzz;

namespace {

constexpr std::size_t kMost = 96;  // instructions of an input

Word word_at(const std::uint8_t* data, std::size_t i) {
  Word w;
  std::memcpy(&w.lo, data + 1 + 16 * i, 8);
  std::memcpy(&w.hi, data + 9 + 16 * i, 8);
  return w;
}

// Control bits alone stand above the 64 bits of the older encoding: what read_cubin makes.
Word legal(Arch arch, const Word& w) {
  if (info(arch).encoding == Encoding::k128) return w;
  return {w.lo, w.hi & bit_range(105, 21).hi};
}

void round_trip(Arch arch, const Word& word, std::uint64_t address) {
  const auto inst = decode(arch, word, address);
  if (!inst.ok()) {
    check(!inst.error().message.empty(), "an error without a message");
    return;
  }
  const std::string text = print(*inst);
  auto parsed = parse_inst(arch, text, Span{"fuzz", 1, 1});
  check(parsed.ok(), "what was printed does not parse", text + (parsed.ok() ? "" : ": " + parsed.error().text()));
  parsed->inst.control = inst->control;
  const auto back = encode(arch, parsed->inst, address);
  check(back.ok(), "what was printed does not encode", text + (back.ok() ? "" : ": " + back.error().text()));
  check(*back == word, "other bits come back", text);
}

// A word of one row of the table: its fixed bits, any others.
Word any_word_of(Arch arch, Random& random, Word w) {
  const auto ops = ops_of(arch);
  if (ops.empty()) return w;  // an architecture that we only know the name of
  const auto rows = rows_for(arch, ops[below(random, ops.size())]);
  if (rows.empty()) return w;
  const Row& row = *rows[below(random, rows.size())];
  w = (w & ~row.fixed_mask) | row.fixed;
  for (const Mod& m : row.mods()) {
    const Word bits = m.field.set(Word{}, m.table[below(random, m.table.size())].raw);
    w = (w & ~m.field.mask()) | bits;
  }
  return w;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed + 1);
  if (size < 17 || below(random, 2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const Arch arch = arch_of(data[0]);
  const std::size_t at = below(random, (size - 1) / 16);
  Word w = word_at(data, at);
  if (below(random, 2) == 0) w = {w.lo ^ (std::uint64_t{random()} << 32) ^ random(), w.hi ^ random()};
  w = any_word_of(arch, random, w);
  std::memcpy(data + 1 + 16 * at, &w.lo, 8);
  std::memcpy(data + 9 + 16 * at, &w.hi, 8);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 17) return 0;
  const Arch arch = arch_of(data[0]);
  CubinImage image;
  image.arch = arch;
  KernelImage& kernel = image.kernels.emplace_back();
  kernel.name = "k";
  kernel.registers = 32;
  for (std::size_t i = 0; i < std::min(kMost, (size - 1) / 16); ++i) {
    kernel.code.push_back(legal(arch, word_at(data, i)));
    round_trip(arch, kernel.code.back(), address_of(info(arch).encoding, i));
  }
  for (const Hazard& h : verify(arch, kernel)) check(!h.text.empty(), "a hazard without a sentence");
  const auto loaded = emulate::load(arch, kernel);
  check(loaded.ok() || !loaded.error().message.empty(), "an error without a message");
  return 0;
}
