// Shared-memory matrix descriptors of sm_90a: where the elements of an operand of HGMMA, IGMMA and QGMMA lie. Confirmed on
// an H200 with random descriptors (tools/tensor_probe/layout_probe.cu).
//
// Bits: 0-13 start, 16-29 leading offset, 32-45 stride offset, all in units of 16 bytes; 49-51 base offset; 62-63 swizzle.
// "Rows" are the rows of A and the columns of B. Plain: k runs along memory; transposed: the rows do.
//
//   swizzle     plain                                        transposed
//   none        8 x 16 bytes, one row after the other;      the same with k and rows swapped
//               leading: next 16 bytes of k,
//               stride: next 8 rows
//   W bytes     W bytes of k a row; stride: next 8 rows      W bytes of rows a k; leading: next W bytes of rows,
//               (a row holds no more than W bytes)           stride: next 8 k
//
// With a swizzle of 32, 64 or 128 bytes, bits 4 .. of an address are XORed with as many bits 7 .. of it, less the base offset.
#pragma once

#include <cstdint>

namespace nervanagpu::sass::emulate::tensor {

struct Descriptor {
  std::uint32_t start = 0, leading = 0, stride = 0;  // bytes
  std::uint32_t base = 0;                            // units of 128 bytes
  std::uint32_t width = 16;                          // bytes that lie together: the swizzle, or 16
};

constexpr Descriptor describe(std::uint64_t bits) {
  constexpr std::uint32_t kWidths[] = {16, 128, 64, 32};
  const auto field = [&](unsigned at) { return static_cast<std::uint32_t>(bits >> at & 0x3fff) << 4; };
  return {field(0), field(16), field(32), static_cast<std::uint32_t>(bits >> 49 & 7), kWidths[bits >> 62]};
}

// Shared address of byte `at` (a multiple of 16) of line `line`: k and rows, or transposed rows and k.
constexpr std::uint32_t piece_address(const Descriptor& d, bool transposed, std::uint32_t line, std::uint32_t at) {
  const std::uint32_t inner = line % 8 * d.width + at % d.width;
  const std::uint32_t lines = line / 8;
  const std::uint32_t pieces = at / d.width;
  // A row of a swizzled plain operand is never longer than the width: `pieces` is 0.
  const bool crossed = transposed && d.width == 16;
  const std::uint32_t outer = crossed ? lines * d.leading + pieces * d.stride : lines * d.stride + pieces * d.leading;
  const std::uint32_t address = (d.start + inner + outer) & 0x3ffff;
  return address ^ ((((address >> 7) - d.base) & (d.width / 16 - 1)) << 4);
}

}  // namespace nervanagpu::sass::emulate::tensor
