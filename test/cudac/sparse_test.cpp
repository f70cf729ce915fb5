// Products with a sparse A and of single bits, against sums over the places that the metadata name.
#include <algorithm>

#include "sass/emulate/tensor/tensor.h"
#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

namespace tensor = sass::emulate::tensor;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum class Element : std::uint8_t { kF16, kBf16, kTf32, kE4m3, kE5m2, kS8, kU8, kBit };

unsigned bits_of(Element e) {
  switch (e) {
    case Element::kTf32: return 32;
    case Element::kF16:
    case Element::kBf16: return 16;
    case Element::kBit: return 1;
    default: return 8;
  }
}
bool is_float(Element e) {
  return e <= Element::kE5m2;
}

enum Flag : std::uint8_t {
  kGroup = 1,        // of a warpgroup
  kHalf = 2,         // sums are float16
  kNegate = 4,       // the products
  kSaturate = 8,     // integers
  kTransposed = 16,  // both operands
  kRegisters = 32,   // A of a warpgroup
  kExclusive = 64,   // bits: ones in either, not in both
  kEightRows = 128,
};

struct Product {
  const char* name;
  Element a, b;
  unsigned k;         // stored in a row of A
  unsigned selector;  // of metadata
  unsigned flags = 0;
  [[nodiscard]] bool is(Flag f) const { return (flags & f) != 0; }
};

using E = Element;
const Product kProducts[] = {
    {"f16_k16_0", E::kF16, E::kF16, 8, 0},
    {"f16_k16_1", E::kF16, E::kF16, 8, 1},
    {"f16_k16_2", E::kF16, E::kF16, 8, 2},
    {"f16_k16_3", E::kF16, E::kF16, 8, 3},
    {"f16_k32_0", E::kF16, E::kF16, 16, 0},
    {"bf16_k32_1", E::kBf16, E::kBf16, 16, 1},
    {"half_k32_0", E::kF16, E::kF16, 16, 0, kHalf},
    {"tf32_k8_0", E::kTf32, E::kTf32, 4, 0},
    {"tf32_k8_3", E::kTf32, E::kTf32, 4, 3},
    {"tf32_k16_1", E::kTf32, E::kTf32, 8, 1},
    {"s8_k32_0", E::kS8, E::kU8, 16, 0},
    {"s8_k32_1", E::kU8, E::kS8, 16, 1, kSaturate},
    {"s8_k64", E::kS8, E::kS8, 32, 0},
    {"and_k128_m8", E::kBit, E::kBit, 128, 0, kEightRows},
    {"and_k128", E::kBit, E::kBit, 128, 0},
    {"and_k256", E::kBit, E::kBit, 256, 0},
    {"xor_k256", E::kBit, E::kBit, 256, 0, kExclusive},
    {"wg_f16_0", E::kF16, E::kF16, 16, 0, kGroup},
    {"wg_f16_1", E::kF16, E::kF16, 16, 1, kGroup},
    {"wg_f16_registers", E::kF16, E::kF16, 16, 1, kGroup | kRegisters},
    {"wg_f16_transposed", E::kF16, E::kF16, 16, 0, kGroup | kTransposed},
    {"wg_half_0", E::kF16, E::kF16, 16, 0, kGroup | kHalf | kNegate},
    {"wg_bf16_1", E::kBf16, E::kBf16, 16, 1, kGroup | kNegate},
    {"wg_tf32_0", E::kTf32, E::kTf32, 8, 0, kGroup},
    {"wg_tf32_1", E::kTf32, E::kTf32, 8, 1, kGroup | kRegisters},
    {"wg_e4m3", E::kE4m3, E::kE5m2, 32, 0, kGroup},
    {"wg_e5m2_half", E::kE5m2, E::kE5m2, 32, 0, kGroup | kHalf | kRegisters},
    {"wg_s8", E::kS8, E::kU8, 32, 0, kGroup},
    {"wg_u8_saturated", E::kU8, E::kS8, 32, 0, kGroup | kSaturate | kRegisters},
    {"wg_bits", E::kBit, E::kBit, 256, 0, kGroup},
    {"wg_bits_registers", E::kBit, E::kBit, 256, 0, kGroup | kRegisters},
};

// Offsets of 8 x 16-byte pieces in shared memory, without swizzle.
struct Pieces {
  u32 leading, stride;
  [[nodiscard]] u64 descriptor() const { return u64{leading >> 4} << 16 | u64{stride >> 4} << 32; }
  // Byte of row `row` at byte `at` along k; transposed, of k `row` at byte `at` along the rows.
  [[nodiscard]] u32 place(unsigned row, unsigned at, bool transposed) const {
    const u32 lines = row / 8 * (transposed ? leading : stride);
    return lines + at / 16 * (transposed ? stride : leading) + row % 8 * 16 + at % 16;
  }
};
constexpr Pieces kOfA{128, 256};
Pieces of_b(const Product& p) {
  return {128, p.a == Element::kBit ? 256u : 512u};
}

