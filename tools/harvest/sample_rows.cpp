// Random instructions of every row, for comparison with nvdisasm: sample_rows ARCH PER_ROW TRIES SEED prints lines
// "row-number <tab> hex <tab> our text". After SEED may stand golden files: rows with two lines there are left out. Build
// with the sources of sass/isa.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "sass/isa/codec/codec.h"
#include "sass/isa/rows/table.h"

using namespace nervanagpu::sass;

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const Arch arch = *arch_from_name(argv[1]);
  const int per_row = std::atoi(argv[2]);
  const int tries = std::atoi(argv[3]);
  std::mt19937_64 random(static_cast<std::uint64_t>(std::atoll(argv[4])));
  const bool wide = info(arch).encoding == Encoding::k128;
  std::map<const Row*, int> have;
  for (int i = 5; i < argc; ++i) {
    std::ifstream in(argv[i]);
    for (std::string line; std::getline(in, line);) {
      const std::string digits = line.substr(0, line.find('\t'));
      if (digits.size() != (wide ? 32u : 16u)) continue;
      const auto at = [&](std::size_t from) { return std::stoull(digits.substr(from, 16), nullptr, 16); };
      const Word w = wide ? Word{at(16), at(0)} : Word{at(0), 0};
      const Result<Inst> inst = decode(arch, w, 0);
      if (inst.ok()) ++have[inst->row];
    }
  }
  int number = 0;
  for (const std::span<const Row> rows : all_rows()) {
    for (const Row& r : rows) {
      if ((r.archs & mask_of(arch)) == 0) continue;
      ++number;
      if (have[&r] >= 2) continue;
      int kept = 0;
      for (int i = 0; i < tries && kept < per_row; ++i) {
        // Dense and sparse fills reach both ordinary values and defaults.
        Word fill{random(), random()};
        if (i % 3 == 1) fill = fill & Word{random(), random()};
        if (i % 3 == 2) fill = fill | Word{random(), random()};
        const Word guard = r.guard_field().mask();
        Word w = (fill & ~r.fixed_mask) | r.fixed;
        if (r.has_guard && i % 2 == 0) w = set_bits(w | guard, r.guard_inv(), 1, 0);
        if (i % 4 >= 2) {  // half of the registers and predicates at their defaults
          for (const Slot& s : r.slots()) {
            if ((random() & 1) != 0 && s.type != SlotType::kImm && s.type != SlotType::kLabel)
              w = w | s.value.mask() | s.index.mask();
          }
        }
        w = put_control(w, {});
        const Result<Inst> inst = decode(arch, w, 0);
        if (!inst.ok() || inst->row != &r) continue;
        ++kept;
        if (wide) {
          std::printf("%d\t%016llx%016llx\t%s\n", number, static_cast<unsigned long long>(w.hi),
                      static_cast<unsigned long long>(w.lo), print(*inst).c_str());
        } else {
          std::printf("%d\t%016llx\t%s\n", number, static_cast<unsigned long long>(w.lo), print(*inst).c_str());
        }
      }
      if (kept == 0) std::fprintf(stderr, "row %d (%s) found no word\n", number, form_text(r).c_str());
    }
  }
}
