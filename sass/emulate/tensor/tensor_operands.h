// From the bits of operands to the panels that multiply() takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sass/emulate/tensor/tensor.h"

namespace nervanagpu::sass::emulate::tensor {

// The bits of an operand. Plain: 32 bytes of k a row (16 rows of A, n columns of B), or the first of them where the
// instruction has less. Transposed: the lines are the k of the operand, with all its rows.
struct Stored {
  alignas(64) std::array<std::byte, kMaxN * 32> bytes;
};
constexpr unsigned lines_of(bool transposed, unsigned rows, unsigned bytes) {
  return transposed ? 32 / bytes : rows;
}
constexpr unsigned line_bytes(bool transposed, unsigned rows, unsigned bytes) {
  return transposed ? rows * bytes : 32;
}

using FillA = void (*)(PanelA& panel, Type t, const Stored& from, unsigned k, bool transposed, bool negate);
using FillB = void (*)(PanelB& panel, Type t, const Stored& from, unsigned n, unsigned k, bool transposed);
void fill_a_plain(PanelA& panel, Type t, const Stored& from, unsigned k, bool transposed, bool negate);
void fill_b_plain(PanelB& panel, Type t, const Stored& from, unsigned n, unsigned k, bool transposed);

// The fastest that this processor runs.
FillA fastest_fill_a();
FillB fastest_fill_b();

// Panels of B that were used before, found again by what is stored. The warps of a warpgroup share one this way, and what
// was overwritten in between is never taken for the old.
class PanelCache {
 public:
  const PanelB& find(Type t, bool transposed, unsigned n, std::uint64_t place, const Stored& stored);

 private:
  struct Entry {
    Type type = Type::kF16;
    bool transposed = false;
    unsigned n = 0;
    Stored stored;
    PanelB panel;
  };
  static constexpr unsigned kEntries = 64;
  std::vector<std::unique_ptr<Entry>> entries_ = std::vector<std::unique_ptr<Entry>>(kEntries);
  FillB fill_ = fastest_fill_b();
};

}  // namespace nervanagpu::sass::emulate::tensor
