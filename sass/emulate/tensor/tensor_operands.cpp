#include "sass/emulate/tensor/tensor_operands.h"
#include "sass/emulate/uop/words.h"

#include <cstring>

namespace nervanagpu::sass::emulate::tensor {
namespace {

u32 element(const Stored& from, unsigned line, unsigned i, unsigned length, unsigned bytes) {
  u32 v = 0;
  std::memcpy(&v, from.bytes.data() + std::size_t{line} * length + std::size_t{i} * bytes, bytes);  // little endian
  return v;
}

// Element k of a row.
u32 element(const Stored& from, Type t, unsigned rows, unsigned row, unsigned k, bool transposed) {
  const unsigned bytes = bytes_of(t);
  const unsigned length = line_bytes(transposed, rows, bytes);
  return transposed ? element(from, k, row, length, bytes) : element(from, row, k, length, bytes);
}

}  // namespace

void fill_a_plain(PanelA& panel, Type t, const Stored& from, unsigned k, bool transposed, bool negate) {
  for (unsigned r = 0; r < kRows; ++r) {
    panel.range[r] = Range{};
    for (unsigned i = 0; i < k; ++i) {
      const Number n = decode(t, element(from, t, kRows, r, i, transposed));
      panel.value[r][i] = negate ? -n.value : n.value;
      panel.exponent[r][i] = n.exponent;
      panel.range[r].add(n);
    }
  }
}

void fill_b_plain(PanelB& panel, Type t, const Stored& from, unsigned n, unsigned k, bool transposed) {
  panel.range.fill(Range{});
  for (unsigned r = 0; r < n; ++r) {
    for (unsigned i = 0; i < k; ++i) {
      const Number v = decode(t, element(from, t, n, r, i, transposed));
      panel.value[i][r] = v.value;
      panel.exponent[i][r] = v.exponent;
      panel.range[r / 8].add(v);
    }
  }
}

const PanelB& PanelCache::find(Type t, bool transposed, unsigned n, std::uint64_t place, const Stored& stored) {
  const std::uint64_t hash = (place ^ place >> 32) * 0x9e3779b97f4a7c15u;
  std::unique_ptr<Entry>& slot = entries_[hash >> 58];
  if (!slot) slot = std::make_unique<Entry>();
  Entry& e = *slot;
  const std::size_t bytes = std::size_t{n} * 32;
  if (e.n == n && e.type == t && e.transposed == transposed &&
      std::memcmp(e.stored.bytes.data(), stored.bytes.data(), bytes) == 0) {
    return e.panel;
  }
  e.n = n;
  e.type = t;
  e.transposed = transposed;
  std::memcpy(e.stored.bytes.data(), stored.bytes.data(), bytes);
  fill_(e.panel, t, stored, n, 32 / bytes_of(t), transposed);
  return e.panel;
}

}  // namespace nervanagpu::sass::emulate::tensor