class Sparse : public Program {
 protected:
  Sparse() : Program("sparse") {}

  static constexpr unsigned kBlocks = 6, kThreads = 128;

  u32 random() { return static_cast<u32>(rng_() >> 32); }

  // A word of elements: any bits at all, or of moderate size.
  u32 word(Element e, bool any) {
    if (any || !is_float(e)) return random();
    const unsigned width = bits_of(e);
    const unsigned exponent = e == E::kF16 || e == E::kE5m2 ? 5 : e == E::kE4m3 ? 4 : 8;
    const unsigned fraction = width - 1 - exponent;
    u32 out = 0;
    for (unsigned at = 0; at < 32; at += width) {
      const u32 bias = (1u << (exponent - 1)) - 1;
      const u32 element =
          (random() & 1) << (width - 1) | (bias - 3 + random() % 7) << fraction | (random() & ((1u << fraction) - 1));
      out |= element << at;
    }
    return out;
  }

  // Eight groups: of TF32 the first or the second element, of the others two of four in ascending order.
  u32 metadata(Element e) {
    static constexpr u32 kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    u32 out = 0;
    for (unsigned at = 0; at < 32; at += 4) {
      out |= (e == E::kTf32 ? ((random() & 1) != 0 ? 0xeu : 0x4u) : kPairs[random() % 6]) << at;
    }
    return out;
  }
};

// What one product has in memory.
struct Operands {
  const Product& p;
  const u32 *a, *b, *c, *e;  // of its first thread

  // Element of `bits` bits number `i` of row `row` of a fragment; A's registers have rows `row` and `row` + 8.
  static u32 fragment(const u32* words, unsigned bits, unsigned lane_row, unsigned halves, unsigned half, unsigned i) {
    const unsigned per = 32 / bits;
    const unsigned lane = 4 * lane_row + i / per % 4;
    const u32 v = words[lane * 4 + i / (4 * per) * halves + half] >> (i % per * bits);
    return bits == 32 ? v : v & ((1u << bits) - 1);
  }
  static u32 shared(const u32* words, unsigned bits, Pieces pieces, unsigned row, unsigned k, bool transposed) {
    const unsigned bit = (transposed ? row : k) * bits;
    const u32 at = pieces.place(transposed ? k : row, bit / 8, transposed);
    const u32 v = words[at / 4] >> (at % 4 * 8 + bit % 8);
    return bits == 32 ? v : v & ((1u << bits) - 1);
  }

  [[nodiscard]] u32 a_at(unsigned m, unsigned i) const {
    if (p.is(kGroup) && !p.is(kRegisters)) return shared(a, bits_of(p.a), kOfA, m, i, p.is(kTransposed));
    const unsigned row = m % 16;
    return fragment(a + m / 16 * 128, bits_of(p.a), row % 8, (p.is(kEightRows) ? 1 : 2), row / 8, i);
  }
  [[nodiscard]] u32 b_at(unsigned n, unsigned k) const {
    if (p.is(kGroup)) return shared(b, bits_of(p.b), of_b(p), n, k, p.is(kTransposed));
    return fragment(b, bits_of(p.b), n, 1, 0, k);
  }
  // Index of a sum among the words of `c`, and which half of it.
  [[nodiscard]] std::size_t sum_at(unsigned m, unsigned n) const {
    const unsigned lane = m / 16 * 32 + m % 8 * 4 + n % 8 / 2;
    const unsigned row = m % 16 / 8;
    return lane * 8 + (p.is(kHalf) ? n / 8 * 2 + row : n / 8 * 4 + row * 2 + n % 2);
  }
  // The logical k of stored element `i` of row `m`.
  [[nodiscard]] unsigned place(unsigned m, unsigned i) const {
    const bool of_two = p.a == Element::kTf32;
    const unsigned group = of_two ? i : i / 2;
    const unsigned lanes = (of_two ? p.k : p.k / 2) / 4;
    const unsigned half = m % 16 / 8;
    const u32* quad = e + m / 16 * 32 + m % 8 * 4 + p.selector * lanes;
    const u32 bits = bits_of(p.a) == 8 ? quad[group / 8 * 2 + half] >> group % 8 * 4
                                       : quad[group / 4] >> (half * 16 + group % 4 * 4);
    return of_two ? 2 * group + (bits >> 1 & 1) : 4 * group + (bits >> (i % 2 * 2) & 3);
  }

