// Panels against decode(), element by element, and where elements stand.
#include "sass/emulate/tensor/tensor_operands.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace nervanagpu::sass::emulate::tensor {
namespace {

constexpr Type kAll[] = {Type::kF16, Type::kBf16, Type::kTf32, Type::kE4m3, Type::kE5m2};

bool same(Number n, float value, std::int16_t exponent) {
  if (n.value != n.value) return value != value;
  if (std::bit_cast<std::uint32_t>(n.value) != std::bit_cast<std::uint32_t>(value)) return false;
  return std::isinf(value) || n.exponent == exponent;  // that of infinity is not looked at
}
bool same(const Range& want, const Range& got) {
  return want.special == got.special && (want.special || (want.low == got.low && want.high == got.high));
}

void put(Stored& to, unsigned index, unsigned bytes, std::uint32_t v) {
  std::memcpy(to.bytes.data() + std::size_t{index} * bytes, &v, bytes);
}

// All numbers of a type, 16 x 32 bytes at a time, of both orders, by the plain and the fast way.
TEST(TensorOperands, PanelsHoldWhatDecodeSays) {
  const auto a = std::make_unique<PanelA>();
  const auto b = std::make_unique<PanelB>();
  const auto stored = std::make_unique<Stored>();
  std::mt19937 random(1);
  for (const Type t : kAll) {
    const unsigned bytes = bytes_of(t);
    const unsigned k = 32 / bytes;
    const std::uint32_t count = bytes == 1 ? 512 : 65536;
    for (std::uint32_t start = 0; start < count; start += 16 * k) {
      std::vector<std::uint32_t> bits(std::size_t{16} * k);
      for (std::uint32_t i = 0; i < 16 * k; ++i) {
        bits[i] = t == Type::kTf32 ? static_cast<std::uint32_t>(random()) : (start + i) & (bytes == 1 ? 255 : 65535);
        put(*stored, i, bytes, bits[i]);
      }
      for (const bool transposed : {false, true}) {
        const auto at = [&](unsigned row, unsigned i) { return transposed ? bits[i * 16 + row] : bits[row * k + i]; };
        for (const bool fast : {false, true}) {
          const bool negate = (start / 16 / k & 1) != 0;
          (fast ? fastest_fill_a() : fill_a_plain)(*a, t, *stored, k, transposed, negate);
          (fast ? fastest_fill_b() : fill_b_plain)(*b, t, *stored, 16, k, transposed);
          std::array<Range, 2> columns{};
          for (unsigned row = 0; row < 16; ++row) {
            Range range;
            for (unsigned i = 0; i < k; ++i) {
              Number n = decode(t, at(row, i));
              range.add(n);
              columns[row / 8].add(n);
              ASSERT_TRUE(same(n, b->value[i][row], b->exponent[i][row])) << at(row, i);
              if (negate) n.value = -n.value;
              ASSERT_TRUE(same(n, a->value[row][i], a->exponent[row][i])) << at(row, i);
            }
            ASSERT_TRUE(same(range, a->range[row])) << at(row, 0);
          }
          for (unsigned i = 0; i < 2; ++i) ASSERT_TRUE(same(columns[i], b->range[i])) << start;
        }
      }
    }
  }
}

TEST(TensorOperands, ACacheSeesEveryChange) {
  PanelCache cache;
  const auto stored = std::make_unique<Stored>();
  stored->bytes.fill(std::byte{0x38});
  const float before = cache.find(Type::kE4m3, false, 8, 99, *stored).value[31][7];
  EXPECT_EQ(before, 1.0F);
  stored->bytes[8 * 32 - 1] = std::byte{0x40};
  EXPECT_EQ(cache.find(Type::kE4m3, false, 8, 99, *stored).value[31][7], 2.0F);
  EXPECT_EQ(cache.find(Type::kE5m2, false, 8, 99, *stored).value[0][0], 0.5F);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::tensor
