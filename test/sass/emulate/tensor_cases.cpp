#include "test/sass/emulate/tensor_cases.h"

#include <fstream>
#include <sstream>

namespace nervanagpu::sass::emulate::tensor {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Tile {
  u64 seed, number;
};

Number operand(const probe::Case& c, Tile t, unsigned which, unsigned row, unsigned k) {
  const probe::Format f = which == 0 ? c.a : c.b;
  Number n = decode(type_of(f), static_cast<u32>(probe::operand_bits(f, t.seed, t.number, which, row, k)));
  if ((c.flags & (which == 0 ? probe::kNegateA : probe::kNegateB)) != 0) n.value = -n.value;
  return n;
}

u64 addend(const probe::Case& c, Tile t, unsigned m, unsigned n) {
  if ((c.flags & probe::kDropC) != 0) return 0;
  return probe::addend_bits(c.c, c.a, t.seed, t.number, m, n);
}

u64 fold_floats(const probe::Case& c, Tile t, Multiply multiply, u64 hash) {
  static PanelB b;
  static PanelA a;
  static Accumulators cd;
  b.range.fill(Range{});
  for (unsigned n = 0; n < c.n; ++n) {
    for (unsigned k = 0; k < c.k; ++k) {
      const Number v = operand(c, t, 1, n, k);
      b.value[k][n] = v.value;
      b.exponent[k][n] = v.exponent;
      b.range[n / 8].add(v);
    }
  }
  const Mode mode{c.c == probe::Format::kF16, bytes_of(type_of(c.a)) == 1};
  for (unsigned first = 0; first < c.m; first += kRows) {
    a.range.fill(Range{});
    for (unsigned r = 0; r < kRows; ++r) {
      for (unsigned k = 0; k < c.k; ++k) {
        const Number v = operand(c, t, 0, first + r, k);
        a.value[r][k] = v.value;
        a.exponent[r][k] = v.exponent;
        a.range[r].add(v);
      }
      for (unsigned n = 0; n < c.n; ++n) cd[r][n] = static_cast<u32>(addend(c, t, first + r, n));
    }
    multiply(a, b, c.n, c.k, cd, mode);
    for (unsigned r = 0; r < kRows; ++r) {
      for (unsigned n = 0; n < c.n; ++n) hash = probe::fold(hash, cd[r][n]);
    }
  }
  return hash;
}

std::int64_t integer(const probe::Case& c, Tile t, unsigned which, unsigned row, unsigned k) {
  const probe::Format f = which == 0 ? c.a : c.b;
  const u64 bits = probe::operand_bits(f, t.seed, t.number, which, row, k);
  return f == probe::Format::kS8 ? static_cast<std::int8_t>(bits) : static_cast<std::uint8_t>(bits);
}

u64 fold_others(const probe::Case& c, Tile t, u64 hash) {
  const bool wide = c.a == probe::Format::kF64;
  for (unsigned m = 0; m < c.m; ++m) {
    for (unsigned n = 0; n < c.n; ++n) {
      if (wide) {
        u64 sum = addend(c, t, m, n);
        for (unsigned k = 0; k < c.k; ++k) {
          sum = fma_step(probe::operand_bits(c.a, t.seed, t.number, 0, m, k),
                         probe::operand_bits(c.b, t.seed, t.number, 1, n, k), sum);
        }
        hash = probe::fold(hash, sum);
      } else {
        std::int64_t sum = static_cast<std::int32_t>(addend(c, t, m, n));
        for (unsigned k = 0; k < c.k; ++k) sum += integer(c, t, 0, m, k) * integer(c, t, 1, n, k);
        hash = probe::fold(hash, static_cast<u32>(finish_integer(sum, (c.flags & probe::kSaturate) != 0)));
      }
    }
  }
  return hash;
}

}  // namespace

std::map<std::string, std::vector<std::uint64_t>> chip_digests() {
  std::map<std::string, std::vector<std::uint64_t>> all;
  std::ifstream in(std::string(NG_SOURCE_DIR) + "/test/data/digests/tensor.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (std::string w; words >> w;) all[name].push_back(std::stoull(w, nullptr, 16));
  }
  return all;
}

u64 chunk_digest(const probe::Case& c, u64 seed, unsigned chunk, Multiply multiply) {
  const unsigned tiles = probe::kChunk / (c.m * c.n);
  const bool floats = !probe::is_integer(c.a) && c.a != probe::Format::kF64;
  u64 hash = probe::kFoldStart;
  for (unsigned i = 0; i < tiles; ++i) {
    const Tile t{seed, u64{chunk} * tiles + i};
    hash = floats ? fold_floats(c, t, multiply, hash) : fold_others(c, t, hash);
  }
  return hash;
}

}  // namespace nervanagpu::sass::emulate::tensor