  [[nodiscard]] u32 sum(unsigned m, unsigned n) const {
    const u32 c_word = c[sum_at(m, n)];
    if (p.a == Element::kBit) {
      u32 count = c_word;
      for (unsigned k = 0; k < p.k; ++k) count += p.is(kExclusive) ? a_at(m, k) ^ b_at(n, k) : a_at(m, k) & b_at(n, k);
      return count;
    }
    if (!is_float(p.a)) {
      const auto value = [](Element e, u32 bits) {
        return e == Element::kS8 ? static_cast<std::int8_t>(bits) : static_cast<int>(bits);
      };
      std::int64_t sum = static_cast<std::int32_t>(c_word);
      for (unsigned i = 0; i < p.k; ++i) sum += value(p.a, a_at(m, i)) * value(p.b, b_at(n, place(m, i)));
      if (p.is(kSaturate)) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      return static_cast<u32>(sum);
    }
    static tensor::PanelA row;
    static tensor::PanelB column;
    for (unsigned i = 0; i < p.k; ++i) {
      const tensor::Number x = tensor::decode(static_cast<tensor::Type>(p.a), a_at(m, i));
      const tensor::Number y = tensor::decode(static_cast<tensor::Type>(p.b), b_at(n, place(m, i)));
      row.value[0][i] = p.is(kNegate) ? -x.value : x.value;
      row.exponent[0][i] = x.exponent;
      column.value[i][0] = y.value;
      column.exponent[i][0] = y.exponent;
    }
    const u32 addend = p.is(kHalf) ? c_word >> (n % 2 * 16) & 0xffff : c_word;
    return tensor::dot(row, column, 0, 0, p.k, addend, {p.is(kHalf), bits_of(p.a) == 8});
  }
};

TEST_P(Sparse, Products) {
  for (const Product& p : kProducts) {
    std::vector<u32> a(kBlocks * kThreads * 4), b(a.size()), c(a.size() * 2), e(kBlocks * kThreads);
    const unsigned b_words = p.is(kGroup) ? 256 : 512;  // of a block
    for (unsigned block = 0; block < kBlocks; ++block) {
      const bool any = block % 3 == 2;
      for (unsigned i = 0; i < 512; ++i) a[block * 512 + i] = word(p.a, any);
      for (unsigned i = 0; i < b_words; ++i) b[block * b_words + i] = word(p.b, any);
      for (unsigned i = 0; i < 1024; ++i) {
        const u32 v = p.is(kHalf) ? word(E::kF16, any)
                      : any       ? random()
                                  : std::bit_cast<u32>(0.01F * float(random() % 1000));
        c[block * 1024 + i] = is_float(p.a) ? v : random();
      }
      for (unsigned i = 0; i < kThreads; ++i) e[block * kThreads + i] = metadata(p.a);
    }
    const std::vector<u32> untouched(c.size(), 0xa5a5a5a5u);
    const auto d = array(untouched);
    if (p.is(kGroup)) {
      launch(p.name, {kBlocks, 1, 1}, {kThreads, 1, 1}, 0, array(a), array(b), array(c), array(e), d, kOfA.descriptor(),
             of_b(p).descriptor());
    } else {
      launch(p.name, {kBlocks, 1, 1}, {kThreads, 1, 1}, 0, array(a), array(b), array(c), array(e), d);
    }
    std::vector<u32> want = untouched;
    const unsigned step = p.is(kGroup) ? kThreads : 32;  // threads of a product
    for (unsigned first = 0; first < kBlocks * kThreads; first += step) {
      const std::size_t b_at = p.is(kGroup) ? std::size_t{first} / kThreads * b_words : std::size_t{first} * 4;
      const Operands o{p, &a[first * 4], &b[b_at], &c[first * 8], &e[first]};
      for (unsigned m = 0; m < (p.is(kGroup) ? 64u : p.is(kEightRows) ? 8u : 16u); ++m) {
        for (unsigned n = 0; n < (p.is(kGroup) ? 16u : 8u); ++n) {
          u32& to = want[first * 8 + o.sum_at(m, n)];
          const u32 sum = o.sum(m, n);
          if (!p.is(kHalf)) to = sum;
          if (p.is(kHalf)) to = n % 2 == 0 ? sum : (to & 0xffff) | sum << 16;
        }
      }
    }
    expect_equal(p.name, get(d), want);
  }
}

INSTANTIATE_TEST_SUITE_P(On, Sparse, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
